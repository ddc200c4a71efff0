//! What the ledger remembers of a Maildir's messages.

use std::io;

use super::{MAX_FETCH_BYTES, name, stamp::FileStamp};
use crate::model::ids::sha256_hex;

/// One message as the ledger has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerMessage {
    pub key: String,
    /// Of the file when its bytes were last read or compared; empty when it was never noted.
    pub stamp: String,
    pub size: u64,
    /// Of the bytes that were read; empty when none were, or when it was not noted.
    pub sha256: String,
    /// Whether a mail was made of it.
    pub is_read: bool,
    /// It had left the mailbox before it was read, and is read should it come back.
    pub is_gone: bool,
}

/// Where a Maildir asks the ledger.
pub trait MaildirLedger: Send + Sync {
    /// Every message of the account: its key, its stamp, whether it is gone.
    fn messages(&self) -> io::Result<Vec<(String, String, bool)>>;

    /// All messages that had a certain file name: their keys are `base`, or begin with it and a slash.
    fn messages_named(&self, base: &str) -> io::Result<Vec<LedgerMessage>>;
}

/// A ledger that does not grow.
impl MaildirLedger for Vec<LedgerMessage> {
    fn messages(&self) -> io::Result<Vec<(String, String, bool)>> {
        Ok(self.iter().map(|row| (row.key.clone(), row.stamp.clone(), row.is_gone)).collect())
    }

    fn messages_named(&self, base: &str) -> io::Result<Vec<LedgerMessage>> {
        Ok(self.iter().filter(|row| name::base_of_key(&row.key) == base).cloned().collect())
    }
}

impl LedgerMessage {
    pub(super) fn has_stamp(&self, stamp: &FileStamp) -> bool {
        FileStamp::parse(&self.stamp).as_ref() == Some(stamp)
    }

    /// Whether it was read before the digest of its bytes was noted, and the file looks the same: then that is all there
    /// is to compare.
    pub(super) fn looks_unchanged(&self, stamp: &FileStamp) -> bool {
        let before = FileStamp::parse(&self.stamp);
        self.is_read
            && self.sha256.is_empty()
            && self.size == stamp.size
            && before.is_none_or(|one| one.equals_except_ctime(stamp))
    }

    /// Whether no byte of it could be had so far.
    pub(super) fn was_never_read(&self) -> bool {
        !self.is_read && self.sha256.is_empty()
    }

    /// Whether this is the digest of its bytes.
    pub(super) fn has_content(&self, sha256: &str) -> bool {
        let by_key = || self.was_never_read() && name::digest_of(&self.key).is_some_and(|own| sha256.starts_with(own));
        self.sha256 == sha256 || by_key()
    }

    /// Whether the bytes that were read are the beginning of these, which are more.
    pub(super) fn is_beginning_of(&self, bytes: &[u8]) -> bool {
        let length = usize::try_from(self.size.min(MAX_FETCH_BYTES)).unwrap_or(usize::MAX);
        bytes.len() > length && bytes.get(..length).is_some_and(|start| sha256_hex(start) == self.sha256)
    }
}
