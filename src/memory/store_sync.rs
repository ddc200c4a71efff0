//! Keeps the vectors in step with the store: embeds documents that are due, makes lost vectors again, and calls a
//! server that cannot be reached again with backoff.
//!
//! The list of due documents is in the store, so nothing is lost while a server is away. Nothing here fails because a
//! server is away: that is stored, reported once, and tried again.

use std::sync::PoisonError;

use serde::Serialize;

use super::{
    Memory,
    traits::{MemoryError, MemoryResult, Snippet},
};
use crate::{
    document::{DueDocument, EmbeddedDocument},
    model::Instant,
    store::{MEMORY_TROUBLE, Write},
};

/// Documents that are embedded at once, with one call to the embedder and one to the vector store.
const BATCH_DOCUMENTS: usize = 128;
/// A round ends after this many batches, so that the daemon can do other work or stop.
const BATCHES_PER_ROUND: usize = 16;
/// The first pause after a failure; each further one is twice as long.
const FIRST_BACKOFF_SECONDS: i64 = 5;
/// Upper bound of the pause.
const MAX_BACKOFF_SECONDS: i64 = 60;
/// For this many seconds a server that was found intact is not checked again.
const INTACT_CHECK_SECONDS: i64 = 60;

/// When a vector store or embedder that failed is called again.
#[derive(Default)]
pub(super) struct MemoryBackoff {
    /// The length of the last pause, in seconds.
    pause: i64,
    /// Nothing is called before then.
    blocked_until: Option<Instant>,
    /// No query is made before then, because one failed. Embedding goes on, so that the cause is mended or reported.
    queries_blocked_until: Option<Instant>,
    /// The server was found intact, and is not checked again before then.
    intact_until: Option<Instant>,
    /// How many points the server held at the last check.
    points: u64,
    /// Why calls are blocked, for the callers that are turned away.
    reason: String,
}

/// What one round of embedding did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct EmbeddingRound {
    /// How many documents were embedded.
    pub learned: usize,
    /// Why the memory cannot be reached any more; set only in the round that noticed it first.
    pub lost: Option<String>,
    /// Whether the memory can be reached again; set only in the first round after an outage.
    pub back: bool,
}

impl EmbeddingRound {
    /// Returns what a person should be told about this round, if anything.
    pub fn notice(&self) -> Option<String> {
        let back = || format!("the memory is back; {} documents that waited were added to it", self.learned);
        self.lost.clone().or_else(|| self.back.then(back))
    }
}

/// The state of the memory, as `adjutant memory` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MemoryStatus {
    pub place: String,
    pub embedder: String,
    pub dimension: usize,
    /// How many tasks and mails there are.
    pub documents: u64,
    /// How many of `documents` are not embedded in their present form.
    pub due: u64,
    /// The number of stored vectors; none when the vector store does not answer.
    pub vectors: Option<u64>,
    /// Why the memory cannot be used at the moment.
    pub trouble: Option<String>,
    /// The embedder and place that the stored vectors come from, when they are not the configured ones.
    pub foreign: Option<String>,
}

impl Memory {
    /// Names place, embedder and dimension. Stored vectors are usable only if this is the same as when they were made.
    fn origin(&self) -> String {
        format!("{} {}/{}", self.vectors.place(), self.embedder.name(), self.embedder.shape().dimension)
    }

    /// Fails when the stored vectors were made for another place or by another embedder, and cannot be compared.
    pub(super) fn ensure_same_origin(&self) -> MemoryResult<()> {
        let (wanted, found) = (self.origin(), self.store.read_blocking(|reader| reader.vectors().memory_place())?);
        match found {
            Some(found) if found != wanted => Err(MemoryError::OriginMismatch { found, wanted }),
            _ => Ok(()),
        }
    }

