//! A witness outside `data/`: the newest head of the audit chain, the epoch, and every message whose sending was begun.
//!
//! It lives in the state folder of the user, one folder per home, so that a `data/` folder put back as a whole meets
//! something that was not put back with it. The database may be ahead of the witness, never the other way round: a head
//! is written here after its commit. A message is written here before its first byte leaves.

mod open_files;
mod send_log;

use std::{
    fmt,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    failpoint,
    model::{ActionId, Instant},
    regular_file,
};
pub use open_files::{DataReplaced, OpenFiles};
use send_log::SendLog;

/// The first line of the file, with the version of its form.
const HEADER_LINE: &str = "adjutant witness 1";
const RECORD_FILE: &str = "witness";
const SEND_LOG_FILE: &str = "sends";
const LOCK_FILE: &str = "lock";

/// How far a home has come, as it is known outside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WitnessRecord {
    pub epoch: i64,
    /// The number and hash of the newest audit line.
    pub seq: i64,
    pub hash: String,
}

/// What the witness has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WitnessFileStatus {
    Known(WitnessRecord),
    /// The state folder can be looked into and has no witness of this home.
    Missing,
    /// There is a file, and it says nothing that can be understood.
    Unreadable(String),
    /// The state folder itself cannot be used.
    Unavailable(String),
}

/// The witness of one home. Cheap to clone; all its calls block.
#[derive(Clone)]
pub struct Witness(Arc<WitnessInner>);

struct WitnessInner {
    /// None without a state folder.
    folder: Option<PathBuf>,
    send_log: Mutex<SendLog>,
    /// What this process noted last.
    last_recorded: Mutex<Option<WitnessRecord>>,
    /// That it could not be written was said already.
    has_warned: AtomicBool,
}

impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Witness").field(&self.0.folder).finish()
    }
}

impl Witness {
    /// The witness of the home with this id, in a state folder. Nothing is made before something is noted.
    pub fn for_home(state: Option<&Path>, home: &str) -> Self {
        let folder = state.map(|state| state.join(home));
        let (sends, noted, complained) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
        Self(Arc::new(WitnessInner { folder, send_log: sends, last_recorded: noted, has_warned: complained }))
    }

    /// Its folder, for people.
    pub fn folder(&self) -> Option<&Path> {
        self.0.folder.as_deref()
    }

