//! What applying a turn needs to know.

use std::time::Instant as Stopwatch;

use crate::model::{Instant, TaskId};

use super::handles::Handles;

/// The longest text of a model that is shown to a person, in characters.
const LONGEST_SHOWN: usize = 20_000;

/// What applying a turn needs to know besides the team.
pub(super) struct TurnContext<'a> {
    pub handles: &'a Handles,
    /// Returns the number by which the person names a task.
    pub task_number: &'a dyn Fn(TaskId) -> Option<i64>,
    /// Whether questions go into the approval queue, because nobody is at a screen.
    pub asks_in_queue: bool,
    pub now: Instant,
    /// Started when the model's answer was there.
    pub since_answer: Stopwatch,
}

impl TurnContext<'_> {
    /// Returns a text of a model for the person: names in the place of handles, without control characters, and without
    /// links and addresses that the model made up.
    pub(super) fn explain(&self, text: &str) -> String {
        let visible: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
        let safe = self.handles.redact(&visible, LONGEST_SHOWN);
        self.handles.explain(&safe, self.task_number)
    }

    pub(super) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.since_answer.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
