//! A Maildir as a source: the inbox and `.Sent`, read where other programs leave and move their files.
//!
//! A message is its content; the name of its file is a hint where to look. Nothing in here deletes a message, changes one,
//! or reads one through a link; a link in the place of a folder is that folder. Delivery and archiving are moves within one
//! file system, so a message is always somewhere.

mod cursor;
mod deliver;
mod folders;
mod ledger;
mod listing;
mod mailbox;
mod name;
mod scan;
mod sent_search;
mod stamp;
mod state;
#[cfg(test)]
mod tests;
pub mod watch;

use std::{
    ffi::{OsStr, OsString},
    fmt, fs,
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Instant as Stopwatch, SystemTime, UNIX_EPOCH},
};

use super::{MAX_FETCH_BYTES, PollResult, Sendmail, Source, SourceError};
use crate::model::{Direction, ids::sha256_hex};
use folders::MaildirFolders;
pub use ledger::{LedgerMessage, MaildirLedger};
use scan::Scan;
use stamp::FileStamp;
use state::{HandedOutMessages, MAX_SWEPT_EVERY_POLL, MaildirState};

/// The name of the inbox in keys.
pub const INBOX: &str = "INBOX";
pub const SENT: &str = ".Sent";
pub const ARCHIVE: &str = ".Archive";

/// What is listed: a folder, its two directories, the direction of its mail.
const LISTED_FOLDERS: [(&str, Direction); 2] = [(INBOX, Direction::In), (SENT, Direction::Out)];
const STATES: [&str; 2] = ["new", "cur"];

pub struct Maildir {
    folders: MaildirFolders,
    ledger: Box<dyn MaildirLedger>,
    /// Without one, what is sent is only saved.
    sendmail: Option<Sendmail>,
    state: Mutex<MaildirState>,
}

impl fmt::Debug for Maildir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Maildir").field("root", &self.folders.root()).finish_non_exhaustive()
    }
}

impl Maildir {
    /// `recall`: what the ledger has of this Maildir. It is asked when the first poll, or a message it knows, needs it.
    pub fn open(root: PathBuf, ledger: Box<dyn MaildirLedger>) -> Self {
        Self { folders: MaildirFolders::new(root), ledger, sendmail: None, state: Mutex::default() }
    }

    #[must_use]
    pub fn with_sendmail(mut self, sendmail: Option<Sendmail>) -> Self {
        self.sendmail = sendmail;
        self
    }

    pub fn root(&self) -> &Path {
        self.folders.root()
    }

