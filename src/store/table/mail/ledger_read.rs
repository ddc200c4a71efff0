//! Queries of the ledger.

use std::collections::HashSet;

use rusqlite::{Connection, Row};

use crate::{
    model::{AccountId, Instant, LedgerFileRow, LedgerRow, MailId, MailState, WarningKind, reading::MailWarning},
    store::{
        error::Result,
        table::{decode_json_column, parse_column, parse_optional_column, query_optional, query_readable},
    },
};

/// The columns that [`ledger_row`] reads. Sender and subject are empty for a message that could not be read.
const COLUMNS: &str = "SELECT l.mail_id, l.account, l.source_key, l.folder, l.direction, l.arrived_at, l.size, l.state, l.reason, l.task_id, \
                       l.retries, coalesce(m.sender, ''), coalesce(m.subject, ''), l.stamp, l.warnings FROM ledger l LEFT JOIN mail m USING (mail_id)";

/// The number of mails that are tried again in one poll. Those that waited longest come first.
const MAX_RETRIES_PER_POLL: usize = 50;
/// The backoff in seconds before a mail that could not be read is tried again. It doubles with each attempt, up to 256
/// times its value.
const INITIAL_BACKOFF_SECONDS: u32 = 15;

fn ledger_row(row: &Row<'_>) -> rusqlite::Result<LedgerRow> {
    Ok(LedgerRow {
        mail_id: MailId(row.get(0)?),
        account: AccountId(row.get(1)?),
        source_key: row.get(2)?,
        folder: row.get(3)?,
        direction: parse_column(row, 4)?,
        arrived_at: parse_column(row, 5)?,
        size: row.get::<_, i64>(6)?.unsigned_abs(),
        state: parse_column(row, 7)?,
        reason: row.get(8)?,
        task_id: parse_optional_column(row, 9)?,
        retries: row.get(10)?,
        sender: row.get(11)?,
        subject: row.get(12)?,
        stamp: row.get(13)?,
        warnings: decode_json_column(row, 14).unwrap_or_else(|_| vec![unreadable_warning()]),
    })
}

/// Warnings that cannot be read do not hide their mail, and count as the gravest one.
fn unreadable_warning() -> MailWarning {
    MailWarning { kind: WarningKind::Phishing, text: "what it was warned of cannot be read".into() }
}

/// Queries of the ledger.
#[derive(Clone, Copy)]
pub struct LedgerReader<'a>(pub(in crate::store) &'a Connection);

