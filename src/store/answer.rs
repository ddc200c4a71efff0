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
    prepare::Prepared,
    write::{Receipt, Write},
};

/// A commit takes about this long on a disk that syncs at once. Whoever asks alone looks out for the answer that long
/// before it sleeps: two threads that wake each other take longer than the commit itself.
const LOOK_OUT: Duration = Duration::from_micros(400);

/// What the writer is asked to do.
pub(super) struct Order {
    pub(super) write: Write,
    pub(super) prepared: Prepared,
    asker: oneshot::Sender<Answer>,
    awaited: Arc<AtomicBool>,
}

/// A write that was handed over and not answered yet. Dropping it takes nothing back.
#[must_use = "it is not stored before it says so"]
pub struct Pending {
    answer: oneshot::Receiver<Answer>,
    awaited: Arc<AtomicBool>,
    alone: bool,
}

struct Answer {
    own: Result<Receipt>,
    /// Freed by the asker: the writer's time is everybody's.
    _done: (Write, Prepared),
    /// Given on as soon as this one is taken.
    _others: Answers,
}

/// The outcomes of a batch, not yet told. The writer wakes one asker only, which tells the others from inside the runtime,
/// where that costs next to nothing: one that waits for this very answer, and not for an earlier one. Told on drop, so
/// that none is forgotten when that one has gone away.
pub(super) struct Answers(Vec<(Order, Result<Receipt>)>);

pub(super) fn order(write: Write, prepared: Prepared, alone: bool) -> (Order, Pending) {
    let (asker, answer) = oneshot::channel();
    let awaited = Arc::new(AtomicBool::new(false));
    let pending = Pending { answer, awaited: Arc::clone(&awaited), alone };
    (Order { write, prepared, asker, awaited }, pending)
}

impl Order {
    /// If the asker has gone, the answer comes back and is dropped: what was committed stays committed.
    fn answer(self, own: Result<Receipt>, others: Answers) {
        drop(self.asker.send(Answer { own, _done: (self.write, self.prepared), _others: others }));
    }
}

impl Answers {
    pub(super) fn new(outcomes: impl Iterator<Item = (Order, Result<Receipt>)>) -> Self {
        Self(outcomes.collect())
    }

    pub(super) fn give(mut self) {
        let awaited = self.0.iter().rposition(|(order, _)| order.awaited.load(Ordering::Acquire));
        if let Some(awaited) = awaited {
            let (first, own) = self.0.swap_remove(awaited);
            first.answer(own, Self(std::mem::take(&mut self.0)));
        }
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        for (order, own) in self.0.drain(..) {
            order.answer(own, Self(Vec::new()));
        }
    }
}

impl Pending {
    /// Waits until it is on the disk, or refused.
    pub async fn answer(mut self) -> Result<Receipt> {
        self.awaited.store(true, Ordering::Release);
        if self.alone
            && let Some(answer) = self.look_out()
        {
            return answer;
        }
        self.answer.await.map_err(|_| StoreError::Stopped)?.own
    }

    fn look_out(&mut self) -> Option<Result<Receipt>> {
        let patience = Instant::now() + LOOK_OUT;
        loop {
            match self.answer.try_recv() {
                Ok(answer) => return Some(answer.own),
                Err(TryRecvError::Closed) => return Some(Err(StoreError::Stopped)),
                Err(TryRecvError::Empty) if Instant::now() >= patience => return None,
                Err(TryRecvError::Empty) => std::thread::yield_now(),
            }
        }
    }
}
