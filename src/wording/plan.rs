//! Plans in words: who does a step, where it stands, and what came of it.

use serde_json::{Map, Value};

use crate::model::{PlanStepRow, PlanStepStatus, PlannedStep};

/// The longest result that is shown, in characters. The whole one is in the store.
pub const LONGEST_RESULT: usize = 500;

/// Returns who does a step: a tool with whom or what it is about, the model, or the person.
pub fn describe_worker(step: &PlannedStep) -> String {
    match (&step.call, step.asks_model) {
        (Some(call), _) => describe_call(&call.tool, &call.arguments),
        (None, true) => "the model".to_owned(),
        (None, false) => "you".to_owned(),
    }
}

/// Returns a call in words: the tool, and whom or what it is about.
fn describe_call(tool: &str, arguments: &Map<String, Value>) -> String {
    let tool = tool.replace('_', " ");
    let about = ["to", "name", "words"].iter().find_map(|key| arguments.get(*key));
    let about = about.map(|value| match value {
        Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        value => value.as_str().unwrap_or_default().to_owned(),
    });
    about.map_or_else(|| tool.clone(), |about| format!("{tool}: {about}"))
}

/// Returns the result of a step in words: its summary or what came of its effect, else its JSON, cut for display.
pub fn describe_result(result: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(result) else { return shorten_result(result) };
    if let Some(repeated) = value.get("repeats_step").and_then(Value::as_u64) {
        return format!("The same as step {repeated}; it was not done twice.");
    }
    if let Some(lines) = value.get("summary").and_then(Value::as_array) {
        let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
        return if lines.is_empty() { "Nothing was found.".to_owned() } else { shorten_result(&lines.join("; ")) };
    }
    let told = ["applied", "sent", "saved"].iter().find_map(|key| value.get(*key)?.as_str());
    shorten_result(told.unwrap_or(result))
}

/// Returns a result cut for display.
pub fn shorten_result(result: &str) -> String {
    if result.chars().count() <= LONGEST_RESULT {
        return result.to_owned();
    }
    result.chars().take(LONGEST_RESULT - 1).collect::<String>() + "…"
}

/// Returns where a step stands. `is_running` says whether its run is under way.
pub fn describe_step_status(step: &PlanStepRow, is_running: bool) -> &'static str {
    match step.status {
        PlanStepStatus::Pending if is_running => "under way",
        PlanStepStatus::Pending if step.error_message.is_some() => "yours",
        PlanStepStatus::Pending => "to be done",
        PlanStepStatus::InProgress if is_running => "under way",
        PlanStepStatus::InProgress => "waits for your approval",
        PlanStepStatus::Completed => "done",
        PlanStepStatus::Skipped => "not done",
        PlanStepStatus::Failed => "failed",
    }
}
