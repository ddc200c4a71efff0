//! The worker role: whoever holds the lock on the data folder takes mail in and works the graph. There is one.

mod request;

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read as _, Seek as _, Write as _},
    os::unix::fs::OpenOptionsExt,
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    app::{App, MailOutcome, NightlyReport, PassReport, accounts::gmail::GmailConnection},
    config::{AccountConfig, AccountKind},
    graph::{ActiveRun, Engine, EngineLimits, LiveCallHandler, NodeModelCaller, entry::RunIdentity, node::Nodes},
    ingest::{AccountIntake, EnteredMail, GuardedParser, IntakeCounts, PolledIntake, TrustedServers},
    model::{ItemRow, ReminderRow, RunKind},
    outbox::Outbox,
    policy::EffectPolicy,
    reflection::ReflectionFiles,
    regular_file,
    rules::{CurrentRules, RulesWatch},
    source::{
        Maildir, Source, SourceError,
        gmail::{GmailSource, PushSubscription},
    },
    store::{StoreError, Write},
    witness::DataReplaced,
};

/// A pause that is worth waiting for at the start; a longer one is the loops' business.
const LONGEST_AWAITED_PAUSE: Duration = Duration::from_secs(1);

/// Everything a worker tells its door while it runs.
#[derive(Debug, Clone)]
pub enum WorkerEvent {
    /// What became of the mail that was there at the start.
    Started(PassReport),
    /// One mail has its answer.
    MailSettled(MailOutcome),
    ReminderDue(ReminderRow),
    /// Nobody has answered, and it will soon be void.
    ItemExpiring(Box<ItemRow>),
    RulesBroken(String),
    /// The memory cannot be reached, or can be again.
    MemoryAvailability(String),
    /// The nightly job was done.
    NightlyDone(Box<NightlyReport>),
    /// A new version counts; so many tasks changed their level.
    RulesChanged {
        version: String,
        reranked: usize,
    },
    /// The model cannot be used: rules go on alone.
    ModelUnavailable(String),
    /// An account could not be polled.
    PollFailed {
        account: String,
        problem: String,
    },
}

/// Another process is the worker.
#[derive(Debug, thiserror::Error)]
#[error("another adjutant is at work on this data folder (process {pid}). Use it, or stop it first")]
pub struct WorkerLockHeld {
    pub pid: String,
}

/// An account's way in, and the mailbox behind it.
pub struct FollowedAccount {
    pub intake: PolledIntake,
    pub location: MailLocation,
}

/// Where an account's mail lies.
#[derive(Clone)]
pub enum MailLocation {
    /// Files that are watched.
    Maildir(Arc<Maildir>),
    /// With the pushes that wake it, where there are any.
    Gmail { source: Arc<GmailSource>, push: Option<Arc<PushSubscription>> },
}

impl std::fmt::Display for MailLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Maildir(maildir) => maildir.root().display().fmt(f),
            Self::Gmail { .. } => f.write_str("Gmail"),
        }
    }
}

/// How far the first look at an account has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackfillProgress {
    pub account: String,
    pub left: u64,
}

pub struct Worker {
    pub app: App,
    pub engine: Engine,
    pub followed_accounts: Vec<FollowedAccount>,
    pub rules: watch::Receiver<Arc<CurrentRules>>,
    pub journal: ReflectionFiles,
    /// Whether the files of reflections were compared with their rows.
    reflections_repaired: tokio::sync::OnceCell<usize>,
    /// Mail that is listed and not yet read, for doors that show it.
    pub backfill: watch::Sender<BackfillProgress>,
    policy: watch::Sender<Arc<EffectPolicy>>,
    model: Option<Arc<NodeModelCaller>>,
    stop: CancellationToken,
    _lock: File,
}

/// The use cases of the worker role: taking it, and requests to the process that has it.
#[derive(Clone, Copy)]
pub struct WorkerUseCases<'a> {
    pub(super) app: &'a App,
}

