//! Embeds documents that have no vector yet: those that other commands wrote, and those that waited for a server.

use std::time::Duration;

use super::DaemonContext;
use crate::app::WorkerEvent;

/// The pause between two checks. With nothing to embed, a check is one cheap read.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Embeds pending documents until the daemon stops, without a pause while there are more. Frees the embedder's memory
/// when it was not needed for a while.
pub(super) async fn index_pending_documents(shared: DaemonContext) {
    let app = &shared.worker.app;
    let mut pause = CHECK_INTERVAL;
    while shared.sleep_unless_stopped(pause).await {
        pause = CHECK_INTERVAL;
        match app.search().embed_due_documents().await {
            Ok(tended) => {
                tended.notice().into_iter().for_each(|said| shared.send_event(WorkerEvent::MemoryAvailability(said)));
                if tended.learned > 0 {
                    pause = Duration::ZERO;
                }
            }
            Err(error) => tracing::warn!(error = format!("{error:#}"), "documents could not be embedded"),
        }
        app.memory.unload_if_idle();
    }
}
