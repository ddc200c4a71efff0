//! Reminders and invoices: effects that are rows of ours.

use rusqlite::{Connection, Row};

use super::{execute, many, parsed};
use crate::{
    model::{Action, ActionId, Instant, action::InvoiceRecord},
    store::{
        Reader,
        error::Result,
        value::{InvoiceRow, ReminderRow},
    },
};

pub(in crate::store) fn remind(connection: &Connection, action: &Action, due: Instant, text: &str) -> Result<()> {
    let sql = "INSERT INTO reminder (action_id, task_id, account, user_id, due_at, text, shown_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, NULL)
               ON CONFLICT DO NOTHING";
    let values = (
        action.action_id.to_string(),
        action.task_id.to_string(),
        action.account.as_str(),
        action.user.as_str(),
        due.to_string(),
        text,
    );
    execute(connection, sql, values, "storing a reminder").map(drop)
}

pub(in crate::store) fn shown(connection: &Connection, actions: &[ActionId], at: Instant) -> Result<()> {
    for action in actions {
        let sql = "UPDATE reminder SET shown_at = ?2 WHERE action_id = ?1 AND shown_at IS NULL";
        execute(connection, sql, (action.to_string(), at.to_string()), "marking a reminder")?;
    }
    Ok(())
}

pub(in crate::store) fn invoice(
    connection: &Connection,
    action: &Action,
    invoice: &InvoiceRecord,
    at: Instant,
) -> Result<()> {
    let sql =
        "INSERT INTO invoice (action_id, task_id, account, user_id, payee, amount, currency, due, number, recorded_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING";
    let InvoiceRecord { payee, amount, currency, due, number } = invoice;
    let (id, task) = (action.action_id.to_string(), action.task_id.to_string());
    let values =
        (id, task, action.account.as_str(), action.user.as_str(), payee, amount, currency, due, number, at.to_string());
    execute(connection, sql, values, "recording an invoice").map(drop)
}

fn reminder(row: &Row<'_>) -> rusqlite::Result<ReminderRow> {
    Ok(ReminderRow { action_id: parsed(row, 0)?, task_id: parsed(row, 1)?, due_at: parsed(row, 2)?, text: row.get(3)? })
}

impl Reader<'_> {
    /// Reminders of open tasks that are due and were not shown, earliest first.
    pub fn due_reminders(&self, now: Instant) -> Result<Vec<ReminderRow>> {
        let sql = "SELECT r.action_id, r.task_id, r.due_at, r.text FROM reminder r JOIN tasks t USING (task_id)
                   WHERE r.shown_at IS NULL AND r.due_at <= ?1 AND t.status NOT IN ('DONE', 'CANCELLED') ORDER BY r.due_at";
        many(self.0, sql, [now.to_string()], "listing reminders", reminder)
    }

    /// Reminders of open tasks that came due after `since`, shown or not: for doors that a person opens later.
    pub fn recent_reminders(&self, since: Instant, now: Instant) -> Result<Vec<ReminderRow>> {
        let sql = "SELECT r.action_id, r.task_id, r.due_at, r.text FROM reminder r JOIN tasks t USING (task_id)
                   WHERE r.due_at > ?1 AND r.due_at <= ?2 AND t.status NOT IN ('DONE', 'CANCELLED') ORDER BY r.due_at";
        many(self.0, sql, [since.to_string(), now.to_string()], "listing reminders", reminder)
    }

    pub fn invoices(&self) -> Result<Vec<InvoiceRow>> {
        let sql = "SELECT task_id, payee, amount, currency, due, number, recorded_at FROM invoice ORDER BY recorded_at, action_id";
        many(self.0, sql, [], "listing invoices", |row| {
            Ok(InvoiceRow {
                task_id: parsed(row, 0)?,
                payee: row.get(1)?,
                amount: row.get(2)?,
                currency: row.get(3)?,
                due: row.get(4)?,
                number: row.get(5)?,
                recorded_at: parsed(row, 6)?,
            })
        })
    }
}
