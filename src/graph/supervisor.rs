//! Knows which runs are in flight and which node each is in, and detects nodes that hang. A run is claimed before it is
//! driven, so that it is never driven twice at once.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::anyhow;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{active_run::ActiveRun, meeting_gate::MeetingGate, thread_queue::ThreadQueues};
use crate::model::{NodeName, RunId};

/// Knows the runs in flight, and limits how many are driven at once.
pub(super) struct RunSupervisor {
    claimed_runs: Mutex<HashMap<RunId, ClaimedRun>>,
    thread_queues: ThreadQueues,
    meeting_gate: MeetingGate,
    /// One permit for each run that may be driven at once.
    permits: Arc<Semaphore>,
    node_timeout: Duration,
}

/// A run in flight, from the moment it waits in its queue.
#[derive(Default)]
struct ClaimedRun {
    /// The node that is being evaluated, and since when; none between nodes.
    current_node: Option<(NodeName, Instant)>,
    /// Whether the node took too long. The run was parked, and any later result of it is discarded.
    is_abandoned: bool,
}

impl RunSupervisor {
    pub(super) fn new(in_flight: usize, node_timeout: Duration) -> Self {
        Self {
            claimed_runs: Mutex::default(),
            thread_queues: ThreadQueues::default(),
            meeting_gate: MeetingGate::default(),
            permits: Arc::new(Semaphore::new(in_flight)),
            node_timeout,
        }
    }

    /// Claims a run. Returns it if it may be driven now. Returns none when it is claimed already, or waits in its
    /// queue.
    pub(super) fn claim_or_enqueue(&self, run: ActiveRun) -> Option<ActiveRun> {
        // One lock covers both steps, so that mails of one conversation keep their order when two callers bring them.
        let mut claimed = self.claimed_runs.lock().unwrap_or_else(PoisonError::into_inner);
        if claimed.contains_key(&run.run_id()) {
            return None;
        }
        claimed.insert(run.run_id(), ClaimedRun::default());
        self.admit_or_enqueue(run)
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

    /// Gives up the claim on a run that will not be driven.
    pub(super) fn release_run(&self, run_id: RunId) {
        self.claimed_runs.lock().unwrap_or_else(PoisonError::into_inner).remove(&run_id);
    }

    /// Returns a claimed run if it may be driven now. If its queue is taken, the run waits in the queue; one that looks for
    /// the time of a meeting waits until the mail at hand has been read.
    pub(super) fn admit_or_enqueue(&self, run: ActiveRun) -> Option<ActiveRun> {
        self.thread_queues.admit_or_enqueue(self.meeting_gate.pass_or_hold(run)?)
    }

    /// Notes that a pass begins, which may bring mail.
    pub(super) fn begin_intake(&self) {
        self.meeting_gate.begin_intake();
    }

    /// Notes that a pass has ended. Returns the runs that may be driven now.
    pub(super) fn end_intake(&self) -> Vec<ActiveRun> {
        self.admit_all(self.meeting_gate.end_intake())
    }

    fn admit_all(&self, runs: Vec<ActiveRun>) -> Vec<ActiveRun> {
        runs.into_iter().filter_map(|run| self.thread_queues.admit_or_enqueue(run)).collect()
    }

    /// Waits for a permit to drive a run. Returns none when the process ends.
    pub(super) async fn acquire_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).acquire_owned().await.ok()
    }

    /// Releases a run that is no longer driven. Returns the next runs of its queues.
    pub(super) fn finish_run(&self, run_id: RunId, queues: &[String], permit: OwnedSemaphorePermit) -> Vec<ActiveRun> {
        let claim = self.claimed_runs.lock().unwrap_or_else(PoisonError::into_inner).remove(&run_id);
        // The permit of an abandoned run was given to another run already.
        if claim.is_some_and(|claim| !claim.is_abandoned) {
            drop(permit)
        } else {
            permit.forget()
        }
        let mut admitted = self.thread_queues.release(queues);
        admitted.extend(self.admit_all(self.meeting_gate.finish_run(run_id)));
        admitted
    }

    /// Evaluates a node, catching panics and noting the time it began. Returns none when the run is abandoned; its
    /// result must not be used.
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

    /// Notes which node a run is in. Returns none when the run is abandoned or not claimed.
    fn set_current_node(&self, run_id: RunId, current: Option<(NodeName, Instant)>) -> Option<()> {
        let mut claimed = self.claimed_runs.lock().unwrap_or_else(PoisonError::into_inner);
        claimed.get_mut(&run_id).filter(|claim| !claim.is_abandoned)?.current_node = current;
        Some(())
    }

    /// Abandons the runs whose node has exceeded its time limit, and frees their permits. Returns them with their
    /// nodes.
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
