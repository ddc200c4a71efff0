//! What a worker reports while it runs.

use crate::{
    app::{MailOutcome, NightlyReport, PassReport},
    model::{ItemRow, ReminderRow},
};

/// Everything a worker tells its door while it runs.
#[derive(Debug, Clone)]
pub enum WorkerEvent {
    /// What became of the mail that was there at the start.
    Started(PassReport),
    /// One mail has its answer.
    MailSettled(MailOutcome),
    ReminderDue(ReminderRow),
    /// Nobody has answered, and it will soon be void.
    ItemExpiring(Box<ItemRow>),
    RulesBroken(String),
    /// The memory cannot be reached, or can be again.
    MemoryAvailability(String),
    /// The nightly job was done.
    NightlyDone(Box<NightlyReport>),
    /// A new version counts; so many tasks changed their level.
    RulesChanged {
        version: String,
        reranked: usize,
    },
    /// The model cannot be used: rules go on alone.
    ModelUnavailable(String),
    /// An account could not be polled.
    PollFailed {
        account: String,
        problem: String,
    },
}
