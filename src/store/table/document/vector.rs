//! The vectors of documents, and the list of documents that are due for embedding.
//!
//! A document is stored either with its vectors or as due, in one transaction, so that none is forgotten. Like the
//! index, vectors are a cache of tasks and mails.

use rusqlite::Connection;

use crate::{
    document::{DueDocument, EmbeddedDocument, VectorDocument, VectorRow, snippet},
    model::{AccountId, Mail, TaskId},
    store::{
        error::{Result, SkipUnreadable as _, StoreContext},
        prepared::PreparedVectors,
        table::{
            decode_json_column, document::search, execute, query_optional, query_readable, setting,
            setting::SettingReader, task::TaskReader,
        },
    },
};

/// The setting that names where vectors are kept and which embedder made them.
const PLACE: &str = "memory_place";
/// The setting that is not empty while the place outside the database still holds vectors from before.
const TO_CLEAR: &str = "memory_to_clear";
/// The setting that is not empty while the place of the vectors cannot be reached: since when, and why.
pub const MEMORY_TROUBLE: &str = "memory_trouble";

/// The account and the kind of the document that a vector belongs to. Searches filter by both.
pub(in crate::store) struct VectorOwner<'a> {
    pub(in crate::store) account: &'a str,
    pub(in crate::store) kind: &'a str,
}

/// Whether the document may have vectors from before, which must be deleted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum PreviousVectors {
    None,
    Some,
}

/// Stores the vectors of a document, or marks it as due.
pub(in crate::store) fn store_vectors(
    connection: &Connection,
    doc_id: i64,
    owner: &VectorOwner<'_>,
    vectors: &PreparedVectors,
    before: PreviousVectors,
) -> Result<()> {
    match vectors {
        PreparedVectors::Unchanged if before == PreviousVectors::Some => Ok(()),
        // A document without stored vectors has nothing that could be unchanged.
        PreparedVectors::Unchanged | PreparedVectors::Due => mark_due(connection, doc_id),
        PreparedVectors::Made(made) => {
            if before == PreviousVectors::Some {
                execute(connection, "DELETE FROM search_due WHERE doc_id = ?1", [doc_id], "settling vectors")?;
            }
            let pieces = made.iter().enumerate().filter_map(|(nth, bytes)| Some((nth, bytes.as_ref()?)));
            replace_vectors(connection, doc_id, owner, pieces, before)
        }
    }
}

/// Replaces the vectors of a document. They get new ids, so that a reader that has read up to the old ones finds them.
fn replace_vectors<'a>(
    connection: &Connection,
    doc_id: i64,
    owner: &VectorOwner<'_>,
    pieces: impl Iterator<Item = (usize, &'a Vec<u8>)>,
    before: PreviousVectors,
) -> Result<()> {
    if before == PreviousVectors::Some {
        execute(connection, "DELETE FROM search_vector WHERE doc_id = ?1", [doc_id], "forgetting vectors")?;
    }
    for (number, bytes) in pieces {
        let sql = "INSERT INTO search_vector (doc_id, number, account, kind, bytes) VALUES (?1, ?2, ?3, ?4, ?5)";
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        execute(connection, sql, (doc_id, number, owner.account, owner.kind, bytes), "remembering a vector")?;
    }
    Ok(())
}

/// Marks a document as due. A new stamp tells an embedding that is under way that the document has changed meanwhile.
fn mark_due(connection: &Connection, doc_id: i64) -> Result<()> {
    let sql = "INSERT INTO search_due (doc_id, stamp) VALUES (?1, 1) ON CONFLICT DO UPDATE SET stamp = stamp + 1";
    execute(connection, sql, [doc_id], "marking a document").map(drop)
}

