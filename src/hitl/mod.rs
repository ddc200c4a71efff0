//! `data/hitl_queue/` ("human in the loop"): the approval queue as files, and decisions that scripts put beside them.
//!
//! The database is the authority and the files are a view of it: they are written from it, compared with it, and never
//! read as more than a decision to be checked. Whatever does not belong here is moved to `quarantine/` and never used.

mod decision_file;
mod item_file;

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use crate::{
    durable_file::FileReplacement,
    failpoint,
    model::{Instant, ItemId},
    store::Store,
};

pub use decision_file::DecisionFile;
pub use item_file::{QueueFile, with_named_digests};

/// The subfolder for files that do not belong in the queue.
const QUARANTINE: &str = "quarantine";
/// The most files that are looked at in one pass. More are an attack or a mistake, and the rest waits for the next
/// pass.
const MOST_FILES: usize = 10_000;
/// How much of its name a file keeps in quarantine.
const LONGEST_KEPT_NAME: usize = 80;

/// The folder of the approval queue.
#[derive(Debug, Clone)]
pub struct Queue {
    folder: PathBuf,
}

/// What one pass over the folder found and did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct QueueReport {
    pub written: usize,
    pub removed: usize,
    /// The names of the files that were moved to quarantine, and why.
    pub quarantined: Vec<(String, String)>,
    /// Decision files that could be parsed and are not acted on yet.
    pub decisions: Vec<DecisionFile>,
}

impl Queue {
    pub const fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the folder show what the database says, and returns the decisions that were found in it.
    pub async fn reconcile(&self, store: &Store, now: Instant) -> anyhow::Result<QueueReport> {
        let queue = self.clone();
        let open = store.read(item_file::render_open_items).await?;
        let known = store.clone();
        let is_item = move |id: ItemId| known.read_blocking(|reader| reader.approvals().has_item(id));
        let folder = self.folder.clone();
        let looked = tokio::task::spawn_blocking(move || queue.reconcile_files(&open, &is_item, now)).await?;
        looked.with_context(|| format!("the approval queue {} cannot be brought up to date", folder.display()))
    }

    /// Compares the folder with the files of the open items. A missing or outdated file is written again, that of a
    /// closed item is removed, and everything else is quarantined.
    fn reconcile_files(
        &self,
        open: &[QueueFile],
        is_item: &dyn Fn(ItemId) -> crate::store::Result<bool>,
        now: Instant,
    ) -> anyhow::Result<QueueReport> {
        let quarantine = self.folder.join(QUARANTINE);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&quarantine);
        made.with_context(|| format!("{} cannot be made", quarantine.display()))?;
        let mut report = QueueReport::default();
        let mut current = Vec::new();
        let entries =
            fs::read_dir(&self.folder).with_context(|| format!("{} cannot be read", self.folder.display()))?;
        for entry in entries.take(MOST_FILES) {
            let path = entry?.path();
            match reconcile_entry(&path, open, is_item)? {
                EntryOutcome::Left => {}
                EntryOutcome::Current(id) => current.push(id),
                EntryOutcome::Removed => report.removed += 1,
                EntryOutcome::Decision(decision) => report.decisions.push(decision),
                EntryOutcome::Rejected(why) => self.quarantine(&path, &why, now, &mut report)?,
            }
        }
        for file in open.iter().filter(|file| !current.contains(&file.item_id)) {
            self.write(file)?;
            report.written += 1;
        }
        Ok(report)
    }

    /// Writes the file of an open item durably, readable by its owner only.
    fn write(&self, file: &QueueFile) -> io::Result<()> {
        let target = self.folder.join(format!("{}.json", file.item_id));
        let temporary = self.folder.join(format!(".{}.tmp", file.item_id));
        failpoint::around("queue.write", || {
            FileReplacement::new(&target).temporary(temporary).replace_durably(file.text.as_bytes())
        })
    }

    /// Removes the file of a decision that was acted on.
    pub fn remove_decision(&self, dropped: &DecisionFile) -> io::Result<()> {
        remove(&self.folder.join(dropped.file_name()))
    }

    /// Moves the file of a decision that was refused to quarantine.
    pub fn quarantine_decision(&self, dropped: &DecisionFile, why: &str, now: Instant) -> anyhow::Result<()> {
        self.quarantine(&self.folder.join(dropped.file_name()), why, now, &mut QueueReport::default())
    }

    /// Moves a file to quarantine, under a name with the time. A link is moved itself; what it points to is never
    /// touched.
    fn quarantine(&self, path: &Path, why: &str, now: Instant, looked: &mut QueueReport) -> anyhow::Result<()> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let plain: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' })
            .take(LONGEST_KEPT_NAME)
            .collect();
        let stamp = now.utc().format("%Y%m%dT%H%M%SZ");
        let kept = (0..u32::MAX)
            .map(|nth| self.folder.join(QUARANTINE).join(format!("{stamp}-{nth}-{plain}")))
            .find(|kept| fs::symlink_metadata(kept).is_err());
        if let Some(kept) = kept {
            failpoint::around("queue.quarantine", || fs::rename(path, kept))?;
        }
        tracing::warn!(why, "a file of the approval queue was moved to quarantine");
        looked.quarantined.push((name, why.to_owned()));
        Ok(())
    }
}

