//! A message as it enters the ledger, and what came of that.

use crate::model::{AccountId, Direction, Instant, Mail, MailContext, MailId, MailState, RunId, UserId};
use std::sync::Arc;

/// A message that a poll found, with the result of reading it.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// The id of the message at its source.
    pub source_key: String,
    pub folder: String,
    pub direction: Direction,
    pub arrived_at: Instant,
    pub size: u64,
    /// What came of reading the message.
    pub content: ArrivalContent,
    pub file: ArrivalFile,
}

/// What came of reading a message. Every variant ends in a row of the ledger: no message is dropped.
#[derive(Debug, Clone)]
pub enum ArrivalContent {
    /// A mail that gets a run of its own.
    Process(Arc<Mail>),
    /// A mail that is kept and can be found, and that opens no run.
    StoreOnly { mail: Arc<Mail>, reason: String },
    /// The message could not be read now; it is tried again.
    Failed { reason: String },
    /// The message cannot be read; a person may look at it.
    Parked { reason: String },
    /// The message was listed and had left the mailbox before it could be read.
    Gone,
}

/// What is noted about a message that is a file of a Maildir; empty for any other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArrivalFile {
    /// Size, mtime and ctime of the file when its bytes were read.
    pub stamp: String,
    /// The digest of the bytes that were read.
    pub sha256: String,
    /// The source key of an earlier message that was read while this file was still being written, and is its
    /// beginning.
    pub completes: Option<String>,
}

/// What one part of a poll brought, committed in one transaction.
#[derive(Debug, Clone)]
pub struct Arrivals {
    pub account: AccountId,
    pub user: UserId,
    /// The new cursor; set only with the last part of a poll, so that it never moves past a message that is not in the
    /// ledger.
    pub cursor: Option<String>,
    pub arrivals: Vec<Arrival>,
    /// The source keys of messages that are no longer in the mailbox.
    pub gone_keys: Vec<String>,
    pub unchanged_files: Vec<UnchangedFile>,
    pub at: Instant,
}

/// A file that has another stamp than before and the same content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnchangedFile {
    pub source_key: String,
    pub stamp: String,
    /// The digest of its bytes; none when they were not read again.
    pub sha256: Option<String>,
}

/// What became of one arrival.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrivalReceipt {
    pub source_key: String,
    pub mail_id: MailId,
    pub state: MailState,
    /// The run that was opened for the mail, and the context of the mail.
    pub run: Option<(RunId, MailContext)>,
}
