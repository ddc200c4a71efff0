//! The use cases, one handle per area: `app.tasks()`, `app.approvals()`, `app.rules()`. An interface decodes, calls one
//! method of a handle and encodes; nothing in here or below knows an interface.

mod accounts;
mod approvals;
mod audit;
mod effects;
mod eval;
mod health;
mod llm;
mod mail;
mod nightly;
mod preview;
mod reference;
mod rules;
mod runs;
mod search;
mod tasks;
mod worker;

use std::{path::Path, sync::Arc};

use anyhow::Context as _;

pub use accounts::{AccountUseCases, PendingSignIn};
pub use approvals::{ApprovalUseCases, DecisionInput, ItemDetail, Recipient, is_approvable};
pub use audit::{AuditUseCases, WitnessHealth};
pub use effects::EffectUseCases;
pub use eval::{EvalKind, EvalMail, evaluate};
pub use health::{AccountHealth, Finding, FindingCode, Health, HealthUseCases, WaitingSteps};
pub use llm::{CostReport, ModelHealth, ModelUseCases};
pub use mail::{ImportReport, MailDetail, MailOutcome, MailUseCases, PassReport, Progress, TaskLine, next_step};
pub use nightly::{DigestReport, NightlyReport, NightlyUseCases, ReflectOutcome};
pub use preview::{PlanInput, PlanOutput, Preview, PreviewLine, PreviewUseCases};
pub use reference::{BadInput, NotFound, parse_mail_id};
pub use rules::{DiffLine, RulesUseCases, RulesVersionDetail, WhatIfChange, WhatIfReport};
pub use runs::{RunDetail, RunUseCases};
pub use search::{SearchResults, SearchUseCases};
pub use tasks::{NewTask, PriorityExplanation, TaskDetail, TaskUseCases};
pub use worker::{
    BackfillProgress, FollowedAccount, MailLocation, Worker, WorkerEvent, WorkerLockHeld, WorkerUseCases,
};

use crate::{
    clock::Clock,
    config::{Config, Home},
    memory::Memory,
    model::UserId,
    store::Store,
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
        app.accounts().sync_configured().await?;
        app.attach_witness().await?;
        Ok(app)
    }

    /// Checks that this process still works on the data folder at its path. After an error it must do nothing more.
    pub fn check_data_folder(&self) -> Result<(), DataReplaced> {
        self.open_files.check()
    }

    /// The files of reflections.
    pub fn reflection_files(&self) -> crate::reflection::ReflectionFiles {
        crate::reflection::ReflectionFiles::new(self.home.reflections(), self.config.me.time_zone)
    }

    // The areas: each handle borrows the app and holds nothing else.

    pub fn accounts(&self) -> AccountUseCases<'_> {
        AccountUseCases { app: self }
    }

    pub fn approvals(&self) -> ApprovalUseCases<'_> {
        ApprovalUseCases { app: self }
    }

    pub fn audit(&self) -> AuditUseCases<'_> {
        AuditUseCases { app: self }
    }

    pub fn effects(&self) -> EffectUseCases<'_> {
        EffectUseCases { app: self }
    }

    pub fn health(&self) -> HealthUseCases<'_> {
        HealthUseCases { app: self }
    }

    pub fn mail(&self) -> MailUseCases<'_> {
        MailUseCases { app: self }
    }

    pub fn model(&self) -> ModelUseCases<'_> {
        ModelUseCases { app: self }
    }

    pub fn nightly(&self) -> NightlyUseCases<'_> {
        NightlyUseCases { app: self }
    }

    pub fn preview(&self) -> PreviewUseCases<'_> {
        PreviewUseCases { app: self }
    }

    pub fn rules(&self) -> RulesUseCases<'_> {
        RulesUseCases { app: self }
    }

    pub fn runs(&self) -> RunUseCases<'_> {
        RunUseCases { app: self }
    }

    pub fn search(&self) -> SearchUseCases<'_> {
        SearchUseCases { app: self }
    }

    pub fn tasks(&self) -> TaskUseCases<'_> {
        TaskUseCases { app: self }
    }

    pub fn worker(&self) -> WorkerUseCases<'_> {
        WorkerUseCases { app: self }
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
