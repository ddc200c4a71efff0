//! How a commit is told to those who wait for it.

use std::time::{Duration, Instant};

use tokio::sync::oneshot::{self, error::TryRecvError};

use super::{
    error::{Result, StoreError},
    write::Receipt,
};

/// A commit takes about this long on a disk that syncs at once. Whoever asks alone looks out for the answer that long
/// before it sleeps: two threads that wake each other take longer than the commit itself.
const LOOK_OUT: Duration = Duration::from_micros(400);

/// The writer's end of a question.
pub(super) struct Asker(oneshot::Sender<Answer>);

/// The asking end.
pub(super) struct Pending(oneshot::Receiver<Answer>);

struct Answer {
    own: Result<Receipt>,
    /// Given on as soon as this one is taken.
    _others: Answers,
}

/// The outcomes of a batch, not yet told. Only the first asker is woken by the writer, who has better things to do than
/// to wake threads; the first tells the others from inside the runtime, where that costs next to nothing. Told on drop,
/// so that none is forgotten when the first has gone away.
pub(super) struct Answers(Vec<(Asker, Result<Receipt>)>);

pub(super) fn question() -> (Asker, Pending) {
    let (sender, receiver) = oneshot::channel();
    (Asker(sender), Pending(receiver))
}

impl Answers {
    pub(super) fn new(outcomes: impl Iterator<Item = (Asker, Result<Receipt>)>) -> Self {
        Self(outcomes.collect())
    }

    pub(super) fn give(mut self) {
        let Some((first, own)) = self.0.pop() else { return };
        let others = Self(std::mem::take(&mut self.0));
        // If the asker has gone, the answer comes back and is dropped, and the others are told.
        drop(first.0.send(Answer { own, _others: others }));
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        for (asker, own) in self.0.drain(..) {
            // The asker may have gone away; what was committed stays committed.
            drop(asker.0.send(Answer { own, _others: Self(Vec::new()) }));
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
