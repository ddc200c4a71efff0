//! Reminders and recorded invoices: effects that are only rows of the database.

use rusqlite::{Connection, Row};

use super::TaskReader;
use crate::{
    model::{
        AccountId, Action, ActionId, Actor, Instant, InvoiceRow, Recurrence, ReminderRow, ShownReminder, TaskId,
        TaskStatus, UserId, action::InvoiceRecord,
    },
    store::{
        error::{Result, SkipUnreadable as _},
        table::{execute, outbox, parse_column, parse_optional_column, query_optional, query_readable, task},
    },
};

/// A reminder before it is stored.
pub(in crate::store) struct NewReminderRow<'a> {
    pub(in crate::store) action_id: ActionId,
    pub(in crate::store) task_id: TaskId,
    pub(in crate::store) account: &'a AccountId,
    pub(in crate::store) user: &'a UserId,
    pub(in crate::store) due: Instant,
    pub(in crate::store) text: &'a str,
    /// How often it comes back; none for a reminder that is shown once.
    pub(in crate::store) every: Option<Recurrence>,
}

/// Adds a reminder. The id of its action is its key, so that repeating the effect adds it once.
pub(in crate::store) fn insert_reminder(connection: &Connection, new: &NewReminderRow<'_>) -> Result<()> {
    let sql =
        "INSERT INTO reminder (action_id, task_id, account, user_id, due_at, text, shown_at, every, first_at, told_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, NULL, ?7, ?5, NULL) ON CONFLICT DO NOTHING";
    let values = (
        new.action_id.to_string(),
        new.task_id.to_string(),
        new.account.as_str(),
        new.user.as_str(),
        new.due.to_string(),
        new.text,
        new.every.map(|every| every.to_string()),
    );
    execute(connection, sql, values, "storing a reminder").map(drop)
}

/// Marks reminders as shown, each only if it is still due at the time it was shown for. A recurring one gets its next
/// time; a task whose last open step was the reminder is done.
pub(in crate::store) fn mark_shown(connection: &Connection, shown: &[ShownReminder], at: Instant) -> Result<()> {
    for ShownReminder { action_id, due_at, next } in shown {
        // The time is part of the condition: a reminder that was moved while it was being shown stays due.
        let sql = "UPDATE reminder SET due_at = coalesce(?3, due_at), shown_at = CASE WHEN ?3 IS NULL THEN ?4 END, told_at = ?4
                   WHERE action_id = ?1 AND due_at = ?2 AND shown_at IS NULL RETURNING task_id";
        let values = (action_id.to_string(), due_at.to_string(), next.map(|next| next.to_string()), at.to_string());
        let task_id =
            query_optional(connection, sql, values, "marking a reminder", |row| parse_column::<TaskId>(row, 0))?;
        let Some(task_id) = task_id else { continue };
        let followed = match next {
            Some(next) => move_deadline(connection, task_id, *next, at),
            None => complete_reminder_step(connection, task_id, at),
        };
        // A task that cannot be read stays as it is. Its reminder was shown, and the others must be marked too.
        followed.map(Some).skip_unreadable()?;
    }
    Ok(())
}

/// Moves the deadline of a task with a recurring reminder to its next time, so that it does not become overdue.
fn move_deadline(connection: &Connection, task_id: TaskId, next: Instant, at: Instant) -> Result<()> {
    let row = task::get(connection, task_id)?;
    if row.task.status.is_terminal() {
        return Ok(());
    }
    let mut changed = row.task.clone();
    changed.context.deadline = Some(next.to_string());
    changed.last_updated = at;
    task::update(connection, &changed, row.revision, None)?;
    let sql = "UPDATE task_facts SET due_at = ?2 WHERE task_id = ?1";
    execute(connection, sql, (task_id.to_string(), next.to_string()), "updating facts").map(drop)
}