    /// Fails at once while queries are blocked after a failure, so that they do not wait for one timeout after the
    /// other.
    pub(super) fn ensure_queries_allowed(&self) -> MemoryResult<()> {
        let retry = self.retry.lock().unwrap_or_else(PoisonError::into_inner);
        match retry.blocked_until.max(retry.queries_blocked_until) {
            Some(until) if self.clock.now() < until => {
                Err(MemoryError::Unreachable { what: self.vectors.place(), why: retry.reason.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Returns whether all calls are blocked after a failure.
    fn is_backing_off(&self) -> bool {
        let until = self.retry.lock().unwrap_or_else(PoisonError::into_inner).blocked_until;
        until.is_some_and(|until| self.clock.now() < until)
    }

    /// Blocks queries for some seconds after one failed, and has the next round check whether the server is intact.
    pub(super) fn block_queries(&self, error: &MemoryError) {
        let mut retry = self.retry.lock().unwrap_or_else(PoisonError::into_inner);
        retry.queries_blocked_until = Some(self.clock.now().plus(chrono::Duration::seconds(FIRST_BACKOFF_SECONDS)));
        retry.intact_until = None;
        retry.reason = error.to_string();
    }

    /// Discards the vectors if they were made for another place or by another embedder. A worker calls this when it
    /// starts.
    pub async fn reset_if_origin_changed(&self) -> MemoryResult<()> {
        match self.store.read(|reader| reader.vectors().memory_place()).await? {
            Some(found) if found == self.origin() => Ok(()),
            _ => self.reset().await,
        }
    }

    /// Marks every document as due, to be embedded again by the rounds that follow.
    pub async fn reset(&self) -> MemoryResult<()> {
        let elsewhere = self.in_process.1.is_none();
        self.store.write(Write::ResetMemory { place: self.origin(), elsewhere }).await?;
        Ok(())
    }

    /// Embeds several batches of due documents. Fails only when the store does: a server that is away is stored as
    /// trouble, reported once, and tried again later.
    pub async fn embed_due_documents(&self) -> MemoryResult<EmbeddingRound> {
        let mut round = EmbeddingRound::default();
        if self.is_backing_off() {
            return Ok(round);
        }
        for _ in 0..BATCHES_PER_ROUND {
            match self.embed_next_batch().await {
                Ok(0) => break,
                Ok(learned) => round.learned += learned,
                Err(MemoryError::Store(error)) => return Err(error.into()),
                Err(error) => {
                    round.lost = self.record_unreachable(&error).await?;
                    return Ok(round);
                }
            }
        }
        round.back = self.record_reachable().await?;
        Ok(round)
    }

    /// Embeds one batch of due documents. Returns how many there were.
    pub async fn embed_next_batch(&self) -> MemoryResult<usize> {
        if self.store.read(|reader| reader.vectors().must_clear_memory()).await? {
            self.vectors.clear().await?;
            self.store.write(Write::MarkMemoryCleared).await?;
        } else {
            self.ensure_intact().await?;
        }
        let due = self.store.read(|reader| reader.vectors().due_documents(BATCH_DOCUMENTS)).await?;
        if due.is_empty() {
            return Ok(0);
        }
        let snippets = self.embed_snippets(&due).await?;
        // A document without any vector would keep those of its earlier text.
        let without_vector: Vec<String> = due
            .iter()
            .filter(|due| !due.doc.is_empty() && !snippets.iter().any(|snippet| snippet.doc == due.doc))
            .map(|due| due.doc.clone())
            .collect();
        self.vectors.upsert(&snippets).await?;
        if !without_vector.is_empty() {
            self.vectors.delete(&without_vector).await?;
        }
        let embedded = due.iter().map(|due| EmbeddedDocument { doc_id: due.doc_id, stamp: due.stamp, vectors: None });
        self.store.write(Write::RecordEmbeddings(embedded.collect())).await?;
        Ok(due.len())
    }

    /// Checks that the vector store is intact, and marks all documents as due when it is not. A server is checked again
    /// after a while and after every failure. One that lost more than half of its points since the last check counts as
    /// not intact: somebody may have replaced the collection by an empty one of the same kind.
    async fn ensure_intact(&self) -> MemoryResult<()> {
        let now = self.clock.now();
        let lock = || self.retry.lock().unwrap_or_else(PoisonError::into_inner);
        if lock().intact_until.is_some_and(|until| now < until) {
            return Ok(());
        }
        let is_server = self.in_process.1.is_none();
        let mut is_intact = self.vectors.check_intact().await?;
        if is_intact && is_server {
            let points = self.vectors.count().await?;
            is_intact = points.saturating_mul(2) >= lock().points;
            lock().points = points;
            lock().intact_until = is_intact.then(|| now.plus(chrono::Duration::seconds(INTACT_CHECK_SECONDS)));
        }
        if !is_intact {
            tracing::warn!(
                place = self.vectors.place(),
                "the search vectors are missing or were made by another program; they are made again"
            );
            lock().points = 0;
            self.reset().await?;
            self.vectors.clear().await?;
            self.store.write(Write::MarkMemoryCleared).await?;
        }
        Ok(())
    }

    /// Returns the snippets of the documents with their vectors; snippets without known words are left out.
    async fn embed_snippets(&self, due: &[DueDocument]) -> MemoryResult<Vec<Snippet>> {
        let texts: Vec<&str> = due.iter().flat_map(|due| &due.snippets).map(String::as_str).collect();
        let mut vectors = self.embedder.embed(&texts).await?.into_iter();
        let mut snippets = Vec::new();
        for due in due {
            for number in (0..=u8::MAX).take(due.snippets.len()) {
                if let Some(vector) = vectors.next().flatten() {
                    snippets.push(Snippet { doc: due.doc.clone(), number, account: due.account.clone(), vector });
                }
            }
        }
        Ok(snippets)
    }

    /// Blocks all calls for a pause that doubles with every failure.
    fn back_off(&self, error: &MemoryError) {
        let mut retry = self.retry.lock().unwrap_or_else(PoisonError::into_inner);
        retry.pause = (retry.pause * 2).clamp(FIRST_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS);
        retry.blocked_until = Some(self.clock.now().plus(chrono::Duration::seconds(retry.pause)));
        retry.intact_until = None;
        retry.reason = error.to_string();
    }

    /// Stores that the memory cannot be reached and backs off. Returns the message for the person, the first time only.
    async fn record_unreachable(&self, error: &MemoryError) -> MemoryResult<Option<String>> {
        let (now, why) = (self.clock.now(), error.to_string());
        self.back_off(error);
        if self.store.read(|reader| reader.vectors().memory_trouble()).await?.is_some() {
            return Ok(None);
        }
        let due = self.store.read(|reader| reader.vectors().due_document_count()).await?;
        let message = format!("{why}. Work goes on without it; {due} documents wait for it since {now}");
        self.store.write(Write::StoreSetting { name: MEMORY_TROUBLE.into(), value: message.clone() }).await?;
        Ok(Some(message))
    }

    /// Ends the backoff. Returns whether there was an outage before.
    async fn record_reachable(&self) -> MemoryResult<bool> {
        {
            let mut retry = self.retry.lock().unwrap_or_else(PoisonError::into_inner);
            retry.blocked_until = None;
            retry.queries_blocked_until = None;
            retry.pause = 0;
        }
        let back = self.store.read(|reader| reader.vectors().memory_trouble()).await?.is_some();
        if back {
            self.store.write(Write::StoreSetting { name: MEMORY_TROUBLE.into(), value: String::new() }).await?;
        }
        Ok(back)
    }

    /// Returns the state of the memory. A server that does not answer is part of the state, not an error.
    pub async fn status(&self) -> MemoryResult<MemoryStatus> {
        let read = self.store.read(|reader| {
            Ok((
                reader.vectors().document_count()?,
                reader.vectors().due_document_count()?,
                reader.vectors().memory_trouble()?,
                reader.vectors().memory_place()?,
            ))
        });
        let (documents, due, trouble, found) = read.await?;
        let vectors = match self.ensure_queries_allowed() {
            Ok(()) => self.vectors.count().await,
            Err(error) => Err(error),
        };
        let count_error = vectors.as_ref().err().map(ToString::to_string);
        Ok(MemoryStatus {
            place: self.vectors.place(),
            embedder: self.embedder.name().to_owned(),
            dimension: self.embedder.shape().dimension,
            documents,
            due,
            trouble: trouble.or(count_error),
            vectors: vectors.ok(),
            foreign: found.filter(|found| *found != self.origin()),
        })
    }
}
