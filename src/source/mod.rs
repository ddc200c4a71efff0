//! Where mail comes from and where effects land: the traits [`Source`] and [`Mailbox`] and their back ends.
//!
//! A source is polled with a cursor and hands out messages under its own keys. A mailbox carries out what `policy` has
//! approved, and can later be asked whether it did.
//!
//! All calls block, so callers run them on a blocking thread. A source never decides what a message means, and never
//! reports a message as gone while it still has it. A mailbox never takes an effect that is not an [`ApprovedAction`].

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

/// One message as a poll found it: where it is and when it arrived, without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundMessage {
    /// The source's own id of the message, stable while the message is in the source. The ledger stores it.
    pub key: String,
    pub folder: String,
    pub direction: Direction,
    pub arrived_at: Instant,
    /// Size in bytes; 0 where a listing does not tell, as with Gmail.
    pub size: u64,
    pub file: FileNote,
}

/// What is noted about a message that is a file. Empty for messages of every other source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileNote {
    /// Size, mtime and ctime of the file, as text. While the stamp is unchanged, so are the bytes.
    pub stamp: String,
    /// Whether the message was handed out before, could not be read then, and may be readable now.
    pub is_retry: bool,
    /// The key of an earlier message whose bytes are the beginning of this one: the file was read while it was still
    /// being written. The complete message replaces it.
    pub completes: Option<String>,
}

/// A message of the ledger whose file has a new stamp but unchanged content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmedFile {
    pub key: String,
    pub stamp: String,
    /// Digest of the content, if it had to be read to tell.
    pub sha256: Option<String>,
}

/// What changed since the cursor that the poll was given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PollResult {
    /// New messages, oldest first.
    pub messages: Vec<FoundMessage>,
    /// Keys handed out before whose message no longer exists.
    pub gone: Vec<String>,
    /// Messages handed out before whose file has another stamp now and the same content.
    pub confirmed: Vec<ConfirmedFile>,
    /// The cursor for the next poll. It must be stored together with the messages of this one, or not at all.
    pub cursor: String,
    /// Keys among `messages` that lay in the mailbox before it was followed, as opposed to mail that has just arrived.
    pub old_keys: HashSet<String>,
    /// Whether the cursor had expired, so that everything was listed again: any of `old_keys` that the ledger does not
    /// know was missed.
    pub is_resync: bool,
    /// Number of messages that are listed and left for later polls.
    pub backlog: u64,
    /// Keys of messages that are listed but never handed out, because there are too many of them.
    pub left_out: Vec<String>,
    /// Number of files that cannot be read although their name is known, so that nobody can tell whether they changed.
    pub unreadable: usize,
    /// When to poll again, if something was left for later: a file too young to be complete, or the next part of a
    /// backlog.
    pub poll_again_after: Option<Duration>,
}

impl PollResult {
    /// Returns whether there is nothing to store and nothing to wait for.
    fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.gone.is_empty() && self.confirmed.is_empty() && self.poll_again_after.is_none()
    }
}

/// Why a source or a mailbox could not do what was asked. The variants differ in what a caller does next.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The message was there and is there no longer.
    #[error("the message {key} is no longer there")]
    Gone { key: String },
    /// This message cannot be read; others may be readable.
    #[error("the message {key} cannot be read")]
    Unreadable { key: String, source: io::Error },
    /// The whole mailbox cannot be reached now; a later attempt may succeed.
    #[error("{what} cannot be reached")]
    Unavailable { what: String, source: io::Error },
    /// Nothing was done, because a rate limit is reached. A call may be made again after this time.
    #[error("the limit is reached; it goes on in {} s", after.as_secs())]
    RateLimited { after: Duration },
    /// The outcome is not known, and another attempt may be made after this time. The outbox probes before it applies
    /// an effect again.
    #[error("{problem}")]
    RetryLater { problem: String, after: Duration },
    /// The person must sign in before anything else can be done.
    #[error("{problem}")]
    Auth { problem: String },
    /// The mailbox has no such operation.
    #[error("this mailbox cannot {what}")]
    Unsupported { what: String },
}

impl SourceError {
    /// Returns whether the error concerns the whole mailbox rather than one message: then no further message is tried.
    pub fn is_mailbox_wide(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::RateLimited { .. } | Self::Auth { .. })
    }
}

/// Somewhere mail is polled from. Implementations must never lose a message between two cursors.
pub trait Source: Send + Sync {
    /// Returns what changed since `cursor`; without one, everything. A cursor that the source cannot read counts as
    /// none.
    fn poll(&self, cursor: Option<&str>) -> Result<PollResult, SourceError>;

    /// Returns the raw message. One larger than [`MAX_FETCH_BYTES`] is truncated there; the parser detects and notes
    /// that.
    fn fetch(&self, key: &str) -> Result<Vec<u8>, SourceError>;

    /// Fetches several messages and passes each to `each` as it arrives, in no particular order, together with what
    /// fetching it told about it (direction, arrival, size). Stops after the first error that concerns the whole
    /// mailbox.
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

    /// Returns how much of the API quota is used; none for a source without one.
    fn quota_usage(&self) -> Option<QuotaUsage> {
        None
    }
}

