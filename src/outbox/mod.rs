//! Carrying effects out: a row is judged again, done, and its end is written. Never done twice, never done unjudged.
//!
//! `planned → parked | ready → drafting → drafted → sending → sent`, or `unknown → probe → …`; `held` is the grace after
//! a yes. `sending` is on the disk before the first byte leaves; what is in doubt is looked for, not repeated. In
//! `settling` a message has left for certain, and what goes with it waits for its chance.

mod apply;
mod caps;
mod hold;
mod send;

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use chrono::Duration;
use tokio::sync::watch;

use crate::{
    failpoint,
    model::{
        AccountId, AccountMode, Action, ActionId, ActionMove, Approval, ApprovalUse, Effect, Instant, Mail, NewAction,
        OutboxState, RiskClass,
    },
    policy::{EffectPolicy, PolicyContext, PolicyVerdict, judge_action},
    source::{Busy, CalendarEvent, Mailbox, SourceError},
    store::{Result, SkipUnreadable as _, Store, StoreError, Write},
    witness::{OpenFiles, Witness},
};
use caps::RateWindows;

/// Effects that are held look again this often.
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
    /// Of the data folder.
    pub epoch: i64,
    /// When it was last put back from a copy.
    pub restored_at: Option<Instant>,
    /// Knows, outside the data folder, which messages were about to leave.
    pub witness: Witness,
    /// The files of the data folder that this process works on.
    pub open_files: OpenFiles,
}

/// A cheap handle on everything an effect may need.
#[derive(Clone)]
pub struct Outbox {
    store: Store,
    settings: Arc<OutboxSettings>,
    mailboxes: Arc<RwLock<HashMap<AccountId, Arc<dyn Mailbox>>>>,
    rate_windows: Arc<Mutex<RateWindows>>,
    /// Effects that somebody is carrying out right now.
    locked_effects: Arc<Mutex<HashSet<ActionId>>>,
}

/// One carrier at a time: to a second one, an effect that is being sent would look like one that was interrupted.
struct EffectLock<'a> {
    locked_effects: &'a Mutex<HashSet<ActionId>>,
    action_id: ActionId,
}

impl Drop for EffectLock<'_> {
    fn drop(&mut self) {
        self.locked_effects.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.action_id);
    }
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

/// An effect and what a verdict on it depends on.
struct PendingEffect {
    action: Action,
    class: RiskClass,
    state: OutboxState,
    result: String,
    handle: String,
    sender: String,
    /// While its grace runs: when it was approved, and when it may leave.
    grace_period: Option<(Instant, Instant)>,
    doubt_since: Option<Instant>,
    /// Its bytes are those its digest was taken of.
    intact: bool,
    /// Nobody can have tried it before.
    is_untried: bool,
    /// How often its sending was begun.
    sends_begun: u32,
    mode: AccountMode,
    paused: bool,
    /// Its task has ended or was changed, by a person's word: nothing more is begun for it.
    is_obsolete: bool,
    phishing: bool,
    approval: Option<Approval>,
    /// The mail that caused it, where the asker did not have it.
    mail: Option<Mail>,
}

impl PendingEffect {
    /// Whether a person approved it, in this epoch, and it was never begun.
    fn was_approved_and_not_begun(&self, epoch: i64) -> bool {
        let is_unused = |approval: &Approval| !approval.used && approval.epoch == epoch;
        self.state == OutboxState::Ready && self.approval.as_ref().is_some_and(is_unused)
    }
}

/// How an attempt at an effect ended.
struct AttemptOutcome {
    state: OutboxState,
    result: String,
    handle: String,
    /// The effect is a row of ours, written together with its end.
    is_database_row: bool,
}

impl Outbox {
    pub fn new(store: Store, setting: OutboxSettings, now: Instant) -> Result<Self> {
        let mut windows = RateWindows::default();
        for (_, sender, at, action) in
            store.read_blocking(|reader| reader.outbox().finished_since(now.plus(-caps::LONGEST_WINDOW)))?
        {
            windows.count_past_effect(&action, sender, at, now);
        }
        Ok(Self {
            store,
            settings: Arc::new(setting),
            mailboxes: Arc::default(),
            rate_windows: Arc::new(Mutex::new(windows)),
            locked_effects: Arc::default(),
        })
    }

