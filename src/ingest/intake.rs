//! Takes mail in: enters every message that a source hands out into the ledger, together with the cursor that covers
//! it.
//!
//! Reads and parses on blocking threads, commits in batches, and returns what is new to be worked. Never drops a
//! message: what cannot be read is entered with the reason.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::Context as _;

use super::{
    TrustedServers,
    parse::received_at,
    watchdog::{GuardedParser, ParseAborted, StepTracker, catch_panic, run_watched},
};
use crate::{
    clock::Clock,
    failpoint,
    model::{
        AccountId, Address, Arrival, ArrivalContent, ArrivalFile, ArrivalReceipt, Arrivals, Instant, LedgerRow, Mail,
        MailContext, MailId, MailState, RunId, UnchangedFile, UserId, ids::sha256_hex,
    },
    source::{ConfirmedFile, FileNote, FoundMessage, MAX_FETCH_BYTES, PollResult, Source, SourceError},
    store::{Receipt, SkipUnreadable as _, Store, Write},
};

/// Mails per commit: enough to share its cost, few enough to show progress.
pub const MAILS_PER_COMMIT: usize = 64;
/// After this many failed attempts to read a mail, it is parked for a person.
const MAX_READ_ATTEMPTS: u32 = 5;
/// Ledger reason of mail that is kept and never worked because of its sender.
pub const NEVER_TOUCH_REASON: &str = "its sender is in never_touch";

/// What is needed to parse one account's mail and enter it into the ledger, wherever the mail comes from.
#[derive(Clone)]
pub struct AccountIntake {
    pub account: AccountId,
    pub user: UserId,
    pub trusted_servers: TrustedServers,
    pub store: Store,
    pub clock: Clock,
    /// Mail older than this is kept and searchable, but opens no task.
    pub old_after: Option<chrono::Duration>,
    /// Addresses, or domains with an @ in front, whose mail is kept and never worked. In lower case.
    pub never_touch: Vec<String>,
    pub parser: GuardedParser,
}

/// The intake of an account whose mailbox is polled.
#[derive(Clone)]
pub struct PolledIntake {
    pub account_intake: AccountIntake,
    pub source: Arc<dyn Source>,
    /// Allows one poll at a time: a scheduled poll and a requested one may coincide.
    pub poll_lock: Arc<tokio::sync::Mutex<()>>,
}

/// A mail that was entered into the ledger and waits to be worked, with the run that was opened for it.
pub struct EnteredMail {
    pub mail_id: MailId,
    pub run_id: RunId,
    pub known: MailContext,
    pub mail: Arc<Mail>,
}

/// Updates of messages that are in the ledger already.
#[derive(Debug, Default)]
pub struct KnownMailUpdates {
    /// Keys of messages that are no longer in the mailbox.
    pub gone: Vec<String>,
    /// Messages whose file has a new stamp but unchanged content.
    pub confirmed_files: Vec<UnchangedFile>,
}

/// What one pass has done so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IntakeCounts {
    pub entered: usize,
    pub runs_opened: usize,
    pub duplicates: usize,
    pub unreadable: usize,
    pub gone: usize,
    /// Mails that were found only because everything was listed again after the cursor had expired, and mails that are
    /// listed but too many to be read.
    pub missed: usize,
    /// Seconds between the arrival of the newest new mail and its entry.
    pub lag_seconds: Option<u64>,
    /// Mails that are listed and left for later passes.
    pub backlog: u64,
}

/// The intake of one poll, batch by batch.
pub struct IntakePass {
    intake: PolledIntake,
    found: std::vec::IntoIter<FoundMessage>,
    gone: Vec<String>,
    confirmed_files: Vec<UnchangedFile>,
    /// The cursor of the poll, committed with the last batch; none afterwards. An error before that leaves the stored
    /// cursor as it is, so the next pass starts again from there.
    cursor: Option<String>,
    /// How often messages that could not be read have been tried.
    tries: HashMap<String, u32>,
    /// The error that ended the pass early. It is returned after what was read before it is committed.
    deferred_error: Option<SourceError>,
    /// Keys that lay in the mailbox before it was followed.
    old_keys: HashSet<String>,
    /// Whether `old_keys` were found only because the cursor had expired.
    is_resync: bool,
    pub counts: IntakeCounts,
    pub poll_again_after: Option<Duration>,
}

