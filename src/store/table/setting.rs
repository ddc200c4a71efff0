//! Named values that the program remembers about itself: the pause, the epoch, versions of caches.

use rusqlite::Connection;

use super::{audit, execute, query_optional};
use crate::{
    model::{Actor, Instant, audit::AuditEntry},
    store::error::Result,
};

/// Stores a named value, replacing the one before.
pub(in crate::store) fn set(connection: &Connection, name: &str, value: &str) -> Result<()> {
    let sql = "INSERT INTO setting (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2";
    execute(connection, sql, (name, value), "remembering a setting").map(drop)
}

/// The setting that is not empty while all effects are paused.
pub(super) const PAUSED: &str = "paused";

/// Pauses or resumes all effects, with a line in the audit chain.
pub(in crate::store) fn set_paused(connection: &Connection, on: bool, at: Instant) -> Result<()> {
    set(connection, PAUSED, if on { "1" } else { "" })?;
    let entry = AuditEntry {
        at,
        account: String::new(),
        who: Actor::Person,
        act: if on { "paused" } else { "resumed" }.into(),
        subject: "effects".into(),
        detail: String::new(),
    };
    audit::append(connection, &entry)
}

/// Queries of settings.
#[derive(Clone, Copy)]
pub struct SettingReader<'a>(pub(in crate::store) &'a Connection);

impl SettingReader<'_> {
    /// Returns a named value; none when it was never stored.
    pub fn get(self, name: &str) -> Result<Option<String>> {
        query_optional(self.0, "SELECT value FROM setting WHERE name = ?1", [name], "reading a setting", |row| {
            row.get(0)
        })
    }
}

impl SettingReader<'_> {
    /// Returns whether all effects are paused.
    pub fn is_paused(self) -> Result<bool> {
        Ok(self.get(PAUSED)?.is_some_and(|value| !value.is_empty()))
    }
}
