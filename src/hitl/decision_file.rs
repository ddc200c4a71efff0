//! Decision files: `<item>.decision.json` with `action_sha256`, `decision` and `reason`, which a script puts beside the
//! items.

use std::path::Path;

use serde::Deserialize;

use super::{QueueReadError, read_private_file};
use crate::model::{DecisionKind, ItemId, ids::sha256_hex};

/// The largest decision file that is read. A reason is a sentence or two.
const LARGEST: u64 = 64 * 1024;

/// A decision file that could be parsed. Whether its decision counts is checked by the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionFile {
    pub item_id: ItemId,
    pub kind: DecisionKind,
    /// The digest of the action that is approved; empty for items that are about no action.
    pub action_sha256: String,
    pub reason: String,
    /// The digest of the item and the bytes of the file, by which the store uses each file once.
    pub digest: String,
}

/// The JSON of the file. Unknown fields are errors, so that a typing error is never taken for a default.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecisionFileContent {
    #[serde(default)]
    action_sha256: String,
    decision: DecisionKind,
    #[serde(default)]
    reason: String,
}

impl DecisionFile {
    /// Parses the bytes of a decision file about an item. The error says what is wrong with them.
    pub fn parse(item_id: ItemId, bytes: &[u8]) -> Result<Self, String> {
        let written: DecisionFileContent =
            serde_json::from_slice(bytes).map_err(|error| format!("it cannot be read: {error}"))?;
        let digest = sha256_hex(&[item_id.to_string().as_bytes(), b"\n", bytes].concat());
        let DecisionFileContent { action_sha256, decision: verdict, reason } = written;
        Ok(Self { item_id, kind: verdict, action_sha256, reason, digest })
    }

    pub fn file_name(&self) -> String {
        format!("{}.decision.json", self.item_id)
    }
}

/// Reads a decision file that belongs to the user and that nobody else can write.
pub(super) fn read(path: &Path, item_id: ItemId) -> Result<DecisionFile, QueueReadError> {
    DecisionFile::parse(item_id, &read_private_file(path, LARGEST)?).map_err(QueueReadError::Rejected)
}
