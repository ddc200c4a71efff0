//! The loops of a running worker: mail, requests of other commands, reminders, rules, the memory, the day, the night. Stops
//! when told to.
//!
//! "Stop" is one token; "all stopped" is the tracker being empty. A loop that fails says so and goes on.

mod day;
mod mail;
mod memory;
mod model;
mod night;
mod pace;
mod push;
mod queue;
mod requests;
mod rules;

use std::{future::Future, sync::Arc};

use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::app::{Pulse, Worker};

/// What every loop shares.
#[derive(Clone)]
struct Shared {
    worker: Arc<Worker>,
    door: mpsc::UnboundedSender<Pulse>,
    stop: CancellationToken,
    /// Of every loop.
    tracker: TaskTracker,
}

impl Shared {
    fn tell(&self, pulse: Pulse) {
        // The door may be gone already; the database has everything.
        drop(self.door.send(pulse));
    }

    /// Sleeps; false when it is time to stop.
    async fn pause(&self, time: std::time::Duration) -> bool {
        tokio::select! {
            () = tokio::time::sleep(time) => true,
            () = self.stop.cancelled() => false,
        }
    }
}

/// Works until `shutdown` comes. Everything unfinished is continued at the next start.
pub async fn run(
    worker: Worker,
    shutdown: impl Future<Output = ()>,
    door: mpsc::UnboundedSender<Pulse>,
) -> anyhow::Result<()> {
    worker.app.memory.warm();
    let tracker = TaskTracker::new();
    let shared = Shared { worker: Arc::new(worker), door, stop: CancellationToken::new(), tracker: tracker.clone() };
    let engine = shared.worker.engine.clone();
    tracker.spawn(async move { engine.supervise_nodes().await });
    tracker.spawn(rules::follow(shared.clone()));
    tokio::pin!(shutdown);
    let started = tokio::select! {
        report = shared.worker.look_in() => Some(report),
        () = &mut shutdown => None,
    };
    if let Some(report) = started {
        match report {
            Ok(report) => shared.tell(Pulse::Started(report)),
            // The loops try again; a daemon that gives up at the first full disk helps nobody.
            Err(error) => shared.tell(Pulse::Trouble { account: "all".into(), problem: format!("{error:#}") }),
        }
        for nth in 0..shared.worker.intakes.len() {
            tracker.spawn(mail::follow(shared.clone(), nth));
        }
        tracker.spawn(mail::tell_settled(shared.clone()));
        tracker.spawn(requests::serve(shared.clone()));
        tracker.spawn(model::watch(shared.clone()));
        tracker.spawn(queue::tend(shared.clone()));
        tracker.spawn(memory::tend(shared.clone()));
        tracker.spawn(day::remind(shared.clone()));
        tracker.spawn(day::rank(shared.clone()));
        tracker.spawn(night::hold(shared.clone()));
        shutdown.await;
    }
    shared.stop.cancel();
    shared.worker.engine.stop().await;
    tracker.close();
    tracker.wait().await;
    if let Ok(worker) = Arc::try_unwrap(shared.worker) {
        worker.stop().await;
    }
    Ok(())
}