impl WorkerUseCases<'_> {
    /// Takes the role, or says who has it.
    pub async fn start(self) -> anyhow::Result<Result<Worker, WorkerLockHeld>> {
        match self.try_lock()? {
            Ok(lock) => {
                let open_files = self.app.open_files.with_file(&self.app.home.lock_file(), &lock)?;
                open_files.check()?;
                let app = App { open_files, ..self.app.clone() };
                app.worker().prepare(lock).await.map(Ok)
            }
            Err(held) => Ok(Err(held)),
        }
    }

    /// Prepares everything a worker needs. The lock is held, and is one of the open files.
    async fn prepare(self, lock: File) -> anyhow::Result<Worker> {
        if !self.app.store.read(|reader| reader.documents().is_index_current()).await? {
            self.app.store.write(Write::RebuildSearchIndex).await?;
        }
        self.app.memory.reset_if_origin_changed().await?;
        let stop = CancellationToken::new();
        let last_good = self.app.home.last_good_rules();
        let rules = RulesWatch::start(self.app.home.rules_file(), &last_good, stop.clone()).subscribe();
        self.app.audit().start_epoch_if_restored().await?;
        let policy = watch::Sender::new(Arc::new(self.app.effects().load_policy()));
        let outbox = self.app.effects().build_outbox_with_policy(policy.subscribe())?;
        self.app.effects().note_policy_file().await?;
        self.app.approvals().reevaluate_parked_actions().await?;
        let mut intakes = Vec::new();
        for account in &self.app.config.accounts {
            intakes.push(self.follow_account(account, &outbox).await?);
        }
        let journal = self.app.reflection_files();
        let model = self.app.model().start().await?;
        let library = LiveCallHandler {
            store: self.app.store.clone(),
            memory: self.app.memory.clone(),
            rules: rules.clone(),
            outbox,
            labels: self.app.config.labels.clone(),
            model: model.clone(),
        };
        let nodes = Nodes::shipped(&Arc::new(self.app.config.me.clone()), &self.app.tools);
        let limits = EngineLimits { in_flight: self.app.config.in_flight, ..EngineLimits::default() };
        let (store, clock) = (self.app.store.clone(), self.app.clock.clone());
        let engine = Engine::new(nodes, Arc::new(library), store, clock, limits, Some(journal.clone()))?;
        let backfill = watch::Sender::new(BackfillProgress::default());
        let app = self.app.clone();
        Ok(Worker {
            app,
            engine,
            followed_accounts: intakes,
            rules,
            journal,
            reflections_repaired: tokio::sync::OnceCell::new(),
            backfill,
            policy,
            model,
            stop,
            _lock: lock,
        })
    }

    /// The lock belongs to the open file: it is free again the moment the process ends, however it ends.
    pub(in crate::app) fn try_lock(self) -> anyhow::Result<Result<File, WorkerLockHeld>> {
        let path = self.app.home.lock_file();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let open = regular_file::open_with(&mut options, &path);
        let mut file = open.with_context(|| format!("{} cannot be opened", path.display()))?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0)?;
                file.rewind()?;
                write!(file, "{}", std::process::id())?;
                Ok(Ok(file))
            }
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                file.read_to_string(&mut pid)?;
                Ok(Err(WorkerLockHeld { pid }))
            }
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("{} cannot be locked", path.display()))
            }
        }
    }

    async fn follow_account(self, account: &AccountConfig, outbox: &Outbox) -> anyhow::Result<FollowedAccount> {
        let (source, place): (Arc<dyn Source>, MailLocation) = match &account.kind {
            AccountKind::Maildir { path, sendmail } => {
                let maildir = Arc::new(self.app.accounts().open_maildir(account, path, sendmail.as_ref()));
                if account.is_sample {
                    maildir.create_inbox().context("the sample mailbox cannot be made")?;
                    self.app.accounts().seed_samples(&maildir).await?;
                }
                outbox.register_mailbox(account.name.clone(), maildir.clone());
                (maildir.clone(), MailLocation::Maildir(maildir))
            }
            AccountKind::Gmail(gmail) => {
                let GmailConnection { source, mailbox, push } = self.app.accounts().open_gmail(account, gmail);
                outbox.register_mailbox(account.name.clone(), Arc::new(mailbox));
                let source = Arc::new(source);
                (source.clone(), MailLocation::Gmail { source, push: push.map(Arc::new) })
            }
        };
        let account_intake = AccountIntake {
            account: account.name.clone(),
            user: self.app.user.clone(),
            trusted_servers: TrustedServers { servers: account.trusted_servers.clone() },
            store: self.app.store.clone(),
            clock: self.app.clock.clone(),
            old_after: Some(chrono::Duration::days(i64::from(self.app.config.old_after_days))),
            never_touch: account.never_touch.clone(),
            parser: GuardedParser::default(),
        };
        Ok(FollowedAccount {
            intake: PolledIntake { account_intake, source, poll_lock: Arc::default() },
            location: place,
        })
    }
}

