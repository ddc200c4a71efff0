//! A recorded reply as text.

use std::sync::Arc;

use serde::{Serialize, de::DeserializeOwned};

/// The JSON of a reply, encoded once and shared: the node that asked parses it, and the store keeps it as it is. So a
/// replay parses the very text that was parsed the first time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyJson(Arc<str>);

impl ReplyJson {
    pub fn encode(value: &impl Serialize) -> serde_json::Result<Self> {
        serde_json::to_string(value).map(Self::from_recorded)
    }

    /// Wraps the text of a stored reply. Whether it can be parsed is found out by [`read`](Self::read).
    pub fn from_recorded(text: String) -> Self {
        Self(text.into())
    }

    /// Parses the reply as the type that the node asked for.
    pub fn read<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(&self.0)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}
