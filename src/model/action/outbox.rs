//! Rows of the outbox, and what moves one from state to state.

use crate::model::{Action, ActionId, Actor, Instant, OutboxState, RiskClass, RunId};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq)]
pub struct NewAction {
    pub action: Action,
    pub class: RiskClass,
    pub state: OutboxState,
    pub reason: String,
    /// Who wrote the mail that caused it; empty without one.
    pub sender: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutboxRow {
    pub action: Action,
    pub class: RiskClass,
    pub state: OutboxState,
    pub result: String,
    /// Of the action. Told where a person can say yes to it, as `action_sha256` of the item, and nowhere else.
    #[serde(skip)]
    pub sha256: String,
    pub run_id: RunId,
    pub updated_at: Instant,
    pub handle: String,
    /// The end of the grace after an approval.
    pub release_at: Option<Instant>,
    /// Since when nobody knows whether it happened, or it cannot be done for want of a way.
    pub doubt_since: Option<Instant>,
    pub sender: String,
    /// A try may have left a draft of it in the mailbox.
    pub tried: bool,
    /// How often its sending was begun.
    pub begun: u32,
    /// A person's word on its task came while it may have been leaving: it is not begun again.
    #[serde(skip)]
    pub overruled: bool,
    /// The stored bytes are those the digest was taken of.
    #[serde(skip)]
    pub intact: bool,
}

/// One move of an effect in the outbox.
#[derive(Debug, Clone)]
pub struct ActionMove {
    pub action_id: ActionId,
    pub from: OutboxState,
    pub to: OutboxState,
    pub result: String,
    pub handle: String,
    pub who: Actor,
    pub at: Instant,
    /// The effect is a row of ours (label, reminder, invoice): written in the same transaction.
    pub is_database_row: bool,
    pub approval: ApprovalUse,
    /// It can be taken back.
    pub undoable: bool,
    /// No try has put anything of it into the mailbox, for certain.
    pub untried: bool,
}

/// What a move does to the approval behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalUse {
    None,
    /// Uses it, or the move is refused.
    Use,
    /// What it was used for certainly did not happen.
    Return,
}

/// An action that waits for a person, judged again under another policy.
#[derive(Debug, Clone)]
pub struct ReevaluatedAction {
    pub action: Box<Action>,
    pub class: RiskClass,
    /// Nothing any more that a person could allow.
    pub denied: Option<String>,
    pub reason: String,
    pub at: Instant,
}
