//! Queries for the morning summary.

use super::TaskReader;
use crate::{
    model::{Instant, TaskRow},
    store::{
        error::Result,
        table::{query_readable, task},
    },
};

impl TaskReader<'_> {
    /// Returns the tasks that were done since then, oldest first.
    pub fn done_since(self, since: Instant) -> Result<Vec<TaskRow>> {
        let sql = format!("{} WHERE t.status = 'DONE' AND t.last_updated >= ?1 ORDER BY t.last_updated", task::COLUMNS);
        query_readable(self.0, &sql, [since.to_string()], "listing what was done", task::task_row)
    }

    /// Returns the tasks that the nightly job has cancelled since then as duplicates of an older task.
    pub fn duplicates_cancelled_since(self, since: Instant) -> Result<Vec<TaskRow>> {
        let sql = format!(
            "{} WHERE t.status = 'CANCELLED' AND t.task_id IN
               (SELECT task_id FROM task_history WHERE at >= ?1 AND who = 'night' AND to_value = 'CANCELLED') ORDER BY t.task_id",
            task::COLUMNS
        );
        query_readable(self.0, &sql, [since.to_string()], "listing duplicates", task::task_row)
    }

    /// Returns the open tasks whose deadline has passed, the most overdue first.
    pub fn overdue(self, now: Instant) -> Result<Vec<TaskRow>> {
        let sql = format!(
            "{} JOIN task_facts f USING (task_id) WHERE o.number IS NOT NULL AND t.status NOT IN ('DONE', 'CANCELLED') AND f.due_at < ?1
             ORDER BY f.due_at",
            task::COLUMNS
        );
        query_readable(self.0, &sql, [now.to_string()], "listing what is overdue", task::task_row)
    }
}
