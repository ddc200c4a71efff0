//! Carrying effects out: a row is judged again, done, and its end is written. Never done twice, never done unjudged.
//!
//! `planned → parked | ready → drafting → drafted → sending → sent`, or `unknown → probe → …`; `held` is the grace after
//! a yes. `sending` is on the disk before the first byte leaves; what is in doubt is looked for, not repeated. In
//! `settling` a message has left for certain, and what goes with it waits for its chance.
//!
//! [`Outbox`] takes one step after the other. `OutboxRows` reads rows and stores their moves, `EffectJudge` says whether
//! an effect may be begun, `MessageSender` and `EffectApplier` talk to the mailbox.

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
    model::{AccountId, ActionId, ActionMove, Instant, Mail, NewAction, OutboxState},
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

/// What an effect may need beside the store.
#[derive(Clone)]
pub struct OutboxSettings {
    /// `data/files`.
    pub files: PathBuf,
    pub labels: Vec<String>,
    /// The person's own addresses.
    pub own: Vec<String>,
    pub policy: watch::Receiver<Arc<EffectPolicy>>,
    /// The epoch of the data folder.
    pub epoch: i64,
    /// When the data folder was last put back from a copy.
    pub restored_at: Option<Instant>,
    /// Knows, outside the data folder, which messages were about to leave.
    pub witness: Witness,
    /// The files of the data folder that this process works on.
    pub open_files: OpenFiles,
}

/// A cheap handle on everything an effect may need.
#[derive(Clone)]
pub struct Outbox {
    rows: OutboxRows,
    judge: EffectJudge,
    mailboxes: Mailboxes,
    applier: EffectApplier,
    sender: MessageSender,
    locks: EffectLocks,
}

/// How far an effect got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectProgress {
    Ended(OutboxState, String),
    /// Nothing was done; look again then.
    Deferred {
        reason: String,
        until: Instant,
    },
}

/// Where one step has brought an effect.
enum EffectStep {
    /// Its row was moved, and is read anew for the next step.
    Moved,
    /// Nothing more is done for it now.
    Halted(EffectProgress),
    /// It has ended. The move that says so is not stored yet.
    Ended(Box<ActionMove>),
}

type StepResult = Result<EffectStep>;

impl Outbox {
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

    pub fn register_mailbox(&self, account: AccountId, mailbox: Arc<dyn Mailbox>) {
        self.mailboxes.register(account, mailbox);
    }

    pub fn policy(&self) -> Arc<EffectPolicy> {
        self.judge.policy()
    }

    /// Returns the epoch, and when it began if it began with a restore.
    pub fn epoch(&self) -> (i64, Option<Instant>) {
        (self.judge.settings.epoch, self.judge.settings.restored_at)
    }

    /// Returns when the person is busy, if the account has a calendar.
    pub async fn busy(
        &self,
        account: &AccountId,
        from: Instant,
        to: Instant,
    ) -> std::result::Result<Option<Vec<Busy>>, SourceError> {
        self.mailboxes.busy(account, from, to).await
    }

    /// Returns what the calendar has under the UID of an invitation, if the account has a calendar.
    pub async fn invited(
        &self,
        account: &AccountId,
        uid: String,
    ) -> std::result::Result<Option<Vec<CalendarEvent>>, SourceError> {
        self.mailboxes.invited(account, uid).await
    }

    /// Takes an R1 effect back. Returns what a person is told about it.
    pub async fn undo(&self, action_id: ActionId, now: Instant) -> anyhow::Result<String> {
        self.applier.undo(action_id, now).await
    }

    /// Brings an effect to its end; one that has ended is only reported. `planned` is the row as it was just stored, if
    /// the caller still has it, and `mail` the one that caused it.
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

    /// Does the same, but returns the last move of an effect that can be found again: the caller stores it, with what it
    /// makes of it. Until then the row is `ready`, and whoever finds it so looks first whether it was done.
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
                // With a conflict a person was faster: what they made of it counts.
                Ok(EffectStep::Moved) | Err(StoreError::Conflict(_)) => continue,
                Err(error) => return Err(error),
            };
            if let EffectProgress::Ended(OutboxState::Void | OutboxState::Failed, _) = progress {
                self.sender.withdraw_draft(action_id, "").await?;
            }
            return Ok((progress, last_move));
        }
    }

    /// Takes the one step that the state of a row asks for.
    async fn advance_state(&self, row: &PendingEffect, mail: Option<&Mail>, now: Instant) -> StepResult {
        match row.state {
            OutboxState::Held => match row.grace_period {
                // Approved later than now means that the clock was put back: nobody waits for it to come round again.
                Some((approved_at, until)) if approved_at <= now && now < until => {
                    let reason = "approved; you can still take it back".into();
                    Ok(EffectStep::Halted(EffectProgress::Deferred { reason, until }))
                }
                _ => self.rows.advance(row, OutboxState::Ready, "released", now).await,
            },
            // Nothing has left: a draft is stored under the action's own name, so storing it again is storing it once.
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
