//! What a person or new rules change in a task.

use serde::Serialize;

use crate::model::{AccountId, Actor, Facts, Instant, NewReminder, NewRun, Priority, Task, TaskId, UserId};

/// What a person wants changed. Each change is also kept as a correction where the nightly job can learn from it.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskEditKind {
    /// Adds a task that the person typed in.
    Add {
        task: Box<Task>,
        facts: Box<Facts>,
        /// Set when the task is nothing but a reminder.
        remind: Option<NewReminder>,
    },
    Done,
    Cancel,
    /// The person begins to work on a task that is ready.
    Begin,
    /// Sets the priority, which no rule changes afterwards.
    Priority(Priority),
    Objective(String),
    /// Sets or removes what is said about the task beside its objective.
    Description(Option<String>),
    /// Sets or removes the deadline: as the person wrote it, and as a point in time.
    Deadline(Option<String>, Option<Instant>),
    /// Marks a step as done by the person.
    StepDone(String),
    /// Has a step done again with these words, and shown to the person before anything is sent. A step that acts on
    /// mail is added to a task that does not have it.
    InstructStep {
        step: String,
        words: String,
        /// Whom a new or forwarded message goes to.
        message: Option<NamedMessage>,
    },
    /// Hides the task until then; none shows it again.
    Snooze(Option<Instant>),
    /// Takes back a completion or a cancellation: a new task continues the old one, because a final status cannot be
    /// left.
    Reopen,
}

/// The recipients and the subject of a message, as a person named them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedMessage {
    pub to: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

/// A change to a task by a person, or by a program that works for them.
#[derive(Debug, Clone)]
pub struct TaskEdit {
    pub task_id: TaskId,
    pub account: AccountId,
    pub user: UserId,
    /// The person, or a client that acts for them.
    pub who: Actor,
    pub kind: TaskEditKind,
    pub why: String,
    pub at: Instant,
    /// With a new deadline: when its reminder comes now. None removes the reminder.
    pub remind_at: Option<Instant>,
}

/// The priority that new rules or a new day give to an open task. Refused when the task changed since `revision`.
#[derive(Debug, Clone)]
pub struct Rerank {
    pub task_id: TaskId,
    pub revision: i64,
    pub priority: Priority,
    pub rule: String,
    pub why: String,
    pub at: Instant,
}

/// The task of a request that a person asked for, and the run that works it.
#[derive(Debug, Clone)]
pub struct NewRequest {
    pub task: Task,
    pub facts: Facts,
    pub run: NewRun,
    pub at: Instant,
}
