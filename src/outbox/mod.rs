//! Carries effects out: a row of the outbox is judged again, carried out, and its outcome is stored.
//!
//! The states are `planned → parked | ready → drafting → drafted → sending → sent`, or `unknown → probe → …` when
//! nobody knows whether a message was sent. `held` is the grace after an approval. `sending` is committed before the
//! first byte leaves; an effect of unknown outcome is probed, not repeated. In `settling` a message has certainly been
//! sent, and what goes with it (for example the calendar event) is still to be done.
//!
//! [`Outbox`] takes one step of this state machine after the other. `OutboxRows` reads rows and stores their
//! transitions, `EffectJudge` decides whether an effect may be begun, `MessageSender` and `EffectApplier` call the
//! mailbox.
//!
//! No effect is carried out without a row, without being judged right before it, or a second time on a guess.

mod apply;
mod caps;
mod effect_lock;
mod judge;
mod mailboxes;
mod pending_effect;
mod post_send;
mod probe;
mod rows;
mod send;

use std::{path::PathBuf, sync::Arc};

use chrono::Duration;
use tokio::sync::watch;

use crate::{
    model::{AccountId, ActionId, ActionMove, Actor, Instant, Mail, NewAction, OutboxState},
    policy::{ApprovedAction, EffectPolicy},
    source::{Busy, CalendarEvent, Mailbox, SourceError},
    store::{Result, Store, StoreError},
    witness::{OpenFiles, Witness},
};
use apply::EffectApplier;
use caps::RateWindows;
use effect_lock::EffectLocks;
use judge::{EffectDecision, EffectJudge};
use mailboxes::Mailboxes;
use pending_effect::{AttemptOutcome, PendingEffect};
use rows::OutboxRows;
use send::MessageSender;

/// Retry interval while an effect is paused or locked.
const RETRY_INTERVAL: Duration = Duration::seconds(2);

/// What the outbox needs besides the store.
#[derive(Clone)]
pub struct OutboxSettings {
    /// The folder `data/files`, in which [`crate::model::Effect::CreateFolder`] creates folders.
    pub files: PathBuf,
    /// The labels that the person configured.
    pub labels: Vec<String>,
    /// The person's own addresses.
    pub own: Vec<String>,
    /// The newest policy. Every effect is judged by the one that holds when it is begun.
    pub policy: watch::Receiver<Arc<EffectPolicy>>,
    /// The epoch of the data folder. An approval of an earlier epoch is void.
    pub epoch: i64,
    /// When the data folder was last restored from a backup, if it ever was.
    pub restored_at: Option<Instant>,
    /// The record, outside the data folder, of every send that was begun. It survives a restore of the data.
    pub witness: Witness,
    /// The files of the data folder that this process has open. Nothing is done outside the database once they were
    /// replaced on the disk.
    pub open_files: OpenFiles,
}

/// The entry point for carrying effects out. Clones are cheap and share all state.
#[derive(Clone)]
pub struct Outbox {
    rows: OutboxRows,
    judge: EffectJudge,
    mailboxes: Mailboxes,
    applier: EffectApplier,
    sender: MessageSender,
    locks: EffectLocks,
}

/// How far an effect has come when [`Outbox::carry_out`] returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectProgress {
    /// The row is in a state in which the outbox does nothing more. The text is its result.
    Ended(OutboxState, String),
    /// The effect has not ended, because of `reason`, and is to be taken up again at `until`.
    Deferred { reason: String, until: Instant },
}

/// The result of one step of the state machine.
enum EffectStep {
    /// The row is in another state, and is read again for the next step.
    Moved,
    /// Nothing more can be done for the effect now.
    Halted(EffectProgress),
    /// The effect was carried out. The transition to its final state is not stored yet.
    Ended(Box<ActionMove>),
}

type StepResult = Result<EffectStep>;

