//! Requests of a command to the running daemon, or the same work done here when there is no daemon.

use std::time::Duration;

use anyhow::Context as _;

use crate::{
    app::WorkerUseCases,
    model::RequestKind,
    store::{ChangeWatch, Receipt, Write},
};

/// How long a command waits for the daemon before it gives up.
const DAEMON_TIMEOUT: Duration = Duration::from_secs(60);

impl WorkerUseCases<'_> {
    /// Starts noticing changes of the stored data, by this process or another.
    pub fn watch_changes(self) -> anyhow::Result<ChangeWatch> {
        Ok(self.app.store.watch_changes()?)
    }

    /// Works on unfinished runs if no other process is the worker. Returns false when one is: it resumes them by
    /// itself.
    pub async fn try_finish_runs(self) -> anyhow::Result<bool> {
        match self.start().await? {
            Ok(worker) => {
                let outcome = worker.finish_unfinished_runs().await;
                worker.stop().await;
                outcome.map(|()| true)
            }
            Err(_) => Ok(false),
        }
    }

    /// Waits until the runs that a command has just opened are done, by the daemon if there is one, otherwise here.
    pub async fn finish_runs(self) -> anyhow::Result<()> {
        let deadline = std::time::Instant::now() + DAEMON_TIMEOUT;
        // The worker may be a short command such as `once`. When it ends first, the runs are done here.
        while !self.try_finish_runs().await? {
            // The list is read each time, so that a run which the daemon deferred meanwhile (for example by a pause) is
            // not awaited.
            let now = self.app.clock.now();
            if self.app.store.read(move |reader| reader.runs().resumable(now)).await?.is_empty() {
                break;
            }
            anyhow::ensure!(
                std::time::Instant::now() < deadline,
                "the daemon (process {}) has not finished it yet; it goes on",
                self.find_pid().unwrap_or_default()
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Stores a request for the running daemon and waits for its answer. Returns none when no process is the worker any
    /// more; the caller can then do the work itself.
    pub async fn send_request(self, kind: RequestKind) -> anyhow::Result<Option<serde_json::Value>> {
        let ask = Write::AddRequest { kind, at: self.app.clock.now() };
        let Receipt::Number(request) = self.app.store.write(ask).await? else {
            anyhow::bail!("the request was not numbered")
        };
        let deadline = std::time::Instant::now() + DAEMON_TIMEOUT;
        loop {
            if let Some(answer) = self.app.store.read(move |reader| reader.requests().answer(request)).await? {
                let answer: serde_json::Value =
                    serde_json::from_str(&answer).context("the daemon's answer cannot be read")?;
                if let Some(problem) = answer.get("error").and_then(serde_json::Value::as_str) {
                    anyhow::bail!("the daemon could not do it: {problem}");
                }
                return Ok(Some(answer));
            }
            if self.find_pid().is_none() {
                // The request is closed, so that no later daemon does again what is now done here.
                self.app.store.write(Write::UpdateRequest { request, answer: Some("null".into()) }).await?;
                return Ok(None);
            }
            anyhow::ensure!(
                std::time::Instant::now() < deadline,
                "the daemon has not answered yet; it may still do it"
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}
