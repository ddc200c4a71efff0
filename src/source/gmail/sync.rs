//! A Gmail account as a source: one look at everything there is, then only what changed.
//!
//! The cursor moves only with the messages it covers. What was there before is handed out part by part behind the new
//! mail, so that new mail never waits for old. A message is never called gone while Gmail still has it.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::{
    client::Client,
    cursor::{Backlog, Cursor},
    list,
    read::Readers,
    scope::Watched,
};
use crate::{
    clock::Clock,
    model::{Direction, Since},
    source::{
        FileNote, Found, PollResult, QuotaUsage, Source, SourceError,
        google::{ApiError, quota},
    },
};

/// Old mail handed out per poll, behind the new.
const CHUNK: usize = 128;
/// Between two parts of the backlog: time for new mail to be looked for.
const BETWEEN: Duration = Duration::from_millis(10);

/// What the person wants watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    /// Names or ids of labels.
    pub labels: Vec<String>,
    pub since: Since,
    /// Messages per page of a listing.
    pub page: u32,
    /// Messages of each label that are read when everything is listed; the newest.
    pub most: usize,
}

pub struct Gmail {
    pub(super) client: Client,
    watch: Watch,
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    watched: Option<Watched>,
    /// Listed and not yet taken in, oldest first. None before the first listing of this process.
    backlog: Option<VecDeque<String>>,
    /// So many of the backlog were handed out with this cursor. They are in the ledger when it comes back.
    offered: Option<(String, usize)>,
    /// What of the last poll is old, and read in no hurry.
    old: HashSet<String>,
    /// What of the last poll is ours only if reading it says so.
    unlabelled: HashSet<String>,
}

