//! Corrections: what a person overruled, recorded in the transaction of their decision and read by the nightly job.
//!
//! A correction holds no text of a mail.

use rusqlite::{Connection, Row};

use super::NightlyReader;
use crate::{
    model::{
        AccountId, Instant, MailId, TaskId, UserId,
        nightly::{CorrectionKind, CorrectionRow, EvidenceRow, LessonRow},
    },
    store::{
        error::{Result, StoreContext as _},
        table::{execute, mail, parse_column, parse_optional_column, query_readable, task::facts},
    },
};

/// Who corrects, and which task or mail the correction is about.
pub(in crate::store) struct CorrectionSubject<'a> {
    pub(in crate::store) account: &'a AccountId,
    pub(in crate::store) user: &'a UserId,
    /// The task that was corrected, or that the mail had opened.
    pub(in crate::store) task_id: Option<TaskId>,
    /// The mail that was corrected, or that the task came from.
    pub(in crate::store) mail_id: Option<MailId>,
    pub(in crate::store) at: Instant,
}

/// Records a correction with the old and the new value, which are empty where they could quote a mail.
pub(in crate::store) fn record(
    connection: &Connection,
    about: &CorrectionSubject<'_>,
    kind: CorrectionKind,
    (from, to): (&str, &str),
    why: &str,
) -> Result<()> {
    let sql = "INSERT INTO correction (account, user_id, kind, task_id, mail_id, from_value, to_value, why, at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let CorrectionSubject { account, user, task_id, mail_id, at } = about;
    let values = (
        account.as_str(),
        user.as_str(),
        kind.as_str(),
        task_id.map(|id| id.to_string()),
        mail_id.map(|id| id.0),
        from,
        to,
        why,
        at.to_string(),
    );
    execute(connection, sql, values, "noting a correction").map(drop)
}

/// The columns that [`correction_row`] reads.
const COLUMNS: &str = "c.correction, c.account, c.kind, c.task_id, c.mail_id, c.from_value, c.to_value, c.why, c.at";

fn correction_row(row: &Row<'_>) -> rusqlite::Result<CorrectionRow> {
    Ok(CorrectionRow {
        correction: row.get(0)?,
        account: AccountId(row.get(1)?),
        kind: parse_column(row, 2)?,
        task_id: parse_optional_column(row, 3)?,
        mail_id: row.get::<_, Option<i64>>(4)?.map(MailId),
        from: row.get(5)?,
        to: row.get(6)?,
        why: row.get(7)?,
        at: parse_column(row, 8)?,
    })
}

/// The number of columns that [`correction_row`] reads. Further columns of a query follow them.
const COLUMN_COUNT: usize = 9;

impl NightlyReader<'_> {
    /// Returns the corrections since then, or all, in the order they were made.
    pub fn corrections(self, since: Option<Instant>) -> Result<Vec<CorrectionRow>> {
        let sql = format!("SELECT {COLUMNS} FROM correction c WHERE ?1 IS NULL OR c.at >= ?1 ORDER BY c.correction");
        query_readable(self.0, &sql, [since.map(|at| at.to_string())], "reading corrections", correction_row)
    }

    /// Returns these corrections, each with the task or mail that it was about, in the order they were made.
    pub fn evidence(self, corrections: &[i64]) -> Result<Vec<EvidenceRow>> {
        let sql = format!(
            "SELECT {COLUMNS}, o.number, coalesce(t.objective, m.subject, '')
             FROM correction c LEFT JOIN tasks t ON t.task_id = c.task_id LEFT JOIN task_owner o ON o.task_id = c.task_id
             LEFT JOIN mail m ON m.mail_id = c.mail_id
             WHERE c.correction IN (SELECT value FROM json_each(?1)) ORDER BY c.correction"
        );
        let wanted = serde_json::to_string(corrections).context("encoding numbers of corrections")?;
        query_readable(self.0, &sql, [wanted], "reading evidence", |row| {
            Ok(EvidenceRow {
                correction: correction_row(row)?,
                number: row.get(COLUMN_COUNT)?,
                title: row.get(COLUMN_COUNT + 1)?,
            })
        })
    }

    /// Returns the priorities that a person set since then, with the facts of their tasks. Corrections of a retired
    /// account are left out.
    pub fn priority_lessons(self, since: Instant) -> Result<Vec<LessonRow>> {
        self.lessons(
            "JOIN tasks t ON t.task_id = c.task_id JOIN task_facts f ON f.task_id = c.task_id",
            "t.created_at",
            "c.kind = 'priority'",
            since,
        )
    }

    /// Returns the corrections of what is a task and what is none, with the facts of their mails. Those of a retired
    /// account are left out.
    pub fn task_lessons(self, since: Instant) -> Result<Vec<LessonRow>> {
        self.lessons(
            "JOIN ledger l ON l.mail_id = c.mail_id JOIN mail_facts f ON f.mail_id = c.mail_id",
            "l.arrived_at",
            "c.kind IN ('not_a_task', 'make_task')",
            since,
        )
    }

    /// Returns corrections of one kind with facts. `born` is the column of the time at which rules judged the task or
    /// mail.
    fn lessons(self, join: &str, born: &str, kind: &str, since: Instant) -> Result<Vec<LessonRow>> {
        let (fields, bulk) = (facts::qualified_columns("f"), mail::is_bulk_sql());
        let sql = format!(
            "SELECT {COLUMNS}, {born}, {bulk}, {fields}
             FROM correction c {join} JOIN account a ON a.account = c.account AND a.mode <> 'retired'
             LEFT JOIN mail m ON m.mail_id = c.mail_id WHERE {kind} AND c.at >= ?1 ORDER BY c.correction"
        );
        query_readable(self.0, &sql, [since.to_string()], "reading lessons", |row| {
            Ok(LessonRow {
                correction: correction_row(row)?,
                created_at: parse_column(row, COLUMN_COUNT)?,
                bulk: row.get(COLUMN_COUNT + 1)?,
                facts: facts::facts_row(row, COLUMN_COUNT + 2)?,
            })
        })
    }
}
