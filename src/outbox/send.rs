//! Messages: stored as a draft, sent once, and probed when the outcome is unknown.
//!
//! Every step is committed before the next one begins. A message is never sent a second time because an answer was
//! lost.

use std::sync::Arc;

use chrono::Duration;

use super::{
    EffectStep, RETRY_INTERVAL, StepResult,
    apply::RetryLater,
    judge::EffectJudge,
    mailboxes::{Mailboxes, NO_MAILBOX},
    pending_effect::{AttemptOutcome, PendingEffect},
    rows::OutboxRows,
};
use crate::{
    failpoint,
    model::{AccountMode, ActionId, ActionMove, ApprovalUse, Instant, OutboxState},
    policy::ApprovedAction,
    source::{AppliedEffect, Mailbox, SendError, SendReceipt},
    store::{self, StoreError},
};

/// How long a message is retried that cannot be sent. After that the effect fails, and a person is asked.
const UNSENDABLE_TIMEOUT: Duration = Duration::hours(24);

/// Drafts and sends messages, and finds out whether a message was sent.
#[derive(Clone)]
pub(super) struct MessageSender {
    pub(super) rows: OutboxRows,
    pub(super) judge: EffectJudge,
    pub(super) mailboxes: Mailboxes,
}

impl MessageSender {
    /// Stores the draft of a `ready` message, or sends the draft of a `drafted` one.
    pub(super) async fn draft_or_send(
        &self,
        row: &PendingEffect,
        approved: Arc<ApprovedAction>,
        now: Instant,
    ) -> StepResult {
        let Some(mailbox) = self.mailboxes.get(&row.action.account) else {
            let state = if row.state == OutboxState::Ready { OutboxState::Failed } else { OutboxState::Void };
            return self.rows.end_effect(row, AttemptOutcome::new(state, NO_MAILBOX), now).await;
        };
        if row.state == OutboxState::Drafted {
            self.send_draft(row, mailbox, approved, now).await
        } else {
            self.draft(row, mailbox, approved, now).await
        }
    }

    /// Uses the approval, stores `drafting`, and has the mailbox store the draft. If the approval was used, has expired
    /// or covers other bytes, the effect is void.
    async fn draft(
        &self,
        row: &PendingEffect,
        mailbox: Arc<dyn Mailbox>,
        approved: Arc<ApprovedAction>,
        now: Instant,
    ) -> StepResult {
        let approval = if row.approval.is_some() { ApprovalUse::Use } else { ApprovalUse::None };
        let claim = ActionMove { approval, ..row.new_move(OutboxState::Drafting, "drafting", now) };
        match self.rows.store_move(claim).await {
            Err(StoreError::Refused(why)) => {
                return self.rows.end_effect(row, AttemptOutcome::new(OutboxState::Void, &why), now).await;
            }
            outcome => outcome?,
        }
        let (judge, tried) = (self.judge.clone(), !row.is_untried);
        let drafted = call_mailbox_blocking(move || {
            judge.check_data_folder_before_send()?;
            failpoint::around("mailbox.draft", || mailbox.draft(&approved, tried))
        });
        let drafting = row.moved_to(OutboxState::Drafting);
        match drafted.await {
            Ok(applied) => self.record_draft(&drafting, applied, now).await,
            Err(error) => self.handle_send_error(&drafting, error, now).await,
        }
    }

    /// Stores the id of the draft in the row.
    async fn record_draft(&self, drafting: &PendingEffect, draft: AppliedEffect, now: Instant) -> StepResult {
        let mv = drafting.new_move(OutboxState::Drafted, &draft.result, now);
        match self.rows.store_step(ActionMove { handle: draft.handle.clone(), ..mv }).await {
            // A person changed the row first, and the row does not hold the id of this draft: nobody else would discard
            // it.
            Err(overtaken @ StoreError::Conflict(_)) => {
                self.withdraw_draft(drafting.action.action_id, &draft.handle).await?;
                Err(overtaken)
            }
            // Storing a draft takes a while: pause, mode and task are read again before it is sent.
            outcome => outcome,
        }
    }

    /// Stores `sending`, notes the send outside the data folder, and sends the draft. Both are on the disk before the
    /// first byte leaves.
    async fn send_draft(
        &self,
        row: &PendingEffect,
        mailbox: Arc<dyn Mailbox>,
        approved: Arc<ApprovedAction>,
        now: Instant,
    ) -> StepResult {
        // The store refuses this with a conflict after a pause, another account mode or an edit of the task. Then the
        // row is judged again.
        self.rows.store_move(row.new_move(OutboxState::Sending, "sending", now)).await?;
        let sending = row.moved_to(OutboxState::Sending);
        let (judge, draft, approved_send) = (self.judge.clone(), row.handle.clone(), Arc::clone(&approved));
        let (action_id, attempt) = (row.action.action_id, sending.sends_begun);
        let sent = call_mailbox_blocking(move || {
            judge.check_data_folder_before_send()?;
            judge.note_send_begins(action_id, attempt, now)?;
            failpoint::around("mailbox.send", || mailbox.send_draft(&approved_send, &draft))
        })
        .await;
        match sent {
            Ok(receipt) => self.finish_send(&sending, receipt_outcome(receipt), Some(approved), now).await,
            Err(error) => self.handle_send_error(&sending, error, now).await,
        }
    }

