//! The handle of the engine: starts runs, resumes unfinished ones, and waits until all are done.

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

/// The limits of concurrency, time and retries.
#[derive(Debug, Clone)]
pub struct EngineLimits {
    /// The number of runs driven at once: enough to share an fsync, few enough to bound memory.
    pub in_flight: usize,
    /// The time after which a node counts as hanging. A node computes over bounded input and needs milliseconds.
    pub node_timeout: Duration,
    /// The time limit of one call of a node.
    pub call_timeout: Duration,
    /// The time limit of one call of a step of a plan, within which every started call must have ended.
    pub step_call_timeout: Duration,
    /// How often a call that reads is made again after a transient error.
    pub call_retries: usize,
    /// How often a failing node is evaluated before its run is parked.
    pub attempts: u32,
    /// The pause before the second attempt; doubled for each further one.
    pub backoff: Duration,
}

impl Default for EngineLimits {
    fn default() -> Self {
        Self {
            in_flight: 64,
            node_timeout: Duration::from_secs(10),
            call_timeout: Duration::from_secs(10),
            step_call_timeout: Duration::from_secs(30),
            call_retries: 2,
            attempts: 3,
            backoff: Duration::from_millis(100),
        }
    }
}

/// The handle of the engine. Clones are cheap and share the same runs.
#[derive(Clone)]
pub struct Engine {
    driver: Arc<RunDriver>,
    supervisor: Arc<RunSupervisor>,
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Engine {
    /// Returns an engine. Fails when the topology of the graph is not valid; the topology is checked here, before the
    /// first mail is read.
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
                step_call_timeout: limits.step_call_timeout,
                call_retries: limits.call_retries,
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

    /// Starts a run as soon as fewer than `in_flight` runs are driven. The wait is the backpressure on the source: mail
    /// is not read faster than it is worked on. Returns at once for a run that is already driven or must wait in its
    /// queue.
    pub async fn start_run(&self, run: ActiveRun) {
        if self.stop.is_cancelled() {
            return;
        }
        if let Some(run) = self.supervisor.claim_or_enqueue(run) {
            self.spawn_with_permit(run).await;
        }
    }

    /// Waits for a permit, then drives the run in a task of its own.
    async fn spawn_with_permit(&self, run: ActiveRun) {
        // There is no permit only when the process ends. The run is resumed at the next start.
        let Some(permit) = self.supervisor.acquire_permit().await else { return };
        self.spawn_run(run, Some(permit));
    }

    /// Drives a claimed run in a task of its own, then the next run of its queue and the runs that it opened.
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
            let (run_id, queues) = (run.run_id(), run.queue_keys());
            let children = engine.driver.drive_run(run).await;
            // The children come first, so that they are there when this run is the last that others wait for.
            let children = children.into_iter().filter_map(|child| engine.supervisor.claim_or_enqueue(child));
            let mut runs: Vec<ActiveRun> = children.collect();
            runs.extend(engine.supervisor.finish_run(run_id, &queues, permit));
            runs.into_iter().for_each(|next| engine.spawn_run(next, None));
        });
    }

    /// Marks that mail is being taken in, as long as the returned value lives: until it has been read, no time for a meeting
    /// is looked for.
    pub fn begin_intake(&self) -> RunningIntake {
        self.supervisor.begin_intake();
        RunningIntake(self.clone())
    }

    /// Resumes the unfinished runs that nobody drives. Returns their number.
    pub async fn resume_unfinished_runs(&self) -> anyhow::Result<usize> {
        let now = self.driver.clock.now();
        let running = self.driver.store.read(move |reader| reader.runs().resumable(now)).await?;
        let mut resumed = 0;
        for run_id in running {
            // The claim comes before the read: whoever drove the run released it only after its last commit, so that
            // the read sees that commit.
            if !self.stop.is_cancelled() && self.supervisor.try_claim(run_id) {
                resumed += usize::from(self.resume_claimed_run(run_id).await);
            }
        }
        Ok(resumed)
    }

    /// Loads a claimed run and starts it. Returns false when there is nothing to resume.
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

    /// Parks a run that cannot be read, so that the other runs go on. If the parking cannot be stored, the next resume
    /// tries again.
    async fn park_unloadable_run(&self, run_id: RunId, reason: &str) {
        tracing::error!(run.id = %run_id, reason, "a run cannot be continued; it is parked");
        if let Err(error) = self.driver.end_run_parked(run_id, reason).await {
            tracing::error!(run.id = %run_id, %error, "a run could not be parked");
        }
    }

    /// Watches the nodes until the engine stops. When a node exceeds its time limit, its run is parked and its permit
    /// is given to another run. The thread of the hanging node is lost, the engine is not.
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

    /// Waits until no run is driven or queued.
    pub async fn wait_until_idle(&self) {
        // Closing does not refuse new runs. It is needed because only a closed tracker reports that it is empty.
        self.tracker.close();
        self.tracker.wait().await;
    }

    /// Stops the engine after every run has finished the node it is in. Unfinished runs are resumed at the next start.
    pub async fn stop(&self) {
        self.stop.cancel();
        self.tracker.close();
        // A hanging node cannot be waited for. Its run was parked, or is resumed at the next start.
        let patience = self.driver.limits.node_timeout + self.driver.limits.call_timeout;
        if tokio::time::timeout(patience, self.tracker.wait()).await.is_err() {
            tracing::error!("a node hangs; stopping without it");
        }
    }
}

/// A pass that takes mail in. When it ends, the runs that waited for it are driven.
#[must_use]
pub struct RunningIntake(Engine);

impl Drop for RunningIntake {
    fn drop(&mut self) {
        for run in self.0.supervisor.end_intake() {
            self.0.spawn_run(run, None);
        }
    }
}
