//! The task as the tool of a plan's step is shown it: with the words and the arguments of the step in the place of those
//! of the whole request. So a tool does the same for a step as for a task of its own.

use serde_json::{Map, Value, json};

use crate::{
    graph::entry::NodeInput,
    model::{
        Facts, FactsKind, Me, PlannedStep, Task, TaskKind, TaskPlan,
        action::{Argument, Origin},
        task::{INSTRUCTION, MESSAGE},
    },
    reading,
    tool::{RequestedEffect, ToolError},
};

/// The most lines of earlier results that a message quotes.
const MOST_QUOTED_LINES: usize = 200;

/// The task and the facts that a tool is shown.
pub(super) struct PlannedStepView {
    pub(super) task: Task,
    pub(super) facts: Facts,
}

impl PlannedStepView {
    /// Returns the view of a step. Fails when the step names a recipient whose address is not known.
    pub(super) fn new(
        entry: &NodeInput<'_>,
        (task, facts): (&Task, &Facts),
        (plan, step): (&TaskPlan, &PlannedStep),
        me: &Me,
    ) -> Result<Self, ToolError> {
        let (mut task, mut facts) = (task.clone(), facts.clone());
        let outputs = task.tool_output.take().unwrap_or_default();
        task.tool_output = Some(outputs_by_tool(plan, &outputs));
        let arguments = step.call.as_ref().map(|call| &call.arguments);
        let text = |name: &str| arguments.and_then(|arguments| arguments.get(name)).and_then(Value::as_str);
        let said = text("text").filter(|_| step.call.as_ref().is_some_and(|call| call.tool == "remind"));
        let said = said.unwrap_or(&step.instruction);
        task.objective = step.instruction.clone();
        // The words of the step count, not those of the mail that the whole plan comes from.
        task.context.more.insert("evidence".to_owned(), Value::from(said));
        task.context.more.remove(INSTRUCTION);
        if entry.mail.is_none() {
            task.context.deadline = None;
            facts.due_at = None;
            facts.kind = FactsKind::Task(TaskKind::Request);
        }
        match reading::parse_reminder_request(said, me, plan_time(&task)) {
            Some(asked) => {
                task.objective = asked.objective;
                task.context.deadline = asked.deadline.or(task.context.deadline);
                facts.due_at = asked.due_at.or(facts.due_at);
                facts.kind = FactsKind::Task(TaskKind::Reminder);
            }
            None => {
                if let Some((deadline, due)) = reading::parse_typed_date(said, me, plan_time(&task)) {
                    (task.context.deadline, facts.due_at) = (Some(deadline), Some(due));
                }
            }
        }
        facts.objective.clone_from(&task.objective);
        if let Some(to) = arguments.and_then(|arguments| arguments.get("to")).and_then(Value::as_array) {
            let words = text("text").map_or_else(|| quote_results(step, plan, &outputs), str::to_owned);
            let to = resolve_recipients(plan, to)?;
            let subject = text("subject").unwrap_or(&step.description);
            task.context.more.insert(MESSAGE.to_owned(), json!({ "to": to, "subject": subject, "text": words }));
        }
        Ok(Self { task, facts })
    }
}

/// Returns the time from which the dates of a plan count: when it was asked for.
const fn plan_time(task: &Task) -> crate::model::Instant {
    task.created_at
}

/// Returns the outputs under the names of the tools, where one tool looks for what another has made.
fn outputs_by_tool(plan: &TaskPlan, outputs: &Map<String, Value>) -> Map<String, Value> {
    let named = plan
        .steps
        .iter()
        .filter_map(|step| Some((step.call.as_ref()?.tool.clone(), outputs.get(&step.name())?.clone())));
    named.collect()
}

/// Returns the addresses of recipients, whom a call names by handle, name or address. Only people of the request count.
fn resolve_recipients(plan: &TaskPlan, to: &[Value]) -> Result<Vec<String>, ToolError> {
    let resolve = |named: &Value| {
        let named = named.as_str().unwrap_or_default();
        let person = plan.person(named);
        person.map(|person| person.address.clone()).ok_or_else(|| {
            ToolError(format!("no address of '{}' is known; name the address in the request", named.escape_debug()))
        })
    };
    to.iter().map(resolve).collect()
}

/// Returns what the steps before this one have found, as lines for a message; empty when they found nothing.
fn quote_results(step: &PlannedStep, plan: &TaskPlan, outputs: &Map<String, Value>) -> String {
    let before = plan.steps.iter().filter(|other| step.after.contains(&other.step_number));
    let lines = before.filter_map(|other| outputs.get(&other.name())?.get("summary")?.as_array()).flatten();
    lines.filter_map(Value::as_str).take(MOST_QUOTED_LINES).collect::<Vec<_>>().join("\n")
}

/// Sets where the arguments of an effect come from: the request of the person, the mail, or a model. Recipients are the
/// people whom the request names, whoever chose among them.
pub(super) fn set_origins(entry: &NodeInput<'_>, step: &PlannedStep, requested: &mut RequestedEffect) {
    for argument in &mut requested.arguments {
        argument.origin = if entry.mail.is_some() {
            Origin::Mail
        } else if step.asks_model && argument.name != Argument::RECIPIENTS {
            Origin::Model
        } else {
            Origin::Person
        };
    }
}
