//! The queue of items for people.

use rusqlite::{Connection, Row};

use super::{execute, json, many, one, parsed, parsed_option};
use crate::{
    model::{AccountId, Instant, ItemId, MailId, RunId, TaskId, UserId},
    store::{
        Reader,
        error::{Context, Result},
        value::{ItemRow, NewItem},
    },
};

pub(in crate::store) fn open(
    connection: &Connection,
    new: &NewItem,
    account: &AccountId,
    user: &UserId,
    run: Option<RunId>,
    at: Instant,
) -> Result<()> {
    let sql = "INSERT INTO item (item_id, kind, account, user_id, task_id, mail_id, run_id, action_id, title, body, state, created_at, updated_at, \
               expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'open', ?11, ?11, ?12) ON CONFLICT DO NOTHING";
    let values = (
        new.item_id.to_string(),
        new.kind.as_str(),
        account.as_str(),
        user.as_str(),
        new.task_id.map(|id| id.to_string()),
        new.mail_id.map(|id| id.0),
        run.map(|id| id.to_string()),
        new.action_id.map(|id| id.to_string()),
        &new.title,
        serde_json::to_string(&new.body).context("encoding an item")?,
        at.to_string(),
        new.expires_at.map(|at| at.to_string()),
    );
    execute(connection, sql, values, "asking a person").map(drop)
}

pub(in crate::store) fn void_of_task(connection: &Connection, task_id: TaskId, why: &str, at: Instant) -> Result<()> {
    let sql = "UPDATE item SET state = 'void', reason = ?2, updated_at = ?3 WHERE task_id = ?1 AND state = 'open'";
    execute(connection, sql, (task_id.to_string(), why, at.to_string()), "voiding items").map(drop)
}

pub(in crate::store) fn void_actions_of_task(
    connection: &Connection,
    task_id: TaskId,
    why: &str,
    at: Instant,
) -> Result<()> {
    let sql = "UPDATE item SET state = 'void', reason = ?2, updated_at = ?3 WHERE task_id = ?1 AND state = 'open' AND kind = 'action'";
    execute(connection, sql, (task_id.to_string(), why, at.to_string()), "voiding actions").map(drop)
}

/// Whether a person is being asked about the task.
pub(in crate::store) fn is_asked(connection: &Connection, task_id: TaskId) -> Result<bool> {
    let sql = "SELECT 1 FROM item WHERE task_id = ?1 AND state = 'open' LIMIT 1";
    Ok(one(connection, sql, [task_id.to_string()], "looking for questions", |_| Ok(()))?.is_some())
}

const COLUMNS: &str = "SELECT item_id, kind, account, user_id, task_id, mail_id, run_id, action_id, title, body, state, decision, reason, \
                       created_at FROM item";

fn item_row(row: &Row<'_>) -> rusqlite::Result<ItemRow> {
    Ok(ItemRow {
        item_id: parsed(row, 0)?,
        kind: parsed(row, 1)?,
        account: AccountId(row.get(2)?),
        user: UserId(row.get(3)?),
        task_id: parsed_option(row, 4)?,
        mail_id: row.get::<_, Option<i64>>(5)?.map(MailId),
        run_id: parsed_option(row, 6)?,
        action_id: parsed_option(row, 7)?,
        title: row.get(8)?,
        body: json(row, 9)?,
        state: parsed(row, 10)?,
        decision: row.get(11)?,
        reason: row.get(12)?,
        created_at: parsed(row, 13)?,
    })
}

pub(in crate::store) fn get(connection: &Connection, item_id: ItemId) -> Result<Option<ItemRow>> {
    one(connection, &format!("{COLUMNS} WHERE item_id = ?1"), [item_id.to_string()], "reading an item", item_row)
}

impl Reader<'_> {
    /// Everything that waits for a person, most urgent task first.
    pub fn open_items(&self) -> Result<Vec<ItemRow>> {
        let sql = format!(
            "{COLUMNS} WHERE state = 'open' ORDER BY
               coalesce((SELECT p.rank FROM tasks t JOIN priority p ON p.level = t.priority WHERE t.task_id = item.task_id), 0) DESC, item_id"
        );
        many(self.0, &sql, [], "listing items", item_row)
    }

    pub fn item(&self, item_id: ItemId) -> Result<Option<ItemRow>> {
        get(self.0, item_id)
    }
}
