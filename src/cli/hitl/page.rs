//! An item as lines of text, made from the stored bytes that would be sent.

use chrono_tz::Tz;
use serde_json::Value;

use super::{
    super::{
        description::{describe_effect, format_date_time, format_timestamp},
        printer::escape_and_truncate,
    },
    meeting::meeting_lines,
};
use crate::{
    app::{App, ItemDetail},
    ingest::escape_for_display,
    model::{Instant, ItemKind, ItemRow, ItemState, OutboxState, action::ComposedMessage},
    plain_text::wrapping,
    source::CalendarEvent,
    wording::item::{describe_expiry, describe_kind, describe_recipient},
};

/// The width of the labels in front of the fields.
const LABEL_WIDTH: usize = 9;
/// The blanks that replace a tab, so that text looks the same wherever it stands.
const TAB: &str = "    ";

/// A line of a page before it is broken to the width of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PageLine {
    pub(super) text: String,
    /// Whether the line is shown emphasised, for what a person must notice.
    pub(super) is_emphasised: bool,
    /// The indentation of the rows into which the line is broken.
    indent: usize,
}

impl PageLine {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_emphasised: false, indent: 0 }
    }

    pub(super) fn emphasised(text: impl Into<String>) -> Self {
        Self { is_emphasised: true, ..Self::plain(text) }
    }

    pub(super) fn field(label: &str, text: &str) -> Self {
        Self { indent: LABEL_WIDTH, ..Self::plain(format!("{label:<LABEL_WIDTH$}{text}")) }
    }

    fn warning(label: &str, text: &str) -> Self {
        Self { is_emphasised: true, ..Self::field(label, text) }
    }
}

/// Returns what the item is and when it expires.
pub(super) fn title(app: &App, detail: &ItemDetail) -> String {
    let void = describe_expiry(&detail.item, app.clock.now(), app.config.me.time_zone);
    format!("number {}: {}, {void}", detail.item.number, describe_kind(detail))
}

/// Returns everything that a person needs to know before an approval.
pub(super) fn item_page(app: &App, detail: &ItemDetail) -> Vec<PageLine> {
    let zone = app.config.me.time_zone;
    let item = &detail.item;
    let mut lines = Vec::new();
    if let Some(obstacle) = &detail.obstacle {
        lines.push(PageLine::warning("But", obstacle));
    }
    let message = detail.action.as_ref().and_then(|row| row.action.effect.message());
    if let Some(message) = message {
        lines.extend(message_header_lines(detail, message));
    }
    lines.extend(meeting_lines(detail, message, zone));
    lines.extend(invitation(item, zone));
    let class = detail.action.as_ref().map_or_else(String::new, |row| format!("{}: ", row.class));
    let reason = item.body.get("reason").and_then(|reason| reason.as_str()).unwrap_or(&item.title);
    lines.push(PageLine::field("Why", &format!("{class}{}", escape_and_truncate(reason, 300))));
    lines.extend(response(item));
    if item.state != ItemState::Open {
        let by = item.decision.map_or_else(String::new, |decision| format!(": {decision}"));
        lines.push(PageLine::field(
            "Decided",
            &format!("{}{by} {}", item.state, escape_and_truncate(&item.reason, 200)),
        ));
    }
    if !detail.on_yes.is_empty() {
        lines.push(PageLine::field("On yes", &escape_and_truncate(&detail.on_yes, 600)));
    }
    if item.kind == ItemKind::FailedStep {
        lines.push(PageLine::field("Choose", "retry does it again, skip goes on without it, cancel ends the task"));
    }
    if let Some(task) = &detail.task {
        let number = task.number.map_or_else(String::new, |number| format!("{number}: "));
        let task = &task.task;
        let text =
            format!("{number}{} ({}, {})", escape_and_truncate(&task.objective, 160), task.priority, task.status);
        lines.push(PageLine::field("Task", &text));
        for warning in task.context.warnings() {
            let text = format!("{}: {}", warning.kind, escape_and_truncate(&warning.text, 300));
            lines.push(PageLine::warning("WARNING", &text));
        }
    }
    if let Some(mail) = &detail.mail {
        let text = format!(
            "{}: {} from {}",
            mail.mail_id,
            escape_and_truncate(&mail.subject, 120),
            escape_and_truncate(&mail.sender, 80)
        );
        lines.push(PageLine::field("Mail", &text));
    }
    if let Some(row) = detail.action.as_ref().filter(|row| row.state != OutboxState::Parked) {
        lines.push(PageLine::field("Effect", &describe_effect(row, zone)));
    }
    if let Some(message) = message {
        lines.push(PageLine::plain(""));
        lines.extend(body(&message.body));
    }
    lines
}

