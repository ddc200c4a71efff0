//! A Maildir as a source of mail: the inbox and the folders of sent mail, in which other programs deliver, rename and
//! move files at any time.
//!
//! A message is identified by its content; the name of its file only says where to look first. Nothing in this module
//! deletes or changes a message, or reads one through a symbolic link; a link in the place of a folder is that folder.
//! Delivery and archiving are renames within one file system, so a message always exists somewhere.

mod cursor;
mod deliver;
mod folders;
mod keywords;
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

/// The name of the inbox in keys; on disk it is the root of the Maildir.
pub const INBOX: &str = "INBOX";
/// The folder of sent mail that the program itself writes to.
pub const SENT: &str = ".Sent";
/// The folder that archived mail is moved to.
pub const ARCHIVE: &str = ".Archive";

/// The folders that are polled, with the direction of their mail: the inbox, and sent mail under the names that mail
/// programs give it. Those without a dot are of programs that keep folders as plain directories.
const LISTED_FOLDERS: [(&str, Direction); 16] = [
    (INBOX, Direction::In),
    (SENT, Direction::Out),
    (".Sent Items", Direction::Out),
    (".Sent Messages", Direction::Out),
    (".Sent Mail", Direction::Out),
    (".Gesendet", Direction::Out),
    (".Gesendete Elemente", Direction::Out),
    (".Gesendete Objekte", Direction::Out),
    (".INBOX.Sent", Direction::Out),
    (".INBOX.Sent Items", Direction::Out),
    (".INBOX.Sent Messages", Direction::Out),
    (".INBOX.Gesendet", Direction::Out),
    (".INBOX.Gesendete Elemente", Direction::Out),
    ("Sent", Direction::Out),
    ("Sent Items", Direction::Out),
    ("Gesendet", Direction::Out),
];
/// The two directories of a folder that hold messages.
const STATES: [&str; 2] = ["new", "cur"];

/// One Maildir, as a source and as a mailbox. A poll locks its state, so polls run one at a time.
pub struct Maildir {
    folders: MaildirFolders,
    ledger: Box<dyn MaildirLedger>,
    /// The transport. Without one, a message that is sent is only stored in `.Sent`.
    sendmail: Option<Sendmail>,
    state: Mutex<MaildirState>,
}

impl fmt::Debug for Maildir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Maildir").field("root", &self.folders.root()).finish_non_exhaustive()
    }
}

impl Maildir {
    /// Creates the source without touching the disk. `ledger` gives access to what is stored about this Maildir; it is
    /// first read when a poll or an already known message needs it.
    pub fn open(root: PathBuf, ledger: Box<dyn MaildirLedger>) -> Self {
        Self { folders: MaildirFolders::new(root), ledger, sendmail: None, state: Mutex::default() }
    }

    /// Sets the transport.
    #[must_use]
    pub fn with_sendmail(mut self, sendmail: Option<Sendmail>) -> Self {
        self.sendmail = sendmail;
        self
    }

    pub fn root(&self) -> &Path {
        self.folders.root()
    }

