//! What a command asks of the running daemon, or does itself when there is none.

use std::time::Duration;

use anyhow::Context as _;

use crate::{
    app::WorkerUseCases,
    model::RequestKind,
    store::{Receipt, Write},
};

/// How long a command waits for the daemon before it says so.
const DAEMON_TIMEOUT: Duration = Duration::from_secs(60);

impl WorkerUseCases<'_> {
    /// Works what is unfinished, if nobody else does. False when a daemon has the role: it notices by itself.
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

    /// Lets the runs a command has just opened come to their end: by the daemon if there is one, else here.
    pub async fn finish_runs(self) -> anyhow::Result<()> {
        let deadline = std::time::Instant::now() + DAEMON_TIMEOUT;
        // Whoever has the role may be no daemon and end at any time: then it is done here.
        while !self.try_finish_runs().await? {
            // Read anew each time: a run that the daemon has deferred since, under pause for instance, is waited for no more.
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

    /// Leaves a request for the running daemon and waits for its answer. None when the role is free before that: it was
    /// no daemon, or it has ended, and the asker can do it itself.
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
                // Nobody is to do later what is now done here.
                self.app.store.write(Write::UpdateRequest { request, answer: Some("null".into()) }).await?;
                return Ok(None);
            }
            anyhow::ensure!(std::time::Instant::now() < deadline, "the daemon has not answered yet; it still may");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}
