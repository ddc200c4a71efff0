//! How a commit is told to those who wait for it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::oneshot::{self, error::TryRecvError};

use super::{
    error::{Result, StoreError},
    prepared::PreparedWrite,
    write::{Receipt, Write},
};

/// A commit takes about this long on a disk that syncs at once. Whoever asks alone looks out for the answer that long
/// before it sleeps: two threads that wake each other take longer than the commit itself.
const SPIN_TIME: Duration = Duration::from_micros(400);

/// What the writer is asked to do.
pub(super) struct QueuedWrite {
    pub(super) write: Write,
    pub(super) prepared: PreparedWrite,
    outcome_sender: oneshot::Sender<CommitOutcome>,
    is_awaited: Arc<AtomicBool>,
}

/// A write that was handed over and not answered yet. Dropping it takes nothing back.
#[must_use = "it is not stored before it says so"]
pub struct PendingWrite {
    outcome: oneshot::Receiver<CommitOutcome>,
    is_awaited: Arc<AtomicBool>,
    is_alone: bool,
}

struct CommitOutcome {
    result: Result<Receipt>,
    /// Freed by the asker: the writer's time is everybody's.
    _done: (Write, PreparedWrite),
    /// Given on as soon as this one is taken.
    _others: BatchOutcomes,
}

/// The outcomes of a batch, not yet told. The writer wakes one asker only, which tells the others from inside the runtime,
/// where that costs next to nothing: one that waits for this very answer, and not for an earlier one. Told on drop, so
/// that none is forgotten when that one has gone away.
pub(super) struct BatchOutcomes(Vec<(QueuedWrite, Result<Receipt>)>);

pub(super) fn create_queued_write(write: Write, prepared: PreparedWrite, alone: bool) -> (QueuedWrite, PendingWrite) {
    let (asker, answer) = oneshot::channel();
    let awaited = Arc::new(AtomicBool::new(false));
    let pending = PendingWrite { outcome: answer, is_awaited: Arc::clone(&awaited), is_alone: alone };
    (QueuedWrite { write, prepared, outcome_sender: asker, is_awaited: awaited }, pending)
}

impl QueuedWrite {
    /// If the asker has gone, the answer comes back and is dropped: what was committed stays committed.
    fn deliver_outcome(self, own: Result<Receipt>, others: BatchOutcomes) {
        drop(self.outcome_sender.send(CommitOutcome {
            result: own,
            _done: (self.write, self.prepared),
            _others: others,
        }));
    }
}

impl BatchOutcomes {
    pub(super) fn new(outcomes: impl Iterator<Item = (QueuedWrite, Result<Receipt>)>) -> Self {
        Self(outcomes.collect())
    }

    pub(super) fn deliver(mut self) {
        let awaited = self.0.iter().rposition(|(order, _)| order.is_awaited.load(Ordering::Acquire));
        if let Some(awaited) = awaited {
            let (first, own) = self.0.swap_remove(awaited);
            first.deliver_outcome(own, Self(std::mem::take(&mut self.0)));
        }
    }
}

impl Drop for BatchOutcomes {
    fn drop(&mut self) {
        for (order, own) in self.0.drain(..) {
            order.deliver_outcome(own, Self(Vec::new()));
        }
    }
}

impl PendingWrite {
    /// Waits until it is on the disk, or refused.
    pub async fn answer(mut self) -> Result<Receipt> {
        self.is_awaited.store(true, Ordering::Release);
        if self.is_alone
            && let Some(answer) = self.spin_for_outcome()
        {
            return answer;
        }
        self.outcome.await.map_err(|_| StoreError::Stopped)?.result
    }

    fn spin_for_outcome(&mut self) -> Option<Result<Receipt>> {
        let patience = Instant::now() + SPIN_TIME;
        loop {
            match self.outcome.try_recv() {
                Ok(answer) => return Some(answer.result),
                Err(TryRecvError::Closed) => return Some(Err(StoreError::Stopped)),
                Err(TryRecvError::Empty) if Instant::now() >= patience => return None,
                Err(TryRecvError::Empty) => std::thread::yield_now(),
            }
        }
    }
}
