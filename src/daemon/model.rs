//! Says when the model cannot be used, once for each reason.

use std::time::Duration;

use super::Shared;
use crate::app::Pulse;

/// Two short reads; a person need not know sooner.
const PAUSE: Duration = Duration::from_secs(5);

pub(super) async fn watch(shared: Shared) {
    if shared.worker.app.config.llm.is_none() {
        return;
    }
    // What was so at the start stands in the first report.
    let mut told = shared.worker.app.model_note();
    while shared.pause(PAUSE).await {
        let note = shared.worker.app.model_note();
        if let Some(note) = note.clone().filter(|_| note != told) {
            shared.tell(Pulse::Model(note));
        }
        told = note;
    }
}
