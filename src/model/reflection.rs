//! One line of `data/reflections/DATE.jsonl`: what a finished run teaches. No mail text.

use serde::{Deserialize, Serialize};

use super::{AccountId, Instant, Priority, RunId, Status, TaskId};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reflection {
    pub schema: u32,
    /// `run`; corrections are the other kind.
    pub kind: String,
    pub at: Instant,
    pub run_id: RunId,
    pub account: AccountId,
    pub task_id: TaskId,
    pub task_kind: String,
    pub status: Status,
    pub priority: Priority,
    /// The rule that decided the priority.
    pub rule: String,
    pub urgency: f64,
    pub tools: Vec<String>,
    pub steps_done: usize,
    pub steps_open: usize,
    pub documents: usize,
    pub language: String,
}
