//! What a database knows of its own audit chain and of what was noted about it elsewhere.

use serde::Serialize;

use super::AuditHead;
use crate::model::{Instant, text_enum::words};

words! {
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
