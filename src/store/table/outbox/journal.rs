//! The journal of effects that can be undone.

use rusqlite::Connection;

use super::OutboxReader;
use crate::{
    model::{ActionId, Actor, Instant, JournalRow, nightly::CorrectionKind},
    store::{
        error::{Result, SkipUnreadable as _, StoreError},
        table::{approval, execute, json_extract_sql, outbox, parse_column, query_optional, query_readable},
    },
};

/// Records in the audit chain that an R1 effect is about to be undone. With `done`, closes its journal entry, records
/// the correction and voids the effect. Refused when the effect cannot be undone or was undone already.
pub(in crate::store) fn record_undo(
    connection: &Connection,
    action_id: ActionId,
    done: bool,
    who: Actor,
    at: Instant,
) -> Result<()> {
    let row = outbox::get(connection, action_id)?.ok_or_else(|| StoreError::NotFound(format!("action {action_id}")))?;
    let sql = "SELECT 1 FROM journal WHERE action_id = ?1 AND undone_at IS NULL";
    if query_optional(connection, sql, [action_id.to_string()], "reading the journal", |_| Ok(()))?.is_none() {
        return Err(StoreError::Refused(format!("action {action_id} is {} and cannot be taken back", row.state)));
    }
    if !done {
        return outbox::append_audit(connection, &row.action, "to be taken back", who, "undo", at);
    }
    let sql = "UPDATE journal SET undone_at = ?2 WHERE action_id = ?1";
    execute(connection, sql, (action_id.to_string(), at.to_string()), "closing the journal")?;
    outbox::revert_database_effect(connection, &row.action)?;
    // Only what a person takes back says that the effect was unwanted.
    if who == Actor::Person {
        let values = (row.state.as_str(), "void");
        approval::record_correction(connection, &row.action, CorrectionKind::Undo, values, "", at)?;
    }
    outbox::void(connection, &row.action, "taken back", who, at)
}

/// Records that the mailbox has no draft of a voided effect any more.
pub(in crate::store) fn end_draft_cleanup(connection: &Connection, action_id: ActionId) -> Result<()> {
    let sql = "UPDATE outbox SET cleanup_due = 0 WHERE action_id = ?1";
    execute(connection, sql, [action_id.to_string()], "ending the cleaning up of a draft").map(drop)
}

impl OutboxReader<'_> {
    /// Returns the voided effects of which the mailbox may have a draft that was never recorded.
    pub fn unrecorded_drafts(self) -> Result<Vec<ActionId>> {
        let sql = "SELECT action_id FROM outbox WHERE cleanup_due = 1";
        query_readable(self.0, sql, [], "looking for unrecorded drafts", |row| parse_column(row, 0))
    }

    /// Returns the drafts in the mailbox whose tasks were ended by their conversation, so that nobody needs them.
    pub fn superfluous_drafts(self) -> Result<Vec<ActionId>> {
        let effect = json_extract_sql("b.action", "$.effect.effect");
        let sql = format!(
            "SELECT j.action_id FROM journal j JOIN outbox b USING (action_id)
             WHERE j.undone_at IS NULL AND b.state = 'applied' AND {effect} = 'draft'
               AND EXISTS (SELECT 1 FROM tasks t WHERE t.task_id = b.task_id AND t.status IN ('DONE', 'CANCELLED'))
               AND EXISTS (SELECT 1 FROM task_history h WHERE h.task_id = b.task_id
                           AND h.field IN ('answered', 'settled', 'withdrawn', 'over'))"
        );
        query_readable(self.0, &sql, [], "looking for superfluous drafts", |row| parse_column(row, 0))
    }

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
