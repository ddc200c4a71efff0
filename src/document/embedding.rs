//! Documents and their vectors on the way between the store and the memory.

use super::Document;
use crate::model::AccountId;
use std::sync::Arc;

/// Computes the vector of a text, with length 1; none for a text without a word that the embedder knows.
pub type EmbedFn = Arc<dyn Fn(&str) -> Option<Vec<f32>> + Send + Sync>;

/// A document whose vectors are yet to be computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueDocument {
    pub doc_id: i64,
    /// The stamp of the document when it was read. When the stored one is newer, the document changed and stays due.
    pub stamp: i64,
    /// The name of the document; empty when it was removed meanwhile.
    pub doc: String,
    pub account: AccountId,
    /// The texts that vectors are computed of.
    pub snippets: Vec<String>,
}

/// A document whose vectors were computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddedDocument {
    pub doc_id: i64,
    pub stamp: i64,
    /// The vectors to store in the database, by the number of their snippet; none when a server keeps them.
    pub vectors: Option<Vec<(u8, Vec<u8>)>>,
}

/// A vector as the database stores it, borrowed while the rows are read.
#[derive(Debug, Clone, Copy)]
pub struct VectorRow<'a> {
    pub vector_id: i64,
    pub account: &'a str,
    pub kind: &'a str,
    pub bytes: &'a [u8],
}

/// The document that a vector belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorDocument {
    pub document: Document,
    /// The number of the snippet.
    pub number: u8,
}
