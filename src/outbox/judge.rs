//! Whether an effect may be begun now: what holds it back, the verdict of the policy, and its place in the rate windows.

use std::sync::{Arc, Mutex, PoisonError};

use super::{
    OutboxSettings, RETRY_INTERVAL,
    caps::RateWindows,
    pending_effect::{AttemptOutcome, PendingEffect},
};
use crate::{
    model::{AccountMode, ActionId, Instant, Mail, OutboxState, RiskClass},
    policy::{ApprovedAction, EffectPolicy, PolicyContext, PolicyVerdict, approve_post_send, judge_action},
    source::{SendError, SourceError},
};

/// A data folder that was replaced does not come back; the process is about to stop.
const AFTER_REPLACED: std::time::Duration = std::time::Duration::from_secs(60);
/// The witness outside the data folder knows of a send that the database does not know.
pub(super) const FORGOTTEN_SEND: &str = "its sending was begun before the data were put back from a copy";
const DIGEST_MISMATCH: &str = "its stored bytes do not match their digest";

#[derive(Clone)]
pub(super) struct EffectJudge {
    pub(super) settings: Arc<OutboxSettings>,
    rate_windows: Arc<Mutex<RateWindows>>,
}

/// What is to be done about an effect now.
pub(super) enum EffectDecision {
    /// It is carried out. It has its place in the rate windows.
    CarryOut(Box<ApprovedAction>),
    Defer {
        reason: String,
        until: Instant,
    },
    /// It ends without being carried out.
    End(AttemptOutcome),
    /// It may have happened already, and is looked for.
    Doubt(&'static str),
}

impl EffectJudge {
    pub(super) fn new(settings: OutboxSettings, rate_windows: RateWindows) -> Self {
        Self { settings: Arc::new(settings), rate_windows: Arc::new(Mutex::new(rate_windows)) }
    }

    pub(super) fn policy(&self) -> Arc<EffectPolicy> {
        Arc::clone(&self.settings.policy.borrow())
    }

    /// Judges an effect as if it were new, whoever planned it.
    pub(super) fn decide(&self, row: &PendingEffect, mail: Option<&Mail>, now: Instant) -> EffectDecision {
        self.find_obstacle(row, now).unwrap_or_else(|| self.judge_by_policy(row, mail, now))
    }

    /// Returns what is to be done about an effect that is not to be carried out now, whatever the policy says.
    fn find_obstacle(&self, row: &PendingEffect, now: Instant) -> Option<EffectDecision> {
        if let Some(reason) = self.hold_reason(row) {
            return Some(EffectDecision::Defer { reason, until: now.plus(RETRY_INTERVAL) });
        }
        if row.is_obsolete {
            return Some(end_without_effect(OutboxState::Void, "the task has ended or was changed"));
        }
        if !row.intact {
            return Some(end_without_effect(OutboxState::Void, DIGEST_MISMATCH));
        }
        self.has_forgotten_send(row).then_some(EffectDecision::Doubt(FORGOTTEN_SEND))
    }

    fn judge_by_policy(&self, row: &PendingEffect, mail: Option<&Mail>, now: Instant) -> EffectDecision {
        let policy = self.policy();
        match judge_action(row.action.clone(), &self.policy_context(row, mail, &policy, now)) {
            PolicyVerdict::Allowed(approved) => self.take_place(row, approved, &policy, now),
            // A person said yes and it did not happen: they are asked again, not left to find out.
            PolicyVerdict::NeedsApproval { reason, .. } if row.was_approved_and_not_begun(self.settings.epoch) => {
                let result = format!("you approved it, but it was not carried out: {reason}");
                end_without_effect(OutboxState::Failed, &result)
            }
            PolicyVerdict::Withheld { reason, .. } if row.state == OutboxState::Ready => {
                end_without_effect(OutboxState::Withheld, &reason)
            }
            PolicyVerdict::NeedsApproval { reason, .. }
            | PolicyVerdict::Withheld { reason, .. }
            | PolicyVerdict::Denied { reason } => end_without_effect(OutboxState::Void, &reason),
        }
    }

    /// Takes a place in the rate windows for an effect that is begun. One that was begun before has its place.
    fn take_place(
        &self,
        row: &PendingEffect,
        approved: Box<ApprovedAction>,
        policy: &EffectPolicy,
        now: Instant,
    ) -> EffectDecision {
        if row.state == OutboxState::Ready {
            let mut windows = self.rate_windows.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(over) = windows.try_acquire(&row.action, &row.sender, &policy.caps, now) {
                return EffectDecision::Defer { reason: over.reason, until: over.until };
            }
        }
        EffectDecision::CarryOut(approved)
    }