impl Gmail {
    pub fn new(client: Client, watch: Watch, clock: Clock) -> Self {
        Self { client, watch, clock, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Lists that are only ever replaced or cut from the front.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything the first look would find, oldest first: for a preview.
    pub fn survey(&self) -> Result<Vec<Found>, SourceError> {
        let since = self.watch.since.start_unix(self.clock.now());
        let watched =
            Watched::resolve(&self.client, &self.watch.labels).map_err(|error| error.into_source_error(None))?;
        let listed =
            list::all(&self.client, &watched, since, &self.watch).map_err(|error| error.into_source_error(None))?;
        Ok(listed.ids.into_iter().map(|id| self.found(id)).collect())
    }

    /// Whose mailbox it is.
    pub fn address(&self) -> Result<String, SourceError> {
        list::address(&self.client).map_err(|error| error.into_source_error(None))
    }

    fn look(&self, state: &mut State, before: Option<Cursor>) -> Result<PollResult, ApiError> {
        if state.watched.is_none() {
            state.watched = Some(Watched::resolve(&self.client, &self.watch.labels)?);
        }
        let Some(watched) = state.watched.clone() else { return Ok(PollResult::default()) };
        let Some(before) = before else {
            let since = self.watch.since.start_unix(self.clock.now());
            return self.begin(state, &watched, since, Backlog::First, 0);
        };
        let nth = before.nth + 1;
        match list::changes(&self.client, &watched, before.history, self.watch.page) {
            Ok(changes) => {
                let cursor = Cursor { history: changes.history, nth, ..before };
                let mut poll = self.hand_out(state, &watched, cursor, &changes.arrived)?;
                poll.gone = changes.deleted;
                state.unlabelled = changes.unlabelled;
                Ok(poll)
            }
            Err(ApiError::Gone) => self.begin(state, &watched, before.since, Backlog::Mending, nth),
            Err(error) => Err(error),
        }
    }

    /// Everything is listed. The history is asked first: what comes while we list is found by both ways, not by neither.
    /// Nothing is handed out yet: the cursor is stored at once, so that mail which comes now is new, not the last of the old.
    fn begin(
        &self,
        state: &mut State,
        watched: &Watched,
        since: i64,
        backlog: Backlog,
        nth: u64,
    ) -> Result<PollResult, ApiError> {
        let history = list::newest(&self.client)?;
        let list::Listed { ids: all, left_out } = list::all(&self.client, watched, since, &self.watch)?;
        let left = all.len();
        let backlog = if left == 0 { Backlog::Done } else { backlog };
        (state.backlog, state.offered) = (Some(all.into()), None);
        state.old.clear();
        state.unlabelled.clear();
        Ok(PollResult {
            cursor: Cursor { history, since, backlog, nth }.write(),
            backlog: left as u64,
            left_out,
            poll_again_after: (left > 0).then_some(BETWEEN),
            ..PollResult::default()
        })
    }

    /// New mail, then a part of the old.
    fn hand_out(
        &self,
        state: &mut State,
        watched: &Watched,
        mut cursor: Cursor,
        arrived: &[String],
    ) -> Result<PollResult, ApiError> {
        let mending = cursor.backlog == Backlog::Mending;
        if cursor.backlog != Backlog::Done && state.backlog.is_none() {
            state.backlog = Some(list::all(&self.client, watched, cursor.since, &self.watch)?.ids.into());
        }
        let backlog = state.backlog.iter().flatten().filter(|_| cursor.backlog != Backlog::Done);
        let there = backlog.clone().count();
        let part: Vec<String> = backlog.take(CHUNK).cloned().collect();
        let left = there - part.len();
        if left == 0 {
            cursor.backlog = Backlog::Done;
        }
        state.offered = Some((cursor.write(), part.len()));
        let fresh: HashSet<&String> = arrived.iter().collect();
        let old: Vec<String> = part.into_iter().filter(|id| !fresh.contains(id)).collect();
        state.old = old.iter().cloned().collect();
        Ok(PollResult {
            messages: arrived.iter().cloned().chain(old).map(|id| self.found(id)).collect(),
            cursor: cursor.write(),
            old_keys: state.old.clone(),
            is_resync: mending,
            backlog: left as u64,
            poll_again_after: (left > 0).then_some(BETWEEN),
            ..PollResult::default()
        })
    }

    /// As much as a listing tells; the rest is known when it is read.
    fn found(&self, key: String) -> Found {
        let arrived_at = self.clock.now();
        let (folder, direction) = (super::FOLDER.to_owned(), Direction::In);
        Found { key, folder, direction, arrived_at, size: 0, file: FileNote::default() }
    }
}

impl State {
    /// What was handed out with a cursor that came back is in the ledger.
    fn settle(&mut self, cursor: Option<&str>) {
        let Some((offered, part)) = self.offered.take() else { return };
        match &mut self.backlog {
            Some(backlog) if cursor == Some(offered.as_str()) => drop(backlog.drain(..part.min(backlog.len()))),
            _ => {}
        }
    }
}

impl Source for Gmail {
    fn poll(&self, cursor: Option<&str>) -> Result<PollResult, SourceError> {
        let mut state = self.lock();
        state.settle(cursor);
        self.look(&mut state, cursor.and_then(Cursor::parse)).map_err(|error| error.into_source_error(None))
    }

    fn fetch(&self, key: &str) -> Result<Vec<u8>, SourceError> {
        let (_, raw) = super::read::one(&self.client, self.found(key.to_owned()), None);
        raw
    }

    fn fetch_each(&self, found: Vec<Found>, each: &mut dyn FnMut(Found, Result<Vec<u8>, SourceError>)) {
        let (old, unlabelled, watched) = {
            let state = self.lock();
            (state.old.clone(), state.unlabelled.clone(), state.watched.clone())
        };
        let (client, patient) = (&self.client, &self.client.in_no_hurry());
        let (unlabelled, watched) = (&unlabelled, watched.as_ref());
        Readers { client, patient, old: &old, unlabelled, watched }.read(found, each);
    }

    fn quota_usage(&self) -> Option<QuotaUsage> {
        Some(QuotaUsage { quota_used: self.client.quota().used_last_minute(), quota: quota::PER_MINUTE })
    }
}
