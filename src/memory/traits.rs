//! The two traits of the memory, `Embedder` and `VectorStore`, and the values that pass through them.

use std::{future::Future, pin::Pin};

use serde::Serialize;

use super::index::VectorShape;
use crate::{
    document::Document,
    model::{AccountId, text_enum::text_enum},
    store::StoreError,
};

/// A boxed future: an embedder or a vector store may be a server.
pub type MemoryFuture<'a, T> = Pin<Box<dyn Future<Output = MemoryResult<T>> + Send + 'a>>;
pub type MemoryResult<T, E = MemoryError> = std::result::Result<T, E>;

/// Why the memory cannot be used. Search by words goes on without it.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The server does not answer, or not in time. Nothing is lost: documents that are due wait in the store.
    #[error("{what} cannot be reached: {why}")]
    Unreachable { what: String, why: String },
    /// The server answered with an error, or with something that cannot be used.
    #[error("{what} refused: {why}")]
    Refused { what: String, why: String },
    /// The vectors were made by another embedder or for another place, so they cannot be compared with new ones. The
    /// worker makes them again when it starts.
    #[error("the memory was made by {found}, and this is {wanted}: start the worker, or `adjutant memory rebuild`")]
    OriginMismatch { found: String, wanted: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

text_enum! {
    /// The kinds of documents that are found; the prefix of a document's id.
    DocKind {
        Task = "task",
        Mail = "mail",
    }
}

impl DocKind {
    /// Returns the kind of a document id such as `task:<ulid>` or `mail:<n>`.
    pub fn from_doc_id(doc: &str) -> Option<Self> {
        doc.split_once(':')?.0.parse().ok()
    }
}

/// One piece of a task or mail with its vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Snippet {
    /// `task:<ulid>` or `mail:<n>`.
    pub doc: String,
    /// Which piece of the document this is, from 0.
    pub number: u8,
    pub account: AccountId,
    /// The embedding, normalised to length 1.
    pub vector: Vec<f32>,
}

/// Which documents a search may return. The account is required: no search crosses accounts.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    pub account: AccountId,
    /// Only documents of this kind; none for all kinds.
    pub kind: Option<DocKind>,
    /// Documents with a lower cosine similarity are not returned.
    pub min_cosine: f32,
}

impl Filter {
    /// Returns a filter that all documents of an account pass.
    pub fn account(account: &AccountId) -> Self {
        Self { account: account.clone(), kind: None, min_cosine: -1.0 }
    }
}

/// A document that a search by meaning found, by the nearest of its pieces.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NearDocument {
    pub doc: String,
    /// The nearest piece of the document.
    pub number: u8,
    /// The cosine similarity: 1 for the same meaning, 0 for unrelated texts.
    pub score: f32,
    /// The document itself, where it is stored beside its vectors and was read with them.
    #[serde(skip)]
    pub document: Option<Document>,
}

/// Turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// Returns the name of the model. Vectors of embedders with different names cannot be compared.
    fn name(&self) -> &str;
    fn shape(&self) -> VectorShape;
    /// Returns a vector of length 1 for each text, or none for a text without known words.
    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> MemoryFuture<'a, Vec<Option<Vec<f32>>>>;
}

/// Stores vectors and finds the nearest ones. A cache of the store: losing all of it loses no data.
pub trait VectorStore: Send + Sync {
    /// Returns where the vectors are, as text for a person.
    fn place(&self) -> String;
    /// Replaces all snippets of each document that `snippets` names. Idempotent.
    fn upsert<'a>(&'a self, snippets: &'a [Snippet]) -> MemoryFuture<'a, ()>;
    /// Removes all snippets of these documents.
    fn delete<'a>(&'a self, docs: &'a [String]) -> MemoryFuture<'a, ()>;
    /// Returns the nearest `k` documents, best first, each once.
    fn top_k<'a>(&'a self, query: &'a [f32], filter: &'a Filter, k: usize) -> MemoryFuture<'a, Vec<NearDocument>>;
    /// Returns the number of snippets.
    fn count(&self) -> MemoryFuture<'_, u64>;
    /// Returns whether everything that was stored is still there; false when all documents must be stored again.
    fn check_intact(&self) -> MemoryFuture<'_, bool>;
    /// Deletes everything and prepares an empty store.
    fn clear(&self) -> MemoryFuture<'_, ()>;
}
