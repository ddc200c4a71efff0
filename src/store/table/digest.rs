//! What a morning summary asks.

use super::{json_extract_sql, parse_column, query_readable, task};
use crate::{
    model::{Instant, TaskRow},
    store::{StoreReader, error::Result},
};

impl StoreReader<'_> {
    pub fn tasks_done_since(&self, since: Instant) -> Result<Vec<TaskRow>> {
        let sql = format!("{} WHERE t.status = 'DONE' AND t.last_updated >= ?1 ORDER BY t.last_updated", task::COLUMNS);
        query_readable(self.0, &sql, [since.to_string()], "listing what was done", task::task_row)
    }

    /// Cancelled at night because an older task is the same.
    pub fn duplicates_cancelled_since(&self, since: Instant) -> Result<Vec<TaskRow>> {
        let sql = format!(
            "{} WHERE t.status = 'CANCELLED' AND t.task_id IN
               (SELECT task_id FROM task_history WHERE at >= ?1 AND who = 'night' AND to_value = 'CANCELLED') ORDER BY t.task_id",
            task::COLUMNS
        );
        query_readable(self.0, &sql, [since.to_string()], "listing duplicates", task::task_row)
    }

    pub fn overdue_tasks(&self, now: Instant) -> Result<Vec<TaskRow>> {
        let sql = format!(
            "{} JOIN task_facts f USING (task_id) WHERE o.number IS NOT NULL AND t.status NOT IN ('DONE', 'CANCELLED') AND f.due_at < ?1
             ORDER BY f.due_at",
            task::COLUMNS
        );
        query_readable(self.0, &sql, [now.to_string()], "listing what is overdue", task::task_row)
    }

    /// Mail, subject, task and time of every archived mail.
    pub fn mails_archived_since(&self, since: Instant) -> Result<Vec<(i64, String, String, Instant)>> {
        let (mail, effect) =
            (json_extract_sql("b.action", "$.mail_id"), json_extract_sql("b.action", "$.effect.effect"));
        let sql = format!(
            "SELECT m.mail_id, m.subject, b.task_id, b.updated_at FROM outbox b JOIN mail m ON m.mail_id = {mail}
             WHERE b.state = 'applied' AND {effect} = 'archive' AND b.updated_at >= ?1 ORDER BY b.updated_at"
        );
        query_readable(self.0, &sql, [since.to_string()], "listing what was archived", |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, parse_column(row, 3)?))
        })
    }
}