impl Outbox {
    /// Opens the outbox. The rate windows are filled from the effects of the last hour, so that a restart does not lift
    /// the caps.
    pub fn new(store: Store, setting: OutboxSettings, now: Instant) -> Result<Self> {
        let mut windows = RateWindows::default();
        for (_, sender, at, action) in
            store.read_blocking(|reader| reader.outbox().finished_since(now.plus(-caps::LONGEST_WINDOW)))?
        {
            windows.count_past_effect(&action, sender, at, now);
        }
        let (rows, judge, mailboxes) =
            (OutboxRows::new(store), EffectJudge::new(setting, windows), Mailboxes::default());
        Ok(Self {
            applier: EffectApplier { rows: rows.clone(), judge: judge.clone(), mailboxes: mailboxes.clone() },
            sender: MessageSender { rows: rows.clone(), judge: judge.clone(), mailboxes: mailboxes.clone() },
            rows,
            judge,
            mailboxes,
            locks: EffectLocks::default(),
        })
    }

    /// Sets the mailbox of an account. Until it is set, messages and mailbox effects of the account fail.
    pub fn register_mailbox(&self, account: AccountId, mailbox: Arc<dyn Mailbox>) {
        self.mailboxes.register(account, mailbox);
    }

    pub fn policy(&self) -> Arc<EffectPolicy> {
        self.judge.policy()
    }

    /// Returns the epoch, and when the data was last restored, if it was.
    pub fn epoch(&self) -> (i64, Option<Instant>) {
        (self.judge.settings.epoch, self.judge.settings.restored_at)
    }

    /// Returns when the person is busy; none when the account has no calendar.
    pub async fn busy(
        &self,
        account: &AccountId,
        from: Instant,
        to: Instant,
    ) -> std::result::Result<Option<Vec<Busy>>, SourceError> {
        self.mailboxes.busy(account, from, to).await
    }

    /// Returns the events that the calendar has under the UID of an invitation; none when the account has no calendar.
    pub async fn invited(
        &self,
        account: &AccountId,
        uid: String,
    ) -> std::result::Result<Option<Vec<CalendarEvent>>, SourceError> {
        self.mailboxes.invited(account, uid).await
    }

    /// Undoes an effect of class R1. Returns what was done, as text for a person.
    pub async fn undo(&self, action_id: ActionId, now: Instant) -> anyhow::Result<String> {
        self.applier.undo(action_id, Actor::Person, now).await
    }

    /// Throws a draft away that nobody needs any more, because the conversation ended its task. A draft that a person
    /// has changed stays.
    pub async fn discard_draft(&self, action_id: ActionId, now: Instant) -> anyhow::Result<String> {
        self.applier.undo(action_id, Actor::Outbox, now).await
    }

    /// Throws away the draft that a voided effect may have left in the mailbox before its row could say so. Does nothing
    /// while the effect is under way or the mailbox must not be touched; it is then tried again later.
    pub async fn discard_unrecorded_draft(&self, action_id: ActionId) -> Result<()> {
        let Some(_lock) = self.locks.try_lock(action_id) else { return Ok(()) };
        if self.sender.withdraw_draft(action_id, "").await? {
            self.rows.end_draft_cleanup(action_id).await?;
        }
        Ok(())
    }

    /// Carries an effect out and stores its outcome; an effect that has ended is only reported. `planned` is the row as
    /// it was just stored, if the caller still has it, and `mail` is the mail that caused it. Calling it again after a
    /// crash is safe.
    pub async fn carry_out(
        &self,
        action_id: ActionId,
        planned: Option<&NewAction>,
        mail: Option<&Mail>,
        now: Instant,
    ) -> Result<EffectProgress> {
        let (progress, last_move) = self.carry_out_returning_last_move(action_id, planned, mail, now).await?;
        if let Some(last_move) = last_move {
            self.rows.store_move(*last_move).await?;
        }
        Ok(progress)
    }

