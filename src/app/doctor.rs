//! `adjutant doctor`: is everything accounted for, whole and in order?

use serde::Serialize;

use super::{App, ModelHealth};
use crate::{
    audit::Verified,
    config::AccountKind,
    model::{AccountCondition, AccountMode, Instant, MailState, RunStatus, Status},
    store::{Result, value::Account},
};

#[derive(Debug, Serialize)]
pub struct Health {
    /// Mails without an answer that nobody works. Must be 0.
    pub unaccounted: u64,
    pub accounts: Vec<AccountHealth>,
    pub mails: Vec<(MailState, u64)>,
    pub tasks: Vec<(Status, u64)>,
    pub runs: Vec<(RunStatus, u64)>,
    pub effects: Vec<(String, u64)>,
    pub waiting_for_you: usize,
    pub illegal_transitions: u64,
    pub audit: Verified,
    /// Effects are held.
    pub paused: bool,
    /// Steps that wait for a cap, a grace, room in the queue or the end of a pause, and why.
    pub set_aside: Vec<String>,
    pub policy_broken: Option<String>,
    pub sqlite: String,
    pub rules_version: String,
    /// When the nightly job is due, and the last date it was done for.
    pub next_night: Option<Instant>,
    pub last_night: Option<String>,
    pub rules_broken: Option<String>,
    pub worker: Option<String>,
    pub memory: crate::memory::Status,
    /// None without a model.
    pub model: Option<ModelHealth>,
}

#[derive(Debug, Serialize)]
pub struct AccountHealth {
    pub account: String,
    pub kind: String,
    pub mode: AccountMode,
    pub last_poll: Option<Instant>,
    pub mails: u64,
    /// Mails nobody owes an answer any more to, yet without one.
    pub unaccounted: u64,
    /// Only of an account that is reached over a network.
    pub condition: Option<AccountCondition>,
    pub notes: Vec<String>,
}

impl Health {
    pub fn is_well(&self) -> bool {
        self.unaccounted == 0
            && self.illegal_transitions == 0
            && self.audit.problem.is_none()
            && self.rules_broken.is_none()
            && self.policy_broken.is_none()
    }
}

impl App {
    pub async fn health(&self) -> anyhow::Result<Health> {
        let rules = self.rules();
        let accounts = self.account_health().await?;
        let worker = self.worker_pid();
        let audit = self.verify_audit().await?;
        let policy_broken = self.charter_or_problem().err();
        let model = self.model_health().await?;
        let now = self.clock.now();
        let memory = self.memory.status().await?;
        let next_night = self.next_night().await?;
        let health = self.store.read(move |reader| -> Result<Health> {
            let mut mails: Vec<(MailState, u64)> = MailState::ALL.iter().map(|state| (*state, 0)).collect();
            for (_, state, count) in reader.ledger_counts()? {
                mails.iter_mut().filter(|(known, _)| *known == state).for_each(|(_, sum)| *sum += count);
            }
            Ok(Health {
                unaccounted: accounts.iter().map(|account| account.unaccounted).sum(),
                accounts,
                mails,
                tasks: reader.task_counts()?,
                runs: reader.run_counts()?,
                effects: reader.outbox_counts()?,
                waiting_for_you: reader.open_items()?.len(),
                illegal_transitions: reader.illegal_transitions()?,
                audit,
                paused: reader.is_paused()?,
                set_aside: reader.set_aside(now)?.into_iter().map(|run| run.waits_for).collect(),
                policy_broken,
                sqlite: crate::store::sqlite_version().to_owned(),
                rules_version: rules.rules.version().to_owned(),
                rules_broken: rules.broken,
                next_night,
                last_night: reader.last_night()?,
                worker,
                memory,
                model,
            })
        });
        Ok(health.await?)
    }

    async fn account_health(&self) -> anyhow::Result<Vec<AccountHealth>> {
        let (accounts, counts, unaccounted, conditions) = self
            .store
            .read(|reader| {
                Ok((reader.accounts()?, reader.ledger_counts()?, reader.unaccounted()?, reader.conditions()?))
            })
            .await?;
        let health = accounts.into_iter().map(|account| AccountHealth {
            notes: self.notes(&account),
            mails: counts.iter().filter(|(name, ..)| *name == account.account).map(|(.., count)| count).sum(),
            unaccounted: unaccounted.iter().find(|(name, _)| *name == account.account).map_or(0, |(_, count)| *count),
            condition: conditions.iter().find(|condition| condition.account == account.account).cloned(),
            account: account.account.to_string(),
            kind: account.kind,
            mode: account.mode,
            last_poll: account.polled_at,
        });
        Ok(health.collect())
    }

    /// What a person may want to do about an account.
    fn notes(&self, account: &Account) -> Vec<String> {
        let name = &account.account;
        let configured = self.config.accounts.iter().find(|known| known.name == *name);
        let polled = ["maildir", "gmail"].contains(&account.kind.as_str());
        let mut notes = Vec::new();
        if account.mode == AccountMode::Observe && polled {
            notes.push(format!("only observes; turn it on with `adjutant mail mode {name} active`"));
        }
        if configured.is_some_and(|known| known.trusted_servers.is_empty()) {
            notes.push(format!(
                "trusts no server, so no sender counts as verified; set trusted_servers of [[account]] {name}"
            ));
        }
        if configured.is_some_and(|known| !known.sample)
            && self.config.me.addresses.iter().any(|own| own.ends_with("@home.example"))
        {
            notes.push("[me] still names the sample person; set addresses in adjutant.toml".into());
        }
        if polled && configured.is_none() && account.mode != AccountMode::Retired {
            notes.push("is not in adjutant.toml any more; it is not polled".into());
        }
        if let Some(AccountKind::Gmail(gmail)) = configured.map(|known| &known.kind)
            && !gmail.token_file.is_file()
        {
            notes.push(format!("not signed in; run `adjutant auth gmail --account {name}`"));
        }
        notes
    }

    /// The process that holds the worker role now.
    pub(super) fn worker_pid(&self) -> Option<String> {
        let file = std::fs::File::open(self.home.lock_file()).ok()?;
        match file.try_lock_shared() {
            Ok(()) => None,
            Err(_) => std::fs::read_to_string(self.home.lock_file()).ok(),
        }
    }
}
