//! How the program is doing, by counts that are cheap enough to be asked for every few seconds. Unlike `doctor` it
//! checks nothing: no mailbox is opened, no chain verified, no model asked.

use serde::Serialize;

use super::WaitingSteps;
use crate::{
    app::{CostReport, HealthUseCases},
    model::{AccountCondition, AccountMode, Instant, MailState, MailboxKind, RunStatus, TaskStatus},
};

/// The state of the program at one instant.
#[derive(Debug, Clone, Serialize)]
pub struct Status {
    pub at: Instant,
    pub accounts: Vec<AccountStatus>,
    pub tasks: Vec<(TaskStatus, u64)>,
    pub runs: Vec<(RunStatus, u64)>,
    /// The effects by their state.
    pub effects: Vec<(String, u64)>,
    /// The open items of the approval queue.
    pub waiting_for_you: usize,
    /// The runs that wait for a rate limit, a grace, room in the queue or the end of a pause, by reason.
    pub set_aside: Vec<WaitingSteps>,
    /// The number of runs that are due and that nobody works on.
    pub left_behind: u64,
    pub paused: bool,
    /// The process id of the worker.
    pub worker: Option<String>,
    pub rules_version: String,
    pub rules_broken: Option<String>,
    pub policy_broken: Option<String>,
    /// What the model cost today; none when there is no model and never was one.
    pub cost: Option<CostReport>,
    /// Why the model cannot be used.
    pub model_warning: Option<String>,
    pub next_night: Option<Instant>,
    pub last_night: Option<String>,
}

/// The state of one account.
#[derive(Debug, Clone, Serialize)]
pub struct AccountStatus {
    pub account: String,
    pub kind: MailboxKind,
    pub mode: AccountMode,
    pub last_poll: Option<Instant>,
    /// The mails of the ledger by their state.
    pub mails: Vec<(MailState, u64)>,
    /// The number of mails without an outcome that no run works on.
    pub unaccounted: u64,
    pub condition: Option<AccountCondition>,
}

impl HealthUseCases<'_> {
    /// Returns the counts.
    pub async fn status(self) -> anyhow::Result<Status> {
        let rules = self.app.rules().load();
        let policy_broken = self.app.effects().try_load_policy().err();
        let cost = self.app.model().report_cost(1).await?;
        let model_warning = self.app.model().warning();
        let next_night = self.app.nightly().next_due().await?;
        let worker = self.app.worker().find_pid();
        let now = self.app.clock.now();
        let read = self.app.store.read(move |reader| {
            let (counts, unaccounted) = (reader.ledger().counts()?, reader.ledger().count_unaccounted()?);
            let mut conditions = reader.accounts().conditions()?;
            let accounts = reader.accounts().list()?.into_iter().map(|account| AccountStatus {
                mails: counts
                    .iter()
                    .filter(|(name, ..)| *name == account.account)
                    .map(|(_, state, count)| (*state, *count))
                    .collect(),
                unaccounted: unaccounted
                    .iter()
                    .find(|(name, _)| *name == account.account)
                    .map_or(0, |(_, count)| *count),
                condition: conditions
                    .iter()
                    .position(|known| known.account == account.account)
                    .map(|place| conditions.swap_remove(place)),
                account: account.account.to_string(),
                kind: account.kind,
                mode: account.mode,
                last_poll: account.polled_at,
            });
            Ok(Status {
                at: now,
                accounts: accounts.collect(),
                tasks: reader.tasks().counts()?,
                runs: reader.runs().counts()?,
                effects: reader.outbox().counts()?,
                waiting_for_you: reader.approvals().open_items()?.len(),
                set_aside: WaitingSteps::group(reader.runs().deferred(now)?, now),
                left_behind: reader.runs().count_left_behind(now)?,
                paused: reader.settings().is_paused()?,
                worker,
                rules_version: rules.rules.version().to_owned(),
                rules_broken: rules.broken.map(|broken| broken.to_string()),
                policy_broken,
                cost,
                model_warning,
                next_night,
                last_night: reader.nightly().last_date()?,
            })
        });
        Ok(read.await?)
    }
}
