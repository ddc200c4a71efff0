//! A Gmail account as a source: one full listing at first, then only what changed.
//!
//! The cursor moves only together with the messages it covers. Older mail is handed out in parts after the new mail of
//! each poll, so that new mail never waits for old. A message is never reported as gone while Gmail still has it.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::{
    client::GmailClient,
    cursor::{Backlog, GmailCursor},
    list,
    read::ParallelFetcher,
    watched_labels::WatchedLabels,
};
use crate::{
    clock::Clock,
    model::{Direction, Since},
    source::{
        FileNote, FoundMessage, PollResult, QuotaUsage, Source, SourceError,
        google::{ApiError, quota},
    },
};

/// Number of old messages that one poll hands out after the new ones.
const OLD_MAILS_PER_POLL: usize = 128;
/// Pause between two parts of the backlog, in which new mail is polled for.
const BACKLOG_PAUSE: Duration = Duration::from_millis(10);

/// Which mail of the account is taken in, from the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GmailWatchSettings {
    /// Names or ids of labels.
    pub labels: Vec<String>,
    /// How far back the first poll reaches.
    pub since: Since,
    /// Messages per page of a listing.
    pub page: u32,
    /// Upper bound of the messages of each label that a full listing hands out; the newest are chosen.
    pub most: usize,
}

/// One account's source. A poll locks its state, so polls run one at a time.
pub struct GmailSource {
    pub(super) client: GmailClient,
    settings: GmailWatchSettings,
    clock: Clock,
    state: Mutex<GmailSyncState>,
}

/// What the source remembers between polls. It can be lost at any time: the cursor is enough to continue.
#[derive(Default)]
struct GmailSyncState {
    watched: Option<WatchedLabels>,
    /// Ids that are listed and not yet taken in, oldest first. None before the first listing of this process.
    backlog: Option<VecDeque<String>>,
    /// The cursor of the last poll and how many ids of the backlog were handed out with it. They are in the ledger once
    /// that cursor comes back.
    handed_out: Option<(String, usize)>,
    /// Ids of the last poll that are old mail, read at low priority.
    old_ids: HashSet<String>,
    /// Ids of the last poll that are taken in only if reading them shows a watched label.
    unlabelled: HashSet<String>,
}

