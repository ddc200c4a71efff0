//! The cursor of a Gmail account: how far its history was read, and whether older mail is still being taken in.

use serde::{Deserialize, Serialize};

/// Stored in the account's row as `gmail1` and JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GmailCursor {
    /// The history id up to which everything is in the ledger, except for the backlog.
    pub(super) history: u64,
    /// Mail from before this time is not taken in. In seconds since 1970, fixed at the first poll.
    pub(super) since: i64,
    pub(super) backlog: Backlog,
    /// Number of the poll, which makes every cursor different from the one before: a cursor that comes back proves that
    /// the messages handed out with it were stored.
    pub(super) nth: u64,
}

/// How far the mail that was there before the history id has been taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Backlog {
    /// All of it has been taken in.
    Done,
    /// The backlog of the first poll is being taken in.
    First,
    /// The backlog of a resync is being taken in, because the cursor had expired.
    Mending,
}

impl GmailCursor {
    /// Parses a cursor. Returns none for a text that this program did not write: then everything is listed again.
    pub(super) fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text.strip_prefix("gmail1 ")?).ok()
    }

    /// Returns the cursor as text, which [`Self::parse`] reads back.
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