impl Worker {
    /// Takes in what one account has and sets it going. A limit that is reached is a reason to look again, not trouble.
    pub async fn poll_account(&self, followed: &FollowedAccount) -> anyhow::Result<(IntakeCounts, Option<Duration>)> {
        let _looking = followed.intake.poll_lock.lock().await;
        let mut tally = IntakeCounts::default();
        let outcome = self.run_intake_pass(&followed.intake, &mut tally).await;
        let outcome = outcome.or_else(|error| match error.downcast_ref() {
            Some(SourceError::RateLimited { after }) => Ok(Some(*after)),
            _ => Err(error),
        });
        self.record_account_condition(&followed.intake, &tally, outcome.as_ref().err()).await;
        Ok((tally, outcome?))
    }

    async fn run_intake_pass(
        &self,
        intake: &PolledIntake,
        tally: &mut IntakeCounts,
    ) -> anyhow::Result<Option<Duration>> {
        let mut pass = intake.start_pass().await?;
        while !self.engine.is_stopping() {
            self.backfill.send_replace(BackfillProgress {
                account: intake.account_intake.account.to_string(),
                left: pass.remaining() as u64 + pass.counts.backlog,
            });
            let fresh = pass.next().await;
            *tally = pass.counts.clone();
            let Some(fresh) = fresh? else { break };
            for fresh in fresh {
                self.engine.start_run(new_mail_run(intake, fresh)).await;
            }
        }
        Ok(pass.poll_again_after)
    }

    /// Ingests every account, drains the graph, and reports. One account that cannot be reached does not stop the others.
    pub async fn run_once(&self) -> anyhow::Result<PassReport> {
        self.run_pass(true).await
    }

    /// The same, but nobody waits for the old mail of an account that has much of it: the loops go on with that.
    pub async fn run_once_without_waiting(&self) -> anyhow::Result<PassReport> {
        self.run_pass(false).await
    }

    async fn run_pass(&self, to_the_end: bool) -> anyhow::Result<PassReport> {
        self.app.check_data_folder()?;
        let before = self.app.mail().newest_id().await?;
        let mut troubles = Vec::new();
        // What lies beside the database and cannot be used is said; the mail is read all the same.
        troubles.extend(self.tend_or_say().await?);
        // Once is enough: from here on every line is written by this worker.
        self.reflections_repaired.get_or_try_init(|| self.journal.reconcile(&self.app.store)).await?;
        self.engine.resume_unfinished_runs().await?;
        let mut tally = IntakeCounts::default();
        for followed in &self.followed_accounts {
            if let Err(error) = self.drain_account(followed, &mut tally, to_the_end).await {
                troubles.push(format!("account {}: {error:#}", followed.intake.account_intake.account));
            }
        }
        self.engine.wait_until_idle().await;
        let rules = Arc::clone(&self.rules.borrow().rules);
        self.app.tasks().rerank_if_rules_changed(&rules).await?;
        let trouble = self.tend_or_say().await?;
        troubles.extend(trouble.filter(|trouble| !troubles.contains(trouble)));
        let tended = self.app.search().embed_due_documents().await?;
        let mut report = self.app.mail().report_since(before, tally, troubles).await?;
        report.memory = tended.notice();
        Ok(report)
    }

