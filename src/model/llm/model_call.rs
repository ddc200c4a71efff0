//! Values of questions to a model.

use crate::model::{Instant, RecordedReply, ReplyJson, RunId, llm::ModelCall, llm::ModelUsage};
use serde::Serialize;

/// One question to a model with its reply, stored in one row.
#[derive(Debug, Clone, PartialEq)]
pub struct NewModelCall {
    /// The run and the checkpoint it is for; none for a question of our own.
    pub run: Option<(RunId, u32)>,
    /// The node that asked, or `doctor`.
    pub node: String,
    pub input_hash: String,
    pub ordinal: u32,
    pub reply: ReplyJson,
    pub call: ModelCall,
    /// What else the question was made of, so that after a kill it is the same question.
    pub input_replies: Vec<RecordedReply>,
    pub at: Instant,
}

/// A question to a model, as the record shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelCallRow {
    pub seq: u32,
    pub node: String,
    #[serde(flatten)]
    pub call: ModelCall,
}

/// What a day, a node and a rule cost together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostRow {
    pub day: String,
    pub node: String,
    /// Of the task it was for, as it stands now; empty without one.
    pub rule: String,
    pub calls: u64,
    /// With an answer that was used.
    pub answered: u64,
    pub spent: ModelUsage,
}
