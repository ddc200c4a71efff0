//! The nightly job: at its time, once per date, made up for after a suspension or a restart.

use std::time::Duration;

use super::DaemonContext;
use crate::app::WorkerEvent;

/// How late a night is at most; also how soon a machine that slept through it notices.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);

pub(super) async fn run_nightly_when_due(shared: DaemonContext) {
    let app = &shared.worker.app;
    loop {
        match app.nightly().run_if_due().await {
            Ok(Some(report)) => shared.send_event(WorkerEvent::NightlyDone(Box::new(report))),
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(error = format!("{error:#}"), "the night could not be held; it is tried again")
            }
        }
        if !shared.sleep_unless_stopped(CHECK_INTERVAL).await {
            return;
        }
    }
}
