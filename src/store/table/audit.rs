//! The audit chain. The head is read inside the transaction that appends, never remembered.

use rusqlite::Connection;

use super::{execute, many, one, parsed};
use crate::{
    model::audit::{AuditEntry, GENESIS, chain_hash},
    store::{Reader, error::Result},
};

pub(in crate::store) fn append(connection: &Connection, entry: &AuditEntry) -> Result<()> {
    let head = one(
        connection,
        "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1",
        [],
        "reading the head of the audit chain",
        |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)),
    )?;
    let (last, previous) = head.unwrap_or_else(|| (0, GENESIS.to_owned()));
    let seq = last + 1;
    let hash = chain_hash(&previous, seq, entry);
    let sql =
        "INSERT INTO audit (seq, at, account, who, act, subject, detail, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let AuditEntry { at, account, who, act, subject, detail } = entry;
    execute(
        connection,
        sql,
        (seq, at.to_string(), account, who, act, subject, detail, hash),
        "appending to the audit chain",
    )
    .map(drop)
}

impl Reader<'_> {
    /// Walks the whole chain; the number of lines, or the first that does not fit.
    pub fn verify_audit(&self) -> Result<std::result::Result<i64, i64>> {
        let sql = "SELECT at, account, who, act, subject, detail, hash, seq FROM audit ORDER BY seq";
        let mut previous = GENESIS.to_owned();
        let mut expected = 0;
        let mut broken = None;
        many(self.0, sql, [], "walking the audit chain", |row| {
            expected += 1;
            let entry = AuditEntry {
                at: parsed(row, 0)?,
                account: row.get(1)?,
                who: row.get(2)?,
                act: row.get(3)?,
                subject: row.get(4)?,
                detail: row.get(5)?,
            };
            let hash: String = row.get(6)?;
            if row.get::<_, i64>(7)? != expected || chain_hash(&previous, expected, &entry) != hash {
                broken.get_or_insert(expected);
            }
            previous = hash;
            Ok(())
        })?;
        Ok(broken.map_or(Ok(expected), Err))
    }
}
