//! Records how an effect ended, as the output of its step.

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{ExecuteTool, complete_step, completes_when_shown, derive_action_id, park_failed_step, with_effect_result};
use crate::{
    approval,
    graph::entry::{Call, EffectOutcome, NodeInput, NodeOutput},
    model::{ActionId, Change, OutboxState, Subtask, Task},
};

impl ExecuteTool {
    /// Returns the changes that the outcome of the awaited effect makes to its step: done, failed, or left to the
    /// person.
    pub(super) fn record_effect_outcome(
        &self,
        entry: &NodeInput<'_>,
        task: &Task,
        waited_for: ActionId,
    ) -> anyhow::Result<NodeOutput> {
        let end = entry
            .find_reply::<EffectOutcome>(|call| matches!(call, Call::Effect { .. }))?
            .context("the effect has no end")?;
        let mut open = task.subtasks.iter().enumerate().filter(|(_, subtask)| !subtask.done);
        let (index, subtask) = open
            .find(|(_, subtask)| derive_action_id(entry, task, &subtask.step) == waited_for)
            .context("no step waits for this effect")?;
        let step = subtask.step.as_str();
        let planned = task.tool_output.as_ref().and_then(|output| output.get(step)).cloned().unwrap_or_default();
        let changes = match end.state {
            OutboxState::Failed => return Ok(park_failed_step(entry, task, step, &end.result, Vec::new())),
            OutboxState::NeedsHuman => {
                let mut parked = park_failed_step(entry, task, step, &end.result, Vec::new());
                parked.item.iter_mut().for_each(|item| item.action_id = Some(waited_for));
                return Ok(parked);
            }
            OutboxState::Applied | OutboxState::Saved | OutboxState::Sent => {
                let value = with_effect_result(planned, end.state, end.result);
                if completes_when_shown(entry, step) {
                    vec![Change::Output { step: step.to_owned(), value }]
                } else {
                    complete_step(Vec::new(), index, step, value)
                }
            }
            OutboxState::Void => leave_to_person(step, &end.result, &planned),
            other => {
                let value = json!({ other.as_str(): end.result, "planned": planned });
                vec![Change::Output { step: step.to_owned(), value }]
            }
        };
        Ok(self.go_on(entry, task, index, changes))
    }
}

/// Returns the changes for an effect that is void: the agent's step keeps the reason, and a step for the person is
/// added, because nobody else will do it.
fn leave_to_person(step: &str, reason: &str, planned: &Value) -> Vec<Change> {
    let value = json!({ "void": reason, "planned": planned });
    let by_hand = Subtask { step: approval::manual_step_name(step), done: false };
    vec![Change::Output { step: step.to_owned(), value }, Change::AddStep { subtask: by_hand }]
}