    fn try_lock_effect(&self, action_id: ActionId) -> Option<EffectLock<'_>> {
        let free = self.locked_effects.lock().unwrap_or_else(PoisonError::into_inner).insert(action_id);
        free.then(|| EffectLock { locked_effects: &self.locked_effects, action_id })
    }

    pub fn register_mailbox(&self, account: AccountId, mailbox: Arc<dyn Mailbox>) {
        self.mailboxes.write().unwrap_or_else(PoisonError::into_inner).insert(account, mailbox);
    }

    pub fn policy(&self) -> Arc<EffectPolicy> {
        Arc::clone(&self.settings.policy.borrow())
    }

    /// The epoch, and when it began if it began with a restore.
    pub fn epoch(&self) -> (i64, Option<Instant>) {
        (self.settings.epoch, self.settings.restored_at)
    }

    /// Brings an effect to its end; one that has ended is only reported. `planned` is the row as it was just stored, if
    /// the asker still has it, and `mail` the one that caused it.
    pub async fn carry_out(
        &self,
        action_id: ActionId,
        planned: Option<&NewAction>,
        mail: Option<&Mail>,
        now: Instant,
    ) -> Result<EffectProgress> {
        let mut moved = None;
        let carried = self.carry_out_returning_last_move(action_id, planned, mail, now, &mut moved).await?;
        if let Some(mv) = moved {
            self.store_move(*mv).await?;
        }
        Ok(carried)
    }

    /// The same, but the last move of an effect that can be found again is the asker's to store, with what it makes of
    /// it. Until then the row is `ready`, and whoever finds it so looks first whether it was done.
    pub async fn carry_out_returning_last_move(
        &self,
        action_id: ActionId,
        planned: Option<&NewAction>,
        mail: Option<&Mail>,
        now: Instant,
        moved: &mut Option<Box<ActionMove>>,
    ) -> Result<EffectProgress> {
        let Some(_hold) = self.try_lock_effect(action_id) else {
            return Ok(EffectProgress::Deferred { reason: "it is under way".into(), until: now.plus(RETRY_INTERVAL) });
        };
        let mut pending = planned.map(|planned| self.pending_from_plan(planned)).transpose()?;
        loop {
            let row = match pending.take() {
                Some(row) => row,
                None => self.load_pending(action_id)?,
            };
            match self.advance_state(&row, mail, now, moved).await {
                Ok(Some(carried)) => {
                    if let EffectProgress::Ended(OutboxState::Void | OutboxState::Failed, _) = carried {
                        self.withdraw_draft(action_id, "").await?;
                    }
                    return Ok(carried);
                }
                Ok(None) => {}
                // A person was faster: what they made of it counts.
                Err(StoreError::Conflict(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// One step of the way; none when there is another.
    async fn advance_state(
        &self,
        row: &PendingEffect,
        mail: Option<&Mail>,
        now: Instant,
        moved: &mut Option<Box<ActionMove>>,
    ) -> Result<Option<EffectProgress>> {
        match row.state {
            OutboxState::Held => match row.grace_period {
                // Approved later than now means that the clock was put back: nobody waits for it to come round again.
                Some((approved_at, until)) if approved_at <= now && now < until => {
                    Ok(Some(EffectProgress::Deferred { reason: "approved; you can still take it back".into(), until }))
                }
                _ => self.move_to(row, OutboxState::Ready, "released", now).await.map(|()| None),
            },
            // Nothing has left: a draft is stored under the action's own name, so storing it again is storing it once.
            OutboxState::Drafting => {
                let mv = Self::new_move(row, OutboxState::Ready, "interrupted while drafting", now);
                self.store_move(ActionMove { approval: ApprovalUse::Return, ..mv }).await.map(|()| None)
            }
            OutboxState::Sending => {
                self.move_to(row, OutboxState::Unknown, "interrupted while sending", now).await.map(|()| None)
            }
            OutboxState::Unknown => self.move_to(row, OutboxState::Probe, &row.result, now).await.map(|()| None),
            OutboxState::Probe => self.probe(row, now).await,
            OutboxState::Settling => self.finish_send(row, AttemptOutcome::already_sent(row), None, now).await,
            OutboxState::Ready | OutboxState::Drafted => self.judge_and_attempt(row, mail, now, moved).await,
            ended => Ok(Some(EffectProgress::Ended(ended, row.result.clone()))),
        }
    }

    /// Judged as if it were new, whoever planned it.
    async fn judge_and_attempt(
        &self,
        row: &PendingEffect,
        mail: Option<&Mail>,
        now: Instant,
        moved: &mut Option<Box<ActionMove>>,
    ) -> Result<Option<EffectProgress>> {
        if let Some(reason) = self.hold_reason(row) {
            return Ok(Some(EffectProgress::Deferred { reason, until: now.plus(RETRY_INTERVAL) }));
        }
        if row.is_obsolete {
            return self
                .end_effect(row, AttemptOutcome::new(OutboxState::Void, "the task has ended or was changed"), now)
                .await;
        }
        if !row.intact {
            return self
                .end_effect(
                    row,
                    AttemptOutcome::new(OutboxState::Void, "its stored bytes do not match their digest"),
                    now,
                )
                .await;
        }
        if self.has_forgotten_send(row) {
            return self.move_to(row, OutboxState::Unknown, FORGOTTEN_SEND, now).await.map(|()| None);
        }
        let charter = self.policy();
        let situation = self.policy_context(row, mail, &charter, now);
        let approved = match judge_action(row.action.clone(), &situation) {
            PolicyVerdict::Allowed(approved) => approved,
            // A person said yes and it did not happen: they are asked again, not left to find out.
            PolicyVerdict::NeedsApproval { reason, .. } if row.was_approved_and_not_begun(self.settings.epoch) => {
                let result = format!("you approved it, but it was not carried out: {reason}");
                return self.end_effect(row, AttemptOutcome::new(OutboxState::Failed, &result), now).await;
            }
            PolicyVerdict::NeedsApproval { reason, .. } => {
                return self.end_effect(row, AttemptOutcome::new(OutboxState::Void, &reason), now).await;
            }
            PolicyVerdict::Withheld { reason, .. } if row.state == OutboxState::Ready => {
                return self.end_effect(row, AttemptOutcome::new(OutboxState::Withheld, &reason), now).await;
            }
            PolicyVerdict::Withheld { reason, .. } | PolicyVerdict::Denied { reason } => {
                return self.end_effect(row, AttemptOutcome::new(OutboxState::Void, &reason), now).await;
            }
        };
        if row.state == OutboxState::Ready {
            let mut windows = self.rate_windows.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(over) = windows.try_acquire(&row.action, &row.sender, &charter.caps, now) {
                return Ok(Some(EffectProgress::Deferred { reason: over.reason, until: over.until }));
            }
        }
        match &row.action.effect {
            Effect::Send { .. } => self.draft_or_send(row, Arc::from(approved), now).await,
            _ => match self.apply_effect(approved, row.is_untried).await? {
                Ok(end) => {
                    let carried = EffectProgress::Ended(end.state, end.result.clone());
                    *moved = Some(Box::new(Self::final_move(row, end, now)));
                    Ok(Some(carried))
                }
                Err(later) => {
                    self.rate_windows.lock().unwrap_or_else(PoisonError::into_inner).release(&row.action, &row.sender);
                    Ok(Some(later.into_progress(now)))
                }
            },
        }
    }

    fn policy_context<'a>(
        &'a self,
        row: &'a PendingEffect,
        mail: Option<&'a Mail>,
        charter: &'a EffectPolicy,
        now: Instant,
    ) -> PolicyContext<'a> {
        PolicyContext {
            mode: row.mode,
            mail: mail.or(row.mail.as_ref()),
            labels: &self.settings.labels,
            is_phishing: row.phishing,
            own: &self.settings.own,
            policy: charter,
            approval: row.approval.as_ref(),
            epoch: self.settings.epoch,
            restored_at: self.settings.restored_at,
            now,
        }
    }

    /// When the person is busy, if the account has a calendar.
    pub async fn busy(
        &self,
        account: &AccountId,
        from: Instant,
        to: Instant,
    ) -> std::result::Result<Option<Vec<Busy>>, SourceError> {
        let Some(mailbox) = self.mailbox(account) else { return Ok(None) };
        let ask = move || failpoint::around("mailbox.busy", || mailbox.busy(from, to));
        let asked = tokio::task::spawn_blocking(ask).await;
        asked.unwrap_or_else(|_| Err(SourceError::Unsupported { what: "be asked for a calendar".into() }))
    }

    /// What the calendar has under the UID of an invitation, if the account has a calendar.
    pub async fn invited(
        &self,
        account: &AccountId,
        uid: String,
    ) -> std::result::Result<Option<Vec<CalendarEvent>>, SourceError> {
        let Some(mailbox) = self.mailbox(account) else { return Ok(None) };
        let asked = tokio::task::spawn_blocking(move || mailbox.invited(&uid)).await;
        asked.unwrap_or_else(|_| Err(SourceError::Unsupported { what: "be asked for a calendar".into() }))
    }

    fn mailbox(&self, account: &AccountId) -> Option<Arc<dyn Mailbox>> {
        self.mailboxes.read().unwrap_or_else(PoisonError::into_inner).get(account).cloned()
    }

    async fn end_effect(
        &self,
        row: &PendingEffect,
        end: AttemptOutcome,
        now: Instant,
    ) -> Result<Option<EffectProgress>> {
        let carried = EffectProgress::Ended(end.state, end.result.clone());
        self.store_move(Self::final_move(row, end, now)).await?;
        Ok(Some(carried))
    }

    fn final_move(row: &PendingEffect, end: AttemptOutcome, now: Instant) -> ActionMove {
        ActionMove {
            handle: end.handle,
            is_database_row: end.is_database_row,
            undoable: row.class == RiskClass::R1,
            ..Self::new_move(row, end.state, &end.result, now)
        }
    }

    fn new_move(row: &PendingEffect, to: OutboxState, result: &str, at: Instant) -> ActionMove {
        ActionMove {
            action_id: row.action.action_id,
            from: row.state,
            to,
            result: result.to_owned(),
            handle: String::new(),
            who: "outbox".into(),
            at,
            is_database_row: false,
            approval: ApprovalUse::None,
            undoable: false,
            untried: false,
        }
    }

    async fn move_to(&self, row: &PendingEffect, to: OutboxState, result: &str, at: Instant) -> Result<()> {
        self.store_move(Self::new_move(row, to, result, at)).await
    }

    async fn store_move(&self, mv: ActionMove) -> Result<()> {
        self.store.write(Write::MoveAction(Box::new(mv))).await.map(drop)
    }

    /// Everything a verdict depends on, as it stands now.
    fn load_pending(&self, action_id: ActionId) -> Result<PendingEffect> {
        self.store.read_blocking(|reader| {
            let row =
                reader.outbox().get(action_id)?.ok_or_else(|| StoreError::NotFound(format!("action {action_id}")))?;
            let account = reader.accounts().get(&row.action.account).skip_unreadable()?;
            let task = reader.tasks().get(row.action.task_id)?;
            let mail = row.action.mail_id.map(|id| reader.mails().get(id)).transpose()?.flatten();
            let mut approval = reader.approvals().of_action(action_id)?;
            // A draft of ours is under way because its approval was used for it.
            if let Some(approval) = approval.as_mut().filter(|_| row.state == OutboxState::Drafted) {
                approval.used = false;
            }
            Ok(PendingEffect {
                mail,
                approval,
                intact: row.intact,
                // Of other effects no try is written down.
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
                phishing: task.is_some_and(|task| task.task.context.has_warning("phishing")),
                action: row.action,
            })
        })
    }

    /// The same for a row whose bytes never left memory. Phishing was ruled out when it became ready.
    fn pending_from_plan(&self, planned: &NewAction) -> Result<PendingEffect> {
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
}

/// The witness outside knows of a beginning that the database does not.
const FORGOTTEN_SEND: &str = "its sending was begun before the data were put back from a copy";
const NO_MAILBOX: &str = "the account's mailbox is not configured any more";
