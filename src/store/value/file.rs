//! What the ledger keeps of messages that are files.

/// What is noted of a message that is a file. Empty for any other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArrivalFile {
    pub stamp: String,
    /// Of the bytes that were read.
    pub sha256: String,
    /// The key of the message that was read before this one, of which it is the beginning, was written to its end.
    pub completes: Option<String>,
}

/// What to note of a message that is there and whose content is what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnchangedFile {
    pub source_key: String,
    pub stamp: String,
    /// None when it was not read again.
    pub sha256: Option<String>,
}

/// A message of files as the ledger remembers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerFileRow {
    pub source_key: String,
    pub stamp: String,
    pub size: u64,
    pub sha256: String,
    /// Whether a mail was made of it.
    pub is_read: bool,
    pub is_gone: bool,
}
