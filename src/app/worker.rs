//! The worker role: whoever holds the lock on the data folder takes mail in and works the graph. There is one.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read as _, Seek as _, Write as _},
    os::unix::fs::OpenOptionsExt,
    path::PathBuf,
    sync::Arc,
};

use anyhow::Context as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{App, Outcome, Report};
use crate::{
    config::AccountConfig,
    graph::{Engine, Library, Limits, Ticket, entry::RunHead, node::Nodes},
    ingest::{Fresh, Intake, Tally, Trust},
    model::RunKind,
    outbox::Outbox,
    reflection::Journal,
    rules::{Current, RulesWatch},
    source::Maildir,
    store::value::ReminderRow,
};

/// Everything a worker tells its door while it runs.
#[derive(Debug, Clone)]
pub enum Pulse {
    /// What became of the mail that was there at the start.
    Started(Report),
    /// One mail has its answer.
    Settled(Outcome),
    Reminder(ReminderRow),
    RulesBroken(String),
    /// A new version counts; so many tasks changed their level.
    RulesChanged { version: String, reranked: usize },
    /// An account could not be polled.
    Trouble { account: String, problem: String },
}

/// Another process is the worker.
#[derive(Debug, thiserror::Error)]
#[error("another adjutant is at work on this data folder (process {pid}). Use it, or stop it first")]
pub struct Held {
    pub pid: String,
}

pub struct Worker {
    pub app: App,
    pub engine: Engine,
    pub intakes: Vec<(Intake, PathBuf)>,
    pub rules: watch::Receiver<Arc<Current>>,
    pub journal: Journal,
    stop: CancellationToken,
    _lock: File,
}

impl App {
    /// Takes the role, or says who has it.
    pub async fn work(&self) -> anyhow::Result<Result<Worker, Held>> {
        let lock = match self.lock()? {
            Ok(lock) => lock,
            Err(held) => return Ok(Err(held)),
        };
        let stop = CancellationToken::new();
        let rules = RulesWatch::start(self.home.rules_file(), stop.clone()).subscribe();
        let outbox = Outbox::new(self.store.clone(), self.home.files(), self.config.labels.clone());
        let mut intakes = Vec::new();
        for account in &self.config.accounts {
            intakes.push((self.intake(account, &outbox).await?, account.path.clone()));
        }
        let journal = Journal::new(self.home.reflections());
        journal.mend(&self.store).await?;
        let library = Library { store: self.store.clone(), rules: rules.clone(), outbox, labels: self.config.labels.clone() };
        let nodes = Nodes::shipped(&Arc::new(self.config.me.clone()), &self.tools);
        let limits = Limits { in_flight: self.config.in_flight, ..Limits::default() };
        let (store, clock) = (self.store.clone(), self.clock.clone());
        let engine = Engine::new(nodes, Arc::new(library), store, clock, limits, Some(journal.clone()))?;
        Ok(Ok(Worker { app: self.clone(), engine, intakes, rules, journal, stop, _lock: lock }))
    }

    /// The lock belongs to the open file: it is free again the moment the process ends, however it ends.
    fn lock(&self) -> anyhow::Result<Result<File, Held>> {
        let path = self.home.lock_file();
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
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
                Ok(Err(Held { pid }))
            }
            Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("{} cannot be locked", path.display())),
        }
    }

    async fn intake(&self, account: &AccountConfig, outbox: &Outbox) -> anyhow::Result<Intake> {
        let name = account.name.clone();
        let known = self.store.read(move |reader| reader.known_keys(&name)).await?;
        let maildir = Maildir::open(account.path.clone(), known)
            .with_context(|| format!("the mailbox of account {} cannot be opened: {}", account.name, account.path.display()))?;
        if account.sample {
            maildir.create().context("the sample mailbox cannot be made")?;
            self.seed_samples(&maildir).await?;
        }
        let maildir = Arc::new(maildir);
        outbox.serve(account.name.clone(), maildir.clone());
        let old_after = chrono::Duration::days(i64::from(self.config.old_after_days));
        Ok(Intake {
            account: account.name.clone(),
            user: self.user.clone(),
            source: maildir,
            trust: Trust { servers: account.trusted_servers.clone() },
            store: self.store.clone(),
            clock: self.clock.clone(),
            old_after: Some(old_after),
        })
    }
}

impl Worker {
    /// Takes in what one account has and sets it going.
    pub async fn take_in(&self, intake: &Intake) -> anyhow::Result<(Tally, Option<std::time::Duration>)> {
        let mut pass = intake.begin().await?;
        while let Some(fresh) = pass.next().await? {
            for fresh in fresh {
                self.engine.start(ticket(intake, fresh)).await;
            }
        }
        Ok((pass.tally.clone(), pass.look_again))
    }

    /// Ingests every account, drains the graph, and reports.
    pub async fn once(&self) -> anyhow::Result<Report> {
        let before = self.app.now_report_mark().await?;
        self.engine.resume().await?;
        let mut tally = Tally::default();
        for (intake, _) in &self.intakes {
            loop {
                let (found, look_again) = self.take_in(intake).await?;
                tally.entered += found.entered;
                tally.duplicates += found.duplicates;
                tally.unreadable += found.unreadable;
                tally.gone += found.gone;
                match look_again {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => break,
                }
            }
        }
        self.engine.idle().await;
        self.app.rerank_if_new(&Arc::clone(&self.rules.borrow().rules)).await?;
        self.app.report(before, tally).await
    }

    pub async fn stop(self) {
        self.engine.stop().await;
        self.stop.cancel();
    }
}

fn ticket(intake: &Intake, fresh: Fresh) -> Ticket {
    let head = RunHead { run_id: fresh.run_id, account: intake.account.clone(), user: intake.user.clone(), kind: RunKind::Mail };
    Ticket::arrived(head, fresh.mail_id, fresh.mail)
}
