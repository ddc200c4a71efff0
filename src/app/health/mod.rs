//! `adjutant doctor`: is everything accounted for, whole and in order?

mod file_finding;
mod finding;

pub use finding::{Finding, FindingCode, WaitingSteps};
use serde::Serialize;

use crate::{
    app::{App, ModelHealth, WitnessHealth},
    audit::EvidenceVerification,
    model::{
        Account, AccountCondition, AccountMode, Instant, ItemKind, MailState, MailboxKind, RunStatus, TaskStatus,
        UnreadableRows,
    },
    source::SourceError,
    store::Result,
};

#[derive(Debug, Serialize)]
pub struct Health {
    /// What is wrong; with any, `doctor` exits with 4. Everything else in here is only told.
    pub findings: Vec<Finding>,
    /// Mails without an answer that nobody works. Must be 0.
    pub unaccounted: u64,
    pub accounts: Vec<AccountHealth>,
    pub mails: Vec<(MailState, u64)>,
    pub tasks: Vec<(TaskStatus, u64)>,
    pub runs: Vec<(RunStatus, u64)>,
    pub effects: Vec<(String, u64)>,
    pub waiting_for_you: usize,
    pub illegal_transitions: u64,
    pub audit: EvidenceVerification,
    pub witness: WitnessHealth,
    /// Stored rows that cannot be read. Must be none.
    pub unreadable: UnreadableRows,
    /// Effects are held.
    pub paused: bool,
    /// Steps that wait for a cap, a grace, room in the queue or the end of a pause, and why.
    pub set_aside: Vec<WaitingSteps>,
    /// Steps whose time has come and that nobody works.
    pub left_behind: u64,
    pub policy_broken: Option<String>,
    /// There was a policy file before.
    pub policy_missing: bool,
    pub sqlite: String,
    pub rules_version: String,
    /// When the nightly job is due, and the last date it was done for.
    pub next_night: Option<Instant>,
    pub last_night: Option<String>,
    pub rules_broken: Option<String>,
    pub worker: Option<String>,
    pub memory: crate::memory::MemoryStatus,
    /// None without a model.
    pub model: Option<ModelHealth>,
}

#[derive(Debug, Serialize)]
pub struct AccountHealth {
    pub account: String,
    pub kind: MailboxKind,
    pub mode: AccountMode,
    pub last_poll: Option<Instant>,
    pub mails: u64,
    /// Mails nobody owes an answer any more to, yet without one; and files in the mailbox that no mail stands for.
    pub unaccounted: u64,
    /// Files that came since the last poll.
    pub waiting: u64,
    /// Of an account that is reached over a network, and of any other whose last poll failed.
    pub condition: Option<AccountCondition>,
    pub notes: Vec<String>,
}

impl Health {
    pub fn is_well(&self) -> bool {
        self.findings.is_empty()
    }
}

/// The use cases of `doctor`.
#[derive(Clone, Copy)]
pub struct HealthUseCases<'a> {
    pub(super) app: &'a App,
}

