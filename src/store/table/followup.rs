//! Tasks a mail may be about: by its conversation, and by the marks a task is recognised by. Open tasks only: what has
//! ended takes no mail in.

use rusqlite::{Connection, Row};

use super::{execute, json_extract_sql, parse_column, query_readable};
use crate::{
    model::{AccountId, MailId, TaskId},
    store::{
        StoreReader,
        error::{Result, StoreError},
        value::{Checkpoint, FollowUp, Kinship, RelatedTask},
    },
};

/// As many as are looked for are shown: whoever was shown one need not look again because of it.
const MOST: i64 = 20;

/// Open tasks, oldest first; the caller says of what.
fn open_tasks_sql(from: &str) -> String {
    let invoice = json_extract_sql("t.context", "$.invoice_number");
    format!(
        "SELECT t.task_id, f.objective, f.kind, f.sender, f.sender_verified, f.known_contact,
                EXISTS (SELECT 1 FROM ledger l WHERE l.mail_id = o.mail_id AND l.direction = 'out'),
                {invoice}
         FROM {from} h JOIN tasks t USING (task_id) JOIN task_facts f USING (task_id) JOIN task_owner o USING (task_id)
         WHERE h.account = ?1 AND h.{key} = ?2 AND t.status NOT IN ('DONE', 'CANCELLED') ORDER BY t.task_id LIMIT {MOST}",
        key = if from == "task_thread" { "thread" } else { "mark" },
    )
}

fn related_task_row(row: &Row<'_>, kinship: Kinship) -> rusqlite::Result<RelatedTask> {
    Ok(RelatedTask {
        task_id: parse_column(row, 0)?,
        objective: row.get(1)?,
        kind: row.get(2)?,
        kinship,
        sender: row.get(3)?,
        sender_verified: row.get(4)?,
        known_contact: row.get(5)?,
        own: row.get(6)?,
        invoice_number: row.get(7)?,
    })
}

pub(in crate::store) fn tasks_of_thread(
    connection: &Connection,
    account: &str,
    thread: &str,
) -> Result<Vec<RelatedTask>> {
    query_readable(connection, &open_tasks_sql("task_thread"), (account, thread), "finding the thread's tasks", |row| {
        related_task_row(row, Kinship::Thread)
    })
}

pub(in crate::store) fn tasks_with_fingerprint(
    connection: &Connection,
    account: &str,
    mark: &str,
    kinship: Kinship,
) -> Result<Vec<RelatedTask>> {
    query_readable(connection, &open_tasks_sql("task_mark"), (account, mark), "finding marked tasks", |row| {
        related_task_row(row, kinship)
    })
}

/// Adds the tasks a mail repeats or quotes to those of its conversation. What can be seen closer at hand counts: a text
/// says more than a thread, a thread more than a quote.
pub(in crate::store) fn add_tasks_with_fingerprints(
    connection: &Connection,
    account: &str,
    text: Option<&str>,
    quoted: &[String],
    tasks: &mut Vec<RelatedTask>,
) -> Result<()> {
    let same = text.map(|mark| (Kinship::Text, mark));
    let quoted = quoted.iter().map(|mark| (Kinship::Quote, mark.as_str()));
    for (kinship, mark) in same.into_iter().chain(quoted) {
        for task in tasks_with_fingerprint(connection, account, mark, kinship)? {
            match tasks.iter_mut().find(|known| known.task_id == task.task_id) {
                Some(known) if kinship == Kinship::Text => known.kinship = kinship,
                Some(_) => {}
                None => tasks.push(task),
            }
        }
    }
    Ok(())
}

/// A task is opened under its marks, unless an open one that was not seen has one of them: then look again.
pub(in crate::store) fn record_task_fingerprints(
    connection: &Connection,
    point: &Checkpoint,
    task_id: TaskId,
    marks: &[String],
    seen: &[TaskId],
) -> Result<()> {
    let account = point.account.as_str();
    for mark in marks {
        // Another person may say the same sentence; only what names its sender stands for one thing.
        if !mark.starts_with("says:") {
            // A mail may open several tasks, which share its text.
            let sql = "SELECT t.task_id FROM task_mark m JOIN tasks t USING (task_id) JOIN task_owner o USING (task_id)
                       WHERE m.account = ?1 AND m.mark = ?2 AND o.mail_id IS NOT ?3 AND t.status NOT IN ('DONE', 'CANCELLED')
                       ORDER BY t.task_id LIMIT ?4";
            let mail = point.mail_id.map(|mail_id| mail_id.0);
            let others = query_readable(connection, sql, (account, mark, mail, MOST), "looking for the same", |row| {
                parse_column(row, 0)
            })?;
            if let Some(other) = others.iter().find(|other: &&TaskId| !seen.contains(other)) {
                return Err(StoreError::Conflict(format!("task {other} about the same was opened meanwhile")));
            }
        }
        let sql = "INSERT INTO task_mark (account, mark, task_id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        execute(connection, sql, (account, mark, task_id.to_string()), "marking a task")?;
    }
    Ok(())
}

impl StoreReader<'_> {
    /// The mails that were linked to a task, oldest first.
    pub fn follow_ups(&self, task_id: TaskId) -> Result<Vec<FollowUp>> {
        let sql = "SELECT m.mail_id, m.sender, m.subject, h.why, h.at FROM task_history h
                   JOIN mail m ON m.mail_id = CAST(substr(h.to_value, length('mail:') + 1) AS INTEGER)
                   WHERE h.task_id = ?1 AND h.field = 'follow_up' ORDER BY h.entry";
        query_readable(self.0, sql, [task_id.to_string()], "reading follow-ups", |row| {
            Ok(FollowUp {
                mail_id: MailId(row.get(0)?),
                sender: row.get(1)?,
                subject: row.get(2)?,
                reason: row.get(3)?,
                at: parse_column(row, 4)?,
            })
        })
    }

    /// Open tasks about the same invoice.
    pub fn tasks_about_invoice(&self, account: &AccountId, marks: &[String]) -> Result<Vec<RelatedTask>> {
        let mut found = Vec::new();
        for mark in marks {
            found.extend(tasks_with_fingerprint(self.0, account.as_str(), mark, Kinship::Invoice)?);
        }
        Ok(found)
    }
}
