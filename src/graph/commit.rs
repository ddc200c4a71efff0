//! Checkpoints on their way to the disk. A run is ahead of it by one at most.

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use super::{
    active_run::ActiveRun,
    call_handler::{QUEUE_ROOM_RETRY, RunDeferred},
    interrupt::{Advance, Interrupt},
};
use crate::{
    model::Checkpoint,
    reflection::ReflectionFiles,
    store::{PendingWrite, Store, StoreError, Write},
};

/// Between attempts to commit while the disk is full or another program holds the lock.
pub(super) const DISK_RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// A checkpoint that was handed to the writer. The writer takes what a run hands over in its order, and refuses a checkpoint
/// whose predecessor it refused.
pub(super) struct InFlightCheckpoint {
    checkpoint: Arc<Checkpoint>,
    pending: PendingWrite,
}

/// Whether a commit had to wait until there was room on the disk.
#[derive(PartialEq, Eq)]
enum CommitDelay {
    None,
    Waited,
}

/// Commits the checkpoints of runs.
pub(super) struct CheckpointCommitter {
    pub(super) store: Store,
    pub(super) journal: Option<ReflectionFiles>,
    pub(super) stop: CancellationToken,
}

impl CheckpointCommitter {
    /// Sends a checkpoint behind the one in flight and waits for that one. The new one is in flight then.
    pub(super) async fn submit(&self, run: &mut ActiveRun, checkpoint: &Arc<Checkpoint>) -> Advance {
        let mut next = self.send(checkpoint)?;
        if let Some(before) = run.in_flight_checkpoint.take()
            && self.finish(run, before).await? == CommitDelay::Waited
        {
            // It reached the writer before the one it follows, and was refused.
            next = self.send(checkpoint)?;
        }
        run.in_flight_checkpoint = Some(next);
        Ok(())
    }

    /// Waits until the checkpoint in flight, if there is one, is stored.
    pub(super) async fn await_in_flight(&self, run: &mut ActiveRun) -> Advance {
        if let Some(in_flight) = run.in_flight_checkpoint.take() {
            self.finish(run, in_flight).await?;
        }
        Ok(())
    }

    fn send(&self, checkpoint: &Arc<Checkpoint>) -> Advance<InFlightCheckpoint> {
        let pending = self.store.enqueue(Write::Checkpoint(Arc::clone(checkpoint)))?;
        Ok(InFlightCheckpoint { checkpoint: Arc::clone(checkpoint), pending })
    }

    /// Waits for a checkpoint, then writes its reflection and remembers the runs that it opened.
    async fn finish(&self, run: &mut ActiveRun, in_flight: InFlightCheckpoint) -> Advance<CommitDelay> {
        let checkpoint = Arc::clone(&in_flight.checkpoint);
        let delay = self.await_commit(in_flight).await?;
        if let (Some(journal), Some((day, line))) = (&self.journal, checkpoint.reflection.as_deref()) {
            journal.append(day, line);
        }
        run.children.extend(checkpoint.runs.iter().cloned().map(|new| ActiveRun::from_new_run(new, run.mail.clone())));
        Ok(delay)
    }

    pub(super) async fn commit(&self, checkpoint: &Arc<Checkpoint>) -> Advance {
        self.await_commit(self.send(checkpoint)?).await.map(drop)
    }

    /// Waits until a checkpoint is stored. A full disk is waited out: the run stands still, nothing is lost, and it goes on
    /// when there is room.
    async fn await_commit(&self, in_flight: InFlightCheckpoint) -> Advance<CommitDelay> {
        let InFlightCheckpoint { checkpoint, mut pending } = in_flight;
        let mut delay = CommitDelay::None;
        loop {
            match pending.answer().await {
                Ok(_) => return Ok(delay),
                Err(error) if error.is_transient() => {
                    if delay == CommitDelay::None {
                        tracing::error!(run.id = %checkpoint.run_id, "{error}; waiting");
                    }
                    delay = CommitDelay::Waited;
                    tokio::select! {
                        () = tokio::time::sleep(DISK_RETRY_INTERVAL) => {}
                        () = self.stop.cancelled() => return Err(Interrupt::Stop),
                    }
                    pending = self.send(&checkpoint)?.pending;
                }
                Err(StoreError::QueueFull(reason)) => {
                    let until = checkpoint.entered_at.plus(QUEUE_ROOM_RETRY);
                    return Err(Interrupt::Defer(RunDeferred { reason, until }));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}
