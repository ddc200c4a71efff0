//! Reminders: what a person asked for, what is due, what was shown.

use crate::model::{ActionId, Instant, Recurrence, TaskId};
use serde::Serialize;

/// A reminder that a person typed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReminder {
    pub at: Instant,
    pub every: Option<Recurrence>,
}

/// A reminder as it is stored. Its row outlives being shown, because a recurring one comes back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReminderRow {
    pub action_id: ActionId,
    pub task_id: TaskId,
    pub due_at: Instant,
    pub text: String,
    /// How often the reminder comes back; none for a single one.
    pub every: Option<Recurrence>,
    /// When its series began. The next time is counted from here.
    pub first_at: Instant,
}

/// Marks a reminder as shown. Written after it was printed, so that a crash shows it twice and never not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownReminder {
    pub action_id: ActionId,
    /// The time for which the reminder was shown. One that was moved meanwhile is still to come.
    pub due_at: Instant,
    /// When the reminder comes back; none for a single one.
    pub next: Option<Instant>,
}
