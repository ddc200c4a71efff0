//! The audit chain as values, and its hash as a pure function: the hash of each line covers the one before, so that an
//! edited or missing line is detected.

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{Actor, Instant, ids::hex, text_enum::text_enum};

/// One act, before it becomes a line of the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    pub at: Instant,
    pub account: String,
    /// Who did it: a node, the person, an interface, the clock.
    pub who: Actor,
    pub act: String,
    /// What it was done to: a task, an action, a mail.
    pub subject: String,
    pub detail: String,
}

/// A line of the chain: its number, and the act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditLine {
    pub seq: i64,
    pub entry: AuditEntry,
}

/// The hash that the first line is chained to.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Returns the hash of a line. Every field is preceded by its length, so that no text can move from one field to the
/// next without changing the hash.
pub fn chain_hash(previous: &str, seq: i64, entry: &AuditEntry) -> String {
    let mut hash = Sha256::new();
    hash.update(previous.as_bytes());
    hash.update(seq.to_be_bytes());
    let at = entry.at.to_string();
    for field in [at.as_str(), &entry.account, entry.who.as_str(), &entry.act, &entry.subject, &entry.detail] {
        hash.update((field.len() as u64).to_be_bytes());
        hash.update(field.as_bytes());
    }
    hex(&hash.finalize())
}

/// A line of the audit chain, named by its number and hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditHead {
    pub seq: i64,
    pub hash: String,
}

/// The result of checking the audit chain from its first line to its last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditVerification {
    pub lines: i64,
    /// The first thing that does not fit; none when the whole chain is in order.
    pub problem: Option<String>,
}

text_enum! {
    /// Whether a witness of this home has been written to the user's state folder, as the database remembers it.
    WitnessKept {
        /// No witness was ever written.
        Never = "never",
        /// A witness was written: a missing one now means that the data was restored or the folder was lost.
        Kept = "kept",
        /// A witness was written, and later the folder could not be used any more.
        Away = "away",
    }
}

/// A restore of the data folder that was detected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DetectedRestore {
    pub at: Instant,
    /// What gave the restore away, for a person.
    pub because: String,
}

/// The state of the audit chain that is compared with the anchors and the witness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditChain {
    /// The hash of the first line. It identifies the home, wherever it lies and whichever copy of it is opened.
    pub first: String,
    pub head: AuditHead,
    /// How many restores of the data were detected.
    pub epoch: i64,
    /// Whether a head of the chain was ever noted in the anchor file.
    pub anchored: bool,
    pub witness: WitnessKept,
}

impl AuditChain {
    /// The name of the setting that holds `anchored`.
    pub const ANCHORED: &'static str = "anchored";
    /// The name of the setting that holds `witness`.
    pub const WITNESS: &'static str = "witness";
    /// Enough of the hash to tell homes apart, and short enough for a file name.
    const HOME_ID_LENGTH: usize = 32;

    /// Returns the name of the home among the homes of the same user.
    pub fn home_id(&self) -> &str {
        self.first.get(..Self::HOME_ID_LENGTH).unwrap_or(&self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_counts() {
        let entry = AuditEntry {
            at: "2025-06-23T03:15:00Z".parse().unwrap(),
            account: "a".into(),
            who: Actor::Person,
            act: "c".into(),
            subject: "d".into(),
            detail: "e".into(),
        };
        let base = chain_hash(GENESIS, 1, &entry);
        let changed = [
            AuditEntry { who: Actor::Clock, ..entry.clone() },
            AuditEntry { detail: String::new(), ..entry.clone() },
            AuditEntry { act: "cd".into(), subject: String::new(), ..entry.clone() },
        ];
        assert!(changed.iter().all(|other| chain_hash(GENESIS, 1, other) != base));
        assert_ne!(chain_hash(GENESIS, 2, &entry), base);
        assert_ne!(chain_hash(&base, 1, &entry), base);
    }
}