/// Returns the ids and digests, for scripts and for verification.
pub(super) fn technical_lines(app: &App, detail: &ItemDetail) -> Vec<PageLine> {
    let mut lines = vec![PageLine::plain("")];
    if let Some(sha256) = &detail.item.action_sha256 {
        lines.push(PageLine::field("Action", &format!("sha256 {sha256}")));
    }
    lines.push(PageLine::field(
        "Item",
        &format!("{} since {}", detail.item.item_id, format_timestamp(detail.item.created_at, app.config.me.time_zone)),
    ));
    lines
}

/// Returns recipients, subject and attachments of a message. Attachments and doubtful recipients are emphasised.
fn message_header_lines(detail: &ItemDetail, message: &ComposedMessage) -> Vec<PageLine> {
    let mut lines = Vec::new();
    for (nth, to) in detail.recipients.iter().enumerate() {
        let (marks, loud) = describe_recipient(to);
        let label = if nth < message.to.len() { "To" } else { "Cc" };
        lines.push(PageLine {
            is_emphasised: loud,
            ..PageLine::field(label, &format!("{} [{marks}]", escape_and_truncate(&to.address, 254)))
        });
    }
    lines.push(PageLine::field("Subject", &escape_and_truncate(&message.subject, 998)));
    for attached in &message.attachments {
        let (name, kind) = (escape_and_truncate(&attached.name, 200), escape_and_truncate(&attached.content_type, 80));
        let text = format!("{name} ({kind}, {} bytes) sha256 {}", attached.size, attached.sha256);
        lines.push(PageLine::warning("Attached", &text));
    }
    lines
}

/// Returns which event an answer is about, and what the calendar has under the same id.
fn invitation(item: &ItemRow, zone: Tz) -> Vec<PageLine> {
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
    let mut lines = vec![PageLine::field("Event", &event(facts.get("event").unwrap_or(&Value::Null)))];
    let there = facts.get("in_calendar").unwrap_or(&Value::Null);
    if let Some(why) = there.get("not_asked").and_then(Value::as_str) {
        lines.push(PageLine::field("Calendar", &format!("could not be asked: {}", escape_and_truncate(why, 200))));
    } else if there.get("holds").is_some_and(Value::is_string) {
        lines.push(PageLine::field("Calendar", "the event is not in it"));
    } else if let Some(holds) = there.get("holds") {
        lines.push(match there.get("difference").and_then(Value::as_str) {
            None => PageLine::field("Calendar", &format!("already there as {}", event(holds))),
            Some(why) => PageLine::warning(
                "Calendar",
                &format!("under this event's id it has ANOTHER ({why}), which is left alone: {}", event(holds)),
            ),
        });
    }
    lines
}

/// Returns what the person had answered in words, and what was understood of it.
fn response(item: &ItemRow) -> Vec<PageLine> {
    let Some(response) = item.body.get("response") else { return Vec::new() };
    let said = response.get("words").and_then(Value::as_str).unwrap_or_default();
    let understood = response.get("understood").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let understood: Vec<&str> = understood.iter().filter_map(Value::as_str).collect();
    vec![
        PageLine::field("You said", &escape_and_truncate(said, 300)),
        PageLine::field("Meaning", &escape_and_truncate(&understood.join("; "), 600)),
    ]
}

/// Returns the text of a mail, line by line. Characters that would act on the terminal are written out.
fn body(text: &str) -> impl Iterator<Item = PageLine> {
    text.lines().map(|line| PageLine {
        indent: 2,
        ..PageLine::plain(format!("  {}", escape_for_display(line).replace('\t', TAB)))
    })
}

/// Returns the mail that caused the item; none when there is none.
pub(super) fn source_mail_lines(app: &App, detail: &ItemDetail) -> Option<Vec<PageLine>> {
    let zone = app.config.me.time_zone;
    let (mail, text) = (detail.mail.as_ref()?, detail.cause.as_ref()?);
    let mut lines = vec![
        PageLine::plain(format!("The mail that caused it, number {}", mail.mail_id)),
        PageLine::field("From", &escape_and_truncate(&mail.sender, 254)),
        PageLine::field("Subject", &escape_and_truncate(&mail.subject, 998)),
        PageLine::field("Arrived", &format_timestamp(mail.arrived_at, zone)),
        PageLine::plain(""),
    ];
    lines.extend(body(text));
    Some(lines)
}

/// Breaks lines to a width in columns, between words where possible. Right-to-left order is left to the terminal.
pub(super) fn wrap(lines: &[PageLine], width: usize) -> Vec<PageLine> {
    let width = width.max(10);
    lines.iter().flat_map(|line| wrap_line(line, width)).collect()
}

fn wrap_line(line: &PageLine, width: usize) -> Vec<PageLine> {
    let rows = wrapping::wrap(&line.text, width, line.indent);
    rows.into_iter().map(|text| PageLine { text, ..line.clone() }).collect()
}
