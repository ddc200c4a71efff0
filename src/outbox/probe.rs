//! Probing a message of unknown outcome: the mailbox is asked whether it was sent.
//!
//! A probe only reads. Only when the message was certainly not sent is it begun again; when nobody can tell, a person
//! is asked.

use chrono::Duration;

use super::{
    EffectProgress, EffectStep, StepResult,
    judge::FORGOTTEN_SEND,
    mailboxes::NO_MAILBOX,
    pending_effect::{AttemptOutcome, PendingEffect},
    send::{MessageSender, call_mailbox_blocking, receipt_outcome},
};
use crate::{
    failpoint,
    model::{ActionMove, Instant, OutboxState},
    source::{MessageProbeResult, SendError},
};

/// How long a message of unknown outcome is probed before a person is asked.
const DOUBT_TIMEOUT: Duration = Duration::minutes(15);
/// The time between two probes.
pub(super) const PROBE_INTERVAL: Duration = Duration::seconds(30);

impl MessageSender {
    /// Probes a message of unknown outcome, and moves its row to the state in which the mailbox shows it.
    pub(super) async fn probe(&self, row: &PendingEffect, now: Instant) -> StepResult {
        let Some(mailbox) = self.mailboxes.get(&row.action.account) else {
            return self.retry_probe_or_escalate(row, NO_MAILBOX, now).await;
        };
        let (action, draft) = (row.action.clone(), row.handle.clone());
        let found = call_mailbox_blocking(move || {
            let found = failpoint::around("mailbox.find", || mailbox.find(&action, &draft));
            found.map_err(|error| SendError::OutcomeUnknown(error.to_string()))
        });
        match found.await {
            Err(error) => self.retry_probe_or_escalate(row, &error.to_string(), now).await,
            Ok(MessageProbeResult::SentOrSaved(receipt)) => {
                self.finish_send(row, receipt_outcome(receipt), None, now).await
            }
            // After a restore, a draft or an absent message proves nothing: what the mailbox shows may be older than
            // the send.
            Ok(_) if self.judge.has_forgotten_send(row) => {
                self.escalate(row, &format!("{FORGOTTEN_SEND}, and it is not among the sent mails"), now).await
            }
            Ok(MessageProbeResult::Draft(draft)) => {
                let mv = row.new_move(OutboxState::Drafted, &draft.result, now);
                self.rows.store_step(ActionMove { handle: draft.handle, ..mv }).await
            }
            Ok(MessageProbeResult::Absent) => {
                self.rows.store_step(row.move_back_to_ready("it was certainly not sent", now)).await
            }
            Ok(MessageProbeResult::OutcomeUnknown(why)) => self.retry_probe_or_escalate(row, &why, now).await,
            Ok(MessageProbeResult::OutcomeUnknowable) => self.escalate(row, &row.result, now).await,
        }
    }

    /// Probes again later, or asks a person once the outcome has been unknown for too long.
    async fn retry_probe_or_escalate(&self, row: &PendingEffect, why: &str, now: Instant) -> StepResult {
        if row.is_in_doubt_for(DOUBT_TIMEOUT, now) {
            return self.escalate(row, why, now).await;
        }
        self.defer_probe(row, why, PROBE_INTERVAL, now).await
    }

    /// Ends the effect as `needs_human`: a person must find out what became of the message.
    async fn escalate(&self, row: &PendingEffect, why: &str, now: Instant) -> StepResult {
        let result = format!("nobody knows whether it was sent: {why}");
        self.rows.end_effect(row, AttemptOutcome::new(OutboxState::NeedsHuman, &result), now).await
    }

    /// Stores that the outcome of a send is unknown, and defers the next probe.
    pub(super) async fn defer_probe(
        &self,
        row: &PendingEffect,
        why: &str,
        after: Duration,
        now: Instant,
    ) -> StepResult {
        self.rows.store_move(row.new_move(OutboxState::Unknown, why, now)).await?;
        let reason = format!("looking whether it was sent: {why}");
        Ok(EffectStep::Halted(EffectProgress::Deferred { reason, until: now.plus(after) }))
    }
}
