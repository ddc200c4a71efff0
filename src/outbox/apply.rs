//! Effects that are no message that leaves: a row of ours, a folder, a label, the archive, a draft. And taking them back.

use std::{fs::DirBuilder, os::unix::fs::DirBuilderExt, time::Duration};

use super::{AttemptOutcome, EffectProgress, NO_MAILBOX, Outbox, RETRY_INTERVAL, caps::LONGEST_WINDOW};
use crate::{
    failpoint,
    model::{Action, ActionId, Effect, Instant, OutboxState},
    policy::{ApprovedAction, PolicyContext, PolicyVerdict, judge_action},
    source::{Mailbox, SourceError},
    store::{Result, StoreError, Write},
};

/// An account nobody is signed in to is tried again this often.
const SIGN_IN: Duration = Duration::from_secs(60);

/// Nothing is known to have come of an attempt. It is made again, after a look whether it was done.
pub(super) struct RetryLater {
    pub(super) why: String,
    pub(super) after: Duration,
}

pub(super) type AttemptResult = std::result::Result<AttemptOutcome, RetryLater>;

impl RetryLater {
    /// What passes by itself; anything else comes back.
    pub(super) fn from_source_error(error: SourceError) -> std::result::Result<Self, SourceError> {
        match error {
            SourceError::RateLimited { after } => Ok(Self { why: "the mailbox's limit is reached".into(), after }),
            SourceError::RetryLater { problem, after } => Ok(Self { why: problem, after }),
            error => Err(error),
        }
    }

    pub(super) fn into_progress(self, now: Instant) -> EffectProgress {
        let after = chrono::Duration::from_std(self.after).unwrap_or(LONGEST_WINDOW).max(RETRY_INTERVAL);
        EffectProgress::Deferred { reason: format!("waits: {}", self.why), until: now.plus(after) }
    }
}

impl Outbox {
    pub(super) async fn apply_effect(&self, approved: Box<ApprovedAction>, first: bool) -> Result<AttemptResult> {
        let action = approved.action();
        let as_row = action.effect.database_row_result();
        if let Some(result) = as_row.as_ref().filter(|_| !self.is_shown_in_mailbox(action)) {
            return Ok(Ok(AttemptOutcome::applied_as_row(result)));
        }
        let outbox = self.clone();
        // A mailbox waits for its disk, and others need not wait with it.
        let tried =
            tokio::task::spawn_blocking(move || outbox.apply_blocking(&approved, first)).await.map_err(|error| {
                if error.is_panic() { StoreError::Refused("the effect panicked".into()) } else { StoreError::Stopped }
            })?;
        Ok(tried.map(|end| AttemptOutcome {
            is_database_row: as_row.is_some() && end.state == OutboxState::Applied,
            ..end
        }))
    }

    /// A row of ours that the mailbox is to show as well.
    fn is_shown_in_mailbox(&self, action: &Action) -> bool {
        let label = matches!(action.effect, Effect::Label { .. });
        label && self.mailbox(&action.account).is_some_and(|mailbox| mailbox.stores_labels())
    }

    /// `first`: nobody can have tried it before.
    fn apply_blocking(&self, approved: &ApprovedAction, first: bool) -> AttemptResult {
        let action = approved.action();
        if let Err(Ok(replaced)) = self.check_data_folder().map_err(RetryLater::from_source_error) {
            return Err(replaced);
        }
        match &action.effect {
            Effect::CreateFolder { name } => Ok(self.create_folder(name)),
            _ => match self.mailbox(&action.account) {
                Some(mailbox) => AttemptOutcome::probe_or_apply(mailbox.as_ref(), approved, first),
                None => Ok(AttemptOutcome::new(OutboxState::Failed, NO_MAILBOX)),
            },
        }
    }

    fn create_folder(&self, name: &str) -> AttemptOutcome {
        let path = self.settings.files.join(name);
        let made = failpoint::around("folder.create", || DirBuilder::new().recursive(true).mode(0o700).create(path));
        match made {
            Ok(()) => AttemptOutcome::new(OutboxState::Applied, &format!("created {name} in files")),
            Err(error) => AttemptOutcome::new(OutboxState::Failed, &format!("the folder could not be made: {error}")),
        }
    }

    /// Takes an R1 effect back. The line in the audit comes first.
    pub async fn undo(&self, action_id: ActionId, now: Instant) -> anyhow::Result<String> {
        self.store.write(Write::RecordUndo { action_id, done: false, at: now }).await?;
        let row = self.load_pending(action_id)?;
        let charter = self.policy();
        let situation =
            PolicyContext { is_phishing: false, approval: None, ..self.policy_context(&row, None, &charter, now) };
        let PolicyVerdict::Allowed(approved) = judge_action(row.action.clone(), &situation) else {
            anyhow::bail!("the account does not let the program touch it now");
        };
        let told = match (&row.action.effect, self.mailbox(&row.action.account)) {
            (Effect::Label { label }, _) if !self.is_shown_in_mailbox(&row.action) => {
                format!("the label {label} is off again")
            }
            (_, Some(mailbox)) => {
                self.check_data_folder()?;
                let undo = move || failpoint::around("mailbox.undo", || mailbox.undo(&approved, &row.handle));
                tokio::task::spawn_blocking(undo).await??
            }
            (_, None) => anyhow::bail!(NO_MAILBOX),
        };
        self.store.write(Write::RecordUndo { action_id, done: true, at: now }).await?;
        Ok(told)
    }
}

impl AttemptOutcome {
    pub(super) fn new(state: OutboxState, result: &str) -> Self {
        Self { state, result: result.to_owned(), handle: String::new(), is_database_row: false }
    }

    /// What was done before a crash is found, not done again.
    fn probe_or_apply(mailbox: &dyn Mailbox, approved: &ApprovedAction, first: bool) -> AttemptResult {
        let found = if first { Ok(None) } else { failpoint::around("mailbox.probe", || mailbox.probe(approved)) };
        let done = found
            .and_then(|found| found.map_or_else(|| failpoint::around("mailbox.apply", || mailbox.apply(approved)), Ok));
        match done.map_err(RetryLater::from_source_error) {
            Ok(applied) => Ok(Self { handle: applied.handle, ..Self::new(OutboxState::Applied, &applied.result) }),
            Err(Ok(later)) => Err(later),
            Err(Err(SourceError::Auth { problem })) => Err(RetryLater { why: problem, after: SIGN_IN }),
            Err(Err(error)) => {
                let cause = std::error::Error::source(&error).map_or_else(String::new, |cause| format!(": {cause}"));
                Ok(Self::new(OutboxState::Failed, &format!("{error}{cause}")))
            }
        }
    }

    fn applied_as_row(result: &str) -> Self {
        Self { is_database_row: true, ..Self::new(OutboxState::Applied, result) }
    }
}
