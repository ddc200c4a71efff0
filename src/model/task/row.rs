//! A task as it is stored, with the columns beside its twelve fields.

use crate::model::{AccountId, Actor, Facts, Instant, MailId, Priority, Task, TaskId, UserId};
use serde::{Deserialize, Serialize};

/// A task with its owner and what the program keeps beside it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskRow {
    #[serde(flatten)]
    pub task: Task,
    /// The number by which the person names the task; none once a successor has it.
    pub number: Option<i64>,
    pub account: AccountId,
    pub user: UserId,
    /// The mail that opened the task; none when a person typed it in.
    pub mail_id: Option<MailId>,
    /// Grows with every change. A write that read an older revision is refused.
    #[serde(skip)]
    pub revision: i64,
    /// The rule that decided the priority.
    pub rule: String,
    /// Whether a person set the priority, which then stays.
    pub hand_ranked: bool,
    pub snooze_until: Option<Instant>,
}

/// One change of a task, with who made it and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HistoryRow {
    pub field: String,
    pub from: String,
    pub to: String,
    pub who: Actor,
    pub why: String,
    pub at: Instant,
}

/// An invoice that was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InvoiceRow {
    pub task_id: TaskId,
    pub payee: String,
    pub amount: Option<f64>,
    pub currency: Option<String>,
    pub due: Option<String>,
    pub number: Option<String>,
    pub recorded_at: Instant,
}

/// An open task that rules may rank again: its facts, its level and the revision they were read at.
pub struct RankableTask {
    pub task_id: TaskId,
    pub revision: i64,
    pub priority: Priority,
    pub rule: String,
    pub facts: Facts,
}
