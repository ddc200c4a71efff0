//! Vectors beside the tasks: stored by the writer in the transaction of their documents, walked in memory.

use std::sync::{Arc, PoisonError, RwLock};

use super::{
    index::{ScoredVector, VectorIndex, VectorShape},
    traits::{DocKind, Filter, MemoryFuture, MemoryResult, NearDocument, Snippet, VectorStore},
};
use crate::{
    model::vector::{decode, encode},
    store::{
        SkipUnreadable as _, Store, StoreError, StoreReader, Write,
        embedding::{EmbeddedDocument, VectorDocument, VectorRow},
    },
};

/// From here on a question is walked off the async threads: below, waking another thread costs more than the walk.
const BLOCKING_SCAN_ROWS: usize = 20_000;
/// Candidates for each document wanted: a document has a few pieces, and some rows may be gone.
const PER_DOCUMENT: usize = 8;

/// A cheap handle. Whatever process wrote a vector, the next question sees it.
#[derive(Clone)]
pub struct EmbeddedVectorStore {
    store: Store,
    shape: VectorShape,
    loaded: Arc<RwLock<LoadedIndex>>,
}

struct LoadedIndex {
    index: VectorIndex,
    /// The newest row that was looked at.
    newest_row: i64,
    /// Rows that are not vectors of this dimension.
    broken: Vec<i64>,
}

impl EmbeddedVectorStore {
    pub fn new(store: Store, shape: VectorShape) -> Self {
        let loaded = LoadedIndex::empty(shape);
        Self { store, shape, loaded: Arc::new(RwLock::new(loaded)) }
    }

    /// Reads what is stored, so that nobody waits for it later.
    pub fn load(&self) -> MemoryResult<()> {
        Ok(self.store.read_blocking(|reader| self.catch_up(reader).map(drop))?)
    }

    /// Rows that are no vectors, told once. Their documents are to be learned anew.
    fn take_broken_documents(&self) -> MemoryResult<Vec<String>> {
        // While they are being read there is nothing to tell yet.
        let Ok(mut loaded) = self.loaded.try_write() else { return Ok(Vec::new()) };
        let broken = std::mem::take(&mut loaded.broken);
        drop(loaded);
        let docs = self.store.read_blocking(|reader| {
            broken
                .iter()
                .map(|id| Ok(reader.document_of_vector(*id).skip_unreadable()?.map(|found| found.document.doc)))
                .collect::<MemoryResult<Vec<_>, _>>()
        })?;
        Ok(docs.into_iter().flatten().collect())
    }

    /// Loads what this reader sees and is not loaded yet. The newest it sees: others may see more.
    fn catch_up(&self, reader: &StoreReader<'_>) -> MemoryResult<i64, crate::store::StoreError> {
        let last = self.loaded.read().unwrap_or_else(PoisonError::into_inner).newest_row;
        let newest = reader.newest_vector_id()?;
        if newest > last {
            let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
            let last = loaded.newest_row;
            reader.visit_vectors_after(last, |row| loaded.add_row(self.shape.dimension, row))?;
        }
        Ok(newest)
    }

    /// All of it anew; nobody meets it empty.
    fn reload(&self, reader: &StoreReader<'_>) -> MemoryResult<(), crate::store::StoreError> {
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        *loaded = LoadedIndex::empty(self.shape);
        reader.visit_vectors_after(0, |row| loaded.add_row(self.shape.dimension, row))
    }

    fn search_index(&self, query: &[f32], filter: &Filter, k: usize) -> MemoryResult<Vec<NearDocument>> {
        let newest = self.store.read_blocking(|reader| self.catch_up(reader))?;
        let (found, gone) = self.nearest_documents(newest, query, filter, k)?;
        if gone == 0 || (found.len() == k && gone <= k) {
            return Ok(found);
        }
        // Too much of what was loaded is not there any more.
        self.store.read_blocking(|reader| self.reload(reader))?;
        Ok(self.nearest_documents(newest, query, filter, k)?.0)
    }

    /// The documents, and how many rows were gone. The walk holds no reader; what is newer than `newest` came meanwhile,
    /// and is not missed.
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
        let documents = self.store.read_blocking(|reader| {
            let (mut found, mut gone) = (Vec::<NearDocument>::new(), 0);
            for ScoredVector { vector_id, score } in candidates {
                if found.len() == k {
                    break;
                }
                let document = reader.document_of_vector(vector_id);
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
        })?;
        Ok(documents)
    }

    fn clear_loaded(&self) {
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        *loaded = LoadedIndex::empty(self.shape);
    }

    /// Each document's pieces, by the numbers the store knows the documents by.
    fn group_by_document(&self, snippets: &[Snippet]) -> MemoryResult<Vec<EmbeddedDocument>> {
        let learned = self.store.read_blocking(|reader| {
            let mut learned: Vec<EmbeddedDocument> = Vec::new();
            for Snippet { doc, number, vector, .. } in snippets {
                let Some(doc_id) = reader.doc_id(doc)? else { continue };
                let piece = (*number, encode(vector));
                match learned.iter_mut().rev().find(|known| known.doc_id == doc_id) {
                    Some(known) => known.vectors.get_or_insert_default().push(piece),
                    None => learned.push(EmbeddedDocument { doc_id, stamp: 0, vectors: Some(vec![piece]) }),
                }
            }
            Ok(learned)
        })?;
        Ok(learned)
    }
}

impl LoadedIndex {
    fn empty(shape: VectorShape) -> Self {
        Self { index: VectorIndex::new(shape), newest_row: 0, broken: Vec::new() }
    }

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
            // While it is being read by another thread, this one has better things to do than wait.
            let small = self
                .loaded
                .try_read()
                .is_ok_and(|loaded| loaded.newest_row > 0 && loaded.index.len() < BLOCKING_SCAN_ROWS);
            if small {
                return self.search_index(query, filter, k);
            }
            let (own, query, filter) = (self.clone(), query.to_vec(), filter.clone());
            let looked = tokio::task::spawn_blocking(move || own.search_index(&query, &filter, k)).await;
            looked.map_err(|_| crate::store::StoreError::Stopped)?
        })
    }

    fn count(&self) -> MemoryFuture<'_, u64> {
        Box::pin(async move { Ok(self.store.read(|reader| reader.vector_count()).await?) })
    }

    /// Rows that turned out to be no vectors are made anew; the others are as good as the database.
    fn check_intact(&self) -> MemoryFuture<'_, bool> {
        Box::pin(async move {
            let docs = self.take_broken_documents()?;
            if !docs.is_empty() {
                tracing::warn!(documents = docs.len(), "stored vectors could not be read; they are made anew");
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