impl GmailSource {
    pub fn new(client: GmailClient, settings: GmailWatchSettings, clock: Clock) -> Self {
        Self { client, settings, clock, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, GmailSyncState> {
        // A panic elsewhere cannot leave the lists half changed: they are only replaced or cut from the front.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns everything that the first poll would find, oldest first, for a preview.
    pub fn list_for_preview(&self) -> Result<Vec<FoundMessage>, SourceError> {
        let since = self.settings.since.start_unix(self.clock.now());
        let watched = WatchedLabels::resolve(&self.client, &self.settings.labels)
            .map_err(|error| error.into_source_error(None))?;
        let listed = list::list_watched(&self.client, &watched, since, &self.settings)
            .map_err(|error| error.into_source_error(None))?;
        Ok(listed.ids.into_iter().map(|id| self.new_found_message(id)).collect())
    }

    /// Returns the address of the person who signed in.
    pub fn address(&self) -> Result<String, SourceError> {
        list::fetch_address(&self.client).map_err(|error| error.into_source_error(None))
    }

    /// Reads the history since the cursor. Without a cursor, or when it has expired, begins a full listing.
    fn poll_changes(&self, state: &mut GmailSyncState, before: Option<GmailCursor>) -> Result<PollResult, ApiError> {
        if state.watched.is_none() {
            state.watched = Some(WatchedLabels::resolve(&self.client, &self.settings.labels)?);
        }
        let Some(watched) = state.watched.clone() else { return Ok(PollResult::default()) };
        let Some(before) = before else {
            let since = self.settings.since.start_unix(self.clock.now());
            return self.start_full_listing(state, &watched, since, Backlog::First, 0);
        };
        let nth = before.nth + 1;
        match list::fetch_changes(&self.client, &watched, before.history, self.settings.page) {
            Ok(changes) => {
                let cursor = GmailCursor { history: changes.history, nth, ..before };
                let mut poll = self.hand_out_batch(state, &watched, cursor, &changes.arrived)?;
                poll.gone = changes.deleted;
                state.unlabelled = changes.unlabelled;
                Ok(poll)
            }
            Err(ApiError::Gone) => self.start_full_listing(state, &watched, before.since, Backlog::Mending, nth),
            Err(error) => Err(error),
        }
    }

    /// Lists everything. The history id is read first, so that mail which arrives during the listing is found in both
    /// ways rather than in neither. Hands out nothing yet: the cursor is stored at once, so that mail which arrives now
    /// counts as new, not as the last of the old.
    fn start_full_listing(
        &self,
        state: &mut GmailSyncState,
        watched: &WatchedLabels,
        since: i64,
        backlog: Backlog,
        nth: u64,
    ) -> Result<PollResult, ApiError> {
        let history = list::fetch_history_id(&self.client)?;
        let list::ListedMail { ids: all, left_out } = list::list_watched(&self.client, watched, since, &self.settings)?;
        let left = all.len();
        let backlog = if left == 0 { Backlog::Done } else { backlog };
        (state.backlog, state.handed_out) = (Some(all.into()), None);
        state.old_ids.clear();
        state.unlabelled.clear();
        Ok(PollResult {
            cursor: GmailCursor { history, since, backlog, nth }.write(),
            backlog: left as u64,
            left_out,
            poll_again_after: (left > 0).then_some(BACKLOG_PAUSE),
            ..PollResult::default()
        })
    }

    /// Hands out the new mail and then a part of the backlog.
    fn hand_out_batch(
        &self,
        state: &mut GmailSyncState,
        watched: &WatchedLabels,
        mut cursor: GmailCursor,
        arrived: &[String],
    ) -> Result<PollResult, ApiError> {
        let mending = cursor.backlog == Backlog::Mending;
        if cursor.backlog != Backlog::Done && state.backlog.is_none() {
            state.backlog = Some(list::list_watched(&self.client, watched, cursor.since, &self.settings)?.ids.into());
        }
        let backlog = state.backlog.iter().flatten().filter(|_| cursor.backlog != Backlog::Done);
        let there = backlog.clone().count();
        let part: Vec<String> = backlog.take(OLD_MAILS_PER_POLL).cloned().collect();
        let left = there - part.len();
        if left == 0 {
            cursor.backlog = Backlog::Done;
        }
        state.handed_out = Some((cursor.write(), part.len()));
        let fresh: HashSet<&String> = arrived.iter().collect();
        let old: Vec<String> = part.into_iter().filter(|id| !fresh.contains(id)).collect();
        state.old_ids = old.iter().cloned().collect();
        Ok(PollResult {
            messages: arrived.iter().cloned().chain(old).map(|id| self.new_found_message(id)).collect(),
            cursor: cursor.write(),
            old_keys: state.old_ids.clone(),
            is_resync: mending,
            backlog: left as u64,
            poll_again_after: (left > 0).then_some(BACKLOG_PAUSE),
            ..PollResult::default()
        })
    }

    /// Returns what a listing tells of a message. Direction, arrival and size are known once it is read.
    fn new_found_message(&self, key: String) -> FoundMessage {
        let arrived_at = self.clock.now();
        let (folder, direction) = (super::FOLDER.to_owned(), Direction::In);
        FoundMessage { key, folder, direction, arrived_at, size: 0, file: FileNote::default() }
    }
}

impl GmailSyncState {
    /// Removes the ids that were handed out from the backlog, if their cursor has come back: then they are in the
    /// ledger. If it has not, they are handed out again.
    fn confirm_handed_out(&mut self, cursor: Option<&str>) {
        let Some((offered, part)) = self.handed_out.take() else { return };
        match &mut self.backlog {
            Some(backlog) if cursor == Some(offered.as_str()) => drop(backlog.drain(..part.min(backlog.len()))),
            _ => {}
        }
    }
}

impl Source for GmailSource {
    fn poll(&self, cursor: Option<&str>) -> Result<PollResult, SourceError> {
        let mut state = self.lock();
        state.confirm_handed_out(cursor);
        self.poll_changes(&mut state, cursor.and_then(GmailCursor::parse))
            .map_err(|error| error.into_source_error(None))
    }

    fn fetch(&self, key: &str) -> Result<Vec<u8>, SourceError> {
        let (_, raw) = super::read::fetch_message(&self.client, self.new_found_message(key.to_owned()), None);
        raw
    }

    fn fetch_each(&self, found: Vec<FoundMessage>, each: &mut dyn FnMut(FoundMessage, Result<Vec<u8>, SourceError>)) {
        let (old, unlabelled, watched) = {
            let state = self.lock();
            (state.old_ids.clone(), state.unlabelled.clone(), state.watched.clone())
        };
        let (client, patient) = (&self.client, &self.client.for_backlog());
        let (unlabelled, watched) = (&unlabelled, watched.as_ref());
        ParallelFetcher { client, backlog_client: patient, old_ids: &old, unlabelled, watched }.read(found, each);
    }

    fn quota_usage(&self) -> Option<QuotaUsage> {
        Some(QuotaUsage { quota_used: self.client.quota().used_last_minute(), quota: quota::PER_MINUTE })
    }
}
