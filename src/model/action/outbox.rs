//! Rows of the outbox, and the moves of an effect from state to state.

use crate::model::{Action, ActionId, Actor, Instant, OutboxState, RiskClass, RunId};
use serde::Serialize;

/// An action as a checkpoint plans it: the row of the outbox before it exists.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAction {
    pub action: Action,
    /// The risk class as it was judged now.
    pub class: RiskClass,
    pub state: OutboxState,
    /// Why the effect is in its state, for a person.
    pub reason: String,
    /// The sender of the mail that caused the action; empty without one. Rate limits count by it.
    pub sender: String,
}

/// An effect as the outbox holds it. The class and the action are judged again whenever the row is worked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutboxRow {
    pub action: Action,
    pub class: RiskClass,
    pub state: OutboxState,
    /// What came of the effect, or why it waits.
    pub result: String,
    /// The digest of the action. It is shown as `action_sha256` of the item, where a person can approve it, and nowhere
    /// else.
    #[serde(skip)]
    pub sha256: String,
    /// The run that asked for the effect.
    pub run_id: RunId,
    pub updated_at: Instant,
    /// The mailbox's own id of what was done, for example of the draft; empty before there is one.
    pub handle: String,
    /// The end of the grace after an approval.
    pub release_at: Option<Instant>,
    /// Since when nobody knows whether the effect happened, or it could not be carried out.
    pub doubt_since: Option<Instant>,
    pub sender: String,
    /// Whether an earlier attempt may have left a draft in the mailbox, which is then looked for before another is
    /// stored.
    pub tried: bool,
    /// How often sending was begun. More lines of the witness than this mean that the database is older than a send.
    pub begun: u32,
    /// Whether a person changed the task while the message may have been leaving: the message is not begun again.
    #[serde(skip)]
    pub overruled: bool,
    /// Whether the stored action still has the stored digest.
    #[serde(skip)]
    pub intact: bool,
}

/// One transition of an effect, refused when the row is no longer in state `from`.
#[derive(Debug, Clone)]
pub struct ActionMove {
    pub action_id: ActionId,
    pub from: OutboxState,
    pub to: OutboxState,
    pub result: String,
    /// The mailbox's own id of what was done; an empty one keeps the stored id.
    pub handle: String,
    /// Who moved the effect, for the audit chain.
    pub who: Actor,
    pub at: Instant,
    /// Whether the effect is itself a row of the database (label, reminder, invoice), written in the same transaction.
    pub is_database_row: bool,
    /// What the transition does to the approval, in the same transaction.
    pub approval: ApprovalUse,
    /// Whether the effect can be undone later, so that it is kept in the journal of undoable effects.
    pub undoable: bool,
    /// Whether it is certain that no attempt has put anything into the mailbox.
    pub untried: bool,
}

/// What a transition does to the approval behind the effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalUse {
    /// Leaves the approval as it is.
    None,
    /// Marks the approval as used, or refuses the transition when there is none that is valid and unused.
    Use,
    /// Makes the approval usable again, because what it was used for certainly did not happen.
    Return,
}

/// An action that waits for a person, judged again under a new policy.
#[derive(Debug, Clone)]
pub struct ReevaluatedAction {
    pub action: Box<Action>,
    pub class: RiskClass,
    /// Why nobody can approve it any more; none while a person can.
    pub denied: Option<String>,
    pub reason: String,
    pub at: Instant,
}

/// An R1 effect that can be taken back.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JournalRow {
    pub row: OutboxRow,
    pub done_at: Instant,
}