    /// Gives the place of an effect back: nothing came of it.
    pub(super) fn release_place(&self, row: &PendingEffect) {
        self.rate_windows.lock().unwrap_or_else(PoisonError::into_inner).release(&row.action, &row.sender);
    }

    /// Returns the approval under which a message has left, as far as it allows what goes with it now; else why not.
    pub(super) fn approve_post_send(
        &self,
        row: &PendingEffect,
        now: Instant,
    ) -> Result<Box<ApprovedAction>, &'static str> {
        if row.mode != AccountMode::Active {
            return Err("the account is not to be touched now");
        }
        if !row.intact {
            return Err(DIGEST_MISMATCH);
        }
        if let Some(approval) = &row.approval {
            return approve_post_send(row.action.clone(), row.class, approval).ok_or("it was approved otherwise");
        }
        let policy = self.policy();
        match judge_action(row.action.clone(), &self.policy_context(row, None, &policy, now)) {
            PolicyVerdict::Allowed(approved) => Ok(approved),
            _ => Err("it would need another yes"),
        }
    }

    /// Returns an approval to take an effect back, if the account may be touched now.
    pub(super) fn approve_undo(&self, row: &PendingEffect, now: Instant) -> Option<Box<ApprovedAction>> {
        let policy = self.policy();
        let context =
            PolicyContext { is_phishing: false, approval: None, ..self.policy_context(row, None, &policy, now) };
        match judge_action(row.action.clone(), &context) {
            PolicyVerdict::Allowed(approved) => Some(approved),
            _ => None,
        }
    }

    fn policy_context<'a>(
        &'a self,
        row: &'a PendingEffect,
        mail: Option<&'a Mail>,
        policy: &'a EffectPolicy,
        now: Instant,
    ) -> PolicyContext<'a> {
        PolicyContext {
            mode: row.mode,
            mail: mail.or(row.mail.as_ref()),
            labels: &self.settings.labels,
            is_phishing: row.phishing,
            own: &self.settings.own,
            policy,
            approval: row.approval.as_ref(),
            epoch: self.settings.epoch,
            restored_at: self.settings.restored_at,
            now,
        }
    }

    /// Whether its sending was begun more often than the database knows. Only a witness that can be read says so.
    pub(super) fn has_forgotten_send(&self, row: &PendingEffect) -> bool {
        let count_begun = || self.settings.witness.count_begun_sends(row.action.action_id);
        row.is_message() && count_begun().is_ok_and(|begun| begun > row.sends_begun)
    }

    /// Notes a send on the disk outside the data folder, before its first byte leaves. Where that cannot be noted, the
    /// send goes on: the mailbox was asked whether the message left before.
    pub(super) fn note_send_begins(&self, action_id: ActionId, attempt: u32, now: Instant) -> Result<(), SendError> {
        match self.settings.witness.begin_send(action_id, attempt, now) {
            Ok(true) => {}
            Ok(false) => return Err(SendError::OutcomeUnknown(FORGOTTEN_SEND.into())),
            Err(error) => tracing::warn!(%error, "a send could not be noted in the state folder"),
        }
        Ok(())
    }

    /// Returns why nothing may be begun for this effect now: a replaced data folder, a pause or a broken policy. Returns
    /// none when something may.
    pub(super) fn hold_reason(&self, row: &PendingEffect) -> Option<String> {
        if let Err(replaced) = self.settings.open_files.check() {
            return Some(replaced.to_string());
        }
        if row.paused {
            // Read after the pause as well, until it is tried again.
            return Some("was paused".to_owned());
        }
        (row.class != RiskClass::R0 && self.policy().is_broken).then(|| EffectPolicy::BROKEN.to_owned())
    }

    /// Checks, right before something is done outside the database, that the database is still the one of this home:
    /// what is done under a deleted one would be in no ledger.
    pub(super) fn check_data_folder(&self) -> Result<(), SourceError> {
        let replaced = self.settings.open_files.check();
        replaced.map_err(|replaced| SourceError::RetryLater { problem: replaced.to_string(), after: AFTER_REPLACED })
    }

    /// Checks the same for a message, of which nothing has left.
    pub(super) fn check_data_folder_before_send(&self) -> Result<(), SendError> {
        let replaced = self.settings.open_files.check();
        replaced.map_err(|replaced| SendError::RetryLater {
            why: replaced.to_string(),
            after: AFTER_REPLACED,
            may_have_draft: false,
        })
    }
}

fn end_without_effect(state: OutboxState, reason: &str) -> EffectDecision {
    EffectDecision::End(AttemptOutcome::new(state, reason))
}
