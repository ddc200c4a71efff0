//! The worker role: the process that holds the lock on the data folder takes in mail and drives runs. There is at most
//! one.
//!
//! Other commands may read and write the database at any time. Only the worker polls accounts, carries out effects and
//! runs the nightly job.

mod event;
mod followed_account;
mod lock;
mod request;
mod restart;

use std::{
    collections::HashSet,
    fs::File,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use event::WorkerEvent;
pub use followed_account::{FollowedAccount, MailLocation};
pub use lock::WorkerLockHeld;

use crate::{
    app::{App, PassReport},
    graph::{
        ActiveRun, Engine, EngineLimits, FilesPresence, LiveCallHandler, NodeModelCaller, entry::RunIdentity,
        node::Nodes,
    },
    ingest::{EnteredMail, IntakeCounts, PolledIntake},
    model::{ActionId, ItemRow, RunKind},
    outbox::Outbox,
    policy::EffectPolicy,
    reflection::ReflectionFiles,
    rules::{CurrentRules, RulesWatch},
    source::SourceError,
    store::{StoreError, Write},
    witness::DataReplaced,
};

/// The longest pause of a rate limit that the first pass waits for; longer ones are left to the polling loop.
const LONGEST_AWAITED_PAUSE: Duration = Duration::from_secs(1);

/// How much of an account's old mail is still to be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackfillProgress {
    pub account: String,
    pub left: u64,
}

/// The worker: everything that polls and drives runs. It holds the lock until it is dropped.
pub struct Worker {
    pub app: App,
    pub engine: Engine,
    pub followed_accounts: Vec<FollowedAccount>,
    pub rules: watch::Receiver<Arc<CurrentRules>>,
    pub journal: ReflectionFiles,
    /// Set once the reflection files were compared with their rows, which is needed once per process.
    reflections_repaired: tokio::sync::OnceCell<usize>,
    /// How many listed mails are still to be read, for an interface that shows it.
    pub backfill: watch::Sender<BackfillProgress>,
    policy: watch::Sender<Arc<EffectPolicy>>,
    outbox: Outbox,
    /// The drafts that this process has tried to throw away.
    tried_drafts: Mutex<HashSet<ActionId>>,
    model: Option<Arc<NodeModelCaller>>,
    stop: CancellationToken,
    /// The open lock file. Closing it ends the worker role, so it is kept although nothing reads it.
    _lock: File,
}

/// The use cases of the worker role: taking it, and requests to the process that has it.
#[derive(Clone, Copy)]
pub struct WorkerUseCases<'a> {
    pub(super) app: &'a App,
}

impl WorkerUseCases<'_> {
    /// Takes the worker role. Returns the process that has it if it is taken.
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

    /// Prepares everything a worker needs. The lock is held and is one of the checked open files.
    ///
    /// The order matters: a restore is detected before any account is opened, so that no effect of a restored database
    /// is carried out unchecked.
    async fn prepare(self, lock: File) -> anyhow::Result<Worker> {
        if !self.app.store.read(|reader| reader.documents().is_index_current()).await? {
            self.app.store.write(Write::RebuildSearchIndex).await?;
        }
        // Vectors of another embedder or another place cannot be compared with new ones.
        self.app.memory.reset_if_origin_changed().await?;
        let stop = CancellationToken::new();
        let last_good = self.app.home.last_good_rules();
        let rules = RulesWatch::start(self.app.home.rules_file(), &last_good, stop.clone()).subscribe();
        self.app.audit().start_epoch_if_restored().await?;
        let policy = watch::Sender::new(Arc::new(self.app.effects().load_policy()));
        let outbox = self.app.effects().build_outbox_with_policy(policy.subscribe())?;
        self.app.effects().note_policy_file().await?;
        // The policy may have changed while no worker was running.
        self.app.approvals().reevaluate_parked_actions().await?;
        let mut intakes = Vec::new();
        for account in &self.app.config.accounts {
            intakes.push(self.follow_account(account, &outbox).await?);
        }
        let journal = self.app.reflection_files();
        let model = self.app.model().start().await?;
        let me = Arc::new(self.app.config.me.clone());
        let library = LiveCallHandler {
            store: self.app.store.clone(),
            memory: self.app.memory.clone(),
            rules: rules.clone(),
            outbox: outbox.clone(),
            labels: self.app.config.labels.clone(),
            model: model.clone(),
            second_reader: self.app.config.second_reader,
            files: self.app.home.files(),
            files_presence: FilesPresence::default(),
            me: Arc::clone(&me),
        };
        let nodes = Nodes::with_planner(&me, &self.app.tools, &self.app.config.planner);
        let planner = &self.app.config.planner;
        let limits = EngineLimits {
            in_flight: self.app.config.in_flight,
            step_call_timeout: planner.completion_timeout.to_std().unwrap_or(EngineLimits::default().step_call_timeout),
            call_retries: planner.max_retry_attempts,
            ..EngineLimits::default()
        };
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
            outbox,
            tried_drafts: Mutex::default(),
            model,
            stop,
            _lock: lock,
        })
    }
}

