//! Giving the memory what it has yet to learn: what other commands wrote, and what waited for a server.

use std::time::Duration;

use super::Shared;
use crate::app::Pulse;

/// One cheap read of a count.
const LOOK: Duration = Duration::from_secs(1);

pub(super) async fn tend(shared: Shared) {
    while shared.pause(LOOK).await {
        match shared.worker.app.tend_memory().await {
            Ok(said) => said.into_iter().for_each(|said| shared.tell(Pulse::Memory(said))),
            Err(error) => tracing::warn!(error = format!("{error:#}"), "the memory could not be tended"),
        }
        shared.worker.app.memory.rest();
    }
}
