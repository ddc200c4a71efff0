//! The times that tasks hold for meetings.

use rusqlite::Connection;

use super::TaskReader;
use crate::{
    model::{HeldTime, Instant, Task, TaskId, UserId},
    store::{
        error::Result,
        table::{execute, json_extract_sql, parse_column, query_readable},
    },
};

/// Stores the times that a task holds, in place of those that it held before.
pub(in crate::store) fn store_held_times(connection: &Connection, task: &Task) -> Result<()> {
    let id = task.task_id.to_string();
    execute(connection, "DELETE FROM held_time WHERE task_id = ?1", [&id], "freeing times")?;
    let sql =
        "INSERT INTO held_time (task_id, starts_at, ends_at, kind) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING";
    for held in task.held_times() {
        let values = (&id, held.from.to_string(), held.to.to_string(), held.kind.as_str());
        execute(connection, sql, values, "holding a time")?;
    }
    Ok(())
}

impl TaskReader<'_> {
    /// Returns the times between two instants that the user's other tasks hold, and those that are taken because of their
    /// mails. What was proposed in a task that is done counts only if it was sent. What the conversation of the task
    /// itself says about its time is no reason against it.
    pub fn held_times(self, user: &UserId, but: TaskId, from: Instant, to: Instant) -> Result<Vec<HeldTime>> {
        let recipients = json_extract_sql("m.body", "$.to");
        let sql = format!("SELECT h.starts_at, h.ends_at, h.kind, t.objective, '' FROM held_time h
                   JOIN tasks t ON t.task_id = h.task_id JOIN task_owner o ON o.task_id = h.task_id
                   WHERE h.ends_at > ?3 AND h.starts_at < ?4 AND h.task_id <> ?2 AND o.user_id = ?1 AND t.status <> 'CANCELLED'
                     AND (t.status <> 'DONE' OR h.kind = 'invited' OR EXISTS (SELECT 1 FROM outbox b WHERE b.task_id = h.task_id
                          AND b.class NOT IN ('R0', 'R1') AND b.state NOT IN ('planned', 'parked', 'ready', 'withheld', 'void')))
                   UNION ALL
                   SELECT h.starts_at, h.ends_at, h.kind, h.words, m.sender || ' ' || coalesce({recipients}, '') FROM mail_time h JOIN mail m ON m.mail_id = h.mail_id
                   WHERE h.user_id = ?1 AND h.ends_at > ?3 AND h.starts_at < ?4 AND h.kind <> 'released'
                     AND NOT EXISTS (SELECT 1 FROM task_thread c WHERE c.task_id = ?2 AND c.account = m.account AND c.thread = m.thread)
                     AND NOT EXISTS (SELECT 1 FROM mail_time r JOIN mail n ON n.mail_id = r.mail_id WHERE r.user_id = h.user_id
                          AND r.kind = 'released' AND r.starts_at = h.starts_at AND n.sent_at > m.sent_at)
                   ORDER BY 1, 2, 4");
        let values = (user.as_str(), but.to_string(), from.to_string(), to.to_string());
        query_readable(self.0, &sql, values, "reading held times", |row| {
            Ok(HeldTime {
                from: parse_column(row, 0)?,
                to: parse_column(row, 1)?,
                kind: parse_column(row, 2)?,
                objective: row.get(3)?,
                people: row.get(4)?,
            })
        })
    }
}
