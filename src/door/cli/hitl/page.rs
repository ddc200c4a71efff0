//! One item as lines of text, drawn from the bytes that would be sent.

use chrono_tz::Tz;
use serde_json::Value;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::{
    super::printer::escape_and_truncate,
    words::{effect_words, kind_words, marks, moment, void_words},
};
use crate::{
    app::{App, ItemDetail},
    ingest::escape_for_display,
    model::{Instant, ItemKind, ItemState, OutboxState, action::ComposedMessage},
    source::CalendarEvent,
    store::value::ItemRow,
};

/// The labels in front of the fields.
const LABEL: usize = 9;
/// A tab is this many blanks: what it looks like must not depend on where it stands.
const TAB: &str = "    ";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    /// To be looked at first.
    pub(super) loud: bool,
    /// Where its further rows begin.
    indent: usize,
}

impl Line {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), loud: false, indent: 0 }
    }

    pub(super) fn loud(text: impl Into<String>) -> Self {
        Self { loud: true, ..Self::plain(text) }
    }

    fn field(label: &str, text: &str) -> Self {
        Self { indent: LABEL, ..Self::plain(format!("{label:<LABEL$}{text}")) }
    }

    fn warning(label: &str, text: &str) -> Self {
        Self { loud: true, ..Self::field(label, text) }
    }
}

/// What it is and how long it waits.
pub(super) fn title(app: &App, detail: &ItemDetail) -> String {
    let void = void_words(&detail.item, app.clock.now(), app.config.me.time_zone);
    format!("number {}: {}, {void}", detail.item.number, kind_words(detail))
}

/// Everything a person needs before a yes.
pub(super) fn page(app: &App, detail: &ItemDetail) -> Vec<Line> {
    let zone = app.config.me.time_zone;
    let item = &detail.item;
    let mut lines = Vec::new();
    if let Some(obstacle) = &detail.obstacle {
        lines.push(Line::warning("But", obstacle));
    }
    let message = detail.action.as_ref().and_then(|row| row.action.effect.message());
    if let Some(message) = message {
        lines.extend(addressed(detail, message));
    }
    lines.extend(invitation(item, zone));
    let class = detail.action.as_ref().map_or_else(String::new, |row| format!("{}: ", row.class));
    let reason = item.body.get("reason").and_then(|reason| reason.as_str()).unwrap_or(&item.title);
    lines.push(Line::field("Why", &format!("{class}{}", escape_and_truncate(reason, 300))));
    if item.state != ItemState::Open {
        let by = if item.decision.is_empty() { String::new() } else { format!(": {}", item.decision) };
        lines.push(Line::field("Decided", &format!("{}{by} {}", item.state, escape_and_truncate(&item.reason, 200))));
    }
    if !detail.on_yes.is_empty() {
        lines.push(Line::field("On yes", &escape_and_truncate(&detail.on_yes, 600)));
    }
    if item.kind == ItemKind::FailedStep {
        lines.push(Line::field("Choose", "retry does it again, skip goes on without it, cancel gives the task up"));
    }
    if let Some(task) = &detail.task {
        let number = task.number.map_or_else(String::new, |number| format!("{number}: "));
        let task = &task.task;
        let text =
            format!("{number}{} ({}, {})", escape_and_truncate(&task.objective, 160), task.priority, task.status);
        lines.push(Line::field("Task", &text));
    }
    if let Some(mail) = &detail.mail {
        let text = format!(
            "{}: {} from {}",
            mail.mail_id,
            escape_and_truncate(&mail.subject, 120),
            escape_and_truncate(&mail.sender, 80)
        );
        lines.push(Line::field("Mail", &text));
    }
    if let Some(row) = detail.action.as_ref().filter(|row| row.state != OutboxState::Parked) {
        lines.push(Line::field("Effect", &effect_words(row, zone)));
    }
    if let Some(message) = message {
        lines.push(Line::plain(""));
        lines.extend(body(&message.body));
    }
    lines
}

/// What only scripts and the doubtful want to read.
pub(super) fn details(detail: &ItemDetail) -> Vec<Line> {
    let mut lines = vec![Line::plain("")];
    if let Some(sha256) = &detail.item.action_sha256 {
        lines.push(Line::field("Action", &format!("sha256 {sha256}")));
    }
    lines.push(Line::field("Item", &format!("{} since {}", detail.item.item_id, detail.item.created_at)));
    lines
}

fn addressed(detail: &ItemDetail, message: &ComposedMessage) -> Vec<Line> {
    let mut lines = Vec::new();
    for (nth, to) in detail.recipients.iter().enumerate() {
        let (marks, loud) = marks(to);
        let label = if nth < message.to.len() { "To" } else { "Cc" };
        lines
            .push(Line { loud, ..Line::field(label, &format!("{} [{marks}]", escape_and_truncate(&to.address, 254))) });
    }
    lines.push(Line::field("Subject", &escape_and_truncate(&message.subject, 998)));
    for attached in &message.attachments {
        let (name, kind) = (escape_and_truncate(&attached.name, 200), escape_and_truncate(&attached.content_type, 80));
        let text = format!("{name} ({kind}, {} bytes) sha256 {}", attached.size, attached.sha256);
        lines.push(Line::warning("Attached", &text));
    }
    lines
}