/// Stores vectors that were made of due documents. A document that has changed meanwhile has another stamp and stays
/// due. Without vectors the document is only no longer due, because they are kept elsewhere.
pub(in crate::store) fn record_embeddings(connection: &Connection, learned: &[EmbeddedDocument]) -> Result<()> {
    for EmbeddedDocument { doc_id, stamp, vectors: pieces } in learned {
        if let Some(pieces) = pieces {
            let sql = "SELECT account, substr(doc, 1, instr(doc, ':') - 1) FROM search_doc WHERE doc_id = ?1";
            let owner = query_optional(connection, sql, [doc_id], "looking for a document", |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
            })?;
            if let Some((account, kind)) = owner {
                let pieces = pieces.iter().map(|(number, bytes)| (usize::from(*number), bytes));
                let owner = VectorOwner { account: &account, kind: &kind };
                replace_vectors(connection, *doc_id, &owner, pieces, PreviousVectors::Some)?;
            }
        }
        let sql = "DELETE FROM search_due WHERE doc_id = ?1 AND stamp = ?2";
        execute(connection, sql, (doc_id, stamp), "settling vectors")?;
    }
    Ok(())
}

/// Deletes the vectors of documents; with `again`, marks the documents as due.
pub(in crate::store) fn delete_vectors(connection: &Connection, docs: &[String], again: bool) -> Result<()> {
    for doc in docs {
        let sql = "SELECT doc_id FROM search_doc WHERE doc = ?1";
        let Some(doc_id) =
            query_optional(connection, sql, [doc], "looking for a document", |row| row.get::<_, i64>(0))?
        else {
            continue;
        };
        execute(connection, "DELETE FROM search_vector WHERE doc_id = ?1", [doc_id], "forgetting vectors")?;
        if again {
            mark_due(connection, doc_id)?;
        }
    }
    Ok(())
}

/// Deletes all vectors.
pub(in crate::store) fn delete_all_vectors(connection: &Connection) -> Result<()> {
    execute(connection, "DELETE FROM search_vector", [], "forgetting vectors").map(drop)
}

/// Deletes all vectors, marks every document as due, and stores the new place. With `elsewhere`, that place must be
/// emptied before vectors are written to it.
pub(in crate::store) fn reset_memory(connection: &Connection, place: &str, elsewhere: bool) -> Result<()> {
    delete_all_vectors(connection)?;
    let sql = "INSERT INTO search_due (doc_id, stamp) SELECT doc_id, 1 FROM search_doc WHERE true
               ON CONFLICT DO UPDATE SET stamp = stamp + 1";
    execute(connection, sql, [], "starting the memory anew")?;
    setting::set(connection, PLACE, place)?;
    setting::set(connection, TO_CLEAR, if elsewhere { "1" } else { "" })
}

/// Records that the place outside the database was emptied.
pub(in crate::store) fn mark_memory_cleared(connection: &Connection) -> Result<()> {
    setting::set(connection, TO_CLEAR, "")
}

/// Deletes vectors whose document does not exist.
pub(in crate::store) fn drop_orphans(connection: &Connection) -> Result<()> {
    let sql = "DELETE FROM search_vector WHERE doc_id NOT IN (SELECT doc_id FROM search_doc)";
    execute(connection, sql, [], "forgetting orphans").map(drop)
}

/// Queries of vectors, and of documents that are due for embedding.
#[derive(Clone, Copy)]
pub struct VectorReader<'a>(pub(in crate::store) &'a Connection);

