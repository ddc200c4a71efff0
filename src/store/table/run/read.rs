//! Queries of runs: to resume, show, replay and fork them.

use std::collections::BTreeSet;

use chrono::Duration;
use rusqlite::{Connection, Row};

use super::RunReader;
use crate::{
    model::{
        AccountId, Change, CheckpointRow, ContextDoc, Instant, MailId, RecordedReply, RunId, RunRecord, RunRow,
        RunState, RunStatus, TaskId, UserId,
    },
    store::{
        error::{Result, StoreError},
        table::{
            decode_json_column, parse_column, parse_optional_column, query_all, query_first_readable, query_optional,
            query_readable, read_reply_column, run::model_call,
        },
    },
};

/// The columns that [`run_row`] reads.
const COLUMNS: &str = "SELECT run_id, account, user_id, kind, mail_id, task_id, parent_run, fork_of, fork_seq, schema, status, reason, node, seq, \
                       created_at, updated_at, wait_until, waits_for FROM run";

/// How long a run may be due before it counts as left behind. A worker resumes it within a second, so after this time
/// there is no worker.
const LEFT_BEHIND_AFTER: Duration = Duration::minutes(2);

fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        run_id: parse_column(row, 0)?,
        account: AccountId(row.get(1)?),
        user: UserId(row.get(2)?),
        kind: parse_column(row, 3)?,
        mail_id: row.get::<_, Option<i64>>(4)?.map(MailId),
        task_id: parse_optional_column(row, 5)?,
        parent_run: parse_optional_column(row, 6)?,
        fork_of: parse_optional_column(row, 7)?,
        fork_seq: row.get(8)?,
        schema: row.get(9)?,
        status: parse_column(row, 10)?,
        reason: row.get(11)?,
        node: parse_column(row, 12)?,
        seq: row.get(13)?,
        created_at: parse_column(row, 14)?,
        updated_at: parse_column(row, 15)?,
        wait_until: parse_optional_column(row, 16)?,
        waits_for: row.get(17)?,
    })
}

