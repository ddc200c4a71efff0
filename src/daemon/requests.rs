//! Answers the requests that other commands leave in the database.

use std::time::Duration;

use super::DaemonContext;
use crate::{model::RequestKind, store::Write};

/// The pause between two looks for requests. A look is one cheap read.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Answers requests until the daemon stops.
pub(super) async fn serve_requests(shared: DaemonContext) {
    while shared.sleep_unless_stopped(POLL_INTERVAL).await {
        if let Err(error) = resume_runs_and_serve_requests(&shared).await {
            tracing::warn!(error = format!("{error:#}"), "requests could not be served");
        }
    }
}

/// Answers all open requests, one after the other. A request is marked as taken before it is done. If a pass or the
/// nightly job fails, the failure is the answer, because the command that waits must hear of it.
async fn resume_runs_and_serve_requests(shared: &DaemonContext) -> anyhow::Result<()> {
    let app = &shared.worker.app;
    let store = &app.store;
    let requests = store.read(|reader| reader.requests().open()).await?;
    for (request, kind) in requests {
        store.write(Write::UpdateRequest { request, answer: None }).await?;
        let answer = match kind {
            RequestKind::Once => match shared.worker.run_once_without_waiting().await {
                Ok(report) => serde_json::to_string(&report)?,
                Err(error) => serde_json::to_string(&serde_json::json!({ "error": format!("{error:#}") }))?,
            },
            RequestKind::RebuildMemory => {
                app.memory.reset().await?;
                serde_json::to_string(&app.search().memory_status().await?)?
            }
            RequestKind::Reflect => match shared.worker.app.nightly().run_unless_done_today().await {
                Ok(reflected) => serde_json::to_string(&reflected)?,
                Err(error) => serde_json::to_string(&serde_json::json!({ "error": format!("{error:#}") }))?,
            },
        };
        store.write(Write::UpdateRequest { request, answer: Some(answer) }).await?;
    }
    Ok(())
}
