//! Commits checkpoints. A run may be ahead of the store by at most one checkpoint. While the writer commits a
//! checkpoint, the run already evaluates its next node, so that many runs share one fsync. Nothing outside the process
//! may happen because of a checkpoint that is not committed.

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

/// The pause between attempts to commit while the disk is full or another program holds the database lock.
pub(super) const DISK_RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// A checkpoint that was handed to the writer and is not committed yet. The writer handles the checkpoints of a run in
/// order, and refuses one whose predecessor it refused.
pub(super) struct InFlightCheckpoint {
    checkpoint: Arc<Checkpoint>,
    pending: PendingWrite,
}

/// Whether a commit had to wait for a full disk or a locked database.
#[derive(PartialEq, Eq)]
enum CommitDelay {
    None,
    Waited,
}

/// Hands checkpoints to the store's writer and waits until they are committed.
pub(super) struct CheckpointCommitter {
    pub(super) store: Store,
    /// The files that reflections are appended to; none in tests and benchmarks that want no files.
    pub(super) journal: Option<ReflectionFiles>,
    pub(super) stop: CancellationToken,
}

impl CheckpointCommitter {
    /// Hands a checkpoint to the writer and waits until the one before it is committed. The new checkpoint is then in
    /// flight.
    pub(super) async fn submit(&self, run: &mut ActiveRun, checkpoint: &Arc<Checkpoint>) -> Advance {
        let mut next = self.send(checkpoint)?;
        if let Some(before) = run.in_flight_checkpoint.take()
            && self.finish(run, before).await? == CommitDelay::Waited
        {
            // The new checkpoint reached the writer before its delayed predecessor, and was refused. It is sent again.
            next = self.send(checkpoint)?;
        }
        run.in_flight_checkpoint = Some(next);
        Ok(())
    }

    /// Waits until the checkpoint in flight, if there is one, is committed.
    pub(super) async fn await_in_flight(&self, run: &mut ActiveRun) -> Advance {
        if let Some(in_flight) = run.in_flight_checkpoint.take() {
            self.finish(run, in_flight).await?;
        }
        Ok(())
    }

    /// Hands a checkpoint to the store's writer without waiting for it.
    fn send(&self, checkpoint: &Arc<Checkpoint>) -> Advance<InFlightCheckpoint> {
        let pending = self.store.enqueue(Write::Checkpoint(Arc::clone(checkpoint)))?;
        Ok(InFlightCheckpoint { checkpoint: Arc::clone(checkpoint), pending })
    }

    /// Waits until a checkpoint is committed, then appends its reflection to the file and keeps the runs that it
    /// opened.
    async fn finish(&self, run: &mut ActiveRun, in_flight: InFlightCheckpoint) -> Advance<CommitDelay> {
        let checkpoint = Arc::clone(&in_flight.checkpoint);
        let delay = self.await_commit(in_flight).await?;
        if let (Some(journal), Some((day, line))) = (&self.journal, checkpoint.reflection.as_deref()) {
            journal.append(day, line);
        }
        run.children.extend(checkpoint.runs.iter().cloned().map(|new| ActiveRun::from_new_run(new, run.mail.clone())));
        Ok(delay)
    }

    /// Commits a checkpoint that has no predecessor in flight.
    pub(super) async fn commit(&self, checkpoint: &Arc<Checkpoint>) -> Advance {
        self.await_commit(self.send(checkpoint)?).await.map(drop)
    }

    /// Waits until a checkpoint is committed. While the disk is full, the run stands still and the checkpoint is sent
    /// again; nothing is lost. A full approval queue defers the run.
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
