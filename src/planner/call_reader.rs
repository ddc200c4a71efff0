//! Calls of tools that a model wrote as text, in the three shapes that are in use, also inside of prose, code fences and
//! slightly broken JSON. A call that may not be what was meant is refused: a wrong call is worse than none.

use serde_json::{Map, Value};

use super::json_repair::{JsonRepairError, RepairDoubt, RepairedJson, repair_json};
use crate::llm::NATIVE_CALLS;
use crate::model::plan::ToolCall;

/// The most calls in one text. A text with more is no answer to one step.
pub const MOST_CALLS: usize = 8;

/// Why no call is taken from a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallTextError {
    #[error("there is no call in the text")]
    NoCall,
    #[error(transparent)]
    Unreadable(#[from] JsonRepairError),
    #[error("the call is not clear: {}", .0.describe())]
    Doubtful(RepairDoubt),
    #[error("the arguments of '{0}' are no object")]
    BadArguments(String),
    #[error("there are more than {MOST_CALLS} calls")]
    TooMany,
}

/// Reads the JSON of a model's text, as `adjutant eval calls` prints it.
pub fn read_model_json(text: &str) -> Result<Value, JsonRepairError> {
    repair_json(text).map(RepairedJson::into_value)
}

/// Reads the calls in a model's text, in their order.
///
/// The shapes are `{"name": …, "parameters": {…}}`, `{"function_call": {"name": …, "arguments": {…}}}` and
/// `{"tool_calls": [{"function": {"name": …, "arguments": {…}}}]}`, each alone, in a list or one after the other.
pub fn read_calls(text: &str) -> Result<Vec<ToolCall>, CallTextError> {
    let repaired = match repair_json(text) {
        Ok(repaired) => repaired,
        Err(JsonRepairError::NoJson) => return Err(CallTextError::NoCall),
        Err(error) => return Err(error.into()),
    };
    let mut calls = Vec::new();
    for value in &repaired.values {
        collect_calls(value, &mut calls)?;
    }
    if calls.is_empty() {
        return Err(CallTextError::NoCall);
    }
    if calls.len() > MOST_CALLS {
        return Err(CallTextError::TooMany);
    }
    match repaired.doubts.first() {
        Some(doubt) => Err(CallTextError::Doubtful(*doubt)),
        None => Ok(calls),
    }
}

/// Adds the calls of a value. A value of another shape is no call and no error: models write examples and results, too.
fn collect_calls(value: &Value, calls: &mut Vec<ToolCall>) -> Result<(), CallTextError> {
    let fields = match value {
        Value::Array(items) => return items.iter().try_for_each(|item| collect_calls(item, calls)),
        Value::Object(fields) => fields,
        _ => return Ok(()),
    };
    if let Some(wrapped) = fields.get(NATIVE_CALLS).or_else(|| fields.get("tool_calls")) {
        return collect_calls(wrapped, calls);
    }
    if let Some(wrapped) =
        ["function_call", "function"].iter().find_map(|key| fields.get(*key)).filter(|value| value.is_object())
    {
        return collect_calls(wrapped, calls);
    }
    let Some(name) = fields.get("name").and_then(Value::as_str) else { return Ok(()) };
    let given = ["parameters", "arguments", "input"].iter().find_map(|key| fields.get(*key));
    let Some(given) = given else { return Ok(()) };
    let name = name.trim().strip_prefix("functions.").unwrap_or(name.trim());
    calls.push(ToolCall { tool: name.to_owned(), arguments: read_arguments(name, given)? });
    Ok(())
}

/// Reads the arguments: an object, or an object written as a text.
fn read_arguments(name: &str, given: &Value) -> Result<Map<String, Value>, CallTextError> {
    match given {
        Value::Object(arguments) => Ok(arguments.clone()),
        Value::Null => Ok(Map::new()),
        Value::String(text) if text.trim().is_empty() => Ok(Map::new()),
        Value::String(text) => {
            let repaired = repair_json(text)?;
            if let Some(doubt) = repaired.doubts.first() {
                return Err(CallTextError::Doubtful(*doubt));
            }
            match repaired.into_value() {
                Value::Object(arguments) => Ok(arguments),
                _ => Err(CallTextError::BadArguments(name.to_owned())),
            }
        }
        _ => Err(CallTextError::BadArguments(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn folder(name: &str) -> ToolCall {
        let Value::Object(arguments) = json!({ "name": name }) else { unreachable!() };
        ToolCall { tool: "create_folder".into(), arguments }
    }

    #[test]
    fn the_three_shapes_are_read_wherever_they_stand() {
        for text in [
            r#"{"name": "create_folder", "parameters": {"name": "Taxes"}}"#,
            r#"{"function_call": {"name": "create_folder", "arguments": {"name": "Taxes"}}}"#,
            r#"{"tool_calls": [{"function": {"name": "create_folder", "arguments": {"name": "Taxes"}}}]}"#,
            r#"{"tool_calls": [{"id": "1", "type": "function", "function": {"name": "create_folder", "arguments": "{\"name\": \"Taxes\"}"}}]}"#,
            "I will make it now.\n```json\n{\"name\": \"create_folder\", \"arguments\": {\"name\": \"Taxes\"}}\n```\nDone soon.",
            "{'name': 'create_folder', 'parameters': {'name': 'Taxes',},}",
            "{name: create_folder, parameters: {name: Taxes}} // go",
            r#"<tool_call>{"name": "functions.create_folder", "arguments": {"name": "Taxes"}}</tool_call>"#,
        ] {
            assert_eq!(read_calls(text), Ok(vec![folder("Taxes")]), "{text}");
        }
        let two = r#"First {"name":"create_folder","parameters":{"name":"A"}}, then {"name":"create_folder","parameters":{"name":"B"}}."#;
        assert_eq!(read_calls(two), Ok(vec![folder("A"), folder("B")]));
    }

    #[test]
    fn what_may_not_be_meant_is_refused() {
        for (text, error) in [
            ("I created the folder.", CallTextError::NoCall),
            (r#"{"result": "ok"}"#, CallTextError::NoCall),
            (r#"{"name": "create_folder"}"#, CallTextError::NoCall),
            (
                r#"{"name": "create_folder", "parameters": {"name": "Tax"#,
                CallTextError::Doubtful(RepairDoubt::Truncated),
            ),
            (
                r#"{"name": "create_folder", "parameters": {"name": "The "big" one"}}"#,
                CallTextError::Doubtful(RepairDoubt::GuessedStringEnd),
            ),
            (
                r#"{"name": "create_folder", "parameters": ["Taxes"]}"#,
                CallTextError::BadArguments("create_folder".into()),
            ),
            (r#"{"name": "create_folder", "parameters": "Taxes"}"#, CallTextError::Unreadable(JsonRepairError::NoJson)),
        ] {
            assert_eq!(read_calls(text), Err(error), "{text}");
        }
    }
}
