//! The node prioritise: the rules give the task its priority, and the task becomes ready. A later run can raise the
//! priority, never lower it, and never touches one that a person set.

use std::sync::Arc;

use anyhow::Context as _;

use super::wording;
use crate::{
    graph::entry::{Call, Node, NodeInput, NodeOutput, RankedPriority},
    llm::{ModelReply, Prompt, prompt::prioritise},
    model::{Change, Me, Move, RunKind, TaskStatus},
};

/// The node prioritise.
pub(super) struct Prioritise {
    pub(super) me: Arc<Me>,
}

impl Node for Prioritise {
    fn evaluate(&self, entry: &NodeInput<'_>) -> anyhow::Result<NodeOutput> {
        let task = entry.state.task.as_ref().context("there is no task to rank")?;
        let heard = entry.find_model_reply(Prompt::Prioritise)?;
        if let (None, true, Some(mail)) = (&heard, entry.has_model, entry.mail)
            && let Some(step) = wording::request_urgency(mail, &self.me, task)
        {
            return Ok(step);
        }
        let urgency = heard.and_then(|heard| model_urgency(entry, &heard));
        let Some(ranked) = entry.find_reply::<RankedPriority>(|call| matches!(call, Call::Rank { .. }))? else {
            return Ok(NodeOutput::from_call(Call::Rank { urgency }));
        };
        let change = Change::Priority { priority: ranked.level, rule: ranked.rule.clone(), urgency };
        if entry.run.kind == RunKind::Rank {
            let raised = ranked.level > task.priority && !entry.state.hand_ranked && !task.status.is_terminal();
            return Ok(NodeOutput::from_move(Move::Done).with_changes(if raised { vec![change] } else { Vec::new() }));
        }
        let mut changes = vec![change];
        if task.status == TaskStatus::New {
            changes.push(Change::Status { to: TaskStatus::Ready, why: format!("{} by {}", ranked.level, ranked.rule) });
        }
        Ok(NodeOutput::from_move(Move::Next).with_changes(changes))
    }
}

/// Returns the urgency that the model estimated, which is all that a model contributes to a priority. A follow-up can
/// make a task more urgent, never less.
fn model_urgency(entry: &NodeInput<'_>, heard: &ModelReply) -> Option<f64> {
    let scored = heard.answer::<prioritise::PrioritiseAnswer>()?.urgency;
    let known = entry.state.facts.as_ref().map_or(0.0, |facts| facts.urgency);
    Some(if entry.run.kind == RunKind::Rank { scored.max(known) } else { scored })
}
