//! Where mail comes from: a source is polled with a cursor and hands out messages by its own ids.
//!
//! The calls block; whoever polls runs them on a thread for that. A source never decides what a message means, and never
//! says a message is gone while it still has it.

pub mod calendar;
mod event;
pub mod gmail;
pub mod google;
pub mod import;
pub mod maildir;
mod own_message;
pub mod sendmail;

use std::{
    collections::HashSet,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{
    failpoint,
    model::{Action, Direction, Instant},
    policy::ApprovedAction,
};

pub use event::{CalendarEvent, CalendarLookup};
pub use maildir::Maildir;
pub use sendmail::Sendmail;

/// One message as a poll found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundMessage {
    /// The source's own id, stable while the message is in it.
    pub key: String,
    pub folder: String,
    pub direction: Direction,
    pub arrived_at: Instant,
    pub size: u64,
    pub file: FileNote,
}

/// What there is to say about a message that is a file. Empty for any other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileNote {
    /// What its metadata says; when that is another, its bytes may be.
    pub stamp: String,
    /// It was handed out before and could not be read, and may be readable now.
    pub is_retry: bool,
    /// The key of a message that was read while this one, of which it is the beginning, was still being written.
    pub completes: Option<String>,
}

/// A message of the ledger whose file has another stamp now, and the same content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmedFile {
    pub key: String,
    pub stamp: String,
    /// Where the content had to be read to tell.
    pub sha256: Option<String>,
}

/// What changed since the cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PollResult {
    /// Oldest first.
    pub messages: Vec<FoundMessage>,
    /// Keys handed out before whose message no longer exists.
    pub gone: Vec<String>,
    /// Messages handed out before that are still what they were.
    pub confirmed: Vec<ConfirmedFile>,
    pub cursor: String,
    /// Keys among them that were there before, and did not just come.
    pub old_keys: HashSet<String>,
    /// The cursor had expired and everything was listed again: what of the old ones the ledger does not have was missed.
    pub is_resync: bool,
    /// Listed, and left for the polls to come.
    pub backlog: u64,
    /// Keys of messages that are listed and will never be handed out, because there are too many.
    pub left_out: Vec<String>,
    /// Files whose content cannot be compared with what is known of their name.
    pub unreadable: usize,
    /// Something was too fresh to read: look again after this.
    pub poll_again_after: Option<Duration>,
}

impl PollResult {
    /// Whether there is nothing to store, and nothing to wait for.
    fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.gone.is_empty() && self.confirmed.is_empty() && self.poll_again_after.is_none()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The message was there and is not any more.
    #[error("the message {key} is no longer there")]
    Gone { key: String },
    /// This one message cannot be had; others may.
    #[error("the message {key} cannot be read")]
    Unreadable { key: String, source: io::Error },
    /// Nothing can be had now; trying later may help.
    #[error("{what} cannot be reached")]
    Unavailable { what: String, source: io::Error },
    /// Nothing was done because too much was asked; it goes on after this.
    #[error("the limit is reached; it goes on in {} s", after.as_secs())]
    RateLimited { after: Duration },
    /// It cannot be said what came of it; it is looked for after this.
    #[error("{problem}")]
    RetryLater { problem: String, after: Duration },
    /// The person must sign in first.
    #[error("{problem}")]
    Auth { problem: String },
    /// The mailbox has no way to do it.
    #[error("this mailbox cannot {what}")]
    Unsupported { what: String },
}

impl SourceError {
    /// Whether it concerns the whole mailbox rather than one message.
    pub fn is_mailbox_wide(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::RateLimited { .. } | Self::Auth { .. })
    }
}

pub trait Source: Send + Sync {
    fn poll(&self, cursor: Option<&str>) -> Result<PollResult, SourceError>;

    /// The raw message. One larger than [`MAX_FETCH_BYTES`] comes back cut there, which the reader notices and notes.
    fn fetch(&self, key: &str) -> Result<Vec<u8>, SourceError>;

    /// Reads several and hands each over as it comes, in no certain order, with what reading it told about it. Stops
    /// after the first that says nothing can be had now.
    fn fetch_each(&self, found: Vec<FoundMessage>, each: &mut dyn FnMut(FoundMessage, Result<Vec<u8>, SourceError>)) {
        for found in found {
            let raw = fetch_catching_panic(self, &found.key);
            let stop = raw.as_ref().is_err_and(SourceError::is_mailbox_wide);
            each(found, raw);
            if stop {
                return;
            }
        }
    }

    /// What a person may want to know about it, beside its mail.
    fn quota_usage(&self) -> Option<QuotaUsage> {
        None
    }
}

