//! The ledger: every message id ever seen is in exactly one of these states.

use super::text_enum::words;

words! {
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
