//! Accounts, their modes and cursors, and the users they belong to.

pub(in crate::store) mod condition;

use rusqlite::{Connection, Row};

use super::{audit, execute, parse_column, parse_optional_column, query_optional, query_readable, task};
use crate::{
    model::{Account, AccountId, AccountMode, Actor, Instant, TaskStatus, UserId, audit::AuditEntry},
    store::error::{Result, StoreError},
};

/// Adds an account and its user, and starts the audit chain of a new home. An account that exists already is left
/// unchanged.
pub(in crate::store) fn open(connection: &Connection, account: &Account) -> Result<()> {
    audit::start_chain(connection, account.created_at)?;
    let at = account.created_at.to_string();
    let sql = "INSERT INTO user (user_id, created_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    execute(connection, sql, (account.user.as_str(), &at), "adding a user")?;
    let sql = "INSERT INTO account (account, user_id, kind, mode, cursor, created_at, polled_at) VALUES (?1, ?2, ?3, ?4, NULL, ?5, NULL)
               ON CONFLICT DO NOTHING";
    let values = (account.account.as_str(), account.user.as_str(), account.kind.as_str(), account.mode.as_str(), &at);
    if execute(connection, sql, values, "adding an account")? == 0 {
        return Ok(());
    }
    append_audit(connection, &account.account, account.mode, account.created_at, "account_opened")
}

/// Changes the mode of an account. Retiring cancels its open tasks in the same transaction.
pub(in crate::store) fn set_mode(
    connection: &Connection,
    account: &AccountId,
    mode: AccountMode,
    at: Instant,
) -> Result<()> {
    let before = "SELECT mode FROM account WHERE account = ?1";
    let before = query_optional(connection, before, [account.as_str()], "reading an account's mode", |row| {
        row.get::<_, String>(0)
    })?
    .ok_or_else(|| StoreError::NotFound(format!("account {account}")))?;
    let sql = "UPDATE account SET mode = ?2 WHERE account = ?1";
    execute(connection, sql, (account.as_str(), mode.as_str()), "changing an account's mode")
        .map_err(|error| error.with_transition(&format!("account {account}"), &before, mode.as_str()))?;
    append_audit(connection, account, mode, at, "account_mode")?;
    if mode == AccountMode::Retired {
        cancel_open_tasks(connection, account, at)?;
    }
    Ok(())
}

/// Cancels the open tasks of an account that retires.
fn cancel_open_tasks(connection: &Connection, account: &AccountId, at: Instant) -> Result<()> {
    for row in task::open_of_account(connection, account)? {
        task::edit::transition_task(
            connection,
            &row,
            TaskStatus::Cancelled,
            Actor::Person,
            "its account has retired",
            at,
        )?;
    }
    Ok(())
}

/// Stores the cursor of a source, in the transaction that stored the messages it covers.
pub(in crate::store) fn record_poll(
    connection: &Connection,
    account: &AccountId,
    cursor: &str,
    at: Instant,
) -> Result<()> {
    let sql = "UPDATE account SET cursor = ?2, polled_at = ?3 WHERE account = ?1";
    execute(connection, sql, (account.as_str(), cursor, at.to_string()), "moving an account's cursor").map(drop)
}

/// Appends an audit line about an account. Only a person opens or changes accounts.
fn append_audit(connection: &Connection, account: &AccountId, mode: AccountMode, at: Instant, act: &str) -> Result<()> {
    let entry = AuditEntry {
        at,
        account: account.to_string(),
        who: Actor::Person,
        act: act.into(),
        subject: format!("account:{account}"),
        detail: mode.to_string(),
    };
    audit::append(connection, &entry)
}

/// The columns that [`account_row`] reads.
const COLUMNS: &str = "SELECT account, user_id, kind, mode, cursor, created_at, polled_at FROM account";

fn account_row(row: &Row<'_>) -> rusqlite::Result<Account> {
    Ok(Account {
        account: AccountId(row.get(0)?),
        user: UserId(row.get(1)?),
        kind: parse_column(row, 2)?,
        mode: parse_column(row, 3)?,
        cursor: row.get(4)?,
        created_at: parse_column(row, 5)?,
        polled_at: parse_optional_column(row, 6)?,
    })
}

/// Queries of accounts.
#[derive(Clone, Copy)]
pub struct AccountReader<'a>(pub(in crate::store) &'a Connection);

impl AccountReader<'_> {
    /// Returns all accounts, oldest first.
    pub fn list(self) -> Result<Vec<Account>> {
        query_readable(self.0, &format!("{COLUMNS} ORDER BY created_at, account"), [], "listing accounts", account_row)
    }

    /// Returns the names of all accounts, even of those whose row cannot be read otherwise.
    pub fn ids(self) -> Result<Vec<AccountId>> {
        let sql = "SELECT account FROM account ORDER BY created_at, account";
        query_readable(self.0, sql, [], "listing accounts", |row| row.get(0).map(AccountId))
    }

    /// Returns an account; none when it does not exist. A row that cannot be read is an error; see
    /// [`SkipUnreadable`](crate::store::SkipUnreadable).
    pub fn get(self, id: &AccountId) -> Result<Option<Account>> {
        query_optional(
            self.0,
            &format!("{COLUMNS} WHERE account = ?1"),
            [id.as_str()],
            "reading an account",
            account_row,
        )
    }

    /// Returns the account under which the nightly job asks its questions: the first that is not retired, a mailbox
    /// before the local one.
    pub fn first_unretired(self) -> Result<Option<AccountId>> {
        let sql = "SELECT account FROM account WHERE mode <> 'retired' ORDER BY kind = 'local', account LIMIT 1";
        query_optional(self.0, sql, [], "finding an account", |row| row.get(0).map(AccountId))
    }
}