impl HealthUseCases<'_> {
    pub async fn check(self) -> anyhow::Result<Health> {
        let rules = self.app.rules().load();
        let (accounts, findings) = self.check_accounts().await?;
        let worker = self.app.worker().find_pid();
        let audit = self.app.audit().verify().await?;
        let witness = self.app.audit().witness_health().await?;
        let policy_broken = self.app.effects().try_load_policy().err();
        let policy_missing = self.app.effects().is_policy_file_missing().await?;
        let model = self.app.model().check_health().await?;
        let now = self.app.clock.now();
        let memory = self.app.memory.status().await?;
        let next_night = self.app.nightly().next_due().await?;
        let health = self.app.store.read(move |reader| -> Result<Health> {
            let mut mails: Vec<(MailState, u64)> = MailState::ALL.iter().map(|state| (*state, 0)).collect();
            for (_, state, count) in reader.ledger().counts()? {
                mails.iter_mut().filter(|(known, _)| *known == state).for_each(|(_, sum)| *sum += count);
            }
            let items = reader.approvals().open_items()?;
            let failed_steps = items.iter().filter(|item| item.kind == ItemKind::FailedStep).count() as u64;
            let mut health = Health {
                findings,
                unaccounted: accounts.iter().map(|account| account.unaccounted).sum(),
                accounts,
                mails,
                tasks: reader.tasks().counts()?,
                runs: reader.runs().counts()?,
                effects: reader.outbox().counts()?,
                waiting_for_you: items.len(),
                illegal_transitions: reader.tasks().count_illegal_transitions()?,
                audit,
                witness,
                unreadable: reader.unreadable_rows()?,
                paused: reader.settings().is_paused()?,
                set_aside: WaitingSteps::group(reader.runs().deferred(now)?, now),
                left_behind: reader.runs().count_left_behind(now)?,
                policy_broken,
                policy_missing,
                sqlite: crate::store::sqlite_version().to_owned(),
                rules_version: rules.rules.version().to_owned(),
                rules_broken: rules.broken.map(|broken| broken.to_string()),
                next_night,
                last_night: reader.nightly().last_date()?,
                worker,
                memory,
                model,
            };
            health.findings.extend(health.find_faults(failed_steps));
            Ok(health)
        });
        Ok(health.await?)
    }

    async fn check_accounts(self) -> anyhow::Result<(Vec<AccountHealth>, Vec<Finding>)> {
        let (accounts, counts, unaccounted, conditions) = self
            .app
            .store
            .read(|reader| {
                Ok((
                    reader.accounts().list()?,
                    reader.ledger().counts()?,
                    reader.ledger().count_unaccounted()?,
                    reader.accounts().conditions()?,
                ))
            })
            .await?;
        let condition_of = |account: &Account| conditions.iter().find(|known| known.account == account.account);
        let mut findings = self.find_file_faults();
        let mut health = Vec::new();
        for account in &accounts {
            let mut faults = self.find_account_faults(account, condition_of(account));
            let (overlooked, waiting) =
                self.app.accounts().count_unaccounted_files(account).await.unwrap_or_else(|error| {
                    faults.extend(faults.is_empty().then(|| not_compared(account, error)));
                    (0, 0)
                });
            findings.extend(faults);
            let known = unaccounted.iter().find(|(name, _)| *name == account.account).map_or(0, |(_, count)| *count);
            health.push(AccountHealth {
                notes: self.account_notes(account),
                mails: counts.iter().filter(|(name, ..)| *name == account.account).map(|(.., count)| count).sum(),
                unaccounted: known + overlooked,
                waiting,
                condition: condition_of(account).cloned(),
                account: account.account.to_string(),
                kind: account.kind,
                mode: account.mode,
                last_poll: account.polled_at,
            });
        }
        Ok((health, findings))
    }

    /// What a person may want to do about an account.
    fn account_notes(self, account: &Account) -> Vec<String> {
        let name = &account.account;
        let configured = self.app.config.accounts.iter().find(|known| known.name == *name);
        let polled = account.kind.is_polled();
        let mut notes = Vec::new();
        if account.mode == AccountMode::Observe && polled {
            notes.push(format!("only observes; turn it on with `adjutant mail mode {name} active`"));
        }
        if configured.is_some_and(|known| known.trusted_servers.is_empty()) {
            notes.push(format!(
                "trusts no server, so no sender counts as verified; set trusted_servers of [[account]] {name}"
            ));
        }
        let real = configured.is_some_and(|known| !known.is_sample);
        if real && self.app.config.me.names.is_empty() {
            notes.push("does not know your name, so letters are signed with the address; set names of [me]".into());
        }
        if real && self.app.config.me.configured_sender(name).is_none() {
            notes.push(
                "does not know your address, so nothing can be sent; set its address, or addresses of [me]".into(),
            );
        }
        let others = self.app.accounts().count_other_entries(account);
        if others > 0 {
            let are = if others == 1 {
                "entry in the mailbox is no mail file"
            } else {
                "entries in the mailbox are no mail files"
            };
            notes.push(format!("{others} {are} (a link, a pipe or a folder) and not read"));
        }
        if polled && configured.is_none() && account.mode != AccountMode::Retired {
            notes.push("is not in adjutant.toml any more; it is not polled".into());
        }
        notes
    }
}

/// A mailbox in which nobody can count what is unaccounted for.
fn not_compared(account: &Account, error: SourceError) -> Finding {
    let error = anyhow::Error::from(error);
    let what = format!("account {} could not be compared with the ledger: {error:#}", account.account);
    Finding::new(FindingCode::MailboxUnreachable, what, "make every folder in it readable for this user")
}
