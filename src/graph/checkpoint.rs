//! Builds the checkpoint of a visit: the output of a node, and where the topology leads from there.

use std::sync::Arc;

use anyhow::Context as _;

use super::{
    active_run::ActiveRun,
    drive::RunDriver,
    entry::NodeOutput,
    topology::{MoveKind, Place},
};
use crate::model::{Checkpoint, Instant, Move, NewRun, NodeName, Reflection, RunKind, RunStatus};

impl RunDriver {
    /// Applies the output of a node to its run, and returns the checkpoint to store. The run is ahead of the store
    /// until the checkpoint is committed. If the store refuses it, the run must be reloaded.
    ///
    /// A fork opens no runs, moves no effect and leaves no reflection: it must change nothing outside its own record.
    pub(super) fn build_checkpoint(
        &self,
        run: &mut ActiveRun,
        output: NodeOutput,
        now: Instant,
    ) -> anyhow::Result<Arc<Checkpoint>> {
        let next_move = output.next.context("the node named no move")?;
        for change in &output.changes {
            run.state.apply(change, now)?;
        }
        let place = self.topology.target_of(run.node, MoveKind::from(&next_move));
        let place = place.with_context(|| format!("{} has no way on '{}'", run.node, next_move.as_str()))?;
        let (next, end) = follow_move(run.node, &next_move, place);
        let mut runs = output.runs;
        if let Place::Node(node) = place {
            let is_led = |run: &&mut NewRun| run.kind != RunKind::Effect;
            runs.iter_mut().filter(is_led).for_each(|run| run.node = node);
        }
        let is_fork = run.identity.is_fork;
        let checkpoint = Checkpoint {
            run_id: run.run_id(),
            account: run.identity.account.clone(),
            user: run.identity.user.clone(),
            seq: run.seq + 1,
            node: run.node,
            next_move,
            next,
            mail_id: run.state.mail_id,
            entered_at: now,
            changes: output.changes,
            replies: std::mem::take(&mut run.gathered.replies),
            task: run.state.task.clone().zip(run.task_revision),
            action: output.action,
            action_move: run.gathered.action_move.take().filter(|_| !is_fork),
            item: output.item,
            runs: if is_fork { Vec::new() } else { runs },
            reflection: output.reflection.filter(|_| !is_fork).map(|line| self.add_run_feedback(line, now)),
            end,
            fork: is_fork,
        };
        Ok(Arc::new(checkpoint))
    }

    /// Adds the feedback of people to the reflection of a run. If it cannot be read, the reflection is written without
    /// it.
    fn add_run_feedback(&self, mut told: Box<(String, Reflection)>, now: Instant) -> Box<(String, Reflection)> {
        let (_, line) = &mut *told;
        let found = self.store.read_blocking(|reader| reader.runs().feedback(line.task_id, line.run_id, now));
        line.feedback = found.unwrap_or_default();
        told
    }
}

/// Returns the node that a move leads to, or how the run ends with it.
fn follow_move(from: NodeName, mv: &Move, place: Place) -> (Option<NodeName>, Option<(RunStatus, String)>) {
    // The run of a mail ends after plan_step; each task that it opened has a run of its own.
    let hands_over = from == NodeName::PlanStep && *mv == Move::Next;
    let reason = match mv {
        Move::Park { reason } | Move::Skip { reason } => reason.clone(),
        _ => String::new(),
    };
    match place {
        Place::Node(_) if hands_over => (None, Some((RunStatus::Done, String::new()))),
        Place::Node(node) => (Some(node), None),
        Place::End(status) => (None, Some((status, reason))),
    }
}