impl LedgerReader<'_> {
    /// Returns the newest messages, in one state or in any.
    pub fn list(self, state: Option<MailState>, limit: usize) -> Result<Vec<LedgerRow>> {
        let sql = format!("{COLUMNS} WHERE ?1 IS NULL OR l.state = ?1 ORDER BY l.mail_id DESC LIMIT ?2");
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        query_readable(self.0, &sql, (state.map(MailState::as_str), limit), "listing the ledger", ledger_row)
    }

    /// Returns how many messages there are, in one state or in any.
    pub fn count(self, state: Option<MailState>) -> Result<u64> {
        let sql = "SELECT count(*) FROM ledger WHERE ?1 IS NULL OR state = ?1";
        query_optional(self.0, sql, [state.map(MailState::as_str)], "counting mails", |row| row.get::<_, i64>(0))
            .map(|n| n.unwrap_or_default().unsigned_abs())
    }

    /// Returns the messages with a warning that arrived since then, newest first.
    pub fn warned_since(self, since: Instant) -> Result<Vec<LedgerRow>> {
        let sql = format!("{COLUMNS} WHERE l.warnings <> '[]' AND l.arrived_at >= ?1 ORDER BY l.mail_id DESC");
        query_readable(self.0, &sql, [since.to_string()], "listing what was warned of", ledger_row)
    }

    /// Returns the ledger row of a mail; none when it does not exist. A row that cannot be read is an error; see
    /// [`SkipUnreadable`](crate::store::SkipUnreadable).
    pub fn get(self, mail_id: MailId) -> Result<Option<LedgerRow>> {
        query_optional(
            self.0,
            &format!("{COLUMNS} WHERE l.mail_id = ?1"),
            [mail_id.0],
            "reading the ledger",
            ledger_row,
        )
    }

    /// Returns the source key and the stamp of every message of an account whose messages are files, and whether it is
    /// gone.
    pub fn known_files(self, account: &AccountId) -> Result<Vec<(String, String, bool)>> {
        let sql = "SELECT source_key, stamp, state = 'gone' FROM ledger WHERE account = ?1";
        query_readable(self.0, sql, [account.as_str()], "listing known mail", |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
    }

    /// Returns the messages whose source key is `base`, or `base` followed by a slash and a digest: other content that
    /// was found under the same file name.
    pub fn files_with_base_key(self, account: &AccountId, base: &str) -> Result<Vec<LedgerFileRow>> {
        // The character after the slash is the digit zero, so the range covers exactly the keys below `base/`.
        let sql = "SELECT l.source_key, l.stamp, l.size, l.bytes_sha256, m.mail_id IS NOT NULL, l.state = 'gone'
                   FROM ledger l LEFT JOIN mail m USING (mail_id)
                   WHERE l.account = ?1 AND (l.source_key = ?2 OR (l.source_key > ?2 || '/' AND l.source_key < ?2 || '0'))
                   ORDER BY l.mail_id";
        query_readable(self.0, sql, (account.as_str(), base), "asking for a file", |row| {
            Ok(LedgerFileRow {
                source_key: row.get(0)?,
                stamp: row.get(1)?,
                size: row.get::<_, i64>(2)?.unsigned_abs(),
                sha256: row.get(3)?,
                is_read: row.get(4)?,
                is_gone: row.get(5)?,
            })
        })
    }

    /// Returns those of the keys that need not be fetched, because the ledger has them and they neither failed nor are
    /// gone.
    pub fn known_keys_among(self, account: &AccountId, keys: Vec<String>) -> Result<HashSet<String>> {
        let sql = "SELECT 1 FROM ledger WHERE account = ?1 AND source_key = ?2 AND state NOT IN ('failed', 'gone')";
        let mut known = HashSet::new();
        for key in keys {
            if query_optional(self.0, sql, (account.as_str(), &key), "looking for known mail", |_| Ok(()))?.is_some() {
                known.insert(key);
            }
        }
        Ok(known)
    }

    /// Returns the mails that could not be read and whose backoff is over.
    pub fn due_for_retry(self, account: &AccountId, now: Instant) -> Result<Vec<LedgerRow>> {
        let sql = format!(
            "{COLUMNS} WHERE l.account = ?1 AND l.state = 'failed'
             AND unixepoch(l.updated_at) + ({INITIAL_BACKOFF_SECONDS} << min(l.retries, 8)) <= unixepoch(?2)
             ORDER BY l.updated_at, l.mail_id LIMIT {MAX_RETRIES_PER_POLL}"
        );
        query_readable(self.0, &sql, (account.as_str(), now.to_string()), "listing unread mail", ledger_row)
    }

    /// Returns the source keys of parked messages that could not be read at all.
    pub fn unreadable_keys(self, account: &AccountId) -> Result<HashSet<String>> {
        let sql = "SELECT source_key FROM ledger l WHERE account = ?1 AND state = 'parked'
                   AND NOT EXISTS (SELECT 1 FROM mail m WHERE m.mail_id = l.mail_id)";
        Ok(query_readable(self.0, sql, [account.as_str()], "listing unread mail", |row| row.get(0))?
            .into_iter()
            .collect())
    }

    /// Returns the number of mails of each account in each state.
    pub fn counts(self) -> Result<Vec<(AccountId, MailState, u64)>> {
        let sql = "SELECT account, state, count(*) FROM ledger GROUP BY account, state ORDER BY account, state";
        query_readable(self.0, sql, [], "counting the ledger", |row| {
            Ok((AccountId(row.get(0)?), parse_column(row, 1)?, row.get::<_, i64>(2)?.unsigned_abs()))
        })
    }

    /// Returns, per account, the number of mails without an outcome and without a running run, or whose task does not
    /// exist. Accounts without any are left out. In an intact database there are none.
    pub fn count_unaccounted(self) -> Result<Vec<(AccountId, u64)>> {
        let sql = "SELECT l.account, count(*) FROM ledger l WHERE
                     (l.state = 'pending' AND NOT EXISTS (SELECT 1 FROM run r WHERE r.mail_id = l.mail_id AND r.task_id IS NULL AND r.status = 'running'))
                     OR (l.state IN ('task', 'linked') AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.task_id = l.task_id))
                   GROUP BY l.account ORDER BY l.account";
        query_readable(self.0, sql, [], "looking for unaccounted mail", |row| {
            Ok((AccountId(row.get(0)?), row.get::<_, i64>(1)?.unsigned_abs()))
        })
    }
}
