//! Keeping the memory in step with the store: what is due is learned, what was lost is learned again, and a place that
//! cannot be reached is tried again later. What it should have learned waits in the store.

use std::sync::PoisonError;

use serde::Serialize;

use super::{
    Memory,
    traits::{MemoryError, MemoryResult, Snippet},
};
use crate::{
    model::Instant,
    store::{
        MEMORY_TROUBLE, Write,
        embedding::{DueDocument, EmbeddedDocument},
    },
};

/// Documents learned in one go: one call to the embedder and one to the place.
const BATCH_DOCUMENTS: usize = 128;
/// Then others have a turn, and whoever wants to stop can.
const BATCHES_PER_ROUND: usize = 16;
/// The first pause after a failure; each further one is twice as long.
const FIRST_BACKOFF_SECONDS: i64 = 5;
const MAX_BACKOFF_SECONDS: i64 = 60;
/// Seconds for which a server that holds what it was given is not checked again.
const WHOLE_FOR: i64 = 60;

/// When a place that could not be reached is tried again.
#[derive(Default)]
pub(super) struct MemoryBackoff {
    pause: i64,
    blocked_until: Option<Instant>,
    /// Nobody asks it before then: a question failed. Tending it is not put off, so that it is healed, or told.
    queries_blocked_until: Option<Instant>,
    /// A server was found to hold what it was given, and is not checked again before then.
    whole_until: Option<Instant>,
    /// How many points it held then.
    points: u64,
    /// Why, for those who ask meanwhile.
    reason: String,
}

/// What one round of tending did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct EmbeddingRound {
    pub learned: usize,
    /// Said once: it cannot be reached any more.
    pub lost: Option<String>,
    /// Said once: it can be reached again.
    pub back: bool,
}

