//! Reading runs: to go on with them, to show them, to replay and to fork them.

use std::collections::BTreeSet;

use rusqlite::{Connection, Row};

use super::{json, many, model_call, one, parsed, parsed_option, read_reply_column, whole};
use crate::{
    model::{AccountId, Instant, MailId, RunId, RunState, RunStatus, UserId},
    store::{
        StoreReader,
        error::{Result, StoreError},
        value::{CheckpointRow, RecordedReply, RunRecord, RunRow},
    },
};

const COLUMNS: &str = "SELECT run_id, account, user_id, kind, mail_id, task_id, parent_run, fork_of, fork_seq, schema, status, reason, node, seq, \
                       created_at, updated_at, wait_until, waits_for FROM run";

fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        run_id: parsed(row, 0)?,
        account: AccountId(row.get(1)?),
        user: UserId(row.get(2)?),
        kind: parsed(row, 3)?,
        mail_id: row.get::<_, Option<i64>>(4)?.map(MailId),
        task_id: parsed_option(row, 5)?,
        parent_run: parsed_option(row, 6)?,
        fork_of: parsed_option(row, 7)?,
        fork_seq: row.get(8)?,
        schema: row.get(9)?,
        status: parsed(row, 10)?,
        reason: row.get(11)?,
        node: parsed(row, 12)?,
        seq: row.get(13)?,
        created_at: parsed(row, 14)?,
        updated_at: parsed(row, 15)?,
        wait_until: parsed_option(row, 16)?,
        waits_for: row.get(17)?,
    })
}

impl StoreReader<'_> {
    /// Runs to go on with, in the order of their mails: a follow-up must not overtake what it follows. One that was set
    /// aside later than now is among them: the clock was put back, and what it waits for may be days ahead.
    pub fn resumable_runs(&self, now: Instant) -> Result<Vec<RunId>> {
        let sql = "SELECT run_id FROM run WHERE status = 'running' AND (wait_until IS NULL OR wait_until <= ?1 OR updated_at > ?1) ORDER BY mail_id, run_id";
        many(self.0, sql, [now.to_string()], "listing unfinished runs", |row| parsed(row, 0))
    }

    /// What waits for a time to come, and why.
    pub fn deferred_runs(&self, now: Instant) -> Result<Vec<RunRow>> {
        let sql = format!(
            "{COLUMNS} WHERE status = 'running' AND wait_until > ?1 AND updated_at <= ?1 ORDER BY wait_until, run_id"
        );
        many(self.0, &sql, [now.to_string()], "listing what waits", run_row)
    }

    pub fn runs(&self, status: Option<RunStatus>, limit: usize) -> Result<Vec<RunRow>> {
        let sql = format!("{COLUMNS} WHERE ?1 IS NULL OR status = ?1 ORDER BY run_id DESC LIMIT ?2");
        many(
            self.0,
            &sql,
            (status.map(RunStatus::as_str), i64::try_from(limit).unwrap_or(i64::MAX)),
            "listing runs",
            run_row,
        )
    }

    /// A run with everything it was told and did. A fork begins with its parent's part up to the fork.
    pub fn run(&self, run_id: RunId) -> Result<Option<RunRecord>> {
        let row = one(self.0, &format!("{COLUMNS} WHERE run_id = ?1"), [run_id.to_string()], "reading a run", run_row)?;
        let Some(row) = row else { return Ok(None) };
        let arrival = initial_state(self.0, run_id)?;
        let mut checkpoints = Vec::new();
        let mut replies = Vec::new();
        let mut asked_model = BTreeSet::new();
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

    pub fn run_counts(&self) -> Result<Vec<(RunStatus, u64)>> {
        let sql = "SELECT status, count(*) FROM run GROUP BY status ORDER BY status";
        many(self.0, sql, [], "counting runs", |row| Ok((parsed(row, 0)?, row.get::<_, i64>(1)?.unsigned_abs())))
    }

    /// The lines of one day's reflection file, in order.
    pub fn reflections(&self, day: &str) -> Result<Vec<String>> {
        many(self.0, "SELECT line FROM reflection WHERE day = ?1 ORDER BY entry", [day], "reading reflections", |row| {
            row.get(0)
        })
    }

    pub fn reflection_days(&self) -> Result<Vec<(String, u64)>> {
        let sql = "SELECT day, count(*) FROM reflection GROUP BY day ORDER BY day";
        many(self.0, sql, [], "listing reflection days", |row| {
            // The day is the name of a file.
            parsed::<chrono::NaiveDate>(row, 0)?;
            Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
        })
    }
}

fn initial_state(connection: &Connection, run_id: RunId) -> Result<RunState> {
    let sql = "SELECT state FROM run_input WHERE run_id = ?1";
    one(connection, sql, [run_id.to_string()], "reading a run's state", |row| json(row, 0))?
        .ok_or_else(|| StoreError::NotFound(format!("state of run {run_id}")))
}

fn checkpoints_of(connection: &Connection, run_id: RunId, up_to: u32) -> Result<Vec<CheckpointRow>> {
    let sql = "SELECT seq, node, move, next_node, changes, entered_at FROM checkpoint WHERE run_id = ?1 AND seq <= ?2 ORDER BY seq";
    whole(connection, sql, (run_id.to_string(), up_to), "reading checkpoints", |row| {
        Ok(CheckpointRow {
            seq: row.get(0)?,
            node: parsed(row, 1)?,
            next_move: json(row, 2)?,
            next: parsed_option(row, 3)?,
            changes: json(row, 4)?,
            entered_at: parsed(row, 5)?,
        })
    })
}

fn replies_of(connection: &Connection, run_id: RunId, up_to: u32) -> Result<Vec<(u32, RecordedReply)>> {
    let sql =
        "SELECT seq, node, input_hash, ordinal, reply FROM reply WHERE run_id = ?1 AND seq <= ?2 ORDER BY seq, ordinal";
    whole(connection, sql, (run_id.to_string(), up_to), "reading replies", |row| {
        Ok((
            row.get(0)?,
            RecordedReply {
                node: parsed(row, 1)?,
                input_hash: row.get(2)?,
                ordinal: row.get(3)?,
                reply: read_reply_column(row, 4)?,
                call: None,
            },
        ))
    })
}