/// Fetches one message. A panic over it is a fault with this one, and the others can be had.
fn fetch_catching_panic<S: Source + ?Sized>(source: &S, key: &str) -> Result<Vec<u8>, SourceError> {
    let fetch = || failpoint::around("source.fetch", || source.fetch(key));
    catch_unwind(AssertUnwindSafe(fetch)).unwrap_or_else(|_| {
        let fault = io::Error::other("a fault of the program");
        Err(SourceError::Unreadable { key: key.to_owned(), source: fault })
    })
}

/// How an account that is reached over a network is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotaUsage {
    /// Units of the quota that the last minute has cost, and how many there are.
    pub quota_used: u32,
    pub quota: u32,
}

/// What a mailbox did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedEffect {
    /// The mailbox's own id of what it made, or of what it touched.
    pub handle: String,
    /// In words.
    pub result: String,
}

/// How a message left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendReceipt {
    /// Handed to a transport that accepted it.
    Sent(AppliedEffect),
    /// Stored among the sent ones; there is no transport.
    Saved(AppliedEffect),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Certainly not sent.
    #[error("{0}")]
    Refused(String),
    /// Certainly not sent, and trying again after this may help. With `drafted`, there may be a draft nobody heard of.
    #[error("{why}")]
    RetryLater { why: String, after: Duration, may_have_draft: bool },
    /// The stored draft is no longer what was approved.
    #[error("the draft was changed by somebody else")]
    DraftEdited,
    /// The person has done by hand what it would do.
    #[error("{0}")]
    DoneByPerson(String),
    /// It may have been sent, or not.
    #[error("{0}")]
    OutcomeUnknown(String),
    /// It may have been sent, or not, and nobody can be asked later: a person must look.
    #[error("{0}")]
    OutcomeUnknowable(String),
}

/// What a mailbox finds of a message whose fate is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageProbeResult {
    SentOrSaved(SendReceipt),
    /// It is still a draft, so it was not sent.
    Draft(AppliedEffect),
    /// Neither sent nor drafted, for certain.
    Absent,
    /// Nothing can be said.
    OutcomeUnknown(String),
    /// Nothing can be said, and no later look will tell more: a person must look.
    OutcomeUnknowable,
}

/// A time at which the person cannot be asked to meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Busy {
    pub from: Instant,
    pub to: Instant,
}

/// Where effects land. Takes only what `policy` has approved.
pub trait Mailbox: Send + Sync {
    /// Whether a label is put on the message itself. Else it is a row of ours and nothing more.
    fn stores_labels(&self) -> bool {
        false
    }

    /// Does it without looking whether it was done before.
    fn apply(&self, action: &ApprovedAction) -> Result<AppliedEffect, SourceError>;

    /// Whether the effect has taken place already: asked first about any that may have been tried.
    fn probe(&self, action: &ApprovedAction) -> Result<Option<AppliedEffect>, SourceError>;

    /// Stores a message that is about to leave as a draft, under the action's own name: twice is once. `tried`: an earlier
    /// try may have stored it.
    fn draft(&self, action: &ApprovedAction, tried: bool) -> Result<AppliedEffect, SendError>;

    /// Lets the draft go. Called once; what it cannot say for certain is looked for, never repeated on a guess.
    fn send_draft(&self, action: &ApprovedAction, draft: &str) -> Result<SendReceipt, SendError>;

    /// Looks for a message whose fate is not known. Only reads.
    fn find(&self, action: &Action, draft: &str) -> Result<MessageProbeResult, SourceError>;

    /// What belongs to a message that has left beside the message itself: the draft it replaces, an event in the
    /// calendar. Asked for as often as its end is not written, so twice is once. What came of it, in words.
    fn complete_send(&self, _: &ApprovedAction) -> Result<Option<String>, SourceError> {
        Ok(None)
    }

    /// Throws the draft of a message that will not leave away, unless somebody has changed it.
    fn discard_draft(&self, _: &Action, _draft: &str) -> Result<(), SourceError> {
        Ok(())
    }

    /// When the person is busy between two times; none without a calendar. Only reads.
    fn busy(&self, _from: Instant, _to: Instant) -> Result<Option<Vec<Busy>>, SourceError> {
        Ok(None)
    }

    /// What the calendar has under the UID of an invitation; none without a calendar. Only reads.
    fn invited(&self, _uid: &str) -> Result<Option<Vec<CalendarEvent>>, SourceError> {
        Ok(None)
    }

    /// Takes an effect back.
    fn undo(&self, action: &ApprovedAction, handle: &str) -> Result<String, SourceError>;
}

/// A little more than the reader parses, so that it can tell a cut message from one that just fits.
pub const MAX_FETCH_BYTES: u64 = 26 * 1024 * 1024;
