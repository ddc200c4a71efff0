//! Which runs are in flight and which node each is in, and the watch over nodes that do not come back.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::anyhow;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{active_run::ActiveRun, thread_queue::ThreadQueues};
use crate::model::{NodeName, RunId};

/// Knows the runs in flight, and lets as many of them be driven at once as there are permits.
pub(super) struct RunSupervisor {
    claimed_runs: Mutex<HashMap<RunId, ClaimedRun>>,
    thread_queues: ThreadQueues,
    permits: Arc<Semaphore>,
    node_timeout: Duration,
}

/// One run in flight, from the moment it waits in its queue: which node it is in, since when.
#[derive(Default)]
struct ClaimedRun {
    current_node: Option<(NodeName, Instant)>,
    /// Its node took too long; the run was parked, and whatever still comes of it counts no more.
    is_abandoned: bool,
}

impl RunSupervisor {
    pub(super) fn new(in_flight: usize, node_timeout: Duration) -> Self {
        Self {
            claimed_runs: Mutex::default(),
            thread_queues: ThreadQueues::default(),
            permits: Arc::new(Semaphore::new(in_flight)),
            node_timeout,
        }
    }

    /// Claims a run. Returns none when it is claimed already, or waits in its queue for those before it.
    pub(super) fn claim_or_enqueue(&self, run: ActiveRun) -> Option<ActiveRun> {
        // One lock over both, so that two who bring the same mails keep them in order.
        let mut claimed = self.claimed_runs.lock().unwrap_or_else(PoisonError::into_inner);
        if claimed.contains_key(&run.run_id()) {
            return None;
        }
        claimed.insert(run.run_id(), ClaimedRun::default());
        self.thread_queues.admit_or_enqueue(run)
    }

    /// Claims a run before it is read from the store. Returns false when it is claimed already.
    pub(super) fn try_claim(&self, run_id: RunId) -> bool {
        let mut claimed = self.claimed_runs.lock().unwrap_or_else(PoisonError::into_inner);
        let free = !claimed.contains_key(&run_id);
        if free {
            claimed.insert(run_id, ClaimedRun::default());
        }
        free
    }

    pub(super) fn release_run(&self, run_id: RunId) {
        self.claimed_runs.lock().unwrap_or_else(PoisonError::into_inner).remove(&run_id);
    }

    /// Returns a claimed run that may be driven now. One whose queue is taken waits in it.
    pub(super) fn admit_or_enqueue(&self, run: ActiveRun) -> Option<ActiveRun> {
        self.thread_queues.admit_or_enqueue(run)
    }

    /// Waits for a place in flight. Returns none when the process ends.
    pub(super) async fn acquire_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).acquire_owned().await.ok()
    }

    /// Releases a run that is not driven any more. Returns the next one in its queue.
    pub(super) fn finish_run(
        &self,
        run_id: RunId,
        queue: Option<String>,
        permit: OwnedSemaphorePermit,
    ) -> Option<ActiveRun> {
        let claim = self.claimed_runs.lock().unwrap_or_else(PoisonError::into_inner).remove(&run_id);
        // The place of an abandoned run is taken by another already.
        if claim.is_some_and(|claim| !claim.is_abandoned) {
            drop(permit)
        } else {
            permit.forget()
        }
        queue.and_then(|queue| self.thread_queues.dequeue_next(&queue))
    }

    /// Evaluates a node, guarded against panics and watched for overruns. Returns none when the run is abandoned.
    pub(super) fn watch_node<T>(
        &self,
        run_id: RunId,
        node: NodeName,
        evaluate: impl FnOnce() -> anyhow::Result<T>,
    ) -> Option<anyhow::Result<T>> {
        self.set_current_node(run_id, Some((node, Instant::now())))?;
        let outcome = catch_unwind(AssertUnwindSafe(evaluate));
        self.set_current_node(run_id, None)?;
        Some(outcome.unwrap_or_else(|panic| {
            let text = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned());
            Err(anyhow!("it panicked: {}", text.unwrap_or_default()))
        }))
    }

    fn set_current_node(&self, run_id: RunId, current: Option<(NodeName, Instant)>) -> Option<()> {
        let mut claimed = self.claimed_runs.lock().unwrap_or_else(PoisonError::into_inner);
        claimed.get_mut(&run_id).filter(|claim| !claim.is_abandoned)?.current_node = current;
        Some(())
    }

    /// Abandons the runs whose node has exceeded its time and gives their places to others. Returns them.
    pub(super) fn abandon_overdue_runs(&self) -> Vec<(RunId, NodeName)> {
        let mut claimed = self.claimed_runs.lock().unwrap_or_else(PoisonError::into_inner);
        let mut overdue = Vec::new();
        for (run_id, claim) in claimed.iter_mut().filter(|(_, claim)| !claim.is_abandoned) {
            if let Some((node, _)) = claim.current_node.filter(|(_, since)| since.elapsed() > self.node_timeout) {
                claim.is_abandoned = true;
                overdue.push((*run_id, node));
            }
        }
        self.permits.add_permits(overdue.len());
        overdue
    }
}
