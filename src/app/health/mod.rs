//! The checks of `adjutant doctor`: is every mail accounted for, and is everything whole and reachable? It repairs
//! nothing: each finding names what a person can do.

mod file_finding;
mod finding;
mod status;

pub use finding::{Finding, FindingCode, WaitingSteps};
use serde::Serialize;
pub use status::{AccountStatus, Status};

use crate::{
    app::{App, ModelHealth, WitnessHealth},
    audit::EvidenceVerification,
    ingest::escape_for_display,
    model::{
        Account, AccountCondition, AccountMode, Instant, ItemKind, MailState, MailboxKind, RunStatus, TaskStatus,
        UnreadableRows,
    },
    source::SourceError,
    store::Result,
};

/// The most folders of one account that are named.
const MOST_FOLDERS_NAMED: usize = 8;

/// Everything that `doctor` reports.
#[derive(Debug, Serialize)]
pub struct Health {
    /// What is wrong. With any finding, `doctor` exits with 4; the other fields are only information.
    pub findings: Vec<Finding>,
    /// The number of mails without an outcome that no run works on. It must be 0.
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
    /// The stored rows that cannot be read. There must be none.
    pub unreadable: UnreadableRows,
    /// Whether effects are paused.
    pub paused: bool,
    /// The runs that wait for a rate limit, a grace, room in the queue or the end of a pause, by reason.
    pub set_aside: Vec<WaitingSteps>,
    /// The number of runs that are due and that nobody works on.
    pub left_behind: u64,
    /// What is wrong with the policy file.
    pub policy_broken: Option<String>,
    /// Whether a policy file existed before and is missing now.
    pub policy_missing: bool,
    pub sqlite: String,
    pub rules_version: String,
    /// When the nightly job is due next.
    pub next_night: Option<Instant>,
    /// The last date for which the nightly job was done.
    pub last_night: Option<String>,
    pub rules_broken: Option<String>,
    /// The process id of the worker.
    pub worker: Option<String>,
    pub memory: crate::memory::MemoryStatus,
    /// The state of the model; none when none is configured.
    pub model: Option<ModelHealth>,
}

/// The state of one account.
#[derive(Debug, Serialize)]
pub struct AccountHealth {
    pub account: String,
    pub kind: MailboxKind,
    pub mode: AccountMode,
    pub last_poll: Option<Instant>,
    pub mails: u64,
    /// The number of mails with no ledger outcome and no active run, and of files in the mailbox without a ledger row.
    pub unaccounted: u64,
    /// The number of files that came since the last poll.
    pub waiting: u64,
    /// The result of the last poll, of an account that is reached over a network or whose last poll failed.
    pub condition: Option<AccountCondition>,
    /// What a person may want to do about the account; none of it is a fault.
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
    /// Runs all checks. One broken account or row does not keep the others from being checked.
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

    /// Checks every account. Returns their states, and what is wrong with them and with the files of the home.
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
                    // A mailbox with a known fault need not be reported a second time.
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

    /// Returns what a person may want to do about an account.
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
        let unread = self.app.accounts().list_unread_folders(account);
        if !unread.is_empty() {
            let (named, more) = unread.split_at(unread.len().min(MOST_FOLDERS_NAMED));
            let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            notes.push(format!(
                "folders that are not read, only the inbox and sent mail are: {}{more}",
                escape_for_display(&named.join(", "))
            ));
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

/// Returns the finding for a mailbox that could not be compared with the ledger.
fn not_compared(account: &Account, error: SourceError) -> Finding {
    let error = anyhow::Error::from(error);
    let what = format!("account {} could not be compared with the ledger: {error:#}", account.account);
    Finding::new(FindingCode::MailboxUnreachable, what, "make every folder in it readable for this user")
}
