//! Reminders: what a person asked for, what is due, what was shown.

use crate::model::{ActionId, Instant, Recurrence, TaskId};
use serde::Serialize;

/// A reminder a person typed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReminder {
    pub at: Instant,
    pub every: Option<Recurrence>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReminderRow {
    pub action_id: ActionId,
    pub task_id: TaskId,
    pub due_at: Instant,
    pub text: String,
    /// It comes back; none: once.
    pub every: Option<Recurrence>,
    /// Where its series began.
    pub first_at: Instant,
}

/// A reminder that somebody has seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownReminder {
    pub action_id: ActionId,
    /// The time it was shown for; one that was moved meanwhile is still to come.
    pub due_at: Instant,
    /// When it comes back.
    pub next: Option<Instant>,
}