/// Fetches one message. A panic counts as an error of this message, so that the others can still be read.
fn fetch_catching_panic<S: Source + ?Sized>(source: &S, key: &str) -> Result<Vec<u8>, SourceError> {
    let fetch = || failpoint::around("source.fetch", || source.fetch(key));
    catch_unwind(AssertUnwindSafe(fetch)).unwrap_or_else(|_| {
        let fault = io::Error::other("the program failed while reading it");
        Err(SourceError::Unreadable { key: key.to_owned(), source: fault })
    })
}

/// API quota of an account that is reached over a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotaUsage {
    /// Quota units spent during the last minute.
    pub quota_used: u32,
    /// Quota units allowed in any minute.
    pub quota: u32,
}

/// The result of an effect that a mailbox has carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedEffect {
    /// The mailbox's own id of what it made or touched. The outbox stores it, for probing and undoing.
    pub handle: String,
    /// What was done, as text for a person.
    pub result: String,
}

/// How a message left the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendReceipt {
    /// A transport accepted the message.
    Sent(AppliedEffect),
    /// The message was stored among the sent mail and not transmitted: no transport is configured.
    Saved(AppliedEffect),
}

/// Why a message was not sent, or why that is not known. The outbox chooses its next state by the variant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The message was certainly not sent, and another attempt would not help.
    #[error("{0}")]
    Refused(String),
    /// The message was certainly not sent, and another attempt may succeed after this time. With `may_have_draft`, the
    /// attempt may have left a draft whose id is not known.
    #[error("{why}")]
    RetryLater { why: String, after: Duration, may_have_draft: bool },
    /// The stored draft no longer holds the bytes that were approved.
    #[error("the draft was changed by somebody else")]
    DraftEdited,
    /// The person has already done by hand what the action would do.
    #[error("{0}")]
    DoneByPerson(String),
    /// The message may or may not have been sent. A probe can find out later.
    #[error("{0}")]
    OutcomeUnknown(String),
    /// The message may or may not have been sent, and no probe can find out: a person must check.
    #[error("{0}")]
    OutcomeUnknowable(String),
}

/// What a mailbox finds out about a message of unknown outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageProbeResult {
    /// The message has left.
    SentOrSaved(SendReceipt),
    /// The message is still a draft, so it was not sent.
    Draft(AppliedEffect),
    /// The message was certainly neither sent nor stored as a draft.
    Absent,
    /// The outcome is still not known, for this reason. A later probe may tell.
    OutcomeUnknown(String),
    /// The outcome is not known and no later probe will tell more: a person must check.
    OutcomeUnknowable,
}

/// A period in which the person is busy and no meeting can be proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Busy {
    pub from: Instant,
    pub to: Instant,
}

/// Where effects land. Every method that changes something takes an [`ApprovedAction`], which only `policy` can make.
///
/// The order of a send is [`Self::draft`], [`Self::send_draft`], [`Self::complete_send`]. If the program dies or the
/// answer is lost in between, [`Self::find`] says how far it came.
pub trait Mailbox: Send + Sync {
    /// Returns whether a label is put on the message itself. Otherwise a label is only a row in the store.
    fn stores_labels(&self) -> bool {
        false
    }

    /// Carries out an effect that is not a send, without checking whether it was done before.
    fn apply(&self, action: &ApprovedAction) -> Result<AppliedEffect, SourceError>;

    /// Returns the effect if it has already taken place. Called before [`Self::apply`] for every action that may have
    /// been tried.
    fn probe(&self, action: &ApprovedAction) -> Result<Option<AppliedEffect>, SourceError>;

    /// Stores a message that is about to leave as a draft, under the id of its action, so that storing it twice has the
    /// effect of storing it once. `tried` says that an earlier attempt may have stored it.
    fn draft(&self, action: &ApprovedAction, tried: bool) -> Result<AppliedEffect, SendError>;

    /// Sends the draft. Called at most once per approval: an uncertain outcome is probed, never answered by a second
    /// send.
    fn send_draft(&self, action: &ApprovedAction, draft: &str) -> Result<SendReceipt, SendError>;

    /// Looks for a message of unknown outcome. Only reads.
    fn find(&self, action: &Action, draft: &str) -> Result<MessageProbeResult, SourceError>;

    /// Does what follows a message that has been sent: trashes the draft it replaces, updates the calendar. Called
    /// again until its result is recorded, so it must be idempotent. Returns what was done, as text for a person.
    fn complete_send(&self, _: &ApprovedAction) -> Result<Option<String>, SourceError> {
        Ok(None)
    }

    /// Trashes the draft of a message that will not be sent, unless somebody has changed it.
    fn discard_draft(&self, _: &Action, _draft: &str) -> Result<(), SourceError> {
        Ok(())
    }

    /// Returns when the person is busy between two times; none without a calendar. Only reads.
    fn busy(&self, _from: Instant, _to: Instant) -> Result<Option<Vec<Busy>>, SourceError> {
        Ok(None)
    }

    /// Returns the events that the calendar holds under the UID of an invitation; none without a calendar. Only reads.
    fn invited(&self, _uid: &str) -> Result<Option<Vec<CalendarEvent>>, SourceError> {
        Ok(None)
    }

    /// Takes an effect back. Returns what was done, as text for a person. `handle` is the one that applying it
    /// returned.
    fn undo(&self, action: &ApprovedAction, handle: &str) -> Result<String, SourceError>;
}

/// The most bytes of a message that are fetched: a little more than the parser reads, so that it can tell a truncated
/// message from one that just fits.
pub const MAX_FETCH_BYTES: u64 = 26 * 1024 * 1024;
