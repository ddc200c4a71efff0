//! Pages of the list of tasks. The ids of a page are found in indices, and only its own rows are read. `CROSS JOIN` keeps
//! the order of a join: SQLite would look up every task to find the few that have a date.

use super::{COLUMNS, TaskReader, task_row};
use crate::{
    model::{Priority, TaskFilter, TaskId, TaskRow},
    store::{
        error::Result,
        table::{parse_column, query_first_readable, query_optional, query_readable},
    },
};

/// Returns the SQL condition that the task `t` is in the filter.
const fn status_condition(filter: TaskFilter) -> &'static str {
    match filter {
        TaskFilter::All => "t.status <> 'CANCELLED'",
        TaskFilter::Pending => "t.status NOT IN ('DONE', 'CANCELLED')",
        TaskFilter::Completed => "t.status = 'DONE'",
    }
}

/// The SQL condition that the task `t` still has its number. One that was opened again has given it to its successor.
const HAS_NUMBER: &str = "t.task_id NOT IN (SELECT task_id FROM task_owner WHERE number IS NULL)";

impl TaskReader<'_> {
    /// Returns the tasks of a filter in the order of [`Self::list`], without the first `skipped`.
    pub fn page(self, filter: TaskFilter, skipped: usize, limit: usize) -> Result<Vec<TaskRow>> {
        let wanted = skipped.saturating_add(limit);
        let dated = self.dated_ids(filter, wanted)?;
        let mut ids: Vec<TaskId> = Vec::new();
        // The most urgent level comes last in the list of levels.
        for level in Priority::ALL.iter().rev().copied() {
            ids.extend(dated.iter().filter(|(_, of)| *of == level).map(|(id, _)| *id));
            if ids.len() < wanted {
                ids.extend(self.undated_ids(filter, level, wanted - ids.len())?);
            }
        }
        let sql = format!("{COLUMNS} WHERE t.task_id = ?1");
        let page = ids.into_iter().skip(skipped).take(limit);
        let rows = page.map(|id| query_first_readable(self.0, &sql, [id.to_string()], "listing tasks", task_row));
        Ok(rows.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// Returns how many tasks a filter has.
    pub fn count_filtered(self, filter: TaskFilter) -> Result<u64> {
        let condition = status_condition(filter);
        // Subtracting the few without a number is faster than looking every task up.
        let sql = format!(
            "SELECT (SELECT count(*) FROM tasks t WHERE {condition})
                  - (SELECT count(*) FROM task_owner o CROSS JOIN tasks t ON t.task_id = o.task_id WHERE o.number IS NULL AND {condition})"
        );
        query_optional(self.0, &sql, [], "counting tasks", |row| row.get::<_, i64>(0))
            .map(|n| n.unwrap_or_default().unsigned_abs())
    }

    /// Returns the first tasks that have a date, the most urgent level first and then the earliest.
    fn dated_ids(self, filter: TaskFilter, limit: usize) -> Result<Vec<(TaskId, Priority)>> {
        let sql = format!(
            "SELECT t.task_id, t.priority FROM task_facts f CROSS JOIN tasks t ON t.task_id = f.task_id CROSS JOIN priority p ON p.level = t.priority
             WHERE f.due_at IS NOT NULL AND {} AND {HAS_NUMBER} ORDER BY p.rank DESC, f.due_at, t.task_id LIMIT ?1",
            status_condition(filter)
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        query_readable(self.0, &sql, [limit], "listing tasks", |row| Ok((parse_column(row, 0)?, parse_column(row, 1)?)))
    }

    /// Returns the first tasks of a level that have no date, the oldest first.
    fn undated_ids(self, filter: TaskFilter, level: Priority, limit: usize) -> Result<Vec<TaskId>> {
        let sql = format!(
            "SELECT t.task_id FROM tasks t WHERE t.priority = ?1 AND {} AND {HAS_NUMBER}
             AND NOT EXISTS (SELECT 1 FROM task_facts f WHERE f.task_id = t.task_id AND f.due_at IS NOT NULL)
             ORDER BY t.task_id LIMIT ?2",
            status_condition(filter)
        );
        let values = (level.as_str(), i64::try_from(limit).unwrap_or(i64::MAX));
        query_readable(self.0, &sql, values, "listing tasks", |row| parse_column(row, 0))
    }
}
