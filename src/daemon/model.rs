//! Says when the model cannot be used, once for each reason.

use std::time::Duration;

use super::DaemonContext;
use crate::app::WorkerEvent;

/// Two short reads; a person need not know sooner.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

pub(super) async fn report_model_trouble(shared: DaemonContext) {
    if shared.worker.app.config.llm.is_none() {
        return;
    }
    // What was so at the start stands in the first report.
    let mut told = shared.worker.app.model().warning();
    while shared.sleep_unless_stopped(CHECK_INTERVAL).await {
        let note = shared.worker.app.model().warning();
        if let Some(note) = note.clone().filter(|_| note != told) {
            shared.send_event(WorkerEvent::ModelUnavailable(note));
        }
        told = note;
    }
}
