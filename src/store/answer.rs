//! How a commit is told to those who wait for it.

use std::time::{Duration, Instant};

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
}

/// The asking end.
pub(super) struct Pending(oneshot::Receiver<Answer>);

struct Answer {
    own: Result<Receipt>,
    /// Freed by the asker: the writer's time is everybody's.
    _done: (Write, Prepared),
    /// Given on as soon as this one is taken.
    _others: Answers,
}

/// The outcomes of a batch, not yet told. Only the first asker is woken by the writer; it tells the others from inside
/// the runtime, where that costs next to nothing. Told on drop, so that none is forgotten when the first has gone away.
pub(super) struct Answers(Vec<(Order, Result<Receipt>)>);

pub(super) fn order(write: Write, prepared: Prepared) -> (Order, Pending) {
    let (asker, answer) = oneshot::channel();
    (Order { write, prepared, asker }, Pending(answer))
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
        if let Some((first, own)) = self.0.pop() {
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
    pub(super) async fn answer(mut self, alone: bool) -> Result<Receipt> {
        if alone && let Some(answer) = self.look_out() {
            return answer;
        }
        self.0.await.map_err(|_| StoreError::Stopped)?.own
    }

    fn look_out(&mut self) -> Option<Result<Receipt>> {
        let patience = Instant::now() + LOOK_OUT;
        loop {
            match self.0.try_recv() {
                Ok(answer) => return Some(answer.own),
                Err(TryRecvError::Closed) => return Some(Err(StoreError::Stopped)),
                Err(TryRecvError::Empty) if Instant::now() >= patience => return None,
                Err(TryRecvError::Empty) => std::thread::yield_now(),
            }
        }
    }
}
