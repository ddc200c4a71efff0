//! What a person says to an item of the approval queue.

use crate::model::{Actor, DecisionChannel, Instant, ItemId, NewAction, NewItem, text_enum::text_enum};

text_enum! {
    /// What a person can say to an item.
    DecisionKind {
        /// To an action: do exactly this.
        Approve = "approve",
        Reject = "reject",
        /// Do something else instead; the reason says what.
        Respond = "respond",
        /// To a failed step.
        Retry = "retry",
        Skip = "skip",
        Cancel = "cancel",
        /// To an effect nobody knows the end of: it did happen.
        Sent = "sent",
    }
}

#[derive(Debug, Clone)]
pub struct Decision {
    pub item_id: ItemId,
    pub kind: DecisionKind,
    pub who: Actor,
    pub reason: String,
    pub at: Instant,
    pub channel: DecisionChannel,
    /// Of the action the person saw; needed to approve.
    pub sha256: String,
    /// When an approved action leaves.
    pub release_at: Option<Instant>,
    pub epoch: i64,
    /// The decision file it came in, by its digest: used once.
    pub file_sha256: Option<String>,
}

/// An action in another wording: the old one is void, the new one is asked about.
#[derive(Debug, Clone)]
pub struct ActionEdit {
    pub item_id: ItemId,
    pub action: Box<NewAction>,
    pub item: Box<NewItem>,
    pub who: Actor,
    pub at: Instant,
}
