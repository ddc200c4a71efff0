//! Imports an mbox, .eml files or a Maildir into an account of its own that only observes.

use std::{
    collections::HashSet,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context as _, bail};
use serde::Serialize;

use crate::{
    app::MailUseCases,
    ingest::{
        AccountIntake, GuardedParser, IntakeCounts, KnownMailUpdates, MAILS_PER_COMMIT, ParseAborted, StepTracker,
        TrustedServers, run_watched,
    },
    model::{AccountId, AccountMode, Arrival, ArrivalContent, ArrivalFile, Instant, MailboxKind},
    source::import::{Import, Imported, NotImported},
};

/// The counts of an import.
#[derive(Debug, Default, Serialize)]
pub struct ImportReport {
    pub account: String,
    pub mails: usize,
    pub new: usize,
    pub duplicates: usize,
    pub unreadable: usize,
    /// How many mails have a run to be worked on by the daemon or the next `once`.
    pub to_work: usize,
}

/// How far an import or a rebuild has come.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// What is done, in bytes for an import and in documents for a rebuild.
    pub done: u64,
    pub total: u64,
}

impl MailUseCases<'_> {
    /// Imports a file or a folder. Mail older than the configured age opens no task, unless `tasks` is set. A repeated
    /// import adds nothing twice.
    pub async fn import(
        self,
        path: &Path,
        account: &str,
        tasks: bool,
        mut tell: impl FnMut(Progress),
    ) -> anyhow::Result<ImportReport> {
        let name = AccountId::from(account);
        // The name becomes part of ids and command lines, so only plain characters are allowed.
        let plain =
            !account.is_empty() && account.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        if !plain || self.app.config.accounts.iter().any(|known| known.name == name) {
            bail!(
                "'{account}' cannot be the name of an import: use letters, digits, - _ . and no name of a configured account"
            );
        }
        let known = {
            let name = name.clone();
            self.app.store.read(move |reader| reader.accounts().get(&name)).await?
        };
        if known.as_ref().is_some_and(|known| known.kind != MailboxKind::Import) {
            bail!("the account '{account}' exists and is not an import; choose another with --account");
        }
        self.app.accounts().ensure(name.clone(), MailboxKind::Import, AccountMode::Observe).await?;
        let archive = Import::open(path).with_context(|| format!("{} cannot be imported", path.display()))?;
        let total = archive.total_bytes();
        let days = chrono::Duration::days(i64::from(self.app.config.old_after_days));
        let account_intake = AccountIntake {
            account: name,
            user: self.app.user.clone(),
            trusted_servers: TrustedServers::default(),
            store: self.app.store.clone(),
            clock: self.app.clock.clone(),
            // Without a limit on the age, mail of any age may open tasks.
            old_after: (!tasks).then_some(days),
            never_touch: Vec::new(),
            parser: GuardedParser::default(),
        };
        let account_name = account_intake.account.clone();
        // Messages that an earlier import could not read are given another chance.
        let unread = Arc::new(self.app.store.read(move |reader| reader.ledger().unreadable_keys(&account_name)).await?);
        let mut report = ImportReport { account: account.to_owned(), ..ImportReport::default() };
        let mut tally = IntakeCounts::default();
        let archive = Arc::new(Mutex::new(archive));
        let mut last = false;
        while !last {
            let part = read_batch(&archive, &account_intake, &unread).await?;
            report.mails += part.arrivals.len();
            tell(Progress { done: part.progress, total });
            last = part.last;
            let left = KnownMailUpdates { gone: part.now_readable, ..KnownMailUpdates::default() };
            account_intake.commit_arrivals(part.arrivals, left, None, &mut tally).await?;
        }
        report.new = tally.entered;
        report.duplicates = tally.duplicates;
        report.unreadable = tally.unreadable;
        report.to_work = tally.runs_opened;
        Ok(report)
    }
}

/// The messages that are committed together.
#[derive(Default)]
struct ImportBatch {
    arrivals: Vec<Arrival>,
    /// The keys of messages that an earlier import could not read and this one can.
    now_readable: Vec<String>,
    progress: u64,
    /// Whether the import has no further message.
    last: bool,
}

impl ImportBatch {
    fn is_full(&self) -> bool {
        self.arrivals.len() >= MAILS_PER_COMMIT
    }
}

/// Reads the next messages under a watchdog. A message whose parsing does not end is parked alone, and the others are
/// read.
async fn read_batch(
    archive: &Arc<Mutex<Import>>,
    account_intake: &AccountIntake,
    unread: &Arc<HashSet<String>>,
) -> anyhow::Result<ImportBatch> {
    let part = Arc::new(Mutex::new(ImportBatch::default()));
    loop {
        let (archive, so_far) = (Arc::clone(archive), Arc::clone(&part));
        let (reads, unread) = (account_intake.clone(), Arc::clone(unread));
        let job = move |steps: &StepTracker<Arrival>| while read_next(&archive, &reads, &unread, steps, &so_far) {};
        let stuck = run_watched(account_intake.parser.budget, job).await.context("reading mail")?;
        let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
        let done = stuck.is_none();
        part.arrivals.extend(stuck);
        if done || part.is_full() {
            return Ok(std::mem::take(&mut *part));
        }
    }
}

/// Reads one more message. Returns false when the batch is full, when there is no message left, or when the watchdog
/// has given up this thread.
fn read_next(
    archive: &Mutex<Import>,
    account_intake: &AccountIntake,
    unread: &HashSet<String>,
    steps: &StepTracker<Arrival>,
    part: &Mutex<ImportBatch>,
) -> bool {
    let next = archive.lock().unwrap_or_else(PoisonError::into_inner).next();
    let part = || part.lock().unwrap_or_else(PoisonError::into_inner);
    match next {
        None => part().last = true,
        Some(Err(message)) => part().arrivals.push(unreadable(message, account_intake.clock.now())),
        Some(Ok(Imported { key, place_key: place, folder, direction, arrived_at, bytes, progress })) => {
            {
                let mut part = part();
                part.progress = progress;
                part.now_readable.extend(unread.get(&place).cloned());
            }
            let (size, file) = (bytes.len() as u64, ArrivalFile::default());
            // This is what is stored if the parsing does not end.
            let content = ArrivalContent::Parked { reason: ParseAborted::OverBudget.to_string() };
            steps.begin_step(Arrival { source_key: key, folder, direction, arrived_at, size, content, file });
            let content = account_intake.triage_message(&bytes, arrived_at);
            let mut part = part();
            let Some(arrival) = steps.finish_step() else { return false };
            part.arrivals.push(Arrival { content, ..arrival });
        }
    }
    let part = part();
    !part.last && !part.is_full()
}

/// Returns the arrival of a message that cannot be read: it is in the ledger as parked, with the reason.
fn unreadable(message: NotImported, arrived_at: Instant) -> Arrival {
    let NotImported { key, folder, direction, error } = message;
    let cause = std::error::Error::source(&error).map_or_else(String::new, |cause| format!(": {cause}"));
    let content = ArrivalContent::Parked { reason: format!("{error}{cause}") };
    Arrival { source_key: key, folder, direction, arrived_at, size: 0, content, file: ArrivalFile::default() }
}
