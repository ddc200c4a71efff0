//! All SQL: one folder per area, one file per concern. Functions are named after intent.

pub(super) mod account;
pub(super) mod approval;
pub(super) mod audit;
pub(super) mod document;
pub(super) mod mail;
pub(super) mod nightly;
pub(super) mod outbox;
pub(super) mod request;
pub(super) mod row_check;
pub(super) mod run;
pub(super) mod setting;
pub(super) mod task;

use std::str::FromStr;

use rusqlite::{Connection, Params, Row, types::Type};
use serde::de::DeserializeOwned;

use super::error::{Result, StoreContext, is_unreadable, log_skipped_row};
use crate::model::ReplyJson;

/// A text column as the type it stands for.
fn parse_column<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T: FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    row.get_ref(column)?.as_str()?.parse().map_err(|error| unreadable_column_error(column, error))
}

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

/// SQL for a value out of a JSON column; null where the column holds none. Without the question one row that is no JSON
/// would fail the statement.
fn json_extract_sql(column: &str, path: &str) -> String {
    format!("CASE WHEN json_valid({column}) THEN json_extract({column}, '{path}') END")
}

/// A text column that holds JSON.
fn decode_json_column<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(row.get_ref(column)?.as_str()?).map_err(|error| unreadable_column_error(column, error))
}

/// As it stands: whoever asked for it reads it.
fn read_reply_column(row: &Row<'_>, column: usize) -> rusqlite::Result<ReplyJson> {
    row.get(column).map(ReplyJson::from_recorded)
}

fn unreadable_column_error(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}

/// One statement, compiled once per connection; the count of rows it changed.
fn execute(connection: &Connection, sql: &str, params: impl Params, doing: &str) -> Result<usize> {
    connection.prepare_cached(sql).and_then(|mut statement| statement.execute(params)).context(doing)
}

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

/// Every row that can be read; one that cannot is left out, so that it fails no list, no loop and no night.
fn query_readable<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    doing: &str,
    map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    query_readable_up_to(connection, sql, params, doing, usize::MAX, map)
}

/// The first row that can be read, where it does not matter which one it is.
fn query_first_readable<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    doing: &str,
    map: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>> {
    Ok(query_readable_up_to(connection, sql, params, doing, 1, map)?.pop())
}

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

/// Every row, or an error: for rows that mean something only together.
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