    /// Reads what is known.
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
            // Something that is no file was put in its place.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory) => {
                WitnessFileStatus::Unreadable(format!("{} cannot be read: {error}", folder.join(RECORD_FILE).display()))
            }
            Err(error) => WitnessFileStatus::Unavailable(format!(
                "{} cannot be read: {error}",
                folder.join(RECORD_FILE).display()
            )),
        }
    }

    /// Why nothing can be noted, or what was noted cannot be read.
    pub fn find_problem(&self) -> Option<String> {
        match (self.read_status(), self.folder()) {
            (WitnessFileStatus::Unavailable(problem) | WitnessFileStatus::Unreadable(problem), _) => Some(problem),
            (WitnessFileStatus::Known(_) | WitnessFileStatus::Missing, Some(folder)) => {
                let unusable = check_usable(folder).err().map(|error| (folder.to_owned(), error));
                let beside = [LOCK_FILE, SEND_LOG_FILE].map(|name| folder.join(name)).into_iter();
                let mut unopened = beside.filter_map(|path| Some((unusable_file(&path)?, path)));
                let problem = unusable.or_else(|| unopened.next().map(|(error, path)| (path, error)));
                problem.map(|(path, error)| format!("{} cannot be used: {error}", path.display()))
            }
            (_, None) => Some(NO_STATE_FOLDER.into()),
        }
    }

    /// Replaces what is known by what the caller has committed.
    pub fn write_record(&self, record: &WitnessRecord) -> io::Result<()> {
        let _lock = self.lock()?;
        if self.read_status() != WitnessFileStatus::Known(record.clone()) {
            let WitnessRecord { epoch, seq, hash } = record;
            let text = format!("{HEADER_LINE}\nepoch {epoch}\nhead {seq} {hash}\n");
            let path = self.ensure_folder()?.join(RECORD_FILE);
            failpoint::around("witness.write", || replace_durably(&path, text.as_bytes()))?;
        }
        *self.0.last_recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(record.clone());
        Ok(())
    }

    /// Whether this process has noted it already.
    pub fn has_recorded(&self, record: &WitnessRecord) -> bool {
        self.0.last_recorded.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(record)
    }

    /// True once: a folder that cannot be written is worth one line, not one every few seconds.
    pub fn claim_first_warning(&self) -> bool {
        !self.0.has_warned.swap(true, Ordering::Relaxed)
    }

    /// Keeps other processes from writing here, until the result is dropped.
    fn lock(&self) -> io::Result<File> {
        let path = self.ensure_folder()?.join(LOCK_FILE);
        let mut options = OpenOptions::new();
        let lock = regular_file::open_with(options.write(true).create(true).truncate(false).mode(0o600), &path)?;
        lock.lock()?;
        Ok(lock)
    }

    /// How often sending this attempt at a step was begun, by whoever had this home.
    pub fn count_begun_sends(&self, action: ActionId) -> io::Result<u32> {
        let Some(folder) = self.folder() else { return Ok(0) };
        self.lock_send_log().count(&folder.join(SEND_LOG_FILE), action)
    }

    /// Notes, durably, that the sending of an action begins, for the `attempt`th time as far as the database knows.
    /// Returns false when it was begun so often before: the database has forgotten it, and it must not be sent.
    pub fn begin_send(&self, action: ActionId, attempt: u32, at: Instant) -> io::Result<bool> {
        if self.folder().is_none() {
            return Ok(true);
        }
        let _lock = self.lock()?;
        let path = self.ensure_folder()?.join(SEND_LOG_FILE);
        let mut sends = self.lock_send_log();
        // Noted in any case: of one that is refused, the witness must know more than the database for good.
        let is_known = sends.count(&path, action)? < attempt;
        sends.append(&path, action, at)?;
        Ok(is_known)
    }

    /// Forgets the oldest sends when there are very many.
    pub fn trim_send_log(&self) -> io::Result<()> {
        let Some(folder) = self.folder().filter(|folder| folder.join(SEND_LOG_FILE).exists()) else { return Ok(()) };
        let _lock = self.lock()?;
        self.lock_send_log().trim(&folder.join(SEND_LOG_FILE))
    }

    fn lock_send_log(&self) -> std::sync::MutexGuard<'_, SendLog> {
        // Counts that can be read again from the file.
        self.0.send_log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ensure_folder(&self) -> io::Result<&Path> {
        let folder = self.folder().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, NO_STATE_FOLDER))?;
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        Ok(folder)
    }
}

const NO_STATE_FOLDER: &str =
    "there is no state folder: neither XDG_STATE_HOME nor a home directory is known; set `state`";

/// Returns why a file cannot be opened for reading and writing; none when it can be, or is not there yet.
fn unusable_file(path: &Path) -> Option<io::Error> {
    let opened = regular_file::open_with(OpenOptions::new().read(true).append(true), path);
    opened.err().filter(|error| error.kind() != io::ErrorKind::NotFound)
}

/// Whether the folder is there and can be searched, or could be made.
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

fn write_access() -> rustix::fs::Access {
    rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK
}

fn parse_record(text: &str) -> Option<WitnessRecord> {
    let mut lines = text.strip_suffix('\n')?.lines();
    if lines.next()? != HEADER_LINE {
        return None;
    }
    let epoch = lines.next()?.strip_prefix("epoch ")?.parse().ok()?;
    let (seq, hash) = lines.next()?.strip_prefix("head ")?.split_once(' ')?;
    let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let whole = lines.next().is_none() && is_hash;
    Some(WitnessRecord { epoch, seq: seq.parse().ok()?, hash: hash.to_owned() }).filter(|_| whole)
}

/// The old bytes or the new, whenever the program dies.
fn replace_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let unfinished = path.with_extension("tmp");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
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
