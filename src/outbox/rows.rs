//! The rows of the outbox in the store: reading a row with everything that a verdict depends on, and storing its
//! transitions.

use super::{
    EffectProgress, EffectStep, StepResult,
    pending_effect::{AttemptOutcome, PendingEffect},
};
use crate::{
    model::{AccountMode, ActionId, ActionMove, Actor, Effect, Instant, NewAction, OutboxState, WarningKind},
    store::{Result, SkipUnreadable as _, Store, StoreError, Write},
};

/// Reads and moves outbox rows.
#[derive(Clone)]
pub(super) struct OutboxRows {
    store: Store,
}

impl OutboxRows {
    pub(super) fn new(store: Store) -> Self {
        Self { store }
    }

    /// Reads a row with everything that a verdict depends on, as of now. An account that cannot be read counts as
    /// observing, so that nothing is done for it.
    pub(super) fn load_pending(&self, action_id: ActionId) -> Result<PendingEffect> {
        self.store.read_blocking(|reader| {
            let row =
                reader.outbox().get(action_id)?.ok_or_else(|| StoreError::NotFound(format!("action {action_id}")))?;
            let account = reader.accounts().get(&row.action.account).skip_unreadable()?;
            let task = row.action.task_id.map(|id| reader.tasks().get(id)).transpose()?.flatten();
            let mail = row.action.mail_id.map(|id| reader.mails().get(id)).transpose()?.flatten();
            // What a rule does to a mail depends on the warnings of the mail.
            let warned = match row.action.mail_id.filter(|_| row.action.task_id.is_none()) {
                Some(id) => reader
                    .ledger()
                    .get(id)?
                    .map(|entry| entry.warnings.iter().any(|warning| warning.kind == WarningKind::Phishing)),
                None => None,
            };
            let mut approval = reader.approvals().of_action(action_id)?;
            // The approval was used for the draft that is about to be sent, so it still covers the send.
            if let Some(approval) = approval.as_mut().filter(|_| row.state == OutboxState::Drafted) {
                approval.used = false;
            }
            Ok(PendingEffect {
                mail,
                approval,
                intact: row.intact,
                // Only rows of messages record whether they were tried; any other effect is probed before it is
                // applied.
                is_untried: matches!(row.action.effect, Effect::Send { .. }) && !row.tried,
                sends_begun: row.begun,
                class: row.class,
                state: row.state,
                result: row.result,
                handle: row.handle,
                sender: row.sender,
                grace_period: row.release_at.map(|until| (row.updated_at, until)),
                doubt_since: row.doubt_since,
                mode: account.map_or(AccountMode::Observe, |account| account.mode),
                paused: reader.settings().is_paused()?,
                is_obsolete: row.overruled || task.as_ref().is_some_and(|task| task.task.status.is_terminal()),
                // Without a task or a mail nobody can say that its mail was harmless.
                phishing: match (&task, warned) {
                    (Some(task), _) => task.task.context.has_warning(WarningKind::Phishing),
                    (None, warned) => warned.unwrap_or(true),
                },
                action: row.action,
            })
        })
    }

    /// Returns the same for a row that was just planned, without reading it back. Phishing was ruled out when it became
    /// `ready`.
    pub(super) fn pending_from_plan(&self, planned: &NewAction) -> Result<PendingEffect> {
        let (account, paused) = self.store.read_blocking(|reader| {
            Ok((reader.accounts().get(&planned.action.account).skip_unreadable()?, reader.settings().is_paused()?))
        })?;
        Ok(PendingEffect {
            action: planned.action.clone(),
            class: planned.class,
            state: planned.state,
            result: planned.reason.clone(),
            handle: String::new(),
            sender: planned.sender.clone(),
            grace_period: None,
            doubt_since: None,
            intact: true,
            is_untried: true,
            sends_begun: 0,
            mode: account.map_or(AccountMode::Observe, |account| account.mode),
            paused,
            is_obsolete: false,
            phishing: false,
            approval: None,
            mail: None,
        })
    }

    /// Stores a transition. Returns a conflict when the row is no longer in the state that the transition starts from.
    pub(super) async fn store_move(&self, mv: ActionMove) -> Result<()> {
        self.store.write(Write::MoveAction(Box::new(mv))).await.map(drop)
    }

    /// Moves a row to an intermediate state, after which it is read again.
    pub(super) async fn advance(&self, row: &PendingEffect, to: OutboxState, result: &str, at: Instant) -> StepResult {
        self.store_step(row.new_move(to, result, at)).await
    }

    /// Stores a transition to an intermediate state, after which the row is read again.
    pub(super) async fn store_step(&self, mv: ActionMove) -> StepResult {
        self.store_move(mv).await.map(|()| EffectStep::Moved)
    }

    /// Stores the final state of an effect.
    pub(super) async fn end_effect(&self, row: &PendingEffect, end: AttemptOutcome, now: Instant) -> StepResult {
        let progress = EffectProgress::Ended(end.state, end.result.clone());
        self.store_move(row.final_move(end, now)).await?;
        Ok(EffectStep::Halted(progress))
    }

    /// Records that the mailbox has no draft of a voided effect any more.
    pub(super) async fn end_draft_cleanup(&self, action_id: ActionId) -> Result<()> {
        self.store.write(Write::EndDraftCleanup { action_id }).await.map(drop)
    }

    /// Records in the audit chain that an effect is about to be undone, or, with `done`, that it was undone, which also
    /// voids its row.
    pub(super) async fn record_undo(&self, action_id: ActionId, done: bool, who: Actor, at: Instant) -> Result<()> {
        self.store.write(Write::RecordUndo { action_id, done, who, at }).await.map(drop)
    }
}
