//! How the result of a commit reaches the callers that wait for it.
//!
//! The writer wakes one caller of a batch, which delivers the results of the others from inside the async runtime. That
//! keeps the writer thread from waking every caller itself, which would take longer than the commit.

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

/// How long a caller that writes alone polls for the result before it sleeps: about as long as a commit takes on a fast
/// disk. Two threads that wake each other take longer than the commit itself: with this and the polling of the writer, one
/// run at a time is 9 % faster in `cargo bench --bench engine`; either alone gains nothing.
const SPIN_TIME: Duration = Duration::from_micros(400);

/// A write in the queue of the writer.
pub(super) struct QueuedWrite {
    pub(super) write: Write,
    pub(super) prepared: PreparedWrite,
    outcome_sender: oneshot::Sender<CommitOutcome>,
    /// Whether the caller waits for this very result. Only such a caller can deliver the results of others.
    is_awaited: Arc<AtomicBool>,
}

/// A write that was handed over and has no result yet. Dropping it does not take the write back.
#[must_use = "it is not stored before it says so"]
pub struct PendingWrite {
    outcome: oneshot::Receiver<CommitOutcome>,
    is_awaited: Arc<AtomicBool>,
    /// Whether no other write was in flight, so that polling for the result is faster than sleeping.
    is_alone: bool,
}

/// The result for one caller, with what the caller frees or delivers on behalf of the writer.
struct CommitOutcome {
    result: Result<Receipt>,
    /// The write and its encoded rows, dropped by the caller: the time of the writer is shared by all.
    _done: (Write, PreparedWrite),
    /// The results of the rest of the batch, delivered when this value is dropped.
    _others: BatchOutcomes,
}

/// The results of a batch that are not delivered yet. The writer wakes one caller, which delivers the others. They are
/// delivered on drop, so that none is lost when that caller has gone away.
pub(super) struct BatchOutcomes(Vec<(QueuedWrite, Result<Receipt>)>);

/// Returns the two ends of a write: one for the queue of the writer, one for the caller.
pub(super) fn create_queued_write(write: Write, prepared: PreparedWrite, alone: bool) -> (QueuedWrite, PendingWrite) {
    let (asker, answer) = oneshot::channel();
    let awaited = Arc::new(AtomicBool::new(false));
    let pending = PendingWrite { outcome: answer, is_awaited: Arc::clone(&awaited), is_alone: alone };
    (QueuedWrite { write, prepared, outcome_sender: asker, is_awaited: awaited }, pending)
}

impl QueuedWrite {
    /// Sends the result to the caller. If the caller has gone, the result is dropped; what was committed stays
    /// committed.
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

    /// Delivers all results: through the last caller that waits, if there is one, else right here.
    pub(super) fn deliver(mut self) {
        let awaited = self.0.iter().rposition(|(order, _)| order.is_awaited.load(Ordering::Acquire));
        // If nobody waits, all results are delivered when `self` is dropped at the end.
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
    /// Waits until the write is committed or refused. Returns what the write produced.
    pub async fn answer(mut self) -> Result<Receipt> {
        self.is_awaited.store(true, Ordering::Release);
        if self.is_alone
            && let Some(answer) = self.spin_for_outcome()
        {
            return answer;
        }
        self.outcome.await.map_err(|_| StoreError::Stopped)?.result
    }

    /// Polls for the result for a moment. Returns none when it has not come by then.
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
