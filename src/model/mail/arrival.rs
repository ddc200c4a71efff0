//! A message as it enters the ledger.

use crate::model::{AccountId, Direction, Instant, Mail, MailContext, MailId, MailState, RunId, UserId};
use std::sync::Arc;

/// A message as it goes into the ledger.
#[derive(Debug, Clone)]
pub struct Arrival {
    pub source_key: String,
    pub folder: String,
    pub direction: Direction,
    pub arrived_at: Instant,
    pub size: u64,
    /// What came of reading it.
    pub content: ArrivalContent,
    pub file: ArrivalFile,
}

#[derive(Debug, Clone)]
pub enum ArrivalContent {
    /// To be worked by the graph.
    Process(Arc<Mail>),
    /// Kept and searchable, but it opens no run.
    StoreOnly { mail: Arc<Mail>, reason: String },
    /// Could not be read now; tried again.
    Failed { reason: String },
    /// Cannot be read; a person may look.
    Parked { reason: String },
    /// It was seen, and had left the mailbox before it could be read.
    Gone,
}

/// What is noted of a message that is a file. Empty for any other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArrivalFile {
    pub stamp: String,
    /// Of the bytes that were read.
    pub sha256: String,
    /// The key of the message that was read before this one, of which it is the beginning, was written to its end.
    pub completes: Option<String>,
}

/// What one poll brought, committed together with its cursor.
#[derive(Debug, Clone)]
pub struct Arrivals {
    pub account: AccountId,
    pub user: UserId,
    /// Only with the last part of a poll.
    pub cursor: Option<String>,
    pub arrivals: Vec<Arrival>,
    pub gone_keys: Vec<String>,
    pub unchanged_files: Vec<UnchangedFile>,
    pub at: Instant,
}

/// What to note of a message that is there and whose content is what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnchangedFile {
    pub source_key: String,
    pub stamp: String,
    /// None when it was not read again.
    pub sha256: Option<String>,
}

/// What became of one arrival.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrivalReceipt {
    pub source_key: String,
    pub mail_id: MailId,
    pub state: MailState,
    /// The run that was opened for it, and what is known about the mail's people.
    pub run: Option<(RunId, MailContext)>,
}
