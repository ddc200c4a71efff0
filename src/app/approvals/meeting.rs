//! What is noted about a meeting once a person has edited its invitation.

use serde_json::{Value, json};

use crate::{
    model::{Action, ItemRow, Task, task::PROPOSE_TIME_SLOTS},
    tool::{MeetingSpan, event_of},
};

/// Returns the output that the step will have, with the words and the time of the edited message.
pub(super) fn planned_as_edited(item: &ItemRow, action: &Action) -> Value {
    let mut output = item.body.get("planned").cloned().unwrap_or_default();
    if let (Value::Object(fields), Some(message)) = (&mut output, action.effect.message()) {
        for (name, value) in [("subject", json!(message.subject)), ("text", json!(message.body))] {
            if fields.contains_key(name) {
                fields.insert(name.into(), value);
            }
        }
        if let Some(event) = event_of(message).filter(|_| fields.contains_key("event")) {
            fields.insert("event".into(), json!(MeetingSpan { start: event.start, end: event.end }));
        }
    }
    output
}

/// Returns the proposal of the task with the time of the edited invitation in place of the one that was found, so that
/// the new time is held and the old one is free; none where nothing was proposed or the time is the same.
pub(super) fn proposal_as_edited(task: &Task, action: &Action) -> Option<(String, Value)> {
    let event = event_of(action.effect.message()?).filter(|event| !event.is_answer)?;
    let mut proposed = task.tool_output.as_ref()?.get(PROPOSE_TIME_SLOTS)?.clone();
    let slots = json!([MeetingSpan { start: event.start, end: event.end }]);
    proposed.as_object_mut()?.insert("slots".into(), slots);
    Some((PROPOSE_TIME_SLOTS.to_owned(), proposed))
}
