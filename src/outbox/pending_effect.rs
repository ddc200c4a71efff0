//! A row of the outbox in progress: what a verdict on it depends on, and the transitions between its states.

use chrono::Duration;

use crate::model::{
    AccountMode, Action, ActionMove, Actor, Approval, ApprovalUse, Effect, Instant, Mail, OutboxState, RiskClass,
};

/// Upper bound of the retry backoff.
const MAX_BACKOFF: Duration = Duration::minutes(5);

/// An outbox row with everything that a verdict on it depends on, read in one moment.
pub(super) struct PendingEffect {
    pub(super) action: Action,
    pub(super) class: RiskClass,
    pub(super) state: OutboxState,
    pub(super) result: String,
    /// The id that the mailbox gave to the draft; empty without one.
    pub(super) handle: String,
    /// The sender of the mail that caused it. The cap per sender counts by it.
    pub(super) sender: String,
    /// While the grace runs: when it was approved, and when the grace ends.
    pub(super) grace_period: Option<(Instant, Instant)>,
    /// Since when the outcome is unknown, or the message could not be sent.
    pub(super) doubt_since: Option<Instant>,
    /// Whether its stored bytes match their digest.
    pub(super) intact: bool,
    /// Whether it is certain that no attempt was made before.
    pub(super) is_untried: bool,
    /// How often its sending was begun, as the database knows it.
    pub(super) sends_begun: u32,
    pub(super) mode: AccountMode,
    /// Whether the person has paused all effects.
    pub(super) paused: bool,
    /// Whether a person has ended or changed its task, so that nothing more is begun for it.
    pub(super) is_obsolete: bool,
    /// Whether the task carries a phishing warning.
    pub(super) phishing: bool,
    pub(super) approval: Option<Approval>,
    /// The mail that caused it; none when the row was just planned and the caller has the mail.
    pub(super) mail: Option<Mail>,
}

/// How an attempt at an effect ended.
pub(super) struct AttemptOutcome {
    pub(super) state: OutboxState,
    pub(super) result: String,
    pub(super) handle: String,
    /// Whether the effect is a row of the database, written in the transaction that ends it.
    pub(super) is_database_row: bool,
}

impl PendingEffect {
    /// Returns whether the effect sends a message, and so passes through the states of a send.
    pub(super) fn is_message(&self) -> bool {
        matches!(self.action.effect, Effect::Send { .. })
    }

    /// Returns whether a person approved it in this epoch and the approval was not used.
    pub(super) fn was_approved_and_not_begun(&self, epoch: i64) -> bool {
        let is_unused = |approval: &Approval| !approval.used && approval.epoch == epoch;
        self.state == OutboxState::Ready && self.approval.as_ref().is_some_and(is_unused)
    }

    /// Returns whether the outcome has been unknown, or the message unsendable, for at least this time.
    pub(super) fn is_in_doubt_for(&self, time: Duration, now: Instant) -> bool {
        self.doubt_since.is_some_and(|since| since.plus(time) <= now)
    }

    /// Returns the time before the next try: a quarter of the time since the first failure, up to the upper bound.
    pub(super) fn retry_backoff(&self, now: Instant) -> std::time::Duration {
        let waited = self.doubt_since.map_or(Duration::zero(), |since| now.utc() - since.utc());
        (waited / 4).min(MAX_BACKOFF).to_std().unwrap_or_default()
    }

    /// Returns the row as it is after a transition that this process has just stored, without reading it again.
    pub(super) fn moved_to(&self, state: OutboxState) -> Self {
        Self {
            action: self.action.clone(),
            class: self.class,
            state,
            result: String::new(),
            handle: self.handle.clone(),
            sender: self.sender.clone(),
            grace_period: None,
            doubt_since: self.doubt_since,
            intact: self.intact,
            is_untried: self.is_untried,
            sends_begun: self.sends_begun + u32::from(state == OutboxState::Sending),
            mode: self.mode,
            paused: self.paused,
            is_obsolete: self.is_obsolete,
            phishing: self.phishing,
            approval: None,
            mail: None,
        }
    }

    /// Returns the transition of this row to another state, with no other consequence.
    pub(super) fn new_move(&self, to: OutboxState, result: &str, at: Instant) -> ActionMove {
        ActionMove {
            action_id: self.action.action_id,
            from: self.state,
            to,
            result: result.to_owned(),
            handle: String::new(),
            who: Actor::Outbox,
            at,
            is_database_row: false,
            approval: ApprovalUse::None,
            undoable: false,
            untried: false,
        }
    }

    /// Returns the transition back to `ready` of an effect that was begun and certainly did not happen: its approval
    /// may be used again.
    pub(super) fn move_back_to_ready(&self, reason: &str, at: Instant) -> ActionMove {
        ActionMove { approval: ApprovalUse::Return, ..self.new_move(OutboxState::Ready, reason, at) }
    }

    /// Returns the transition of this row to its final state. An R1 effect becomes undoable.
    pub(super) fn final_move(&self, end: AttemptOutcome, at: Instant) -> ActionMove {
        ActionMove {
            handle: end.handle,
            is_database_row: end.is_database_row,
            undoable: self.class == RiskClass::R1,
            ..self.new_move(end.state, &end.result, at)
        }
    }
}

impl AttemptOutcome {
    pub(super) fn new(state: OutboxState, result: &str) -> Self {
        Self { state, result: result.to_owned(), handle: String::new(), is_database_row: false }
    }

    /// Returns the outcome of an effect that is only a row of the database.
    pub(super) fn applied_as_row(result: &str) -> Self {
        Self { is_database_row: true, ..Self::new(OutboxState::Applied, result) }
    }

    /// Returns the outcome of a message that is known to have been sent.
    pub(super) fn already_sent(row: &PendingEffect) -> Self {
        Self { handle: row.handle.clone(), ..Self::new(OutboxState::Sent, &row.result) }
    }

    pub(super) fn with_result_suffix(self, suffix: &str) -> Self {
        Self { result: format!("{}; {suffix}", self.result), ..self }
    }
}
