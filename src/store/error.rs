//! What can go wrong in the store, in terms a caller branches on. Causes are kept, rusqlite's types are not.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use rusqlite::ErrorCode;

use crate::approval::DecisionError;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database said no: an illegal transition, an unknown state.
    #[error("refused: {0}")]
    Refused(String),
    /// Somebody changed the row first. Read again and decide again.
    #[error("overtaken: {0}")]
    Conflict(String),
    /// Somebody else ended or advanced the run. Whoever drove it has nothing more to do.
    #[error("overtaken: {0}")]
    RunTakenOver(String),
    /// There is no room for it now. Nothing was stored; later there may be.
    #[error("not now: {0}")]
    QueueFull(String),
    #[error("there is no {0}")]
    NotFound(String),
    #[error(
        "the database has schema {found}, this program knows {known}: it was written by a newer version. Nothing was changed; use that version, or restore a backup from data/backups"
    )]
    NewerSchema { found: u32, known: u32 },
    #[error("SQLite {found} is older than {needed}, which can corrupt a database in WAL mode")]
    OldSqlite { found: String, needed: &'static str },
    #[error(
        "the disk is full: nothing of this step was stored, everything before it is safe. Free some space and run again"
    )]
    DiskFull,
    /// SQLite says no more than that a call to the disk failed, which it also does when there is no room.
    #[error(
        "the disk may be full, or fails ({why}): nothing of this step was stored, everything before it is safe. Free some space, or look at the disk, and run again"
    )]
    DiskFailure { why: String },
    #[error("{path} cannot be written: {why}. Make it writable for this user, or choose another place with --home")]
    ReadOnly { path: String, why: String },
    #[error("the database is busy: another program has kept it locked for {seconds} s")]
    Busy { seconds: u64 },
    #[error("{context}")]
    Sqlite { context: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("stored text could not be read: {context}")]
    Decode { context: String, source: Box<dyn std::error::Error + Send + Sync> },
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
    /// Worth trying again later without a person.
    pub const fn is_transient(&self) -> bool {
        matches!(self, StoreError::DiskFull | StoreError::Busy { .. })
    }

    /// Adds from where to where to a refusal: a trigger's text is constant, so that every SQLite can read the schema.
    pub(super) fn with_transition(self, subject: &str, from: &str, to: &str) -> Self {
        match self {
            StoreError::Refused(why) => StoreError::Refused(format!("{why}: {subject} from {from} to {to}")),
            other => other,
        }
    }

    /// A stored row that cannot be read as what it stands for. Whoever walks over many goes on without it.
    pub const fn is_unreadable(&self) -> bool {
        matches!(self, StoreError::Decode { .. })
    }

    /// For the others of a batch whose commit failed.
    pub(super) fn clone_for_batch(&self) -> Self {
        match self {
            StoreError::DiskFull => StoreError::DiskFull,
            StoreError::Busy { seconds } => StoreError::Busy { seconds: *seconds },
            StoreError::ReadOnly { path, why } => StoreError::ReadOnly { path: path.clone(), why: why.clone() },
            other => StoreError::Sqlite { context: "committing".into(), source: other.to_string().into() },
        }
    }
}

/// Says what was being done when SQLite refused.
pub(super) trait StoreContext<T> {
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

/// Whether the fault is in what one row holds, and not in the statement or the database.
pub(super) const fn is_unreadable(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
    )
}

/// One row among many.
pub trait SkipUnreadable<T> {
    /// A row that cannot be read counts as not there; `doctor` names it. Whatever else is wrong stays an error.
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

/// Rows that were left out and told in the log. A daemon walks over them every few seconds.
static LOGGED_ROWS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
/// More are a broken database, and one line says that as well as many.
const MAX_LOGGED_ROWS: usize = 100;

/// Logs once that a row was left out. The value is not named: it may be anybody's text.
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
