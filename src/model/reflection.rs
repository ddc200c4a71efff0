//! The lines of `data/reflections/DATE.jsonl`: what a finished run and a person's correction teach. No line holds mail
//! text.

use serde::{Deserialize, Serialize};

use super::{AccountId, FactsKind, Instant, Priority, RunId, TaskId, TaskStatus, UrgencyOrigin, text_enum::text_enum};

text_enum! {
    /// What a line of a reflection file is about.
    ReflectionKind { Run = "run", Correction = "correction" }
}

text_enum! {
    /// What became of a message that a tool wrote.
    MessageFate {
        /// It left as it was written.
        Sent = "sent",
        /// A person changed it before it left.
        Edited = "edited",
        /// A person rejected it, and none left.
        Rejected = "rejected",
    }
}

/// What became of the message of one tool. One that still waits has no outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageOutcome {
    pub tool: String,
    pub fate: MessageFate,
}

/// One finished run of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reflection {
    /// The version of this format.
    pub schema: u32,
    /// The kind of line, here always `run`.
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
    /// Who estimated the urgency; none in lines of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub urgency_origin: Option<UrgencyOrigin>,
    pub tools: Vec<String>,
    pub steps_done: usize,
    pub steps_open: usize,
    /// How many documents of the memory were found for the task.
    pub documents: usize,
    pub language: String,
    #[serde(flatten)]
    pub feedback: RunFeedback,
    /// What the model calls of this run cost; none without a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// What people did to the effects of a task, and how long it took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFeedback {
    #[serde(default)]
    pub approvals: u32,
    /// Whether the message that was sent is not the one that was written first.
    #[serde(default)]
    pub draft_changed: bool,
    /// The number of words of the message as it was first written, when a person changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words_before: Option<usize>,
    /// The number of words of the message that was sent, when a person changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words_after: Option<usize>,
    /// What became of the messages that the tools wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<MessageOutcome>,
    /// The seconds from the start of the run to its end, including the time it waited for a person.
    #[serde(default)]
    pub seconds: u64,
}
