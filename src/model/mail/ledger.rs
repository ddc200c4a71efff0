//! The ledger: every message id ever seen is in exactly one of these states.

use crate::model::{AccountId, Direction, Instant, MailId, NewRun, TaskId, UserId, text_enum::text_enum};
use serde::Serialize;

text_enum! {
    MailState {
        Pending = "pending",
        Task = "task",
        Linked = "linked",
        NoTask = "no_task",
        Duplicate = "duplicate",
        Parked = "parked",
        Failed = "failed",
        Gone = "gone",
    }
}

impl MailState {
    /// A state that is an answer: nothing is owed to this mail.
    pub const fn has_outcome(self) -> bool {
        !matches!(self, MailState::Pending | MailState::Failed)
    }
}

/// A line of the ledger, with the mail's headline when it could be read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LedgerRow {
    pub mail_id: MailId,
    pub account: AccountId,
    pub source_key: String,
    pub folder: String,
    pub direction: Direction,
    pub arrived_at: Instant,
    pub size: u64,
    pub state: MailState,
    pub reason: String,
    pub task_id: Option<TaskId>,
    pub retries: u32,
    pub sender: String,
    pub subject: String,
    #[serde(skip)]
    pub stamp: String,
}

/// A message of files as the ledger remembers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerFileRow {
    pub source_key: String,
    pub stamp: String,
    pub size: u64,
    pub sha256: String,
    /// Whether a mail was made of it.
    pub is_read: bool,
    pub is_gone: bool,
}

/// What a person says about a mail.
#[derive(Debug, Clone, PartialEq)]
pub enum MailEditKind {
    NotATask,
    /// The run that opens the task after all is made by the caller.
    MakeTask(Box<NewRun>),
    Mute,
    Unmute,
}

#[derive(Debug, Clone)]
pub struct MailEdit {
    pub mail_id: MailId,
    pub user: UserId,
    pub kind: MailEditKind,
    pub why: String,
    pub at: Instant,
}
