//! The format of `POST /chat/completions`: OpenAI, Gemini, Ollama, llama.cpp and most others.

use serde_json::{Value, json};

use super::{CUT_OFF, count, native_calls, turns};
use crate::{
    llm::{ProviderFailure, ProviderReply, ProviderRequest, prompt::step_calls::ToolShown},
    model::llm::Provider,
};

/// Returns the body of a request. Parameters that a provider rejects are left out for it.
pub(super) fn encode(provider: Provider, model: &str, request: &ProviderRequest) -> Value {
    let mut messages = vec![json!({ "role": "system", "content": request.system })];
    messages.extend(turns(request));
    let mut body = json!({ "model": model, "messages": messages, "stream": false });
    if let Value::Object(fields) = &mut body {
        // Newer models of OpenAI know only `max_completion_tokens`, and accept no temperature.
        match provider {
            Provider::OpenAi => fields.insert("max_completion_tokens".into(), request.max_tokens.into()),
            _ => fields.insert("max_tokens".into(), request.max_tokens.into()),
        };
        if matches!(provider, Provider::Ollama | Provider::Compatible) {
            fields.insert("temperature".into(), 0.into());
        }
        if !request.tools.is_empty() {
            let tool = |tool: &ToolShown| {
                let function =
                    json!({ "name": tool.name, "description": tool.purpose, "parameters": tool.parameter_schema() });
                json!({ "type": "function", "function": function })
            };
            fields.insert("tools".into(), request.tools.iter().map(tool).collect());
        }
        if request.native_schema {
            let schema = json!({ "name": request.schema_name, "strict": true, "schema": request.schema });
            fields.insert("response_format".into(), json!({ "type": "json_schema", "json_schema": schema }));
        }
    }
    body
}

/// Parses the body of a response. A refusal and an answer that was cut off are errors.
pub(super) fn decode(body: &Value) -> Result<ProviderReply, ProviderFailure> {
    let tokens = count(body, "/usage/prompt_tokens").zip(count(body, "/usage/completion_tokens"));
    let finish = body.pointer("/choices/0/finish_reason").and_then(Value::as_str);
    let refusal = body.pointer("/choices/0/message/refusal").and_then(Value::as_str);
    if refusal.is_some_and(|text| !text.is_empty()) || finish == Some("content_filter") {
        return Err(ProviderFailure::Refused { tokens });
    }
    if finish == Some("length") {
        return Err(ProviderFailure::MalformedReply(CUT_OFF.into()));
    }
    let called = body.pointer("/choices/0/message/tool_calls").and_then(Value::as_array).cloned();
    if let Some(text) = native_calls(called.unwrap_or_default()) {
        return Ok(ProviderReply { text, tokens });
    }
    match body.pointer("/choices/0/message/content").and_then(Value::as_str) {
        Some(text) => Ok(ProviderReply { text: text.to_owned(), tokens }),
        None => Err(ProviderFailure::MalformedReply("the answer holds no message".into())),
    }
}
