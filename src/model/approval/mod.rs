//! A person's yes to one exact action.

mod decision;
mod item;

pub use decision::{ActionEdit, Decision, DecisionKind};
pub use item::{ItemKind, ItemRow, ItemState, NewItem, QueueLimits};

use serde::{Deserialize, Serialize};

use super::{Instant, text_enum::text_enum};

text_enum! {
    /// Where a word of a person came in.
    DecisionChannel {
        Cli = "cli",
        /// A decision file in the queue.
        File = "file",
        Web = "web",
        /// May propose and show, never approve.
        Chat = "chat",
        Mcp = "mcp",
    }
}

impl DecisionChannel {
    pub const fn may_approve(self) -> bool {
        matches!(self, Self::Cli | Self::File | Self::Web)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Of the action.
    pub sha256: String,
    /// Of the data folder when it was given.
    pub epoch: i64,
    #[serde(rename = "door")]
    pub channel: DecisionChannel,
    pub expires_at: Instant,
    pub used: bool,
}
