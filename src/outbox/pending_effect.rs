//! A row of the outbox on its way: what a verdict on it depends on, and the moves between its states.

use chrono::Duration;

use crate::model::{
    AccountMode, Action, ActionMove, Actor, Approval, ApprovalUse, Effect, Instant, Mail, OutboxState, RiskClass,
};

/// Upper bound of the retry backoff.
const MAX_BACKOFF: Duration = Duration::minutes(5);

/// An effect and what a verdict on it depends on.
pub(super) struct PendingEffect {
    pub(super) action: Action,
    pub(super) class: RiskClass,
    pub(super) state: OutboxState,
    pub(super) result: String,
    pub(super) handle: String,
    pub(super) sender: String,
    /// While its grace runs: when it was approved, and when it may leave.
    pub(super) grace_period: Option<(Instant, Instant)>,
    pub(super) doubt_since: Option<Instant>,
    /// Its bytes are those its digest was taken of.
    pub(super) intact: bool,
    /// Nobody can have tried it before.
    pub(super) is_untried: bool,
    /// How often its sending was begun.
    pub(super) sends_begun: u32,
    pub(super) mode: AccountMode,
    pub(super) paused: bool,
    /// A person has ended or changed its task: nothing more is begun for it.
    pub(super) is_obsolete: bool,
    pub(super) phishing: bool,
    pub(super) approval: Option<Approval>,
    /// The mail that caused it, where the caller did not have it.
    pub(super) mail: Option<Mail>,
}

/// How an attempt at an effect ended.
pub(super) struct AttemptOutcome {
    pub(super) state: OutboxState,
    pub(super) result: String,
    pub(super) handle: String,
    /// The effect is a row of ours, written together with its end.
    pub(super) is_database_row: bool,
}

impl PendingEffect {
    pub(super) fn is_message(&self) -> bool {
        matches!(self.action.effect, Effect::Send { .. })
    }

    /// Whether a person approved it, in this epoch, and it was never begun.
    pub(super) fn was_approved_and_not_begun(&self, epoch: i64) -> bool {
        let is_unused = |approval: &Approval| !approval.used && approval.epoch == epoch;
        self.state == OutboxState::Ready && self.approval.as_ref().is_some_and(is_unused)
    }

    pub(super) fn is_in_doubt_for(&self, time: Duration, now: Instant) -> bool {
        self.doubt_since.is_some_and(|since| since.plus(time) <= now)
    }

    /// Returns how long to wait before the next try: a quarter of the time that it has waited already.
    pub(super) fn retry_backoff(&self, now: Instant) -> std::time::Duration {
        let waited = self.doubt_since.map_or(Duration::zero(), |since| now.utc() - since.utc());
        (waited / 4).min(MAX_BACKOFF).to_std().unwrap_or_default()
    }

    /// Returns the same row one move later.
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

    /// Returns the move of this row to another state.
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

    /// Returns the move back to `ready` of an effect that was begun and did not happen: its approval may be used again.
    pub(super) fn move_back_to_ready(&self, reason: &str, at: Instant) -> ActionMove {
        ActionMove { approval: ApprovalUse::Return, ..self.new_move(OutboxState::Ready, reason, at) }
    }

    /// Returns the move of this row to its end.
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

    /// Returns the outcome for a row of ours that needs nothing outside the database.
    pub(super) fn applied_as_row(result: &str) -> Self {
        Self { is_database_row: true, ..Self::new(OutboxState::Applied, result) }
    }

    /// Returns the outcome for a message that is known to have left.
    pub(super) fn already_sent(row: &PendingEffect) -> Self {
        Self { handle: row.handle.clone(), ..Self::new(OutboxState::Sent, &row.result) }
    }

    pub(super) fn with_result_suffix(self, suffix: &str) -> Self {
        Self { result: format!("{}; {suffix}", self.result), ..self }
    }
}
