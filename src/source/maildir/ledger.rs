//! What the ledger stores about a Maildir's messages, and the trait through which a Maildir reads it.

use std::io;

use super::{MAX_FETCH_BYTES, name, stamp::FileStamp};
use crate::model::ids::sha256_hex;

/// One message as the ledger stores it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerMessage {
    pub key: String,
    /// Stamp of the file when its bytes were last read or compared; empty when it was never noted.
    pub stamp: String,
    pub size: u64,
    /// Digest of the bytes that were read; empty when none were, or when the digest was not noted.
    pub sha256: String,
    /// Whether the message was parsed and stored as a mail.
    pub is_read: bool,
    /// Whether the message left the mailbox before it could be read. It is read if it comes back.
    pub is_gone: bool,
}

/// Read access of a Maildir to the ledger of its account.
pub trait MaildirLedger: Send + Sync {
    /// Returns every message of the account: its key, its stamp, and whether it is gone.
    fn messages(&self) -> io::Result<Vec<(String, String, bool)>>;

    /// Returns all messages that share a file name: their keys are `base`, or begin with `base` and a slash.
    fn messages_named(&self, base: &str) -> io::Result<Vec<LedgerMessage>>;
}

/// A fixed ledger, for imports and tests.
impl MaildirLedger for Vec<LedgerMessage> {
    fn messages(&self) -> io::Result<Vec<(String, String, bool)>> {
        Ok(self.iter().map(|row| (row.key.clone(), row.stamp.clone(), row.is_gone)).collect())
    }

    fn messages_named(&self, base: &str) -> io::Result<Vec<LedgerMessage>> {
        Ok(self.iter().filter(|row| name::base_of_key(&row.key) == base).cloned().collect())
    }
}

impl LedgerMessage {
    /// Returns whether the stored stamp equals this one: then the bytes are the same, without being read.
    pub(super) fn has_stamp(&self, stamp: &FileStamp) -> bool {
        FileStamp::parse(&self.stamp).as_ref() == Some(stamp)
    }

    /// Returns whether a file looks like this message, for rows from before digests were stored. Size and mtime are
    /// then all there is to compare.
    pub(super) fn looks_unchanged(&self, stamp: &FileStamp) -> bool {
        let before = FileStamp::parse(&self.stamp);
        self.is_read
            && self.sha256.is_empty()
            && self.size == stamp.size
            && before.is_none_or(|one| one.equals_except_ctime(stamp))
    }

    /// Returns whether the message could never be read so far.
    pub(super) fn was_never_read(&self) -> bool {
        !self.is_read && self.sha256.is_empty()
    }

    /// Returns whether the message has this content. The key of a message that was never read may hold the digest.
    pub(super) fn has_content(&self, sha256: &str) -> bool {
        let by_key = || self.was_never_read() && name::digest_of(&self.key).is_some_and(|own| sha256.starts_with(own));
        self.sha256 == sha256 || by_key()
    }

    /// Returns whether these bytes are longer than the message and begin with it: then the file was read while it was
    /// still being written.
    pub(super) fn is_beginning_of(&self, bytes: &[u8]) -> bool {
        let length = usize::try_from(self.size.min(MAX_FETCH_BYTES)).unwrap_or(usize::MAX);
        bytes.len() > length && bytes.get(..length).is_some_and(|start| sha256_hex(start) == self.sha256)
    }
}
