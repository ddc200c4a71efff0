//! What a Maildir remembers between two polls. All of it is a cache: the ledger has the truth.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    io,
    path::PathBuf,
    time::{Duration, Instant as Stopwatch},
};

use super::{ledger::MaildirLedger, listing::Listings, name, stamp::FileStamp};

/// A change of a file's bytes leaves no trace in its directory, so each poll asks for the metadata of every file. Where
/// there are more files than this, it does so only after [`SWEEP_PAUSE_FACTOR`] times as long as it took: a mailbox of a million
/// must not keep the disk busy.
pub(super) const MAX_SWEPT_EVERY_POLL: usize = 10_000;
const SWEEP_PAUSE_FACTOR: u32 = 20;

#[derive(Debug, Default)]
pub(super) struct MaildirState {
    pub(super) listings: Listings,
    /// None before the first poll asked for them.
    pub(super) messages: Option<KnownMessages>,
    /// Handed out with this cursor. They count as known when the cursor comes back, for then they were stored with it.
    pub(super) handed_out: Option<HandedOutMessages>,
    /// Where the messages of the last poll were.
    pub(super) places: HashMap<String, PathBuf>,
    pub(super) last_poll: u64,
    /// Names with a file that was too young, or too much to compare, in the last poll.
    pub(super) deferred_names: HashSet<String>,
    /// When every file of a large mailbox was last looked at, and how long that took.
    pub(super) swept: Option<(Stopwatch, Duration)>,
    /// Folders beside the inbox that the last scan could not read, and why; and those that were warned of.
    pub(super) unreadable_folders: BTreeMap<String, String>,
    pub(super) warned_folders: BTreeMap<String, String>,
}

/// What is known of the messages, as fingerprints of their stamps by key.
#[derive(Debug, Default)]
pub(super) struct KnownMessages {
    /// In one of the listed folders, as far as was seen.
    pub(super) present: HashMap<String, u64>,
    /// In none.
    pub(super) gone: HashMap<String, u64>,
    /// Keys with a digest, by the name they share.
    pub(super) digest_keys: HashMap<String, Vec<String>>,
    /// Files beside the one that stands for a message, with the same content or none that can be read.
    pub(super) copies: HashMap<PathBuf, u64>,
}

#[derive(Debug)]
pub(super) struct HandedOutMessages {
    pub(super) cursor: String,
    pub(super) keys: Vec<(String, u64)>,
    pub(super) gone: Vec<String>,
}

impl MaildirState {
    pub(super) fn confirm_handed_out(&mut self, cursor: Option<&str>) {
        let (Some(offer), Some(messages)) = (self.handed_out.take(), &mut self.messages) else { return };
        if cursor != Some(offer.cursor.as_str()) {
            // A part of them may have been stored all the same: the ledger is asked again.
            self.messages = None;
            return;
        }
        for (key, fingerprint) in offer.keys {
            messages.add_known(key, fingerprint);
        }
        offer.gone.iter().for_each(|key| messages.mark_gone(key));
    }

    /// Warns once of each folder beside the inbox that cannot be read, until it can be again.
    pub(super) fn warn_of_unreadable_folders(&mut self) {
        for (folder, problem) in &self.unreadable_folders {
            if self.warned_folders.get(folder) != Some(problem) {
                tracing::warn!(folder, problem, "a folder of a Maildir cannot be read; the inbox is read without it");
            }
        }
        self.warned_folders.clone_from(&self.unreadable_folders);
    }

    pub(super) fn is_sweep_due(&self) -> bool {
        self.swept.is_none_or(|(at, took)| at.elapsed() >= took * SWEEP_PAUSE_FACTOR)
    }
}

impl KnownMessages {
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

    pub(super) fn mark_gone(&mut self, key: &str) {
        if let Some((key, fingerprint)) = self.present.remove_entry(key) {
            self.gone.insert(key, fingerprint);
        }
    }

    /// Whether a message that was here at the last poll has this name.
    pub(super) fn is_present(&self, base: &str) -> bool {
        self.present.contains_key(base) || self.digest_keys.contains_key(base)
    }

    /// Whether a message has, or had, this name.
    pub(super) fn has_name(&self, base: &str) -> bool {
        self.is_present(base) || self.gone.contains_key(base)
    }

    /// The message in the mailbox whose file looks like this.
    pub(super) fn find_by_fingerprint(&self, base: &str, fingerprint: u64) -> Option<&str> {
        let own = self.present.get_key_value(base).filter(|(_, known)| **known == fingerprint);
        let others = || self.digest_keys.get(base)?.iter().find(|key| self.present.get(*key) == Some(&fingerprint));
        own.map(|(key, _)| key).or_else(others).map(String::as_str)
    }
}
