//! The history of a task: who changed which field, when and why. Lines are only added.

use rusqlite::Connection;

use super::TaskReader;
use crate::{
    model::{Actor, HistoryRow, Instant, TaskId},
    store::{
        error::Result,
        table::{execute, parse_column, query_optional, query_readable},
    },
};

/// The SQL condition that a person made the change of the line of history `h`, or a client that acts for them.
pub(in crate::store) const BY_PERSON: &str = "(h.who = 'person' OR h.who GLOB 'mcp:*')";

/// One change of one field, with both values as text.
pub(in crate::store) struct HistoryEntry<'a> {
    pub(in crate::store) field: &'a str,
    pub(in crate::store) from: &'a str,
    pub(in crate::store) to: &'a str,
    /// Who changed it: a node, `person`, `night` or another part of the program.
    pub(in crate::store) who: Actor,
    pub(in crate::store) why: &'a str,
}

/// Adds a line to the history of a task.
pub(in crate::store) fn record(
    connection: &Connection,
    task_id: TaskId,
    entry: &HistoryEntry<'_>,
    at: Instant,
) -> Result<()> {
    let sql = "INSERT INTO task_history (task_id, field, from_value, to_value, who, why, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let values =
        (task_id.to_string(), entry.field, entry.from, entry.to, entry.who.as_str(), entry.why, at.to_string());
    execute(connection, sql, values, "recording history").map(drop)
}

/// Returns whether a person has ever changed this field. Then a mail does not change it any more.
pub(in crate::store) fn is_set_by_person(connection: &Connection, task_id: TaskId, field: &str) -> Result<bool> {
    let sql = format!("SELECT 1 FROM task_history h WHERE h.task_id = ?1 AND h.field = ?2 AND {BY_PERSON} LIMIT 1");
    let values = (task_id.to_string(), field);
    Ok(query_optional(connection, &sql, values, "asking who set a field", |_| Ok(()))?.is_some())
}

impl TaskReader<'_> {
    /// Returns the history of a task, oldest first.
    pub fn history(self, task_id: TaskId) -> Result<Vec<HistoryRow>> {
        let sql =
            "SELECT field, from_value, to_value, who, why, at FROM task_history WHERE task_id = ?1 ORDER BY entry";
        query_readable(self.0, sql, [task_id.to_string()], "reading history", |row| {
            Ok(HistoryRow {
                field: row.get(0)?,
                from: row.get(1)?,
                to: row.get(2)?,
                who: parse_column(row, 3)?,
                why: row.get(4)?,
                at: parse_column(row, 5)?,
            })
        })
    }
}
