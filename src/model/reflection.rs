//! The lines of `data/reflections/DATE.jsonl`: what a finished run and a person's correction teach. No mail text.

use serde::{Deserialize, Serialize};

use super::{AccountId, FactsKind, Instant, Priority, RunId, TaskId, TaskStatus, text_enum::text_enum};

text_enum! {
    /// What a line of a reflection file is about.
    ReflectionKind { Run = "run", Correction = "correction" }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reflection {
    pub schema: u32,
    pub kind: ReflectionKind,
    pub at: Instant,
    pub run_id: RunId,
    pub account: AccountId,
    pub task_id: TaskId,
    pub task_kind: FactsKind,
    pub status: TaskStatus,
    pub priority: Priority,
    /// The rule that decided the priority.
    pub rule: String,
    pub urgency: f64,
    pub tools: Vec<String>,
    pub steps_done: usize,
    pub steps_open: usize,
    pub documents: usize,
    pub language: String,
    #[serde(flatten)]
    pub feedback: RunFeedback,
    /// What the models of this run cost; none without a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// What people did to the effects of a task, and how long it took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFeedback {
    #[serde(default)]
    pub approvals: u32,
    /// The message that left was not the one that was written first.
    #[serde(default)]
    pub draft_changed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words_before: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words_after: Option<usize>,
    /// From the start of the run to its end, waits included.
    #[serde(default)]
    pub seconds: u64,
}