impl PolledIntake {
    /// Polls the source and drops what the ledger knows already. Messages that are due for another attempt are added.
    pub async fn start_pass(&self) -> anyhow::Result<IntakePass> {
        let (account, now) = (self.account_intake.account.clone(), self.account_intake.clock.now());
        let (row, due) = self
            .account_intake
            .store
            .read(move |reader| {
                Ok((reader.accounts().get(&account).skip_unreadable()?, reader.ledger().due_for_retry(&account, now)?))
            })
            .await?;
        let cursor = row.and_then(|account| account.cursor);
        let tries = due.iter().map(|row| (row.source_key.clone(), row.retries + 1)).collect();
        let (source, account_intake) = (Arc::clone(&self.source), self.account_intake.clone());
        let look = move || {
            let mut poll = failpoint::around("source.poll", || source.poll(cursor.as_deref()))?;
            let mut keys: Vec<String> = poll.messages.iter().map(|found| found.key.clone()).collect();
            keys.extend(poll.left_out.iter().cloned());
            let known = account_intake
                .store
                .read_blocking(|reader| reader.ledger().known_keys_among(&account_intake.account, keys))?;
            // Reading a mail may cost more than looking it up in the ledger.
            poll.messages.retain(|found| found.file.is_retry || !known.contains(&found.key));
            poll.left_out.retain(|key| !known.contains(key));
            let listed: HashSet<&str> = poll.messages.iter().map(|found| found.key.as_str()).collect();
            let again: Vec<FoundMessage> =
                due.into_iter().filter(|row| !listed.contains(row.source_key.as_str())).map(retry_from_row).collect();
            poll.messages.extend(again);
            anyhow::Ok(poll)
        };
        let poll = tokio::task::spawn_blocking(look).await.context("polling")??;
        let PollResult { left_out, unreadable, backlog, .. } = &poll;
        let (missed, gone) = (left_out.len(), poll.gone.len());
        let tally =
            IntakeCounts { gone, backlog: *backlog, missed, unreadable: *unreadable, ..IntakeCounts::default() };
        Ok(IntakePass {
            intake: self.clone(),
            found: poll.messages.into_iter(),
            gone: poll.gone,
            confirmed_files: poll.confirmed.into_iter().map(to_kept_file).collect(),
            cursor: Some(poll.cursor),
            tries,
            deferred_error: None,
            old_keys: poll.old_keys,
            is_resync: poll.is_resync,
            counts: tally,
            poll_again_after: poll.poll_again_after,
        })
    }

    /// Fetches and parses messages. Returns them in the order of the poll, and the error that keeps the rest from being
    /// read now, if any. A mail over which the parser exceeds its budget is parked alone.
    async fn fetch_arrivals(
        &self,
        found: Vec<FoundMessage>,
        tried: HashMap<String, u32>,
    ) -> anyhow::Result<(Vec<Arrival>, Option<SourceError>)> {
        let order: HashMap<String, usize> = found.iter().map(|found| found.key.clone()).zip(0..).collect();
        let (read, tried) = (Arc::new(Mutex::new(Fetched::default())), Arc::new(tried));
        let mut left = found;
        // Most polls find nothing, and then need no thread.
        while !left.is_empty() {
            let (source, account_intake, read_so_far) =
                (Arc::clone(&self.source), self.account_intake.clone(), Arc::clone(&read));
            let (wanted, tried) = (left.clone(), Arc::clone(&tried));
            let job = move |steps: &StepTracker<Arrival>| {
                source.fetch_each(wanted, &mut |message, raw| {
                    account_intake.parse_into_batch(message, raw, &tried, steps, &read_so_far)
                });
            };
            let stuck = run_watched(self.account_intake.parser.budget, job).await.context("reading mail")?;
            let Some(stuck) = stuck else { break };
            let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
            tracing::error!(account = %self.account_intake.account, "a mail took too long to read and was parked");
            read.arrivals.push(stuck);
            left.retain(|found| !read.arrivals.iter().any(|arrival| arrival.source_key == found.key));
        }
        let Fetched { mut arrivals, trouble } =
            std::mem::take(&mut *read.lock().unwrap_or_else(PoisonError::into_inner));
        arrivals.sort_by_key(|arrival| order.get(&arrival.source_key).copied());
        Ok((arrivals, trouble))
    }
}

/// What a batch has brought so far.
#[derive(Default)]
struct Fetched {
    arrivals: Vec<Arrival>,
    trouble: Option<SourceError>,
}

