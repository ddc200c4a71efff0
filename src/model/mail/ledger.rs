//! The ledger: every message ever seen is in exactly one of these states, and no row is ever deleted.

use crate::model::{
    AccountId, Direction, Instant, MailId, NewRun, TaskId, UserId, reading::MailWarning, text_enum::text_enum,
};
use serde::Serialize;

text_enum! {
    /// What became of a message. The allowed transitions stand in `migrations/`.
    MailState {
        /// The message has a run, which has not come to an outcome.
        Pending = "pending",
        /// The mail opened a task.
        Task = "task",
        /// The mail is a follow-up and was linked to an open task.
        Linked = "linked",
        /// The mail asks for nothing, or a person said so.
        NoTask = "no_task",
        /// The same mail is in the ledger already.
        Duplicate = "duplicate",
        /// The message cannot be read, or its run failed: a person may look at it.
        Parked = "parked",
        /// The message could not be read; it is tried again.
        Failed = "failed",
        /// The message left the mailbox before it was read.
        Gone = "gone",
    }
}

impl MailState {
    /// Returns whether this state is final for the program, so that nothing more has to be done about the mail.
    pub const fn has_outcome(self) -> bool {
        !matches!(self, MailState::Pending | MailState::Failed)
    }
}

/// A row of the ledger, with sender and subject when the mail could be read.
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
    /// Why the mail is in its state, for a person.
    pub reason: String,
    /// The task that the mail opened or was linked to.
    pub task_id: Option<TaskId>,
    pub retries: u32,
    pub sender: String,
    pub subject: String,
    /// What the reading warned of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<MailWarning>,
    /// Size, mtime and ctime of the file; empty for a message that is not a file.
    #[serde(skip)]
    pub stamp: String,
}

/// A request for one page of the ledger, the newest mails first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerPageQuery {
    /// Only mails of this account.
    pub account: Option<AccountId>,
    /// Only mails in this state.
    pub state: Option<MailState>,
    /// Only mails before this one; none for the first page.
    pub before: Option<MailId>,
    pub limit: usize,
}

/// A page of the ledger.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LedgerPage {
    pub rows: Vec<LedgerRow>,
    /// The mail before which the next page begins; none on the last one.
    pub next: Option<MailId>,
}

/// The mails that arrived on one day, by what became of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MailDay {
    pub date: chrono::NaiveDate,
    /// Only states that a mail of the day is in.
    pub outcomes: std::collections::BTreeMap<MailState, u64>,
}

/// A sender whose mail opens no task, because a person said so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MutedSender {
    pub account: AccountId,
    pub address: String,
    /// When the person said so.
    pub at: Instant,
    /// Whether verified mail of the address still opens tasks.
    pub unverified_only: bool,
}

/// A message that is a file, as the ledger remembers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerFileRow {
    pub source_key: String,
    /// Size, mtime and ctime of the file when its bytes were last read or compared.
    pub stamp: String,
    pub size: u64,
    pub sha256: String,
    /// Whether the file was read as a mail.
    pub is_read: bool,
    pub is_gone: bool,
}

/// What a person says about a mail.
#[derive(Debug, Clone, PartialEq)]
pub enum MailEditKind {
    /// The mail should not have opened a task.
    NotATask,
    /// The mail should have opened a task. The caller builds the run that opens it.
    MakeTask(Box<NewRun>),
    /// No mail of this sender opens a task from now on.
    Mute,
    Unmute,
    /// The mail is to be archived. The caller builds the run that does it.
    Archive(Box<NewRun>),
    /// The mail is what it says it is: its warnings were wrong. The caller builds the run that reads it again; none for a
    /// mail that has its task already.
    Genuine(Option<Box<NewRun>>),
}

/// A person's correction of what became of a mail.
#[derive(Debug, Clone)]
pub struct MailEdit {
    pub mail_id: MailId,
    pub user: UserId,
    pub kind: MailEditKind,
    pub why: String,
    pub at: Instant,
}
