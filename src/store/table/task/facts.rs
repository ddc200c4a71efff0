//! Facts of mails and of tasks, in two tables with the same columns.

use rusqlite::{Connection, Row, ToSql, params};

use super::TaskReader;
use crate::{
    model::{Facts, MailId, RankableTask, TaskId, UrgencyOrigin},
    store::{
        error::Result,
        table::{execute, mail::MailReader, parse_column, parse_optional_column, query_optional, query_readable},
    },
};

/// The columns of facts, in the order in which [`facts_row`] reads and [`store_facts`] writes them.
const FIELDS: &str = "sender, sender_domain, sender_verified, known_contact, addressed, list_id, subject, objective, kind, language, amount, \
                      due_at, urgency, urgency_origin, attachment, thread_mine, account";

/// Stores the facts of a mail, replacing earlier ones.
pub(in crate::store) fn store_mail_facts(connection: &Connection, mail_id: MailId, facts: &Facts) -> Result<()> {
    store_facts(connection, "mail_facts", "mail_id", &mail_id.0, facts)
}

/// Stores the facts of a task, replacing earlier ones.
pub(in crate::store) fn store_task_facts(connection: &Connection, task_id: TaskId, facts: &Facts) -> Result<()> {
    store_facts(connection, "task_facts", "task_id", &task_id.to_string(), facts)
}

/// Stores the urgency that a model gave a task. It is the only fact that a model can change.
pub(in crate::store) fn set_model_urgency(connection: &Connection, task_id: TaskId, urgency: f64) -> Result<()> {
    let sql = "UPDATE task_facts SET urgency = ?2, urgency_origin = ?3 WHERE task_id = ?1";
    let values = (task_id.to_string(), urgency, UrgencyOrigin::Model.as_str());
    execute(connection, sql, values, "storing an urgency").map(drop)
}

/// Stores facts in one of the two tables, replacing earlier ones.
fn store_facts(connection: &Connection, table: &str, key: &str, id: &dyn ToSql, facts: &Facts) -> Result<()> {
    let sql = format!(
        "INSERT OR REPLACE INTO {table} ({key}, {FIELDS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)"
    );
    let values = params![
        id,
        facts.sender,
        facts.sender_domain,
        facts.sender_verified,
        facts.known_contact,
        facts.addressed.as_str(),
        facts.list_id,
        facts.subject,
        facts.objective,
        facts.kind.as_str(),
        facts.language,
        facts.amount,
        facts.due_at.map(|at| at.to_string()),
        facts.urgency,
        facts.urgency_origin.as_str(),
        facts.attachment,
        facts.thread_mine,
        facts.account,
    ];
    execute(connection, &sql, values, "storing facts").map(drop)
}

/// Returns the facts of a task; none when it has none.
pub(in crate::store) fn of_task(connection: &Connection, task_id: TaskId) -> Result<Option<Facts>> {
    let sql = format!("SELECT {FIELDS} FROM task_facts WHERE task_id = ?1");
    query_optional(connection, &sql, [task_id.to_string()], "reading a task's facts", |row| facts_row(row, 0))
}

/// Reads facts from the columns beginning with `first`.
pub(in crate::store) fn facts_row(row: &Row<'_>, first: usize) -> rusqlite::Result<Facts> {
    Ok(Facts {
        sender: row.get(first)?,
        sender_domain: row.get(first + 1)?,
        sender_verified: row.get(first + 2)?,
        known_contact: row.get(first + 3)?,
        addressed: parse_column(row, first + 4)?,
        list_id: row.get(first + 5)?,
        subject: row.get(first + 6)?,
        objective: row.get(first + 7)?,
        kind: parse_column(row, first + 8)?,
        language: row.get(first + 9)?,
        amount: row.get(first + 10)?,
        due_at: parse_optional_column(row, first + 11)?,
        urgency: row.get(first + 12)?,
        urgency_origin: parse_column(row, first + 13)?,
        attachment: row.get(first + 14)?,
        thread_mine: row.get(first + 15)?,
        account: row.get(first + 16)?,
    })
}

/// Returns the columns that [`facts_row`] reads, qualified by the alias of a table.
pub(in crate::store) fn qualified_columns(table: &str) -> String {
    FIELDS.split(", ").map(|field| format!("{table}.{}", field.trim())).collect::<Vec<_>>().join(", ")
}

impl TaskReader<'_> {
    pub fn facts(self, task_id: TaskId) -> Result<Option<Facts>> {
        of_task(self.0, task_id)
    }
}

impl MailReader<'_> {
    pub fn facts(self, mail_id: MailId) -> Result<Option<Facts>> {
        let sql = format!("SELECT {FIELDS} FROM mail_facts WHERE mail_id = ?1");
        query_optional(self.0, &sql, [mail_id.0], "reading a mail's facts", |row| facts_row(row, 0))
    }
}

impl TaskReader<'_> {
    /// Returns the open tasks whose priority no person has set, with their facts.
    pub fn rankable(self) -> Result<Vec<RankableTask>> {
        let sql = format!(
            "SELECT t.task_id, o.revision, t.priority, o.rule, {} FROM tasks t JOIN task_owner o USING (task_id) JOIN task_facts f USING (task_id)
             WHERE t.status NOT IN ('DONE', 'CANCELLED', 'NEW') AND o.hand_ranked = 0",
            qualified_columns("f")
        );
        query_readable(self.0, &sql, [], "listing tasks to rank", |row| {
            Ok(RankableTask {
                task_id: parse_column(row, 0)?,
                revision: row.get(1)?,
                priority: parse_column(row, 2)?,
                rule: row.get(3)?,
                facts: facts_row(row, 4)?,
            })
        })
    }
}
