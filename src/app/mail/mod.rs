//! The use cases of mail: the ledger, what became of each mail, imports, and corrections. No row of the ledger is ever
//! deleted: a correction adds to it, with who and why.

mod import;
mod outcome;

use chrono::{Days, NaiveDate, NaiveTime, TimeZone as _};
use chrono_tz::Tz;
pub use import::{ImportReport, Progress};
pub use outcome::{MailOutcome, PassReport, TaskLine, next_step};
use serde::Serialize;

use crate::{
    app::{App, NotFound},
    model::{
        AccountId, Instant, LedgerPage, LedgerPageQuery, LedgerRow, Mail, MailDay, MailEdit, MailEditKind, MailId,
        MailState, MutedSender, NewRun, NodeName, OutboxRow, RunId, RunKind, RunState, TaskRow,
    },
    store::{Receipt, SkipUnreadable as _, Write},
};

/// Everything about one mail. `mail` is none when its content cannot be read.
#[derive(Debug, Serialize)]
pub struct MailDetail {
    #[serde(flatten)]
    pub row: LedgerRow,
    pub mail: Option<Mail>,
    pub tasks: Vec<TaskRow>,
    /// What the person's rules did to it.
    #[serde(serialize_with = "crate::hitl::with_named_digests")]
    pub effects: Vec<OutboxRow>,
}

/// The use cases of mail: the ledger, what became of each mail, imports, and corrections of what was read.
#[derive(Clone, Copy)]
pub struct MailUseCases<'a> {
    pub(super) app: &'a App,
}