impl AccountIntake {
    /// Parses one fetched message and adds it to the batch. An error that concerns the whole mailbox is noted instead.
    fn parse_into_batch(
        &self,
        message: FoundMessage,
        raw: Result<Vec<u8>, SourceError>,
        tried: &HashMap<String, u32>,
        steps: &StepTracker<Arrival>,
        read: &Mutex<Fetched>,
    ) {
        let tried = tried.get(&message.key).copied().unwrap_or(0);
        let FoundMessage { key, folder, direction, arrived_at, mut size, file } = message;
        let mut sha256 = String::new();
        if let Ok(raw) = raw.as_ref()
            && !file.stamp.is_empty()
        {
            sha256 = sha256_hex(raw);
            size = Some(raw.len() as u64).filter(|size| *size < MAX_FETCH_BYTES).unwrap_or(size);
        }
        let file = ArrivalFile { stamp: file.stamp, sha256, completes: file.completes };
        // This is what becomes of the message if the parser never returns.
        let content = ArrivalContent::Parked { reason: ParseAborted::OverBudget.to_string() };
        steps.begin_step(Arrival { source_key: key, folder, direction, arrived_at, size, content, file });
        let content = match raw {
            Ok(raw) => Ok(self.triage_message(&raw, arrived_at)),
            Err(SourceError::Gone { .. }) => Ok(ArrivalContent::Gone),
            Err(error) if error.is_mailbox_wide() => Err(error),
            Err(error) => Ok(failed_read_content(&error, tried)),
        };
        let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
        match (steps.finish_step(), content) {
            (Some(arrival), Ok(content)) => read.arrivals.push(Arrival { content, ..arrival }),
            (Some(_), Err(trouble)) => {
                read.trouble.get_or_insert(trouble);
            }
            (None, _) => {}
        }
    }

    /// Parses one raw message and decides whether it is worked, only kept, or parked for a person.
    pub fn triage_message(&self, raw: &[u8], arrived_at: Instant) -> ArrivalContent {
        catch_panic(|| self.triage_unguarded(raw, arrived_at))
            .unwrap_or_else(|halted| ArrivalContent::Parked { reason: halted.to_string() })
    }

    /// Parses and decides without protection against panics.
    fn triage_unguarded(&self, raw: &[u8], arrived_at: Instant) -> ArrivalContent {
        let mut mail = match (self.parser.read)(raw, &self.trusted_servers) {
            Ok(mail) => mail,
            Err(error) => return ArrivalContent::Parked { reason: error.to_string() },
        };
        if mail.date_ignored {
            mail.date = Some(arrived_at);
        }
        let mail = Arc::new(mail);
        // This applies to unverified senders too: leaving a mail alone is the safe choice, whoever wrote it.
        if is_never_touched(&mail.from, &self.never_touch) {
            let doubt = if mail.authentication.verified { "" } else { "; nobody vouches that they wrote it" };
            return ArrivalContent::StoreOnly { reason: format!("{NEVER_TOUCH_REASON}{doubt}"), mail };
        }
        match self.old_since(&mail, raw, arrived_at) {
            Some(at) => ArrivalContent::StoreOnly { mail, reason: format!("old: written {}", at.day()) },
            None => ArrivalContent::Process(mail),
        }
    }

    /// Returns since when a mail counts as old; none when it is recent and is worked. A mail that arrived now is worked
    /// whatever its Date says. In a mailbox that was copied, old mail has new files: then the Received field of the
    /// receiving server decides.
    fn old_since(&self, mail: &Mail, raw: &[u8], arrived_at: Instant) -> Option<Instant> {
        let oldest = self.clock.now().plus(-self.old_after?);
        let written = mail.date.unwrap_or(arrived_at);
        if arrived_at < oldest {
            return Some(written.min(arrived_at));
        }
        // Few mails get here, so parsing the headers again costs little.
        let taken_in = if written < oldest { received_at(raw) } else { None };
        taken_in.filter(|at| *at < oldest).map(|at| at.min(written))
    }

    /// Commits a batch to the ledger, with the cursor if it is the last one. Returns the mails that wait to be worked.
    pub async fn commit_arrivals(
        &self,
        arrivals: Vec<Arrival>,
        left: KnownMailUpdates,
        cursor: Option<String>,
        tally: &mut IntakeCounts,
    ) -> anyhow::Result<Vec<EnteredMail>> {
        let work = |arrival: &Arrival| match &arrival.content {
            ArrivalContent::Process(mail) => Some((arrival.source_key.clone(), Arc::clone(mail))),
            _ => None,
        };
        let mut mails: HashMap<String, Arc<Mail>> = arrivals.iter().filter_map(work).collect();
        let lost = |arrival: &&Arrival| {
            matches!(arrival.content, ArrivalContent::Failed { .. } | ArrivalContent::Parked { .. })
        };
        tally.unreadable += arrivals.iter().filter(lost).count();
        let AccountIntake { account, user, store, clock, .. } = self;
        let (account, user, KnownMailUpdates { gone, confirmed_files: kept }) = (account.clone(), user.clone(), left);
        let batch =
            Arrivals { account, user, cursor, arrivals, gone_keys: gone, unchanged_files: kept, at: clock.now() };
        let Receipt::Arrived(arrived) = store.write(Write::RecordArrivals(Box::new(batch))).await? else {
            anyhow::bail!("the store answered something other than arrivals");
        };
        tally.entered += arrived.len();
        tally.duplicates += arrived.iter().filter(|entry| entry.state == MailState::Duplicate).count();
        let fresh = |entry: ArrivalReceipt| {
            let (run_id, known) = entry.run?;
            Some(EnteredMail { mail_id: entry.mail_id, run_id, known, mail: mails.remove(&entry.source_key)? })
        };
        let fresh: Vec<EnteredMail> = arrived.into_iter().filter_map(fresh).collect();
        tally.runs_opened += fresh.len();
        Ok(fresh)
    }
}

