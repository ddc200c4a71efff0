//! A reply in the words it is recorded in.

use std::sync::Arc;

use serde::{Serialize, de::DeserializeOwned};

/// JSON, made once and shared: whoever asked reads it, the record keeps it as it is, and nobody takes it apart on the
/// way. A replay reads the very text that was read the first time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyJson(Arc<str>);

impl ReplyJson {
    pub fn encode(value: &impl Serialize) -> serde_json::Result<Self> {
        serde_json::to_string(value).map(Self::from_recorded)
    }

    /// As the record has it. Whether it can be read, its reader finds out.
    pub fn from_recorded(text: String) -> Self {
        Self(text.into())
    }

    pub fn read<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(&self.0)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}
