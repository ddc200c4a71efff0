//! The output for a node that failed for good: the run is parked, and a person gets an item. Nothing is lost.

use serde_json::json;

use super::entry::{NodeInput, NodeOutput};
use crate::model::{
    Change, ItemId, ItemKind, MailState, Move, NewItem, NodeName, PlannedStep, RunState, StepOutput, Subtask, Task,
    TaskPlan, TaskStatus,
};

/// Returns the output that parks a run whose node failed. If execute_tool failed, the task waits for a person; if an
/// earlier node failed, the task keeps its status. A mail that opened no task is parked in the ledger.
pub(super) fn park_failed_node(node: NodeName, entry: &NodeInput<'_>, error: &str) -> NodeOutput {
    let state = entry.state;
    let reason = format!("{node} failed: {error}");
    let planned = planned_step(node, state);
    let step = planned.clone().unwrap_or_else(|| first_open_step(node, state));
    let mut changes = Vec::new();
    if let Some(step) = planned {
        // The other runs of the plan see by the output that the step waits for a person.
        changes.push(Change::Output { step, value: StepOutput::failed(error) });
    }
    match (&state.task, node) {
        (Some(task), NodeName::ExecuteTool) => changes.extend(waiting_changes(task, &reason)),
        (None, NodeName::PlanStep) => {
            changes.push(Change::Settle {
                state: MailState::Parked,
                reason: reason.clone(),
                facts: None,
                warnings: None,
            });
        }
        _ => {}
    }
    let item = NewItem {
        item_id: ItemId::derive(entry.now, &[&entry.run.run_id.to_string(), node.as_str(), "failed"]),
        kind: ItemKind::FailedStep,
        task_id: state.task.as_ref().map(|task| task.task_id),
        mail_id: state.mail_id,
        action_id: None,
        title: reason.clone(),
        body: json!({ "node": node, "step": step, "error": error }),
        expires_at: None,
        sender: String::new(),
        queue_limits: None,
    };
    NodeOutput { item: Some(item), ..NodeOutput::from_move(Move::Park { reason }).with_changes(changes) }
}

/// Returns the status changes by which the task comes to wait for a person, along allowed transitions only.
fn waiting_changes(task: &Task, reason: &str) -> Vec<Change> {
    let to = |to: TaskStatus, why: &str| Change::Status { to, why: why.to_owned() };
    match task.status {
        TaskStatus::Ready => {
            vec![to(TaskStatus::InProgress, "tool call kicked off"), to(TaskStatus::WaitingHitl, reason)]
        }
        TaskStatus::InProgress => vec![to(TaskStatus::WaitingHitl, reason)],
        _ => Vec::new(),
    }
}

/// Returns the step of the plan that the run was opened for, if there is one.
fn planned_step(node: NodeName, state: &RunState) -> Option<String> {
    let task = state.task.as_ref().filter(|_| node == NodeName::ExecuteTool)?;
    let (plan, number) = (TaskPlan::of_context(&task.context)?, state.plan_step?);
    plan.steps.iter().find(|step| step.step_number == number).map(PlannedStep::name)
}

/// Returns the step that execute_tool was working on; empty for every other node.
fn first_open_step(node: NodeName, state: &RunState) -> String {
    let task = state.task.as_ref().filter(|_| node == NodeName::ExecuteTool);
    let open = |subtask: &&Subtask| !subtask.done;
    task.and_then(|task| task.subtasks.iter().find(open)).map(|subtask| subtask.step.clone()).unwrap_or_default()
}
