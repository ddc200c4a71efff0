//! Resumes unfinished runs that nobody drives: approved effects, retried steps, forks, and deferred runs whose time has
//! come.
//!
//! The loop is a task of its own, so that what a person approved never waits behind a request, the nightly job or a
//! long poll.

use std::time::Duration;

use super::DaemonContext;

/// The pause between two looks. A look is one cheap read.
const INTERVAL: Duration = Duration::from_millis(200);

/// Resumes runs until the daemon stops.
pub(super) async fn resume_runs(shared: DaemonContext) {
    while shared.sleep_unless_stopped(INTERVAL).await {
        if let Err(error) = resume_due_runs(&shared).await {
            tracing::warn!(error = format!("{error:#}"), "unfinished runs could not be resumed");
        }
    }
}

/// Resumes the runs that are due now. The cheap read first avoids work when there is none.
async fn resume_due_runs(shared: &DaemonContext) -> anyhow::Result<()> {
    let app = &shared.worker.app;
    let now = app.clock.now();
    if !app.store.read(move |reader| reader.runs().resumable(now)).await?.is_empty() {
        shared.worker.engine.resume_unfinished_runs().await?;
    }
    Ok(())
}
