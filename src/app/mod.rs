//! The use cases, on one handle per area: `app.tasks()`, `app.approvals()`, `app.rules()` and so on. An interface
//! decodes its input, calls one method of a handle and encodes the result. Nothing in this module or below it knows an
//! interface, so that the command line and every later interface behave alike.

mod accounts;
mod approvals;
mod audit;
mod conversations;
mod effects;
mod eval;
mod first_start;
mod health;
mod llm;
mod mail;
mod nightly;
mod plans;
mod preview;
mod reference;
mod rules;
mod runs;
mod search;
mod tasks;
mod teams;
mod worker;

use std::{path::Path, sync::Arc};

use anyhow::Context as _;

pub use crate::reading::LOCAL_ACCOUNT;
pub use accounts::{AccountUseCases, PendingSignIn};
pub use approvals::{ApprovalUseCases, DecisionInput, ItemDetail, PlannedResponse, Recipient, is_approvable};
pub use audit::{AuditUseCases, WitnessHealth};
pub use conversations::{ChatInput, ChatOutput, ConversationUseCases, new_conversation_id};
pub use effects::EffectUseCases;
pub use eval::{EvalKind, EvalMail, evaluate};
pub use first_start::{CheckedAnswers, FirstAnswers, FirstStart, FoundMailbox, MailboxFormat};
pub use health::{AccountHealth, AccountStatus, Finding, FindingCode, Health, HealthUseCases, Status, WaitingSteps};
pub use llm::{CostReport, ModelHealth, ModelUseCases};
pub use mail::{ImportReport, MailDetail, MailOutcome, MailUseCases, PassReport, Progress, TaskLine, next_step};
pub use nightly::{AgreementDay, DigestReport, NightlyReport, NightlyUseCases, ReflectOutcome};
pub use plans::{AttachedFile, PlanUseCases, PreparedRequest};
pub use preview::{PlanInput, PlanOutput, Preview, PreviewLine, PreviewUseCases};
pub use reference::{BadInput, NotFound, parse_mail_id};
pub use rules::{
    DiffLine, RuleHits, RulesCopy, RulesOverview, RulesSaveOutcome, RulesUseCases, RulesVersionDetail, WhatIfChange,
    WhatIfReport,
};
pub use runs::{NodeVisit, RunDetail, RunTrace, RunUseCases};
pub use search::{SearchResults, SearchUseCases};
pub use tasks::{NewTask, OpenAge, PriorityExplanation, TaskDetail, TaskListUseCases, TaskUseCases, name_recipients};
pub use teams::{TeamDetail, TeamMode, TeamUseCases};
pub use worker::{
    BackfillProgress, FollowedAccount, MailLocation, Worker, WorkerEvent, WorkerLockHeld, WorkerUseCases,
};

use crate::{
    clock::Clock,
    config::{Config, Home},
    memory::Memory,
    model::{Actor, ClientName, UserId},
    rules::ParsedRulesCache,
    store::Store,
    tool::Registry,
    witness::{DataReplaced, OpenFiles, Witness},
};

/// The only person of a default installation.
const DEFAULT_USER: &str = "me";

/// An open home: its configuration, its database and everything that use cases share. Clones are cheap and share the
/// same database connections.
#[derive(Clone)]
pub struct App {
    pub home: Home,
    pub config: Arc<Config>,
    pub store: Store,
    pub clock: Clock,
    pub memory: Memory,
    pub tools: Arc<Registry>,
    pub user: UserId,
    /// What is recorded about this home outside its data folder.
    witness: Witness,
    /// The files of the data folder that this process has open.
    open_files: OpenFiles,
    /// Held while the nightly job runs, so that the schedule and a request do not run it at once.
    nightly_lock: Arc<tokio::sync::Mutex<()>>,
    /// Tells the process that the configuration was changed and is to be read again.
    restart: Arc<tokio::sync::Notify>,
    parsed_rules: Arc<ParsedRulesCache>,
}

