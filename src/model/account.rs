//! Whether the program may touch a mailbox, and how the mailbox is doing.

use serde::Serialize;

use super::{AccountId, Instant, text_enum::words};

words! {
    AccountMode {
        /// Plans and drafts are shown, nothing is touched. Where every real account starts.
        Observe = "observe",
        Active = "active",
        /// No longer polled.
        Retired = "retired",
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