/// Which event an answer is about, and what the calendar has under the id that the inviter gave it.
fn invitation(item: &ItemRow, zone: Tz) -> Vec<Line> {
    let Some(facts) = item.body.pointer("/planned/invitation") else { return Vec::new() };
    let event = |value: &Value| {
        let event: CalendarEvent = serde_json::from_value(value.clone()).unwrap_or_default();
        let at = |time: Option<Instant>| time.map_or_else(|| "no time".to_owned(), |at| moment(at, zone));
        let times = format!("{} to {}", at(event.start), at(event.end));
        format!(
            "\"{}\", {times}, organizer {}",
            escape_and_truncate(&event.summary, 200),
            escape_and_truncate(&event.organizer, 254)
        )
    };
    let mut lines = vec![Line::field("Event", &event(facts.get("event").unwrap_or(&Value::Null)))];
    let there = facts.get("in_calendar").unwrap_or(&Value::Null);
    if let Some(why) = there.get("not_asked").and_then(Value::as_str) {
        lines.push(Line::field("Calendar", &format!("could not be asked: {}", escape_and_truncate(why, 200))));
    } else if there.get("holds").is_some_and(Value::is_string) {
        lines.push(Line::field("Calendar", "the event is not in it"));
    } else if let Some(holds) = there.get("holds") {
        lines.push(match there.get("difference").and_then(Value::as_str) {
            None => Line::field("Calendar", &format!("already there as {}", event(holds))),
            Some(why) => Line::warning(
                "Calendar",
                &format!("under this event's id it has ANOTHER ({why}), which is left alone: {}", event(holds)),
            ),
        });
    }
    lines
}

/// The text of a mail, line by line, with whatever would act on the screen written out.
fn body(text: &str) -> impl Iterator<Item = Line> {
    text.lines()
        .map(|line| Line { indent: 2, ..Line::plain(format!("  {}", escape_for_display(line).replace('\t', TAB))) })
}

/// The mail behind an item.
pub(super) fn cause(detail: &ItemDetail) -> Option<Vec<Line>> {
    let (mail, text) = (detail.mail.as_ref()?, detail.cause.as_ref()?);
    let mut lines = vec![
        Line::plain(format!("The mail that caused it, number {}", mail.mail_id)),
        Line::field("From", &escape_and_truncate(&mail.sender, 254)),
        Line::field("Subject", &escape_and_truncate(&mail.subject, 998)),
        Line::field("Arrived", &mail.arrived_at.to_string()),
        Line::plain(""),
    ];
    lines.extend(body(text));
    Some(lines)
}

/// Breaks lines to a width in columns, between words where there are any. Order within a line is the terminal's affair.
pub(super) fn wrap(lines: &[Line], width: usize) -> Vec<Line> {
    let width = width.max(10);
    lines.iter().flat_map(|line| wrapped(line, width)).collect()
}

fn wrapped(line: &Line, width: usize) -> Vec<Line> {
    let indent = " ".repeat(line.indent.min(width / 2));
    let mut rows = Vec::new();
    let mut row = String::new();
    for word in line.text.split_inclusive(' ') {
        if row.width() + word.trim_end().width() > width && !row.trim().is_empty() {
            rows.push(std::mem::replace(&mut row, indent.clone()));
        }
        for c in word.chars() {
            let blank = c == ' ';
            if row.width() + c.width().unwrap_or(0) > width {
                if blank {
                    continue;
                }
                rows.push(std::mem::replace(&mut row, indent.clone()));
            }
            row.push(c);
        }
    }
    rows.push(row);
    rows.into_iter().map(|text| Line { text: text.trim_end().to_owned(), ..line.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_nothing_is_lost() {
        for (text, width, expected) in [
            ("one two three", 10, &["one two", "three"][..]),
            ("abcdefghijklmnop", 10, &["abcdefghij", "klmnop"]),
            ("  said a b c d e f", 10, &["  said a b", "  c d e f"]),
            ("", 10, &[""]),
            ("שלום לכולם מכאן", 10, &["שלום לכולם", "מכאן"]),
            ("会議会議会議", 10, &["会議会議会", "議"]),
        ] {
            let indent = text.len() - text.trim_start().len();
            let rows: Vec<String> =
                wrap(&[Line { indent, ..Line::plain(text) }], width).into_iter().map(|line| line.text).collect();
            assert_eq!(rows, expected, "{text}");
            assert!(rows.iter().all(|row| row.width() <= width), "{text}");
        }
    }
}
