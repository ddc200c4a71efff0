//! The errors of the store, in terms that a caller branches on. Causes are kept, but no type of rusqlite is exposed.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use rusqlite::ErrorCode;

use crate::approval::DecisionError;

/// Why the store did not do what it was asked. Unless a variant says otherwise, nothing of the write was stored.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database refused it: an illegal transition, a broken constraint, an approval that does not count.
    #[error("refused: {0}")]
    Refused(String),
    /// Somebody changed the row first. Read it again and decide again.
    #[error("overtaken: {0}")]
    Conflict(String),
    /// Somebody else ended or advanced the run. The caller that drove it has nothing more to do.
    #[error("overtaken: {0}")]
    RunTakenOver(String),
    /// The approval queue is full. Nothing was stored; the caller tries again later.
    #[error("not now: {0}")]
    QueueFull(String),
    /// The row does not exist.
    #[error("there is no {0}")]
    NotFound(String),
    /// The database was written by a newer version of the program.
    #[error(
        "the database has schema {found}, this program knows {known}: it was written by a newer version. Nothing was changed; use that version, or restore a backup from data/backups"
    )]
    NewerSchema { found: u32, known: u32 },
    /// The SQLite that is compiled in is too old to be safe.
    #[error("SQLite {found} is older than {needed}, which can corrupt a database in WAL mode")]
    OldSqlite { found: String, needed: &'static str },
    #[error(
        "the disk is full: nothing of this step was stored, everything before it is safe. Free some space and run again"
    )]
    DiskFull,
    /// A call to the disk failed. SQLite reports a full disk this way too, so the text names both.
    #[error(
        "the disk may be full, or fails ({why}): nothing of this step was stored, everything before it is safe. Free some space, or look at the disk, and run again"
    )]
    DiskFailure { why: String },
    /// The database, its folder or a backup cannot be written.
    #[error("{path} cannot be written: {why}. Make it writable for this user, or choose another place with --home")]
    ReadOnly { path: String, why: String },
    /// Another process held the lock longer than the busy timeout.
    #[error(
        "the database is busy: another program has kept it locked for {seconds} s. Nothing of this step was stored; run again"
    )]
    Busy { seconds: u64 },
    /// Any other error of SQLite.
    #[error("{context}")]
    Sqlite { context: String, source: Box<dyn std::error::Error + Send + Sync> },
    /// A stored row or a value to be stored could not be decoded or encoded.
    #[error("stored text could not be read: {context}")]
    Decode { context: String, source: Box<dyn std::error::Error + Send + Sync> },
    /// The program is shutting down, or the writer panicked. Whether a queued write was stored is unknown.
    #[error("the store has stopped")]
    Stopped,
}

pub type Result<T> = std::result::Result<T, StoreError>;

impl From<DecisionError> for StoreError {
    fn from(error: DecisionError) -> Self {
        match error {
            DecisionError::Refused(why) => Self::Refused(why),
            DecisionError::NotFound(what) => Self::NotFound(what),
        }
    }
}

impl StoreError {
    /// Returns whether trying again later may succeed without a person.
    pub const fn is_transient(&self) -> bool {
        matches!(self, StoreError::DiskFull | StoreError::Busy { .. })
    }

    /// Adds the two states to a refusal. The text of a trigger is a constant, so that any version of SQLite can read
    /// the schema; it cannot name them.
    pub(super) fn with_transition(self, subject: &str, from: &str, to: &str) -> Self {
        match self {
            StoreError::Refused(why) => StoreError::Refused(format!("{why}: {subject} from {from} to {to}")),
            other => other,
        }
    }

    /// Returns whether a stored row could not be read. Whoever walks many rows goes on without it.
    pub const fn is_unreadable(&self) -> bool {
        matches!(self, StoreError::Decode { .. })
    }

