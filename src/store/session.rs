//! The connection of the writer, and the index tokens that are not written yet.
//!
//! The full-text index flushes whenever a later statement keeps a journal of its own, and every flushed segment slows
//! each search down until it is merged. So tokens are queued until the end of the batch and written in one go.

use std::{cell::RefCell, collections::BTreeMap, ops::Deref};

use rusqlite::Connection;

use super::{error::Result, table::document::search_index};

/// The connection of the writer with its queued tokens. It dereferences to the connection.
pub(super) struct Session {
    connection: Connection,
    /// Tokens by document. Only the last tokens of a document in a batch are written.
    pending_tokens: RefCell<BTreeMap<i64, PendingTokens>>,
}

/// Tokens of a document that wait for the end of the batch.
struct PendingTokens {
    tokens: String,
    /// Whether the document was indexed before this batch, so that its old entry must be deleted.
    replaces: bool,
}

impl Session {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection, pending_tokens: RefCell::default() }
    }

    /// Queues the tokens of a document for the end of the batch. `known` says whether the document was indexed before.
    pub(super) fn queue_tokens(&self, doc_id: i64, tokens: String, known: bool) {
        let mut waiting = self.pending_tokens.borrow_mut();
        let replaces = waiting.get(&doc_id).map_or(known, |words| words.replaces);
        waiting.insert(doc_id, PendingTokens { tokens, replaces });
    }

    /// Writes the queued tokens. Must be called before every commit and before a savepoint is released.
    pub(super) fn flush_pending_tokens(&self) -> Result<()> {
        let waiting = self.pending_tokens.take();
        waiting.iter().try_for_each(|(id, words)| search_index::write_tokens(self, *id, &words.tokens, words.replaces))
    }

    /// Drops the queued tokens, because their writes were rolled back.
    pub(super) fn discard_pending_tokens(&self) {
        self.pending_tokens.take();
    }

    /// Closes the connection.
    pub(super) fn close(self) {
        // The last connection to close checkpoints the WAL into the file. If that fails, the next start does it.
        drop(self.connection.close());
    }
}

impl Deref for Session {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Session {
        let connection = Connection::open_in_memory().unwrap();
        let sql = "CREATE VIRTUAL TABLE search USING fts5(tokens, content='', contentless_delete=1, tokenize='ascii')";
        connection.execute_batch(sql).unwrap();
        Session::new(connection)
    }

    fn found(session: &Session, word: &str) -> Vec<i64> {
        let mut statement = session.prepare("SELECT rowid FROM search WHERE search MATCH ?1").unwrap();
        statement.query_map([word], |row| row.get(0)).unwrap().map(|id| id.unwrap()).collect()
    }

    #[test]
    fn words_are_found_once_settled_and_the_last_ones_count() {
        let session = session();
        session.queue_tokens(1, "draft lease".into(), false);
        session.queue_tokens(2, "lease".into(), false);
        session.queue_tokens(1, "final lease".into(), true);
        assert!(found(&session, "lease").is_empty());
        session.flush_pending_tokens().unwrap();
        assert_eq!(found(&session, "lease"), [1, 2]);
        assert_eq!((found(&session, "draft"), found(&session, "final")), (vec![], vec![1]));
        session.queue_tokens(1, "signed lease".into(), true);
        session.queue_tokens(1, "signed contract".into(), true);
        session.flush_pending_tokens().unwrap();
        assert_eq!((found(&session, "lease"), found(&session, "signed")), (vec![2], vec![1]));
    }

    #[test]
    fn what_was_taken_back_is_not_indexed_later() {
        let session = session();
        session.queue_tokens(1, "lease".into(), false);
        session.discard_pending_tokens();
        session.flush_pending_tokens().unwrap();
        assert!(found(&session, "lease").is_empty());
    }
}
