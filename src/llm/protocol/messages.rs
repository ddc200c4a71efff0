//! The format of `POST /messages`: Anthropic.

use serde_json::{Value, json};

use super::{CUT_OFF, count, native_calls, turns};
use crate::llm::{ProviderFailure, ProviderReply, ProviderRequest, prompt::step_calls::ToolShown};

/// Returns the body of a request.
pub(super) fn encode(model: &str, request: &ProviderRequest) -> Value {
    let mut body = json!({
        "model": model,
        "max_tokens": request.max_tokens,
        "system": request.system,
        "messages": turns(request),
    });
    if let (Value::Object(fields), false) = (&mut body, request.tools.is_empty()) {
        let tool = |tool: &ToolShown| json!({ "name": tool.name, "description": tool.purpose, "input_schema": tool.parameter_schema() });
        fields.insert("tools".into(), request.tools.iter().map(tool).collect());
    }
    if let Value::Object(fields) = &mut body
        && request.native_schema
    {
        let format = json!({ "type": "json_schema", "schema": request.schema });
        fields.insert("output_config".into(), json!({ "format": format }));
    }
    body
}

/// Parses the body of a response. A refusal and an answer that was cut off are errors.
pub(super) fn decode(body: &Value) -> Result<ProviderReply, ProviderFailure> {
    let tokens = count(body, "/usage/input_tokens").zip(count(body, "/usage/output_tokens"));
    match body.get("stop_reason").and_then(Value::as_str) {
        Some("refusal") => return Err(ProviderFailure::Refused { tokens }),
        Some("max_tokens" | "model_context_window_exceeded") => {
            return Err(ProviderFailure::MalformedReply(CUT_OFF.into()));
        }
        _ => {}
    }
    let parts = body.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_call = |part: &&Value| part.get("type").and_then(Value::as_str) == Some("tool_use");
    let to_call = |part: &Value| json!({ "function": { "name": part.get("name"), "arguments": part.get("input") } });
    if let Some(text) = native_calls(parts.iter().filter(is_call).map(to_call).collect()) {
        return Ok(ProviderReply { text, tokens });
    }
    let text: String = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
    if parts.is_empty() {
        return Err(ProviderFailure::MalformedReply("the answer holds no message".into()));
    }
    Ok(ProviderReply { text, tokens })
}
