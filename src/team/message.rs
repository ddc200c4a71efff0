//! The conversation of an agent: what it is told, what it does, and what it gets back. Stored as JSON, and shown to the
//! model in the same order.
//!
//! What an agent is told and what it does take turns; every action has its result before the next turn. [`repair`] makes
//! this true again after a stop.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum AgentMessage {
    /// What the agent is there for: the person's request, or the task that the manager gives a worker.
    Request { text: String },
    /// What the person says later.
    Person { text: String },
    /// What a worker reports at its end.
    Report { worker: u32, report: Value },
    /// What the program says, such as the summary after a stop.
    Program { text: String },
    /// What the agent does: the model's checked answer.
    Action { turn: Value },
    /// What came of the action.
    Result { tool: String, is_error: bool, output: Value },
}

/// How many bytes of a conversation the model is shown. With the instructions this stays below the largest request.
const SHOWN_BYTES: usize = 18 * 1024;
/// How much is kept of an older result when the conversation has become too long, in characters.
const SHORTENED_CHARS: usize = 300;
/// How many of the newest entries are never shortened.
const KEPT_WHOLE: usize = 3;

impl AgentMessage {
    /// Returns whether the agent itself says this.
    pub(super) const fn is_own(&self) -> bool {
        matches!(self, Self::Action { .. })
    }

    /// Returns the message as the model is shown it. Quoted data stands under `result` and `report`, and nowhere else.
    fn shown(&self, is_worker: bool) -> Value {
        match self {
            Self::Request { text } if is_worker => json!({ "manager": text }),
            Self::Request { text } | Self::Person { text } => json!({ "person": text }),
            Self::Report { worker, report } => json!({ "worker": worker, "report": report }),
            Self::Program { text } => json!({ "program": text }),
            Self::Action { turn } => json!({ "you": without_empty_fields(turn) }),
            Self::Result { tool, is_error: false, output } => json!({ "tool": tool, "result": output }),
            Self::Result { tool, is_error: true, output } => json!({ "tool": tool, "error": true, "result": output }),
        }
    }
}

/// Returns an action without the fields that it does not use, so that a conversation stays short.
fn without_empty_fields(turn: &Value) -> Value {
    let is_empty = |value: &Value| match value {
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    match turn {
        Value::Object(fields) => fields
            .iter()
            .filter(|(_, value)| !is_empty(value))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

/// Returns a conversation as the model is shown it. When it is too long, older results are shortened, and then the
/// oldest entries after the first are left out, with a note.
pub(super) fn show_conversation(messages: &[AgentMessage], is_worker: bool) -> Vec<Value> {
    let mut shown: Vec<Value> = messages.iter().map(|message| message.shown(is_worker)).collect();
    let size = |shown: &[Value]| shown.iter().map(|entry| entry.to_string().len()).sum::<usize>();
    let whole_from = shown.len().saturating_sub(KEPT_WHOLE);
    for at in 1..whole_from {
        if size(&shown) <= SHOWN_BYTES {
            return shown;
        }
        if let Some(entry) = shown.get_mut(at) {
            shorten_result(entry);
        }
    }
    let mut left_out = 0_usize;
    while size(&shown) > SHOWN_BYTES && shown.len() > KEPT_WHOLE + 1 {
        shown.remove(1);
        left_out += 1;
    }
    if left_out > 0 {
        shown.insert(1, json!({ "program": format!("{left_out} earlier entries are left out here") }));
    }
    if size(&shown) > SHOWN_BYTES {
        shown.iter_mut().for_each(shorten_result);
    }
    shown
}

fn shorten_result(entry: &mut Value) {
    for key in ["result", "report", "you"] {
        let Some(inner) = entry.get_mut(key) else { continue };
        let text = inner.to_string();
        if text.chars().count() > SHORTENED_CHARS {
            let kept: String = text.chars().take(SHORTENED_CHARS).collect();
            *inner = Value::from(format!("{kept} … (shortened)"));
        }
    }
}

/// Makes a conversation one that can go on: an action without a result gets one that says that it was cancelled, and
/// the last word is not the agent's own. Returns what was added, as it must be stored, and a line for the log per repair.
pub(super) fn repair(messages: &mut Vec<AgentMessage>) -> (Vec<AgentMessage>, Vec<String>) {
    let (mut added, mut log) = (Vec::new(), Vec::new());
    // Only the last action can lack its result: each later message was stored after a result.
    if let Some(AgentMessage::Action { turn }) = messages.last() {
        let tool = turn.get("action").and_then(Value::as_str).unwrap_or("action").to_owned();
        log.push(format!("closed the pending call of {tool}"));
        let output = json!({ "status": "cancelled", "reason": "user_interruption" });
        added.push(AgentMessage::Result { tool, is_error: true, output });
    }
    messages.extend(added.iter().cloned());
    (added, log)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(name: &str) -> AgentMessage {
        AgentMessage::Action { turn: json!({ "action": name, "thought": "x", "todos": [], "text": "" }) }
    }

    fn result(text: &str) -> AgentMessage {
        AgentMessage::Result { tool: "search".into(), is_error: false, output: json!(text) }
    }

    #[test]
    fn an_open_call_is_closed_once() {
        let mut messages = vec![AgentMessage::Request { text: "a".into() }, action("start_task")];
        let (added, log) = repair(&mut messages);
        assert_eq!((added.len(), log.len(), messages.len()), (1, 1, 3));
        assert!(log[0].contains("start_task"));
        assert!(!messages.last().unwrap().is_own());
        assert_eq!(repair(&mut messages).0, []);
    }

    #[test]
    fn a_long_conversation_keeps_its_beginning_and_its_end() {
        let mut messages = vec![AgentMessage::Request { text: "the request".into() }];
        for nth in 0..200 {
            messages.push(action("search"));
            messages.push(result(&format!("{nth} {}", "x".repeat(2_000))));
        }
        let shown = show_conversation(&messages, false);
        let bytes: usize = shown.iter().map(|entry| entry.to_string().len()).sum();
        assert!(bytes <= SHOWN_BYTES + 200, "{bytes}");
        assert_eq!(shown[0]["person"], "the request");
        assert!(shown[1]["program"].as_str().unwrap().contains("left out"));
        assert!(shown.last().unwrap()["result"].as_str().unwrap().starts_with("199 "));
    }

    #[test]
    fn unused_fields_are_not_shown() {
        assert_eq!(action("think").shown(false), json!({ "you": { "action": "think", "thought": "x" } }));
    }
}
