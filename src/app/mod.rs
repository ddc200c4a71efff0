//! Every use case as one method over a few handles. Doors decode, call here, encode; nothing below knows a door.

mod accounts;
mod approvals;
mod audit;
mod effects;
mod eval;
mod health;
mod llm;
mod mail;
mod memory;
mod nightly;
mod preview;
mod reference;
mod rules;
mod runs;
mod tasks;
mod worker;

use std::{path::Path, sync::Arc};

use anyhow::Context as _;

pub use accounts::PendingSignIn;
pub use approvals::{DecisionInput, ItemDetail, Recipient, is_approvable};
pub use audit::WitnessHealth;
pub use eval::{EvalKind, EvalMail, evaluate};
pub use health::{AccountHealth, Finding, FindingCode, Health, WaitingSteps};
pub use llm::{CostReport, ModelHealth};
pub use mail::{ImportReport, MailDetail, MailOutcome, PassReport, Progress, SearchResults, TaskLine, next_step};
pub use nightly::{DigestReport, NightlyReport, ReflectOutcome};
pub use preview::{PlanInput, PlanOutput, Preview, PreviewLine};
pub use reference::{BadInput, NotFound};
pub use rules::{DiffLine, RulesVersionDetail, WhatIfChange, WhatIfReport};
pub use runs::RunDetail;
pub use tasks::{NewTask, PriorityExplanation, TaskDetail};
pub use worker::{BackfillProgress, FollowedAccount, MailLocation, Worker, WorkerEvent, WorkerLockHeld};

use crate::{
    clock::Clock,
    config::{Config, Home},
    memory::Memory,
    model::{Account, AccountId, AccountMode, MailboxKind, UserId},
    store::{Store, Write},
    tool::Registry,
    witness::{DataReplaced, OpenFiles, Witness},
};

/// The one person of a default installation.
const DEFAULT_USER: &str = "me";
/// Where tasks live that came from no mailbox.
const LOCAL_ACCOUNT: &str = "local";

#[derive(Clone)]
pub struct App {
    pub home: Home,
    pub config: Arc<Config>,
    pub store: Store,
    pub clock: Clock,
    pub memory: Memory,
    pub tools: Arc<Registry>,
    pub user: UserId,
    /// What is known of this home outside it.
    witness: Witness,
    /// The files of the data folder that this process has open.
    open_files: OpenFiles,
    /// One night at a time: the schedule and a request may come together.
    nightly_lock: Arc<tokio::sync::Mutex<()>>,
}

impl App {
    pub async fn open(home: Home, config: Config, clock: Clock) -> anyhow::Result<Self> {
        let (store, open_files) = open_store(&home)?;
        let memory = Memory::open(&config.memory, store.clone(), clock.clone())?;
        let mut app = Self {
            home,
            config: Arc::new(config),
            store,
            clock,
            memory,
            tools: Arc::new(Registry::shipped()),
            user: UserId::from(DEFAULT_USER),
            witness: Witness::for_home(None, ""),
            open_files,
            nightly_lock: Arc::default(),
        };
        app.sync_configured_accounts().await?;
        app.attach_witness().await?;
        Ok(app)
    }

    /// Checks that this process still works on the data folder at its path. After an error it must do nothing more.
    pub fn check_data_folder(&self) -> Result<(), DataReplaced> {
        self.open_files.check()
    }

    /// Makes the rows of every configured account. A real one starts in observe mode and sends the samples home.
    async fn sync_configured_accounts(&self) -> anyhow::Result<()> {
        let known = self.store.read(|reader| reader.accounts()).await?;
        let has = |name: &AccountId| known.iter().any(|account| account.account == *name);
        let local = AccountId::from(LOCAL_ACCOUNT);
        if !has(&local) {
            self.ensure_account(local, MailboxKind::Local, AccountMode::Active).await?;
        }
        for account in self.config.accounts.iter().filter(|account| !has(&account.name)) {
            let mode = if account.is_sample { AccountMode::Active } else { AccountMode::Observe };
            self.ensure_account(account.name.clone(), account.kind.mailbox_kind(), mode).await?;
        }
        if self.config.accounts.iter().any(|account| !account.is_sample) {
            let samples = known.iter().find(|account| account.account.as_str() == crate::config::SAMPLES_ACCOUNT);
            if let Some(samples) = samples.filter(|account| account.mode != AccountMode::Retired) {
                let retire = Write::SetMode {
                    account: samples.account.clone(),
                    mode: AccountMode::Retired,
                    at: self.clock.now(),
                };
                self.store.write(retire).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn ensure_account(
        &self,
        account: AccountId,
        kind: MailboxKind,
        mode: AccountMode,
    ) -> anyhow::Result<()> {
        let row = Account {
            account,
            user: self.user.clone(),
            kind,
            mode,
            cursor: None,
            created_at: self.clock.now(),
            polled_at: None,
        };
        self.store.write(Write::OpenAccount(row)).await?;
        Ok(())
    }

    /// The files of reflections.
    pub fn reflection_files(&self) -> crate::reflection::ReflectionFiles {
        crate::reflection::ReflectionFiles::new(self.home.reflections(), self.config.me.time_zone)
    }

    /// The rules in force for a command that does not watch them.
    pub fn load_rules(&self) -> crate::rules::CurrentRules {
        crate::rules::load(&self.home.rules_file(), &self.home.last_good_rules())
    }

    /// Writes what a new home needs; nothing that is there is touched. What was written.
    pub fn init_home(root: &Path) -> anyhow::Result<Vec<String>> {
        let home = Home::at(root.to_owned());
        let files = [
            (home.config_file(), crate::config::TEMPLATE),
            (home.rules_file(), crate::rules::BUILT_IN),
            (home.policy_file(), crate::policy::BUILT_IN),
            (home.guidelines_file(), include_str!("../../guidelines.txt")),
        ];
        let mut written = Vec::new();
        for (path, text) in files {
            if path.exists() {
                continue;
            }
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
            }
            std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
            written.push(path.strip_prefix(root).unwrap_or(&path).display().to_string());
        }
        Ok(written)
    }
}

/// Opens the database, and notes which file it is. One that is exchanged meanwhile is not opened at all.
fn open_store(home: &Home) -> anyhow::Result<(Store, OpenFiles)> {
    let path = home.database();
    let before = OpenFiles::default().with_file_at(&path).unwrap_or_default();
    let store = Store::open(&path, &home.backups())?;
    before.check()?;
    let open_files = OpenFiles::default().with_file_at(&path);
    Ok((store, open_files.with_context(|| format!("{} cannot be looked at", path.display()))?))
}
