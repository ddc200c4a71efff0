//! Messages that leave the house: drafted, let go once, and looked for when nobody knows.

use std::sync::{Arc, PoisonError};

use chrono::Duration;

use super::{
    AttemptOutcome, EffectProgress, FORGOTTEN_SEND, NO_MAILBOX, Outbox, PendingEffect, RETRY_INTERVAL,
    apply::RetryLater,
};
use crate::{
    failpoint,
    model::{AccountMode, ActionId, ActionMove, ApprovalUse, Effect, Instant, OutboxState},
    policy::{ApprovedAction, PolicyVerdict, approve_post_send, judge_action},
    source::{AppliedEffect, Mailbox, MessageProbeResult, SendError, SendReceipt},
    store::{self, StoreError},
};

/// After this long in doubt a person is asked.
const DOUBT_TIMEOUT: Duration = Duration::minutes(15);
/// After this long, what goes with a message is given up.
const POST_SEND_TIMEOUT: Duration = Duration::hours(24);
/// The calendar, say, does not know what the message says.
const POST_SEND_FAILED: &str = "what goes with it was not done";
/// After this long without a way to send it, a person is asked.
const UNSENDABLE_TIMEOUT: Duration = Duration::hours(24);
/// Who has waited long is tried again ever more slowly, and at the least this often.
const MAX_BACKOFF: Duration = Duration::minutes(5);
/// Between two looks for a message in doubt.
const PROBE_INTERVAL: Duration = Duration::seconds(30);

impl Outbox {
    /// Stores the draft, then lets it go. Each step is on the disk before the next.
    pub(super) async fn draft_or_send(
        &self,
        row: &PendingEffect,
        approved: Arc<ApprovedAction>,
        now: Instant,
    ) -> store::Result<Option<EffectProgress>> {
        let Some(mailbox) = self.mailbox(&row.action.account) else {
            let state = if row.state == OutboxState::Ready { OutboxState::Failed } else { OutboxState::Void };
            return self.end_effect(row, AttemptOutcome::new(state, NO_MAILBOX), now).await;
        };
        if row.state == OutboxState::Drafted {
            return self.send_draft(row, &row.handle.clone(), mailbox, approved, now).await;
        }
        let approval = if row.approval.is_some() { ApprovalUse::Use } else { ApprovalUse::None };
        let claim = ActionMove { approval, ..Self::new_move(row, OutboxState::Drafting, "drafting", now) };
        match self.store_move(claim).await {
            Err(StoreError::Refused(why)) => {
                return self.end_effect(row, AttemptOutcome::new(OutboxState::Void, &why), now).await;
            }
            outcome => outcome?,
        }
        let drafting = row.moved_to(OutboxState::Drafting);
        let drafted = {
            let (mailbox, approved, tried) = (Arc::clone(&mailbox), Arc::clone(&approved), !row.is_untried);
            let outbox = self.clone();
            call_mailbox_blocking(move || {
                outbox.check_data_folder_before_send()?;
                failpoint::around("mailbox.draft", || mailbox.draft(&approved, tried))
            })
            .await
        };
        match drafted {
            Ok(applied) => {
                let mv = Self::new_move(&drafting, OutboxState::Drafted, &applied.result, now);
                match self.store_move(ActionMove { handle: applied.handle.clone(), ..mv }).await {
                    // A person was faster, and the row does not know of this draft.
                    Err(overtaken @ StoreError::Conflict(_)) => {
                        self.withdraw_draft(row.action.action_id, &applied.handle).await?;
                        Err(overtaken)
                    }
                    // Drafting takes a while: what holds now is read anew before it is let go.
                    outcome => outcome.map(|()| None),
                }
            }
            Err(error) => self.handle_send_error(&drafting, error, now).await,
        }
    }

