//! Reading the ledger.

use std::collections::HashSet;

use rusqlite::Row;

use super::{many, one, parsed, parsed_option};
use crate::{
    model::{AccountId, MailId, MailState},
    store::{Reader, error::Result, value::LedgerRow},
};

const COLUMNS: &str = "SELECT l.mail_id, l.account, l.source_key, l.folder, l.direction, l.arrived_at, l.size, l.state, l.reason, l.task_id, \
                       l.retries, coalesce(m.sender, ''), coalesce(m.subject, '') FROM ledger l LEFT JOIN mail m USING (mail_id)";

/// Unreadable files looked at per poll; older ones wait for a restart or a person.
const UNREAD_AT_ONCE: usize = 50;

fn ledger_row(row: &Row<'_>) -> rusqlite::Result<LedgerRow> {
    Ok(LedgerRow {
        mail_id: MailId(row.get(0)?),
        account: AccountId(row.get(1)?),
        source_key: row.get(2)?,
        folder: row.get(3)?,
        direction: parsed(row, 4)?,
        arrived_at: parsed(row, 5)?,
        size: row.get::<_, i64>(6)?.unsigned_abs(),
        state: parsed(row, 7)?,
        reason: row.get(8)?,
        task_id: parsed_option(row, 9)?,
        retries: row.get(10)?,
        sender: row.get(11)?,
        subject: row.get(12)?,
    })
}

impl Reader<'_> {
    /// The newest first.
    pub fn ledger(&self, state: Option<MailState>, limit: usize) -> Result<Vec<LedgerRow>> {
        let sql = format!("{COLUMNS} WHERE ?1 IS NULL OR l.state = ?1 ORDER BY l.mail_id DESC LIMIT ?2");
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        many(self.0, &sql, (state.map(MailState::as_str), limit), "listing the ledger", ledger_row)
    }

    pub fn ledger_entry(&self, mail_id: MailId) -> Result<Option<LedgerRow>> {
        one(self.0, &format!("{COLUMNS} WHERE l.mail_id = ?1"), [mail_id.0], "reading the ledger", ledger_row)
    }

    /// The keys that need no second look: everything but what failed or was given up because it could not be read.
    pub fn known_keys(&self, account: &AccountId) -> Result<HashSet<String>> {
        let sql = "SELECT source_key FROM ledger WHERE account = ?1 AND state NOT IN ('failed', 'gone')";
        Ok(many(self.0, sql, [account.as_str()], "listing known mail", |row| row.get(0))?.into_iter().collect())
    }

    /// Those of the keys that need no second look.
    pub fn known_among(&self, account: &AccountId, keys: Vec<String>) -> Result<HashSet<String>> {
        let sql = "SELECT 1 FROM ledger WHERE account = ?1 AND source_key = ?2 AND state NOT IN ('failed', 'gone')";
        let mut known = HashSet::new();
        for key in keys {
            if one(self.0, sql, (account.as_str(), &key), "looking for known mail", |_| Ok(()))?.is_some() {
                known.insert(key);
            }
        }
        Ok(known)
    }

    /// Mails that could not be read so far and may be readable now: those that failed, and lately given up ones.
    pub fn unread(&self, account: &AccountId) -> Result<Vec<LedgerRow>> {
        let sql = format!(
            "{COLUMNS} WHERE l.account = ?1 AND l.state IN ('failed', 'parked') AND m.mail_id IS NULL ORDER BY l.mail_id DESC LIMIT {UNREAD_AT_ONCE}"
        );
        many(self.0, &sql, [account.as_str()], "listing unread mail", ledger_row)
    }

    /// How many mails are in each state.
    pub fn ledger_counts(&self) -> Result<Vec<(AccountId, MailState, u64)>> {
        let sql = "SELECT account, state, count(*) FROM ledger GROUP BY account, state ORDER BY account, state";
        many(self.0, sql, [], "counting the ledger", |row| {
            Ok((AccountId(row.get(0)?), parsed(row, 1)?, row.get::<_, i64>(2)?.unsigned_abs()))
        })
    }

    /// Mails nobody owes an answer any more to, yet without one: pending with no run that works them, or worked into a
    /// task that is not there. Accounts without any are left out.
    pub fn unaccounted(&self) -> Result<Vec<(AccountId, u64)>> {
        let sql = "SELECT l.account, count(*) FROM ledger l WHERE
                     (l.state = 'pending' AND NOT EXISTS (SELECT 1 FROM run r WHERE r.mail_id = l.mail_id AND r.task_id IS NULL AND r.status = 'running'))
                     OR (l.state IN ('task', 'linked') AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.task_id = l.task_id))
                   GROUP BY l.account ORDER BY l.account";
        many(self.0, sql, [], "looking for unaccounted mail", |row| {
            Ok((AccountId(row.get(0)?), row.get::<_, i64>(1)?.unsigned_abs()))
        })
    }
}
