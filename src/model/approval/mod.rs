//! Approvals: a person's yes to one exact action, and the queue in which it is asked for.

mod decision;
mod item;
mod response;

pub use decision::{ActionEdit, Decision, DecisionKind, StepInstruction};
pub use item::{ItemKind, ItemRow, ItemState, NewItem, QueueLimits};
pub use response::{DeclinedPeriod, InvitationAnswer, NamedMoment, ResponseWish};

use serde::{Deserialize, Serialize};

use super::{Instant, text_enum::text_enum};

text_enum! {
    /// The interface through which a person's decision came in.
    DecisionChannel {
        Cli = "cli",
        /// A decision file in the queue.
        File = "file",
        Web = "web",
        /// The chat may propose and show actions. It may never approve one, because its words are not proof of a
        /// person.
        Chat = "chat",
        Mcp = "mcp",
    }
}

impl DecisionChannel {
    /// Returns whether an approval through this channel counts.
    pub const fn may_approve(self) -> bool {
        matches!(self, Self::Cli | Self::File | Self::Web)
    }
}

/// A person's yes, as it is checked before the effect: it counts once, in its epoch, before its expiry, for one digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The digest of the action that was approved.
    pub sha256: String,
    /// The epoch of the data folder when the approval was given.
    pub epoch: i64,
    /// The channel through which the approval came in.
    #[serde(rename = "door")]
    pub channel: DecisionChannel,
    pub expires_at: Instant,
    /// Whether an attempt at the effect has used the approval up.
    pub used: bool,
}
