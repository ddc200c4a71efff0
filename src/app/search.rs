//! The use cases of search by words and by meaning: searching, the status of the vectors, and rebuilding them. Vectors
//! can always be rebuilt from the store, so that losing them loses nothing.

use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::{
    app::{App, Progress},
    memory::{EmbeddingRound, FoundDocument, HybridResults, MemoryQuery, MemoryStatus, Scope},
    model::RequestKind,
    store::Write,
};

/// The pause between two looks at how far the daemon has come.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long the daemon may make no progress before the command gives up.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// What a search found.
#[derive(Debug, Default)]
pub struct SearchResults {
    pub found: Vec<FoundDocument>,
    /// Why there was no search by meaning; none when there was.
    pub trouble: Option<String>,
}

/// The use cases of search, by words and by meaning.
#[derive(Clone, Copy)]
pub struct SearchUseCases<'a> {
    pub(super) app: &'a App,
}

impl SearchUseCases<'_> {
    /// Returns where the vectors are, what makes them, and whether they are complete.
    pub async fn memory_status(self) -> anyhow::Result<MemoryStatus> {
        Ok(self.app.memory.status().await?)
    }

    /// Deletes every vector and makes all of them again, in this process or by the daemon. Waits until it is done, and
    /// calls `tell` with the progress.
    pub async fn rebuild_memory(self, mut tell: impl FnMut(Progress)) -> anyhow::Result<MemoryStatus> {
        let before = self.app.memory.status().await?;
        loop {
            if let Ok(_lock) = self.app.worker().try_lock()? {
                self.app.memory.reset().await?;
                self.embed_all_documents(&mut tell).await?;
                break;
            }
            // Only the worker may write vectors, so a running daemon is asked to do it. If it ends meanwhile, the loop
            // tries again.
            if let Some(answer) = self.app.worker().send_request(RequestKind::RebuildMemory).await? {
                let place = answer.get("place").and_then(serde_json::Value::as_str).unwrap_or_default();
                anyhow::ensure!(
                    place == before.place,
                    "the daemon keeps its memory in {place}, as it was told when it started; restart it, and it moves to {}",
                    before.place
                );
                self.wait_for_daemon_embedding(&mut tell).await?;
                break;
            }
        }
        self.memory_status().await
    }

    /// Embeds all documents in this process, which holds the worker lock.
    async fn embed_all_documents(self, tell: &mut impl FnMut(Progress)) -> anyhow::Result<()> {
        let total = self.app.store.read(|reader| reader.vectors().due_document_count()).await?;
        let mut done = 0;
        tell(Progress { done, total });
        loop {
            let learned = self.app.memory.embed_next_batch().await;
            let left =
                || format!("{done} of {total} documents are done; the rest waits, and the worker goes on with it");
            match learned.with_context(left)? {
                0 => break,
                learned => done += u64::try_from(learned).unwrap_or_default(),
            }
            tell(Progress { done: done.min(total), total });
        }
        self.app.memory.embed_due_documents().await?;
        Ok(())
    }

    /// Waits until the daemon has embedded all documents. Gives up when the daemon reports trouble or makes no
    /// progress.
    async fn wait_for_daemon_embedding(self, tell: &mut impl FnMut(Progress)) -> anyhow::Result<()> {
        let (mut total, mut last, mut moved) = (0, u64::MAX, Instant::now());
        loop {
            let (due, trouble) = self
                .app
                .store
                .read(|reader| Ok((reader.vectors().due_document_count()?, reader.vectors().memory_trouble()?)))
                .await?;
            total = total.max(due);
            tell(Progress { done: total - due, total });
            if due == 0 {
                return Ok(());
            }
            if let Some(trouble) = trouble {
                anyhow::bail!("{trouble}. The daemon goes on as soon as it can");
            }
            if due != last {
                (last, moved) = (due, Instant::now());
            }
            anyhow::ensure!(
                moved.elapsed() < STALL_TIMEOUT,
                "the daemon has made no progress for a minute; it may still go on"
            );
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Embeds documents that have no vector yet, a limited number per call.
    pub async fn embed_due_documents(self) -> anyhow::Result<EmbeddingRound> {
        Ok(self.app.memory.embed_due_documents().await?)
    }

    /// Rebuilds the index of words, which is a cache of the stored tasks and mails.
    pub async fn rebuild_index(self) -> anyhow::Result<()> {
        self.app.store.write(Write::RebuildSearchIndex).await?;
        Ok(())
    }

    /// Searches every account of the person by words and by meaning. Each account is searched separately, because
    /// vectors are never compared across accounts.
    pub async fn find(self, text: &str, limit: usize) -> anyhow::Result<SearchResults> {
        let mut search = SearchResults::default();
        for account in self.app.store.read(|reader| reader.accounts().ids()).await? {
            let question = MemoryQuery {
                account: &account,
                text,
                thread: "",
                person: "",
                invoice: "",
                leave_out: &[],
                now: self.app.clock.now(),
                scope: Scope::person(limit),
            };
            let HybridResults { found, trouble } = self.app.memory.search(&question).await?;
            search.found.extend(found);
            search.trouble = search.trouble.or(trouble);
        }
        search.found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.at.cmp(&a.at)));
        search.found.truncate(limit);
        Ok(search)
    }
}