impl EmbeddingRound {
    /// What a person should hear of it.
    pub fn notice(&self) -> Option<String> {
        let back = || format!("the memory is back; {} documents that waited were added to it", self.learned);
        self.lost.clone().or_else(|| self.back.then(back))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MemoryStatus {
    pub place: String,
    pub embedder: String,
    pub dimension: usize,
    /// Tasks and mails there are to remember.
    pub documents: u64,
    /// Of them, not yet remembered as they are now.
    pub due: u64,
    /// None when the place cannot be asked.
    pub vectors: Option<u64>,
    pub trouble: Option<String>,
    /// What the vectors were made by, when it is something else.
    pub foreign: Option<String>,
}

impl Memory {
    fn origin(&self) -> String {
        format!("{} {}/{}", self.vectors.place(), self.embedder.name(), self.embedder.shape().dimension)
    }

    /// Errs when the vectors were made elsewhere or by another embedder: they say nothing to this one.
    pub(super) fn ensure_same_origin(&self) -> MemoryResult<()> {
        let (wanted, found) = (self.origin(), self.store.read_blocking(|reader| reader.memory_place())?);
        match found {
            Some(found) if found != wanted => Err(MemoryError::OriginMismatch { found, wanted }),
            _ => Ok(()),
        }
    }

    /// Errs at once while a place that was away is not yet tried again: nobody waits for a timeout twice.
    pub(super) fn ensure_queries_allowed(&self) -> MemoryResult<()> {
        let retry = self.retry.lock().unwrap_or_else(PoisonError::into_inner);
        match retry.blocked_until.max(retry.queries_blocked_until) {
            Some(until) if self.clock.now() < until => {
                Err(MemoryError::Unreachable { what: self.vectors.place(), why: retry.reason.clone() })
            }
            _ => Ok(()),
        }
    }

    fn is_backing_off(&self) -> bool {
        let until = self.retry.lock().unwrap_or_else(PoisonError::into_inner).blocked_until;
        until.is_some_and(|until| self.clock.now() < until)
    }

    /// A question failed: the next ones are not even asked for a moment, and whoever tends the place looks whether it still
    /// holds what it was given.
    pub(super) fn block_queries(&self, error: &MemoryError) {
        let mut retry = self.retry.lock().unwrap_or_else(PoisonError::into_inner);
        retry.queries_blocked_until = Some(self.clock.now().plus(chrono::Duration::seconds(FIRST_BACKOFF_SECONDS)));
        retry.whole_until = None;
        retry.reason = error.to_string();
    }

    /// For the worker, when it starts: vectors of another place or embedder are made anew.
    pub async fn reset_if_origin_changed(&self) -> MemoryResult<()> {
        match self.store.read(|reader| reader.memory_place()).await? {
            Some(found) if found == self.origin() => Ok(()),
            _ => self.reset().await,
        }
    }

    /// All of it is made anew, here and now or by whoever tends it.
    pub async fn reset(&self) -> MemoryResult<()> {
        let elsewhere = self.in_process.1.is_none();
        self.store.write(Write::ResetMemory { place: self.origin(), elsewhere }).await?;
        Ok(())
    }

    /// Learns a good deal of what is due. Never fails because of the place: that is noted, told once, and tried again later.
    pub async fn embed_due_documents(&self) -> MemoryResult<EmbeddingRound> {
        let mut tended = EmbeddingRound::default();
        if self.is_backing_off() {
            return Ok(tended);
        }
        for _ in 0..BATCHES_PER_ROUND {
            match self.embed_next_batch().await {
                Ok(0) => break,
                Ok(learned) => tended.learned += learned,
                Err(MemoryError::Store(error)) => return Err(error.into()),
                Err(error) => {
                    tended.lost = self.record_unreachable(&error).await?;
                    return Ok(tended);
                }
            }
        }
        tended.back = self.record_reachable().await?;
        Ok(tended)
    }

    /// Learns the next part of what is due; how many documents that were.
    pub async fn embed_next_batch(&self) -> MemoryResult<usize> {
        if self.store.read(|reader| reader.must_clear_memory()).await? {
            self.vectors.clear().await?;
            self.store.write(Write::MarkMemoryCleared).await?;
        } else {
            self.ensure_intact().await?;
        }
        let due = self.store.read(|reader| reader.due_documents(BATCH_DOCUMENTS)).await?;
        if due.is_empty() {
            return Ok(0);
        }
        let snippets = self.embed_snippets(&due).await?;
        let silent = due.iter().filter(|due| !due.doc.is_empty() && !snippets.iter().any(|made| made.doc == due.doc));
        let silent: Vec<String> = silent.map(|due| due.doc.clone()).collect();
        self.vectors.upsert(&snippets).await?;
        if !silent.is_empty() {
            self.vectors.delete(&silent).await?;
        }
        let learned = due.iter().map(|due| EmbeddedDocument { doc_id: due.doc_id, stamp: due.stamp, vectors: None });
        self.store.write(Write::RecordEmbeddings(learned.collect())).await?;
        Ok(due.len())
    }

    /// Checks that the place holds what it was given, and gives it everything again when it does not. A server is checked
    /// again after a while, and when anything went wrong with it: somebody may have replaced the collection by one that
    /// takes our points, and then most of them are missing.
    async fn ensure_intact(&self) -> MemoryResult<()> {
        let now = self.clock.now();
        let lock = || self.retry.lock().unwrap_or_else(PoisonError::into_inner);
        if lock().whole_until.is_some_and(|until| now < until) {
            return Ok(());
        }
        let is_server = self.in_process.1.is_none();
        let mut whole = self.vectors.check_intact().await?;
        if whole && is_server {
            let points = self.vectors.count().await?;
            whole = points.saturating_mul(2) >= lock().points;
            lock().points = points;
            lock().whole_until = whole.then(|| now.plus(chrono::Duration::seconds(WHOLE_FOR)));
        }
        if !whole {
            tracing::warn!(place = self.vectors.place(), "the memory is not there or not ours; it is made anew");
            lock().points = 0;
            self.reset().await?;
            self.vectors.clear().await?;
            self.store.write(Write::MarkMemoryCleared).await?;
        }
        Ok(())
    }

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

    /// From now on nobody asks it for a while.
    fn back_off(&self, error: &MemoryError) {
        let mut retry = self.retry.lock().unwrap_or_else(PoisonError::into_inner);
        retry.pause = (retry.pause * 2).clamp(FIRST_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS);
        retry.blocked_until = Some(self.clock.now().plus(chrono::Duration::seconds(retry.pause)));
        retry.whole_until = None;
        retry.reason = error.to_string();
    }

    /// Notes that the place is away; what to say, if it has not been said.
    async fn record_unreachable(&self, error: &MemoryError) -> MemoryResult<Option<String>> {
        let (now, why) = (self.clock.now(), error.to_string());
        self.back_off(error);
        if self.store.read(|reader| reader.memory_trouble()).await?.is_some() {
            return Ok(None);
        }
        let due = self.store.read(|reader| reader.due_document_count()).await?;
        let said = format!("{why}. Work goes on without it; {due} documents wait for it since {now}");
        self.store.write(Write::StoreSetting { name: MEMORY_TROUBLE.into(), value: said.clone() }).await?;
        Ok(Some(said))
    }

    async fn record_reachable(&self) -> MemoryResult<bool> {
        {
            let mut retry = self.retry.lock().unwrap_or_else(PoisonError::into_inner);
            retry.blocked_until = None;
            retry.queries_blocked_until = None;
            retry.pause = 0;
        }
        let back = self.store.read(|reader| reader.memory_trouble()).await?.is_some();
        if back {
            self.store.write(Write::StoreSetting { name: MEMORY_TROUBLE.into(), value: String::new() }).await?;
        }
        Ok(back)
    }

    pub async fn status(&self) -> MemoryResult<MemoryStatus> {
        let read = self.store.read(|reader| {
            Ok((
                reader.document_count()?,
                reader.due_document_count()?,
                reader.memory_trouble()?,
                reader.memory_place()?,
            ))
        });
        let (documents, due, trouble, found) = read.await?;
        let vectors = match self.ensure_queries_allowed() {
            Ok(()) => self.vectors.count().await,
            Err(error) => Err(error),
        };
        let asked = vectors.as_ref().err().map(ToString::to_string);
        Ok(MemoryStatus {
            place: self.vectors.place(),
            embedder: self.embedder.name().to_owned(),
            dimension: self.embedder.shape().dimension,
            documents,
            due,
            trouble: trouble.or(asked),
            vectors: vectors.ok(),
            foreign: found.filter(|found| *found != self.origin()),
        })
    }
}
