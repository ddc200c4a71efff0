//! Documents: tasks and mails as they are found, by words and by meaning.
//!
//! Pure: snippets of a text, the words of the search index, vectors as they are stored. Searching is for `memory` and `store`.

mod embedding;
pub mod int8_vector;
pub mod snippet;
mod tokeniser;

use crate::model::Instant;

pub use embedding::{DueDocument, EmbedFn, EmbeddedDocument, VectorDocument, VectorRow};
pub use tokeniser::{QueryTerms, is_trigram, query_words, tokenise, tokenise_texts};

/// A task or a mail as far as it is shown and weighed when it is found. Its title is a stranger's text.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// `task:<ulid>` or `mail:<n>`.
    pub doc: String,
    pub title: String,
    pub at: Instant,
    /// The address of who wrote; empty without one.
    pub person: String,
    /// Empty without one.
    pub thread: String,
}

/// What is found by words.
#[derive(Debug, Clone, PartialEq)]
pub struct FullTextHit {
    pub document: Document,
    /// BM25: higher is better.
    pub score: f64,
    /// How much of what the question says is in it, 0..=1; rare words say more.
    pub share: f64,
    /// Of the question, those that are in it.
    pub words: Vec<String>,
}
