//! Carrying effects out: a row is judged again, done, and its end is written. Never done twice, never done unjudged.

use std::{
    collections::HashMap,
    fs::DirBuilder,
    os::unix::fs::DirBuilderExt,
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
};

use crate::{
    model::{AccountId, AccountMode, Action, ActionId, Effect, Instant, Mail, OutboxState},
    policy::{ApprovedAction, Situation, Verdict, judge},
    source::Mailbox,
    store::{
        Result, Store, StoreError, Write,
        value::{ActionMove, NewAction},
    },
};

/// A cheap handle on everything an effect may need.
#[derive(Clone)]
pub struct Outbox {
    store: Store,
    /// `data/files`.
    files: PathBuf,
    labels: Arc<Vec<String>>,
    mailboxes: Arc<RwLock<HashMap<AccountId, Arc<dyn Mailbox>>>>,
}

/// An effect and what a verdict on it depends on.
struct Pending {
    action: Action,
    state: OutboxState,
    result: String,
    /// Its bytes are those its digest was taken of.
    intact: bool,
    mode: AccountMode,
    phishing: bool,
    /// The mail that caused it, where the asker did not have it.
    mail: Option<Mail>,
}

/// How an attempt at an effect ended.
struct End {
    state: OutboxState,
    result: String,
    handle: String,
    /// The effect is a row of ours, written together with its end.
    here: bool,
}

impl Outbox {
    pub fn new(store: Store, files: PathBuf, labels: Vec<String>) -> Self {
        Self { store, files, labels: Arc::new(labels), mailboxes: Arc::default() }
    }

    pub fn serve(&self, account: AccountId, mailbox: Arc<dyn Mailbox>) {
        self.mailboxes.write().unwrap_or_else(PoisonError::into_inner).insert(account, mailbox);
    }

    /// Brings an effect to its end; one that has ended is only reported. `planned` is the row as it was just stored, if
    /// the asker still has it, and `mail` the one that caused it.
    pub async fn carry_out(
        &self,
        action_id: ActionId,
        planned: Option<&NewAction>,
        mail: Option<&Mail>,
        now: Instant,
    ) -> Result<(OutboxState, String)> {
        let mut pending = planned.map(|planned| self.fresh(planned)).transpose()?;
        loop {
            let row = match pending.take() {
                Some(row) => row,
                None => self.row(action_id)?,
            };
            if row.state != OutboxState::Ready {
                return Ok((row.state, row.result));
            }
            let end = self.attempt(&row, mail);
            let mv = ActionMove {
                action_id,
                from: OutboxState::Ready,
                to: end.state,
                result: end.result.clone(),
                handle: end.handle,
                who: "outbox".into(),
                at: now,
                here: end.here,
            };
            match self.store.write(Write::MoveAction(Box::new(mv))).await {
                Ok(_) => return Ok((end.state, end.result)),
                // A person was faster: what they made of it counts.
                Err(StoreError::Overtaken(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Everything a verdict depends on, as it stands now.
    fn row(&self, action_id: ActionId) -> Result<Pending> {
        self.store.read_now(|reader| {
            let row = reader.action(action_id)?.ok_or_else(|| StoreError::NotFound(format!("action {action_id}")))?;
            let account = reader.account(&row.action.account)?;
            let task = reader.task(row.action.task_id)?;
            let mail = row.action.mail_id.map(|id| reader.mail(id)).transpose()?.flatten();
            Ok(Pending {
                mail,
                intact: row.action.sha256() == row.sha256,
                action: row.action,
                state: row.state,
                result: row.result,
                mode: account.map_or(AccountMode::Observe, |account| account.mode),
                phishing: task.is_some_and(|task| task.task.context.has_warning("phishing")),
            })
        })
    }

    /// The same for a row whose bytes never left memory. Phishing was ruled out when it became ready.
    fn fresh(&self, planned: &NewAction) -> Result<Pending> {
        let account = self.store.read_now(|reader| reader.account(&planned.action.account))?;
        Ok(Pending {
            action: planned.action.clone(),
            state: planned.state,
            result: planned.reason.clone(),
            intact: true,
            mode: account.map_or(AccountMode::Observe, |account| account.mode),
            phishing: false,
            mail: None,
        })
    }

    /// Judged as if it were new, whoever planned it.
    fn attempt(&self, row: &Pending, mail: Option<&Mail>) -> End {
        if !row.intact {
            return End::of(OutboxState::Void, "its stored bytes do not match their digest");
        }
        let situation = Situation {
            mode: row.mode,
            mail: mail.or(row.mail.as_ref()),
            labels: &self.labels,
            phishing: row.phishing,
        };
        match judge(row.action.clone(), &situation) {
            Verdict::Allowed(approved) => self.perform(&approved),
            Verdict::NeedsApproval { reason, .. } => End::of(OutboxState::Parked, &reason),
            Verdict::Withheld { reason, .. } => End::of(OutboxState::Withheld, &reason),
            Verdict::Denied { reason } => End::of(OutboxState::Void, &reason),
        }
    }

    fn perform(&self, approved: &ApprovedAction) -> End {
        let action = approved.action();
        match &action.effect {
            Effect::Label { label } => End::here(&format!("labelled {label}")),
            Effect::Remind { at, .. } => End::here(&format!("reminds at {at}")),
            Effect::RecordInvoice { .. } => End::here("recorded"),
            Effect::CreateFolder { name } => self.create_folder(name),
            Effect::Archive | Effect::Draft { .. } => match self.mailbox(action) {
                Some(mailbox) => End::in_mailbox(mailbox.as_ref(), approved),
                None => End::of(OutboxState::Failed, "the account's mailbox is not configured any more"),
            },
        }
    }

    fn mailbox(&self, action: &Action) -> Option<Arc<dyn Mailbox>> {
        self.mailboxes.read().unwrap_or_else(PoisonError::into_inner).get(&action.account).cloned()
    }

    fn create_folder(&self, name: &str) -> End {
        match DirBuilder::new().recursive(true).mode(0o700).create(self.files.join(name)) {
            Ok(()) => End::of(OutboxState::Applied, &format!("created {name} in files")),
            Err(error) => End::of(OutboxState::Failed, &format!("the folder could not be made: {error}")),
        }
    }
}

impl End {
    fn of(state: OutboxState, result: &str) -> Self {
        Self { state, result: result.to_owned(), handle: String::new(), here: false }
    }

    /// What was done before a crash is found, not done again.
    fn in_mailbox(mailbox: &dyn Mailbox, approved: &ApprovedAction) -> Self {
        let done = mailbox.probe(approved).and_then(|found| found.map_or_else(|| mailbox.apply(approved), Ok));
        match done {
            Ok(applied) => Self { handle: applied.handle, ..Self::of(OutboxState::Applied, &applied.result) },
            Err(error) => {
                let cause = std::error::Error::source(&error).map_or_else(String::new, |cause| format!(": {cause}"));
                Self::of(OutboxState::Failed, &format!("{error}{cause}"))
            }
        }
    }

    fn here(result: &str) -> Self {
        Self { here: true, ..Self::of(OutboxState::Applied, result) }
    }
}
