//! A witness outside `data/`: the newest head of the audit chain, the epoch, and every message whose sending was begun.
//!
//! The witness is in the state folder of the user, one folder for each home, so that it is not restored together with
//! `data/` and can contradict a restored database. A head is written here after its commit, so the database may be
//! ahead of the witness and never behind it. A message is written here before its first byte leaves. No path of a home
//! is written here.

mod open_files;
mod send_log;

use std::{
    fmt,
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    durable_file::FileReplacement,
    failpoint,
    model::{ActionId, Instant},
    regular_file,
};
pub use open_files::{DataReplaced, OpenFiles};
use send_log::SendLog;

/// The first line of the record file, with the version of its format.
const HEADER_LINE: &str = "adjutant witness 1";
const RECORD_FILE: &str = "witness";
const SEND_LOG_FILE: &str = "sends";
/// Locked by a process while it writes here.
const LOCK_FILE: &str = "lock";

/// The newest state of a home, as recorded outside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WitnessRecord {
    pub epoch: i64,
    /// The number and hash of the newest audit line.
    pub seq: i64,
    pub hash: String,
}

/// The result of reading the record. The variants are kept apart because they mean different things: a missing or
/// unreadable record can be the trace of a restore, an unavailable folder need not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WitnessFileStatus {
    Known(WitnessRecord),
    /// The state folder can be read and has no witness of this home.
    Missing,
    /// The file is damaged, or something else than a file is in its place.
    Unreadable(String),
    /// The state folder itself cannot be used.
    Unavailable(String),
}

/// The witness of one home. Cheap to clone; all its calls block.
#[derive(Clone)]
pub struct Witness(Arc<WitnessInner>);

struct WitnessInner {
    /// The folder of this home; none when there is no state folder.
    folder: Option<PathBuf>,
    send_log: Mutex<SendLog>,
    /// What this process recorded last.
    last_recorded: Mutex<Option<WitnessRecord>>,
    /// Whether it was logged already that the state folder cannot be written.
    has_warned: AtomicBool,
}

impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Witness").field(&self.0.folder).finish()
    }
}

impl Witness {
    /// Returns the witness of the home with this id in a state folder. No file is created before something is recorded.
    pub fn for_home(state: Option<&Path>, home: &str) -> Self {
        Self(Arc::new(WitnessInner {
            folder: state.map(|state| state.join(home)),
            send_log: Mutex::default(),
            last_recorded: Mutex::default(),
            has_warned: AtomicBool::new(false),
        }))
    }

    /// Returns the folder of this witness; none when there is no state folder.
    pub fn folder(&self) -> Option<&Path> {
        self.0.folder.as_deref()
    }

