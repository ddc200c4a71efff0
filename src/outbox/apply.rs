//! Effects other than sending a message: a row of the database, a folder, a label, the archive, a draft. And undoing
//! them.
//!
//! An effect that may have been tried before is probed in the mailbox before it is applied.

use std::{fs::DirBuilder, os::unix::fs::DirBuilderExt, time::Duration};

use super::{
    EffectProgress, RETRY_INTERVAL,
    caps::LONGEST_WINDOW,
    judge::EffectJudge,
    mailboxes::{Mailboxes, NO_MAILBOX},
    pending_effect::AttemptOutcome,
    rows::OutboxRows,
};
use crate::{
    failpoint,
    model::{ActionId, Actor, Effect, Instant, OutboxState},
    policy::ApprovedAction,
    source::{Mailbox, SourceError},
    store::{Result, StoreError},
};

/// The retry interval for an account that nobody is signed in to.
const SIGN_IN: Duration = Duration::from_secs(60);

/// An attempt of which nothing is known to have come. It is made again, after a probe.
pub(super) struct RetryLater {
    pub(super) why: String,
    pub(super) after: Duration,
}

/// The outcome of an attempt, or the reason to make it again.
pub(super) type AttemptResult = std::result::Result<AttemptOutcome, RetryLater>;

impl RetryLater {
    /// Returns a retry for an error that passes by waiting, and any other error as it is.
    pub(super) fn from_source_error(error: SourceError) -> std::result::Result<Self, SourceError> {
        match error {
            SourceError::RateLimited { after } => Ok(Self { why: "the mailbox's limit is reached".into(), after }),
            SourceError::RetryLater { problem, after } => Ok(Self { why: problem, after }),
            error => Err(error),
        }
    }

    /// Returns the deferral of the effect, by at least the retry interval.
    pub(super) fn into_progress(self, now: Instant) -> EffectProgress {
        let after = chrono::Duration::from_std(self.after).unwrap_or(LONGEST_WINDOW).max(RETRY_INTERVAL);
        EffectProgress::Deferred { reason: format!("waits: {}", self.why), until: now.plus(after) }
    }
}

/// Carries out effects other than sending a message.
#[derive(Clone)]
pub(super) struct EffectApplier {
    pub(super) rows: OutboxRows,
    pub(super) judge: EffectJudge,
    pub(super) mailboxes: Mailboxes,
}

impl EffectApplier {
    /// Carries an effect out. With `first`, it is certain that it was never tried, and the probe is left out. An effect
    /// that is only a row of the database is written with the transition that ends it.
    pub(super) async fn apply_effect(&self, approved: Box<ApprovedAction>, first: bool) -> Result<AttemptResult> {
        let action = approved.action();
        let as_row = action.effect.database_row_result();
        if let Some(result) = as_row.as_ref().filter(|_| !self.mailboxes.shows_row_of(action)) {
            return Ok(Ok(AttemptOutcome::applied_as_row(result)));
        }
        let applier = self.clone();
        // A mailbox waits for its disk or its network; the other runs need not wait with it.
        let tried =
            tokio::task::spawn_blocking(move || applier.apply_blocking(&approved, first)).await.map_err(|error| {
                if error.is_panic() { StoreError::Refused("the effect panicked".into()) } else { StoreError::Stopped }
            })?;
        Ok(tried.map(|end| AttemptOutcome {
            is_database_row: as_row.is_some() && end.state == OutboxState::Applied,
            ..end
        }))
    }

    /// Creates the folder or calls the mailbox, after a check that the data folder was not replaced.
    fn apply_blocking(&self, approved: &ApprovedAction, first: bool) -> AttemptResult {
        let action = approved.action();
        if let Err(Ok(replaced)) = self.judge.check_data_folder().map_err(RetryLater::from_source_error) {
            return Err(replaced);
        }
        match &action.effect {
            Effect::CreateFolder { name } => Ok(self.create_folder(name)),
            _ => match self.mailboxes.get(&action.account) {
                Some(mailbox) => probe_or_apply(mailbox.as_ref(), approved, first),
                None => Ok(AttemptOutcome::new(OutboxState::Failed, NO_MAILBOX)),
            },
        }
    }

    /// Creates a folder below `data/files` that only this user can open. A folder that exists already is fine.
    fn create_folder(&self, name: &str) -> AttemptOutcome {
        let path = self.judge.settings.files.join(name);
        let made = failpoint::around("folder.create", || DirBuilder::new().recursive(true).mode(0o700).create(path));
        match made {
            Ok(()) => AttemptOutcome::new(OutboxState::Applied, &format!("created {name} in files")),
            Err(error) => AttemptOutcome::new(OutboxState::Failed, &format!("the folder could not be made: {error}")),
        }
    }

    /// Undoes an effect of class R1. The audit line is committed before the mailbox is touched, so that a crash in
    /// between is visible. Returns what was done, as text for a person.
    pub(super) async fn undo(&self, action_id: ActionId, who: Actor, now: Instant) -> anyhow::Result<String> {
        self.rows.record_undo(action_id, false, who, now).await?;
        let row = self.rows.load_pending(action_id)?;
        let Some(approved) = self.judge.approve_undo(&row, now) else {
            anyhow::bail!("the account does not let the program touch it now");
        };
        let told = match (&row.action.effect, self.mailboxes.get(&row.action.account)) {
            (Effect::Label { label }, _) if !self.mailboxes.shows_row_of(&row.action) => {
                format!("the label {label} is off again")
            }
            (_, Some(mailbox)) => {
                self.judge.check_data_folder()?;
                let undo = move || failpoint::around("mailbox.undo", || mailbox.undo(&approved, &row.handle));
                tokio::task::spawn_blocking(undo).await??
            }
            (_, None) => anyhow::bail!(NO_MAILBOX),
        };
        self.rows.record_undo(action_id, true, who, now).await?;
        Ok(told)
    }
}

/// Applies an effect unless the mailbox shows that it was applied before a crash.
fn probe_or_apply(mailbox: &dyn Mailbox, approved: &ApprovedAction, first: bool) -> AttemptResult {
    let found = if first { Ok(None) } else { failpoint::around("mailbox.probe", || mailbox.probe(approved)) };
    let done = found
        .and_then(|found| found.map_or_else(|| failpoint::around("mailbox.apply", || mailbox.apply(approved)), Ok));
    match done.map_err(RetryLater::from_source_error) {
        Ok(applied) => {
            Ok(AttemptOutcome { handle: applied.handle, ..AttemptOutcome::new(OutboxState::Applied, &applied.result) })
        }
        Err(Ok(later)) => Err(later),
        Err(Err(SourceError::Auth { problem })) => Err(RetryLater { why: problem, after: SIGN_IN }),
        Err(Err(error)) => {
            let cause = std::error::Error::source(&error).map_or_else(String::new, |cause| format!(": {cause}"));
            Ok(AttemptOutcome::new(OutboxState::Failed, &format!("{error}{cause}")))
        }
    }
}
