//! Tasks: the twelve fields of a task in `tasks`, and everything else about it (owner, number, revision) in
//! `task_owner`.
//!
//! Every change of a task advances its revision, and a writer that read an older revision gets a conflict. A status
//! changes only along the table of allowed pairs, which a trigger enforces.

pub(in crate::store) mod digest;
pub(in crate::store) mod edit;
pub(in crate::store) mod facts;
pub(in crate::store) mod followup;
mod held_time;
pub(in crate::store) mod history;
pub(in crate::store) mod listing;
mod page;
pub(in crate::store) mod plan;
pub(in crate::store) mod reminder;
pub(in crate::store) mod task_update;

use rusqlite::{Connection, Row};

use super::{
    audit, decode_json_column, document::search_index, execute, parse_column, parse_optional_column, query_optional,
    query_readable,
};
use crate::{
    model::{AccountId, Actor, Facts, Instant, MailId, Task, TaskId, TaskRow, TaskStatus, UserId, audit::AuditEntry},
    store::{
        error::{Result, StoreContext, StoreError},
        prepared::SearchEntry,
        session::Session,
    },
};

/// The columns that [`task_row`] reads.
pub(in crate::store) const COLUMNS: &str = "SELECT t.task_id, t.created_at, t.source, t.objective, t.context, t.priority, t.status, t.subtasks, \
     t.assigned_agent, t.last_updated, t.tool_output, t.result_summary, o.number, o.account, o.user_id, o.mail_id, o.revision, o.rule, \
     o.hand_ranked, o.snooze_until FROM tasks t JOIN task_owner o USING (task_id)";

/// Reads a task with its owner from the columns of [`COLUMNS`].
pub(in crate::store) fn task_row(row: &Row<'_>) -> rusqlite::Result<TaskRow> {
    let output = row.get_ref(10)?.as_str_or_null()?.is_some();
    Ok(TaskRow {
        task: Task {
            task_id: parse_column(row, 0)?,
            created_at: parse_column(row, 1)?,
            source: row.get(2)?,
            objective: row.get(3)?,
            context: decode_json_column(row, 4)?,
            priority: parse_column(row, 5)?,
            status: parse_column(row, 6)?,
            subtasks: decode_json_column(row, 7)?,
            assigned_agent: row.get(8)?,
            last_updated: parse_column(row, 9)?,
            tool_output: output.then(|| decode_json_column(row, 10)).transpose()?,
            result_summary: row.get(11)?,
        },
        number: row.get(12)?,
        account: AccountId(row.get(13)?),
        user: UserId(row.get(14)?),
        mail_id: row.get::<_, Option<i64>>(15)?.map(MailId),
        revision: row.get(16)?,
        rule: row.get(17)?,
        hand_ranked: row.get(18)?,
        snooze_until: parse_optional_column(row, 19)?,
    })
}

/// Whose task it is, and which mail it came from.
pub(in crate::store) struct TaskOwner<'a> {
    pub(in crate::store) account: &'a AccountId,
    pub(in crate::store) user: &'a UserId,
    pub(in crate::store) mail_id: Option<MailId>,
    /// Who opens the task: a node, or `person`.
    pub(in crate::store) who: Actor,
}

/// Creates a task with its owner, facts, conversation and search entry, under the next number of its user. A task that
/// exists already is left unchanged, so that a repeated checkpoint creates it once.
pub(in crate::store) fn open(
    session: &Session,
    task: &Task,
    found: &SearchEntry,
    of: &Facts,
    owner: &TaskOwner<'_>,
    at: Instant,
) -> Result<()> {
    let id = task.task_id.to_string();
    let sql = "INSERT INTO tasks (task_id, created_at, source, objective, context, priority, status, subtasks, assigned_agent, last_updated, \
               tool_output, result_summary) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, NULL, NULL) ON CONFLICT DO NOTHING";
    let values = (
        &id,
        task.created_at.to_string(),
        &task.source,
        &task.objective,
        serde_json::to_string(&task.context).context("encoding a context")?,
        task.priority.as_str(),
        task.status.as_str(),
        serde_json::to_string(&task.subtasks).context("encoding subtasks")?,
        &task.assigned_agent,
        task.last_updated.to_string(),
    );
    if execute(session, sql, values, "opening a task")? == 0 {
        return Ok(());
    }
    // The next number of the user is read inside the write transaction, so that it is not given twice.
    let sql = "INSERT INTO task_owner (task_id, account, user_id, number, mail_id)
               VALUES (?1, ?2, ?3, (SELECT coalesce(max(number), 0) + 1 FROM task_owner WHERE user_id = ?3), ?4)";
    execute(
        session,
        sql,
        (&id, owner.account.as_str(), owner.user.as_str(), owner.mail_id.map(|m| m.0)),
        "owning a task",
    )?;
    // A conversation is recognised by its first message, and by the message of the task in case that one becomes the
    // first of an answer. What lies between is only what the mail claims.
    for thread in task.context.threads.iter().take(1).chain(task.context.threads.iter().skip(1).last()) {
        let sql = "INSERT INTO task_thread (account, thread, task_id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        execute(session, sql, (owner.account.as_str(), thread, &id), "threading a task")?;
    }
    facts::store_task_facts(session, task.task_id, of)?;
    plan::mirror_plan(session, task)?;
    held_time::store_held_times(session, task)?;
    search_index::index_task(session, owner.account, task, &of.sender, found)?;
    let born = StatusTransition {
        account: owner.account,
        from: "",
        to: TaskStatus::New,
        who: owner.who,
        why: &task.source,
        at,
    };
    record_status_transition(session, task.task_id, &born)
}

