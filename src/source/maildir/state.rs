//! What a Maildir remembers between two polls. All of it is a cache; the ledger holds the truth.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io,
    path::PathBuf,
    time::{Duration, Instant as Stopwatch},
};

use super::{ledger::MaildirLedger, listing::Listings, name, stamp::FileStamp};

/// Largest mailbox whose files are all examined in every poll. A change of a file's bytes leaves no trace in its
/// directory, so a poll must read the metadata of every file (a sweep). A larger mailbox is swept only after
/// [`SWEEP_PAUSE_FACTOR`] times as long as the last sweep took, so that a million files do not keep the disk busy.
pub(super) const MAX_SWEPT_EVERY_POLL: usize = 10_000;
/// Pause between two sweeps of a large mailbox, as a multiple of the time that the last one took.
const SWEEP_PAUSE_FACTOR: u32 = 20;

/// The caches of one Maildir.
#[derive(Debug, Default)]
pub(super) struct MaildirState {
    pub(super) listings: Listings,
    /// The known messages; none before the first poll has loaded them from the ledger.
    pub(super) messages: Option<KnownMessages>,
    /// What the last poll handed out. It counts as known once its cursor comes back, because it was stored together
    /// with the cursor.
    pub(super) handed_out: Option<HandedOutMessages>,
    /// Where the messages of the last poll were.
    pub(super) places: HashMap<String, PathBuf>,
    /// Nanosecond of the last poll, which numbers the cursors. Never decreases.
    pub(super) last_poll: u64,
    /// Names with a file that the last poll deferred, because it was too young or too much had been compared.
    pub(super) deferred_names: HashSet<String>,
    /// When a large mailbox was last swept, and how long that took.
    pub(super) swept: Option<(Stopwatch, Duration)>,
    /// Folders other than the inbox that the last scan could not read, and why.
    pub(super) unreadable_folders: BTreeMap<String, String>,
    /// Those of them that were logged already.
    pub(super) warned_folders: BTreeMap<String, String>,
}

/// The known messages: fingerprints of their stamps, by key.
#[derive(Debug, Default)]
pub(super) struct KnownMessages {
    /// Messages that were last seen in a polled folder.
    pub(super) present: HashMap<String, u64>,
    /// Messages that have left the polled folders.
    pub(super) gone: HashMap<String, u64>,
    /// Keys that end with a digest, by the name they share.
    pub(super) digest_keys: HashMap<String, Vec<String>>,
    /// Files that need not be read again while their fingerprint stays: copies of a message, and unreadable files of a
    /// known one.
    pub(super) copies: HashMap<PathBuf, u64>,
}

/// What a poll handed out, and the cursor that proves that it was stored.
#[derive(Debug)]
pub(super) struct HandedOutMessages {
    pub(super) cursor: String,
    pub(super) keys: Vec<(String, u64)>,
    pub(super) gone: Vec<String>,
}

impl MaildirState {
    /// Marks what the last poll handed out as known, if its cursor has come back.
    pub(super) fn confirm_handed_out(&mut self, cursor: Option<&str>) {
        let (Some(offer), Some(messages)) = (self.handed_out.take(), &mut self.messages) else { return };
        if cursor != Some(offer.cursor.as_str()) {
            // A part may have been stored without the cursor, so the ledger is loaded again.
            self.messages = None;
            return;
        }
        for (key, fingerprint) in offer.keys {
            messages.add_known(key, fingerprint);
        }
        offer.gone.iter().for_each(|key| messages.mark_gone(key));
    }

    /// Logs each folder that cannot be read once, and again only if the reason changes or it was readable in between.
    pub(super) fn warn_of_unreadable_folders(&mut self) {
        for (folder, problem) in &self.unreadable_folders {
            if self.warned_folders.get(folder) != Some(problem) {
                tracing::warn!(folder, problem, "a folder of a Maildir cannot be read; the inbox is read all the same");
            }
        }
        self.warned_folders.clone_from(&self.unreadable_folders);
    }

    /// Returns whether this poll must read the metadata of every file.
    pub(super) fn is_sweep_due(&self) -> bool {
        self.swept.is_none_or(|(at, took)| at.elapsed() >= took * SWEEP_PAUSE_FACTOR)
    }
}

impl KnownMessages {
    /// Loads all messages of the account from the ledger.
    pub(super) fn load(recall: &dyn MaildirLedger) -> io::Result<Self> {
        let mut messages = Self::default();
        for (key, stamp, is_gone) in recall.messages()? {
            let fingerprint = FileStamp::parse(&stamp).map_or(0, |stamp| stamp.fingerprint());
            messages.add_known(key.clone(), fingerprint);
            if is_gone {
                messages.mark_gone(&key);
            }
        }
        Ok(messages)
    }

    /// Records a message as present under a fingerprint.
    pub(super) fn add_known(&mut self, key: String, fingerprint: u64) {
        self.gone.remove(&key);
        if name::digest_of(&key).is_some() {
            let others = self.digest_keys.entry(name::base_of_key(&key).to_owned()).or_default();
            if !others.contains(&key) {
                others.push(key.clone());
            }
        }
        self.present.insert(key, fingerprint);
    }

    /// Records that a message has left the polled folders.
    pub(super) fn mark_gone(&mut self, key: &str) {
        if let Some((key, fingerprint)) = self.present.remove_entry(key) {
            self.gone.insert(key, fingerprint);
        }
    }

    /// Returns whether a message of this name was present at the last poll.
    pub(super) fn is_present(&self, base: &str) -> bool {
        self.present.contains_key(base) || self.digest_keys.contains_key(base)
    }

    /// Returns whether a message has or ever had this name.
    pub(super) fn has_name(&self, base: &str) -> bool {
        self.is_present(base) || self.gone.contains_key(base)
    }

    /// Returns the key of the present message of this name whose file had this fingerprint.
    pub(super) fn find_by_fingerprint(&self, base: &str, fingerprint: u64) -> Option<&str> {
        let own = self.present.get_key_value(base).filter(|(_, known)| **known == fingerprint);
        let others = || self.digest_keys.get(base)?.iter().find(|key| self.present.get(*key) == Some(&fingerprint));
        own.map(|(key, _)| key).or_else(others).map(String::as_str)
    }
}
