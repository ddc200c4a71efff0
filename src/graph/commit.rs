//! Checkpoints on their way to the disk. A run is ahead of it by one at most.

use std::{sync::Arc, time::Duration};

use anyhow::bail;

use super::{
    active_run::ActiveRun,
    call_handler::{QUEUE_ROOM_RETRY, RunDeferred},
    engine::Inner,
};
use crate::store::{Pending, StoreError, Write, value::Checkpoint};

/// Between attempts to commit while the disk is full or another program holds the lock.
pub(super) const DISK_PAUSE: Duration = Duration::from_secs(1);

/// How a commit ended.
pub(super) enum Committed {
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
            Committed::Stored => {}
            committed => return Ok(committed),
        }
    };
}
pub(super) use stored;

/// Handed to the writer, which takes what a run hands over in its order; refused when the one before it was.
pub(super) struct UnderWay {
    checkpoint: Arc<Checkpoint>,
    pending: Pending,
}

impl Inner {
    /// Sends a checkpoint after the one under way, and waits for that one. The new one is under way then.
    pub(super) async fn follow(
        &self,
        ticket: &mut ActiveRun,
        checkpoint: &Arc<Checkpoint>,
    ) -> anyhow::Result<Committed> {
        let mut next = self.send(checkpoint)?;
        if let Some(before) = ticket.under_way.take() {
            let mut late = false;
            stored!(self.settle(ticket, before, &mut late).await?);
            if late {
                // It came before the one it follows, and was refused.
                next = self.send(checkpoint)?;
            }
        }
        ticket.under_way = Some(next);
        Ok(Committed::Stored)
    }

    /// Waits for what is under way.
    pub(super) async fn arrive(&self, ticket: &mut ActiveRun) -> anyhow::Result<Committed> {
        match ticket.under_way.take() {
            Some(under_way) => self.settle(ticket, under_way, &mut false).await,
            None => Ok(Committed::Stored),
        }
    }

    fn send(&self, checkpoint: &Arc<Checkpoint>) -> anyhow::Result<UnderWay> {
        let pending = self.store.send(Write::Checkpoint(Arc::clone(checkpoint)))?;
        Ok(UnderWay { checkpoint: Arc::clone(checkpoint), pending })
    }

    async fn settle(&self, ticket: &mut ActiveRun, under_way: UnderWay, late: &mut bool) -> anyhow::Result<Committed> {
        let checkpoint = Arc::clone(&under_way.checkpoint);
        stored!(self.wait(under_way, late).await?);
        if let (Some(journal), Some((day, line))) = (&self.journal, checkpoint.reflection.as_deref()) {
            journal.append(day, line);
        }
        ticket
            .children
            .extend(checkpoint.runs.iter().cloned().map(|run| ActiveRun::from_new_run(run, ticket.mail.clone())));
        Ok(Committed::Stored)
    }

    pub(super) async fn commit(&self, checkpoint: &Arc<Checkpoint>) -> anyhow::Result<Committed> {
        self.wait(self.send(checkpoint)?, &mut false).await
    }

    /// A full disk is waited out: the run stands still, nothing is lost, and it goes on when there is room. `late` says
    /// that it did.
    async fn wait(&self, under_way: UnderWay, late: &mut bool) -> anyhow::Result<Committed> {
        let UnderWay { checkpoint, mut pending } = under_way;
        loop {
            match pending.answer().await {
                Ok(_) => return Ok(Committed::Stored),
                Err(StoreError::Overtaken(reason)) => {
                    return Ok(if reason.starts_with("run ") { Committed::Stop } else { Committed::Overtaken });
                }
                Err(error) if error.is_passing() => {
                    if !std::mem::replace(late, true) {
                        tracing::error!(run.id = %checkpoint.run_id, "{error}; waiting");
                    }
                    tokio::select! {
                        () = tokio::time::sleep(DISK_PAUSE) => {}
                        () = self.stop.cancelled() => return Ok(Committed::Stop),
                    }
                    pending = self.send(&checkpoint)?.pending;
                }
                Err(StoreError::Stopped) => return Ok(Committed::Stop),
                Err(StoreError::NoRoom(reason)) => {
                    return Err(RunDeferred { reason, until: checkpoint.entered_at.plus(QUEUE_ROOM_RETRY) }.into());
                }
                Err(error) => bail!(error),
            }
        }
    }
}
