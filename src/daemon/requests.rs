//! Noticing what other commands wrote: requests to answer, decisions and forks to go on with.

use std::time::Duration;

use super::Shared;
use crate::store::Write;

/// One cheap read of a counter.
const LOOK: Duration = Duration::from_millis(200);

pub(super) async fn serve(shared: Shared) {
    while shared.pause(LOOK).await {
        if let Err(error) = notice(&shared).await {
            tracing::warn!(error = format!("{error:#}"), "requests could not be served");
        }
    }
}

async fn notice(shared: &Shared) -> anyhow::Result<()> {
    let store = &shared.worker.app.store;
    let now = shared.worker.app.clock.now();
    let (requests, running) = store.read(move |reader| Ok((reader.open_requests()?, reader.running(now)?))).await?;
    if !running.is_empty() {
        shared.worker.engine.resume().await?;
    }
    for (request, kind, _) in requests {
        store.write(Write::Answer { request, answer: None }).await?;
        let answer = match kind.as_str() {
            "once" => match shared.worker.look_in().await {
                Ok(report) => serde_json::to_string(&report)?,
                Err(error) => serde_json::to_string(&serde_json::json!({ "error": format!("{error:#}") }))?,
            },
            other => serde_json::to_string(&format!("this version does not know '{other}'"))?,
        };
        store.write(Write::Answer { request, answer: Some(answer) }).await?;
    }
    Ok(())
}