    /// Does the same, but returns the last transition of an effect other than a message instead of storing it: the
    /// caller stores it together with the checkpoint that depends on it. Until then the row is `ready`, and whoever
    /// resumes it probes first.
    pub async fn carry_out_returning_last_move(
        &self,
        action_id: ActionId,
        planned: Option<&NewAction>,
        mail: Option<&Mail>,
        now: Instant,
    ) -> Result<(EffectProgress, Option<Box<ActionMove>>)> {
        let Some(_lock) = self.locks.try_lock(action_id) else {
            let (reason, until) = ("it is under way".into(), now.plus(RETRY_INTERVAL));
            return Ok((EffectProgress::Deferred { reason, until }, None));
        };
        let mut pending = planned.map(|planned| self.rows.pending_from_plan(planned)).transpose()?;
        loop {
            let row = match pending.take() {
                Some(row) => row,
                None => self.rows.load_pending(action_id)?,
            };
            let (progress, last_move) = match self.advance_state(&row, mail, now).await {
                Ok(EffectStep::Halted(progress)) => (progress, None),
                Ok(EffectStep::Ended(mv)) => (EffectProgress::Ended(mv.to, mv.result.clone()), Some(mv)),
                // On a conflict a person changed the row first: it is read again, and what they decided counts.
                Ok(EffectStep::Moved) | Err(StoreError::Conflict(_)) => continue,
                Err(error) => return Err(error),
            };
            if let EffectProgress::Ended(OutboxState::Void | OutboxState::Failed, _) = progress {
                self.sender.withdraw_draft(action_id, "").await?;
            }
            return Ok((progress, last_move));
        }
    }

    /// Takes the one step that the state of the row calls for.
    async fn advance_state(&self, row: &PendingEffect, mail: Option<&Mail>, now: Instant) -> StepResult {
        match row.state {
            OutboxState::Held => match row.grace_period {
                // An approval in the future means that the clock was set back. The grace is not waited for a second
                // time.
                Some((approved_at, until)) if approved_at <= now && now < until => {
                    let reason = "approved; you can still take it back".into();
                    Ok(EffectStep::Halted(EffectProgress::Deferred { reason, until }))
                }
                _ => self.rows.advance(row, OutboxState::Ready, "released", now).await,
            },
            // Nothing was sent. The draft is stored under an id derived from the action, so storing it again is
            // idempotent.
            OutboxState::Drafting => {
                self.rows.store_step(row.move_back_to_ready("interrupted while drafting", now)).await
            }
            OutboxState::Sending => {
                self.rows.advance(row, OutboxState::Unknown, "interrupted while sending", now).await
            }
            OutboxState::Unknown => self.rows.advance(row, OutboxState::Probe, &row.result, now).await,
            OutboxState::Probe => self.sender.probe(row, now).await,
            OutboxState::Settling => self.sender.finish_send(row, AttemptOutcome::already_sent(row), None, now).await,
            OutboxState::Ready | OutboxState::Drafted => self.judge_and_attempt(row, mail, now).await,
            ended => Ok(EffectStep::Halted(EffectProgress::Ended(ended, row.result.clone()))),
        }
    }

    /// Judges the effect by the policy, the caps and the state of its task, and carries it out if it may be.
    async fn judge_and_attempt(&self, row: &PendingEffect, mail: Option<&Mail>, now: Instant) -> StepResult {
        match self.judge.decide(row, mail, now) {
            EffectDecision::CarryOut(approved) if row.is_message() => {
                self.sender.draft_or_send(row, Arc::from(approved), now).await
            }
            EffectDecision::CarryOut(approved) => self.apply(row, approved, now).await,
            EffectDecision::Defer { reason, until } => {
                Ok(EffectStep::Halted(EffectProgress::Deferred { reason, until }))
            }
            EffectDecision::End(outcome) => self.rows.end_effect(row, outcome, now).await,
            EffectDecision::Doubt(why) => self.rows.advance(row, OutboxState::Unknown, why, now).await,
        }
    }

    /// Applies an effect that is not a message. If it must be retried, its place in the rate windows is released.
    async fn apply(&self, row: &PendingEffect, approved: Box<ApprovedAction>, now: Instant) -> StepResult {
        match self.applier.apply_effect(approved, row.is_untried).await? {
            Ok(end) => Ok(EffectStep::Ended(Box::new(row.final_move(end, now)))),
            Err(later) => {
                self.judge.release_place(row);
                Ok(EffectStep::Halted(later.into_progress(now)))
            }
        }
    }
}