    /// Reads the record.
    pub fn read_status(&self) -> WitnessFileStatus {
        let Some(folder) = self.folder() else { return WitnessFileStatus::Unavailable(NO_STATE_FOLDER.into()) };
        match regular_file::read_to_string(&folder.join(RECORD_FILE)) {
            Ok(text) => parse_record(&text).map_or_else(
                || WitnessFileStatus::Unreadable(format!("{} is damaged", folder.join(RECORD_FILE).display())),
                WitnessFileStatus::Known,
            ),
            Err(error) if error.kind() == io::ErrorKind::NotFound => match check_usable(folder) {
                Ok(()) => WitnessFileStatus::Missing,
                Err(error) => WitnessFileStatus::Unavailable(format!("{} cannot be used: {error}", folder.display())),
            },
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                WitnessFileStatus::Unreadable(format!("{} is damaged", folder.join(RECORD_FILE).display()))
            }
            // A folder, pipe or socket is in the place of the file.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory) => {
                WitnessFileStatus::Unreadable(format!("{} cannot be read: {error}", folder.join(RECORD_FILE).display()))
            }
            Err(error) => WitnessFileStatus::Unavailable(format!(
                "{} cannot be read: {error}",
                folder.join(RECORD_FILE).display()
            )),
        }
    }

    /// Returns why the witness cannot be read or written, for `doctor`; none when everything is usable.
    pub fn find_problem(&self) -> Option<String> {
        match (self.read_status(), self.folder()) {
            (WitnessFileStatus::Unavailable(problem) | WitnessFileStatus::Unreadable(problem), _) => Some(problem),
            (WitnessFileStatus::Known(_) | WitnessFileStatus::Missing, Some(folder)) => {
                let unusable = check_usable(folder).err().map(|error| (folder.to_owned(), error));
                let other_files = [LOCK_FILE, SEND_LOG_FILE].map(|name| folder.join(name)).into_iter();
                let mut unusable_files = other_files.filter_map(|path| Some((unusable_file(&path)?, path)));
                let problem = unusable.or_else(|| unusable_files.next().map(|(error, path)| (path, error)));
                problem.map(|(path, error)| format!("{} cannot be used: {error}", path.display()))
            }
            (_, None) => Some(NO_STATE_FOLDER.into()),
        }
    }

    /// Replaces the record durably. The caller must have committed it to the database before.
    pub fn write_record(&self, record: &WitnessRecord) -> io::Result<()> {
        let _lock = self.lock()?;
        if self.read_status() != WitnessFileStatus::Known(record.clone()) {
            let WitnessRecord { epoch, seq, hash } = record;
            let text = format!("{HEADER_LINE}\nepoch {epoch}\nhead {seq} {hash}\n");
            let path = self.ensure_folder()?.join(RECORD_FILE);
            failpoint::around("witness.write", || FileReplacement::new(&path).replace_durably(text.as_bytes()))?;
        }
        *self.0.last_recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(record.clone());
        Ok(())
    }

    /// Returns whether this is what this process recorded last, so that nothing needs to be written.
    pub fn has_recorded(&self, record: &WitnessRecord) -> bool {
        self.0.last_recorded.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(record)
    }

    /// Returns true the first time only, so that a folder that cannot be written is logged once.
    pub fn claim_first_warning(&self) -> bool {
        !self.0.has_warned.swap(true, Ordering::Relaxed)
    }

    /// Waits for the lock that keeps other processes from writing here; dropping the result releases it.
    fn lock(&self) -> io::Result<File> {
        let path = self.ensure_folder()?.join(LOCK_FILE);
        let mut options = OpenOptions::new();
        let lock = regular_file::open_with(options.write(true).create(true).truncate(false).mode(0o600), &path)?;
        lock.lock()?;
        Ok(lock)
    }

    /// Returns how often sending this action was begun by any process with this home. Actions count as the same when
    /// task, step and generation are.
    pub fn count_begun_sends(&self, action: ActionId) -> io::Result<u32> {
        let Some(folder) = self.folder() else { return Ok(0) };
        self.lock_send_log().count(&folder.join(SEND_LOG_FILE), action)
    }

    /// Records durably that the sending of an action begins, for the `attempt`th time as far as the database knows.
    /// Returns false when it was begun that often before: the database is older than that send, and the message must
    /// not be sent. Without a state folder it returns true.
    pub fn begin_send(&self, action: ActionId, attempt: u32, at: Instant) -> io::Result<bool> {
        if self.folder().is_none() {
            return Ok(true);
        }
        let _lock = self.lock()?;
        let path = self.ensure_folder()?.join(SEND_LOG_FILE);
        let mut sends = self.lock_send_log();
        // A refused send is recorded too, so that the witness stays ahead of the database and refuses it again.
        let may_send = sends.count(&path, action)? < attempt;
        sends.append(&path, action, at)?;
        Ok(may_send)
    }

    /// Removes the oldest lines of the send log when there are very many.
    pub fn trim_send_log(&self) -> io::Result<()> {
        let Some(folder) = self.folder().filter(|folder| folder.join(SEND_LOG_FILE).exists()) else { return Ok(()) };
        let _lock = self.lock()?;
        self.lock_send_log().trim(&folder.join(SEND_LOG_FILE))
    }

    /// Returns the part of the send log that this process has read.
    fn lock_send_log(&self) -> std::sync::MutexGuard<'_, SendLog> {
        // A panic cannot have left wrong counts: they are read again from the file when it has changed.
        self.0.send_log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates the folder if necessary and returns it.
    fn ensure_folder(&self) -> io::Result<&Path> {
        let folder = self.folder().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, NO_STATE_FOLDER))?;
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        Ok(folder)
    }
}

/// What `doctor` and the log say when no state folder is known.
const NO_STATE_FOLDER: &str =
    "there is no state folder: neither XDG_STATE_HOME nor a home directory is known; set `state`";