    fn lock(&self) -> MutexGuard<'_, MaildirState> {
        // The state is a cache and a set; neither can be left half changed by a panic elsewhere.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unavailable(&self, source: io::Error) -> SourceError {
        SourceError::Unavailable { what: format!("the Maildir {}", self.folders.root().display()), source }
    }

    /// Whether the message of that key is in that folder now.
    fn is_in_folder(&self, folder: &str, key: &str) -> Result<bool, SourceError> {
        let Some((_, unique)) = name::parse_key(key) else { return Ok(false) };
        let remembered = self.ledger_message(key).map_err(|error| self.unavailable(error))?;
        let mut state = self.lock();
        for dir in self.folders.dirs(folder).iter().filter(|dir| dir.is_dir()) {
            state.listings.invalidate(dir);
            state.listings.get_or_read(dir, SystemTime::now()).map_err(|error| self.unavailable(error))?;
            for name in possible_names(&unique, remembered.as_ref()) {
                if state.listings.paths_named(dir, &name).iter().any(|path| is_message(path, key, remembered.as_ref()))
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn ledger_message(&self, key: &str) -> io::Result<Option<LedgerMessage>> {
        Ok(self.ledger.messages_named(name::base_of_key(key))?.into_iter().find(|row| row.key == key))
    }

    /// Where the message is now: under the name last seen, else wherever it was moved. A file that took over its name is
    /// another message.
    fn locate(&self, state: &mut MaildirState, folder: &str, unique: &OsStr, key: &str) -> io::Result<Option<PathBuf>> {
        let remembered = self.ledger_message(key)?;
        let names = possible_names(unique, remembered.as_ref());
        let its = |path: &PathBuf| is_message(path, key, remembered.as_ref());
        for (dir, name) in self.folders.dirs(folder).iter().flat_map(|dir| names.iter().map(move |name| (dir, name))) {
            if let Some(path) = state.listings.paths_named(dir, name).into_iter().find(its) {
                return Ok(Some(path));
            }
        }
        let mut folders = self.folders.list()?;
        folders.sort_by_key(|other| other != folder);
        let mut unread = None;
        for dir in folders.iter().flat_map(|folder| self.folders.dirs(folder)) {
            state.listings.invalidate(&dir);
            if let Err(error) = state.listings.get_or_read(&dir, SystemTime::now()) {
                unread = unread.or(Some(error));
                continue;
            }
            if let Some(path) = names.iter().flat_map(|name| state.listings.paths_named(&dir, name)).find(its) {
                return Ok(Some(path));
            }
        }
        // It may be where nobody could look.
        unread.map_or(Ok(None), Err)
    }

    fn locate_or_gone(&self, state: &mut MaildirState, key: &str) -> Result<PathBuf, SourceError> {
        let gone = || SourceError::Gone { key: key.to_owned() };
        let (folder, unique) = name::parse_key(key).ok_or_else(gone)?;
        self.locate(state, folder, &unique, key).map_err(|error| self.unavailable(error))?.ok_or_else(gone)
    }

    /// Returns how many files no row of the ledger stands for: those that lay still in the mailbox when the poll of this
    /// cursor was made, and those that came since. What could not be compared counts among the first.
    pub fn count_unaccounted(&self, cursor: &str) -> Result<(u64, u64), SourceError> {
        let polled = cursor::polled_at(cursor).unwrap_or(UNIX_EPOCH);
        let poll = self.poll(None)?;
        let files = poll.messages.iter().map(|found| &found.file).filter(|file| !file.is_retry);
        let (old, new): (Vec<_>, Vec<_>) =
            files.partition(|file| FileStamp::parse(&file.stamp).is_some_and(|stamp| stamp.is_unchanged_since(polled)));
        Ok(((old.len() + poll.unreadable) as u64, new.len() as u64))
    }

    /// Returns how many entries of the listed folders are no mail files: links, pipes and the like, which nobody reads.
    pub fn count_other_entries(&self) -> Result<u64, SourceError> {
        let dirs = LISTED_FOLDERS.iter().flat_map(|(folder, _)| self.folders.dirs(folder));
        let counts = dirs.map(|dir| listing::count_other_entries(&dir)).collect::<io::Result<Vec<_>>>();
        counts.map(|counts| counts.into_iter().sum()).map_err(|error| self.unavailable(error))
    }
}

/// The names a message may have: its own, and the one it is given where that is taken.
fn possible_names(unique: &OsStr, remembered: Option<&LedgerMessage>) -> Vec<OsString> {
    let sha256 = remembered.map(|row| row.sha256.as_str()).filter(|sha256| !sha256.is_empty());
    let beside = sha256.map(|sha256| name::name_with_digest(unique, sha256));
    std::iter::once(unique.to_owned()).chain(beside).collect()
}

/// Whether the file is the message of this key. What the ledger does not know goes by its name alone.
fn is_message(path: &Path, key: &str, remembered: Option<&LedgerMessage>) -> bool {
    let Ok(meta) = fs::symlink_metadata(path) else { return false };
    let has = |digest: &str| read_file(path).is_ok_and(|bytes| sha256_hex(&bytes).starts_with(digest));
    match remembered {
        Some(row) if row.has_stamp(&FileStamp::of(&meta)) => true,
        Some(row) if row.sha256.is_empty() => !row.is_read || row.size == meta.len(),
        Some(row) => has(&row.sha256),
        None => name::digest_of(key).is_none_or(has),
    }
}

impl Source for Maildir {
    fn poll(&self, cursor: Option<&str>) -> Result<PollResult, SourceError> {
        let mut state = self.lock();
        let state = &mut *state;
        state.confirm_handed_out(cursor);
        // The age of a file is measured against the clock that stamped it, not the program's own.
        let now = SystemTime::now();
        let nanos = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        state.last_poll = u64::try_from(nanos).unwrap_or(u64::MAX).max(state.last_poll.saturating_add(1));
        let stamps = self.folders.dir_stamps().map_err(|error| self.unavailable(error))?;
        // An unmounted disk must not look like a person who deleted everything.
        if stamps.iter().take(STATES.len()).all(Option::is_none) {
            return Err(self.unavailable(io::Error::from(io::ErrorKind::NotFound)));
        }
        let unchanged = cursor::write(state.last_poll, &stamps, now, true);
        let same = cursor.filter(|before| cursor::proves_unchanged(before, &unchanged));
        let sweep = state.is_sweep_due();
        if let (Some(cursor), false) = (same, sweep) {
            return Ok(PollResult { cursor: cursor.to_owned(), ..PollResult::default() });
        }
        let begun = Stopwatch::now();
        let mut poll = Scan::of(self, now, sweep).run(state).map_err(|error| self.unavailable(error))?;
        state.warn_of_unreadable_folders();
        let is_large = state.messages.as_ref().is_some_and(|messages| messages.present.len() > MAX_SWEPT_EVERY_POLL);
        if sweep && is_large {
            state.swept = Some((Stopwatch::now(), begun.elapsed()));
        }
        if let (Some(cursor), true) = (same, poll.is_empty()) {
            poll.cursor = cursor.to_owned();
            return Ok(poll);
        }
        poll.cursor = cursor::write(state.last_poll, &stamps, now, poll.poll_again_after.is_none());
        let fingerprint = |stamp: &str| FileStamp::parse(stamp).map_or(0, |stamp| stamp.fingerprint());
        state.handed_out = Some(HandedOutMessages {
            cursor: poll.cursor.clone(),
            keys: poll.messages.iter().map(|found| (found.key.clone(), fingerprint(&found.file.stamp))).collect(),
            gone: poll.gone.clone(),
        });
        Ok(poll)
    }

    fn fetch(&self, key: &str) -> Result<Vec<u8>, SourceError> {
        let place = self.lock().places.get(key).cloned();
        // Nearly always it is still where it was seen.
        if let Some(Ok(bytes)) = place.map(|path| read_file(&path))
            && name::digest_of(key).is_none_or(|digest| sha256_hex(&bytes).starts_with(digest))
        {
            return Ok(bytes);
        }
        let path = self.locate_or_gone(&mut self.lock(), key)?;
        read_file(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => SourceError::Gone { key: key.to_owned() },
            // Another program has it for itself, for a while.
            io::ErrorKind::WouldBlock => self.unavailable(source),
            _ => SourceError::Unreadable { key: key.to_owned(), source },
        })
    }
}

/// The file itself, never what a link in its place leads to, and without waiting for whoever feeds a pipe there.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let file = open_regular_file(path)?;
    let size = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(MAX_FETCH_BYTES)).unwrap_or(0));
    file.take(MAX_FETCH_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn open_regular_file(path: &Path) -> io::Result<fs::File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file of the Maildir"));
    }
    Ok(file)
}
