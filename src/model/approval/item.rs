//! Items for people: whatever the program will not decide alone.

use crate::model::{
    AccountId, ActionId, DecisionKind, Instant, ItemId, MailId, RunId, TaskId, UserId, text_enum::text_enum,
};
use serde::{Serialize, Serializer};
use serde_json::Value;

text_enum! {
    ItemKind {
        /// An effect that needs approval.
        Action = "action",
        FailedStep = "failed_step",
        RuleProposal = "rule_proposal",
        Question = "question",
    }
}

text_enum! {
    ItemState {
        Open = "open",
        Decided = "decided",
        Void = "void",
        Expired = "expired",
    }
}

/// How many items may wait for a person at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLimits {
    pub all: u32,
    pub per_sender: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewItem {
    pub item_id: ItemId,
    pub kind: ItemKind,
    pub task_id: Option<TaskId>,
    pub mail_id: Option<MailId>,
    pub action_id: Option<ActionId>,
    pub title: String,
    pub body: Value,
    pub expires_at: Option<Instant>,
    /// Who wrote the mail that caused it; empty without one.
    pub sender: String,
    /// The queue may be full: then the item is refused, and its run waits.
    pub queue_limits: Option<QueueLimits>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemRow {
    pub item_id: ItemId,
    /// What people call it: the item's for life.
    pub number: i64,
    /// The digest of what a yes would do. An approval names it.
    pub action_sha256: Option<String>,
    pub kind: ItemKind,
    pub account: AccountId,
    pub user: UserId,
    pub task_id: Option<TaskId>,
    pub mail_id: Option<MailId>,
    pub run_id: Option<RunId>,
    pub action_id: Option<ActionId>,
    pub title: String,
    pub body: Value,
    pub state: ItemState,
    /// None while nobody has decided; written as an empty text.
    #[serde(serialize_with = "serialize_decision")]
    pub decision: Option<DecisionKind>,
    pub reason: String,
    pub created_at: Instant,
    pub expires_at: Option<Instant>,
    pub snooze_until: Option<Instant>,
    pub sender: String,
}

fn serialize_decision<S: Serializer>(decision: &Option<DecisionKind>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(decision.map_or("", DecisionKind::as_str))
}