    async fn send_draft(
        &self,
        row: &PendingEffect,
        draft: &str,
        mailbox: Arc<dyn Mailbox>,
        approved: Arc<ApprovedAction>,
        now: Instant,
    ) -> store::Result<Option<EffectProgress>> {
        // Overtaken when a pause, another mode or a person's word on the task came before: then it is judged anew.
        self.move_to(row, OutboxState::Sending, "sending", now).await?;
        let sending = row.moved_to(OutboxState::Sending);
        let (draft, letting_go) = (draft.to_owned(), Arc::clone(&approved));
        let (outbox, action_id) = (self.clone(), row.action.action_id);
        let attempt = sending.sends_begun;
        let sent = call_mailbox_blocking(move || {
            outbox.check_data_folder_before_send()?;
            // On the disk outside the data folder before the first byte leaves. Where that cannot be, the mailbox was asked.
            match outbox.settings.witness.begin_send(action_id, attempt, now) {
                Ok(true) => {}
                Ok(false) => return Err(SendError::OutcomeUnknown(FORGOTTEN_SEND.into())),
                Err(error) => tracing::warn!(%error, "a send could not be noted in the state folder"),
            }
            failpoint::around("mailbox.send", || mailbox.send_draft(&letting_go, &draft))
        })
        .await;
        match sent {
            Ok(departure) => self.finish_send(&sending, departure_outcome(departure), Some(approved), now).await,
            Err(error) => self.handle_send_error(&sending, error, now).await,
        }
    }

    async fn handle_send_error(
        &self,
        row: &PendingEffect,
        error: SendError,
        now: Instant,
    ) -> store::Result<Option<EffectProgress>> {
        match error {
            SendError::Refused(why) => self.end_effect(row, AttemptOutcome::new(OutboxState::Failed, &why), now).await,
            SendError::DraftEdited => {
                let why = "the draft was changed by somebody else: it is theirs to send";
                self.end_effect(row, AttemptOutcome::new(OutboxState::Void, why), now).await
            }
            SendError::DoneByPerson(why) => {
                self.end_effect(row, AttemptOutcome::new(OutboxState::Void, &why), now).await
            }
            SendError::RetryLater { why, .. } if row.is_in_doubt_for(UNSENDABLE_TIMEOUT, now) => {
                let why = format!("it could not be sent for {} hours: {why}", UNSENDABLE_TIMEOUT.num_hours());
                self.end_effect(row, AttemptOutcome::new(OutboxState::Failed, &why), now).await
            }
            SendError::RetryLater { why, after, may_have_draft: drafted } => {
                let back = if row.state == OutboxState::Drafting {
                    self.rate_windows.lock().unwrap_or_else(PoisonError::into_inner).release(&row.action, &row.sender);
                    let untried = row.is_untried && !drafted;
                    let mv = Self::new_move(row, OutboxState::Ready, &why, now);
                    ActionMove { approval: ApprovalUse::Return, untried, ..mv }
                } else {
                    Self::new_move(row, OutboxState::Drafted, &why, now)
                };
                self.store_move(back).await?;
                Ok(Some(RetryLater { why, after: after.max(row.retry_backoff(now)) }.into_progress(now)))
            }
            // It is looked for at once, where it is looked for at all.
            SendError::OutcomeUnknowable(why) => {
                self.move_to(row, OutboxState::Unknown, &why, now).await.map(|()| None)
            }
            SendError::OutcomeUnknown(why) => {
                self.move_to(row, OutboxState::Unknown, &why, now).await?;
                Ok(Some(EffectProgress::Deferred {
                    reason: format!("looking whether it was sent: {why}"),
                    until: now.plus(RETRY_INTERVAL),
                }))
            }
        }
    }

    /// A message that will not leave needs no draft in the mailbox. `draft`: one that is not written down in its row.
    pub(super) async fn withdraw_draft(&self, action_id: ActionId, draft: &str) -> store::Result<()> {
        let row = self.load_pending(action_id)?;
        let draft = if draft.is_empty() { row.handle.clone() } else { draft.to_owned() };
        // One that was tried may have a draft nobody has heard of.
        let drafted = matches!(row.action.effect, Effect::Send { .. }) && (!draft.is_empty() || !row.is_untried);
        let may = drafted && row.mode == AccountMode::Active && self.hold_reason(&row).is_none();
        let Some(mailbox) = may.then(|| self.mailbox(&row.action.account)).flatten() else { return Ok(()) };
        let withdraw = move || failpoint::around("mailbox.withdraw", || mailbox.discard_draft(&row.action, &draft));
        if let Ok(Err(error)) = tokio::task::spawn_blocking(withdraw).await {
            tracing::warn!(%error, "the draft of a message that will not leave could not be thrown away");
        }
        Ok(())
    }

    /// Whether sending it was begun more often than the database knows. Only a witness that can be read says so.
    pub(super) fn has_forgotten_send(&self, row: &PendingEffect) -> bool {
        let sends = matches!(row.action.effect, Effect::Send { .. });
        sends
            && self.settings.witness.count_begun_sends(row.action.action_id).is_ok_and(|begun| begun > row.sends_begun)
    }

