//! One pass over all files of the polled folders: which are new, which are known, and which have taken over a known
//! name.
//!
//! A file is read only when its stamp differs from those of all messages that are known under its name.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{
    INBOX, LISTED_FOLDERS, LedgerMessage, Maildir, name, read_file,
    stamp::{FileStamp, SETTLE_TIME},
    state::{KnownMessages, MaildirState},
};
use crate::{
    model::{Direction, Instant, ids::sha256_hex},
    source::{ConfirmedFile, FileNote, FoundMessage, PollResult},
};

/// Bytes that one poll may read for comparison, so that new mail does not wait for more. The rest is compared in the
/// next poll.
const COMPARED_AT_ONCE: u64 = 64 * 1024 * 1024;

/// The state of one pass. A "name" in here is the part of a key that comes from folder and file name alone.
pub(super) struct Scan<'a> {
    maildir: &'a Maildir,
    now: SystemTime,
    /// Whether the metadata of files with known names is read too; it is the only way to notice a change of their
    /// bytes.
    sweep: bool,
    /// Names of all files in the polled folders.
    names_here: HashSet<String>,
    /// Keys of messages whose file was found.
    matched: HashSet<String>,
    /// Names with a file that this poll does not assign to a message, so that no message of the name is reported as
    /// gone.
    undecided_names: HashSet<String>,
    /// Names with a file that the last poll deferred, because it was too young or too much had been compared.
    deferred_before: HashSet<String>,
    /// The same for this poll.
    deferred_now: HashSet<String>,
    /// Names with several files of equal stamps, which must be told apart by their content.
    ambiguous_names: HashSet<String>,
    compared_bytes: u64,
    /// Folders other than the inbox that could not be read, and why. Messages that were in them may still be there.
    unreadable_folders: BTreeMap<String, String>,
    /// Where the messages that are handed out were found.
    places: HashMap<String, PathBuf>,
    poll: PollResult,
}

/// A file whose metadata was read.
struct ScannedFile {
    folder: &'static str,
    direction: Direction,
    path: PathBuf,
    stamp: FileStamp,
    arrived_at: Instant,
}

/// The content of a file.
struct FileContent {
    bytes: Vec<u8>,
    sha256: String,
}

impl<'a> Scan<'a> {
    pub(super) fn of(maildir: &'a Maildir, now: SystemTime, sweep: bool) -> Self {
        Self {
            maildir,
            now,
            sweep,
            names_here: HashSet::new(),
            matched: HashSet::new(),
            undecided_names: HashSet::new(),
            deferred_before: HashSet::new(),
            deferred_now: HashSet::new(),
            ambiguous_names: HashSet::new(),
            compared_bytes: 0,
            unreadable_folders: BTreeMap::new(),
            places: HashMap::new(),
            poll: PollResult::default(),
        }
    }

    /// Scans the folders, updates the caches of the Maildir, and returns the result of the poll without its cursor.
    pub(super) fn run(mut self, state: &mut MaildirState) -> io::Result<PollResult> {
        let mut messages = match state.messages.take() {
            Some(messages) => messages,
            None => KnownMessages::load(self.maildir.ledger.as_ref())?,
        };
        self.deferred_before = std::mem::take(&mut state.deferred_names);
        let outcome = self.scan_files(state, &mut messages);
        state.messages = Some(messages);
        state.deferred_names = self.deferred_now;
        state.unreadable_folders = self.unreadable_folders;
        outcome?;
        state.places = self.places;
        Ok(self.poll)
    }

    /// Sorts the files into known and unknown ones, matches the unknown ones with the ledger, and finds what is gone.
    fn scan_files(&mut self, state: &mut MaildirState, messages: &mut KnownMessages) -> io::Result<()> {
        let mut unknown: BTreeMap<String, Vec<ScannedFile>> = BTreeMap::new();
        self.each_file(state, messages, |scan, base, file| {
            scan.names_here.insert(base.clone());
            if let Some(file) = file.and_then(|file| scan.keep_if_unknown(messages, &base, file)) {
                unknown.entry(base).or_default().push(file);
            }
        })?;
        if !self.ambiguous_names.is_empty() {
            let alike = self.ambiguous_names.clone();
            self.matched.retain(|key| !alike.contains(name::base_of_key(key)));
            unknown.retain(|base, _| !alike.contains(base));
            self.each_file(state, messages, |_, base, file| {
                if let Some(file) = file.filter(|_| alike.contains(&base)) {
                    unknown.entry(base).or_default().push(file);
                }
            })?;
        }
        for (base, files) in unknown {
            self.match_files(messages, &base, files)?;
        }
        self.poll.messages.sort_by(|a, b| (a.arrived_at, &a.key).cmp(&(b.arrived_at, &b.key)));
        self.poll.gone = self.find_gone(state, messages)?;
        Ok(())
    }

