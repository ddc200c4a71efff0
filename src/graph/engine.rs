//! The handle of the engine: starts runs, finds unfinished ones, waits until all are done.

use std::{sync::Arc, time::Duration};

use tokio::sync::OwnedSemaphorePermit;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    active_run::ActiveRun,
    call_handler::CallHandler,
    call_recorder::CallRecorder,
    commit::CheckpointCommitter,
    drive::RunDriver,
    interrupt::Interrupt,
    node::Nodes,
    supervisor::RunSupervisor,
    topology::{GraphTopology, InvalidTopology},
};
use crate::{clock::Clock, model::RunId, reflection::ReflectionFiles, store::Store};

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

/// A cheap handle on the engine.
#[derive(Clone)]
pub struct Engine {
    driver: Arc<RunDriver>,
    supervisor: Arc<RunSupervisor>,
    tracker: TaskTracker,
    stop: CancellationToken,
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
        let stop = CancellationToken::new();
        let supervisor = Arc::new(RunSupervisor::new(limits.in_flight, limits.node_timeout));
        let driver = RunDriver {
            topology: GraphTopology::standard()?,
            nodes,
            calls: CallRecorder {
                handler: answer,
                store: store.clone(),
                call_timeout: limits.call_timeout,
                stop: stop.clone(),
            },
            committer: CheckpointCommitter { store: store.clone(), journal, stop: stop.clone() },
            store,
            clock,
            limits,
            supervisor: Arc::clone(&supervisor),
            stop: stop.clone(),
        };
        Ok(Self { driver: Arc::new(driver), supervisor, tracker: TaskTracker::new(), stop })
    }

    pub fn topology(&self) -> &GraphTopology {
        &self.driver.topology
    }

    /// Sets a run going as soon as there is room. Waiting here is what slows the source down.
    pub async fn start_run(&self, run: ActiveRun) {
        if self.stop.is_cancelled() {
            return;
        }
        if let Some(run) = self.supervisor.claim_or_enqueue(run) {
            self.spawn_with_permit(run).await;
        }
    }

    async fn spawn_with_permit(&self, run: ActiveRun) {
        // None only when the process ends; the run is found again at the next start.
        let Some(permit) = self.supervisor.acquire_permit().await else { return };
        self.spawn_run(run, Some(permit));
    }

    /// Drives a claimed run on a task of its own, then whatever waits behind it in its queue and the runs it opened.
    fn spawn_run(&self, run: ActiveRun, permit: Option<OwnedSemaphorePermit>) {
        let engine = self.clone();
        self.tracker.spawn(async move {
            let permit = match permit {
                Some(permit) => permit,
                None => match engine.supervisor.acquire_permit().await {
                    Some(permit) => permit,
                    None => return,
                },
            };
            let (run_id, queue) = (run.run_id(), run.queue_key());
            let children = engine.driver.drive_run(run).await;
            if let Some(next) = engine.supervisor.finish_run(run_id, queue, permit) {
                engine.spawn_run(next, None);
            }
            for child in children.into_iter().filter_map(|child| engine.supervisor.claim_or_enqueue(child)) {
                engine.spawn_run(child, None);
            }
        });
    }

    /// Resumes unfinished runs nobody is driving. Returns their number.
    pub async fn resume_unfinished_runs(&self) -> anyhow::Result<usize> {
        let now = self.driver.clock.now();
        let running = self.driver.store.read(move |reader| reader.runs().resumable(now)).await?;
        let mut resumed = 0;
        for run_id in running {
            // Claimed before it is read: whoever had it has released it after its last commit.
            if !self.stop.is_cancelled() && self.supervisor.try_claim(run_id) {
                resumed += usize::from(self.resume_claimed_run(run_id).await);
            }
        }
        Ok(resumed)
    }

    /// Loads a run and sets it going. Returns false when there is nothing to go on with.
    async fn resume_claimed_run(&self, run_id: RunId) -> bool {
        match self.driver.load_run(run_id).await {
            Ok(Some(run)) => {
                if let Some(run) = self.supervisor.admit_or_enqueue(run) {
                    self.spawn_with_permit(run).await;
                }
                return true;
            }
            Err(Interrupt::Fail(error)) => {
                self.supervisor.release_run(run_id);
                self.park_unloadable_run(run_id, &format!("{error:#}")).await;
            }
            Ok(None) | Err(_) => self.supervisor.release_run(run_id),
        }
        false
    }

    /// Parks a run that cannot be read. If that cannot be stored, it is tried again with the next look; the others go on.
    async fn park_unloadable_run(&self, run_id: RunId, reason: &str) {
        tracing::error!(run.id = %run_id, reason, "a run cannot be continued; it is parked");
        if let Err(error) = self.driver.end_run_parked(run_id, reason).await {
            tracing::error!(run.id = %run_id, %error, "a run could not be parked");
        }
    }

    /// Watches until the engine stops: a node that exceeds its time has its run parked and its place given to others.
    pub async fn supervise_nodes(&self) {
        let pause = (self.driver.limits.node_timeout / 4).clamp(Duration::from_millis(20), Duration::from_secs(1));
        while !self.stop.is_cancelled() {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.stop.cancelled() => return,
            }
            for (run_id, node) in self.supervisor.abandon_overdue_runs() {
                if let Err(error) = self.driver.park_overdue_run(run_id, node).await {
                    tracing::error!(run.id = %run_id, node = %node, error = format!("{error:#}"), "an overdue run could not be parked");
                }
            }
        }
    }

    pub fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Waits until nothing is in flight or in a queue.
    pub async fn wait_until_idle(&self) {
        // A closed tracker still takes runs; only a closed one says when it is empty.
        self.tracker.close();
        self.tracker.wait().await;
    }

    /// Lets every run finish the node it is in, then stops. What is unfinished is continued at the next start.
    pub async fn stop(&self) {
        self.stop.cancel();
        self.tracker.close();
        // A node that never comes back cannot be waited for; its run was parked, or is found again.
        let patience = self.driver.limits.node_timeout + self.driver.limits.call_timeout;
        if tokio::time::timeout(patience, self.tracker.wait()).await.is_err() {
            tracing::error!("a node did not come back; stopping without it");
        }
    }
}
