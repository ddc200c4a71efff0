//! What the outbox stores about a draft in Gmail, so that it is found again and a change by somebody else is detected.

use std::fmt;

/// The ids of a draft, written as `draft/message/thread/history`. Gmail's ids contain no slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DraftHandle {
    pub(super) draft: String,
    /// The id of the message inside the draft. Gmail gives a changed draft a new one.
    pub(super) message: String,
    pub(super) thread: String,
    /// The mailbox's history id from before the draft was stored. Whatever was sent of the draft is newer.
    pub(super) history: u64,
}

impl DraftHandle {
    /// Parses a stored handle; none for one that this program did not write.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let mut part = || parts.next().map(str::to_owned);
        let (draft, message, thread) = (part()?, part()?, part()?);
        let history = part()?.parse().ok()?;
        Some(Self { draft, message, thread, history })
    }
}

impl fmt::Display for DraftHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.draft, self.message, self.thread, self.history)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_reads_as_it_is_written() {
        let handle = DraftHandle { draft: "r-17".into(), message: "18c".into(), thread: "18b".into(), history: 42 };
        assert_eq!(DraftHandle::parse(&handle.to_string()), Some(handle));
        for broken in ["", "r-17", "r-17/18c/18b", "r-17/18c/18b/x"] {
            assert_eq!(DraftHandle::parse(broken), None, "{broken}");
        }
    }
}
