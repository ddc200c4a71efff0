//! Rows of questions to a language model.

use crate::model::{Instant, RecordedReply, ReplyJson, RunId, llm::ModelCall, llm::ModelUsage};
use serde::Serialize;

/// One question to a model with its reply, stored in one row before the reply is used.
#[derive(Debug, Clone, PartialEq)]
pub struct NewModelCall {
    /// The run and the checkpoint that the question is for; none for a question of `doctor`.
    pub run: Option<(RunId, u32)>,
    /// The node that asked, or `doctor`.
    pub node: String,
    /// The hash of the question.
    pub input_hash: String,
    /// Which repetition of the same question this is.
    pub ordinal: u32,
    pub reply: ReplyJson,
    pub call: ModelCall,
    /// The replies that the question was built from. They are stored with it, so that after a crash the same question
    /// is asked.
    pub input_replies: Vec<RecordedReply>,
    pub at: Instant,
}

/// A question to a model as `runs show` lists it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelCallRow {
    pub seq: u32,
    pub node: String,
    #[serde(flatten)]
    pub call: ModelCall,
}

/// The calls and the cost of one day, node and rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostRow {
    pub day: String,
    pub node: String,
    /// The rule that ranks the task now; empty without a task.
    pub rule: String,
    pub calls: u64,
    /// How many calls brought an answer that was used.
    pub answered: u64,
    pub spent: ModelUsage,
}
