//! Leaves a run: deferred until later, or parked for a person because it cannot go on.

use std::sync::OnceLock;

use anyhow::Context as _;

use super::{
    call_handler::RunDeferred,
    drive::RunDriver,
    entry::{Call, CurrentTask, UNREADABLE_REPLY},
    failure,
    interrupt::{Advance, Interrupt},
};
use crate::{
    model::{NodeName, RunId, RunStatus},
    store::{StoreError, Write},
};

impl RunDriver {
    /// Defers a run. If that cannot be stored, the run is only resumed sooner than necessary.
    pub(super) async fn defer_run(&self, run_id: RunId, deferred: RunDeferred) {
        let RunDeferred { reason, until } = deferred;
        let write = Write::DeferRun { run_id, reason, until, at: self.clock.now() };
        if let Err(error) = self.store.write(write).await {
            tracing::warn!(run.id = %run_id, %error, "a run could not be deferred");
        }
    }

    /// Parks a run whose node exceeded its time limit.
    pub(super) async fn park_overdue_run(&self, run_id: RunId, node: NodeName) -> anyhow::Result<()> {
        let reason = format!("{node} took longer than {:?}", self.limits.node_timeout);
        tracing::error!(run.id = %run_id, node = %node, "{reason}");
        self.park_run(run_id, &reason).await
    }

    /// Parks a run that cannot go on, with an item for a person. A checkpoint of a hanging node may still have been in
    /// flight and be committed first; then the parking is refused and tried once more.
    pub(super) async fn park_run(&self, run_id: RunId, reason: &str) -> anyhow::Result<()> {
        for _ in 0..2 {
            match self.try_park_run(run_id, reason).await {
                Err(Interrupt::Stop) if !self.stop.is_cancelled() => {}
                // The mail or task cannot be read. The run ends without an item, so that it is not resumed for ever.
                Err(Interrupt::Fail(error)) if is_unreadable(&error) => {
                    return self.end_run_parked(run_id, reason).await;
                }
                Err(Interrupt::Fail(error)) => return Err(error),
                Ok(()) | Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    /// Commits the checkpoint that parks the run as its current node would on failure.
    async fn try_park_run(&self, run_id: RunId, reason: &str) -> Advance {
        let Some(mut run) = self.load_run(run_id).await? else { return Ok(()) };
        let now = self.clock.now();
        if let Some(task_id) = run.task_id.filter(|_| !run.identity.is_fork) {
            let value = self.calls.obtain_reply(&mut run, &Call::Task { task_id }, now).await?;
            run.set_task(value.read::<CurrentTask>().context(UNREADABLE_REPLY)?);
        }
        let mail = run.mail.clone();
        let reading = OnceLock::new();
        let input = self.node_input(&run, (mail.as_deref(), &reading), &[], now);
        let output = failure::park_failed_node(run.node, &input, reason);
        let checkpoint = self.build_checkpoint(&mut run, output, now)?;
        match self.committer.commit(&checkpoint).await {
            // The task was changed again, or the queue has no room for the item. The run ends without one.
            Err(Interrupt::Reload | Interrupt::Defer(_) | Interrupt::Fail(_)) => {
                Ok(self.end_run_parked(run_id, reason).await?)
            }
            parked => parked,
        }
    }

    /// Ends a run as parked, without an item.
    pub(super) async fn end_run_parked(&self, run_id: RunId, reason: &str) -> anyhow::Result<()> {
        let (status, reason, at) = (RunStatus::Parked, reason.to_owned(), self.clock.now());
        self.store.write(Write::EndRun { run_id, status, reason, at }).await?;
        Ok(())
    }
}

/// Returns whether the error is a row that cannot be read as its type.
fn is_unreadable(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(StoreError::is_unreadable)
}
