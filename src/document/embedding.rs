//! What the memory learns, as plain values.

use super::Document;
use crate::model::AccountId;
use std::sync::Arc;

/// Makes a vector of length 1 of a text; none of one that says nothing.
pub type EmbedFn = Arc<dyn Fn(&str) -> Option<Vec<f32>> + Send + Sync>;

/// A document whose vectors are yet to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueDocument {
    pub doc_id: i64,
    /// It is done when this is still its stamp.
    pub stamp: i64,
    /// Empty when it is not there any more.
    pub doc: String,
    pub account: AccountId,
    /// The texts to make them of.
    pub snippets: Vec<String>,
}

/// The vectors of a document were made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddedDocument {
    pub doc_id: i64,
    pub stamp: i64,
    /// To be kept here, by their numbers; none when another place has them.
    pub vectors: Option<Vec<(u8, Vec<u8>)>>,
}

/// A vector as it is stored.
#[derive(Debug, Clone, Copy)]
pub struct VectorRow<'a> {
    pub vector_id: i64,
    pub account: &'a str,
    pub kind: &'a str,
    pub bytes: &'a [u8],
}

#[derive(Debug, Clone, PartialEq)]
pub struct VectorDocument {
    pub document: Document,
    pub number: u8,
}
