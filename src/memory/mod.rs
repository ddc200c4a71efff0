//! What was, found by meaning: an embedder, and two places for its vectors.
//!
//! A cache of the store. Losing it loses nothing, being without it stops nothing, and no account ever sees another's.

mod words;

use std::sync::Arc;

pub use words::{DocKind, Embedder, Filter, MemoryError, Near, Reply, Result, Snippet, Vectors};

use crate::model::AccountId;

/// A cheap handle.
#[derive(Clone)]
pub struct Memory {
    embedder: Arc<dyn Embedder>,
    vectors: Arc<dyn Vectors>,
}

impl Memory {
    pub fn new(embedder: Arc<dyn Embedder>, vectors: Arc<dyn Vectors>) -> Self {
        Self { embedder, vectors }
    }

    /// The documents of an account nearest in meaning to a text, best first.
    pub async fn search_dense(&self, account: &AccountId, text: &str, k: usize) -> Result<Vec<Near>> {
        self.nearest(&Filter::account(account), text, k).await
    }

    /// The same among tasks only, or mails only.
    pub async fn nearest(&self, filter: &Filter, text: &str, k: usize) -> Result<Vec<Near>> {
        let question = self.embedder.embed(&[text]).await?;
        match question.into_iter().next().flatten() {
            Some(vector) => self.vectors.top_k(&vector, filter, k).await,
            None => Ok(Vec::new()),
        }
    }
}