/// Marks the reminder step as done, and the task too when no other step is open.
fn complete_reminder_step(connection: &Connection, task_id: TaskId, at: Instant) -> Result<()> {
    let row = task::get(connection, task_id)?;
    let mut changed = row.task.clone();
    let Some(step) = changed.subtasks.iter_mut().find(|subtask| subtask.step == STEP && !subtask.done) else {
        return Ok(());
    };
    if row.task.status.is_terminal() {
        return Ok(());
    }
    step.done = true;
    let is_done = changed.all_steps_done();
    changed.last_updated = at;
    changed.result_summary = Some(format!("Reminded at {at}."));
    task::update(connection, &changed, row.revision, None)?;
    if is_done {
        let row = task::get(connection, task_id)?;
        task::edit::transition_task(
            connection,
            &row,
            TaskStatus::Done,
            Actor::Reminder,
            "it was shown at its time",
            at,
        )?;
    }
    Ok(())
}

/// Moves the reminders of a task that were not shown yet by the time that its date has moved. One for a time that has
/// passed is shown at once, as any other that is due.
pub(in crate::store) fn shift(connection: &Connection, task_id: TaskId, by: chrono::Duration) -> Result<()> {
    let sql = "SELECT action_id, due_at FROM reminder WHERE task_id = ?1 AND shown_at IS NULL AND every IS NULL";
    let waiting = query_readable(connection, sql, [task_id.to_string()], "reading reminders", |row| {
        Ok((row.get::<_, String>(0)?, parse_column::<Instant>(row, 1)?))
    })?;
    for (action_id, due) in waiting {
        let sql = "UPDATE reminder SET due_at = ?2, first_at = ?2 WHERE action_id = ?1";
        execute(connection, sql, (action_id, due.plus(by).to_string()), "moving a reminder")?;
    }
    Ok(())
}

/// Moves the reminders of a task to another time, even if they were shown. Without a time, those not yet shown are
/// deleted.
pub(in crate::store) fn reschedule(connection: &Connection, task_id: TaskId, to: Option<Instant>) -> Result<()> {
    let id = task_id.to_string();
    match to {
        Some(to) => {
            let sql = "UPDATE reminder SET due_at = ?2, first_at = ?2, shown_at = NULL WHERE task_id = ?1";
            execute(connection, sql, (id, to.to_string()), "moving a reminder").map(drop)
        }
        None => {
            let sql = "DELETE FROM reminder WHERE task_id = ?1 AND shown_at IS NULL";
            execute(connection, sql, [id], "dropping a reminder").map(drop)
        }
    }
}

/// Shows the reminders of a snoozed task again when the snooze ends, although they were shown before.
pub(in crate::store) fn reschedule_shown(connection: &Connection, task_id: TaskId, then: Instant) -> Result<()> {
    let sql = "UPDATE reminder SET due_at = ?2, shown_at = NULL WHERE task_id = ?1 AND shown_at IS NOT NULL";
    execute(connection, sql, (task_id.to_string(), then.to_string()), "putting a reminder off").map(drop)
}

/// Changes the text of the reminders of a task, after its objective was edited.
pub(in crate::store) fn set_text(connection: &Connection, task_id: TaskId, text: &str) -> Result<()> {
    let sql = "UPDATE reminder SET text = ?2 WHERE task_id = ?1";
    execute(connection, sql, (task_id.to_string(), text), "renaming a reminder").map(drop)
}

/// Hands the reminders of a reopened task to its successor.
pub(in crate::store) fn reassign_to_task(connection: &Connection, from: TaskId, to: TaskId) -> Result<()> {
    let sql = "UPDATE reminder SET task_id = ?2 WHERE task_id = ?1";
    execute(connection, sql, (from.to_string(), to.to_string()), "handing reminders over").map(drop)
}

