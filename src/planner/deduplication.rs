//! Calls that were made a moment ago: a model that repeats itself, or a request that says the same twice, does not do
//! the same twice. The second call gets the result of the first.

use chrono::Duration;
use serde_json::Value;

use crate::{
    model::{
        Instant, Task,
        ids::sha256_hex,
        plan::{PlannedStep, StepOutput, TaskPlan, ToolCall},
    },
    tool::{Registry, Tool, ToolAccess},
};

/// How long the same reading call counts as a repetition.
const READ_WINDOW: Duration = Duration::seconds(2);

/// Returns the key that two calls share when they are the same: for a reading call its name and all arguments, for a
/// writing one its name, its target and the digest of its content.
pub fn call_key(tool: &dyn Tool, call: &ToolCall) -> String {
    let arguments = Value::Object(call.arguments.clone());
    if tool.access() == ToolAccess::Read {
        return format!("{}\n{arguments}", call.tool);
    }
    let mut target = Vec::new();
    let mut content = String::new();
    for (name, value) in &call.arguments {
        let value = value.as_str().map_or_else(|| value.to_string(), |text| text.trim().to_owned());
        if tool.parameters().iter().any(|parameter| parameter.name == name && parameter.is_target) {
            target.push(value);
        } else {
            content.push_str(&format!("{name}={value}\n"));
        }
    }
    format!("{}\n{}\n{}", call.tool, target.join("\n"), sha256_hex(content.as_bytes()))
}

/// Returns the earlier step whose result the step gets, because its call is the same and was made within the window.
pub fn find_repeated_step<'a>(
    plan: &'a TaskPlan,
    task: &Task,
    step: &PlannedStep,
    tools: &Registry,
    (write_window, now): (Duration, Instant),
) -> Option<&'a PlannedStep> {
    let call = step.call.as_ref()?;
    let tool = tools.get(&call.tool)?;
    let window = if tool.access() == ToolAccess::Read { READ_WINDOW } else { write_window };
    let key = call_key(tool, call);
    plan.steps.iter().find(|earlier| {
        let is_recent = earlier.started_at.is_some_and(|at| at <= now && at.plus(window) >= now);
        let has_result = matches!(StepOutput::of_step(task, &earlier.name()), StepOutput::Begun);
        let same =
            || earlier.call.as_ref().is_some_and(|other| other.tool == call.tool && call_key(tool, other) == key);
        earlier.step_number != step.step_number && is_recent && has_result && same()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::plan::PlanOrigin;

    fn call(tool: &str, arguments: Value) -> ToolCall {
        let Value::Object(arguments) = arguments else { unreachable!() };
        ToolCall { tool: tool.into(), arguments }
    }

    fn key(call: &ToolCall) -> String {
        call_key(Registry::shipped().get(&call.tool).unwrap(), call)
    }

    #[test]
    fn writes_are_the_same_by_target_and_content() {
        let mail = |to: &str, text: &str| key(&call("send_mail", json!({ "to": [to], "subject": "Hi", "text": text })));
        assert_eq!(mail("a@x.example", "Hello"), mail("a@x.example", "Hello "));
        assert_ne!(mail("a@x.example", "Hello"), mail("b@x.example", "Hello"));
        assert_ne!(mail("a@x.example", "Hello"), mail("a@x.example", "Bye"));
        assert_ne!(key(&call("find", json!({ "words": "a" }))), key(&call("find", json!({ "words": "b" }))));
    }

    #[test]
    fn a_repetition_counts_only_within_its_window_and_with_a_result() {
        let at: Instant = "2026-11-16T08:00:00Z".parse().unwrap();
        let step = |number, tool: &str, arguments: Value| PlannedStep {
            step_number: number,
            description: "d".into(),
            call: Some(call(tool, arguments)),
            started_at: (number == 1).then_some(at),
            ..PlannedStep::default()
        };
        for (tool, arguments, seconds, repeated) in [
            ("create_folder", json!({ "name": "A" }), 5, true),
            ("create_folder", json!({ "name": "A" }), 6, false),
            ("find", json!({ "words": "a" }), 2, true),
            ("find", json!({ "words": "a" }), 3, false),
        ] {
            let steps = vec![step(1, tool, arguments.clone()), step(2, tool, arguments)];
            let plan = TaskPlan {
                original_request: String::new(),
                origin: PlanOrigin::Words,
                complexity: Default::default(),
                people: Vec::new(),
                steps,
            };
            let mut task: Task = serde_json::from_value(json!({
                "task_id": "01JYD3A8P0WQ5M4T6R2P0N1M4K", "created_at": at, "source": "ask:1", "objective": "x",
                "priority": "low", "status": "IN_PROGRESS", "last_updated": at,
            }))
            .unwrap();
            let window = (Duration::seconds(5), at.plus(Duration::seconds(seconds)));
            let find = |task: &Task| {
                find_repeated_step(&plan, task, &plan.steps[1], &Registry::shipped(), window)
                    .map(|step| step.step_number)
            };
            assert_eq!(find(&task), None, "there is no result yet");
            task.tool_output = Some([("1. d".to_owned(), json!({ "x": 1 }))].into_iter().collect());
            assert_eq!(find(&task), repeated.then_some(1), "{tool} {seconds}");
        }
    }
}
