//! The audit chain from outside: its heads are anchored in a file of their own, and both are verified together.
//!
//! The chain itself is written by the store, in the transaction of the act. Nothing here changes it. A head in the file
//! that the database does not have means that the database was cut off, edited or replaced by an older one.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{
    failpoint,
    model::Instant,
    store::{Result, Store, value::AuditHead},
};

/// `data/audit.anchor`: one line per head, `seq hash time`, only ever appended to.
#[derive(Debug, Clone)]
pub struct Anchor(PathBuf);

/// What verifying found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verified {
    pub lines: i64,
    pub anchors: usize,
    /// The first thing that does not fit.
    pub problem: Option<String>,
}

impl Anchor {
    pub const fn at(path: PathBuf) -> Self {
        Self(path)
    }

    /// Notes the newest head, unless it is noted already.
    pub async fn note(&self, store: &Store, now: Instant) -> anyhow::Result<()> {
        let Some(head) = store.read(|reader| reader.audit_head()).await? else { return Ok(()) };
        if self.last()?.is_some_and(|last| last.seq >= head.seq) {
            return Ok(());
        }
        failpoint::around("anchor.append", || append(&self.0, &format!("{} {} {now}\n", head.seq, head.hash)))?;
        Ok(())
    }

    pub fn last(&self) -> io::Result<Option<AuditHead>> {
        Ok(self.heads()?.pop())
    }

    /// A line torn by a kill is the last one, and does not count.
    fn heads(&self) -> io::Result<Vec<AuditHead>> {
        let text = match fs::read_to_string(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let whole = text.rfind('\n').and_then(|end| text.get(..end)).unwrap_or_default();
        let head = |line: &str| {
            let mut words = line.split(' ');
            let (seq, hash) = (words.next()?.parse().ok()?, words.next()?.to_owned());
            words.next()?;
            Some(AuditHead { seq, hash })
        };
        whole
            .lines()
            .map(|line| head(line).ok_or_else(|| io::Error::other(format!("'{}' is no anchor", line.escape_debug()))))
            .collect()
    }

    /// Walks the chain and holds every anchor against it.
    pub async fn verify(&self, store: &Store) -> anyhow::Result<Verified> {
        let heads = match self.heads() {
            Ok(heads) => heads,
            Err(error) => {
                let lines = store.read(|reader| reader.verify_audit(&[])).await?.lines;
                let problem = Some(format!("the anchor file cannot be read: {error}"));
                return Ok(Verified { lines, anchors: 0, problem });
            }
        };
        let anchors = heads.len();
        let walked = store.read(move |reader| -> Result<_> { reader.verify_audit(&heads) }).await?;
        Ok(Verified { lines: walked.lines, anchors, problem: walked.problem })
    }

    /// After a restore the old heads are set aside, in a file beside it, and a new series begins.
    pub async fn begin_anew(&self, store: &Store, now: Instant) -> anyhow::Result<()> {
        if self.0.exists() {
            let kept = self.0.with_extension(format!("anchor.{}", now.utc().format("%Y%m%dT%H%M%SZ")));
            failpoint::around("anchor.append", || fs::rename(&self.0, kept))?;
        }
        self.note(store, now).await
    }

    /// The database is not the one whose heads were noted last.
    pub async fn is_ahead(&self, store: &Store) -> anyhow::Result<bool> {
        let Some(last) = self.last().unwrap_or_default() else { return Ok(false) };
        let stored = store.read(move |reader| reader.audit_hash(last.seq)).await?;
        Ok(stored.as_deref() != self.last().unwrap_or_default().as_ref().map(|last| last.hash.as_str()))
    }
}

fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).read(true).append(true).mode(0o600).open(path)?;
    // A kill in the middle of a line leaves it torn; whole lines are never touched.
    let bytes = fs::read(path)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    if whole < bytes.len() {
        file.set_len(whole as u64)?;
    }
    file.write_all(line.as_bytes())?;
    file.sync_data()
}
