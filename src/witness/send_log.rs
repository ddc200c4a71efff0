//! The send log: a line for each message whose sending was begun, on the disk before its first byte leaves.
//!
//! A line holds the action's id and the time. Ids are compared by the part derived from task, step and generation: a
//! restored database creates the same action again at another time.

use std::{
    collections::HashMap,
    fs::OpenOptions,
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt},
    path::Path,
};

use crate::{
    durable_file::{FileReplacement, sync_folder},
    failpoint,
    model::{ActionId, Instant},
    regular_file,
};

/// How many of the newest lines stay when the log is cut: years of sends, and some megabytes.
const KEPT_LINES: usize = 100_000;
/// The length at which the log is cut. The gap to [`KEPT_LINES`] keeps the rewriting rare.
const MAX_LINES: usize = 120_000;

/// The part of the log that was read so far.
#[derive(Debug, Default)]
pub(super) struct SendLog {
    /// How often each action was begun, by its [`ActionId::step_key`].
    begun_counts: HashMap<u128, u32>,
    /// The inode of the file that was read, and the offset up to which it was read.
    read_up_to: Option<(u64, u64)>,
}

impl SendLog {
    /// Returns how often the sending of an action was begun. Reads only what was appended since the last call.
    pub(super) fn count(&mut self, path: &Path, action: ActionId) -> io::Result<u32> {
        self.read_new_lines(path)?;
        Ok(self.begun_counts.get(&action.step_key()).copied().unwrap_or(0))
    }

    /// Reads what was appended since the last call, by this or another process.
    fn read_new_lines(&mut self, path: &Path) -> io::Result<()> {
        let mut file = match regular_file::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                *self = Self::default();
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let meta = file.metadata()?;
        let from = match self.read_up_to {
            Some((inode, offset)) if inode == meta.ino() && offset <= meta.len() => offset,
            // The file was replaced or truncated, so what was read before does not count.
            _ => {
                self.begun_counts.clear();
                0
            }
        };
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = whole_lines(&bytes);
        for line in String::from_utf8_lossy(whole).lines() {
            if let Some(action) = parse_action_id(line) {
                *self.begun_counts.entry(action.step_key()).or_default() += 1;
            }
        }
        self.read_up_to = Some((meta.ino(), from + whole.len() as u64));
        Ok(())
    }

    /// Appends a line and returns when it is on the disk. The caller holds the lock and has called [`Self::count`].
    pub(super) fn append(&mut self, path: &Path, action: ActionId, at: Instant) -> io::Result<()> {
        let is_new = !path.exists();
        let mut file = regular_file::open_with(OpenOptions::new().append(true).create(true).mode(0o600), path)?;
        // An incomplete last line comes from a kill before its send began, so it is cut off.
        if let Some((_, offset)) = self.read_up_to.filter(|_| !is_new) {
            file.set_len(offset)?;
        }
        failpoint::around("witness.append", || {
            file.write_all(format!("{action} {at}\n").as_bytes())?;
            file.sync_data()?;
            match path.parent().filter(|_| is_new) {
                Some(folder) => sync_folder(folder),
                None => Ok(()),
            }
        })
    }

    /// Rewrites the file with its newest lines when it has more than [`MAX_LINES`]. The caller holds the lock.
    pub(super) fn trim(&mut self, path: &Path) -> io::Result<()> {
        let bytes = regular_file::read(path)?;
        let text = String::from_utf8_lossy(whole_lines(&bytes));
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() <= MAX_LINES {
            return Ok(());
        }
        let newest = lines.get(lines.len() - KEPT_LINES..).unwrap_or_default();
        let newest = format!("{}\n", newest.join("\n"));
        failpoint::around("witness.trim", || FileReplacement::new(path).replace_durably(newest.as_bytes()))
    }
}

/// Returns the bytes up to the last line end.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    bytes.get(..end).unwrap_or_default()
}

/// Returns the action of a line; none for a damaged line, which then counts for no action.
fn parse_action_id(line: &str) -> Option<ActionId> {
    line.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{super::Witness, *};

    fn at(second: u32) -> Instant {
        format!("2026-11-16T08:00:{second:02}Z").parse().unwrap()
    }

    fn action(second: u32, step: &str) -> ActionId {
        ActionId::derive(at(second), &[step])
    }

    #[test]
    fn a_send_is_begun_once_for_each_time_the_database_knows_of() {
        let state = tempfile::tempdir().unwrap();
        let (one, other) = (Witness::for_home(Some(state.path()), "h"), Witness::for_home(Some(state.path()), "h"));
        assert!(one.begin_send(action(1, "a"), 1, at(1)).unwrap());
        // Another process, and the same step made again at another time.
        assert!(!other.begin_send(action(9, "a"), 1, at(2)).unwrap());
        assert_eq!(one.count_begun_sends(action(3, "a")).unwrap(), 2, "more than either knows");
        assert!(other.begin_send(action(9, "a"), 3, at(2)).unwrap());
        assert_eq!(one.count_begun_sends(action(1, "b")).unwrap(), 0);
    }

    #[test]
    fn a_torn_line_counts_for_nothing_and_goes() {
        let state = tempfile::tempdir().unwrap();
        let path = state.path().join("h/sends");
        let witness = Witness::for_home(Some(state.path()), "h");
        assert!(witness.begin_send(action(1, "a"), 1, at(1)).unwrap());
        let whole = fs::read_to_string(&path).unwrap();
        for torn in 1..whole.len() {
            let half = whole.get(..torn).unwrap().trim_end();
            fs::write(&path, format!("{whole}{half}")).unwrap();
            let witness = Witness::for_home(Some(state.path()), "h");
            assert_eq!(witness.count_begun_sends(action(1, "a")).unwrap(), 1, "{torn}");
            assert!(witness.begin_send(action(1, "b"), 1, at(1)).unwrap());
            assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2, "{torn}");
        }
    }

    #[test]
    fn a_very_long_log_keeps_its_newest_lines() {
        let state = tempfile::tempdir().unwrap();
        let path = state.path().join("h/sends");
        let witness = Witness::for_home(Some(state.path()), "h");
        assert!(witness.begin_send(action(1, "newest"), 1, at(1)).unwrap());
        let newest = fs::read_to_string(&path).unwrap();
        let old = format!("{} {}\n", action(1, "old"), at(1));
        fs::write(&path, format!("{}{newest}", old.repeat(MAX_LINES + 1))).unwrap();
        assert_eq!(witness.count_begun_sends(action(1, "old")).unwrap() as usize, MAX_LINES + 1);
        witness.trim_send_log().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), KEPT_LINES);
        assert_eq!(
            (
                witness.count_begun_sends(action(1, "old")).unwrap() as usize,
                witness.count_begun_sends(action(1, "newest")).unwrap()
            ),
            (KEPT_LINES - 1, 1)
        );
    }
}
