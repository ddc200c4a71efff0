//! The words of the memory: what is remembered, what is asked, and who can do either.

use std::{future::Future, pin::Pin};

use serde::Serialize;

use super::index::VectorShape;
use crate::{
    model::{AccountId, text_enum::words},
    store::{StoreError, value::Document},
};

/// Whoever embeds or remembers may be at the other end of a wire.
pub type MemoryFuture<'a, T> = Pin<Box<dyn Future<Output = MemoryResult<T>> + Send + 'a>>;
pub type MemoryResult<T, E = MemoryError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// Nothing is lost: what it should have learned waits in the store.
    #[error("{what} cannot be reached: {why}")]
    Unreachable { what: String, why: String },
    /// It was reached and said no.
    #[error("{what} refused: {why}")]
    Refused { what: String, why: String },
    /// The worker makes it anew when it starts.
    #[error("the memory was made by {found}, and this is {wanted}: start the worker, or `adjutant memory rebuild`")]
    OriginMismatch { found: String, wanted: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

words! {
    DocKind {
        Task = "task",
        Mail = "mail",
    }
}

impl DocKind {
    /// Of a document such as `task:<ulid>` or `mail:<n>`.
    pub fn of(doc: &str) -> Option<Self> {
        doc.split_once(':')?.0.parse().ok()
    }
}

/// One piece of a task or mail, as a point.
#[derive(Debug, Clone, PartialEq)]
pub struct Snippet {
    /// `task:<ulid>` or `mail:<n>`.
    pub doc: String,
    /// Which piece of it, from 0.
    pub number: u8,
    pub account: AccountId,
    /// Of length 1.
    pub vector: Vec<f32>,
}

/// Whose memory is asked. There is no way to ask across accounts.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    pub account: AccountId,
    /// None: tasks and mails.
    pub kind: Option<DocKind>,
    /// What is farther than this cosine is not looked up.
    pub min_cosine: f32,
}

impl Filter {
    /// Everything an account has.
    pub fn account(account: &AccountId) -> Self {
        Self { account: account.clone(), kind: None, min_cosine: -1.0 }
    }
}

/// A document whose best piece is near to what was asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NearDocument {
    pub doc: String,
    pub number: u8,
    /// The cosine: 1 is the same, 0 has nothing to do with it.
    pub score: f32,
    /// Where it is stored beside its vectors, read with them.
    #[serde(skip)]
    pub document: Option<Document>,
}

/// Makes points of texts.
pub trait Embedder: Send + Sync {
    /// Vectors of different names do not compare.
    fn name(&self) -> &str;
    fn shape(&self) -> VectorShape;
    /// A vector of length 1 for each text; none for a text that says nothing.
    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> MemoryFuture<'a, Vec<Option<Vec<f32>>>>;
}

/// Remembers points. A cache of the store: losing all of it loses nothing.
pub trait VectorStore: Send + Sync {
    /// Where they are, for a person.
    fn place(&self) -> String;
    /// All snippets of each document named, in place of those it had. Doing it twice is doing it once.
    fn upsert<'a>(&'a self, snippets: &'a [Snippet]) -> MemoryFuture<'a, ()>;
    fn delete<'a>(&'a self, docs: &'a [String]) -> MemoryFuture<'a, ()>;
    /// The nearest `k` documents, best first, each once.
    fn top_k<'a>(&'a self, query: &'a [f32], filter: &'a Filter, k: usize) -> MemoryFuture<'a, Vec<NearDocument>>;
    /// Of snippets.
    fn count(&self) -> MemoryFuture<'_, u64>;
    /// Whether it holds what it was given: false when everything must be given to it again.
    fn check_intact(&self) -> MemoryFuture<'_, bool>;
    /// Forgets everything and is ready to learn anew.
    fn clear(&self) -> MemoryFuture<'_, ()>;
}
