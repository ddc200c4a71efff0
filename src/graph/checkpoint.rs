//! Making the checkpoint of a visit.

use std::sync::Arc;

use anyhow::Context as _;

use super::{
    active_run::ActiveRun,
    drive::RunDriver,
    entry::NodeOutput,
    topology::{MoveKind, Place},
};
use crate::model::{Checkpoint, Instant, Move, NodeName, Reflection, RunStatus};

impl RunDriver {
    /// Applies what a node did to its run and returns it as a value to store. The run is ahead of the store until it is
    /// stored: a run whose checkpoint is refused is read anew.
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
            runs.iter_mut().for_each(|run| run.node = node);
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

    /// Adds what people thought of the run to its reflection. Where that cannot be read, the line is poorer, never missing.
    fn add_run_feedback(&self, mut told: Box<(String, Reflection)>, now: Instant) -> Box<(String, Reflection)> {
        let (_, line) = &mut *told;
        let found = self.store.read_blocking(|reader| reader.runs().feedback(line.task_id, line.run_id, now));
        line.feedback = found.unwrap_or_default();
        told
    }
}

/// Returns the node that a move leads to, or how the run ends with it.
fn follow_move(from: NodeName, mv: &Move, place: Place) -> (Option<NodeName>, Option<(RunStatus, String)>) {
    // A mail's run ends where its tasks' runs begin.
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
