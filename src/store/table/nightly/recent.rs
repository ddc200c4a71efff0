//! The newest tasks and mails with their facts, and how often the program and the person agreed on a priority.

use std::collections::BTreeMap;

use rusqlite::Row;

use super::NightlyReader;
use crate::{
    model::{
        Facts, Instant, Priority, TaskId,
        nightly::{NightlyRow, PastTask, PriorityCorrection},
    },
    store::{
        error::Result,
        table::{parse_column, query_optional, query_readable, task::facts},
    },
};

/// Returns the query of past tasks up to its conditions, with the columns that [`past_task_row`] reads. The tasks of
/// retired accounts are left out.
pub(super) fn past_task_sql() -> String {
    format!(
        "SELECT t.task_id, o.number, t.created_at, t.status, t.priority, o.hand_ranked, {}
         FROM tasks t JOIN task_owner o USING (task_id) JOIN task_facts f USING (task_id) JOIN account a ON a.account = o.account
         WHERE a.mode <> 'retired'",
        facts::qualified_columns("f")
    )
}

pub(super) fn past_task_row(row: &Row<'_>) -> rusqlite::Result<PastTask> {
    Ok(PastTask {
        task_id: parse_column(row, 0)?,
        number: row.get(1)?,
        created_at: parse_column(row, 2)?,
        status: parse_column(row, 3)?,
        priority: parse_column(row, 4)?,
        hand_ranked: row.get(5)?,
        facts: facts::facts_row(row, 6)?,
    })
}

impl NightlyReader<'_> {
    /// Returns the newest tasks, the newest first.
    pub fn newest_tasks(self, limit: usize) -> Result<Vec<PastTask>> {
        let sql = format!("{} ORDER BY t.task_id DESC LIMIT ?1", past_task_sql());
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        query_readable(self.0, &sql, [limit], "reading the newest tasks", past_task_row)
    }

    /// Returns the facts of the newest incoming mails, each with its arrival, the newest first.
    pub fn newest_mail_facts(self, limit: usize) -> Result<Vec<(Instant, Facts)>> {
        let sql = format!(
            "SELECT l.arrived_at, {} FROM mail_facts f JOIN ledger l USING (mail_id)
             WHERE l.direction = 'in' ORDER BY f.mail_id DESC LIMIT ?1",
            facts::qualified_columns("f")
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let read = |row: &Row<'_>| Ok((parse_column(row, 0)?, facts::facts_row(row, 1)?));
        query_readable(self.0, &sql, [limit], "reading the newest mails", read)
    }

    /// Returns the rows of the nightly job, the newest date first. `before` continues a list after its last date.
    pub fn nights(self, before: Option<&str>, limit: usize) -> Result<Vec<NightlyRow>> {
        let sql = format!("{} WHERE ?1 IS NULL OR date < ?1 ORDER BY date DESC LIMIT ?2", super::NIGHTLY_COLUMNS);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        query_readable(self.0, &sql, (before, limit), "listing nights", super::nightly_row)
    }

    /// Returns how many tasks came from mail in a period: from the first id, up to the second, which is excluded. Ids
    /// begin with the time of arrival, so that only the tasks of the period are looked at.
    pub fn count_tasks_between(self, from: TaskId, to: TaskId) -> Result<u64> {
        let sql = "SELECT count(*) FROM task_owner WHERE task_id >= ?1 AND task_id < ?2 AND mail_id IS NOT NULL";
        let values = (from.to_string(), to.to_string());
        let count = query_optional(self.0, sql, values, "counting tasks of a day", |row| row.get::<_, i64>(0))?;
        Ok(count.and_then(|count| u64::try_from(count).ok()).unwrap_or_default())
    }

    /// Returns the priorities that a person set on tasks from mail that are not older than the first id: for each task
    /// what the program had given first, and the person's last word.
    pub fn priority_corrections(self, from: TaskId) -> Result<Vec<PriorityCorrection>> {
        let sql = "SELECT c.task_id, c.from_value, c.to_value FROM correction c
                   WHERE c.kind = 'priority' AND c.task_id >= ?1 AND c.mail_id IS NOT NULL ORDER BY c.correction";
        let rows: Vec<(TaskId, Priority, Priority)> =
            query_readable(self.0, sql, [from.to_string()], "reading corrected priorities", |row| {
                Ok((parse_column(row, 0)?, parse_column(row, 1)?, parse_column(row, 2)?))
            })?;
        let mut last: BTreeMap<TaskId, PriorityCorrection> = BTreeMap::new();
        for (task_id, given, wanted) in rows {
            let known = last.entry(task_id).or_insert(PriorityCorrection { task_id, given, wanted });
            known.wanted = wanted;
        }
        Ok(last.into_values().collect())
    }
}
