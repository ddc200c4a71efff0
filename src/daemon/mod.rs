//! The loops of a running worker: mail, requests of other commands, reminders, rules, the memory, the day, the night. Stops
//! when told to, and when its data folder was replaced.
//!
//! "Stop" is one token; "all stopped" is the tracker being empty. A loop that fails says so and goes on.

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
    /// Of every loop.
    tracker: TaskTracker,
}

impl DaemonContext {
    fn send_event(&self, event: WorkerEvent) {
        // Nobody may listen any more; the database has everything.
        drop(self.events.send(event));
    }

    /// Tells what was there at the start, and starts what goes on until the end.
    fn start_loops(&self, report: anyhow::Result<PassReport>) {
        match report {
            Ok(report) => self.send_event(WorkerEvent::Started(report)),
            // The loops try again; a daemon that gives up at the first full disk helps nobody.
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
        self.tracker.spawn(model::report_model_trouble(self.clone()));
        self.tracker.spawn(queue::maintain_queue(self.clone()));
        self.tracker.spawn(memory::index_pending_documents(self.clone()));
        self.tracker.spawn(timers::announce_due_reminders(self.clone()));
        self.tracker.spawn(timers::rerank_daily(self.clone()));
        self.tracker.spawn(nightly::run_nightly_when_due(self.clone()));
    }

    /// Sleeps; false when it is time to stop.
    async fn sleep_unless_stopped(&self, time: std::time::Duration) -> bool {
        tokio::select! {
            () = tokio::time::sleep(time) => true,
            () = self.stop.cancelled() => false,
        }
    }
}

/// Works until `shutdown` comes. Everything unfinished is continued at the next start. An error means that the data folder
/// was replaced meanwhile.
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
    if let Ok(worker) = Arc::try_unwrap(shared.worker) {
        worker.stop().await;
    }
    outcome.map_err(Into::into)
}