    /// Returns the name of a file. One that was moved next to another file of its name keeps the name it had before.
    fn base(&self, messages: &KnownMessages, folder: &str, unique: &OsString) -> String {
        let base = name::make_key(folder, unique);
        if messages.present.contains_key(&base) {
            return base;
        }
        let before = name::without_digest(unique).map(|name| name::make_key(folder, name));
        before.filter(|before| messages.has_name(before) && !messages.has_name(&base)).unwrap_or(base)
    }

    /// Visits every file with its name. The file is none where it need not be examined or has just been moved.
    fn each_file(
        &mut self,
        state: &mut MaildirState,
        messages: &KnownMessages,
        mut each: impl FnMut(&mut Self, String, Option<ScannedFile>),
    ) -> io::Result<()> {
        for (folder, direction) in LISTED_FOLDERS {
            for dir in self.maildir.folders.dirs(folder) {
                let listing = match state.listings.get_or_read(&dir, self.now) {
                    Err(error) if folder != INBOX => {
                        self.unreadable_folders.insert(folder.to_owned(), error.to_string());
                        continue;
                    }
                    listing => listing?,
                };
                for (unique, name) in listing.files() {
                    let base = self.base(messages, folder, unique);
                    let file = self.stat_file(messages, &base, (folder, direction), unique, dir.join(name))?;
                    each(self, base, file);
                }
            }
        }
        Ok(())
    }

