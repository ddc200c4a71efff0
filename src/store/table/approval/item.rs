//! The items of the approval queue: what waits for a person.
//!
//! An item is decided, expired or voided once. Its number is never used for a second item.

use rusqlite::{Connection, Row};

use super::ApprovalReader;
use crate::{
    model::{
        AccountId, Instant, ItemId, ItemKind, ItemRow, ItemState, MailId, NewItem, QueueLimits, RunId, TaskId, UserId,
        ids::sha256_hex,
    },
    store::{
        error::{Result, StoreContext, StoreError},
        table::{
            approval::queue_limit, decode_json_column, execute, parse_column, parse_column_unless_empty,
            parse_optional_column, query_optional, query_readable,
        },
    },
};

/// Opens an item. Returns [`StoreError::QueueFull`] when its limits are reached. One that exists already is left
/// unchanged, so that a repeated checkpoint asks once.
pub(in crate::store) fn open(
    connection: &Connection,
    new: &NewItem,
    account: &AccountId,
    user: &UserId,
    run: Option<RunId>,
    at: Instant,
) -> Result<()> {
    // The trust of the sender as of now is stored with the item, because the limits count by it.
    let sender = queue_limit::ItemSender::load(connection, account, new.mail_id)?;
    if let Some(room) = new.queue_limits {
        queue_limit::ensure_room(connection, &sender, room)?;
    }
    let sql = "INSERT INTO item (item_id, kind, account, user_id, task_id, mail_id, run_id, action_id, title, body, state, created_at, updated_at, \
               expires_at, sender, sender_trust, number) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'open', ?11, ?11, ?12, ?13, ?14, \
               (SELECT coalesce(max(number), 0) + 1 FROM item)) ON CONFLICT (item_id) DO NOTHING";
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
        &new.sender,
        sender.trust(),
    );
    execute(connection, sql, values, "asking a person").map(drop)
}

/// Puts an open item off until then; none ends the snooze. Refused when the item is not open any more.
pub(in crate::store) fn snooze(
    connection: &Connection,
    item_id: ItemId,
    until: Option<Instant>,
    at: Instant,
) -> Result<()> {
    let sql = "UPDATE item SET snooze_until = ?2, updated_at = ?3 WHERE item_id = ?1 AND state = 'open'";
    let values = (item_id.to_string(), until.map(|until| until.to_string()), at.to_string());
    if execute(connection, sql, values, "snoozing an item")? == 0 {
        return Err(StoreError::Refused(format!("item {item_id} does not wait any more")));
    }
    Ok(())
}

/// Records that a person was told that these items will expire, so that they are told once.
pub(in crate::store) fn mark_reminded(connection: &Connection, items: &[ItemId], at: Instant) -> Result<()> {
    for item in items {
        let sql = "UPDATE item SET reminded_at = ?2 WHERE item_id = ?1";
        execute(connection, sql, (item.to_string(), at.to_string()), "noting a reminder")?;
    }
    Ok(())
}

/// Returns the open items whose time is over.
pub(in crate::store) fn overdue(connection: &Connection, at: Instant) -> Result<Vec<ItemRow>> {
    let sql = format!("{COLUMNS} WHERE state = 'open' AND expires_at <= ?1 ORDER BY item_id");
    query_readable(connection, &sql, [at.to_string()], "finding what has expired", item_row)
}

/// Closes an open item with a state and a reason. Returns whether it was still open.
pub(in crate::store) fn close(
    connection: &Connection,
    item_id: ItemId,
    state: ItemState,
    why: &str,
    at: Instant,
) -> Result<bool> {
    let sql = "UPDATE item SET state = ?2, reason = ?3, updated_at = ?4 WHERE item_id = ?1 AND state = 'open'";
    let values = (item_id.to_string(), state.as_str(), why, at.to_string());
    Ok(execute(connection, sql, values, "closing an item")? > 0)
}

