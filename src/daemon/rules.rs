//! Follows the rules file: a new version ranks open tasks again, a broken one is reported and changes nothing.

use std::sync::Arc;

use super::DaemonContext;
use crate::app::WorkerEvent;

/// Ranks open tasks again at the start and at every change of the rules, until the daemon stops.
pub(super) async fn rerank_on_rules_change(shared: DaemonContext) {
    let mut rules = shared.worker.rules.clone();
    loop {
        let current = Arc::clone(&rules.borrow_and_update());
        if let Some(broken) = &current.broken {
            shared.send_event(WorkerEvent::RulesBroken(broken.to_string()));
        }
        match shared.worker.app.tasks().rerank_if_rules_changed(&current.rules).await {
            Ok(0) => {}
            Ok(reranked) => {
                shared.send_event(WorkerEvent::RulesChanged { version: current.rules.version().to_owned(), reranked })
            }
            Err(error) => tracing::warn!(error = format!("{error:#}"), "tasks could not be ranked again"),
        }
        tokio::select! {
            changed = rules.changed() => if changed.is_err() { return },
            () = shared.stop.cancelled() => return,
        }
    }
}
