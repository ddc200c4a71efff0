//! The rows of the nightly job, one per date, and what it learns from.
//!
//! A date is claimed by one conditional insert, so that there is one run of the job for it however often it is tried.

pub(in crate::store) mod correction;
pub(in crate::store) mod feedback;
mod recent;
pub(in crate::store) mod rules_version;

use std::collections::HashMap;

use rusqlite::{Connection, Row};
use serde_json::Value;

use super::{
    audit, execute, json_extract_sql, mail, parse_column, parse_optional_column, query_first_readable, query_optional,
    query_readable,
    task::{self, facts, history::BY_PERSON},
};
use crate::{
    model::{
        Actor, Instant, MailId, TaskId, TaskStatus,
        audit::AuditEntry,
        nightly::{BeginNightly, DuplicateTasks, EndNightly, NightlyRow, NightlyState, PastMail, PastTask},
    },
    store::error::{Result, StoreContext, StoreError},
};

/// Returns an audit entry that belongs to no account.
fn build_audit_entry(at: Instant, who: Actor, act: &str, subject: String, detail: String) -> AuditEntry {
    AuditEntry { at, account: String::new(), who, act: act.to_owned(), subject, detail }
}

/// Claims the date and marks missed dates as caught up. A run of the same id that was interrupted takes its date up
/// again. Refused when the date was done, or is claimed by another run.
pub(in crate::store) fn begin_nightly(connection: &Connection, night: &BeginNightly) -> Result<()> {
    let sql = "INSERT INTO nightly (date, scheduled_at, run_id, state, begun_at) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
    let (run, at) = (night.run_id.to_string(), night.at.to_string());
    // This run stands for the dates that passed while the program was off, so that none of them is run later.
    for (date, due) in &night.missed {
        execute(
            connection,
            sql,
            (date, due.to_string(), &run, NightlyState::CaughtUp.as_str(), &at),
            "making up for a night",
        )?;
    }
    let due = night.scheduled_at.to_string();
    if execute(connection, sql, (&night.date, due, &run, NightlyState::Running.as_str(), &at), "beginning a night")?
        == 0
    {
        let known = "SELECT state FROM nightly WHERE date = ?1 AND run_id = ?2 AND state = 'running'";
        let mine = query_optional(connection, known, (&night.date, &run), "looking for the night", |_| Ok(()))?;
        return mine.ok_or_else(|| StoreError::Refused(format!("the night of {} was done already", night.date)));
    }
    audit::append(
        connection,
        &build_audit_entry(night.at, Actor::Nightly, "nightly_begun", format!("nightly:{}", night.date), run),
    )
}

/// Closes the date with its report, stores how often learned entries matched, and opens an item for each proposal. A
/// conflict means that the date was closed already.
pub(in crate::store) fn end_nightly(connection: &Connection, night: &EndNightly) -> Result<()> {
    let sql = "UPDATE nightly SET state = 'done', ended_at = ?3, report = ?4 WHERE date = ?1 AND run_id = ?2 AND state = 'running'";
    let report = serde_json::to_string(&night.report).context("encoding a report")?;
    let values = (&night.date, night.run_id.to_string(), night.at.to_string(), report);
    if execute(connection, sql, values, "ending a night")? == 0 {
        return Err(StoreError::Conflict(format!("the night of {} has ended already", night.date)));
    }
    for (name, hits, last) in &night.hits {
        let sql = "UPDATE learned_entry SET hits = ?2, last_hit = ?3 WHERE name = ?1";
        let hits = i64::try_from(*hits).unwrap_or(i64::MAX);
        execute(connection, sql, (name, hits, last.map(|at| at.to_string())), "counting hits")?;
    }
    for question in &night.proposals {
        rules_version::open_proposal(connection, question, night)?;
    }
    audit::append(
        connection,
        &build_audit_entry(night.at, Actor::Nightly, "nightly_ended", format!("nightly:{}", night.date), String::new()),
    )
}

/// Cancels the newer of two duplicates. The conditions are checked again in this transaction, and a conflict is
/// returned when they no longer hold, for example because a person has touched one of the tasks.
pub(in crate::store) fn cancel_duplicate_task(
    connection: &Connection,
    duplicates: &DuplicateTasks,
    at: Instant,
) -> Result<()> {
    if !find_duplicate_tasks(connection)?.contains(duplicates) {
        return Err(StoreError::Conflict(format!("task {} is no untouched duplicate any more", duplicates.newer)));
    }
    let row = task::get(connection, duplicates.newer)?;
    let why = format!("duplicate of {}: {}", duplicates.older, duplicates.why);
    task::edit::transition_task(connection, &row, TaskStatus::Cancelled, Actor::Nightly, &why, at)
}

