//! The digest of the last hours: tasks done, waiting and overdue, rules learned, mails archived.

use chrono::Duration;
use serde::Serialize;

use crate::{
    app::NightlyUseCases,
    model::{Actor, Instant, ItemRow, LedgerRow, TaskRow, reading::MailWarning},
};

/// The digest, as `adjutant digest` prints it.
#[derive(Debug, Serialize)]
pub struct DigestReport {
    pub since: Instant,
    pub done: Vec<TaskRow>,
    pub cancelled_duplicates: Vec<TaskRow>,
    pub waiting: Vec<ItemRow>,
    pub overdue: Vec<TaskRow>,
    /// The changes of the rules that no person made, newest first.
    pub learned: Vec<DigestRulesChange>,
    /// The mails that deceive or speak to a program, newest first.
    pub warned: Vec<LedgerRow>,
    /// The mails that were archived, each with its task.
    pub archived: Vec<DigestArchivedMail>,
}

/// A change of the rules in the digest.
#[derive(Debug, Serialize)]
pub struct DigestRulesChange {
    pub version: i64,
    pub at: Instant,
    pub who: Actor,
    pub why: String,
}

/// An archived mail in the digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DigestArchivedMail {
    pub mail: i64,
    pub subject: String,
    pub task: String,
    pub at: Instant,
}

impl NightlyUseCases<'_> {
    /// Returns the digest of the last `hours` hours.
    pub async fn build_digest(self, hours: i64) -> anyhow::Result<DigestReport> {
        let now = self.app.clock.now();
        let since = now.plus(-Duration::hours(hours));
        let waiting = self.app.approvals().list().await?;
        let digest = self.app.store.read(move |reader| {
            let versions =
                reader.rules().versions()?.into_iter().filter(|row| row.at >= since && row.who != Actor::Person);
            let archived = reader.mails().archived_since(since)?.into_iter();
            Ok(DigestReport {
                since,
                done: reader.tasks().done_since(since)?,
                cancelled_duplicates: reader.tasks().duplicates_cancelled_since(since)?,
                overdue: reader.tasks().overdue(now)?,
                learned: versions
                    .map(|row| DigestRulesChange { version: row.version, at: row.at, who: row.who, why: row.why })
                    .collect(),
                warned: reader
                    .ledger()
                    .warned_since(since)?
                    .into_iter()
                    .filter(|row| row.warnings.iter().any(MailWarning::is_about_deceit))
                    .collect(),
                archived: archived
                    .map(|(mail, subject, task, at)| DigestArchivedMail { mail, subject, task, at })
                    .collect(),
                waiting,
            })
        });
        Ok(digest.await?)
    }
}