/// A transition of the life cycle, with who made it and why.
pub(in crate::store) struct StatusTransition<'a> {
    pub(in crate::store) account: &'a AccountId,
    /// The status before; empty when the task is created.
    pub(in crate::store) from: &'a str,
    pub(in crate::store) to: TaskStatus,
    pub(in crate::store) who: Actor,
    pub(in crate::store) why: &'a str,
    pub(in crate::store) at: Instant,
}

/// Makes one transition, with its line of history and its audit entry. The database refuses an illegal one.
pub(in crate::store) fn set_status(connection: &Connection, task_id: TaskId, mv: &StatusTransition<'_>) -> Result<()> {
    let sql = "UPDATE tasks SET status = ?2, last_updated = ?3 WHERE task_id = ?1";
    let moved = execute(connection, sql, (task_id.to_string(), mv.to.as_str(), mv.at.to_string()), "moving a task");
    moved.map_err(|error| error.with_transition(&format!("task {task_id}"), mv.from, mv.to.as_str()))?;
    plan::move_plan(connection, task_id, mv.to, &mv.at.to_string())?;
    record_status_transition(connection, task_id, mv)
}

/// Writes the line of history and the audit entry of a transition.
fn record_status_transition(connection: &Connection, task_id: TaskId, mv: &StatusTransition<'_>) -> Result<()> {
    let StatusTransition { account, from, to, who, why, at } = mv;
    history::record(
        connection,
        task_id,
        &history::HistoryEntry { field: "status", from, to: to.as_str(), who: *who, why },
        *at,
    )?;
    let entry = AuditEntry {
        at: *at,
        account: account.to_string(),
        who: *who,
        act: format!("task_{}", to.as_str().to_lowercase()),
        subject: format!("task:{task_id}"),
        detail: format!("{from} → {to}: {why}"),
    };
    audit::append(connection, &entry)
}

/// Returns the stored status and priority as text.
pub(in crate::store) fn status_and_priority(connection: &Connection, task_id: TaskId) -> Result<(String, String)> {
    let sql = "SELECT status, priority FROM tasks WHERE task_id = ?1";
    query_optional(connection, sql, [task_id.to_string()], "reading a task", |row| Ok((row.get(0)?, row.get(1)?)))?
        .ok_or_else(|| StoreError::NotFound(format!("task {task_id}")))
}

/// Returns a conflict when the task has another revision than the caller has read.
pub(in crate::store) fn ensure_unchanged(connection: &Connection, task_id: TaskId, revision: i64) -> Result<()> {
    let id = task_id.to_string();
    let sql = "SELECT revision FROM task_owner WHERE task_id = ?1";
    let found: Option<i64> = query_optional(connection, sql, [&id], "reading a revision", |row| row.get(0))?;
    if found == Some(revision) { Ok(()) } else { Err(StoreError::Conflict(format!("task {id} was changed meanwhile"))) }
}

/// Writes the fields that a run or a person may change, and advances the revision. Returns a conflict when the task has
/// another revision. The status is not written here, see [`set_status`].
pub(in crate::store) fn update(connection: &Connection, task: &Task, revision: i64, rule: Option<&str>) -> Result<()> {
    let id = task.task_id.to_string();
    let sql =
        "UPDATE task_owner SET revision = revision + 1, rule = coalesce(?3, rule) WHERE task_id = ?1 AND revision = ?2";
    if execute(connection, sql, (&id, revision, rule), "claiming a task")? == 0 {
        return Err(StoreError::Conflict(format!("task {id} was changed meanwhile")));
    }
    let sql = "UPDATE tasks SET objective = ?2, context = ?3, priority = ?4, subtasks = ?5, assigned_agent = ?6, last_updated = ?7, \
               tool_output = ?8, result_summary = ?9 WHERE task_id = ?1";
    let values = (
        &id,
        &task.objective,
        serde_json::to_string(&task.context).context("encoding a context")?,
        task.priority.as_str(),
        serde_json::to_string(&task.subtasks).context("encoding subtasks")?,
        &task.assigned_agent,
        task.last_updated.to_string(),
        task.tool_output.as_ref().map(serde_json::to_string).transpose().context("encoding tool output")?,
        &task.result_summary,
    );
    execute(connection, sql, values, "updating a task")?;
    held_time::store_held_times(connection, task)?;
    plan::mirror_plan(connection, task)
}

/// Returns the task, or an error when there is none.
pub(in crate::store) fn get(connection: &Connection, task_id: TaskId) -> Result<TaskRow> {
    query_optional(
        connection,
        &format!("{COLUMNS} WHERE t.task_id = ?1"),
        [task_id.to_string()],
        "reading a task",
        task_row,
    )?
    .ok_or_else(|| StoreError::NotFound(format!("task {task_id}")))
}

