//! Numbered lists of tasks.

use super::{ReplySentence, ReplyText, Value, format_deadline};
use crate::{
    assistant::{ChatLanguage, tool::ChatTask},
    model::TaskStatus,
};
use chrono_tz::Tz;

/// Returns a line for each task, numbered from `first`. A line also has the number of the task where that is another, its
/// deadline, and a mark if it is done.
pub(in crate::assistant) fn number_tasks(
    language: ChatLanguage,
    tasks: &[ChatTask],
    first: usize,
    zone: Tz,
) -> ReplyText {
    let mut lines = ReplyText::default();
    for (position, task) in (first..).zip(tasks) {
        let mut line = ReplyText::default();
        line.push(&format!("{position}. {}", if task.status == TaskStatus::Done { "✓ " } else { "" }));
        line.push_title(&task.title);
        if let Some(number) = task.number.filter(|number| usize::try_from(*number) != Ok(position)) {
            line.push(&format!(" (#{number})"));
        }
        if let Some(deadline) = task.deadline.as_deref().filter(|_| !task.status.is_terminal()) {
            line.push(" ");
            let when = Value::Text(format_deadline(language, deadline, zone));
            line.join("", &ReplySentence("due_suffix").say(language, &[("when", when)]));
        }
        lines.join("\n", &line);
    }
    lines
}

/// The most options that a person is asked to choose from in the direct profile.
const MOST_OPTIONS: usize = 10;

/// Returns those of several tasks that a person is asked to choose from.
pub(in crate::assistant) fn shown_options(tasks: &[ChatTask]) -> &[ChatTask] {
    tasks.get(..MOST_OPTIONS).unwrap_or(tasks)
}

/// Returns a line for each task that may be meant, with the name that `id` gives it.
pub(in crate::assistant) fn number_options(tasks: &[ChatTask], id: impl Fn(&ChatTask) -> String) -> ReplyText {
    let mut lines = ReplyText::default();
    for (position, task) in (1..).zip(tasks) {
        let mut line = ReplyText::default();
        line.push(&format!("{position}. "));
        line.push_title(&task.title);
        line.push(&format!(" (ID: {})", id(task)));
        lines.join("\n", &line);
    }
    lines
}
