//! Search by meaning: an embedder that turns text into vectors, and a vector store in this process or on a Qdrant
//! server.
//!
//! The vectors are a cache of the store: losing them loses no data, no work waits for them, and no search returns a
//! document of another account.

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

/// The search over tasks and mails. Cheap to clone; all clones share one state.
#[derive(Clone)]
pub struct Memory {
    store: Store,
    clock: Clock,
    embedder: Arc<dyn Embedder>,
    vectors: Arc<dyn VectorStore>,
    /// The embedder and the vector store of this process, for loading them in the background; none when an endpoint or
    /// a server is used instead.
    in_process: (Option<StaticEmbedder>, Option<EmbeddedVectorStore>),
    retry: Arc<Mutex<store_sync::MemoryBackoff>>,
}

impl Memory {
    /// Sets up the embedder and the vector store of the configuration. Nothing is loaded and no server is called yet.
    pub fn open(settings: &MemorySettings, store: Store, clock: Clock) -> MemoryResult<Self> {
        let (embedder, static_embedder): (Arc<dyn Embedder>, _) = match &settings.embeddings {
            Some(endpoint) => (Arc::new(HttpEmbedder::new(endpoint.clone())?), None),
            None => {
                let compiled_in = StaticEmbedder::default();
                (Arc::new(compiled_in.clone()), Some(compiled_in))
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
        // Only when both are in this process can a document commit in one transaction with its vectors.
        if let (Some(compiled_in), Some(_)) = (&static_embedder, &embedded) {
            store.set_embedder(compiled_in.embed_fn());
        }
        Ok(Self { store, clock, embedder, vectors, in_process: (static_embedder, embedded), retry: Arc::default() })
    }

    /// Returns the documents of an account that are nearest in meaning to a text, best first.
    pub async fn search_dense(&self, account: &AccountId, text: &str, k: usize) -> MemoryResult<Vec<NearDocument>> {
        self.find_nearest(&Filter::account(account), text, k).await
    }

    /// Returns the documents nearest in meaning to a text that pass a filter, best first. After a failure, further
    /// queries fail at once for some seconds.
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

    /// Embeds a text and searches for the nearest documents; none for a text without known words.
    async fn embed_and_search(&self, filter: &Filter, text: &str, k: usize) -> MemoryResult<Vec<NearDocument>> {
        let embedded = self.embedder.embed(&[text]).await?;
        match embedded.into_iter().next().flatten() {
            Some(vector) => self.vectors.top_k(&vector, filter, k).await,
            None => Ok(Vec::new()),
        }
    }

    /// Frees the table of the embedder if nothing was embedded since the last call. An idle daemon calls this
    /// regularly.
    pub fn unload_if_idle(&self) {
        self.in_process.0.iter().for_each(StaticEmbedder::unload_if_idle);
    }

    /// Loads the embedder and the vectors of this process on a thread of its own, so that the first mail does not wait.
    pub fn preload(&self) {
        let (static_embedder, embedded) = self.in_process.clone();
        let load = move || {
            if let Some(static_embedder) = &static_embedder {
                static_embedder.load();
            }
            if let Some(Err(error)) = embedded.map(|embedded| embedded.load()) {
                tracing::warn!(%error, "the search vectors could not be loaded; the next search tries again");
            }
        };
        // If the thread cannot be started, both are loaded when they are first needed.
        drop(std::thread::Builder::new().name("memory-warm".into()).spawn(load));
    }
}
