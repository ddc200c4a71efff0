//! An item line by line, made from the stored bytes that would be carried out: what a person needs to know before an
//! approval.

use chrono_tz::Tz;
use serde::Deserialize as _;
use serde_json::Value;

use super::{
    description::{describe_effect, format_date_time},
    escape_and_truncate,
    item::describe_recipient,
};
use crate::{
    app::ItemDetail,
    model::{
        AskedTimes, Instant, ItemKind, ItemRow, ItemState, OutboxState, TaskContext, action::ComposedMessage,
        task::PROPOSE_TIME_SLOTS,
    },
    source::CalendarEvent,
    tool::event_of,
};

/// One fact about an item, under its label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemLine {
    pub label: &'static str,
    pub text: String,
    /// Whether a person must notice it.
    pub is_warning: bool,
}

impl ItemLine {
    fn new(label: &'static str, text: String) -> Self {
        Self { label, text, is_warning: false }
    }

    fn warning(label: &'static str, text: String) -> Self {
        Self { is_warning: true, ..Self::new(label, text) }
    }
}

/// Returns what would be done: recipients, subject, attachments, the meeting, and what stands in the way.
pub fn action_lines(detail: &ItemDetail, zone: Tz) -> Vec<ItemLine> {
    let item = &detail.item;
    let mut lines = Vec::new();
    if let Some(obstacle) = &detail.obstacle {
        lines.push(ItemLine::warning("But", obstacle.clone()));
    }
    let message = detail.action.as_ref().and_then(|row| row.action.effect.message());
    if let Some(message) = message {
        lines.extend(message_header_lines(detail, message));
    }
    lines.extend(meeting_lines(detail, message, zone));
    lines.extend(invitation_lines(item, zone));
    lines
}

/// Returns why the person is asked, what an approval does, and what they can answer.
pub fn reason_lines(detail: &ItemDetail) -> Vec<ItemLine> {
    let item = &detail.item;
    let mut lines = Vec::new();
    let class = detail.action.as_ref().map_or_else(String::new, |row| format!("{}: ", row.class));
    let reason = item.body.get("reason").and_then(|reason| reason.as_str()).unwrap_or(&item.title);
    lines.push(ItemLine::new("Why", format!("{class}{}", escape_and_truncate(reason, 300))));
    lines.extend(response_lines(item));
    if item.state != ItemState::Open {
        let by = item.decision.map_or_else(String::new, |decision| format!(": {decision}"));
        let decided = format!("{}{by} {}", item.state, escape_and_truncate(&item.reason, 200));
        lines.push(ItemLine::new("Decided", decided));
    }
    if !detail.on_yes.is_empty() {
        lines.push(ItemLine::new("On yes", escape_and_truncate(&detail.on_yes, 600)));
    }
    if item.kind == ItemKind::FailedStep {
        let choices = "retry does it again, skip goes on without it, cancel ends the task";
        lines.push(ItemLine::new("Choose", choices.to_owned()));
    }
    lines
}

/// Returns the task of an item, with the warnings about it.
pub fn task_lines(detail: &ItemDetail) -> Vec<ItemLine> {
    let Some(row) = &detail.task else { return Vec::new() };
    let number = row.number.map_or_else(String::new, |number| format!("{number}: "));
    let task = &row.task;
    let text = format!("{number}{} ({}, {})", escape_and_truncate(&task.objective, 160), task.priority, task.status);
    let warnings = task.context.warnings().into_iter().map(|warning| {
        ItemLine::warning("WARNING", format!("{}: {}", warning.kind, escape_and_truncate(&warning.text, 300)))
    });
    std::iter::once(ItemLine::new("Task", text)).chain(warnings).collect()
}

/// Returns what became of the effect; none while it waits for the person.
pub fn effect_line(detail: &ItemDetail, zone: Tz) -> Option<ItemLine> {
    let row = detail.action.as_ref().filter(|row| row.state != OutboxState::Parked)?;
    Some(ItemLine::new("Effect", describe_effect(row, zone)))
}