impl VectorReader<'_> {
    /// Returns where vectors are kept and which embedder made them; none before the first start of the memory.
    pub fn memory_place(self) -> Result<Option<String>> {
        SettingReader(self.0).get(PLACE)
    }

    /// Returns whether the place outside the database must be emptied before it is used.
    pub fn must_clear_memory(self) -> Result<bool> {
        Ok(SettingReader(self.0).get(TO_CLEAR)?.is_some_and(|text| !text.is_empty()))
    }

    /// Returns since when and why the place of the vectors cannot be reached; none when it can.
    pub fn memory_trouble(self) -> Result<Option<String>> {
        Ok(SettingReader(self.0).get(MEMORY_TROUBLE)?.filter(|text| !text.is_empty()))
    }

    /// Calls `show` for every vector with a larger id than `last`, in the order they were stored.
    pub fn visit_after(self, last: i64, mut show: impl FnMut(VectorRow<'_>)) -> Result<()> {
        let doing = "reading vectors";
        let sql = "SELECT vector_id, account, kind, bytes FROM search_vector WHERE vector_id > ?1 ORDER BY vector_id";
        let mut statement = self.0.prepare_cached(sql).context(doing)?;
        let mut rows = statement.query([last]).context(doing)?;
        while let Some(row) = rows.next().context(doing)? {
            let text = |column| row.get_ref(column).map(|value| value.as_str().unwrap_or_default());
            let bytes = row.get_ref(3).context(doing)?.as_blob().unwrap_or_default();
            let (account, kind) = (text(1).context(doing)?, text(2).context(doing)?);
            show(VectorRow { vector_id: row.get(0).context(doing)?, account, kind, bytes });
        }
        Ok(())
    }

    /// Returns the document of a vector; none when the vector was deleted.
    pub fn document_of(self, vector_id: i64) -> Result<Option<VectorDocument>> {
        let sql = "SELECT d.doc, d.title, d.at, d.person, d.thread, v.number
                   FROM search_vector v JOIN search_doc d USING (doc_id) WHERE v.vector_id = ?1";
        query_optional(self.0, sql, [vector_id], "reading a vector", |row| {
            Ok(VectorDocument { document: search::document_row(row)?, number: row.get(5)? })
        })
    }

    /// Returns the largest id of a vector; 0 when there is none.
    pub fn newest_id(self) -> Result<i64> {
        let sql = "SELECT coalesce(max(vector_id), 0) FROM search_vector";
        query_optional(self.0, sql, [], "reading vectors", |row| row.get(0)).map(Option::unwrap_or_default)
    }

    /// Returns the number of vectors in the database.
    pub fn count(self) -> Result<u64> {
        self.query_count("SELECT count(*) FROM search_vector")
    }

    /// Returns the number of documents that are due for embedding.
    pub fn due_document_count(self) -> Result<u64> {
        self.query_count("SELECT count(*) FROM search_due")
    }

    /// Returns the number of all documents.
    pub fn document_count(self) -> Result<u64> {
        self.query_count("SELECT count(*) FROM search_doc")
    }

    fn query_count(self, sql: &str) -> Result<u64> {
        query_optional(self.0, sql, [], "counting", |row| row.get::<_, i64>(0))
            .map(|n| n.unwrap_or_default().unsigned_abs())
    }

    /// Returns the first documents that are due, with the snippets to embed. A document that cannot be read has no
    /// snippets.
    pub fn due_documents(self, limit: usize) -> Result<Vec<DueDocument>> {
        let sql = "SELECT u.doc_id, u.stamp, coalesce(d.doc, ''), coalesce(d.account, '') FROM search_due u
                   LEFT JOIN search_doc d USING (doc_id) ORDER BY u.doc_id LIMIT ?1";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut due = query_readable(self.0, sql, [limit], "listing what is due", |row| {
            let (doc_id, stamp, doc, account) = (row.get(0)?, row.get(1)?, row.get(2)?, AccountId(row.get(3)?));
            Ok(DueDocument { doc_id, stamp, doc, account, snippets: Vec::new() })
        })?;
        for due in &mut due {
            due.snippets = self.snippets_of(&due.doc)?;
        }
        Ok(due)
    }

    /// Returns the number of a document; none when it does not exist.
    pub fn doc_id(self, doc: &str) -> Result<Option<i64>> {
        query_optional(self.0, "SELECT doc_id FROM search_doc WHERE doc = ?1", [doc], "looking for a document", |row| {
            row.get(0)
        })
    }

    /// Returns the texts that the vectors of a document are made of.
    fn snippets_of(self, doc: &str) -> Result<Vec<String>> {
        match doc.split_once(':') {
            Some(("task", id)) => {
                let task = id
                    .parse::<TaskId>()
                    .ok()
                    .map(|id| TaskReader(self.0).get(id).skip_unreadable())
                    .transpose()?
                    .flatten();
                Ok(task.map(|row| snippet::of_task(&row.task)).unwrap_or_default())
            }
            Some(("mail", id)) => {
                let sql = "SELECT body FROM mail WHERE mail_id = ?1";
                let mail =
                    query_optional(self.0, sql, [id], "reading a mail", |row| decode_json_column::<Mail>(row, 0))
                        .skip_unreadable()?;
                Ok(mail.map(|mail| snippet::of_mail(&mail)).unwrap_or_default())
            }
            _ => Ok(Vec::new()),
        }
    }
}
