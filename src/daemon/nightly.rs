//! Runs the nightly job at its time, once per date, and makes up for it after a suspension or a restart.

use std::time::Duration;

use super::DaemonContext;
use crate::app::WorkerEvent;

/// The pause between two checks, and so the largest delay of the job. It also bounds how late a machine notices that it
/// was suspended at the scheduled time.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);

/// Runs the nightly job whenever it is due, until the daemon stops. A failed job is tried again at the next check.
pub(super) async fn run_nightly_when_due(shared: DaemonContext) {
    let app = &shared.worker.app;
    loop {
        match app.nightly().run_if_due().await {
            Ok(Some(report)) => shared.send_event(WorkerEvent::NightlyDone(Box::new(report))),
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(error = format!("{error:#}"), "the nightly job failed; it is tried again")
            }
        }
        if !shared.sleep_unless_stopped(CHECK_INTERVAL).await {
            return;
        }
    }
}