impl MailUseCases<'_> {
    /// Returns the newest mails of the ledger, if wanted only those in one state.
    pub async fn list(self, state: Option<MailState>, limit: usize) -> anyhow::Result<Vec<LedgerRow>> {
        Ok(self.app.store.read(move |reader| reader.ledger().list(state, limit)).await?)
    }

    /// Returns a page of the ledger, the newest mails first.
    pub async fn page(self, query: LedgerPageQuery) -> anyhow::Result<LedgerPage> {
        Ok(self.app.store.read(move |reader| reader.ledger().page(&query)).await?)
    }

    /// Returns how many mails of each account are in each state.
    pub async fn counts(self) -> anyhow::Result<Vec<(AccountId, MailState, u64)>> {
        Ok(self.app.store.read(|reader| reader.ledger().outcome_counts()).await?)
    }

    /// Returns what became of the mails of the last days, in the person's time zone, the oldest day first.
    pub async fn outcomes_by_day(self, days: u64) -> anyhow::Result<Vec<MailDay>> {
        let zone = self.app.config.me.time_zone;
        let today = self.app.clock.now().utc().with_timezone(&zone).date_naive();
        let dates: Vec<NaiveDate> = (0..days).rev().filter_map(|ago| today.checked_sub_days(Days::new(ago))).collect();
        let read = self.app.store.read(move |reader| {
            let mut found = Vec::with_capacity(dates.len());
            for date in dates {
                let end = date.succ_opt().map_or(Instant::LATEST, |next| start_of_day(next, zone));
                let outcomes = reader.ledger().count_arrived_between(start_of_day(date, zone), end)?;
                found.push(MailDay { date, outcomes: outcomes.into_iter().collect() });
            }
            Ok(found)
        });
        Ok(read.await?)
    }

    /// Returns how many mails the ledger has, if wanted only those in one state.
    pub async fn count(self, state: Option<MailState>) -> anyhow::Result<u64> {
        Ok(self.app.store.read(move |reader| reader.ledger().count(state)).await?)
    }

    /// Returns the senders whose mail opens no task.
    pub async fn list_muted(self) -> anyhow::Result<Vec<MutedSender>> {
        Ok(self.app.store.read(|reader| reader.mails().muted_senders()).await?)
    }

    /// Returns everything about the mail of this number.
    pub async fn detail(self, mail_id: MailId) -> anyhow::Result<MailDetail> {
        let found = self.app.store.read(move |reader| {
            let Some(row) = reader.ledger().get(mail_id)? else { return Ok(None) };
            Ok(Some(MailDetail {
                row,
                mail: reader.mails().get(mail_id).skip_unreadable()?,
                tasks: reader.tasks().of_mail(mail_id)?,
                effects: reader.outbox().of_mail(mail_id)?,
            }))
        });
        found
            .await?
            .ok_or_else(|| NotFound(format!("there is no mail {mail_id}; `adjutant mail list` shows them")).into())
    }

    /// Records the correction that a mail is not a task: its tasks are cancelled, and the nightly job learns from it.
    pub async fn mark_not_a_task(self, mail_id: MailId, why: &str) -> anyhow::Result<()> {
        self.edit(mail_id, MailEditKind::NotATask, why).await.map(drop)
    }

    /// Mutes the sender of a mail, or unmutes it. Returns, in words, what that means: of an unverified mail, only
    /// unverified mail of the same address is muted, because anybody could have written it.
    pub async fn set_sender_muted(self, mail_id: MailId, muted: bool) -> anyhow::Result<String> {
        let wish = if muted { MailEditKind::Mute } else { MailEditKind::Unmute };
        self.edit(mail_id, wish, "").await?;
        let row = self.detail(mail_id).await?.row;
        let (account, sender) = (row.account, row.sender.clone());
        let mute = self.app.store.read(move |reader| reader.mails().mutes_unverified_only(&account, &sender)).await?;
        Ok(match mute {
            None => format!("{} is not muted: its mail opens tasks again", row.sender),
            Some(false) => format!("{} is muted: its mail opens no task", row.sender),
            Some(true) => format!(
                "unverified mail of {0} is muted, because nobody confirms that {0} wrote this one; verified mail of {0} still opens tasks",
                row.sender
            ),
        })
    }

    /// Records the correction that a mail is genuine: its warnings are lifted, and without them it is read again and
    /// opens the task that it would have opened. Returns the run, if the mail has no task yet.
    pub async fn mark_genuine(self, mail_id: MailId, why: &str) -> anyhow::Result<Vec<RunId>> {
        let detail = self.detail(mail_id).await?;
        anyhow::ensure!(!detail.row.warnings.is_empty(), "mail {mail_id} has no warning: it counts as genuine already");
        let run = (detail.row.state == MailState::NoTask && detail.mail.is_some()).then(|| {
            Box::new(self.correction_run(&detail.row, "genuine", RunState { genuine: true, ..RunState::default() }))
        });
        self.edit(mail_id, MailEditKind::Genuine(run), why).await
    }

    /// Records that a person wants a mail archived, and opens a run that does it. Returns the run.
    pub async fn archive(self, mail_id: MailId, why: &str) -> anyhow::Result<Vec<RunId>> {
        let detail = self.detail(mail_id).await?;
        anyhow::ensure!(
            detail.row.state == MailState::NoTask && detail.mail.is_some(),
            "mail {mail_id} is {}: only a mail without a task can be archived; finish or cancel its task first",
            detail.row.state
        );
        let run = self.correction_run(&detail.row, "archive", RunState { archive: true, ..RunState::default() });
        self.edit(mail_id, MailEditKind::Archive(Box::new(run)), why).await
    }

    /// Returns the run that reads a mail again after a correction.
    fn correction_run(self, row: &LedgerRow, purpose: &str, state: RunState) -> NewRun {
        NewRun {
            run_id: RunId::derive(self.app.clock.now(), &[purpose, &row.mail_id.to_string()]),
            account: row.account.clone(),
            user: self.app.user.clone(),
            kind: RunKind::Mail,
            parent_run: None,
            fork: None,
            node: NodeName::PlanStep,
            task_id: None,
            state: RunState { mail_id: Some(row.mail_id), ..state },
        }
    }

    /// Records the correction that a mail should have been a task, and opens a run that makes one. The daemon or the
    /// next `once` works on it. Returns the run.
    pub async fn make_task(self, mail_id: MailId, why: &str) -> anyhow::Result<Vec<RunId>> {
        let detail = self.detail(mail_id).await?;
        anyhow::ensure!(
            detail.row.state == MailState::NoTask,
            "mail {mail_id} is {}: there is nothing to overrule",
            detail.row.state
        );
        anyhow::ensure!(detail.mail.is_some(), "mail {mail_id} could not be read, so no task can be made of it");
        let run = self.correction_run(&detail.row, "make_task", RunState { forced: true, ..RunState::default() });
        self.edit(mail_id, MailEditKind::MakeTask(Box::new(run)), why).await
    }

    /// Stores a correction. Returns the runs that it opened.
    async fn edit(self, mail_id: MailId, wish: MailEditKind, why: &str) -> anyhow::Result<Vec<RunId>> {
        let edit = MailEdit {
            mail_id,
            user: self.app.user.clone(),
            kind: wish,
            why: why.to_owned(),
            at: self.app.clock.now(),
        };
        match self.app.store.write(Write::EditMail(Box::new(edit))).await? {
            Receipt::Runs(runs) => Ok(runs),
            _ => Ok(Vec::new()),
        }
    }
}

/// Returns the time at which a day begins. Where the clocks skip midnight, it begins an hour later.
fn start_of_day(date: NaiveDate, zone: Tz) -> Instant {
    let midnight = date.and_time(NaiveTime::MIN);
    let start = zone.from_local_datetime(&midnight).earliest();
    let start = start.or_else(|| zone.from_local_datetime(&(midnight + chrono::Duration::hours(1))).earliest());
    Instant::from_utc_clamped(start.map_or_else(|| midnight.and_utc(), |start| start.to_utc()))
}
