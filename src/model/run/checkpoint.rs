//! A run as it is stored: how it began, its checkpoints and its recorded replies.

use crate::model::{
    AccountId, ActionMove, Change, Instant, MailId, Move, NewAction, NewItem, NodeName, Reflection, ReplyJson, RunId,
    RunKind, RunState, RunStatus, Task, TaskId, UserId, llm::ModelCall,
};
use serde::Serialize;
use std::{collections::BTreeSet, sync::Arc};

/// A run that is about to begin.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    pub run_id: RunId,
    pub account: AccountId,
    pub user: UserId,
    pub kind: RunKind,
    pub parent_run: Option<RunId>,
    /// The run that this one repeats, and the checkpoint it starts after; none for an original.
    pub fork: Option<(RunId, u32)>,
    /// The first node to enter.
    pub node: NodeName,
    /// The task it works; none for the run of a mail.
    pub task_id: Option<TaskId>,
    /// The state on arrival. It is stored once; checkpoints store only what changes it.
    pub state: RunState,
}

/// A run as it is stored.
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
    /// Up to which checkpoint a fork uses the recorded replies of its original.
    pub fork_seq: Option<u32>,
    /// The version of its state and changes ([`STATE_SCHEMA`](super::STATE_SCHEMA)).
    pub schema: u32,
    pub status: RunStatus,
    /// Why the run ended; empty while it runs.
    pub reason: String,
    /// The node that it enters next.
    pub node: NodeName,
    /// The number of its checkpoints.
    pub seq: u32,
    pub created_at: Instant,
    pub updated_at: Instant,
    /// The run does not go on before this time; `waits_for` says why.
    pub wait_until: Option<Instant>,
    /// What the run waits for, for a person: the end of a grace, a rate limit, a pause.
    pub waits_for: String,
}

/// The reply to one call of a node, stored before or together with the checkpoint that used it.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedReply {
    pub node: NodeName,
    /// The hash of the call.
    pub input_hash: String,
    /// Which repetition of the same call in the same node this is.
    pub ordinal: u32,
    pub reply: ReplyJson,
    /// The model call behind the reply; none for a reply of the store or a mailbox.
    pub call: Option<Box<ModelCall>>,
}

/// Everything one node did, committed in one transaction: it happened as a whole or not at all.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    pub run_id: RunId,
    pub account: AccountId,
    pub user: UserId,
    pub seq: u32,
    pub node: NodeName,
    pub next_move: Move,
    /// The node that comes next; none at the end of the run.
    pub next: Option<NodeName>,
    pub mail_id: Option<MailId>,
    /// The time that the node was given. A replay gives it the same.
    pub entered_at: Instant,
    pub changes: Vec<Change>,
    pub replies: Vec<RecordedReply>,
    /// The task after the changes, and the revision at which it was read; none for the run of a mail. The checkpoint is
    /// refused when the task has a newer revision.
    pub task: Option<(Arc<Task>, i64)>,
    /// The effect that the node asked for.
    pub action: Option<Arc<NewAction>>,
    /// The last transition of the effect that the run waited for.
    pub action_move: Option<Box<ActionMove>>,
    /// What a person is asked.
    pub item: Option<NewItem>,
    /// The runs that this one starts, one per task that it opened.
    pub runs: Vec<NewRun>,
    /// The local date and the reflection of a finished run.
    pub reflection: Option<Box<(String, Reflection)>>,
    /// How and why the run ended; none while it goes on.
    pub end: Option<(RunStatus, String)>,
    /// Whether the run is a fork. A fork is an experiment: it is recorded, and nothing of it reaches the tasks.
    pub fork: bool,
}

/// A checkpoint as it is stored.
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

/// The complete record of a run: enough to go on, to replay or to fork it.
#[derive(Debug, Clone)]
pub struct RunRecord {
    pub row: RunRow,
    pub initial_state: RunState,
    pub checkpoints: Vec<CheckpointRow>,
    /// The recorded replies, each with the number of the checkpoint it was used for.
    pub replies: Vec<(u32, RecordedReply)>,
    /// The numbers of the checkpoints for which a model was asked.
    pub model_checkpoints: BTreeSet<u32>,
}
