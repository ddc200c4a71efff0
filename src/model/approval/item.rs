//! Items of the approval queue: whatever the program does not decide alone.

use crate::model::{
    AccountId, ActionId, DecisionKind, Instant, ItemId, MailId, RunId, TaskId, UserId, text_enum::text_enum,
};
use serde::{Serialize, Serializer};
use serde_json::Value;

text_enum! {
    /// What a person is asked about.
    ItemKind {
        /// An effect that needs an approval, or one of unknown outcome.
        Action = "action",
        /// A step or run that the program could not complete.
        FailedStep = "failed_step",
        /// An edit of the rules that the nightly job may not make alone.
        RuleProposal = "rule_proposal",
        /// A question of an agent, or whether a team may start.
        Question = "question",
    }
}

text_enum! {
    /// The life cycle of an item. The allowed transitions stand in `migrations/`.
    ItemState {
        /// The item waits for an answer.
        Open = "open",
        /// A person answered. Within the grace of an approval the item can become open again.
        Decided = "decided",
        /// What the item asks about is no longer possible or wanted.
        Void = "void",
        /// Nobody answered in time, which counts as a no.
        Expired = "expired",
    }
}

/// How many items may wait for a person at once, so that no sender can fill the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLimits {
    pub all: u32,
    pub per_sender: u32,
}

/// An item before it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewItem {
    pub item_id: ItemId,
    pub kind: ItemKind,
    pub task_id: Option<TaskId>,
    pub mail_id: Option<MailId>,
    pub action_id: Option<ActionId>,
    pub title: String,
    /// What the item is about, in the form that its kind asks for: node, step, error, edit.
    pub body: Value,
    pub expires_at: Option<Instant>,
    /// The sender of the mail that caused the item; empty without one.
    pub sender: String,
    /// The limits to keep: when they are reached, the item is refused and its run waits. None for items that must not
    /// be refused.
    pub queue_limits: Option<QueueLimits>,
}

/// An item as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemRow {
    pub item_id: ItemId,
    /// The number by which people name the item. It is never given to another one.
    pub number: i64,
    /// The digest of the action that an approval would carry out. An approval must name it.
    pub action_sha256: Option<String>,
    pub kind: ItemKind,
    pub account: AccountId,
    pub user: UserId,
    pub task_id: Option<TaskId>,
    pub mail_id: Option<MailId>,
    /// The run that waits for the answer; none when no run does.
    pub run_id: Option<RunId>,
    pub action_id: Option<ActionId>,
    pub title: String,
    pub body: Value,
    pub state: ItemState,
    /// None while nobody has decided; stored as an empty text.
    #[serde(serialize_with = "serialize_decision")]
    pub decision: Option<DecisionKind>,
    pub reason: String,
    pub created_at: Instant,
    pub expires_at: Option<Instant>,
    /// Until then the item is not shown; it still expires.
    pub snooze_until: Option<Instant>,
    pub sender: String,
}

impl ItemRow {
    /// The field of the body of a question that asks for a yes rather than for words.
    pub const CONSENT: &'static str = "consent";

    /// Returns whether the item is a question that is answered with yes or no.
    pub fn asks_consent(&self) -> bool {
        self.kind == ItemKind::Question && self.body.get(Self::CONSENT).and_then(Value::as_bool).unwrap_or_default()
    }

    /// Returns whether the item is a question that is answered in words.
    pub fn asks_words(&self) -> bool {
        self.kind == ItemKind::Question && !self.asks_consent()
    }
}

fn serialize_decision<S: Serializer>(decision: &Option<DecisionKind>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(decision.map_or("", DecisionKind::as_str))
}
