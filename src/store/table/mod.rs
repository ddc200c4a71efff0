//! All SQL of the program: one folder per area, one file per concern.
//!
//! A function is named after its intent and takes and returns plain values. The helpers below decide what happens to a
//! row that cannot be read: a list skips it, a single read returns an error.

pub(super) mod account;
pub(super) mod approval;
pub(super) mod audit;
pub(super) mod conversation;
pub(super) mod document;
pub(super) mod mail;
pub(super) mod nightly;
pub(super) mod outbox;
pub(super) mod request;
pub(super) mod row_check;
pub(super) mod run;
pub(super) mod setting;
pub(super) mod task;
pub(super) mod team;

use std::str::FromStr;

use rusqlite::{Connection, Params, Row, types::Type};
use serde::de::DeserializeOwned;

use super::error::{Result, StoreContext, is_unreadable, log_skipped_row};
use crate::model::ReplyJson;

/// Parses a text column as the type it stands for.
fn parse_column<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T: FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    row.get_ref(column)?.as_str()?.parse().map_err(|error| unreadable_column_error(column, error))
}

/// Parses a text column as the type it stands for; null is none.
fn parse_optional_column<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>>
where
    T: FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    let text = row.get_ref(column)?.as_str_or_null()?;
    text.map(|text| text.parse().map_err(|error| unreadable_column_error(column, error))).transpose()
}

/// Reads a column that holds an empty text where there is no value yet.
fn parse_column_unless_empty<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>>
where
    T: FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    if row.get_ref(column)?.as_str()?.is_empty() { Ok(None) } else { parse_column(row, column).map(Some) }
}

/// Returns SQL for a value in a JSON column; null where there is none. The check is needed because one row with invalid
/// JSON would fail the whole statement.
fn json_extract_sql(column: &str, path: &str) -> String {
    format!("CASE WHEN json_valid({column}) THEN json_extract({column}, '{path}') END")
}

/// Decodes a text column that holds JSON.
fn decode_json_column<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(row.get_ref(column)?.as_str()?).map_err(|error| unreadable_column_error(column, error))
}

/// Returns a recorded reply as stored. Only whoever asked for the reply knows its type and decodes it.
fn read_reply_column(row: &Row<'_>, column: usize) -> rusqlite::Result<ReplyJson> {
    row.get(column).map(ReplyJson::from_recorded)
}

/// Returns the error by which an unreadable row is recognised later.
fn unreadable_column_error(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}

/// Runs a statement, compiled once per connection. Returns the number of rows that it changed.
fn execute(connection: &Connection, sql: &str, params: impl Params, doing: &str) -> Result<usize> {
    connection.prepare_cached(sql).and_then(|mut statement| statement.execute(params)).context(doing)
}

/// Returns the first row, or none when there is no row. A row that cannot be read is an error.
fn query_optional<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    doing: &str,
    map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>> {
    let mut statement = connection.prepare_cached(sql).context(doing)?;
    let mut rows = statement.query_map(params, map).context(doing)?;
    rows.next().transpose().context(doing)
}

/// Returns every row that can be read. One that cannot is skipped and logged, so that it fails no list, no loop and no
/// nightly job.
fn query_readable<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    doing: &str,
    map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    query_readable_up_to(connection, sql, params, doing, usize::MAX, map)
}

/// Returns the first row that can be read, for queries where any of the rows will do.
fn query_first_readable<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    doing: &str,
    map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>> {
    Ok(query_readable_up_to(connection, sql, params, doing, 1, map)?.pop())
}

/// Returns at most `most` rows that can be read, and skips the others.
fn query_readable_up_to<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    doing: &str,
    most: usize,
    mut map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql).context(doing)?;
    let mut rows = statement.query(params).context(doing)?;
    let mut found = Vec::new();
    while found.len() < most
        && let Some(row) = rows.next().context(doing)?
    {
        match map(row) {
            Ok(value) => found.push(value),
            Err(error) if is_unreadable(&error) => log_skipped_row(doing, &format!("{:?}", row.get_ref(0))),
            Err(error) => return Err(error).context(doing),
        }
    }
    Ok(found)
}

/// Returns every row or an error, for rows that mean something only together.
fn query_all<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    doing: &str,
    map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql).context(doing)?;
    statement.query_map(params, map).context(doing)?.collect::<rusqlite::Result<_>>().context(doing)
}
