//! What a worker reports while it runs.

use crate::{
    app::{MailOutcome, NightlyReport, PassReport},
    model::{ItemRow, ReminderRow},
};

/// Everything that a worker reports to its interface while it runs. An event may be dropped: everything in it can be
/// read from the database.
#[derive(Debug, Clone)]
pub enum WorkerEvent {
    /// The first pass over the mail that was there at the start is done.
    Started(PassReport),
    /// One mail and its tasks have been processed.
    MailSettled(MailOutcome),
    /// A reminder is due. Whoever shows it marks it as shown afterwards.
    ReminderDue(ReminderRow),
    /// An undecided item will expire soon.
    ItemExpiring(Box<ItemRow>),
    /// The rules file is broken; the last good rules stay in force.
    RulesBroken(String),
    /// Search by meaning became unavailable, or is available again.
    MemoryAvailability(String),
    /// The nightly job was done.
    NightlyDone(Box<NightlyReport>),
    /// A new version of the rules is in force, and `reranked` tasks changed their priority.
    RulesChanged { version: String, reranked: usize },
    /// The model cannot be used; the rules work alone.
    ModelUnavailable(String),
    /// An account could not be polled, or its pushes have stopped.
    PollFailed { account: String, problem: String },
}
