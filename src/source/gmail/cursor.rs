//! The cursor of a Gmail account, as text.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GmailCursor {
    /// Everything up to here is in the ledger, but for the backlog.
    pub(super) history: u64,
    /// Mail from before this is none of ours; seconds since 1970, fixed at the first poll.
    pub(super) since: i64,
    pub(super) backlog: Backlog,
    /// Makes each cursor unlike the one before.
    pub(super) nth: u64,
}

/// Mail that was there before the cursor began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Backlog {
    /// All of it was taken in.
    Done,
    /// Of the first look.
    First,
    /// Of a look made because the cursor had expired.
    Mending,
}

impl GmailCursor {
    /// None for one that this program did not write: then everything is listed again.
    pub(super) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text.strip_prefix("gmail1 ")?).ok()
    }

    pub(super) fn write(&self) -> String {
        format!("gmail1 {}", serde_json::to_string(self).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_what_it_wrote_and_nothing_else() {
        let cursor = GmailCursor { history: u64::MAX, since: 1_763_222_400, backlog: Backlog::Mending, nth: 7 };
        assert_eq!(GmailCursor::parse(&cursor.write()), Some(cursor));
        for other in ["", "maildir1 3 -", "gmail1 {}", "gmail1 {\"history\":1}"] {
            assert_eq!(GmailCursor::parse(other), None, "{other}");
        }
    }
}
