//! Opens connections: file permissions, pragmas, and the oldest SQLite that is safe.

use std::{
    fs::{DirBuilder, OpenOptions},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, config::DbConfig};

use super::error::{Result, StoreContext, StoreError};
use crate::regular_file;

/// How long a statement waits for a lock. Another command holds the write lock for one short transaction; ten seconds
/// of that is a fault, not a queue.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// The oldest version of SQLite that is used. Older ones can corrupt a WAL that is reset while another connection
/// checkpoints.
const OLDEST_SAFE: (i32, &str) = (3_051_003, "3.51.3");
/// The capacity of the statement cache. All statements of the writer fit, so that none is compiled twice.
const CACHED_STATEMENTS: usize = 128;

/// Refuses a SQLite that is too old to be safe.
pub(super) fn check_version() -> Result<()> {
    if rusqlite::version_number() < OLDEST_SAFE.0 {
        return Err(StoreError::OldSqlite { found: rusqlite::version().to_owned(), needed: OLDEST_SAFE.1 });
    }
    Ok(())
}

/// Opens the one connection that writes. Creates the file with mode 0600 in a folder with mode 0700 when there is none;
/// an existing file keeps its permissions.
pub(super) fn open_writer(path: &Path) -> Result<Connection> {
    create_private_file(path)?;
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .context("opening the database")?;
    configure_connection(&connection)?;
    Ok(connection)
}

/// Sets the pragmas of the writer. `synchronous = FULL` makes every commit durable. The cache is small, because after a
/// page split a commit walks all of it.
pub(super) fn configure_writer(connection: &Connection) -> Result<()> {
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
             PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -4000;",
        )
        .context("preparing the database")
}

/// Opens a connection that cannot write. It is opened read-write all the same, because reading a WAL needs the shared
/// memory file.
pub(super) fn open_reader(path: &Path) -> Result<Connection> {
    let connection =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .context("opening the database to read")?;
    configure_connection(&connection)?;
    connection.execute_batch("PRAGMA query_only = ON;").context("preparing to read")?;
    Ok(connection)
}

/// Sets what all connections share.
fn configure_connection(connection: &Connection) -> Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT).context("setting the busy timeout")?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    // Without this, a statement that a partial index could serve is compiled again whenever another value is bound.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).context("keeping query plans")?;
    Ok(())
}

/// Creates the database file for this user only. Refuses a pipe or a device in its place.
fn create_private_file(path: &Path) -> Result<()> {
    let refuse =
        |error: std::io::Error| StoreError::ReadOnly { path: path.display().to_string(), why: error.to_string() };
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(refuse)?;
    }
    // SQLite itself would wait for the other end of a pipe.
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(0o600);
    regular_file::open_with(&mut options, path).map(drop).map_err(refuse)
}
