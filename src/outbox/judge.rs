//! Decides whether an effect may be begun now: what holds it back, the verdict of the policy, and its place in the rate
//! windows.
//!
//! Nothing in here changes a mailbox or a row. What cannot be read or verified counts against the effect.

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

/// The retry interval after the data folder was replaced. It does not come back; the process is about to stop.
const AFTER_REPLACED: std::time::Duration = std::time::Duration::from_secs(60);
/// The result of an effect when the witness knows of a send of it that the database does not know.
pub(super) const FORGOTTEN_SEND: &str = "its sending was begun before the data were put back from a copy";
/// The result of an effect whose row was changed outside the program or by a fault of the disk.
const DIGEST_MISMATCH: &str = "its stored bytes do not match their digest";

/// Judges effects. Clones share the settings and the rate windows.
#[derive(Clone)]
pub(super) struct EffectJudge {
    pub(super) settings: Arc<OutboxSettings>,
    rate_windows: Arc<Mutex<RateWindows>>,
}

/// What to do about an effect now.
pub(super) enum EffectDecision {
    /// Carry it out. Its place in the rate windows is taken.
    CarryOut(Box<ApprovedAction>),
    /// Try it again at `until`.
    Defer { reason: String, until: Instant },
    /// End it without carrying it out.
    End(AttemptOutcome),
    /// Probe it first, because it may have happened already.
    Doubt(&'static str),
}

impl EffectJudge {
    pub(super) fn new(settings: OutboxSettings, rate_windows: RateWindows) -> Self {
        Self { settings: Arc::new(settings), rate_windows: Arc::new(Mutex::new(rate_windows)) }
    }

    pub(super) fn policy(&self) -> Arc<EffectPolicy> {
        Arc::clone(&self.settings.policy.borrow())
    }

    /// Judges an effect as if it were new, whoever planned or approved it.
    pub(super) fn decide(&self, row: &PendingEffect, mail: Option<&Mail>, now: Instant) -> EffectDecision {
        self.find_obstacle(row, now).unwrap_or_else(|| self.judge_by_policy(row, mail, now))
    }

    /// Returns the decision about an effect that must not be carried out now, whatever the policy says; none when
    /// nothing is in the way.
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

    /// Returns the decision by the policy that holds now, which may be another than the one at planning time.
    fn judge_by_policy(&self, row: &PendingEffect, mail: Option<&Mail>, now: Instant) -> EffectDecision {
        let policy = self.policy();
        match judge_action(row.action.clone(), &self.policy_context(row, mail, &policy, now)) {
            PolicyVerdict::Allowed(approved) => self.take_place(row, approved, &policy, now),
            // A person approved it and it did not happen. The effect fails, so that they are asked again instead of
            // finding out.
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

    /// Takes a place in the rate windows for an effect that is begun. A `drafted` message has its place already.
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

    /// Releases the place of an effect that was not carried out.
    pub(super) fn release_place(&self, row: &PendingEffect) {
        self.rate_windows.lock().unwrap_or_else(PoisonError::into_inner).release(&row.action, &row.sender);
    }

    /// Returns the approval for what goes with a sent message, or the reason why it may not be done now. The approval
    /// of the message covers it; without one the policy is asked.
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

    /// Returns an approval to undo an effect, if the account may be touched now. A phishing warning does not stand in
    /// the way of undoing.
    pub(super) fn approve_undo(&self, row: &PendingEffect, now: Instant) -> Option<Box<ApprovedAction>> {
        let policy = self.policy();
        let context =
            PolicyContext { is_phishing: false, approval: None, ..self.policy_context(row, None, &policy, now) };
        match judge_action(row.action.clone(), &context) {
            PolicyVerdict::Allowed(approved) => Some(approved),
            _ => None,
        }
    }

    /// Returns what the policy sees. The mail of the caller is preferred over the stored one, which saves a read.
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

    /// Returns whether the witness knows of more begun sends than the row: then the database is older than the send. A
    /// witness that cannot be read says nothing.
    pub(super) fn has_forgotten_send(&self, row: &PendingEffect) -> bool {
        let count_begun = || self.settings.witness.count_begun_sends(row.action.action_id);
        row.is_message() && count_begun().is_ok_and(|begun| begun > row.sends_begun)
    }

    /// Notes on the disk, outside the data folder, that a send begins, before its first byte leaves. A note that cannot
    /// be written is logged and does not stop the send, because the mailbox looks for an earlier send of the message
    /// anyway.
    pub(super) fn note_send_begins(&self, action_id: ActionId, attempt: u32, now: Instant) -> Result<(), SendError> {
        match self.settings.witness.begin_send(action_id, attempt, now) {
            Ok(true) => {}
            Ok(false) => return Err(SendError::OutcomeUnknown(FORGOTTEN_SEND.into())),
            Err(error) => tracing::warn!(%error, "a send could not be noted in the state folder; it goes on"),
        }
        Ok(())
    }

    /// Returns why nothing may be begun for this effect now: a replaced data folder, a pause or a broken policy.
    /// Returns none when nothing holds it.
    pub(super) fn hold_reason(&self, row: &PendingEffect) -> Option<String> {
        if let Err(replaced) = self.settings.open_files.check() {
            return Some(replaced.to_string());
        }
        if row.paused {
            // In the past tense, because the reason is still shown after the pause, until the next try.
            return Some("was paused".to_owned());
        }
        (row.class != RiskClass::R0 && self.policy().is_broken).then(|| EffectPolicy::BROKEN.to_owned())
    }

    /// Checks, right before an effect outside the database, that the open database is still the one on the disk. What
    /// is done under a deleted database would be recorded nowhere.
    pub(super) fn check_data_folder(&self) -> Result<(), SourceError> {
        let replaced = self.settings.open_files.check();
        replaced.map_err(|replaced| SourceError::RetryLater { problem: replaced.to_string(), after: AFTER_REPLACED })
    }

    /// Checks the same before a draft or a send, and reports that nothing was sent.
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
