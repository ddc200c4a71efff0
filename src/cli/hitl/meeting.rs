//! What an item says about a meeting: when it is, what was asked for, and why the answer names another time.

use chrono_tz::Tz;
use serde::Deserialize as _;
use serde_json::Value;

use super::{super::printer::escape_and_truncate, page::PageLine};
use crate::{
    app::ItemDetail,
    model::{AskedTimes, TaskContext, action::ComposedMessage, task::PROPOSE_TIME_SLOTS},
    tool::event_of,
};

/// Returns the lines about the meeting of an item; none for any other item. When it is, is read from the bytes.
pub(super) fn meeting_lines(detail: &ItemDetail, message: Option<&ComposedMessage>, zone: Tz) -> Vec<PageLine> {
    let mut lines = Vec::new();
    if let Some(event) = message.and_then(event_of) {
        let (start, end) = (event.start.utc().with_timezone(&zone), event.end.utc().with_timezone(&zone));
        let until = if start.date_naive() == end.date_naive() { "%H:%M" } else { "%a %d %b %Y, %H:%M" };
        let when = format!("{}–{} ({zone})", start.format("%a %d %b %Y, %H:%M"), end.format(until));
        lines.push(PageLine::field("When", &when));
    }
    let Some(task) = detail.task.as_ref().map(|row| &row.task) else { return lines };
    let asked = task.context.more.get(TaskContext::ASKED_TIMES).and_then(|asked| AskedTimes::deserialize(asked).ok());
    if let Some(asked) = asked {
        lines.push(PageLine::field("Asked", &escape_and_truncate(&asked.words, 300)));
    }
    let found = task.tool_output.as_ref().and_then(|output| output.get(PROPOSE_TIME_SLOTS));
    // The answer to a calendar's invitation says itself why it is no.
    let why = found.and_then(|found| found.get("why")).or_else(|| detail.item.body.pointer("/planned/why"));
    if let Some(why) = why.and_then(Value::as_str) {
        lines.push(PageLine::field("But", &escape_and_truncate(why, 300)));
    }
    lines
}