impl RunReader<'_> {
    /// Returns the runs to resume, in the order of their mails, so that a follow-up does not overtake the mail it
    /// follows. A run that was set aside later than now is among them: the clock was set back, and its time may be days
    /// ahead.
    pub fn resumable(self, now: Instant) -> Result<Vec<RunId>> {
        let sql = "SELECT run_id FROM run WHERE status = 'running' AND (wait_until IS NULL OR wait_until <= ?1 OR updated_at > ?1) ORDER BY mail_id, run_id";
        query_readable(self.0, sql, [now.to_string()], "listing unfinished runs", |row| parse_column(row, 0))
    }

    /// Returns the runs that wait for a time to come, earliest first.
    pub fn deferred(self, now: Instant) -> Result<Vec<RunRow>> {
        let sql = format!(
            "{COLUMNS} WHERE status = 'running' AND wait_until > ?1 AND updated_at <= ?1 ORDER BY wait_until, run_id"
        );
        query_readable(self.0, &sql, [now.to_string()], "listing what waits", run_row)
    }

    /// Returns the runs of a task that wait for a time to come, earliest first.
    pub fn deferred_of_task(self, task_id: TaskId, now: Instant) -> Result<Vec<RunRow>> {
        // The plus keeps SQLite from walking all running runs.
        let sql = format!(
            "{COLUMNS} WHERE task_id = ?2 AND +status = 'running' AND wait_until > ?1 AND updated_at <= ?1 ORDER BY wait_until, run_id"
        );
        query_readable(self.0, &sql, (now.to_string(), task_id.to_string()), "listing what waits", run_row)
    }

    /// Returns the number of runs that are due and that no worker has resumed for a while.
    pub fn count_left_behind(self, now: Instant) -> Result<u64> {
        let sql =
            "SELECT count(*) FROM run WHERE status = 'running' AND coalesce(wait_until, '') <= ?1 AND updated_at <= ?1";
        let before = now.plus(-LEFT_BEHIND_AFTER).to_string();
        let count: Option<i64> = query_optional(self.0, sql, [before], "counting runs left behind", |row| row.get(0))?;
        Ok(count.and_then(|count| u64::try_from(count).ok()).unwrap_or_default())
    }

    /// Returns the newest runs, in one status or in any.
    pub fn list(self, status: Option<RunStatus>, limit: usize) -> Result<Vec<RunRow>> {
        let sql = format!("{COLUMNS} WHERE ?1 IS NULL OR status = ?1 ORDER BY run_id DESC LIMIT ?2");
        query_readable(
            self.0,
            &sql,
            (status.map(RunStatus::as_str), i64::try_from(limit).unwrap_or(i64::MAX)),
            "listing runs",
            run_row,
        )
    }

    /// Returns the newest runs before one, in one status or in any.
    pub fn before(self, status: Option<RunStatus>, before: Option<RunId>, limit: usize) -> Result<Vec<RunRow>> {
        /// Greater than every id.
        const END: &str = "~";
        let before = before.map_or_else(|| END.to_owned(), |run_id| run_id.to_string());
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        match status {
            Some(status) => {
                let sql = format!("{COLUMNS} WHERE status = ?1 AND run_id < ?2 ORDER BY run_id DESC LIMIT ?3");
                query_readable(self.0, &sql, (status.as_str(), before, limit), "listing runs", run_row)
            }
            None => {
                let sql = format!("{COLUMNS} WHERE run_id < ?1 ORDER BY run_id DESC LIMIT ?2");
                query_readable(self.0, &sql, (before, limit), "listing runs", run_row)
            }
        }
    }

    /// Returns the runs of a task, the newest first.
    pub fn of_task(self, task_id: TaskId, limit: usize) -> Result<Vec<RunRow>> {
        let sql = format!("{COLUMNS} WHERE task_id = ?1 ORDER BY run_id DESC LIMIT ?2");
        let values = (task_id.to_string(), i64::try_from(limit).unwrap_or(i64::MAX));
        query_readable(self.0, &sql, values, "listing the runs of a task", run_row)
    }

    /// Returns the runs that read a mail, the newest first.
    pub fn of_mail(self, mail_id: MailId, limit: usize) -> Result<Vec<RunRow>> {
        let sql = format!("{COLUMNS} WHERE mail_id = ?1 AND task_id IS NULL ORDER BY run_id DESC LIMIT ?2");
        let values = (mail_id.0, i64::try_from(limit).unwrap_or(i64::MAX));
        query_readable(self.0, &sql, values, "listing the runs of a mail", run_row)
    }

    /// Returns how many runs there are, with one status or with any.
    pub fn count(self, status: Option<RunStatus>) -> Result<u64> {
        let sql = "SELECT count(*) FROM run WHERE ?1 IS NULL OR status = ?1";
        query_optional(self.0, sql, [status.map(RunStatus::as_str)], "counting runs", |row| row.get::<_, i64>(0))
            .map(|n| n.unwrap_or_default().unsigned_abs())
    }

    /// Returns a run with its initial state, checkpoints and recorded replies. A fork begins with those of its parent
    /// up to the fork. Checkpoints and replies mean something only together, so an unreadable one is an error.
    pub fn get(self, run_id: RunId) -> Result<Option<RunRecord>> {
        let row = query_optional(
            self.0,
            &format!("{COLUMNS} WHERE run_id = ?1"),
            [run_id.to_string()],
            "reading a run",
            run_row,
        )?;
        let Some(row) = row else { return Ok(None) };
        let arrival = initial_state(self.0, run_id)?;
        let mut checkpoints = Vec::new();
        let mut replies = Vec::new();
        let mut asked_model = BTreeSet::new();
        // A fork has no rows of its own before the fork.
        if let (Some(parent), Some(seq)) = (row.fork_of, row.fork_seq) {
            checkpoints.extend(checkpoints_of(self.0, parent, seq)?);
            replies.extend(replies_of(self.0, parent, seq)?);
            replies.extend(model_call::replies_of(self.0, parent, seq)?);
        }
        checkpoints.extend(checkpoints_of(self.0, run_id, u32::MAX)?);
        replies.extend(replies_of(self.0, run_id, u32::MAX)?);
        let said = model_call::replies_of(self.0, run_id, u32::MAX)?;
        asked_model.extend(said.iter().map(|(seq, _)| *seq));
        replies.extend(said);
        Ok(Some(RunRecord { row, initial_state: arrival, checkpoints, replies, model_checkpoints: asked_model }))
    }

    /// Returns the documents that retrieve_context found for a task when it was last worked. Forks do not count.
    pub fn documents_of_task(self, task_id: TaskId) -> Result<Vec<ContextDoc>> {
        let sql = "SELECT c.changes FROM checkpoint c JOIN run r USING (run_id)
                   WHERE r.task_id = ?1 AND r.fork_of IS NULL AND c.node = 'retrieve_context'
                   ORDER BY c.entered_at DESC, c.run_id DESC";
        let changes =
            query_first_readable(self.0, sql, [task_id.to_string()], "reading what was found for a task", |row| {
                decode_json_column::<Vec<Change>>(row, 0)
            })?;
        let documents = changes.into_iter().flatten().find_map(|change| match change {
            Change::Documents { documents } => Some(documents),
            _ => None,
        });
        Ok(documents.map(|found| found.to_vec()).unwrap_or_default())
    }

    /// Returns the number of runs in each status.
    pub fn counts(self) -> Result<Vec<(RunStatus, u64)>> {
        let sql = "SELECT status, count(*) FROM run GROUP BY status ORDER BY status";
        query_readable(self.0, sql, [], "counting runs", |row| {
            Ok((parse_column(row, 0)?, row.get::<_, i64>(1)?.unsigned_abs()))
        })
    }

    /// Returns the lines of the reflection file of a day, in order.
    pub fn reflections(self, day: &str) -> Result<Vec<String>> {
        query_readable(
            self.0,
            "SELECT line FROM reflection WHERE day = ?1 ORDER BY entry",
            [day],
            "reading reflections",
            |row| row.get(0),
        )
    }

    /// Returns the days with reflections, and the number of lines of each.
    pub fn reflection_days(self) -> Result<Vec<(String, u64)>> {
        let sql = "SELECT day, count(*) FROM reflection GROUP BY day ORDER BY day";
        query_readable(self.0, sql, [], "listing reflection days", |row| {
            // The day becomes the name of a file, so anything but a date is skipped.
            parse_column::<chrono::NaiveDate>(row, 0)?;
            Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
        })
    }
}

