//! The audit chain's hash, a pure function: each line's hash covers the one before, so an edited or missing line shows.

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{Actor, Instant, ids::hex, text_enum::text_enum};

/// One act, before it is chained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    pub at: Instant,
    pub account: String,
    pub who: Actor,
    pub act: String,
    /// What it was done to: a task, an action, a mail.
    pub subject: String,
    pub detail: String,
}

/// What the first line is chained to.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

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

/// A line of the audit chain, by its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditHead {
    pub seq: i64,
    pub hash: String,
}

/// What a walk along the audit chain found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditVerification {
    pub lines: i64,
    /// The first thing that does not fit.
    pub problem: Option<String>,
}

text_enum! {
    /// Whether the state folder of the user holds a witness of this home.
    WitnessKept {
        Never = "never",
        Kept = "kept",
        /// It was kept, and then the folder could not be used any more.
        Away = "away",
    }
}

/// A restore that was noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DetectedRestore {
    pub at: Instant,
    pub because: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditChain {
    /// The hash of the first line: it names the home, wherever it lies and whatever copy of it is looked at.
    pub first: String,
    pub head: AuditHead,
    pub epoch: i64,
    /// A head of it was noted in the anchor file.
    pub anchored: bool,
    pub witness: WitnessKept,
}

impl AuditChain {
    /// The settings that hold the last two.
    pub const ANCHORED: &'static str = "anchored";
    pub const WITNESS: &'static str = "witness";
    /// Enough of the hash to tell homes apart.
    const HOME_ID_LENGTH: usize = 32;

    /// The name of the home among those of the same user.
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
