//! Runs in flight, and the watch over nodes that do not come back.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use anyhow::anyhow;
use tokio::sync::OwnedSemaphorePermit;

use super::{
    active_run::ActiveRun,
    engine::{Engine, EngineInner},
    entry::{NodeInput, NodeOutput},
};
use crate::model::{NodeName, RunId};

/// One run in hand, from the moment it waits in line: which node it is in, since when.
#[derive(Default)]
pub(super) struct ClaimedRun {
    current_node: Option<(NodeName, Instant)>,
    /// Its node took too long; the run was parked, and whatever still comes of it counts no more.
    is_abandoned: bool,
}

impl EngineInner {
    /// Takes a run in hand. None when it is in hand already, or waits in its lane for those before it.
    pub(super) fn claim_or_enqueue(&self, ticket: ActiveRun) -> Option<ActiveRun> {
        // One lock over both, so that two who bring the same mails keep them in order.
        let mut flights = self.claimed_runs.lock().unwrap_or_else(PoisonError::into_inner);
        if flights.contains_key(&ticket.run_id()) {
            return None;
        }
        flights.insert(ticket.run_id(), ClaimedRun::default());
        self.thread_queues.admit_or_enqueue(ticket)
    }

    /// Takes a run in hand before it is read from the store. False when it is in hand already.
    pub(super) fn try_claim(&self, run_id: RunId) -> bool {
        let mut flights = self.claimed_runs.lock().unwrap_or_else(PoisonError::into_inner);
        let free = !flights.contains_key(&run_id);
        if free {
            flights.insert(run_id, ClaimedRun::default());
        }
        free
    }

    pub(super) fn release_run(&self, run_id: RunId) {
        self.claimed_runs.lock().unwrap_or_else(PoisonError::into_inner).remove(&run_id);
    }

    /// Drives a claimed ticket on a task of its own, then whatever waits behind it in its lane.
    pub(super) fn spawn_run(self: &Arc<Self>, ticket: ActiveRun, permit: Option<OwnedSemaphorePermit>) {
        let engine = Arc::clone(self);
        let (run_id, lane) = (ticket.run_id(), ticket.queue_key());
        self.tracker.spawn(async move {
            let permit = match permit {
                Some(permit) => permit,
                None => match Arc::clone(&engine.permits).acquire_owned().await {
                    Ok(permit) => permit,
                    Err(_) => return,
                },
            };
            let returned = engine.drive_run(ticket).await;
            let flight = engine.claimed_runs.lock().unwrap_or_else(PoisonError::into_inner).remove(&run_id);
            // The place of a run that was given up is taken by another already.
            if flight.is_some_and(|flight| !flight.is_abandoned) {
                drop(permit)
            } else {
                permit.forget()
            }
            if let Some(next) = lane.and_then(|lane| engine.thread_queues.dequeue_next(&lane)) {
                engine.spawn_run(next, None);
            }
            for child in returned.into_iter().filter_map(|child| engine.claim_or_enqueue(child)) {
                engine.spawn_run(child, None);
            }
        });
    }

    /// Enters a node, guarded against panics and watched for overruns. None when the watch has given the run away.
    pub(super) fn evaluate_node(&self, node: NodeName, entry: &NodeInput<'_>) -> Option<anyhow::Result<NodeOutput>> {
        let run_id = entry.run.run_id;
        self.set_current_node(run_id, Some((node, Instant::now())))?;
        let outcome = catch_unwind(AssertUnwindSafe(|| self.nodes.get(node).evaluate(entry)));
        self.set_current_node(run_id, None)?;
        Some(outcome.unwrap_or_else(|panic| {
            let text = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned());
            Err(anyhow!("it panicked: {}", text.unwrap_or_default()))
        }))
    }

    fn set_current_node(&self, run_id: RunId, inside: Option<(NodeName, Instant)>) -> Option<()> {
        let mut flights = self.claimed_runs.lock().unwrap_or_else(PoisonError::into_inner);
        flights.get_mut(&run_id).filter(|flight| !flight.is_abandoned)?.current_node = inside;
        Some(())
    }

    fn abandon_overdue_runs(&self) -> Vec<(RunId, NodeName)> {
        let mut flights = self.claimed_runs.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = self.limits.node_timeout;
        let mut late = Vec::new();
        for (run, flight) in flights.iter_mut().filter(|(_, flight)| !flight.is_abandoned) {
            if let Some((node, _)) = flight.current_node.filter(|(_, since)| since.elapsed() > limit) {
                flight.is_abandoned = true;
                late.push((*run, node));
            }
        }
        late
    }
}

impl Engine {
    /// Watches until the engine stops: a node that exceeds its time has its run parked and its place given to others.
    pub async fn supervise_nodes(&self) {
        let pause = (self.0.limits.node_timeout / 4).clamp(Duration::from_millis(20), Duration::from_secs(1));
        while !self.0.stop.is_cancelled() {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.0.stop.cancelled() => return,
            }
            for (run_id, node) in self.0.abandon_overdue_runs() {
                self.0.permits.add_permits(1);
                if let Err(error) = self.0.park_overdue_run(run_id, node).await {
                    tracing::error!(run.id = %run_id, node = %node, error = format!("{error:#}"), "an overdue run could not be parked");
                }
            }
        }
    }
}