/// Opens a decided item again, after its approval was revoked.
pub(in crate::store::table) fn reopen(connection: &Connection, item_id: ItemId, at: Instant) -> Result<()> {
    let sql = "UPDATE item SET state = 'open', decision = '', reason = '', updated_at = ?2 WHERE item_id = ?1 AND state = 'decided'";
    execute(connection, sql, (item_id.to_string(), at.to_string()), "opening an item again").map(drop)
}

/// Voids an open item whose action is replaced by an edited one. Returns whether it was still open.
pub(in crate::store::table) fn replace(connection: &Connection, item_id: ItemId, at: Instant) -> Result<bool> {
    let sql = "UPDATE item SET state = 'void', reason = 'edited', updated_at = ?2 WHERE item_id = ?1 AND state = 'open' AND kind = 'action'";
    Ok(execute(connection, sql, (item_id.to_string(), at.to_string()), "replacing an item")? > 0)
}

/// Voids all open items of a task.
pub(in crate::store) fn void_of_task(connection: &Connection, task_id: TaskId, why: &str, at: Instant) -> Result<()> {
    let sql = "UPDATE item SET state = 'void', reason = ?2, updated_at = ?3 WHERE task_id = ?1 AND state = 'open'";
    execute(connection, sql, (task_id.to_string(), why, at.to_string()), "voiding items").map(drop)
}

/// Voids the open items that ask about actions of a task. Items about failed steps stay open.
pub(in crate::store) fn void_actions_of_task(
    connection: &Connection,
    task_id: TaskId,
    why: &str,
    at: Instant,
) -> Result<()> {
    let sql = "UPDATE item SET state = 'void', reason = ?2, updated_at = ?3 WHERE task_id = ?1 AND state = 'open' AND kind = 'action'";
    execute(connection, sql, (task_id.to_string(), why, at.to_string()), "voiding actions").map(drop)
}

/// Returns whether the task has an open item.
pub(in crate::store) fn has_open_item(connection: &Connection, task_id: TaskId) -> Result<bool> {
    let sql = "SELECT 1 FROM item WHERE task_id = ?1 AND state = 'open' LIMIT 1";
    Ok(query_optional(connection, sql, [task_id.to_string()], "looking for questions", |_| Ok(()))?.is_some())
}

/// The columns that [`item_row`] reads. The last is the digest of the action behind the item.
const COLUMNS: &str = "SELECT item_id, kind, account, user_id, task_id, mail_id, run_id, action_id, title, body, state, decision, reason, \
                       created_at, expires_at, snooze_until, sender, number, \
                       (SELECT o.sha256 FROM outbox o WHERE o.action_id = item.action_id) FROM item";

/// Reads an item with the digest that an approval of it must name.
fn item_row(row: &Row<'_>) -> rusqlite::Result<ItemRow> {
    let kind = parse_column(row, 1)?;
    let of_action: Option<String> = row.get(18)?;
    let of_proposal = matches!(kind, ItemKind::RuleProposal | ItemKind::Question)
        .then(|| Ok::<_, rusqlite::Error>(proposal_sha256(&row.get::<_, String>(8)?, &row.get::<_, String>(9)?)))
        .transpose()?;
    Ok(ItemRow {
        item_id: parse_column(row, 0)?,
        number: row.get(17)?,
        action_sha256: of_action.or(of_proposal),
        kind,
        account: AccountId(row.get(2)?),
        user: UserId(row.get(3)?),
        task_id: parse_optional_column(row, 4)?,
        mail_id: row.get::<_, Option<i64>>(5)?.map(MailId),
        run_id: parse_optional_column(row, 6)?,
        action_id: parse_optional_column(row, 7)?,
        title: row.get(8)?,
        body: decode_json_column(row, 9)?,
        state: parse_column(row, 10)?,
        decision: parse_column_unless_empty(row, 11)?,
        reason: row.get(12)?,
        created_at: parse_column(row, 13)?,
        expires_at: parse_optional_column(row, 14)?,
        snooze_until: parse_optional_column(row, 15)?,
        sender: row.get(16)?,
    })
}