/// Returns recipients, subject and attachments of a message. Attachments and doubtful recipients are warnings.
fn message_header_lines(detail: &ItemDetail, message: &ComposedMessage) -> Vec<ItemLine> {
    let mut lines = Vec::new();
    for (nth, to) in detail.recipients.iter().enumerate() {
        let (marks, is_warning) = describe_recipient(to);
        let label = if nth < message.to.len() { "To" } else { "Cc" };
        let text = format!("{} [{marks}]", escape_and_truncate(&to.address, 254));
        lines.push(ItemLine { label, text, is_warning });
    }
    lines.push(ItemLine::new("Subject", escape_and_truncate(&message.subject, 998)));
    for attached in &message.attachments {
        let (name, kind) = (escape_and_truncate(&attached.name, 200), escape_and_truncate(&attached.content_type, 80));
        let text = format!("{name} ({kind}, {} bytes) sha256 {}", attached.size, attached.sha256);
        lines.push(ItemLine::warning("Attached", text));
    }
    lines
}

/// Returns the lines about the meeting of an item: when it is, what was asked for, and why the answer names another
/// time. None for any other item. When it is, is read from the bytes.
fn meeting_lines(detail: &ItemDetail, message: Option<&ComposedMessage>, zone: Tz) -> Vec<ItemLine> {
    let mut lines = Vec::new();
    if let Some(event) = message.and_then(event_of) {
        let (start, end) = (event.start.utc().with_timezone(&zone), event.end.utc().with_timezone(&zone));
        let until = if start.date_naive() == end.date_naive() { "%H:%M" } else { "%a %d %b %Y, %H:%M" };
        let when = format!("{}–{} ({zone})", start.format("%a %d %b %Y, %H:%M"), end.format(until));
        lines.push(ItemLine::new("When", when));
    }
    let Some(task) = detail.task.as_ref().map(|row| &row.task) else { return lines };
    let asked = task.context.more.get(TaskContext::ASKED_TIMES).and_then(|asked| AskedTimes::deserialize(asked).ok());
    if let Some(asked) = asked {
        lines.push(ItemLine::new("Asked", escape_and_truncate(&asked.words, 300)));
    }
    let found = task.tool_output.as_ref().and_then(|output| output.get(PROPOSE_TIME_SLOTS));
    // The answer to a calendar's invitation says itself why it is no.
    let why = found.and_then(|found| found.get("why")).or_else(|| detail.item.body.pointer("/planned/why"));
    if let Some(why) = why.and_then(Value::as_str) {
        lines.push(ItemLine::new("But", escape_and_truncate(why, 300)));
    }
    lines
}

/// Returns which event an answer is about, and what the calendar has under the same id.
fn invitation_lines(item: &ItemRow, zone: Tz) -> Vec<ItemLine> {
    let Some(facts) = item.body.pointer("/planned/invitation") else { return Vec::new() };
    let event = |value: &Value| {
        let event: CalendarEvent = serde_json::from_value(value.clone()).unwrap_or_default();
        let at = |time: Option<Instant>| time.map_or_else(|| "no time".to_owned(), |at| format_date_time(at, zone));
        let times = format!("{} to {}", at(event.start), at(event.end));
        format!(
            "\"{}\", {times}, organizer {}",
            escape_and_truncate(&event.summary, 200),
            escape_and_truncate(&event.organizer, 254)
        )
    };
    let mut lines = vec![ItemLine::new("Event", event(facts.get("event").unwrap_or(&Value::Null)))];
    let there = facts.get("in_calendar").unwrap_or(&Value::Null);
    if let Some(why) = there.get("not_asked").and_then(Value::as_str) {
        lines.push(ItemLine::new("Calendar", format!("could not be asked: {}", escape_and_truncate(why, 200))));
    } else if there.get("holds").is_some_and(Value::is_string) {
        lines.push(ItemLine::new("Calendar", "the event is not in it".to_owned()));
    } else if let Some(holds) = there.get("holds") {
        lines.push(match there.get("difference").and_then(Value::as_str) {
            None => ItemLine::new("Calendar", format!("already there as {}", event(holds))),
            Some(why) => ItemLine::warning(
                "Calendar",
                format!("under this event's id it has ANOTHER ({why}), which is left alone: {}", event(holds)),
            ),
        });
    }
    lines
}

/// Returns what the person had answered in words, and what was understood of it.
fn response_lines(item: &ItemRow) -> Vec<ItemLine> {
    let Some(response) = item.body.get("response") else { return Vec::new() };
    let said = response.get("words").and_then(Value::as_str).unwrap_or_default();
    let understood = response.get("understood").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let understood: Vec<&str> = understood.iter().filter_map(Value::as_str).collect();
    vec![
        ItemLine::new("You said", escape_and_truncate(said, 300)),
        ItemLine::new("Meaning", escape_and_truncate(&understood.join("; "), 600)),
    ]
}
