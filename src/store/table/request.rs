//! Requests that other commands leave for the running daemon, and its answers.

use rusqlite::Connection;

use super::{execute, parse_column, query_optional, query_readable};
use crate::{
    model::{Instant, RequestKind},
    store::error::Result,
};

/// Adds a request. Returns its number.
pub(in crate::store) fn add_request(connection: &Connection, kind: RequestKind, at: Instant) -> Result<i64> {
    let sql = "INSERT INTO request (kind, state, asked_at) VALUES (?1, 'asked', ?2)";
    execute(connection, sql, (kind.as_str(), at.to_string()), "leaving a request")?;
    Ok(connection.last_insert_rowid())
}

/// Closes a request with its answer; without an answer, marks it as being worked.
pub(in crate::store) fn update_request(connection: &Connection, request: i64, answer: Option<&str>) -> Result<()> {
    let state = if answer.is_some() { "answered" } else { "working" };
    let sql = "UPDATE request SET state = ?2, answer = ?3 WHERE request = ?1";
    execute(connection, sql, (request, state, answer.unwrap_or("")), "answering a request").map(drop)
}

/// Queries of requests to the daemon.
#[derive(Clone, Copy)]
pub struct RequestReader<'a>(pub(in crate::store) &'a Connection);

impl RequestReader<'_> {
    /// Returns the requests without an answer, oldest first. One of an unknown kind is unreadable and skipped.
    pub fn open(self) -> Result<Vec<(i64, RequestKind)>> {
        let sql = "SELECT request, kind FROM request WHERE state IN ('asked', 'working') ORDER BY request";
        query_readable(self.0, sql, [], "listing requests", |row| Ok((row.get(0)?, parse_column(row, 1)?)))
    }

    /// Returns the answer to a request; none while it has not been answered.
    pub fn answer(self, request: i64) -> Result<Option<String>> {
        let sql = "SELECT answer FROM request WHERE request = ?1 AND state = 'answered'";
        query_optional(self.0, sql, [request], "reading an answer", |row| row.get(0))
    }
}
