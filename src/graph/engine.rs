//! The handle of the engine: starts runs, finds unfinished ones, waits until all are done.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    active_run::ActiveRun,
    call_handler::CallHandler,
    interrupt::Interrupt,
    node::Nodes,
    supervisor::ClaimedRun,
    thread_queue::ThreadQueues,
    topology::{GraphTopology, InvalidTopology},
};
use crate::{
    clock::Clock,
    model::{RunId, RunStatus},
    reflection::ReflectionFiles,
    store::{Store, Write},
};

/// How much at once, how long, how often.
#[derive(Debug, Clone)]
pub struct EngineLimits {
    /// Runs in flight: enough to share an fsync, few enough to bound memory.
    pub in_flight: usize,
    /// A node is a function over bounded input; one that takes this long hangs.
    pub node_timeout: Duration,
    /// For one call on a node's behalf.
    pub call_timeout: Duration,
    pub attempts: u32,
    /// Before the second attempt; doubled for each further one.
    pub backoff: Duration,
}

impl Default for EngineLimits {
    fn default() -> Self {
        Self {
            in_flight: 64,
            node_timeout: Duration::from_secs(10),
            call_timeout: Duration::from_secs(10),
            attempts: 3,
            backoff: Duration::from_millis(100),
        }
    }
}

#[derive(Clone)]
pub struct Engine(pub(super) Arc<EngineInner>);

pub(super) struct EngineInner {
    pub(super) topology: GraphTopology,
    pub(super) nodes: Nodes,
    pub(super) call_handler: Arc<dyn CallHandler>,
    pub(super) store: Store,
    pub(super) clock: Clock,
    pub(super) limits: EngineLimits,
    pub(super) journal: Option<ReflectionFiles>,
    pub(super) permits: Arc<Semaphore>,
    pub(super) thread_queues: ThreadQueues,
    pub(super) claimed_runs: Mutex<HashMap<RunId, ClaimedRun>>,
    pub(super) tracker: TaskTracker,
    pub(super) stop: CancellationToken,
}

impl Engine {
    pub fn new(
        nodes: Nodes,
        answer: Arc<dyn CallHandler>,
        store: Store,
        clock: Clock,
        limits: EngineLimits,
        journal: Option<ReflectionFiles>,
    ) -> Result<Self, InvalidTopology> {
        let permits = Arc::new(Semaphore::new(limits.in_flight));
        let engine = Self(Arc::new(EngineInner {
            topology: GraphTopology::standard()?,
            nodes,
            call_handler: answer,
            store,
            clock,
            limits,
            journal,
            permits,
            thread_queues: ThreadQueues::default(),
            claimed_runs: Mutex::default(),
            tracker: TaskTracker::new(),
            stop: CancellationToken::new(),
        }));
        Ok(engine)
    }

    pub fn topology(&self) -> &GraphTopology {
        &self.0.topology
    }

    /// Sets a run going as soon as there is room. Waiting here is what slows the source down.
    pub async fn start_run(&self, ticket: ActiveRun) {
        if self.0.stop.is_cancelled() {
            return;
        }
        if let Some(ticket) = self.0.claim_or_enqueue(ticket) {
            self.spawn_with_permit(ticket).await;
        }
    }

    async fn spawn_with_permit(&self, ticket: ActiveRun) {
        // Closed only when the process ends; the run is found again at the next start.
        let Ok(permit) = Arc::clone(&self.0.permits).acquire_owned().await else { return };
        self.0.spawn_run(ticket, Some(permit));
    }

    /// Goes on with everything that was left unfinished and is not in hand; how many that were.
    pub async fn resume_unfinished_runs(&self) -> anyhow::Result<usize> {
        let now = self.0.clock.now();
        let running = self.0.store.read(move |reader| reader.runs().resumable(now)).await?;
        let mut resumed = 0;
        for run_id in running {
            // Taken in hand before it is read: whoever had it has let go of it after its last commit.
            if self.0.stop.is_cancelled() || !self.0.try_claim(run_id) {
                continue;
            }
            match self.0.load_run(run_id).await {
                Ok(Some(ticket)) => {
                    resumed += 1;
                    if let Some(ticket) = self.0.thread_queues.admit_or_enqueue(ticket) {
                        self.spawn_with_permit(ticket).await;
                    }
                }
                Ok(None) => self.0.release_run(run_id),
                Err(Interrupt::Fail(error)) => {
                    self.0.release_run(run_id);
                    self.park_unloadable_run(run_id, &format!("{error:#}")).await;
                }
                Err(_) => self.0.release_run(run_id),
            }
        }
        Ok(resumed)
    }

    /// If that cannot be stored, it is tried again with the next look; the others go on.
    async fn park_unloadable_run(&self, run_id: RunId, reason: &str) {
        tracing::error!(run.id = %run_id, reason, "a run cannot be continued; it is parked");
        let end =
            Write::EndRun { run_id, status: RunStatus::Parked, reason: reason.to_owned(), at: self.0.clock.now() };
        if let Err(error) = self.0.store.write(end).await {
            tracing::error!(run.id = %run_id, %error, "a run could not be parked");
        }
    }

    pub fn is_stopping(&self) -> bool {
        self.0.stop.is_cancelled()
    }

    /// Until nothing is in flight or in line.
    pub async fn wait_until_idle(&self) {
        // A closed tracker still takes runs; only a closed one says when it is empty.
        self.0.tracker.close();
        self.0.tracker.wait().await;
    }

    /// Lets every run finish the node it is in, then stops. What is unfinished is continued at the next start.
    pub async fn stop(&self) {
        self.0.stop.cancel();
        self.0.tracker.close();
        // A node that never comes back cannot be waited for; its run was parked, or is found again.
        let patience = self.0.limits.node_timeout + self.0.limits.call_timeout;
        if tokio::time::timeout(patience, self.0.tracker.wait()).await.is_err() {
            tracing::error!("a node did not come back; stopping without it");
        }
    }
}
