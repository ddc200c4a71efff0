//! What goes with a message that was sent, for example the event in the calendar.
//!
//! Whatever becomes of it, the message counts as sent: a failure here is noted in the result and never leads to a
//! second send.

use std::sync::Arc;

use chrono::Duration;

use super::{
    EffectProgress, EffectStep, StepResult,
    apply::RetryLater,
    mailboxes::NO_MAILBOX,
    pending_effect::{AttemptOutcome, PendingEffect},
    probe::PROBE_INTERVAL,
    send::MessageSender,
};
use crate::{
    failpoint,
    model::{ActionMove, Instant, OutboxState},
    policy::ApprovedAction,
    source::Mailbox,
};

/// How long what goes with a sent message is retried before it is given up.
const POST_SEND_TIMEOUT: Duration = Duration::hours(24);
/// The suffix of the result when what goes with a sent message failed.
const POST_SEND_FAILED: &str = "what goes with it was not done";

impl MessageSender {
    /// Does what goes with a message that was sent, and ends the effect. If the program dies before that, the probe
    /// finds the message and this is called again. If the mailbox asks to retry later, the row is stored as `settling`,
    /// which records that the message was sent. `approved` is the approval under which it was sent, if the caller has
    /// it.
    pub(super) async fn finish_send(
        &self,
        row: &PendingEffect,
        end: AttemptOutcome,
        approved: Option<Arc<ApprovedAction>>,
        now: Instant,
    ) -> StepResult {
        let Some(mailbox) = self.mailboxes.get(&row.action.account) else {
            return self.rows.end_effect(row, without_post_send(end, NO_MAILBOX), now).await;
        };
        if let Some(why) = self.judge.hold_reason(row).filter(|_| approved.is_none()) {
            return self.defer_post_send(row, end, RetryLater { why, after: std::time::Duration::ZERO }, now).await;
        }
        let approved = match approved.map_or_else(|| self.judge.approve_post_send(row, now).map(Arc::from), Ok) {
            Ok(approved) => approved,
            Err(why) => return self.rows.end_effect(row, without_post_send(end, why), now).await,
        };
        let end = match self.complete_send(mailbox, approved).await {
            Ok(None) => end,
            Ok(Some(told)) => end.with_result_suffix(&told),
            Err(PostSendError::RetryLater(later)) if !row.is_in_doubt_for(POST_SEND_TIMEOUT, now) => {
                return self.defer_post_send(row, end, later, now).await;
            }
            Err(PostSendError::RetryLater(RetryLater { why, .. }) | PostSendError::Failed(why)) => {
                without_post_send(end, &why)
            }
        };
        self.rows.end_effect(row, end, now).await
    }

    /// Calls the mailbox on a blocking thread. Returns what it did, as text for a person.
    async fn complete_send(
        &self,
        mailbox: Arc<dyn Mailbox>,
        approved: Arc<ApprovedAction>,
    ) -> Result<Option<String>, PostSendError> {
        let judge = self.judge.clone();
        let told = tokio::task::spawn_blocking(move || {
            judge.check_data_folder()?;
            failpoint::around("mailbox.settle", || mailbox.complete_send(&approved))
        });
        match told.await {
            Ok(told) => told.map_err(|error| match RetryLater::from_source_error(error) {
                Ok(later) => PostSendError::RetryLater(later),
                Err(error) => PostSendError::Failed(error.to_string()),
            }),
            Err(_) => Err(PostSendError::Failed("the mailbox panicked".to_owned())),
        }
    }

    /// Stores that a message was sent and leaves what goes with it for later. A message that was only saved has nothing
    /// that goes with it, so its effect ends.
    async fn defer_post_send(
        &self,
        row: &PendingEffect,
        end: AttemptOutcome,
        later: RetryLater,
        now: Instant,
    ) -> StepResult {
        if end.state != OutboxState::Sent {
            return self.rows.end_effect(row, without_post_send(end, &later.why), now).await;
        }
        if row.state != OutboxState::Settling {
            let mv = row.new_move(OutboxState::Settling, &end.result, now);
            self.rows.store_move(ActionMove { handle: end.handle, ..mv }).await?;
        }
        let pause = Duration::from_std(later.after).unwrap_or(PROBE_INTERVAL).max(PROBE_INTERVAL);
        let reason = format!("sent; what goes with it waits: {}", later.why);
        Ok(EffectStep::Halted(EffectProgress::Deferred { reason, until: now.plus(pause) }))
    }
}

/// Why what goes with a sent message was not done.
enum PostSendError {
    RetryLater(RetryLater),
    Failed(String),
}

/// Returns the outcome of a sent message, with the reason why what goes with it was not done.
fn without_post_send(end: AttemptOutcome, why: &str) -> AttemptOutcome {
    end.with_result_suffix(&format!("{POST_SEND_FAILED}: {why}"))
}