impl Worker {
    /// Takes in the new mail of one account and starts its runs. Returns the counts, and when to poll again if there is
    /// more: a rate limit is a reason to come back, not an error.
    pub async fn poll_account(&self, followed: &FollowedAccount) -> anyhow::Result<(IntakeCounts, Option<Duration>)> {
        let _looking = followed.intake.poll_lock.lock().await;
        let mut tally = IntakeCounts::default();
        let outcome = self.run_intake_pass(&followed.intake, &mut tally).await;
        let outcome = outcome.or_else(|error| match error.downcast_ref() {
            Some(SourceError::RateLimited { after }) => Ok(Some(*after)),
            _ => Err(error),
        });
        self.app.accounts().record_condition(&followed.intake, &tally, outcome.as_ref().err()).await;
        Ok((tally, outcome?))
    }

    /// Reads what the account has, batch by batch, and starts a run for each new mail. Stops early when the engine
    /// stops; the cursor then stays where it is committed.
    async fn run_intake_pass(
        &self,
        intake: &PolledIntake,
        tally: &mut IntakeCounts,
    ) -> anyhow::Result<Option<Duration>> {
        let _reading = self.engine.begin_intake();
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

    /// Takes in the mail of every account, waits until all runs are done, and reports. An account that cannot be
    /// reached does not stop the others.
    pub async fn run_once(&self) -> anyhow::Result<PassReport> {
        self.run_pass(true).await
    }

    /// Does the same, but does not wait for the old mail of an account that has much of it. The loops go on with that.
    pub async fn run_once_without_waiting(&self) -> anyhow::Result<PassReport> {
        self.run_pass(false).await
    }

    /// Runs one pass: housekeeping, unfinished runs, the mail of every account, ranking, housekeeping again, embedding.
    async fn run_pass(&self, to_the_end: bool) -> anyhow::Result<PassReport> {
        self.app.check_data_folder()?;
        let before = self.app.mail().newest_id().await?;
        let mut troubles = Vec::new();
        // A file beside the database that cannot be used is reported; the mail is read all the same.
        troubles.extend(self.tend_or_say().await?);
        // Once per process is enough: from here on every line is written by this worker.
        self.reflections_repaired.get_or_try_init(|| self.journal.reconcile(&self.app.store)).await?;
        let reading = self.engine.begin_intake();
        self.engine.resume_unfinished_runs().await?;
        let mut tally = IntakeCounts::default();
        for followed in &self.followed_accounts {
            if let Err(error) = self.drain_account(followed, &mut tally, to_the_end).await {
                troubles.push(format!("account {}: {error:#}", followed.intake.account_intake.account));
            }
        }
        drop(reading);
        self.engine.wait_until_idle().await;
        let rules = Arc::clone(&self.rules.borrow().rules);
        self.app.tasks().rerank_if_rules_changed(&rules).await?;
        self.app.tasks().rerank_if_day_passed(&rules).await?;
        let trouble = self.tend_or_say().await?;
        troubles.extend(trouble.filter(|trouble| !troubles.contains(trouble)));
        let tended = self.app.search().embed_due_documents().await?;
        let mut report = self.app.mail().report_since(before, tally, troubles).await?;
        report.memory = tended.notice();
        Ok(report)
    }

    /// Polls an account until it has no more mail, and adds up the counts. With `to_the_end`, also waits out long rate
    /// limits.
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

    /// Works on unfinished runs that other commands left, and on nothing else.
    pub async fn finish_unfinished_runs(&self) -> anyhow::Result<()> {
        self.engine.resume_unfinished_runs().await?;
        self.engine.wait_until_idle().await;
        if let Some(trouble) = self.tend_or_say().await? {
            tracing::warn!("{trouble}");
        }
        Ok(())
    }

    /// Runs the housekeeping. Returns, in words, which files beside the database cannot be used. A database that fails
    /// or a data folder that was replaced is an error.
    async fn tend_or_say(&self) -> anyhow::Result<Option<String>> {
        match self.run_housekeeping().await {
            Ok(_) => Ok(None),
            Err(error) if error.chain().any(|cause| cause.is::<StoreError>() || cause.is::<DataReplaced>()) => {
                Err(error)
            }
            Err(error) => Ok(Some(format!("{error:#}"))),
        }
    }

    /// Reads `rules/policy.yml` again. Under a new version, everything that waits for approval is judged again. While
    /// the file is broken, waiting items stay as they are.
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

    /// Brings the database and the files beside it into agreement: the approval queue, expiry, approved proposals and
    /// the anchor of the audit chain. Returns the items that will expire soon.
    pub async fn run_housekeeping(&self) -> anyhow::Result<Vec<ItemRow>> {
        // After a replacement the files belong to another database and must not be touched.
        self.app.check_data_folder()?;
        self.reload_policy().await?;
        self.end_past_meetings().await?;
        self.discard_superfluous_drafts().await?;
        let soon = self.app.approvals().expire_overdue().await?;
        // Each step runs even if another fails: an unusable queue must not keep the head of the audit chain from being
        // recorded.
        let queue = self.app.approvals().reconcile_queue().await.map(drop);
        let proposals = self.app.rules().adopt_approved_proposals().await.map(drop);
        let noted = self.app.audit().evidence().record_head(&self.app.store, self.app.clock.now()).await;
        queue.and(proposals).and(noted)?;
        Ok(soon)
    }

    /// Ends the tasks about meetings whose time has passed.
    async fn end_past_meetings(&self) -> anyhow::Result<()> {
        let now = self.app.clock.now();
        if self.app.store.read(move |reader| reader.tasks().has_past_meetings(now)).await? {
            self.app.store.write(Write::EndPastMeetings { at: now }).await?;
        }
        Ok(())
    }

    /// Throws away the drafts of tasks that their conversations ended, and those that were stored while their effect was
    /// voided. A draft that cannot be thrown away, because a
    /// person has changed or moved it or the account may not be touched, is tried once per process.
    async fn discard_superfluous_drafts(&self) -> anyhow::Result<()> {
        for action_id in self.app.store.read(|reader| reader.outbox().unrecorded_drafts()).await? {
            self.outbox.discard_unrecorded_draft(action_id).await?;
        }
        for action_id in self.app.store.read(|reader| reader.outbox().superfluous_drafts()).await? {
            let is_new = self.tried_drafts.lock().unwrap_or_else(PoisonError::into_inner).insert(action_id);
            if is_new && let Err(error) = self.outbox.discard_draft(action_id, self.app.clock.now()).await {
                tracing::info!(action.id = %action_id, error = format!("{error:#}"), "a superfluous draft was left");
            }
        }
        Ok(())
    }

    /// Stops the engine and the watchers, and records the cost of model calls that were cut off.
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

/// Returns the run of a mail that was just entered into the ledger.
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
