//! A Maildir as a source: the inbox and `.Sent`, read where other programs leave and move their files.
//!
//! Nothing in here deletes a message, changes one, or follows a link. Delivery and archiving are moves within one file
//! system, so a message is always somewhere.

mod cursor;
mod deliver;
mod departed;
mod listing;
mod mailbox;
mod name;
#[cfg(test)]
mod tests;
pub mod watch;

use std::{
    collections::{HashMap, HashSet},
    ffi::OsString,
    fs,
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use super::{FETCH_BYTES, Found, Poll, Sendmail, Source, SourceError};
use crate::model::{Direction, Instant};
use listing::Listings;

/// The name of the inbox in keys.
pub const INBOX: &str = "INBOX";
pub const SENT: &str = ".Sent";
pub const ARCHIVE: &str = ".Archive";

/// People drop files with `cp`, which writes under the final name: one so young may be half a mail.
const SETTLE: Duration = Duration::from_millis(300);

/// What is listed: a folder, its two directories, the direction of its mail.
const LISTED: [(&str, Direction); 2] = [(INBOX, Direction::In), (SENT, Direction::Out)];
const STATES: [&str; 2] = ["new", "cur"];

#[derive(Debug)]
pub struct Maildir {
    root: PathBuf,
    /// Without one, what is sent is only saved.
    sendmail: Option<Sendmail>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    listings: Listings,
    /// Keys that need not be handed out again.
    known: HashSet<String>,
    /// Handed out with this cursor. They count as known when the cursor comes back, for then they were stored with it.
    offered: Option<Offer>,
    polls: u64,
}

#[derive(Debug)]
struct Offer {
    cursor: String,
    keys: Vec<String>,
    gone: Vec<String>,
}

impl Maildir {
    /// `known`: the keys the ledger already has of this Maildir.
    pub fn open(root: PathBuf, known: HashSet<String>) -> Self {
        Self { root, sendmail: None, state: Mutex::new(State { known, ..State::default() }) }
    }

    #[must_use]
    pub fn with_sendmail(mut self, sendmail: Option<Sendmail>) -> Self {
        self.sendmail = sendmail;
        self
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is a cache and a set; neither can be left half changed by a panic elsewhere.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn folder(&self, folder: &str) -> PathBuf {
        if folder == INBOX { self.root.clone() } else { self.root.join(folder) }
    }

    fn dirs(&self, folder: &str) -> [PathBuf; 2] {
        STATES.map(|state| self.folder(folder).join(state))
    }

    fn unavailable(&self, source: io::Error) -> SourceError {
        SourceError::Unavailable { what: format!("the Maildir {}", self.root.display()), source }
    }

    /// Every folder there is, the inbox first.
    fn folders(&self) -> io::Result<Vec<String>> {
        let mut folders = vec![INBOX.to_owned()];
        for entry in fs::read_dir(&self.root)? {
            let entry = entry?;
            if let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type())
                && name.starts_with('.')
                && kind.is_dir()
            {
                folders.push(name);
            }
        }
        Ok(folders)
    }

    /// Whether a message of that key is in that folder now.
    fn holds(&self, folder: &str, key: &str) -> Result<bool, SourceError> {
        let Some((_, unique)) = name::parse_key(key) else { return Ok(false) };
        let mut state = self.lock();
        let dirs = self.dirs(folder);
        for dir in dirs.iter().filter(|dir| dir.is_dir()) {
            state.listings.forget(dir);
            let listed = state.listings.of(dir, SystemTime::now()).map_err(|error| self.unavailable(error))?;
            if listed.files.contains_key(&unique) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Where the message is now: under the name last seen, else wherever it was moved.
    fn find(&self, state: &mut State, folder: &str, unique: &OsString) -> io::Result<Option<PathBuf>> {
        if let Some(path) = self.seen(state, folder, unique)
            && fs::symlink_metadata(&path).is_ok()
        {
            return Ok(Some(path));
        }
        let mut folders = self.folders()?;
        folders.sort_by_key(|other| other != folder);
        for dir in folders.iter().flat_map(|folder| self.dirs(folder)) {
            state.listings.forget(&dir);
            if state.listings.of(&dir, SystemTime::now())?.files.contains_key(unique) {
                return Ok(state.listings.seen(&dir, unique));
            }
        }
        Ok(None)
    }

    /// Where it was when the folder was last listed.
    fn seen(&self, state: &State, folder: &str, unique: &OsString) -> Option<PathBuf> {
        self.dirs(folder).iter().find_map(|dir| state.listings.seen(dir, unique))
    }

    fn found(&self, state: &mut State, key: &str) -> Result<PathBuf, SourceError> {
        let gone = || SourceError::Gone { key: key.to_owned() };
        let (folder, unique) = name::parse_key(key).ok_or_else(gone)?;
        self.find(state, folder, &unique).map_err(|error| self.unavailable(error))?.ok_or_else(gone)
    }
}

impl Source for Maildir {
    fn poll(&self, cursor: Option<&str>) -> Result<Poll, SourceError> {
        let mut state = self.lock();
        state.settle_offer(cursor);
        state.polls += 1;
        // The age of a file is measured against the clock that stamped it, not the program's own.
        let now = SystemTime::now();
        let dirs: Vec<PathBuf> = LISTED.iter().flat_map(|(folder, _)| self.dirs(folder)).collect();
        let stamps = dirs.iter().map(|dir| listing::stamp(dir)).collect::<io::Result<Vec<_>>>();
        let stamps = stamps.map_err(|error| self.unavailable(error))?;
        // An unmounted disk must not look like a person who deleted everything.
        if stamps.iter().take(STATES.len()).all(Option::is_none) {
            return Err(self.unavailable(io::Error::from(io::ErrorKind::NotFound)));
        }
        let unchanged = cursor::write(state.polls, &stamps, now, true);
        if cursor.is_some_and(|before| cursor::proves_unchanged(before, &unchanged)) {
            let cursor = cursor.unwrap_or_default().to_owned();
            return Ok(Poll { cursor, ..Poll::default() });
        }
        let mut poll = Scan { maildir: self, now, here: HashSet::new(), poll: Poll::default() };
        poll.run(&mut state).map_err(|error| self.unavailable(error))?;
        let mut poll = poll.poll;
        poll.cursor = cursor::write(state.polls, &stamps, now, poll.look_again.is_none());
        state.offered = Some(Offer {
            cursor: poll.cursor.clone(),
            keys: poll.messages.iter().map(|found| found.key.clone()).collect(),
            gone: poll.gone.clone(),
        });
        Ok(poll)
    }

    fn fetch(&self, key: &str) -> Result<Vec<u8>, SourceError> {
        let seen = name::parse_key(key).and_then(|(folder, unique)| self.seen(&self.lock(), folder, &unique));
        // Nearly always it is still where it was seen.
        if let Some(Ok(bytes)) = seen.map(|path| read_file(&path)) {
            return Ok(bytes);
        }
        let path = self.found(&mut self.lock(), key)?;
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
    let file = open_file(path)?;
    let size = file.metadata()?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(FETCH_BYTES)).unwrap_or(0));
    file.take(FETCH_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn open_file(path: &Path) -> io::Result<fs::File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file of the Maildir"));
    }
    Ok(file)
}

impl State {
    fn settle_offer(&mut self, cursor: Option<&str>) {
        let Some(offer) = self.offered.take() else { return };
        if cursor == Some(offer.cursor.as_str()) {
            self.known.extend(offer.keys);
            for key in &offer.gone {
                self.known.remove(key);
            }
        }
    }
}

struct Scan<'a> {
    maildir: &'a Maildir,
    now: SystemTime,
    /// Keys of everything in the listed folders.
    here: HashSet<String>,
    poll: Poll,
}

impl Scan<'_> {
    fn run(&mut self, state: &mut State) -> io::Result<()> {
        for (folder, direction) in LISTED {
            for dir in self.maildir.dirs(folder) {
                let listing = state.listings.of(&dir, self.now)?;
                for (unique, name) in &listing.files {
                    let key = name::key(folder, unique);
                    if !self.here.insert(key.clone()) || state.known.contains(&key) {
                        continue;
                    }
                    self.add(folder, direction, key, unique, &dir.join(name))?;
                }
            }
        }
        self.poll.messages.sort_by(|a, b| (a.arrived_at, &a.key).cmp(&(b.arrived_at, &b.key)));
        self.poll.gone = self.gone(state)?;
        Ok(())
    }

    fn add(
        &mut self,
        folder: &str,
        direction: Direction,
        key: String,
        unique: &OsString,
        path: &Path,
    ) -> io::Result<()> {
        let meta = match fs::symlink_metadata(path) {
            Ok(meta) => meta,
            // Moved under our eyes; it is looked for again, not called gone.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.poll.look_again = Some(SETTLE);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let modified = meta.modified()?;
        // A time in the future is some other clock's, not a file being written now.
        if self.now.duration_since(modified).is_ok_and(|age| age < SETTLE) {
            self.poll.look_again = Some(SETTLE);
            return Ok(());
        }
        // Both the name and the file's time may be anything; then it counts as come when it was seen.
        let arrived_at = name::delivered_at(unique)
            .or_else(|| Instant::of_file(modified))
            .or_else(|| Instant::of_file(self.now))
            .unwrap_or(Instant::EARLIEST);
        self.poll.messages.push(Found { key, folder: folder.to_owned(), direction, arrived_at, size: meta.len() });
        Ok(())
    }

    /// Known messages that are in no folder at all.
    fn gone(&self, state: &mut State) -> io::Result<Vec<String>> {
        let State { known, listings, .. } = state;
        let missing = known.iter().filter(|key| !self.here.contains(*key));
        let mut missing: HashMap<OsString, Vec<&String>> = missing.fold(HashMap::new(), |mut map, key| {
            if let Some((_, unique)) = name::parse_key(key) {
                map.entry(unique).or_insert_with(Vec::new).push(key);
            }
            map
        });
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        for dir in self.maildir.folders()?.iter().flat_map(|folder| self.maildir.dirs(folder)) {
            let listing = listings.of(&dir, self.now)?;
            missing.retain(|unique, _| !listing.files.contains_key(unique));
        }
        let mut gone: Vec<String> = missing.into_values().flatten().cloned().collect();
        gone.sort();
        Ok(gone)
    }
}
