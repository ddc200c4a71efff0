//! Whether the program may touch a mailbox, and how the mailbox is doing.

use crate::model::{AccountId, Instant, UserId, text_enum::text_enum};
use serde::Serialize;

text_enum! {
    AccountMode {
        /// Plans and drafts are shown, nothing is touched. Where every real account starts.
        Observe = "observe",
        Active = "active",
        /// No longer polled.
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
        /// No mailbox: what the person adds by hand.
        Local = "local",
    }
}

impl MailboxKind {
    /// Returns whether new mail is looked for.
    pub const fn is_polled(self) -> bool {
        matches!(self, Self::Maildir | Self::Gmail)
    }
}

/// How an account that is reached over a network is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccountCondition {
    pub account: AccountId,
    /// Empty when the last look went well.
    pub problem: String,
    pub signed_in: bool,
    /// None leaves what was known.
    pub lag_seconds: Option<u64>,
    pub backlog: u64,
    /// On writing: how many more.
    pub missed: u64,
    pub quota_used: u32,
    pub quota: u32,
    pub at: Instant,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Account {
    pub account: AccountId,
    pub user: UserId,
    pub kind: MailboxKind,
    pub mode: AccountMode,
    pub cursor: Option<String>,
    pub created_at: Instant,
    pub polled_at: Option<Instant>,
}
