//! Documents: tasks and mails in the form in which they are found, by words and by meaning.
//!
//! This module makes snippets of a text, the words of the full-text index, and the stored form of vectors. It does no
//! I/O and no searching; `memory` and `store` do that.

mod embedding;
pub mod int8_vector;
pub mod snippet;
pub mod title;
mod tokeniser;

use crate::model::Instant;

pub use embedding::{DueDocument, EmbedFn, EmbeddedDocument, VectorDocument, VectorRow};
pub use tokeniser::{QueryTerms, is_trigram, query_words, tokenise, tokenise_texts};

/// A task or a mail, as far as a search shows it and weighs it. Its title was written by a stranger.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The name of the document: `task:<ulid>` or `mail:<n>`.
    pub doc: String,
    pub title: String,
    pub at: Instant,
    /// The address of the author; empty without one.
    pub person: String,
    /// The conversation; empty without one.
    pub thread: String,
}

/// A document that was found by its words.
#[derive(Debug, Clone, PartialEq)]
pub struct FullTextHit {
    pub document: Document,
    /// The BM25 score: higher is better.
    pub score: f64,
    /// The share of the question that is in the document, 0..=1. Rare words count more.
    pub share: f64,
    /// The words of the question that are in the document.
    pub words: Vec<String>,
}