/// Returns the state with which the run was opened.
fn initial_state(connection: &Connection, run_id: RunId) -> Result<RunState> {
    let sql = "SELECT state FROM run_input WHERE run_id = ?1";
    query_optional(connection, sql, [run_id.to_string()], "reading a run's state", |row| decode_json_column(row, 0))?
        .ok_or_else(|| StoreError::NotFound(format!("state of run {run_id}")))
}

/// Returns the checkpoints of a run up to a number.
fn checkpoints_of(connection: &Connection, run_id: RunId, up_to: u32) -> Result<Vec<CheckpointRow>> {
    let sql = "SELECT seq, node, move, next_node, changes, entered_at FROM checkpoint WHERE run_id = ?1 AND seq <= ?2 ORDER BY seq";
    query_all(connection, sql, (run_id.to_string(), up_to), "reading checkpoints", |row| {
        Ok(CheckpointRow {
            seq: row.get(0)?,
            node: parse_column(row, 1)?,
            next_move: decode_json_column(row, 2)?,
            next: parse_optional_column(row, 3)?,
            changes: decode_json_column(row, 4)?,
            entered_at: parse_column(row, 5)?,
        })
    })
}

/// Returns the recorded replies of a run up to a checkpoint, without those of models.
fn replies_of(connection: &Connection, run_id: RunId, up_to: u32) -> Result<Vec<(u32, RecordedReply)>> {
    let sql =
        "SELECT seq, node, input_hash, ordinal, reply FROM reply WHERE run_id = ?1 AND seq <= ?2 ORDER BY seq, ordinal";
    query_all(connection, sql, (run_id.to_string(), up_to), "reading replies", |row| {
        Ok((
            row.get(0)?,
            RecordedReply {
                node: parse_column(row, 1)?,
                input_hash: row.get(2)?,
                ordinal: row.get(3)?,
                reply: read_reply_column(row, 4)?,
                call: None,
            },
        ))
    })
}
