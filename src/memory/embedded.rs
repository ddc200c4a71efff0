//! The vector store of this process: the rows are in the database, and queries scan an index of them in memory.
//!
//! The store's writer commits a vector in the transaction of its document. The index only follows: a row that is gone
//! from the database is never returned.

use std::sync::{Arc, PoisonError, RwLock};

use super::{
    index::{ScoredVector, VectorIndex, VectorShape},
    traits::{DocKind, Filter, MemoryFuture, MemoryResult, NearDocument, Snippet, VectorStore},
};
use crate::{
    document::{
        EmbeddedDocument, VectorDocument, VectorRow,
        int8_vector::{decode, encode},
    },
    store::{SkipUnreadable as _, Store, StoreError, StoreReader, Write},
};

/// From this many rows on, a scan runs on a blocking thread. Below, waking that thread costs more than the scan.
const BLOCKING_SCAN_ROWS: usize = 20_000;
/// How many candidates are taken for each document wanted: a document has several pieces, and some rows may be gone.
const PER_DOCUMENT: usize = 8;

/// The vectors of the database. Cheap to clone. A query sees every vector that is committed, by whichever process.
#[derive(Clone)]
pub struct EmbeddedVectorStore {
    store: Store,
    shape: VectorShape,
    loaded: Arc<RwLock<LoadedIndex>>,
}

/// The index in memory, and how far it has followed the database.
struct LoadedIndex {
    index: VectorIndex,
    /// The newest row that was read.
    newest_row: i64,
    /// Rows that cannot be decoded as vectors of this dimension. Their documents must be embedded again.
    broken: Vec<i64>,
}

impl EmbeddedVectorStore {
    /// Creates the store without loading any vectors.
    pub fn new(store: Store, shape: VectorShape) -> Self {
        let loaded = LoadedIndex::empty(shape);
        Self { store, shape, loaded: Arc::new(RwLock::new(loaded)) }
    }

    /// Reads the stored vectors into memory, so that the first query does not wait for it.
    pub fn load(&self) -> MemoryResult<()> {
        Ok(self.store.read_blocking(|reader| self.catch_up(reader).map(drop))?)
    }

    /// Returns the documents of rows that could not be decoded, and forgets those rows.
    fn take_broken_documents(&self) -> MemoryResult<Vec<String>> {
        // While another thread loads the index, its broken rows are not known yet.
        let Ok(mut loaded) = self.loaded.try_write() else { return Ok(Vec::new()) };
        let broken = std::mem::take(&mut loaded.broken);
        drop(loaded);
        let docs = self.store.read_blocking(|reader| {
            broken
                .iter()
                .map(|id| Ok(reader.vectors().document_of(*id).skip_unreadable()?.map(|found| found.document.doc)))
                .collect::<MemoryResult<Vec<_>, _>>()
        })?;
        Ok(docs.into_iter().flatten().collect())
    }

    /// Adds the rows that this reader sees and the index lacks. Returns the newest row that this reader sees.
    fn catch_up(&self, reader: &StoreReader<'_>) -> MemoryResult<i64, StoreError> {
        let last = self.loaded.read().unwrap_or_else(PoisonError::into_inner).newest_row;
        let newest = reader.vectors().newest_id()?;
        if newest > last {
            let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
            let last = loaded.newest_row;
            reader.vectors().visit_after(last, |row| loaded.add_row(self.shape.dimension, row))?;
        }
        Ok(newest)
    }

    /// Builds the index again from all rows. The lock is held throughout, so that no query sees it half-filled.
    fn reload(&self, reader: &StoreReader<'_>) -> MemoryResult<(), StoreError> {
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        *loaded = LoadedIndex::empty(self.shape);
        reader.vectors().visit_after(0, |row| loaded.add_row(self.shape.dimension, row))
    }

    /// Searches the index after bringing it up to date, and builds it again when too many of its rows are gone.
    fn search_index(&self, query: &[f32], filter: &Filter, k: usize) -> MemoryResult<Vec<NearDocument>> {
        let newest = self.store.read_blocking(|reader| self.catch_up(reader))?;
        let (found, gone) = self.nearest_documents(newest, query, filter, k)?;
        if gone == 0 || (found.len() == k && gone <= k) {
            return Ok(found);
        }
        // Rows that are gone took the places of others among the candidates.
        self.store.read_blocking(|reader| self.reload(reader))?;
        Ok(self.nearest_documents(newest, query, filter, k)?.0)
    }

    /// Returns the nearest documents, and how many candidates are gone from the database. The scan holds no reader, so
    /// a row newer than `newest` may be invisible to the reader used afterwards; it does not count as gone.
    fn nearest_documents(
        &self,
        newest: i64,
        query: &[f32],
        filter: &Filter,
        k: usize,
    ) -> MemoryResult<(Vec<NearDocument>, usize)> {
        let candidates = {
            let loaded = self.loaded.read().unwrap_or_else(PoisonError::into_inner);
            loaded.index.nearest(query, filter, k.saturating_mul(PER_DOCUMENT))
        };
        if candidates.is_empty() {
            return Ok((Vec::new(), 0));
        }
        Ok(self.store.read_blocking(|reader| resolve_candidates(reader, candidates, newest, k))?)
    }

