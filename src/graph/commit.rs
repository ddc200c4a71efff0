//! Checkpoints on their way to the disk. A run is ahead of it by one at most.

use std::{sync::Arc, time::Duration};

use anyhow::bail;

use super::{
    active_run::ActiveRun,
    call_handler::{QUEUE_ROOM_RETRY, RunDeferred},
    engine::EngineInner,
};
use crate::store::{PendingWrite, StoreError, Write, value::Checkpoint};

/// Between attempts to commit while the disk is full or another program holds the lock.
pub(super) const DISK_RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// How a commit ended.
pub(super) enum CheckpointOutcome {
    Stored,
    /// The task changed under the run: look again.
    Overtaken,
    /// There is nothing more to do for the run in this process.
    Stop,
}

/// Goes on only with what is stored.
macro_rules! stored {
    ($committed:expr) => {
        match $committed {
            CheckpointOutcome::Stored => {}
            committed => return Ok(committed),
        }
    };
}
pub(super) use stored;

/// Handed to the writer, which takes what a run hands over in its order; refused when the one before it was.
pub(super) struct InFlightCheckpoint {
    checkpoint: Arc<Checkpoint>,
    pending: PendingWrite,
}

impl EngineInner {
    /// Sends a checkpoint after the one under way, and waits for that one. The new one is under way then.
    pub(super) async fn submit_checkpoint(
        &self,
        ticket: &mut ActiveRun,
        checkpoint: &Arc<Checkpoint>,
    ) -> anyhow::Result<CheckpointOutcome> {
        let mut next = self.send_checkpoint(checkpoint)?;
        if let Some(before) = ticket.in_flight_checkpoint.take() {
            let mut late = false;
            stored!(self.finish_checkpoint(ticket, before, &mut late).await?);
            if late {
                // It came before the one it follows, and was refused.
                next = self.send_checkpoint(checkpoint)?;
            }
        }
        ticket.in_flight_checkpoint = Some(next);
        Ok(CheckpointOutcome::Stored)
    }

    /// Waits for what is under way.
    pub(super) async fn await_in_flight_checkpoint(&self, ticket: &mut ActiveRun) -> anyhow::Result<CheckpointOutcome> {
        match ticket.in_flight_checkpoint.take() {
            Some(under_way) => self.finish_checkpoint(ticket, under_way, &mut false).await,
            None => Ok(CheckpointOutcome::Stored),
        }
    }

    fn send_checkpoint(&self, checkpoint: &Arc<Checkpoint>) -> anyhow::Result<InFlightCheckpoint> {
        let pending = self.store.enqueue(Write::Checkpoint(Arc::clone(checkpoint)))?;
        Ok(InFlightCheckpoint { checkpoint: Arc::clone(checkpoint), pending })
    }

    async fn finish_checkpoint(
        &self,
        ticket: &mut ActiveRun,
        under_way: InFlightCheckpoint,
        late: &mut bool,
    ) -> anyhow::Result<CheckpointOutcome> {
        let checkpoint = Arc::clone(&under_way.checkpoint);
        stored!(self.await_commit(under_way, late).await?);
        if let (Some(journal), Some((day, line))) = (&self.journal, checkpoint.reflection.as_deref()) {
            journal.append(day, line);
        }
        ticket
            .children
            .extend(checkpoint.runs.iter().cloned().map(|run| ActiveRun::from_new_run(run, ticket.mail.clone())));
        Ok(CheckpointOutcome::Stored)
    }

    pub(super) async fn commit_checkpoint(&self, checkpoint: &Arc<Checkpoint>) -> anyhow::Result<CheckpointOutcome> {
        self.await_commit(self.send_checkpoint(checkpoint)?, &mut false).await
    }

    /// A full disk is waited out: the run stands still, nothing is lost, and it goes on when there is room. `late` says
    /// that it did.
    async fn await_commit(&self, under_way: InFlightCheckpoint, late: &mut bool) -> anyhow::Result<CheckpointOutcome> {
        let InFlightCheckpoint { checkpoint, mut pending } = under_way;
        loop {
            match pending.answer().await {
                Ok(_) => return Ok(CheckpointOutcome::Stored),
                Err(StoreError::Conflict(reason)) => {
                    return Ok(if reason.starts_with("run ") {
                        CheckpointOutcome::Stop
                    } else {
                        CheckpointOutcome::Overtaken
                    });
                }
                Err(error) if error.is_transient() => {
                    if !std::mem::replace(late, true) {
                        tracing::error!(run.id = %checkpoint.run_id, "{error}; waiting");
                    }
                    tokio::select! {
                        () = tokio::time::sleep(DISK_RETRY_INTERVAL) => {}
                        () = self.stop.cancelled() => return Ok(CheckpointOutcome::Stop),
                    }
                    pending = self.send_checkpoint(&checkpoint)?.pending;
                }
                Err(StoreError::Stopped) => return Ok(CheckpointOutcome::Stop),
                Err(StoreError::QueueFull(reason)) => {
                    return Err(RunDeferred { reason, until: checkpoint.entered_at.plus(QUEUE_ROOM_RETRY) }.into());
                }
                Err(error) => bail!(error),
            }
        }
    }
}
