//! What a person or new rules change in a task.

use crate::model::{AccountId, Facts, Instant, NewReminder, Priority, Task, TaskId, UserId};

/// What a person asks of a task.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskEditKind {
    Add {
        task: Box<Task>,
        facts: Box<Facts>,
        /// The task is a reminder.
        remind: Option<NewReminder>,
    },
    Done,
    Cancel,
    Priority(Priority),
    Objective(String),
    Deadline(Option<String>, Option<Instant>),
    StepDone(String),
    /// What to say: the step is done anew with these words, and shown before it leaves.
    InstructStep {
        step: String,
        words: String,
    },
    Snooze(Option<Instant>),
    /// Takes back a completion or a cancellation: a successor carries on.
    Reopen,
}

#[derive(Debug, Clone)]
pub struct TaskEdit {
    pub task_id: TaskId,
    pub account: AccountId,
    pub user: UserId,
    pub kind: TaskEditKind,
    pub why: String,
    pub at: Instant,
    /// With a new deadline: when its reminder comes now. None: not at all.
    pub remind_at: Option<Instant>,
}

/// A level that new rules or a new day give an open task.
#[derive(Debug, Clone)]
pub struct Rerank {
    pub task_id: TaskId,
    pub revision: i64,
    pub priority: Priority,
    pub rule: String,
    pub why: String,
    pub at: Instant,
}
