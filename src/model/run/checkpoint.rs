//! A run as it is stored: how it began, its checkpoints and the replies that it was given.

use crate::model::{
    AccountId, ActionMove, Change, Instant, MailId, Move, NewAction, NewItem, NodeName, Reflection, ReplyJson, RunId,
    RunKind, RunState, RunStatus, Task, TaskId, UserId, llm::ModelCall,
};
use serde::Serialize;
use std::{collections::BTreeSet, sync::Arc};

#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    pub run_id: RunId,
    pub account: AccountId,
    pub user: UserId,
    pub kind: RunKind,
    pub parent_run: Option<RunId>,
    /// The run this one repeats and the checkpoint it starts after.
    pub fork: Option<(RunId, u32)>,
    pub node: NodeName,
    /// The task it works; none for the run of a mail.
    pub task_id: Option<TaskId>,
    pub state: RunState,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunRow {
    pub run_id: RunId,
    pub account: AccountId,
    pub user: UserId,
    pub kind: RunKind,
    pub mail_id: Option<MailId>,
    pub task_id: Option<TaskId>,
    pub parent_run: Option<RunId>,
    pub fork_of: Option<RunId>,
    pub fork_seq: Option<u32>,
    pub schema: u32,
    pub status: RunStatus,
    pub reason: String,
    pub node: NodeName,
    pub seq: u32,
    pub created_at: Instant,
    pub updated_at: Instant,
    /// Not before this, because of `waits_for`.
    pub wait_until: Option<Instant>,
    pub waits_for: String,
}

/// A reply the engine was given, to be stored before or with the checkpoint that used it.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedReply {
    pub node: NodeName,
    pub input_hash: String,
    pub ordinal: u32,
    pub reply: ReplyJson,
    /// A model said it; what the asking was.
    pub call: Option<Box<ModelCall>>,
}

/// Everything one node did, committed as one.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    pub run_id: RunId,
    pub account: AccountId,
    pub user: UserId,
    pub seq: u32,
    pub node: NodeName,
    pub next_move: Move,
    pub next: Option<NodeName>,
    pub mail_id: Option<MailId>,
    pub entered_at: Instant,
    pub changes: Vec<Change>,
    pub replies: Vec<RecordedReply>,
    /// The task after the changes and the revision it was read at; none for a mail's run.
    pub task: Option<(Arc<Task>, i64)>,
    pub action: Option<Arc<NewAction>>,
    /// The end of the effect the run waited for.
    pub action_move: Option<Box<ActionMove>>,
    pub item: Option<NewItem>,
    pub runs: Vec<NewRun>,
    pub reflection: Option<Box<(String, Reflection)>>,
    pub end: Option<(RunStatus, String)>,
    /// A fork is an experiment: it is recorded, and nothing of it reaches the tasks.
    pub fork: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckpointRow {
    pub seq: u32,
    pub node: NodeName,
    #[serde(flatten)]
    pub next_move: Move,
    pub next: Option<NodeName>,
    pub changes: Vec<Change>,
    pub entered_at: Instant,
}

/// A run as far as it got: enough to go on, to replay or to fork.
#[derive(Debug, Clone)]
pub struct RunRecord {
    pub row: RunRow,
    pub initial_state: RunState,
    pub checkpoints: Vec<CheckpointRow>,
    pub replies: Vec<(u32, RecordedReply)>,
    /// The checkpoints for which a model was asked.
    pub model_checkpoints: BTreeSet<u32>,
}