/// Returns duplicates, each paired with the oldest task of its kind. Both are open, untouched by a person, without
/// another linked mail, and from the same verified sender; they have the same content and objective, or the same
/// invoice number.
fn find_duplicate_tasks(connection: &Connection) -> Result<Vec<DuplicateTasks>> {
    let invoice = json_extract_sql("t.context", "$.invoice_number");
    let sql = format!(
        "SELECT t.task_id, m.mail_id, m.account, m.sender, m.content_sha256, t.objective, {invoice}
               FROM tasks t JOIN task_owner o USING (task_id) JOIN task_facts f USING (task_id) JOIN mail m ON m.mail_id = o.mail_id
               WHERE t.status NOT IN ('DONE', 'CANCELLED') AND t.status IN ('READY', 'IN_PROGRESS') AND f.sender_verified AND f.sender <> ''
                 AND o.hand_ranked = 0 AND o.snooze_until IS NULL AND o.number IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM task_history h WHERE h.task_id = t.task_id AND {BY_PERSON})
                 AND NOT EXISTS (SELECT 1 FROM item i WHERE i.task_id = t.task_id)
                 AND NOT EXISTS (SELECT 1 FROM ledger k WHERE k.task_id = t.task_id AND k.state = 'linked')
               ORDER BY m.mail_id, t.task_id"
    );
    /// A task and the mail that opened it.
    type TaskAndMail = (TaskId, i64);
    let rows = query_readable(connection, &sql, [], "looking for duplicates", |row| {
        let sender = format!("{}\u{1}{}", row.get::<_, String>(2)?, row.get::<_, String>(3)?);
        let content = format!("{}\u{1}{}", row.get::<_, String>(4)?, row.get::<_, String>(5)?);
        let invoice: Option<String> = row.get(6)?;
        let keys = [Some((sender.clone(), 'm', content)), invoice.map(|number| (sender, 'i', number))];
        Ok(((parse_column(row, 0)?, row.get(1)?), keys))
    })?;
    let mut first: HashMap<(String, char, String), TaskAndMail> = HashMap::new();
    let mut duplicates = Vec::new();
    for ((newer, mail), keys) in rows {
        let keys: Vec<_> = keys.into_iter().flatten().collect();
        // Two tasks of one mail are never duplicates.
        let known = keys.iter().find_map(|key| Some((key.1, first.get(key).filter(|(_, other)| *other != mail)?.0)));
        if let Some((how, older)) = known {
            let why = if how == 'm' { "the same mail again" } else { "the same invoice number" };
            duplicates.push(DuplicateTasks { newer, older, why: why.to_owned() });
            continue;
        }
        for key in keys {
            first.entry(key).or_insert((newer, mail));
        }
    }
    Ok(duplicates)
}

/// Reads a row of the nightly job. A report that cannot be read is null, because nothing depends on it.
fn nightly_row(row: &Row<'_>) -> rusqlite::Result<NightlyRow> {
    let text: String = row.get(6)?;
    Ok(NightlyRow {
        date: row.get(0)?,
        scheduled_at: parse_column(row, 1)?,
        run_id: parse_column(row, 2)?,
        state: parse_column(row, 3)?,
        begun_at: parse_column(row, 4)?,
        ended_at: parse_optional_column(row, 5)?,
        report: serde_json::from_str(&text).unwrap_or(Value::Null),
    })
}

/// The columns that [`nightly_row`] reads.
const NIGHTLY_COLUMNS: &str = "SELECT date, scheduled_at, run_id, state, begun_at, ended_at, report FROM nightly";

/// Queries of the nightly job: its runs, corrections, and the past that edits are tested on.
#[derive(Clone, Copy)]
pub struct NightlyReader<'a>(pub(in crate::store) &'a Connection);

impl NightlyReader<'_> {
    /// Returns the nightly job of a date.
    pub fn run(self, date: &str) -> Result<Option<NightlyRow>> {
        query_optional(self.0, &format!("{NIGHTLY_COLUMNS} WHERE date = ?1"), [date], "reading a night", nightly_row)
    }

    /// Returns the newest date whose job is done or caught up.
    pub fn last_date(self) -> Result<Option<String>> {
        let sql = "SELECT max(date) FROM nightly WHERE state <> 'running'";
        query_optional(self.0, sql, [], "reading the last night", |row| row.get(0)).map(Option::flatten)
    }

    /// Returns the oldest nightly job that was begun and not closed.
    pub fn unfinished_run(self) -> Result<Option<NightlyRow>> {
        let sql = format!("{NIGHTLY_COLUMNS} WHERE state = 'running' ORDER BY date");
        query_first_readable(self.0, &sql, [], "looking for a night", nightly_row)
    }

    /// Returns the tasks that the nightly job may cancel as duplicates.
    pub fn duplicate_tasks(self) -> Result<Vec<DuplicateTasks>> {
        find_duplicate_tasks(self.0)
    }

    /// Returns the tasks created since then, or all, of accounts that are not retired, oldest first.
    pub fn past_tasks(self, since: Option<Instant>) -> Result<Vec<PastTask>> {
        let sql = format!(
            "{} AND (?1 IS NULL OR t.created_at >= ?1) AND t.status <> 'NEW' ORDER BY t.task_id",
            recent::past_task_sql()
        );
        let since = since.map(|at| at.to_string());
        query_readable(self.0, &sql, [since], "reading the past", recent::past_task_row)
    }

    /// Returns the incoming mails since then that were read, and whether each opened a task.
    pub fn past_mails(self, since: Instant) -> Result<Vec<PastMail>> {
        let sql = format!(
            "SELECT l.mail_id, l.arrived_at, l.state = 'task',
                    EXISTS (SELECT 1 FROM correction c WHERE c.mail_id = l.mail_id AND c.kind IN ('not_a_task', 'make_task')),
                    {}, {}
             FROM ledger l JOIN mail_facts f USING (mail_id) JOIN mail m USING (mail_id) JOIN account a ON a.account = l.account
             WHERE l.arrived_at >= ?1 AND l.direction = 'in' AND a.mode <> 'retired' AND l.state IN ('task', 'no_task') ORDER BY l.mail_id",
            mail::is_bulk_sql(),
            facts::qualified_columns("f")
        );
        query_readable(self.0, &sql, [since.to_string()], "reading past mail", |row| {
            Ok(PastMail {
                mail_id: MailId(row.get(0)?),
                arrived_at: parse_column(row, 1)?,
                opened_task: row.get(2)?,
                corrected: row.get(3)?,
                bulk: row.get(4)?,
                facts: facts::facts_row(row, 5)?,
            })
        })
    }
}