/// Returns the digest of a proposed edit of the rules, which has no action in the outbox: of what the person is shown.
fn proposal_sha256(title: &str, body: &str) -> String {
    sha256_hex(format!("{title}\n{body}").as_bytes())
}

/// Returns an item; none when there is no such item.
pub(in crate::store) fn get(connection: &Connection, item_id: ItemId) -> Result<Option<ItemRow>> {
    query_optional(
        connection,
        &format!("{COLUMNS} WHERE item_id = ?1"),
        [item_id.to_string()],
        "reading an item",
        item_row,
    )
}

impl ApprovalReader<'_> {
    /// Returns all open items, those of the most urgent task first.
    pub fn open_items(self) -> Result<Vec<ItemRow>> {
        let sql = format!(
            "{COLUMNS} WHERE state = 'open' ORDER BY
               coalesce((SELECT p.rank FROM tasks t JOIN priority p ON p.level = t.priority WHERE t.task_id = item.task_id), 0) DESC, item_id"
        );
        query_readable(self.0, &sql, [], "listing items", item_row)
    }

    /// Returns how many open items are not hidden now.
    pub fn count_waiting(self, now: Instant) -> Result<u64> {
        let sql = "SELECT count(*) FROM item WHERE state = 'open' AND (snooze_until IS NULL OR snooze_until <= ?1)";
        let count = query_optional(self.0, sql, [now.to_string()], "counting items", |row| row.get::<_, i64>(0))?;
        Ok(count.map_or(0, i64::unsigned_abs))
    }

    /// Returns the approved items whose effect is held until its grace ends.
    pub fn items_in_grace(self) -> Result<Vec<ItemRow>> {
        let sql = format!(
            "{COLUMNS} WHERE state = 'decided' AND action_id IN (SELECT o.action_id FROM outbox o WHERE o.state = 'held')
             ORDER BY item_id"
        );
        query_readable(self.0, &sql, [], "listing approvals in their grace", item_row)
    }

    /// Returns the open items that expire by `before` and about which nobody was told yet.
    pub fn unannounced_expiring_items(self, before: Instant) -> Result<Vec<ItemRow>> {
        let sql =
            format!("{COLUMNS} WHERE state = 'open' AND expires_at <= ?1 AND reminded_at IS NULL ORDER BY expires_at");
        query_readable(self.0, &sql, [before.to_string()], "finding what will expire", item_row)
    }

    /// Returns [`StoreError::QueueFull`] when one more item because of this mail would exceed the limits.
    pub fn ensure_queue_room(self, account: &AccountId, mail_id: Option<MailId>, room: QueueLimits) -> Result<()> {
        queue_limit::ensure_room(self.0, &queue_limit::ItemSender::load(self.0, account, mail_id)?, room)
    }

    /// Returns the item with this number, open or not.
    pub fn item_by_number(self, number: i64) -> Result<Option<ItemRow>> {
        query_optional(self.0, &format!("{COLUMNS} WHERE number = ?1"), [number], "reading an item", item_row)
    }

    /// Returns whether an open item has expired.
    pub fn has_overdue_items(self, now: Instant) -> Result<bool> {
        Ok(!overdue(self.0, now)?.is_empty())
    }

    /// Returns whether the item exists, open or not, readable or not.
    pub fn has_item(self, item_id: ItemId) -> Result<bool> {
        let sql = "SELECT 1 FROM item WHERE item_id = ?1";
        Ok(query_optional(self.0, sql, [item_id.to_string()], "looking for an item", |_| Ok(()))?.is_some())
    }

    /// Returns an item, open or not; none when it does not exist. A row that cannot be read is an error; see
    /// [`SkipUnreadable`](crate::store::SkipUnreadable).
    pub fn item(self, item_id: ItemId) -> Result<Option<ItemRow>> {
        get(self.0, item_id)
    }
}
