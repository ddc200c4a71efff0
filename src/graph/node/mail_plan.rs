//! The plan of a mail that asks for several things at once: steps beside those of the task's template. They are read from
//! the sentences that ask, never from the rest of the mail, and a mail that looks like phishing has none.

use serde_json::Value;

use crate::{
    model::{Address, ExtractedTask, Mail, PlanOrigin, PlanPerson, PlannedStep, Reading, TaskPlan, WarningKind},
    planner::{
        PlannerRequest, detect_complexity,
        request_split::{choose_call, split_request},
    },
    tool::{Registry, ToolAccess},
};

/// Returns the plan of a task; none for a task that asks for one thing, or for nothing that a tool does.
pub(super) fn plan_mail_request(
    mail: &Mail,
    reading: &Reading,
    task: &ExtractedTask,
    tools: &Registry,
    has_model: bool,
) -> Option<TaskPlan> {
    if !is_complex_request(reading, task) {
        return None;
    }
    let complexity = detect_complexity(PlannerRequest::from_mail(&task.evidence));
    let people = participants(mail);
    let finds_data = |tool: &str| tools.get(tool).is_some_and(|tool| tool.access() == ToolAccess::Read);
    let mut plan = TaskPlan {
        original_request: task.evidence.clone(),
        origin: PlanOrigin::Words,
        complexity,
        people,
        steps: split_request(&task.evidence, choose_call, finds_data),
    };
    for at in 0..plan.steps.len() {
        let is_unknown = plan.steps.get(at).is_some_and(|step| names_stranger(&plan, step));
        let Some(step) = plan.steps.get_mut(at) else { continue };
        if is_unknown {
            step.call = None;
        }
        step.asks_model = step.call.is_none() && has_model;
    }
    (plan.steps.len() >= 2 && plan.steps.iter().any(|step| step.call.is_some())).then_some(plan)
}

/// Returns whether a mail asks for several things at once. One that looks like phishing asks for nothing.
pub(super) fn is_complex_request(reading: &Reading, task: &ExtractedTask) -> bool {
    let complexity = detect_complexity(PlannerRequest::from_mail(&task.evidence));
    complexity.is_complex() && !reading.has_warning(WarningKind::Phishing)
}

/// Returns whether the call of a step writes to somebody who has no part in the mail.
fn names_stranger(plan: &TaskPlan, step: &PlannedStep) -> bool {
    let to = step.call.as_ref().and_then(|call| call.arguments.get("to")).and_then(Value::as_array);
    to.into_iter().flatten().any(|named| plan.person(named.as_str().unwrap_or_default()).is_none())
}

/// Returns everybody who has a part in the mail, under the first word of their name.
fn participants(mail: &Mail) -> Vec<PlanPerson> {
    let all: Vec<&Address> = std::iter::once(&mail.from).chain(&mail.to).chain(&mail.cc).collect();
    let person = |(nth, address): (usize, &&Address)| PlanPerson {
        handle: format!("P{}", nth + 1),
        name: address
            .name
            .as_deref()
            .and_then(|name| name.split_whitespace().next())
            .unwrap_or(&address.addr)
            .to_owned(),
        address: address.addr.clone(),
    };
    all.iter().enumerate().filter(|(_, address)| !address.addr.is_empty()).map(person).collect()
}
