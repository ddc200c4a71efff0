//! The time of a meeting in the words of a letter, in the person's zone and, where the mail named one, in the other's.

use chrono::{DateTime, Datelike as _, TimeZone};
use chrono_tz::Tz;
use serde::{Deserialize as _, Serialize};
use serde_json::Value;

use super::{ToolInput, letter::LetterWording};
use crate::model::{AskedTimes, Instant, MeetingAnswer, NamedZone, Task, TaskContext, task::PROPOSE_TIME_SLOTS};

/// When a meeting begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MeetingSpan {
    pub start: Instant,
    pub end: Instant,
}

/// Returns the times that the mail of a task asks for; none if it names none.
pub(super) fn asked_times(task: &Task) -> Option<AskedTimes> {
    let asked = AskedTimes::deserialize(task.context.more.get(TaskContext::ASKED_TIMES)?).ok()?;
    (!asked.times.is_empty()).then_some(asked)
}

/// Returns what `propose_time_slots` found: the answer and its times.
pub(super) fn proposed_times(task: &Task) -> Option<(MeetingAnswer, Vec<MeetingSpan>)> {
    let output = task.tool_output.as_ref()?.get(PROPOSE_TIME_SLOTS)?;
    let time =
        |slot: &Value, key: &str| Instant::new(DateTime::parse_from_rfc3339(slot.get(key)?.as_str()?).ok()?.to_utc());
    let span = |slot: &Value| Some(MeetingSpan { start: time(slot, "start")?, end: time(slot, "end")? });
    let spans: Vec<_> = output.get("slots")?.as_array()?.iter().filter_map(span).collect();
    let answer = output.get("answer").and_then(Value::as_str).and_then(|answer| answer.parse().ok());
    (!spans.is_empty()).then(|| (answer.unwrap_or(MeetingAnswer::Offer), spans))
}

/// Returns why none of the times asked for is free, as `propose_time_slots` noted it.
pub(super) fn taken_reason(task: &Task) -> Option<&str> {
    task.tool_output.as_ref()?.get(PROPOSE_TIME_SLOTS)?.get("reason")?.as_str()
}

/// Returns the time in the form of the mail's language, in the person's zone and in the one that the mail named.
pub(super) fn format_span(input: &ToolInput<'_>, span: MeetingSpan) -> String {
    let zone = asked_times(input.task).and_then(|asked| asked.zone);
    format_meeting_time(&input.facts.language, input.me.time_zone, span, zone.as_ref())
}

/// Returns "Tuesday 17 November 2026, 15:00–15:30 (UTC+01:00; 09:00–09:30 EST)".
pub(super) fn format_meeting_time(language: &str, own: Tz, span: MeetingSpan, other: Option<&NamedZone>) -> String {
    let wording = LetterWording::of(language);
    let (start, end) = (span.start.utc().with_timezone(&own), span.end.utc().with_timezone(&own));
    let there = other.and_then(|zone| {
        let (from, to) = (zone.local(span.start)?, zone.local(span.end)?);
        let day = if from.date_naive() == start.date_naive() {
            String::new()
        } else {
            format!("{}, ", format_day(wording, &from))
        };
        Some(format!("; {day}{}–{} {}", from.format("%H:%M"), to.format("%H:%M"), zone.name))
    });
    let until = if start.date_naive() == end.date_naive() {
        end.format("%H:%M").to_string()
    } else {
        format!("{}, {}", format_day(wording, &end), end.format("%H:%M"))
    };
    format!(
        "{}, {}–{until} ({}{})",
        format_day(wording, &start),
        start.format("%H:%M"),
        start.format("UTC%:z"),
        there.unwrap_or_default()
    )
}

fn format_day<Z: TimeZone>(wording: &LetterWording, at: &DateTime<Z>) -> String
where
    Z::Offset: std::fmt::Display,
{
    let weekday = wording.list("weekdays").nth(at.weekday().num_days_from_monday() as usize).unwrap_or_default();
    at.format(&wording.phrase("meeting_day").replace("{weekday}", weekday)).to_string()
}
