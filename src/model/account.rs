//! Whether the program may change a mailbox, and how well the mailbox can be reached.

use crate::model::{AccountId, Instant, UserId, text_enum::text_enum};
use serde::Serialize;

text_enum! {
    /// What the program may do to the mailbox of an account. The allowed transitions stand in `migrations/`.
    AccountMode {
        /// Plans and drafts are shown and nothing is changed. Every real account starts in this mode.
        Observe = "observe",
        /// Effects are carried out, within the policy.
        Active = "active",
        /// The account is no longer polled and nothing is changed in it. This mode cannot be left.
        Retired = "retired",
    }
}

text_enum! {
    /// What kind of mailbox stands behind an account.
    MailboxKind {
        Maildir = "maildir",
        Gmail = "gmail",
        /// Mail that was read from files once. It is only ever observed.
        Import = "import",
        /// No mailbox: the account of the tasks that the person adds by hand.
        Local = "local",
    }
}

impl MailboxKind {
    /// Returns whether the daemon polls accounts of this kind for new mail.
    pub const fn is_polled(self) -> bool {
        matches!(self, Self::Maildir | Self::Gmail)
    }
}

/// How an account that is reached over a network did at its last poll. For people to see: no decision depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccountCondition {
    pub account: AccountId,
    /// What happened and what to do about it; empty when the last poll went well.
    pub problem: String,
    /// Whether the person is signed in; without that nothing is polled or sent.
    pub signed_in: bool,
    /// The time from arrival to the ledger of the newest mail of the last poll that had any. None, when writing, keeps
    /// the stored value.
    pub lag_seconds: Option<u64>,
    /// Messages that were listed and are not read yet.
    pub backlog: u64,
    /// Messages that were found only by listing everything again after the cursor had expired. When read, the number of
    /// all of them; when written, how many to add.
    pub missed: u64,
    /// Quota units used in the last minute, of `quota` per minute.
    pub quota_used: u32,
    pub quota: u32,
    pub at: Instant,
}

/// A mailbox that the program follows, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Account {
    pub account: AccountId,
    pub user: UserId,
    pub kind: MailboxKind,
    pub mode: AccountMode,
    /// How far the source has been polled, in the source's own format; none before the first poll.
    pub cursor: Option<String>,
    pub created_at: Instant,
    pub polled_at: Option<Instant>,
}
