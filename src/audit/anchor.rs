//! `data/audit.anchor`: one line for each recorded head of the audit chain, `seq hash time`. Lines are only appended.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use crate::{
    durable_file::sync_folder,
    failpoint,
    model::{AuditHead, Instant},
    regular_file,
};

/// The anchor file at a path; it need not exist yet.
#[derive(Debug, Clone)]
pub struct AnchorFile(PathBuf);

impl AnchorFile {
    pub const fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Appends a head and returns when it is on the disk. The head must have been committed before.
    pub(super) fn append(&self, head: &AuditHead, now: Instant) -> io::Result<()> {
        failpoint::around("anchor.append", || append_line(&self.0, &format!("{} {} {now}\n", head.seq, head.hash)))
    }

    /// Returns the recorded heads, oldest first, or none when there is no file. A last line without its end, as a kill
    /// leaves it, does not count.
    pub fn read_heads(&self) -> io::Result<Option<Vec<AuditHead>>> {
        let text = match regular_file::read_to_string(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let whole = text.rfind('\n').and_then(|end| text.get(..end)).unwrap_or_default();
        let head = |line: &str| {
            let mut words = line.split(' ');
            let (seq, hash) = (words.next()?.parse().ok()?, words.next()?.to_owned());
            words.next()?;
            Some(AuditHead { seq, hash })
        };
        let heads = whole
            .lines()
            .map(|line| {
                head(line)
                    .ok_or_else(|| io::Error::other(format!("the line '{}' is not an anchor", line.escape_debug())))
            })
            .collect::<io::Result<Vec<_>>>();
        heads.map(Some)
    }

    /// Renames the file to one with the time in its name, so that the heads so far are kept.
    pub(super) fn rename_aside(&self, now: Instant) -> io::Result<()> {
        if !self.0.exists() {
            return Ok(());
        }
        let kept = self.0.with_extension(format!("anchor.{}", now.utc().format("%Y%m%dT%H%M%SZ")));
        failpoint::around("anchor.rename", || fs::rename(&self.0, kept))
    }
}

/// Appends a line durably, after cutting off a line that a kill left without its end.
fn append_line(path: &Path, line: &str) -> io::Result<()> {
    let is_new = !path.exists();
    let mut options = OpenOptions::new();
    let mut file = regular_file::open_with(options.create(true).read(true).append(true).mode(0o600), path)?;
    // A kill in the middle of a line leaves it torn; whole lines are never touched.
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    if whole < bytes.len() {
        file.set_len(whole as u64)?;
    }
    file.write_all(line.as_bytes())?;
    file.sync_data()?;
    match path.parent().filter(|_| is_new) {
        Some(folder) => sync_folder(folder),
        None => Ok(()),
    }
}
