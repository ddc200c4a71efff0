//! Epochs: what a restore of the data makes void, and when the last restore was detected.

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

/// The setting with the time of the last detected restore.
const RESTORED_AT: &str = "restored_at";
/// The setting with how it was detected.
const RESTORED_BECAUSE: &str = "restored_because";

/// Starts a new epoch after a restore. The restored rows may be older than what has happened since, so unused approvals
/// are void, open effects are of unknown outcome and are probed, and active accounts only observe.
pub(in crate::store) fn start_epoch(connection: &Connection, epoch: i64, reason: &str, at: Instant) -> Result<()> {
    setting::set(connection, "epoch", &epoch.to_string())?;
    setting::set(connection, RESTORED_AT, &at.to_string())?;
    setting::set(connection, RESTORED_BECAUSE, reason)?;
    // A used approval stays, as the record of what was approved.
    execute(connection, "DELETE FROM approval WHERE used_at IS NULL", [], "voiding approvals")?;
    let sql =
        "UPDATE outbox SET state = 'unknown', doubt_since = ?1, result = 'restored from a backup', updated_at = ?1
               WHERE state IN ('ready', 'held', 'drafting', 'drafted', 'sending', 'probe')";
    let doubtful = execute(connection, sql, [at.to_string()], "doubting effects")?;
    // An effect that waits for approval in the restored data may have been approved and tried since.
    let sql = "UPDATE outbox SET tried = 1 WHERE state NOT IN ('applied', 'sent', 'saved', 'withheld', 'void')";
    execute(connection, sql, [], "doubting what waits")?;
    // A person sets an account to active again, once they have looked at what is in doubt.
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
    /// Returns the number of detected restores; 0 before the first.
    pub fn epoch(self) -> Result<i64> {
        Ok(SettingReader(self.0).get("epoch")?.and_then(|text| text.parse().ok()).unwrap_or_default())
    }

    /// Returns when a restore was last detected, and how.
    pub fn last_restore(self) -> Result<Option<DetectedRestore>> {
        let at = SettingReader(self.0).get(RESTORED_AT)?.and_then(|text| text.parse().ok());
        let because = SettingReader(self.0).get(RESTORED_BECAUSE)?.unwrap_or_default();
        Ok(at.map(|at| DetectedRestore { at, because }))
    }
}
