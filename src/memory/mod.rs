//! What was, found by meaning: an embedder, and two places for its vectors.
//!
//! A cache of the store. Losing it loses nothing, being without it stops nothing, and no account ever sees another's.

mod embedded;
mod fusion;
mod http_embedder;
pub mod index;
mod qdrant;
mod search;
mod static_embedder;
mod store_sync;
mod traits;

use std::sync::{Arc, Mutex};

pub use embedded::EmbeddedVectorStore;
pub use fusion::{FoundDocument, MatchKind, MatchReason};
pub use http_embedder::HttpEmbedder;
pub use qdrant::QdrantVectorStore;
pub use search::{HybridResults, MemoryQuery, Scope};
pub use static_embedder::StaticEmbedder;
pub use store_sync::{EmbeddingRound, MemoryStatus};
pub use traits::{
    DocKind, Embedder, Filter, MemoryError, MemoryFuture, MemoryResult, NearDocument, Snippet, VectorStore,
};

use crate::{
    clock::Clock,
    model::{AccountId, memory::MemorySettings},
    store::Store,
};

/// A cheap handle.
#[derive(Clone)]
pub struct Memory {
    store: Store,
    clock: Clock,
    embedder: Arc<dyn Embedder>,
    vectors: Arc<dyn VectorStore>,
    /// Loaded in the background; none when another embedder or another place is used.
    in_process: (Option<StaticEmbedder>, Option<EmbeddedVectorStore>),
    retry: Arc<Mutex<store_sync::MemoryBackoff>>,
}

impl Memory {
    /// As it is configured. Nothing is loaded and nobody is called before it is needed.
    pub fn open(settings: &MemorySettings, store: Store, clock: Clock) -> MemoryResult<Self> {
        let (embedder, table): (Arc<dyn Embedder>, _) = match &settings.embeddings {
            Some(endpoint) => (Arc::new(HttpEmbedder::new(endpoint.clone())?), None),
            None => {
                let table = StaticEmbedder::default();
                (Arc::new(table.clone()), Some(table))
            }
        };
        let shape = embedder.shape();
        let (vectors, embedded): (Arc<dyn VectorStore>, _) = match &settings.qdrant {
            Some(qdrant) => (Arc::new(QdrantVectorStore::new(qdrant, shape.dimension)?), None),
            None => {
                let embedded = EmbeddedVectorStore::new(store.clone(), shape);
                (Arc::new(embedded.clone()), Some(embedded))
            }
        };
        if let (Some(table), Some(_)) = (&table, &embedded) {
            store.set_embedder(table.embed_fn());
        }
        Ok(Self { store, clock, embedder, vectors, in_process: (table, embedded), retry: Arc::default() })
    }

    /// The documents of an account nearest in meaning to a text, best first.
    pub async fn search_dense(&self, account: &AccountId, text: &str, k: usize) -> MemoryResult<Vec<NearDocument>> {
        self.find_nearest(&Filter::account(account), text, k).await
    }

    /// The same among tasks only, or mails only.
    pub async fn find_nearest(&self, filter: &Filter, text: &str, k: usize) -> MemoryResult<Vec<NearDocument>> {
        self.ensure_same_origin()?;
        self.ensure_queries_allowed()?;
        let found = self.embed_and_search(filter, text, k).await;
        found.inspect_err(|error| {
            if !matches!(error, MemoryError::Store(_)) {
                self.block_queries(error);
            }
        })
    }

    async fn embed_and_search(&self, filter: &Filter, text: &str, k: usize) -> MemoryResult<Vec<NearDocument>> {
        let question = self.embedder.embed(&[text]).await?;
        match question.into_iter().next().flatten() {
            Some(vector) => self.vectors.top_k(&vector, filter, k).await,
            None => Ok(Vec::new()),
        }
    }

    /// Puts away what nobody has needed for a while; asked again and again by an idle daemon.
    pub fn unload_if_idle(&self) {
        self.in_process.0.iter().for_each(StaticEmbedder::unload_if_idle);
    }

    /// Loads what is kept in this process, on a thread of its own, so that the first mail does not wait for it.
    pub fn preload(&self) {
        let (table, embedded) = self.in_process.clone();
        let warm = move || {
            if let Some(table) = &table {
                table.load();
            }
            if let Some(Err(error)) = embedded.map(|embedded| embedded.load()) {
                tracing::warn!(%error, "the memory could not be loaded; it is tried again when it is asked");
            }
        };
        // Without the thread it is loaded when it is first needed.
        drop(std::thread::Builder::new().name("memory-warm".into()).spawn(warm));
    }
}