    /// Empties the index.
    fn clear_loaded(&self) {
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        *loaded = LoadedIndex::empty(self.shape);
    }

    /// Returns the snippets encoded and grouped by document, under the row ids of the documents. Unknown documents are
    /// left out.
    fn group_by_document(&self, snippets: &[Snippet]) -> MemoryResult<Vec<EmbeddedDocument>> {
        let documents = self.store.read_blocking(|reader| {
            let mut documents: Vec<EmbeddedDocument> = Vec::new();
            for Snippet { doc, number, vector, .. } in snippets {
                let Some(doc_id) = reader.vectors().doc_id(doc)? else { continue };
                let piece = (*number, encode(vector));
                match documents.iter_mut().rev().find(|known| known.doc_id == doc_id) {
                    Some(known) => known.vectors.get_or_insert_default().push(piece),
                    None => documents.push(EmbeddedDocument { doc_id, stamp: 0, vectors: Some(vec![piece]) }),
                }
            }
            Ok(documents)
        })?;
        Ok(documents)
    }
}

/// Returns the first `k` documents of the candidates, each once, and how many candidates up to `newest` are gone from
/// the database. A row that cannot be read is skipped.
fn resolve_candidates(
    reader: &StoreReader<'_>,
    candidates: Vec<ScoredVector>,
    newest: i64,
    k: usize,
) -> Result<(Vec<NearDocument>, usize), StoreError> {
    let (mut found, mut gone) = (Vec::<NearDocument>::new(), 0);
    for ScoredVector { vector_id, score } in candidates {
        if found.len() == k {
            break;
        }
        let document = reader.vectors().document_of(vector_id);
        if document.as_ref().is_err_and(StoreError::is_unreadable) {
            continue;
        }
        match document? {
            Some(row) if found.iter().any(|near| near.doc == row.document.doc) => {}
            Some(VectorDocument { document, number }) => {
                let (doc, score) = (document.doc.clone(), score.clamp(-1.0, 1.0));
                found.push(NearDocument { doc, number, score, document: Some(document) });
            }
            None => gone += usize::from(vector_id <= newest),
        }
    }
    Ok((found, gone))
}

impl LoadedIndex {
    fn empty(shape: VectorShape) -> Self {
        Self { index: VectorIndex::new(shape), newest_row: 0, broken: Vec::new() }
    }

    /// Adds a row of the database, or notes it as broken.
    fn add_row(&mut self, dimension: usize, row: VectorRow<'_>) {
        self.newest_row = row.vector_id;
        match (decode(row.bytes, dimension), row.kind.parse::<DocKind>()) {
            (Some(vector), Ok(kind)) => self.index.add(row.account, kind, row.vector_id, vector),
            _ => self.broken.push(row.vector_id),
        }
    }
}

impl VectorStore for EmbeddedVectorStore {
    fn place(&self) -> String {
        "embedded".into()
    }

    fn upsert<'a>(&'a self, snippets: &'a [Snippet]) -> MemoryFuture<'a, ()> {
        Box::pin(async move {
            self.store.write(Write::RecordEmbeddings(self.group_by_document(snippets)?)).await?;
            Ok(())
        })
    }

    fn delete<'a>(&'a self, docs: &'a [String]) -> MemoryFuture<'a, ()> {
        Box::pin(async move {
            self.store.write(Write::DeleteVectors { docs: docs.to_vec(), reembed: false }).await?;
            Ok(())
        })
    }

    fn top_k<'a>(&'a self, query: &'a [f32], filter: &'a Filter, k: usize) -> MemoryFuture<'a, Vec<NearDocument>> {
        Box::pin(async move {
            // An index that another thread is loading would block this async thread.
            let is_small = self
                .loaded
                .try_read()
                .is_ok_and(|loaded| loaded.newest_row > 0 && loaded.index.len() < BLOCKING_SCAN_ROWS);
            if is_small {
                return self.search_index(query, filter, k);
            }
            let (embedded, query, filter) = (self.clone(), query.to_vec(), filter.clone());
            let searching = tokio::task::spawn_blocking(move || embedded.search_index(&query, &filter, k));
            searching.await.map_err(|_| StoreError::Stopped)?
        })
    }

    fn count(&self) -> MemoryFuture<'_, u64> {
        Box::pin(async move { Ok(self.store.read(|reader| reader.vectors().count()).await?) })
    }

    /// Always true: broken rows are embedded again here, and all others are as intact as the database.
    fn check_intact(&self) -> MemoryFuture<'_, bool> {
        Box::pin(async move {
            let docs = self.take_broken_documents()?;
            if !docs.is_empty() {
                tracing::warn!(
                    documents = docs.len(),
                    "stored search vectors could not be read; their documents are embedded again"
                );
                self.store.write(Write::DeleteVectors { docs, reembed: true }).await?;
            }
            Ok(true)
        })
    }

    fn clear(&self) -> MemoryFuture<'_, ()> {
        Box::pin(async move {
            self.store.write(Write::DeleteAllVectors).await?;
            self.clear_loaded();
            Ok(())
        })
    }
}