/// Returns whether the person wants a sender's mail kept and never worked. A domain includes its subdomains.
pub fn is_never_touched(sender: &Address, never_touch: &[String]) -> bool {
    never_touch.iter().any(|never| match never.strip_prefix('@') {
        Some(domain) => {
            let own = sender.domain();
            own == domain || own.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
        }
        None => sender.addr == *never,
    })
}

/// Returns a message that could not be read before, for another attempt.
fn retry_from_row(row: LedgerRow) -> FoundMessage {
    let LedgerRow { source_key: key, folder, direction, arrived_at, size, stamp, .. } = row;
    let file = FileNote { stamp, is_retry: true, completes: None };
    FoundMessage { key, folder, direction, arrived_at, size, file }
}

/// Converts a confirmed file for the store.
fn to_kept_file(ConfirmedFile { key, stamp, sha256 }: ConfirmedFile) -> UnchangedFile {
    UnchangedFile { source_key: key, stamp, sha256 }
}

/// Returns the ledger entry of a message that could not be read: retried, or parked after the last attempt.
fn failed_read_content(error: &SourceError, tried: u32) -> ArrivalContent {
    let cause = std::error::Error::source(error).map_or_else(String::new, |cause| format!(": {cause}"));
    if tried + 1 >= MAX_READ_ATTEMPTS {
        ArrivalContent::Parked { reason: format!("given up after {MAX_READ_ATTEMPTS} attempts: {error}{cause}") }
    } else {
        ArrivalContent::Failed { reason: format!("{error}{cause}") }
    }
}

impl IntakePass {
    /// Returns how many messages of the poll are still to be read.
    pub fn remaining(&self) -> usize {
        self.found.len()
    }

    /// Reads and commits the next batch, and returns the mails that wait to be worked. Returns none when everything is
    /// committed together with the cursor, or when a rate limit keeps the rest from being read now: then the cursor
    /// stays, and the next pass begins where this one did.
    pub async fn next(&mut self) -> anyhow::Result<Option<Vec<EnteredMail>>> {
        if let Some(trouble) = self.deferred_error.take() {
            self.cursor = None;
            return match trouble {
                SourceError::RateLimited { after } => {
                    self.poll_again_after = Some(after);
                    Ok(None)
                }
                trouble => Err(trouble.into()),
            };
        }
        let Some(cursor) = self.cursor.clone() else { return Ok(None) };
        let part: Vec<FoundMessage> = self.found.by_ref().take(MAILS_PER_COMMIT).collect();
        let (arrivals, trouble) = self.intake.fetch_arrivals(part, self.tries.clone()).await?;
        self.deferred_error = trouble;
        let last = self.found.len() == 0 && self.deferred_error.is_none();
        let (gone, kept) = (&mut self.gone, &mut self.confirmed_files);
        let left = if last {
            KnownMailUpdates { gone: std::mem::take(gone), confirmed_files: std::mem::take(kept) }
        } else {
            KnownMailUpdates::default()
        };
        let (old, new): (Vec<&Arrival>, Vec<&Arrival>) =
            arrivals.iter().partition(|arrival| self.old_keys.contains(&arrival.source_key));
        let missed = if self.is_resync { old.len() } else { 0 };
        let newest = new.iter().map(|arrival| arrival.arrived_at).max();
        let fresh = self
            .intake
            .account_intake
            .commit_arrivals(arrivals, left, last.then_some(cursor), &mut self.counts)
            .await?;
        self.counts.missed += missed;
        let age = |newest: Instant| (self.intake.account_intake.clock.now().utc() - newest.utc()).num_seconds();
        self.counts.lag_seconds = newest.map(|newest| age(newest).max(0).unsigned_abs()).or(self.counts.lag_seconds);
        if last {
            self.cursor = None;
        }
        Ok(Some(fresh))
    }
}
