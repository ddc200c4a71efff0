//! Noticing that something was committed, by whichever process, without reading it.

use rusqlite::Connection;

use super::{
    Store, connection,
    error::{Result, StoreContext as _},
};

/// A connection that is asked whether another one has committed since it was asked last.
pub struct ChangeWatch {
    connection: Connection,
    seen: i64,
}

impl Store {
    /// Starts watching for changes. Nothing that was committed before counts.
    pub fn watch_changes(&self) -> Result<ChangeWatch> {
        let connection = connection::open_reader(&self.0.path)?;
        let seen = data_version(&connection)?;
        Ok(ChangeWatch { connection, seen })
    }
}

impl ChangeWatch {
    /// Returns whether something was committed since the last call. It costs no more than looking at the file.
    pub fn has_changed(&mut self) -> Result<bool> {
        let now = data_version(&self.connection)?;
        Ok(std::mem::replace(&mut self.seen, now) != now)
    }
}

/// Returns a number that changes whenever another connection has committed.
fn data_version(connection: &Connection) -> Result<i64> {
    connection.query_row("PRAGMA data_version", [], |row| row.get(0)).context("looking for changes")
}
