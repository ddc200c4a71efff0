//! The condition of accounts that are reached over a network: sign-in, problem, lag, quota.

use rusqlite::{Connection, Row};

use super::AccountReader;
use crate::{
    model::{AccountCondition, AccountId},
    store::{
        error::Result,
        table::{execute, parse_column, query_readable},
    },
};

/// Stores the condition of an account. `missed` is added to the stored number, and a missing lag keeps the stored one.
pub(in crate::store) fn record_condition(connection: &Connection, condition: &AccountCondition) -> Result<()> {
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let sql = "INSERT INTO account_condition (account, problem, signed_in, lag_seconds, backlog, missed, quota_used, quota, at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
               ON CONFLICT (account) DO UPDATE SET problem = ?2, signed_in = ?3, lag_seconds = coalesce(?4, lag_seconds),
               backlog = ?5, missed = missed + ?6, quota_used = ?7, quota = ?8, at = ?9";
    let values = (
        condition.account.as_str(),
        &condition.problem,
        condition.signed_in,
        condition.lag_seconds.map(number),
        number(condition.backlog),
        number(condition.missed),
        condition.quota_used,
        condition.quota,
        condition.at.to_string(),
    );
    execute(connection, sql, values, "noting how an account is doing").map(drop)
}

fn condition_row(row: &Row<'_>) -> rusqlite::Result<AccountCondition> {
    Ok(AccountCondition {
        account: AccountId(row.get(0)?),
        problem: row.get(1)?,
        signed_in: row.get(2)?,
        lag_seconds: row.get::<_, Option<i64>>(3)?.map(i64::unsigned_abs),
        backlog: row.get::<_, i64>(4)?.unsigned_abs(),
        missed: row.get::<_, i64>(5)?.unsigned_abs(),
        quota_used: row.get(6)?,
        quota: row.get(7)?,
        at: parse_column(row, 8)?,
    })
}

impl AccountReader<'_> {
    /// Returns the last known condition of each account that has one.
    pub fn conditions(self) -> Result<Vec<AccountCondition>> {
        let sql = "SELECT account, problem, signed_in, lag_seconds, backlog, missed, quota_used, quota, at
                   FROM account_condition ORDER BY account";
        query_readable(self.0, sql, [], "reading how accounts are doing", condition_row)
    }
}