/// Returns why a file cannot be opened for reading and writing; none when it can be, or is not there yet.
fn unusable_file(path: &Path) -> Option<io::Error> {
    let opened = regular_file::open_with(OpenOptions::new().read(true).append(true), path);
    opened.err().filter(|error| error.kind() != io::ErrorKind::NotFound)
}

/// Checks that the folder can be written, or that it could be created in the nearest parent that exists.
fn check_usable(folder: &Path) -> io::Result<()> {
    let mut nearest = folder;
    loop {
        match fs::metadata(nearest) {
            Ok(meta) if meta.is_dir() => return rustix::fs::access(nearest, write_access()).map_err(Into::into),
            Ok(_) => return Err(io::Error::from(io::ErrorKind::NotADirectory)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        nearest = nearest.parent().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    }
}

/// Returns the permissions that creating files in a folder needs.
fn write_access() -> rustix::fs::Access {
    rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK
}

/// Parses the record file. Returns none unless it is complete to its last byte.
fn parse_record(text: &str) -> Option<WitnessRecord> {
    let mut lines = text.strip_suffix('\n')?.lines();
    if lines.next()? != HEADER_LINE {
        return None;
    }
    let epoch = lines.next()?.strip_prefix("epoch ")?.parse().ok()?;
    let (seq, hash) = lines.next()?.strip_prefix("head ")?.split_once(' ')?;
    let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_complete = lines.next().is_none() && is_hash;
    Some(WitnessRecord { epoch, seq: seq.parse().ok()?, hash: hash.to_owned() }).filter(|_| is_complete)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn record(seq: i64) -> WitnessRecord {
        WitnessRecord { epoch: 2, seq, hash: "ab".repeat(32) }
    }

    #[test]
    fn what_is_noted_is_read_again_by_its_owner_only() {
        let state = tempfile::tempdir().unwrap();
        let witness = Witness::for_home(Some(state.path()), "h");
        assert_eq!(witness.read_status(), WitnessFileStatus::Missing);
        witness.write_record(&record(7)).unwrap();
        witness.write_record(&record(8)).unwrap();
        assert_eq!(witness.read_status(), WitnessFileStatus::Known(record(8)));
        let mode = |name: &str| fs::metadata(state.path().join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("h"), mode("h/witness")), (0o700, 0o600));
        assert_eq!(Witness::for_home(Some(state.path()), "other").read_status(), WitnessFileStatus::Missing);
    }

    #[test]
    fn half_a_file_or_another_says_nothing() {
        let state = tempfile::tempdir().unwrap();
        let witness = Witness::for_home(Some(state.path()), "h");
        witness.write_record(&record(7)).unwrap();
        let path = state.path().join("h/witness");
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(matches!(witness.read_status(), WitnessFileStatus::Unreadable(_)), "{length} bytes");
        }
        for garbage in [&b"\xff\xfe"[..], b"adjutant witness 2\nepoch 0\nhead 1 x\n", b"7\n"] {
            fs::write(&path, garbage).unwrap();
            assert!(matches!(witness.read_status(), WitnessFileStatus::Unreadable(_)));
        }
    }

    #[test]
    fn a_place_that_is_no_folder_is_away() {
        let state = tempfile::tempdir().unwrap();
        let file = state.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(matches!(Witness::for_home(Some(&file), "h").read_status(), WitnessFileStatus::Unavailable(_)));
        assert!(matches!(Witness::for_home(None, "h").read_status(), WitnessFileStatus::Unavailable(_)));
        assert!(Witness::for_home(None, "h").write_record(&record(1)).is_err());
    }

    #[test]
    fn a_folder_in_place_of_a_file_is_a_problem() {
        for name in [RECORD_FILE, SEND_LOG_FILE, LOCK_FILE] {
            let state = tempfile::tempdir().unwrap();
            let witness = Witness::for_home(Some(state.path()), "h");
            witness.write_record(&record(7)).unwrap();
            assert_eq!(witness.find_problem(), None);
            let path = state.path().join("h").join(name);
            drop(fs::remove_file(&path));
            fs::create_dir(&path).unwrap();
            assert!(witness.find_problem().unwrap().contains(name), "{:?}", witness.find_problem());
        }
    }
}
