//! Goes on with runs that are unfinished and that nobody drives: approved effects, retried steps, forks, deferred runs whose
//! time has come.
//!
//! The loop is its own task, so that what a person approved never waits behind a request, a nightly job or a long poll.

use std::time::Duration;

use super::DaemonContext;

/// Between two looks; a look is one cheap read.
const INTERVAL: Duration = Duration::from_millis(200);

pub(super) async fn resume_runs(shared: DaemonContext) {
    while shared.sleep_unless_stopped(INTERVAL).await {
        if let Err(error) = resume_due_runs(&shared).await {
            tracing::warn!(error = format!("{error:#}"), "unfinished runs could not be resumed");
        }
    }
}

async fn resume_due_runs(shared: &DaemonContext) -> anyhow::Result<()> {
    let app = &shared.worker.app;
    let now = app.clock.now();
    if !app.store.read(move |reader| reader.runs().resumable(now)).await?.is_empty() {
        shared.worker.engine.resume_unfinished_runs().await?;
    }
    Ok(())
}
