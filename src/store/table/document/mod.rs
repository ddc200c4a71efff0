//! Documents: tasks and mails as they are found, by words and by vectors.

pub(in crate::store) mod search;
pub(in crate::store) mod search_index;
pub(in crate::store) mod vector;

use rusqlite::Connection;

/// Queries of documents as they are found by words.
#[derive(Clone, Copy)]
pub struct DocumentReader<'a>(pub(in crate::store) &'a Connection);