    async fn drain_account(
        &self,
        followed: &FollowedAccount,
        tally: &mut IntakeCounts,
        to_the_end: bool,
    ) -> anyhow::Result<()> {
        loop {
            let (found, look_again) = self.poll_account(followed).await?;
            tally.entered += found.entered;
            tally.duplicates += found.duplicates;
            tally.unreadable += found.unreadable;
            tally.gone += found.gone;
            tally.missed += found.missed;
            match look_again {
                Some(_) if self.engine.is_stopping() => return Ok(()),
                Some(pause) if !to_the_end && pause > LONGEST_AWAITED_PAUSE => return Ok(()),
                Some(pause) => self.app.clock.sleep(pause).await,
                None => return Ok(()),
            }
        }
    }

    /// Works what other commands left unfinished, and nothing else.
    pub async fn finish_unfinished_runs(&self) -> anyhow::Result<()> {
        self.engine.resume_unfinished_runs().await?;
        self.engine.wait_until_idle().await;
        if let Some(trouble) = self.tend_or_say().await? {
            tracing::warn!("{trouble}");
        }
        Ok(())
    }

    /// Tends, and returns in words what of the files beside the database cannot be used. A database that fails is an error,
    /// and so is a data folder that was replaced.
    async fn tend_or_say(&self) -> anyhow::Result<Option<String>> {
        match self.run_housekeeping().await {
            Ok(_) => Ok(None),
            Err(error) if error.chain().any(|cause| cause.is::<StoreError>() || cause.is::<DataReplaced>()) => {
                Err(error)
            }
            Err(error) => Ok(Some(format!("{error:#}"))),
        }
    }

    /// Follows `rules/policy.yml`; what waits for a person is asked anew under a new one. While the file is broken, what
    /// waits stays as it was asked.
    pub async fn reload_policy(&self) -> anyhow::Result<()> {
        let (policy, problem) = match self.app.effects().try_load_policy() {
            Ok(policy) => (policy, None),
            Err(problem) => (EffectPolicy::broken(), Some(problem)),
        };
        if policy.version != self.policy.borrow().version {
            if let Some(problem) = problem {
                tracing::warn!(problem, "{}", EffectPolicy::BROKEN);
            }
            self.policy.send_replace(Arc::new(policy));
            self.app.effects().note_policy_file().await?;
            self.app.approvals().reevaluate_parked_actions().await?;
        }
        Ok(())
    }

    /// Everything between the database and the files beside it: the queue, the clock's word, the anchor of the audit.
    pub async fn run_housekeeping(&self) -> anyhow::Result<Vec<ItemRow>> {
        // The files of another database would be made to say what this one says.
        self.app.check_data_folder()?;
        self.reload_policy().await?;
        let soon = self.app.approvals().expire_overdue().await?;
        // Each apart: a queue that cannot be used keeps nobody from noting the head of the audit chain.
        let queue = self.app.approvals().reconcile_queue().await.map(drop);
        let proposals = self.app.rules().adopt_approved_proposals().await.map(drop);
        let noted = self.app.audit().evidence().record_head(&self.app.store, self.app.clock.now()).await;
        queue.and(proposals).and(noted)?;
        Ok(soon)
    }

    pub async fn stop(self) {
        self.engine.stop().await;
        if let Some(model) = &self.model
            && let Err(error) = self.app.model().stop(model).await
        {
            tracing::warn!(
                error = format!("{error:#}"),
                "what the model cost is counted at its worst at the next start"
            );
        }
        self.stop.cancel();
    }
}

fn new_mail_run(intake: &PolledIntake, fresh: EnteredMail) -> ActiveRun {
    let head = RunIdentity {
        run_id: fresh.run_id,
        account: intake.account_intake.account.clone(),
        user: intake.account_intake.user.clone(),
        kind: RunKind::Mail,
        is_fork: false,
    };
    ActiveRun::for_arrived_mail(head, fresh.mail_id, fresh.mail, &fresh.known)
}
