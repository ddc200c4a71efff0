//! What is kept of a draft of ours, so that it is found again and told from one that somebody has changed.

use std::fmt;

/// Written as `draft/message/thread/history`; Gmail's ids hold no slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DraftHandle {
    pub(super) draft: String,
    /// Gmail gives a changed draft another message.
    pub(super) message: String,
    pub(super) thread: String,
    /// Where the mailbox's history stood before there was a draft: what was sent of it came later.
    pub(super) history: u64,
}

impl DraftHandle {
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