/// Records an invoice. The id of the action is its key, so that repeating the effect records it once.
pub(in crate::store) fn record_invoice(
    connection: &Connection,
    action: &Action,
    invoice: &InvoiceRecord,
    at: Instant,
) -> Result<()> {
    let sql =
        "INSERT INTO invoice (action_id, task_id, account, user_id, payee, amount, currency, due, number, recorded_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING";
    let InvoiceRecord { payee, amount, currency, due, number } = invoice;
    let (id, task) = (action.action_id.to_string(), outbox::task_of(action)?.to_string());
    let values =
        (id, task, action.account.as_str(), action.user.as_str(), payee, amount, currency, due, number, at.to_string());
    execute(connection, sql, values, "recording an invoice").map(drop)
}

/// The step of a task that is done when its reminder was shown.
const STEP: &str = "remind";

/// The SQL condition that reminders of the task `t` are shown: the task is open, or an earlier version of the program
/// ended it when it set the reminder. A task that a person ended stays silent.
const IS_ACTIVE_SQL: &str = "(t.status NOT IN ('DONE', 'CANCELLED') OR (t.status = 'DONE' AND NOT EXISTS
                      (SELECT 1 FROM task_history h WHERE h.task_id = t.task_id AND h.field = 'status' AND h.to_value = 'DONE' AND (h.who = 'person' OR h.who GLOB 'mcp:*'))))";
/// The columns that [`reminder_row`] reads.
const COLUMNS: &str = "SELECT r.action_id, r.task_id, r.due_at, r.text, r.every, coalesce(r.first_at, r.due_at)
                       FROM reminder r JOIN tasks t USING (task_id) JOIN task_owner o USING (task_id)";

fn reminder_row(row: &Row<'_>) -> rusqlite::Result<ReminderRow> {
    Ok(ReminderRow {
        action_id: parse_column(row, 0)?,
        task_id: parse_column(row, 1)?,
        due_at: parse_column(row, 2)?,
        text: row.get(3)?,
        every: parse_optional_column(row, 4)?,
        first_at: parse_column(row, 5)?,
    })
}

impl TaskReader<'_> {
    /// Returns the reminders that are due and were not shown, earliest first; none of a snoozed task. A recurring one
    /// whose last showing is later than now is due too: the clock was set back, and its next time may be years ahead.
    pub fn due_reminders(self, now: Instant) -> Result<Vec<ReminderRow>> {
        let sql = format!(
            "{COLUMNS} WHERE r.shown_at IS NULL AND (r.due_at <= ?1 OR (r.every IS NOT NULL AND r.told_at > ?1)) AND (o.snooze_until IS NULL OR o.snooze_until <= ?1) AND {IS_ACTIVE_SQL}
             ORDER BY r.due_at, r.action_id"
        );
        query_readable(self.0, &sql, [now.to_string()], "listing reminders", reminder_row)
    }

    /// Returns the reminders that were shown after `since`, for a person who was away; none of a snoozed task.
    pub fn reminders_shown_since(self, since: Instant, now: Instant) -> Result<Vec<ReminderRow>> {
        let sql = format!(
            "{COLUMNS} WHERE r.told_at > ?1 AND (o.snooze_until IS NULL OR o.snooze_until <= ?2) AND {IS_ACTIVE_SQL}
             ORDER BY r.told_at, r.action_id"
        );
        query_readable(self.0, &sql, (since.to_string(), now.to_string()), "listing reminders", reminder_row)
    }

    /// Returns all recorded invoices, oldest first.
    pub fn invoices(self) -> Result<Vec<InvoiceRow>> {
        let sql = "SELECT task_id, payee, amount, currency, due, number, recorded_at FROM invoice ORDER BY recorded_at, action_id";
        query_readable(self.0, sql, [], "listing invoices", |row| {
            Ok(InvoiceRow {
                task_id: parse_column(row, 0)?,
                payee: row.get(1)?,
                amount: row.get(2)?,
                currency: row.get(3)?,
                due: row.get(4)?,
                number: row.get(5)?,
                recorded_at: parse_column(row, 6)?,
            })
        })
    }
}
