//! A task as it is stored, with what stands beside it.

use crate::model::{AccountId, Actor, Instant, MailId, Task, TaskId, UserId};
use serde::Serialize;

/// A task with what stands beside it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskRow {
    #[serde(flatten)]
    pub task: Task,
    pub number: Option<i64>,
    pub account: AccountId,
    pub user: UserId,
    pub mail_id: Option<MailId>,
    #[serde(skip)]
    pub revision: i64,
    pub rule: String,
    pub hand_ranked: bool,
    pub snooze_until: Option<Instant>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HistoryRow {
    pub field: String,
    pub from: String,
    pub to: String,
    pub who: Actor,
    pub why: String,
    pub at: Instant,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InvoiceRow {
    pub task_id: TaskId,
    pub payee: String,
    pub amount: Option<f64>,
    pub currency: Option<String>,
    pub due: Option<String>,
    pub number: Option<String>,
    pub recorded_at: Instant,
}