    /// Returns the error of a failed commit for one more write of the batch.
    pub(super) fn clone_for_batch(&self) -> Self {
        match self {
            StoreError::DiskFull => StoreError::DiskFull,
            StoreError::Busy { seconds } => StoreError::Busy { seconds: *seconds },
            StoreError::ReadOnly { path, why } => StoreError::ReadOnly { path: path.clone(), why: why.clone() },
            other => StoreError::Sqlite { context: "committing".into(), source: other.to_string().into() },
        }
    }
}

/// Adds to an error what was being done, for the message that a person reads.
pub(super) trait StoreContext<T> {
    /// Names in the error what was being done: `reading a task`.
    fn context(self, doing: &str) -> Result<T>;
}

impl<T> StoreContext<T> for rusqlite::Result<T> {
    fn context(self, doing: &str) -> Result<T> {
        self.map_err(|error| classify_sqlite_error(error, doing))
    }
}

impl<T> StoreContext<T> for serde_json::Result<T> {
    fn context(self, doing: &str) -> Result<T> {
        self.map_err(|error| StoreError::Decode { context: doing.to_owned(), source: Box::new(error) })
    }
}

/// Maps an error of rusqlite to the variant that a caller branches on.
fn classify_sqlite_error(error: rusqlite::Error, doing: &str) -> StoreError {
    match &error {
        rusqlite::Error::QueryReturnedNoRows => StoreError::NotFound(format!("row ({doing})")),
        rusqlite::Error::SqliteFailure(failure, message) => match failure.code {
            ErrorCode::DiskFull => StoreError::DiskFull,
            ErrorCode::SystemIoFailure => StoreError::DiskFailure { why: format!("{doing}: {error}") },
            ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => StoreError::ReadOnly {
                path: "the data folder".into(),
                why: message.clone().unwrap_or_else(|| failure.to_string()),
            },
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                StoreError::Busy { seconds: super::connection::BUSY_TIMEOUT.as_secs() }
            }
            ErrorCode::ConstraintViolation => {
                StoreError::Refused(message.clone().unwrap_or_else(|| format!("{doing}: {failure}")))
            }
            _ => StoreError::Sqlite { context: doing.to_owned(), source: Box::new(error) },
        },
        _ if is_unreadable(&error) => StoreError::Decode { context: doing.to_owned(), source: Box::new(error) },
        _ => StoreError::Sqlite { context: doing.to_owned(), source: Box::new(error) },
    }
}

/// Returns whether the fault is in the content of one row, and not in the statement or the database.
pub(super) const fn is_unreadable(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
    )
}

/// For reading one row among many.
pub trait SkipUnreadable<T> {
    /// Treats a row that cannot be read as missing and logs it once; `doctor` names it. Any other error stays an error.
    fn skip_unreadable(self) -> Result<Option<T>>;
}

impl<T> SkipUnreadable<T> for Result<Option<T>> {
    fn skip_unreadable(self) -> Result<Option<T>> {
        match self {
            Err(StoreError::Decode { context, source }) => {
                log_skipped_row(&context, &source.to_string());
                Ok(None)
            }
            outcome => outcome,
        }
    }
}

/// The unreadable rows that were logged. A daemon meets them every few seconds, so each is logged once.
static LOGGED_ROWS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
/// The number of unreadable rows that are logged. More mean a broken database, which these lines show already.
const MAX_LOGGED_ROWS: usize = 100;

/// Logs once that a row was skipped. Its value is not logged, because it may be text of a mail.
pub(super) fn log_skipped_row(doing: &str, row: &str) {
    let mut told = LOGGED_ROWS.lock().unwrap_or_else(PoisonError::into_inner);
    if told.len() < MAX_LOGGED_ROWS && told.insert(format!("{doing}\n{row}")) {
        tracing::warn!(doing, "a stored row could not be read and is left out; `adjutant doctor` names it");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_call_to_the_disk_says_that_it_may_be_full() {
        // SQLITE_IOERR_SHMSIZE: the shared memory of the log could not grow.
        for code in [4874, 778] {
            let failure = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            let said = classify_sqlite_error(failure, "listing tasks").to_string();
            assert!(said.contains("the disk may be full") && said.contains("listing tasks"), "{said}");
        }
    }
}
