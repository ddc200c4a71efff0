//! The two JSON formats of the providers: pure functions from a request to a body, and from a body to a reply.

mod chat;
mod messages;

use serde_json::Value;

use super::{ProviderFailure, ProviderReply, ProviderRequest};
use crate::model::llm::Provider;

/// The reason when the provider reports that the answer reached the token limit.
const CUT_OFF: &str = "the answer was cut off";

/// Returns the path of the endpoint below the base URL.
pub(super) const fn path(provider: Provider) -> &'static str {
    match provider {
        Provider::Anthropic => "/messages",
        _ => "/chat/completions",
    }
}

/// Returns the header that carries the API key, and the prefix of its value.
pub(super) const fn key_header(provider: Provider) -> (&'static str, &'static str) {
    match provider {
        Provider::Anthropic => ("x-api-key", ""),
        _ => ("authorization", "Bearer "),
    }
}

/// Returns the body of a request in the provider's format.
pub(super) fn encode(provider: Provider, model: &str, request: &ProviderRequest) -> Value {
    match provider {
        Provider::Anthropic => messages::encode(model, request),
        _ => chat::encode(provider, model, request),
    }
}

/// Parses the body of a provider's response. Every unexpected form is an error, never a panic.
pub fn parse_provider_reply(provider: Provider, bytes: &[u8]) -> Result<ProviderReply, ProviderFailure> {
    let body = serde_json::from_slice(bytes)
        .map_err(|_| ProviderFailure::MalformedReply("the server's reply is not JSON".into()))?;
    decode(provider, &body)
}

/// Parses a body in the provider's format.
fn decode(provider: Provider, body: &Value) -> Result<ProviderReply, ProviderFailure> {
    match provider {
        Provider::Anthropic => messages::decode(body),
        _ => chat::decode(body),
    }
}

/// Returns the messages after the system prompt: the data, and for a repair the bad answer and what is wrong with it.
fn turns(request: &ProviderRequest) -> Vec<Value> {
    let turn = |role: &str, content: &str| serde_json::json!({ "role": role, "content": content });
    let mut turns = vec![turn("user", &request.user)];
    if let Some((bad_answer, problem)) = &request.repair {
        if !bad_answer.is_empty() {
            turns.push(turn("assistant", bad_answer));
        }
        let again = format!("That cannot be used: {problem}. Answer again, with the JSON object alone.");
        turns.push(turn("user", &again));
    }
    turns
}

/// Returns the calls of tools in a reply as one text, in the shape in which calls are read from any text. The outer key
/// tells that the model called them itself; none when there are no calls.
fn native_calls(calls: Vec<Value>) -> Option<String> {
    (!calls.is_empty()).then(|| serde_json::json!({ NATIVE_CALLS: { "tool_calls": calls } }).to_string())
}

/// The outer key of calls that the model made itself, instead of writing them as text.
pub const NATIVE_CALLS: &str = "native_calls";

/// Returns the number at a JSON pointer.
fn count(body: &Value, pointer: &str) -> Option<u64> {
    body.pointer(pointer).and_then(Value::as_u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::llm::prompt::step_calls::ToolShown;

    fn request() -> ProviderRequest {
        ProviderRequest {
            system: "be brief".into(),
            user: "data".into(),
            repair: None,
            schema_name: "prioritise",
            schema: json!({ "type": "object" }),
            native_schema: true,
            tools: Vec::new(),
            max_tokens: 64,
        }
    }

    #[test]
    fn each_provider_gets_its_own_names() {
        let openai = encode(Provider::OpenAi, "m", &request());
        assert_eq!(openai["max_completion_tokens"], 64);
        assert_eq!(openai["temperature"], Value::Null);
        assert_eq!(openai["response_format"]["json_schema"]["schema"]["type"], "object");
        let local = encode(Provider::Compatible, "m", &ProviderRequest { native_schema: false, ..request() });
        assert_eq!((local["max_tokens"].as_u64(), &local["response_format"]), (Some(64), &Value::Null));
        let anthropic = encode(Provider::Anthropic, "m", &request());
        assert_eq!(anthropic["system"], "be brief");
        assert_eq!(anthropic["output_config"]["format"]["type"], "json_schema");
        assert_eq!(anthropic["messages"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn calls_of_tools_become_text_in_one_shape() {
        let tool = ToolShown { name: "find".into(), purpose: "search".into(), parameters: Vec::new() };
        let asking = ProviderRequest { native_schema: false, tools: vec![tool], ..request() };
        assert_eq!(encode(Provider::Compatible, "m", &asking)["tools"][0]["function"]["name"], "find");
        assert_eq!(encode(Provider::Anthropic, "m", &asking)["tools"][0]["input_schema"]["type"], "object");
        let openai = json!({ "choices": [{ "message": { "content": null, "tool_calls": [
            { "id": "1", "type": "function", "function": { "name": "find", "arguments": "{\"words\":\"x\"}" } }] }, "finish_reason": "tool_calls" }] });
        let anthropic = json!({ "content": [{ "type": "text", "text": "Let me look." },
            { "type": "tool_use", "id": "1", "name": "find", "input": { "words": "x" } }], "stop_reason": "tool_use" });
        for (provider, body) in [(Provider::OpenAi, openai), (Provider::Anthropic, anthropic)] {
            let reply = decode(provider, &body).unwrap();
            let value: Value = serde_json::from_str(&reply.text).unwrap();
            assert_eq!(value[NATIVE_CALLS]["tool_calls"][0]["function"]["name"], "find", "{provider}");
        }
    }

    #[test]
    fn a_repair_shows_what_was_said() {
        let again = ProviderRequest { repair: Some(("prose".into(), "no JSON".into())), ..request() };
        let turns = encode(Provider::Compatible, "m", &again)["messages"].as_array().unwrap().clone();
        let roles: Vec<_> = turns.iter().map(|turn| turn["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "user"]);
    }

    #[test]
    fn every_unexpected_body_is_an_error() {
        let reply = |text: &str| json!({ "choices": [{ "message": { "content": text }, "finish_reason": "stop" }], "usage": { "prompt_tokens": 9, "completion_tokens": 2 } });
        assert_eq!(decode(Provider::OpenAi, &reply("x")), Ok(ProviderReply { text: "x".into(), tokens: Some((9, 2)) }));
        for (body, is_malformed) in [
            (json!({}), true),
            (json!([1, 2]), true),
            (json!({ "choices": [] }), true),
            (json!({ "choices": [{ "message": { "content": 7 } }] }), true),
            (json!({ "choices": [{ "message": { "content": "{" }, "finish_reason": "length" }] }), true),
            (json!({ "choices": [{ "message": { "refusal": "I will not" } }] }), false),
        ] {
            let failure = decode(Provider::Gemini, &body).unwrap_err();
            assert_eq!(matches!(failure, ProviderFailure::MalformedReply(_)), is_malformed, "{body}");
        }
        let claude = json!({ "content": [{ "type": "text", "text": "{}" }], "stop_reason": "end_turn", "usage": { "input_tokens": 3, "output_tokens": 1 } });
        assert_eq!(decode(Provider::Anthropic, &claude), Ok(ProviderReply { text: "{}".into(), tokens: Some((3, 1)) }));
        let refused = json!({ "content": [], "stop_reason": "refusal" });
        assert_eq!(decode(Provider::Anthropic, &refused), Err(ProviderFailure::Refused { tokens: None }));
        assert!(decode(Provider::Anthropic, &json!({ "content": 1 })).is_err());
    }
}
