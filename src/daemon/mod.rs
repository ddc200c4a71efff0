//! The loops of a running worker: mail, requests of other commands, unfinished runs, the approval queue, reminders,
//! rules, search vectors, the daily ranking and the nightly job.
//!
//! The daemon stops when it is told to, or when its data folder was replaced. One cancellation token means "stop"; the
//! tracker being empty means "all stopped". A loop that fails logs it and goes on. The daemon keeps no state of its
//! own: everything it needs after a restart is in the database.

mod backoff;
mod data;
mod mail;
mod memory;
mod model;
mod nightly;
mod push;
mod queue;
mod requests;
mod resume;
mod rules;
mod teams;
mod timers;

use std::{future::Future, sync::Arc};

use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::app::{PassReport, Worker, WorkerEvent};

/// What every loop shares.
#[derive(Clone)]
struct DaemonContext {
    worker: Arc<Worker>,
    events: mpsc::UnboundedSender<WorkerEvent>,
    stop: CancellationToken,
    /// Tracks every loop, so that the shutdown can wait for all of them.
    tracker: TaskTracker,
}

impl DaemonContext {
    /// Reports an event to the interface.
    fn send_event(&self, event: WorkerEvent) {
        // The receiver may be gone already; everything in the event is in the database.
        drop(self.events.send(event));
    }

    /// Reports the first pass, and starts the loops that run until the daemon stops.
    fn start_loops(&self, report: anyhow::Result<PassReport>) {
        match report {
            Ok(report) => self.send_event(WorkerEvent::Started(report)),
            // The daemon goes on, because the loops try again: a full disk at the start must not end it.
            Err(error) => {
                self.send_event(WorkerEvent::PollFailed { account: "all".into(), problem: format!("{error:#}") })
            }
        }
        for nth in 0..self.worker.followed_accounts.len() {
            self.tracker.spawn(mail::poll_account(self.clone(), nth));
        }
        self.tracker.spawn(mail::announce_settled_mail(self.clone()));
        self.tracker.spawn(requests::serve_requests(self.clone()));
        self.tracker.spawn(resume::resume_runs(self.clone()));
        self.tracker.spawn(teams::work_teams(self.clone()));
        self.tracker.spawn(model::report_model_trouble(self.clone()));
        self.tracker.spawn(queue::maintain_queue(self.clone()));
        self.tracker.spawn(memory::index_pending_documents(self.clone()));
        self.tracker.spawn(timers::announce_due_reminders(self.clone()));
        self.tracker.spawn(timers::rerank_daily(self.clone()));
        self.tracker.spawn(nightly::run_nightly_when_due(self.clone()));
    }

    /// Sleeps. Returns false when the daemon is to stop.
    async fn sleep_unless_stopped(&self, time: std::time::Duration) -> bool {
        tokio::select! {
            () = tokio::time::sleep(time) => true,
            () = self.stop.cancelled() => false,
        }
    }
}

/// Runs the daemon until `shutdown` completes. Unfinished runs are resumed at the next start. An error means that the
/// data folder was replaced meanwhile.
pub async fn run(
    worker: Worker,
    shutdown: impl Future<Output = ()>,
    events: mpsc::UnboundedSender<WorkerEvent>,
) -> anyhow::Result<()> {
    worker.app.memory.preload();
    let tracker = TaskTracker::new();
    let shared =
        DaemonContext { worker: Arc::new(worker), events, stop: CancellationToken::new(), tracker: tracker.clone() };
    let engine = shared.worker.engine.clone();
    // These two start before the first pass, which already drives runs and ranks by the rules.
    tracker.spawn(async move { engine.supervise_nodes().await });
    tracker.spawn(rules::rerank_on_rules_change(shared.clone()));
    let app = shared.worker.app.clone();
    let ended = async {
        tokio::select! {
            () = shutdown => Ok(()),
            replaced = data::until_replaced(&app) => Err(replaced),
        }
    };
    tokio::pin!(ended);
    let started = tokio::select! {
        report = shared.worker.run_once_without_waiting() => Ok(report),
        outcome = &mut ended => Err(outcome),
    };
    let outcome = match started {
        Ok(report) => {
            shared.start_loops(report);
            ended.await
        }
        Err(outcome) => outcome,
    };
    shared.stop.cancel();
    shared.worker.engine.stop().await;
    tracker.close();
    tracker.wait().await;
    // All loops have ended, so this is the last reference.
    if let Ok(worker) = Arc::try_unwrap(shared.worker) {
        worker.stop().await;
    }
    outcome.map_err(Into::into)
}