/// What became of an entry of the folder.
enum EntryOutcome {
    /// Nothing is done about it, or nothing worth a mention.
    Left,
    /// It says exactly what the database says of this open item.
    Current(ItemId),
    /// It was the file of an item that is not open any more.
    Removed,
    Decision(DecisionFile),
    /// It does not belong here.
    Rejected(String),
}

/// Compares one entry of the folder with the open items.
fn reconcile_entry(
    path: &Path,
    open: &[QueueFile],
    is_item: &dyn Fn(ItemId) -> crate::store::Result<bool>,
) -> anyhow::Result<EntryOutcome> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Ok(EntryOutcome::Rejected("its name is not text".to_owned()));
    };
    match QueueFileName::parse(name) {
        QueueFileName::Quarantine => Ok(EntryOutcome::Left),
        QueueFileName::Foreign => Ok(EntryOutcome::Rejected("it has no business here".to_owned())),
        // A kill between writing and renaming leaves one; it was never shown to anybody.
        QueueFileName::Unfinished => Ok(remove(path).map(|()| EntryOutcome::Left)?),
        QueueFileName::Item(id) => match open.iter().find(|file| file.item_id == id) {
            Some(file) => reconcile_open_item(path, file),
            None if is_item(id)? && is_regular_file(path) => Ok(remove(path).map(|()| EntryOutcome::Removed)?),
            None => Ok(EntryOutcome::Rejected("there is no such item".to_owned())),
        },
        QueueFileName::Decision(id) => Ok(reconcile_decision(path, id)),
    }
}

fn reconcile_open_item(path: &Path, file: &QueueFile) -> anyhow::Result<EntryOutcome> {
    match check_item_file(path, &file.text) {
        Ok(ItemFileState::Current) => Ok(EntryOutcome::Current(file.item_id)),
        // It is not among the current ones, and is written anew.
        Ok(ItemFileState::Outdated) => Ok(EntryOutcome::Left),
        Err(QueueReadError::Rejected(why)) => Ok(EntryOutcome::Rejected(why)),
        Err(QueueReadError::Transient(error)) => Err(error.into()),
    }
}

fn reconcile_decision(path: &Path, id: ItemId) -> EntryOutcome {
    match decision_file::read(path, id) {
        Ok(decision) => EntryOutcome::Decision(decision),
        Err(QueueReadError::Rejected(why)) => EntryOutcome::Rejected(why),
        // Nothing is known of it yet: it stays, and is read at the next look.
        Err(QueueReadError::Transient(error)) => {
            tracing::warn!(%error, "a decision file cannot be read yet");
            EntryOutcome::Left
        }
    }
}

