//! Rows of the database that cannot be read.

use serde::Serialize;

/// The rows that cannot be read as their type. Lists leave them out, work on them is parked, and `doctor` names them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct UnreadableRows {
    pub count: u64,
    /// The first of them, at most as many as are shown.
    pub rows: Vec<UnreadableRow>,
}

/// One column of a row that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadableRow {
    pub table: &'static str,
    /// The key by which a person finds the row.
    pub key: String,
    pub column: &'static str,
    /// What is wrong with the column.
    pub problem: String,
}
