//! `data/audit.anchor`: one line per head, `seq hash time`, only ever appended to.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use crate::{failpoint, model::Instant, regular_file, store::value::AuditHead};

#[derive(Debug, Clone)]
pub struct AnchorFile(PathBuf);

impl AnchorFile {
    pub const fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Adds a head and waits until it is on the disk.
    pub(super) fn append(&self, head: &AuditHead, now: Instant) -> io::Result<()> {
        failpoint::around("anchor.append", || append_line(&self.0, &format!("{} {} {now}\n", head.seq, head.hash)))
    }

    /// The heads that were noted, oldest first; none without a file. A line torn by a kill is the last one, and does not
    /// count.
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
            .map(|line| head(line).ok_or_else(|| io::Error::other(format!("'{}' is no anchor", line.escape_debug()))))
            .collect::<io::Result<Vec<_>>>();
        heads.map(Some)
    }

    /// Keeps the heads so far under another name.
    pub(super) fn rename_aside(&self, now: Instant) -> io::Result<()> {
        if !self.0.exists() {
            return Ok(());
        }
        let kept = self.0.with_extension(format!("anchor.{}", now.utc().format("%Y%m%dT%H%M%SZ")));
        failpoint::around("anchor.rename", || fs::rename(&self.0, kept))
    }
}

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
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}