/// What a name in the folder stands for.
enum QueueFileName {
    Item(ItemId),
    Decision(ItemId),
    /// A temporary file of the program's own.
    Unfinished,
    Quarantine,
    /// Nothing that belongs in the queue.
    Foreign,
}

impl QueueFileName {
    fn parse(name: &str) -> Self {
        // Only the canonical spelling of an id counts, so that one item has one file name.
        let id = |text: &str| text.parse::<ItemId>().ok().filter(|id| id.to_string() == text);
        if name == QUARANTINE {
            return Self::Quarantine;
        }
        if let Some(id) = name.strip_suffix(".decision.json").and_then(id) {
            return Self::Decision(id);
        }
        if let Some(id) = name.strip_suffix(".json").and_then(id) {
            return Self::Item(id);
        }
        let unfinished = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp")).and_then(id);
        if unfinished.is_some() { Self::Unfinished } else { Self::Foreign }
    }
}

/// Removes a file. One that is gone already is no error.
fn remove(path: &Path) -> io::Result<()> {
    match failpoint::around("queue.remove", || fs::remove_file(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

fn is_regular_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

/// Whether a file shows the item as it is now.
enum ItemFileState {
    Current,
    /// The program wrote the file before the item was snoozed or its task changed.
    Outdated,
}

/// Returns whether the file is exactly what the program writes now, or wrote before. Anything else is rejected.
fn check_item_file(path: &Path, text: &str) -> Result<ItemFileState, QueueReadError> {
    /// How much larger an older version of the file can be.
    const SLACK: u64 = 1024 * 1024;
    let bytes = read_private_file(path, text.len() as u64 + SLACK)?;
    if bytes == text.as_bytes() {
        return Ok(ItemFileState::Current);
    }
    if item_file::has_valid_seal(&bytes) { Ok(ItemFileState::Outdated) } else { Err("its content was changed".into()) }
}

/// Why a file of the queue was not read.
enum QueueReadError {
    /// The file does not belong to the user or in the queue, and never will.
    Rejected(String),
    /// The machine could not read the file now: too many open files, no memory, a failing disk.
    Transient(io::Error),
}

impl From<&str> for QueueReadError {
    fn from(why: &str) -> Self {
        Self::Rejected(why.to_owned())
    }
}

impl From<io::Error> for QueueReadError {
    fn from(error: io::Error) -> Self {
        use rustix::io::Errno;
        // A link, a socket, a name without a file, or a file that may not be opened.
        let of_the_file =
            [Errno::LOOP, Errno::NXIO, Errno::NODEV, Errno::NOENT, Errno::ACCESS, Errno::PERM, Errno::ISDIR];
        match Errno::from_io_error(&error) {
            Some(errno) if of_the_file.contains(&errno) => Self::Rejected(format!("it cannot be opened: {error}")),
            _ => Self::Transient(error),
        }
    }
}

/// Returns the bytes of a regular file that belongs to the user and that nobody else can read or write. Never follows a
/// link, and reads at most `most` bytes.
fn read_private_file(path: &Path, most: u64) -> Result<Vec<u8>, QueueReadError> {
    use std::{io::Read as _, os::unix::fs::OpenOptionsExt};
    failpoint::around("queue.read", || {
        let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits();
        let file = fs::OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)?;
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err("it is not a regular file".into());
        }
        if meta.uid() != rustix::process::geteuid().as_raw() {
            return Err("it belongs to somebody else".into());
        }
        if meta.mode() & 0o077 != 0 {
            return Err("others can read or write it (0600 is needed)".into());
        }
        if meta.nlink() != 1 {
            return Err("it has another hard link".into());
        }
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err("it is larger than such a file can be".into());
        }
        Ok(bytes)
    })
}