impl App {
    /// Opens a home: migrates the database, creates the rows of configured accounts and finds the witness.
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
            // A placeholder: the witness is found by the home's id, which is in the database opened above.
            witness: Witness::for_home(None, ""),
            open_files,
            nightly_lock: Arc::default(),
            restart: Arc::default(),
            parsed_rules: Arc::default(),
        };
        app.accounts().sync_configured().await?;
        app.attach_witness().await?;
        Ok(app)
    }

    /// Checks that the data folder at its path is still the one that this process has open. After an error the process
    /// must write nothing more, because nobody would see it.
    pub fn check_data_folder(&self) -> Result<(), DataReplaced> {
        self.open_files.check()
    }

    /// Returns the writer of the reflection files.
    pub fn reflection_files(&self) -> crate::reflection::ReflectionFiles {
        crate::reflection::ReflectionFiles::new(self.home.reflections(), self.config.me.time_zone)
    }

    // One handle per area. Each borrows the app and holds nothing else.

    /// Accounts: opening them, signing in, modes, their condition.
    pub fn accounts(&self) -> AccountUseCases<'_> {
        AccountUseCases { app: self }
    }

    /// The approval queue: what waits for a person, and their decisions.
    pub fn approvals(&self) -> ApprovalUseCases<'_> {
        ApprovalUseCases { app: self }
    }

    /// The audit chain: verifying it, and recording its head outside the database.
    pub fn audit(&self) -> AuditUseCases<'_> {
        AuditUseCases { app: self }
    }

    /// Conversations with the assistant.
    pub fn conversations(&self) -> ConversationUseCases<'_> {
        ConversationUseCases { app: self }
    }

    /// Effects: the policy, the pause, the outbox, undoing.
    pub fn effects(&self) -> EffectUseCases<'_> {
        EffectUseCases { app: self }
    }

    /// The checks of `doctor`.
    pub fn health(&self) -> HealthUseCases<'_> {
        HealthUseCases { app: self }
    }

    /// Mail: the ledger, outcomes, imports, corrections.
    pub fn mail(&self) -> MailUseCases<'_> {
        MailUseCases { app: self }
    }

    /// The language model: its cost, and whether it can be used.
    pub fn model(&self) -> ModelUseCases<'_> {
        ModelUseCases { app: self }
    }

    /// The nightly job and the digest.
    pub fn nightly(&self) -> NightlyUseCases<'_> {
        NightlyUseCases { app: self }
    }

    /// The task planner: requests with several steps.
    pub fn plans(&self) -> PlanUseCases<'_> {
        PlanUseCases { app: self }
    }

    /// Reading mail without storing anything.
    pub fn preview(&self) -> PreviewUseCases<'_> {
        PreviewUseCases { app: self }
    }

    /// The rules files: versions, proposals, and what a change would do.
    pub fn rules(&self) -> RulesUseCases<'_> {
        RulesUseCases { app: self }
    }

    /// Runs: listing, replaying, forking.
    pub fn runs(&self) -> RunUseCases<'_> {
        RunUseCases { app: self }
    }

    /// Search by words and by meaning.
    pub fn search(&self) -> SearchUseCases<'_> {
        SearchUseCases { app: self }
    }

    /// Tasks: listing, adding, editing, reminders, invoices.
    pub fn tasks(&self) -> TaskUseCases<'_> {
        TaskUseCases { app: self, who: Actor::Person }
    }

    /// The same for a program that acts for the person: its name is in the history and the audit chain, and the nightly
    /// job learns nothing from what it changes.
    pub fn tasks_for(&self, client: ClientName) -> TaskUseCases<'_> {
        TaskUseCases { app: self, who: Actor::Client(client) }
    }

    /// Lists of tasks by page, and figures about what is open.
    pub fn task_lists(&self) -> TaskListUseCases<'_> {
        TaskListUseCases { app: self }
    }

    /// Teams: a task manager and its workers.
    pub fn teams(&self) -> TeamUseCases<'_> {
        TeamUseCases { app: self }
    }

    /// The worker role: taking it, and requests to the process that has it.
    pub fn worker(&self) -> WorkerUseCases<'_> {
        WorkerUseCases { app: self }
    }

    /// Writes the files that a new home needs, and changes none that exists. Returns the names of the written files.
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

/// Opens the database and notes which file it is. Fails when the file at the path was exchanged while it was being
/// opened.
fn open_store(home: &Home) -> anyhow::Result<(Store, OpenFiles)> {
    let path = home.database();
    // The file is noted before and after opening, so that an exchange in between cannot go unnoticed.
    let before = OpenFiles::default().with_file_at(&path).unwrap_or_default();
    let store = Store::open(&path, &home.backups())?;
    before.check()?;
    let open_files = OpenFiles::default().with_file_at(&path);
    Ok((store, open_files.with_context(|| format!("{} cannot be looked at", path.display()))?))
}