/// Returns the tasks that a mail opened, newest first.
pub(in crate::store) fn of_mail(connection: &Connection, mail_id: MailId) -> Result<Vec<TaskRow>> {
    let sql = format!(
        "{COLUMNS} WHERE o.task_id IN (SELECT task_id FROM task_owner WHERE mail_id = ?1
                                       UNION SELECT task_id FROM ledger WHERE mail_id = ?1 AND state = 'task') ORDER BY t.task_id DESC"
    );
    query_readable(connection, &sql, [mail_id.0], "finding a mail's tasks", task_row)
}

/// Returns the open tasks of an account.
pub(in crate::store) fn open_of_account(connection: &Connection, account: &AccountId) -> Result<Vec<TaskRow>> {
    let sql = format!("{COLUMNS} WHERE o.account = ?1 AND t.status NOT IN ('DONE', 'CANCELLED') ORDER BY t.task_id");
    query_readable(connection, &sql, [account.as_str()], "finding an account's tasks", task_row)
}

/// The SQL condition that the task `t` is in a list: of every task that has its number, or, with a time as the first
/// value, of those that are open and not snoozed then.
const IS_LISTED_SQL: &str = "o.number IS NOT NULL AND (?1 IS NULL OR (t.status NOT IN ('DONE', 'CANCELLED') AND (o.snooze_until IS NULL OR o.snooze_until <= ?1)))";

/// Queries of tasks.
#[derive(Clone, Copy)]
pub struct TaskReader<'a>(pub(in crate::store) &'a Connection);

impl TaskReader<'_> {
    /// Returns a task; none when it does not exist. A row that cannot be read is an error; see
    /// [`SkipUnreadable`](crate::store::SkipUnreadable).
    pub fn get(self, task_id: TaskId) -> Result<Option<TaskRow>> {
        query_optional(
            self.0,
            &format!("{COLUMNS} WHERE t.task_id = ?1"),
            [task_id.to_string()],
            "reading a task",
            task_row,
        )
    }

    /// Returns tasks, most urgent first, then by deadline and age. With `open_at`, only those that are open and not
    /// snoozed at that time.
    pub fn list(self, open_at: Option<Instant>, limit: usize) -> Result<Vec<TaskRow>> {
        let sql = format!(
            "{COLUMNS} JOIN priority p ON p.level = t.priority LEFT JOIN task_facts f USING (task_id)
             WHERE {IS_LISTED_SQL} ORDER BY p.rank DESC, f.due_at IS NULL, f.due_at, t.task_id LIMIT ?2"
        );
        let values = (open_at.map(|at| at.to_string()), i64::try_from(limit).unwrap_or(i64::MAX));
        query_readable(self.0, &sql, values, "listing tasks", task_row)
    }

    /// Returns how many tasks [`Self::list`] would return without a limit.
    pub fn count_listed(self, open_at: Option<Instant>) -> Result<u64> {
        let sql = format!("SELECT count(*) FROM tasks t JOIN task_owner o USING (task_id) WHERE {IS_LISTED_SQL}");
        query_optional(self.0, &sql, [open_at.map(|at| at.to_string())], "counting tasks", |row| row.get::<_, i64>(0))
            .map(|n| n.unwrap_or_default().unsigned_abs())
    }

    /// Returns the tasks that a mail opened, newest first.
    pub fn of_mail(self, mail_id: MailId) -> Result<Vec<TaskRow>> {
        of_mail(self.0, mail_id)
    }

    /// Returns how many tasks were opened by mails that arrived after this one.
    pub fn count_after(self, mail_id: MailId) -> Result<u64> {
        let sql = "SELECT count(*) FROM task_owner WHERE mail_id > ?1";
        query_optional(self.0, sql, [mail_id.0], "counting tasks", |row| row.get::<_, i64>(0))
            .map(|n| n.unwrap_or_default().unsigned_abs())
    }

    /// Returns the number of tasks in each status.
    pub fn counts(self) -> Result<Vec<(TaskStatus, u64)>> {
        let sql = "SELECT status, count(*) FROM tasks GROUP BY status ORDER BY status";
        query_readable(self.0, sql, [], "counting tasks", |row| {
            Ok((parse_column(row, 0)?, row.get::<_, i64>(1)?.unsigned_abs()))
        })
    }

    /// Returns how many recorded transitions the life cycle does not allow; 0 in an intact database.
    pub fn count_illegal_transitions(self) -> Result<u64> {
        let sql = "SELECT count(*) FROM task_history h WHERE field = 'status' AND NOT (from_value = '' AND to_value = 'NEW')
                   AND NOT EXISTS (SELECT 1 FROM task_status_pair p WHERE p.from_status = h.from_value AND p.to_status = h.to_value)";
        query_optional(self.0, sql, [], "checking life cycles", |row| row.get::<_, i64>(0))
            .map(|n| n.unwrap_or_default().unsigned_abs())
    }
}
