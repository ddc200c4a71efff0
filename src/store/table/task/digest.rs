//! What a morning summary asks.

use super::TaskReader;
use crate::{
    model::{Instant, TaskRow},
    store::{
        error::Result,
        table::{query_readable, task},
    },
};

impl TaskReader<'_> {
    pub fn done_since(self, since: Instant) -> Result<Vec<TaskRow>> {
        let sql = format!("{} WHERE t.status = 'DONE' AND t.last_updated >= ?1 ORDER BY t.last_updated", task::COLUMNS);
        query_readable(self.0, &sql, [since.to_string()], "listing what was done", task::task_row)
    }

    /// Cancelled at night because an older task is the same.
    pub fn duplicates_cancelled_since(self, since: Instant) -> Result<Vec<TaskRow>> {
        let sql = format!(
            "{} WHERE t.status = 'CANCELLED' AND t.task_id IN
               (SELECT task_id FROM task_history WHERE at >= ?1 AND who = 'night' AND to_value = 'CANCELLED') ORDER BY t.task_id",
            task::COLUMNS
        );
        query_readable(self.0, &sql, [since.to_string()], "listing duplicates", task::task_row)
    }

    pub fn overdue(self, now: Instant) -> Result<Vec<TaskRow>> {
        let sql = format!(
            "{} JOIN task_facts f USING (task_id) WHERE o.number IS NOT NULL AND t.status NOT IN ('DONE', 'CANCELLED') AND f.due_at < ?1
             ORDER BY f.due_at",
            task::COLUMNS
        );
        query_readable(self.0, &sql, [now.to_string()], "listing what is overdue", task::task_row)
    }
}