    /// Looks for a message nobody knows the fate of.
    pub(super) async fn probe(&self, row: &PendingEffect, now: Instant) -> store::Result<Option<EffectProgress>> {
        let Some(mailbox) = self.mailbox(&row.action.account) else {
            return self.retry_probe_or_escalate(row, NO_MAILBOX, now).await;
        };
        let (action, draft) = (row.action.clone(), row.handle.clone());
        let found = call_mailbox_blocking(move || {
            let found = failpoint::around("mailbox.find", || mailbox.find(&action, &draft));
            found.map_err(|error| SendError::OutcomeUnknown(error.to_string()))
        });
        match found.await {
            Err(error) => self.retry_probe_or_escalate(row, &error.to_string(), now).await,
            Ok(MessageProbeResult::SentOrSaved(departure)) => {
                self.finish_send(row, departure_outcome(departure), None, now).await
            }
            // A draft, or nothing at all, may be as old as the database.
            Ok(_) if self.has_forgotten_send(row) => {
                let why =
                    format!("nobody knows whether it was sent: {FORGOTTEN_SEND}, and it is not among the sent mails");
                self.end_effect(row, AttemptOutcome::new(OutboxState::NeedsHuman, &why), now).await
            }
            Ok(MessageProbeResult::Draft(applied)) => {
                let mv = Self::new_move(row, OutboxState::Drafted, &applied.result, now);
                self.store_move(ActionMove { handle: applied.handle, ..mv }).await.map(|()| None)
            }
            Ok(MessageProbeResult::Absent) => {
                let mv = Self::new_move(row, OutboxState::Ready, "it was certainly not sent", now);
                self.store_move(ActionMove { approval: ApprovalUse::Return, ..mv }).await.map(|()| None)
            }
            Ok(MessageProbeResult::OutcomeUnknown(why)) => self.retry_probe_or_escalate(row, &why, now).await,
            Ok(MessageProbeResult::OutcomeUnknowable) => {
                self.end_effect(row, AttemptOutcome::new(OutboxState::NeedsHuman, &unknown_fate_text(&row.result)), now)
                    .await
            }
        }
    }

    /// The end of a message that has left, after what goes with it. Should the program die before that, the message is
    /// looked for and found; when the mailbox asks for patience, that it has left is written down and the rest is done
    /// later. Whatever becomes of the rest, it was sent. `approved` is the yes, where the asker has it at hand.
    pub(super) async fn finish_send(
        &self,
        row: &PendingEffect,
        end: AttemptOutcome,
        approved: Option<Arc<ApprovedAction>>,
        now: Instant,
    ) -> store::Result<Option<EffectProgress>> {
        let not_done = |end: AttemptOutcome, why: &str| append_result(end, &format!("{POST_SEND_FAILED}: {why}"));
        let Some(mailbox) = self.mailbox(&row.action.account) else {
            return self.end_effect(row, not_done(end, NO_MAILBOX), now).await;
        };
        if let Some(why) = self.hold_reason(row).filter(|_| approved.is_none()) {
            return self.defer_post_send(row, end, RetryLater { why, after: std::time::Duration::ZERO }, now).await;
        }
        let approved = match approved.map_or_else(|| self.approval_for_post_send(row, now).map(Arc::from), Ok) {
            Ok(approved) => approved,
            Err(why) => return self.end_effect(row, not_done(end, why), now).await,
        };
        let outbox = self.clone();
        let told = tokio::task::spawn_blocking(move || {
            outbox.check_data_folder()?;
            failpoint::around("mailbox.settle", || mailbox.complete_send(&approved))
        });
        let end = match told.await.map(|told| told.map_err(RetryLater::from_source_error)) {
            Ok(Ok(None)) => end,
            Ok(Ok(Some(told))) => append_result(end, &told),
            Ok(Err(Ok(later))) if !row.is_in_doubt_for(POST_SEND_TIMEOUT, now) => {
                return self.defer_post_send(row, end, later, now).await;
            }
            Ok(Err(Ok(RetryLater { why, .. }))) => not_done(end, &why),
            Ok(Err(Err(error))) => not_done(end, &error.to_string()),
            Err(_) => not_done(end, "the mailbox panicked"),
        };
        self.end_effect(row, end, now).await
    }

