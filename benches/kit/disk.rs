//! What the disk allows: commits of one row, one after the other.

use std::{path::Path, time::Instant as Stopwatch};

use adjutant::store::Store;
use rusqlite::Connection;

/// Commits for measuring the raw commit rate of the disk.
const COMMITS: usize = 600;

/// Opens a connection with the settings of the store's writer.
pub(crate) fn connect(path: &Path) -> anyhow::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.set_prepared_statement_cache_capacity(128);
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
         PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -4000;",
    )?;
    Ok(connection)
}

/// Returns how many single-row commits per second the disk allows.
pub(crate) fn raw_commits(folder: &Path) -> anyhow::Result<f64> {
    let path = folder.join("raw.db");
    drop(Store::open(&path, &path.with_extension("backups"))?);
    let connection = connect(&path)?;
    let watch = Stopwatch::now();
    for nth in 0..COMMITS {
        connection
            .prepare_cached("INSERT INTO setting (name, value) VALUES ('n', ?1) ON CONFLICT DO UPDATE SET value = ?1")?
            .execute([nth.to_string()])?;
    }
    Ok(COMMITS as f64 / watch.elapsed().as_secs_f64())
}