    /// Stores the state that follows from an error of the mailbox: failed, void, retried later, or of unknown outcome.
    async fn handle_send_error(&self, row: &PendingEffect, error: SendError, now: Instant) -> StepResult {
        let (state, why) = match error {
            SendError::Refused(why) => (OutboxState::Failed, why),
            SendError::DraftEdited => {
                (OutboxState::Void, "the draft was changed by somebody else: it is theirs to send".to_owned())
            }
            SendError::DoneByPerson(why) => (OutboxState::Void, why),
            SendError::RetryLater { why, .. } if row.is_in_doubt_for(UNSENDABLE_TIMEOUT, now) => {
                let hours = UNSENDABLE_TIMEOUT.num_hours();
                (OutboxState::Failed, format!("it could not be sent for {hours} hours: {why}"))
            }
            SendError::RetryLater { why, after, may_have_draft } => {
                return self.retry_send_later(row, RetryLater { why, after }, may_have_draft, now).await;
            }
            // The probe follows at once: the mailbox says whether it can look for the message at all.
            SendError::OutcomeUnknowable(why) => return self.rows.advance(row, OutboxState::Unknown, &why, now).await,
            SendError::OutcomeUnknown(why) => return self.defer_probe(row, &why, RETRY_INTERVAL, now).await,
        };
        self.rows.end_effect(row, AttemptOutcome::new(state, &why), now).await
    }

    /// Moves the row back to the state before the attempt, and defers it with a backoff.
    async fn retry_send_later(
        &self,
        row: &PendingEffect,
        RetryLater { why, after }: RetryLater,
        may_have_draft: bool,
        now: Instant,
    ) -> StepResult {
        let back = if row.state == OutboxState::Drafting {
            self.judge.release_place(row);
            ActionMove { untried: row.is_untried && !may_have_draft, ..row.move_back_to_ready(&why, now) }
        } else {
            row.new_move(OutboxState::Drafted, &why, now)
        };
        self.rows.store_move(back).await?;
        let later = RetryLater { why, after: after.max(row.retry_backoff(now)) };
        Ok(EffectStep::Halted(later.into_progress(now)))
    }

    /// Discards the draft of an effect that ended otherwise. `draft` is the id of a draft that the row does not hold;
    /// if it is empty, the row says which. Returns whether the mailbox has no such draft any more. A failure is only
    /// logged, because the draft does no harm.
    pub(super) async fn withdraw_draft(&self, action_id: ActionId, draft: &str) -> store::Result<bool> {
        let row = self.rows.load_pending(action_id)?;
        let draft = if draft.is_empty() { row.handle.clone() } else { draft.to_owned() };
        // An earlier attempt may have stored a draft whose id was never recorded.
        if row.action.effect.message().is_none() || (draft.is_empty() && row.is_untried) {
            return Ok(true);
        }
        let may = row.mode == AccountMode::Active && self.judge.hold_reason(&row).is_none();
        let Some(mailbox) = may.then(|| self.mailboxes.get(&row.action.account)).flatten() else { return Ok(false) };
        let withdraw = move || failpoint::around("mailbox.withdraw", || mailbox.discard_draft(&row.action, &draft));
        let outcome = tokio::task::spawn_blocking(withdraw).await;
        if let Ok(Err(error)) = &outcome {
            tracing::warn!(%error, "could not discard the draft of a message that will not be sent");
        }
        Ok(matches!(outcome, Ok(Ok(()))))
    }
}

/// Returns the outcome of a send. `Sent` means that a transport has accepted the message.
pub(super) fn receipt_outcome(receipt: SendReceipt) -> AttemptOutcome {
    let (state, AppliedEffect { handle, result }) = match receipt {
        SendReceipt::Sent(applied) => (OutboxState::Sent, applied),
        SendReceipt::Saved(applied) => (OutboxState::Saved, applied),
    };
    AttemptOutcome { handle, ..AttemptOutcome::new(state, &result) }
}

/// Calls a mailbox on a blocking thread, so that other runs go on. After a panic the outcome is unknown, because the
/// message may have been sent before it.
pub(super) async fn call_mailbox_blocking<T: Send + 'static>(
    call: impl FnOnce() -> Result<T, SendError> + Send + 'static,
) -> Result<T, SendError> {
    let outcome = tokio::task::spawn_blocking(call).await;
    outcome.unwrap_or_else(|_| Err(SendError::OutcomeUnknown("the mailbox panicked".into())))
}