    /// What was only saved has nothing that goes with it.
    async fn defer_post_send(
        &self,
        row: &PendingEffect,
        end: AttemptOutcome,
        later: RetryLater,
        now: Instant,
    ) -> store::Result<Option<EffectProgress>> {
        if end.state != OutboxState::Sent {
            return self.end_effect(row, append_result(end, &format!("{POST_SEND_FAILED}: {}", later.why)), now).await;
        }
        if row.state != OutboxState::Settling {
            let mv = Self::new_move(row, OutboxState::Settling, &end.result, now);
            self.store_move(ActionMove { handle: end.handle, ..mv }).await?;
        }
        let pause = Duration::from_std(later.after).unwrap_or(PROBE_INTERVAL).max(PROBE_INTERVAL);
        let reason = format!("sent; what goes with it waits: {}", later.why);
        Ok(Some(EffectProgress::Deferred { reason, until: now.plus(pause) }))
    }

    /// The yes that a message has left under, as far as it allows what goes with it now.
    fn approval_for_post_send(&self, row: &PendingEffect, now: Instant) -> Result<Box<ApprovedAction>, &'static str> {
        if row.mode != AccountMode::Active {
            return Err("the account is not to be touched now");
        }
        if !row.intact {
            return Err("its stored bytes do not match their digest");
        }
        if let Some(approval) = &row.approval {
            return approve_post_send(row.action.clone(), row.class, approval).ok_or("it was approved otherwise");
        }
        let charter = self.policy();
        match judge_action(row.action.clone(), &self.policy_context(row, None, &charter, now)) {
            PolicyVerdict::Allowed(approved) => Ok(approved),
            _ => Err("it would need another yes"),
        }
    }

    async fn retry_probe_or_escalate(
        &self,
        row: &PendingEffect,
        why: &str,
        now: Instant,
    ) -> store::Result<Option<EffectProgress>> {
        if row.is_in_doubt_for(DOUBT_TIMEOUT, now) {
            return self
                .end_effect(row, AttemptOutcome::new(OutboxState::NeedsHuman, &unknown_fate_text(why)), now)
                .await;
        }
        self.move_to(row, OutboxState::Unknown, why, now).await?;
        Ok(Some(EffectProgress::Deferred {
            reason: format!("looking whether it was sent: {why}"),
            until: now.plus(PROBE_INTERVAL),
        }))
    }
}

impl PendingEffect {
    fn is_in_doubt_for(&self, time: Duration, now: Instant) -> bool {
        self.doubt_since.is_some_and(|since| since.plus(time) <= now)
    }

    /// A quarter of the time it has waited already.
    fn retry_backoff(&self, now: Instant) -> std::time::Duration {
        let waited = self.doubt_since.map_or(Duration::zero(), |since| now.utc() - since.utc());
        (waited / 4).min(MAX_BACKOFF).to_std().unwrap_or_default()
    }

    /// The same row one move later.
    fn moved_to(&self, state: OutboxState) -> Self {
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
}

impl AttemptOutcome {
    /// Of a message that is known to have left.
    pub(super) fn already_sent(row: &PendingEffect) -> Self {
        Self { handle: row.handle.clone(), ..Self::new(OutboxState::Sent, &row.result) }
    }
}

fn unknown_fate_text(why: &str) -> String {
    format!("nobody knows whether it was sent: {why}")
}

/// "Sent" means that a transport has accepted it.
fn departure_outcome(departure: SendReceipt) -> AttemptOutcome {
    let (state, AppliedEffect { handle, result }) = match departure {
        SendReceipt::Sent(applied) => (OutboxState::Sent, applied),
        SendReceipt::Saved(applied) => (OutboxState::Saved, applied),
    };
    AttemptOutcome { handle, ..AttemptOutcome::new(state, &result) }
}

fn append_result(end: AttemptOutcome, told: &str) -> AttemptOutcome {
    AttemptOutcome { result: format!("{}; {told}", end.result), ..end }
}

/// A mailbox may take its time; the other runs go on. One that panics has perhaps done it.
async fn call_mailbox_blocking<T: Send + 'static>(
    call: impl FnOnce() -> Result<T, SendError> + Send + 'static,
) -> Result<T, SendError> {
    let outcome = tokio::task::spawn_blocking(call).await;
    outcome.unwrap_or_else(|_| Err(SendError::OutcomeUnknown("the mailbox panicked".into())))
}
