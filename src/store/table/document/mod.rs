//! Documents: tasks and mails as they are found, by words and by vectors.
//!
//! Everything in here is a cache of the tables of tasks and mails, and can be rebuilt from them.

pub(in crate::store) mod search;
pub(in crate::store) mod search_index;
pub(in crate::store) mod vector;

use rusqlite::Connection;

/// Full-text queries of documents.
#[derive(Clone, Copy)]
pub struct DocumentReader<'a>(pub(in crate::store) &'a Connection);
