//! The journal of effects that can be undone.

use rusqlite::Connection;

use super::OutboxReader;
use crate::{
    model::{ActionId, Actor, Instant, JournalRow, nightly::CorrectionKind},
    store::{
        error::{Result, SkipUnreadable as _, StoreError},
        table::{approval, execute, outbox, parse_column, query_optional, query_readable},
    },
};

/// Records in the audit chain that an R1 effect is about to be undone. With `done`, closes its journal entry, records
/// the correction and voids the effect. Refused when the effect cannot be undone or was undone already.
pub(in crate::store) fn record_undo(
    connection: &Connection,
    action_id: ActionId,
    done: bool,
    at: Instant,
) -> Result<()> {
    let row = outbox::get(connection, action_id)?.ok_or_else(|| StoreError::NotFound(format!("action {action_id}")))?;
    let sql = "SELECT 1 FROM journal WHERE action_id = ?1 AND undone_at IS NULL";
    if query_optional(connection, sql, [action_id.to_string()], "reading the journal", |_| Ok(()))?.is_none() {
        return Err(StoreError::Refused(format!("action {action_id} is {} and cannot be taken back", row.state)));
    }
    if !done {
        return outbox::append_audit(connection, &row.action, "to be taken back", Actor::Person, "undo", at);
    }
    let sql = "UPDATE journal SET undone_at = ?2 WHERE action_id = ?1";
    execute(connection, sql, (action_id.to_string(), at.to_string()), "closing the journal")?;
    outbox::revert_database_effect(connection, &row.action)?;
    approval::record_correction(connection, &row.action, CorrectionKind::Undo, (row.state.as_str(), "void"), "", at)?;
    outbox::void(connection, &row.action, "taken back", Actor::Person, at)
}

impl OutboxReader<'_> {
    /// Returns the effects that can be undone, newest first.
    pub fn undoable(self, limit: usize) -> Result<Vec<JournalRow>> {
        let sql = "SELECT action_id, done_at FROM journal WHERE undone_at IS NULL ORDER BY done_at DESC, action_id DESC LIMIT ?1";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let found: Vec<(ActionId, Instant)> = query_readable(self.0, sql, [limit], "reading the journal", |row| {
            Ok((parse_column(row, 0)?, parse_column(row, 1)?))
        })?;
        let mut rows = Vec::new();
        for (action_id, done_at) in found {
            rows.extend(outbox::get(self.0, action_id).skip_unreadable()?.map(|row| JournalRow { row, done_at }));
        }
        Ok(rows)
    }
}
