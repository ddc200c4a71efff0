//! The housekeeping loop: the files of the approval queue, expiry, the policy, and the anchor of the audit chain.

use std::time::Duration;

use notify::{RecursiveMode, Watcher as _};
use tokio::sync::mpsc;

use super::DaemonContext;
use crate::app::WorkerEvent;

/// The longest pause between two rounds, if no file event comes.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// The pause after a file event, so that several decision files dropped together are read together.
const DEBOUNCE: Duration = Duration::from_millis(50);

/// Runs the housekeeping at every file event and every interval, until the daemon stops.
pub(super) async fn maintain_queue(shared: DaemonContext) {
    let (wake, mut woken) = mpsc::channel(1);
    // Events are only hints: without a watcher the interval is enough.
    let _watcher = watch_queue_folder(&shared, wake);
    let mut told = String::new();
    loop {
        match shared.worker.run_housekeeping().await {
            Ok(soon) => {
                told.clear();
                soon.into_iter().for_each(|item| shared.send_event(WorkerEvent::ItemExpiring(Box::new(item))));
            }
            Err(error) => {
                let problem = format!("{error:#}");
                // Reported once; an unusable folder would otherwise be reported every few seconds.
                if told != problem {
                    tracing::warn!(error = problem, "the approval queue could not be maintained");
                    told = problem;
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
            Some(()) = woken.recv() => tokio::time::sleep(DEBOUNCE).await,
            () = shared.stop.cancelled() => return,
        }
    }
}

/// Watches the queue for decision files. Returns none when the folder cannot be watched.
fn watch_queue_folder(shared: &DaemonContext, wake: mpsc::Sender<()>) -> Option<notify::RecommendedWatcher> {
    let folder = shared.worker.app.home.queue();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let dropped =
            |event: &notify::Event| event.paths.iter().any(|path| path.to_string_lossy().ends_with(".decision.json"));
        if event.is_ok_and(|event| dropped(&event)) {
            // A full channel means that a round is due already.
            let _full = wake.try_send(());
        }
    })
    .ok()?;
    watcher.watch(&folder, RecursiveMode::NonRecursive).ok()?;
    Some(watcher)
}
