//! Reports that the model cannot be used, once for each reason.

use std::time::Duration;

use super::DaemonContext;
use crate::app::WorkerEvent;

/// The pause between two checks, each of which is two short reads.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Reports each new reason why the model cannot be used. Ends at once when no model is configured.
pub(super) async fn report_model_trouble(shared: DaemonContext) {
    if shared.worker.app.config.llm.is_none() {
        return;
    }
    // The state at the start is part of the first report.
    let mut told = shared.worker.app.model().warning();
    while shared.sleep_unless_stopped(CHECK_INTERVAL).await {
        let note = shared.worker.app.model().warning();
        if let Some(note) = note.clone().filter(|_| note != told) {
            shared.send_event(WorkerEvent::ModelUnavailable(note));
        }
        told = note;
    }
}
