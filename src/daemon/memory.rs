//! Giving the memory what it has yet to learn: what other commands wrote, and what waited for a server.

use std::time::Duration;

use super::Shared;
use crate::app::Pulse;

/// One cheap read, when there is nothing to learn.
const LOOK: Duration = Duration::from_secs(1);

pub(super) async fn tend(shared: Shared) {
    let app = &shared.worker.app;
    let mut pause = LOOK;
    while shared.pause(pause).await {
        pause = LOOK;
        match app.tend_memory().await {
            Ok(tended) => {
                tended.said().into_iter().for_each(|said| shared.tell(Pulse::Memory(said)));
                if tended.learned > 0 {
                    pause = Duration::ZERO;
                }
            }
            Err(error) => tracing::warn!(error = format!("{error:#}"), "the memory could not be tended"),
        }
        app.memory.rest();
    }
}
