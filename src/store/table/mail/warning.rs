//! What mails are warned of, in the column `ledger.warnings`.

use rusqlite::Connection;

use crate::{
    model::{Actor, MailEdit, MailId, TaskContext, reading::MailWarning},
    store::{
        error::{Result, StoreContext as _},
        table::{
            execute,
            task::{self, history},
        },
    },
};

/// Stores what the reading of a mail warned of.
pub(in crate::store) fn set_warnings(connection: &Connection, mail_id: MailId, warnings: &[MailWarning]) -> Result<()> {
    let text = serde_json::to_string(warnings).context("encoding warnings")?;
    let sql = "UPDATE ledger SET warnings = ?2 WHERE mail_id = ?1";
    execute(connection, sql, (mail_id.0, text), "storing the warnings of a mail").map(drop)
}

/// Takes the warnings off a mail and off its open tasks, whose effects are no longer held back for them.
pub(super) fn lift_warnings(connection: &Connection, edit: &MailEdit) -> Result<()> {
    set_warnings(connection, edit.mail_id, &[])?;
    for mut row in task::of_mail(connection, edit.mail_id)? {
        if row.task.status.is_terminal() || row.task.context.more.remove(TaskContext::WARNINGS).is_none() {
            continue;
        }
        row.task.last_updated = edit.at;
        task::update(connection, &row.task, row.revision, None)?;
        let entry = history::HistoryEntry {
            field: TaskContext::WARNINGS,
            from: "warned",
            to: "genuine",
            who: Actor::Person,
            why: &edit.why,
        };
        history::record(connection, row.task.task_id, &entry, edit.at)?;
    }
    Ok(())
}