    /// Reads the metadata of a file, unless its name is known and no sweep is due.
    fn stat_file(
        &mut self,
        messages: &KnownMessages,
        base: &str,
        (folder, direction): (&'static str, Direction),
        unique: &OsString,
        path: PathBuf,
    ) -> io::Result<Option<ScannedFile>> {
        if !self.sweep && messages.is_present(base) && !self.deferred_before.contains(base) {
            self.undecided_names.insert(base.to_owned());
            return Ok(None);
        }
        let stamp = match fs::symlink_metadata(&path) {
            Ok(meta) => FileStamp::of(&meta),
            // Moved since it was listed: looked for again in the next poll, not reported as gone.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.defer(base);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let arrived_at = name::delivered_at(unique)
            .or_else(|| stamp.written_at())
            .or_else(|| Instant::from_file_time(self.now))
            .unwrap_or(Instant::EARLIEST);
        Ok(Some(ScannedFile { folder, direction, path, stamp, arrived_at }))
    }

    /// Returns the file, unless it is known under its stamp or too young to be read.
    fn keep_if_unknown(&mut self, messages: &KnownMessages, base: &str, file: ScannedFile) -> Option<ScannedFile> {
        let fingerprint = file.stamp.fingerprint();
        if messages.copies.get(&file.path) == Some(&fingerprint) {
            self.undecided_names.insert(base.to_owned());
            return None;
        }
        if let Some(key) = messages.find_by_fingerprint(base, fingerprint) {
            if !self.matched.insert(key.to_owned()) {
                self.ambiguous_names.insert(base.to_owned());
            }
            return None;
        }
        if !file.stamp.is_settled(self.now) {
            self.defer(base);
            return None;
        }
        Some(file)
    }

    /// Leaves a name for the next poll, which is then made soon.
    fn defer(&mut self, base: &str) {
        self.poll.poll_again_after = Some(SETTLE_TIME);
        self.undecided_names.insert(base.to_owned());
        self.deferred_now.insert(base.to_owned());
    }

    /// Decides for each file of one name whether it is a message of the ledger or another one.
    fn match_files(&mut self, messages: &mut KnownMessages, base: &str, mut files: Vec<ScannedFile>) -> io::Result<()> {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let rows = if messages.has_name(base) { self.maildir.ledger.messages_named(base)? } else { Vec::new() };
        let is_only = rows.is_empty() && files.len() == 1;
        let stamps: HashSet<FileStamp> = files.iter().map(|file| file.stamp).collect();
        if stamps.len() < files.len() {
            self.ambiguous_names.insert(base.to_owned());
        }
        if !is_only && !self.ambiguous_names.contains(base) {
            // Exact matches come first, so that no other file takes their message.
            files.retain(|file| !self.recognise_by_stamp(messages, &rows, file));
            files.retain(|file| !self.recognise(messages, &rows, file));
        }
        // Digests of the files of this name that are handed out in this poll.
        let handed_out = rows.iter().filter(|row| self.places.contains_key(&row.key) && row.is_gone);
        let mut seen: HashSet<String> = handed_out.map(|row| row.sha256.clone()).collect();
        for file in files {
            if is_only {
                self.hand_out(base.to_owned(), &file, None, false);
            } else {
                self.compare(messages, base, &rows, &mut seen, file);
            }
        }
        Ok(())
    }

    /// Returns whether a file has the very stamp of a message of the ledger, and records the match.
    fn recognise_by_stamp(&mut self, messages: &mut KnownMessages, rows: &[LedgerMessage], file: &ScannedFile) -> bool {
        let is_free = |row: &&LedgerMessage| !self.matched.contains(&row.key);
        let Some(row) = rows.iter().filter(is_free).find(|row| row.has_stamp(&file.stamp)) else { return false };
        if row.is_gone {
            self.hand_out(row.key.clone(), file, None, true);
        } else {
            self.matched.insert(row.key.clone());
            messages.add_known(row.key.clone(), file.stamp.fingerprint());
        }
        true
    }

    /// Returns whether a file could be matched with a message of the ledger by less than its stamp and without reading
    /// it, and records the match.
    fn recognise(&mut self, messages: &mut KnownMessages, rows: &[LedgerMessage], file: &ScannedFile) -> bool {
        let is_free = |row: &&LedgerMessage| !self.matched.contains(&row.key);
        let like = || {
            let noted_nothing = |row: &&LedgerMessage| row.stamp.is_empty() && row.looks_unchanged(&file.stamp);
            rows.iter().filter(is_free).find(noted_nothing)
        };
        let is_unread = |row: &&LedgerMessage| row.was_never_read() && name::digest_of(&row.key).is_none();
        let never_read = || rows.iter().filter(is_free).find(is_unread);
        if let Some(row) = like() {
            self.confirm(messages, row, file, None);
        } else if let Some(row) = never_read() {
            self.hand_out(row.key.clone(), file, None, true);
        } else {
            return false;
        }
        true
    }

    /// Reads a file to decide which message it is: a known one, a copy, the complete version of one that was read half,
    /// or a new one.
    fn compare(
        &mut self,
        messages: &mut KnownMessages,
        base: &str,
        rows: &[LedgerMessage],
        seen: &mut HashSet<String>,
        file: ScannedFile,
    ) {
        if self.compared_bytes >= COMPARED_AT_ONCE {
            return self.defer(base);
        }
        let Ok(content) = self.read(&file.path) else {
            return self.note_unreadable(messages, base, rows, file);
        };
        let is_free = |row: &&LedgerMessage| !self.matched.contains(&row.key);
        // A message that another file was handed out for in this poll may have other content by now.
        let is_settled = |row: &&LedgerMessage| !self.places.contains_key(&row.key);
        let same = rows.iter().filter(is_settled).find(|row| row.has_content(&content.sha256));
        let like = || rows.iter().filter(is_free).find(|row| row.looks_unchanged(&file.stamp));
        let begun = rows.iter().filter(is_free).find(|row| row.is_beginning_of(&content.bytes));
        if let Some(row) = same.or_else(like) {
            if row.is_gone || row.was_never_read() {
                self.hand_out(row.key.clone(), &file, None, true);
                seen.insert(content.sha256);
                return;
            }
            let is_copy = self.matched.contains(&row.key);
            if !is_copy {
                self.confirm(messages, row, &file, Some(content.sha256));
            }
            if is_copy || self.ambiguous_names.contains(base) {
                messages.copies.insert(file.path, file.stamp.fingerprint());
            }
        } else if seen.contains(&content.sha256) {
            messages.copies.insert(file.path, file.stamp.fingerprint());
        } else if let Some(row) = begun.filter(|row| !row.is_read && name::digest_of(&row.key).is_none()) {
            self.hand_out(row.key.clone(), &file, None, true);
            seen.insert(content.sha256);
        } else {
            let is_first = rows.is_empty() && seen.is_empty();
            let key = if is_first { base.to_owned() } else { name::key_with_digest(base, &content.sha256) };
            if self.places.contains_key(&key) {
                messages.copies.insert(file.path, file.stamp.fingerprint());
                return;
            }
            let completes = begun.filter(|row| row.is_read).map(|row| row.key.clone());
            self.hand_out(key, &file, completes, false);
            seen.insert(content.sha256);
        }
    }

    fn read(&mut self, path: &Path) -> io::Result<FileContent> {
        let bytes = read_file(path)?;
        self.compared_bytes += bytes.len() as u64;
        Ok(FileContent { sha256: sha256_hex(&bytes), bytes })
    }

    /// Records a file that cannot be read. If only its ctime differs, its permissions were taken away and it still is
    /// the message it was. Any other file is tried again in the next poll.
    fn note_unreadable(&mut self, messages: &mut KnownMessages, base: &str, rows: &[LedgerMessage], file: ScannedFile) {
        self.undecided_names.insert(base.to_owned());
        let before = rows.iter().filter_map(|row| FileStamp::parse(&row.stamp));
        if before.into_iter().any(|before| before.equals_except_ctime(&file.stamp)) {
            messages.copies.insert(file.path, file.stamp.fingerprint());
        } else {
            self.poll.unreadable += 1;
        }
    }

    /// Records that a file is still the message of a row, under a new stamp.
    fn confirm(
        &mut self,
        messages: &mut KnownMessages,
        row: &LedgerMessage,
        file: &ScannedFile,
        sha256: Option<String>,
    ) {
        self.matched.insert(row.key.clone());
        messages.add_known(row.key.clone(), file.stamp.fingerprint());
        self.poll.confirmed.push(ConfirmedFile { key: row.key.clone(), stamp: file.stamp.to_string(), sha256 });
    }

    /// Adds a message to the result of the poll.
    fn hand_out(&mut self, key: String, file: &ScannedFile, completes: Option<String>, is_another_try: bool) {
        self.matched.insert(key.clone());
        self.places.insert(key.clone(), file.path.clone());
        self.poll.messages.push(FoundMessage {
            key,
            folder: file.folder.to_owned(),
            direction: file.direction,
            arrived_at: file.arrived_at,
            size: file.stamp.size,
            file: FileNote { stamp: file.stamp.to_string(), is_retry: is_another_try, completes },
        });
    }

    /// Returns whether a message may still be in a polled folder.
    fn may_be_here(&self, key: &str) -> bool {
        let base = name::base_of_key(key);
        self.names_here.contains(base) && (self.matched.contains(key) || self.undecided_names.contains(base))
    }

    /// Returns whether another polled folder has a file of the message's name.
    fn is_elsewhere(&self, key: &str) -> bool {
        let Some((own, rest)) = name::base_of_key(key).split_once('/') else { return false };
        LISTED_FOLDERS.iter().any(|(folder, _)| *folder != own && self.names_here.contains(&format!("{folder}/{rest}")))
    }

    /// Returns the keys of known messages that are in no folder at all.
    fn find_gone(&mut self, state: &mut MaildirState, messages: &KnownMessages) -> io::Result<Vec<String>> {
        let missing = messages.present.keys().filter(|key| !self.may_be_here(key) && !self.is_elsewhere(key));
        let mut missing: HashMap<OsString, Vec<&String>> = missing.fold(HashMap::new(), |mut map, key| {
            if let Some((_, unique)) = name::parse_key(key) {
                map.entry(unique).or_insert_with(Vec::new).push(key);
            }
            map
        });
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let is_listed = |folder: &String| LISTED_FOLDERS.iter().any(|(listed, _)| listed == folder);
        let folders = self.maildir.folders.list()?;
        for folder in folders.iter().filter(|folder| !is_listed(folder)) {
            for dir in self.maildir.folders.dirs(folder) {
                match state.listings.get_or_read(&dir, self.now) {
                    Ok(listing) => missing.retain(|unique, _| listing.named(unique).next().is_none()),
                    Err(error) => drop(self.unreadable_folders.insert(folder.clone(), error.to_string())),
                }
            }
        }
        // A message that was not found may be in a folder that cannot be read.
        if !self.unreadable_folders.is_empty() {
            return Ok(Vec::new());
        }
        let mut gone: Vec<String> = missing.into_values().flatten().cloned().collect();
        gone.sort();
        Ok(gone)
    }
}