    fn lock(&self) -> MutexGuard<'_, MaildirState> {
        // The state is a cache; a panic elsewhere cannot leave it half changed in a way that matters.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unavailable(&self, source: io::Error) -> SourceError {
        SourceError::Unavailable { what: format!("the Maildir {}", self.folders.root().display()), source }
    }

    /// Returns whether the message of a key is in a folder now, reading the directories again.
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

    /// Returns what the ledger has stored about a message.
    fn ledger_message(&self, key: &str) -> io::Result<Option<LedgerMessage>> {
        Ok(self.ledger.messages_named(name::base_of_key(key))?.into_iter().find(|row| row.key == key))
    }

    /// Returns where a message is now: in its own folder if its name was last seen there, otherwise wherever it was
    /// moved. A file that has taken over the name is another message and does not count.
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
        // The message may be in the folder that could not be read, so it is not reported as gone.
        unread.map_or(Ok(None), Err)
    }

    /// Returns where a message is now. The error is `Gone` when it is in no folder.
    fn locate_or_gone(&self, state: &mut MaildirState, key: &str) -> Result<PathBuf, SourceError> {
        let gone = || SourceError::Gone { key: key.to_owned() };
        let (folder, unique) = name::parse_key(key).ok_or_else(gone)?;
        self.locate(state, folder, &unique, key).map_err(|error| self.unavailable(error))?.ok_or_else(gone)
    }

    /// Returns how many files have no row in the ledger: those that were in the mailbox, unchanged, when the poll of
    /// this cursor was made, and those that came since. Files that could not be compared count among the first.
    pub fn count_unaccounted(&self, cursor: &str) -> Result<(u64, u64), SourceError> {
        let polled = cursor::polled_at(cursor).unwrap_or(UNIX_EPOCH);
        let poll = self.poll(None)?;
        let files = poll.messages.iter().map(|found| &found.file).filter(|file| !file.is_retry);
        let (old, new): (Vec<_>, Vec<_>) =
            files.partition(|file| FileStamp::parse(&file.stamp).is_some_and(|stamp| stamp.is_unchanged_since(polled)));
        Ok(((old.len() + poll.unreadable) as u64, new.len() as u64))
    }

    /// Returns the names of the folders that are not polled, except those that the program itself writes to.
    pub fn list_unread_folders(&self) -> Result<Vec<String>, SourceError> {
        let is_read = |folder: &String| {
            LISTED_FOLDERS.iter().any(|(listed, _)| listed == folder)
                || [ARCHIVE, mailbox::DRAFTS].contains(&folder.as_str())
        };
        let mut folders = self.folders.list().map_err(|error| self.unavailable(error))?;
        folders.extend(self.folders.list_plain().map_err(|error| self.unavailable(error))?);
        folders.retain(|folder| !is_read(folder));
        folders.sort();
        folders.dedup();
        Ok(folders)
    }

    /// Returns how many entries of the polled folders are not mail files: links, pipes and the like, which are never
    /// read.
    pub fn count_other_entries(&self) -> Result<u64, SourceError> {
        let dirs = LISTED_FOLDERS.iter().flat_map(|(folder, _)| self.folders.dirs(folder));
        let counts = dirs.map(|dir| listing::count_other_entries(&dir)).collect::<io::Result<Vec<_>>>();
        counts.map(|counts| counts.into_iter().sum()).map_err(|error| self.unavailable(error))
    }
}

/// Returns the names that a message's file may have: its own, and the one with a digest that it is given where its own
/// is taken.
fn possible_names(unique: &OsStr, remembered: Option<&LedgerMessage>) -> Vec<OsString> {
    let sha256 = remembered.map(|row| row.sha256.as_str()).filter(|sha256| !sha256.is_empty());
    let beside = sha256.map(|sha256| name::name_with_digest(unique, sha256));
    std::iter::once(unique.to_owned()).chain(beside).collect()
}

/// Returns whether a file is the message of a key, by its stamp or else by its content. Without a row in the ledger,
/// the name alone decides.
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
        // The age of a file is measured by the system clock, which stamped it, not by the program's clock.
        let now = SystemTime::now();
        let nanos = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        state.last_poll = u64::try_from(nanos).unwrap_or(u64::MAX).max(state.last_poll.saturating_add(1));
        let stamps = self.folders.dir_stamps().map_err(|error| self.unavailable(error))?;
        // An unmounted disk must not look like a mailbox from which everything was deleted.
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
        // In nearly all cases the file is still where the poll saw it.
        if let Some(Ok(bytes)) = place.map(|path| read_file(&path))
            && name::digest_of(key).is_none_or(|digest| sha256_hex(&bytes).starts_with(digest))
        {
            return Ok(bytes);
        }
        let path = self.locate_or_gone(&mut self.lock(), key)?;
        read_file(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => SourceError::Gone { key: key.to_owned() },
            // Another program holds a lock on the file for a while.
            io::ErrorKind::WouldBlock => self.unavailable(source),
            _ => SourceError::Unreadable { key: key.to_owned(), source },
        })
    }
}

/// Reads a file, truncated at the fetch limit. Never follows a link in its place and never waits for the writer of a
/// pipe.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let file = open_regular_file(path)?;
    let size = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(MAX_FETCH_BYTES)).unwrap_or(0));
    file.take(MAX_FETCH_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file without following a link and without blocking on a pipe.
fn open_regular_file(path: &Path) -> io::Result<fs::File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(file)
}
