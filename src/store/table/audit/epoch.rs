//! Epochs: what a restore of the data makes void, and when the last one was detected.

use rusqlite::Connection;

use super::AuditReader;
use crate::{
    model::{Actor, DetectedRestore, Instant, audit::AuditEntry},
    store::{
        error::Result,
        table::{
            audit, execute,
            setting::{self, SettingReader},
        },
    },
};

const RESTORED_AT: &str = "restored_at";
const RESTORED_BECAUSE: &str = "restored_because";

/// After a restore nothing is taken for granted.
pub(in crate::store) fn start_epoch(connection: &Connection, epoch: i64, reason: &str, at: Instant) -> Result<()> {
    setting::set(connection, "epoch", &epoch.to_string())?;
    setting::set(connection, RESTORED_AT, &at.to_string())?;
    setting::set(connection, RESTORED_BECAUSE, reason)?;
    execute(connection, "DELETE FROM approval WHERE used_at IS NULL", [], "voiding approvals")?;
    let sql =
        "UPDATE outbox SET state = 'unknown', doubt_since = ?1, result = 'restored from a backup', updated_at = ?1
               WHERE state IN ('ready', 'held', 'drafting', 'drafted', 'sending', 'probe')";
    let doubtful = execute(connection, sql, [at.to_string()], "doubting effects")?;
    // What still waits for a yes may have had one since.
    let sql = "UPDATE outbox SET tried = 1 WHERE state NOT IN ('applied', 'sent', 'saved', 'withheld', 'void')";
    execute(connection, sql, [], "doubting what waits")?;
    let sql = "UPDATE account SET mode = 'observe' WHERE mode = 'active' AND kind <> 'local'";
    execute(connection, sql, [], "making accounts observe")?;
    let entry = AuditEntry {
        at,
        account: String::new(),
        who: Actor::Worker,
        act: "restored".into(),
        subject: format!("epoch:{epoch}"),
        detail: format!("{reason}: approvals void, {doubtful} effects in doubt, accounts observe"),
    };
    audit::append(connection, &entry)
}

impl AuditReader<'_> {
    pub fn epoch(self) -> Result<i64> {
        Ok(SettingReader(self.0).get("epoch")?.and_then(|text| text.parse().ok()).unwrap_or_default())
    }

    /// When a restore was noticed last, and what gave it away.
    pub fn last_restore(self) -> Result<Option<DetectedRestore>> {
        let at = SettingReader(self.0).get(RESTORED_AT)?.and_then(|text| text.parse().ok());
        let because = SettingReader(self.0).get(RESTORED_BECAUSE)?.unwrap_or_default();
        Ok(at.map(|at| DetectedRestore { at, because }))
    }
}
