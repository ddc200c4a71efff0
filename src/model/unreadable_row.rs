//! Rows that cannot be read.

use serde::Serialize;

/// Rows that cannot be read as what they stand for. Lists leave them out, and what stands for work is parked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct UnreadableRows {
    pub count: u64,
    /// The first of them.
    pub rows: Vec<UnreadableRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadableRow {
    pub table: &'static str,
    /// By which a person finds it.
    pub key: String,
    pub column: &'static str,
    /// What is wrong with the column.
    pub problem: String,
}
