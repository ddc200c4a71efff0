//! The calls that a model names for a step of a plan. A call is used only when it is clear, names a tool that there is,
//! and gives nothing but that tool's arguments; otherwise the words of the step decide, or a person is asked.

use serde_json::Value;

use super::{ExecuteTool, in_progress_changes, park_failed_step};
use crate::{
    graph::entry::{Call, NodeInput, NodeOutput},
    llm::{
        ModelReply, NATIVE_CALLS, Prompt, check_model_text,
        prompt::{
            TextAnswer,
            step_calls::{NO_CALL, StepCallsData},
        },
    },
    model::{Change, Move, PlannedStep, StepOutput, Task, TaskPlan, ToolCall},
    planner::{call_reader::read_calls, request_split::choose_call, tool_list::show_tools},
    tool::check_arguments,
};

/// The longest text of an argument that a model may write, in characters.
const LONGEST_ARGUMENT: usize = 2_000;
/// How much of an earlier result the model is shown, in characters.
const LONGEST_RESULT: usize = 2_000;

impl ExecuteTool {
    /// Asks the model which calls do the step, and records them. Without a model the step is the person's.
    pub(super) fn ask_for_calls(
        &self,
        entry: &NodeInput<'_>,
        task: &Task,
        plan: &TaskPlan,
        step: &PlannedStep,
    ) -> anyhow::Result<NodeOutput> {
        let name = step.name();
        let Some(index) = task.subtasks.iter().position(|subtask| subtask.step == name) else {
            return Ok(NodeOutput::from_move(Move::Done));
        };
        let chosen = choose_call(&step.instruction).filter(|call| self.check_call(entry, plan, call, false).is_ok());
        let use_calls = |calls: Vec<ToolCall>| {
            let change = Change::StepCalls { number: step.step_number, calls };
            Ok(NodeOutput::from_move(Move::Again).with_changes(vec![change]))
        };
        let leave = |why: &str| {
            let value = serde_json::json!({ StepOutput::LEFT_TO_PERSON: why });
            Ok(self.go_on(entry, task, index, vec![Change::Output { step: name.clone(), value }]))
        };
        let reply = match (entry.find_model_reply(Prompt::StepCalls)?, entry.has_model) {
            (Some(reply), _) => reply,
            (None, true) => match self.step_prompt(entry, task, plan, step) {
                Some(asking) => return Ok(asking),
                None => return leave("the step could not be put to the model"),
            },
            (None, false) => {
                return chosen
                    .map_or_else(|| leave("no tool does this, and there is no model"), |call| use_calls(vec![call]));
            }
        };
        if reply.answer::<TextAnswer>().is_some_and(|answer| answer.text.trim_matches(['.', '"', ' ']) == NO_CALL) {
            return leave("no tool does this");
        }
        match (self.read_step_calls(entry, plan, &reply), chosen) {
            (Ok(calls), _) => use_calls(calls),
            (Err(_), Some(call)) => use_calls(vec![call]),
            (Err(why), None) => Ok(park_failed_step(entry, task, &name, &why, in_progress_changes(task))),
        }
    }

    /// Returns the calls in a model's answer, or why none of them is made.
    fn read_step_calls(
        &self,
        entry: &NodeInput<'_>,
        plan: &TaskPlan,
        reply: &ModelReply,
    ) -> Result<Vec<ToolCall>, String> {
        let Some(TextAnswer { text }) = reply.answer() else {
            return Err(format!("the model gave no answer ({})", reply.outcome));
        };
        let is_native = text.starts_with(&format!("{{\"{NATIVE_CALLS}\""));
        if !is_native && !self.planner.parses_calls_in_text {
            return Err(
                "the model wrote a text instead of calling a tool (planner.enableFallbackFunctionParsing)".into()
            );
        }
        let calls = read_calls(&text).map_err(|error| format!("the model's answer cannot be used: {error}"))?;
        calls.iter().try_for_each(|call| self.check_call(entry, plan, call, true))?;
        Ok(calls)
    }

    /// Checks that a call is one that a plan can make, with arguments of its tool and recipients of the request.
    fn check_call(
        &self,
        entry: &NodeInput<'_>,
        plan: &TaskPlan,
        call: &ToolCall,
        is_models: bool,
    ) -> Result<(), String> {
        let tool = self.tools.plannable(entry.mail.is_some()).find(|tool| tool.name() == call.tool);
        let tool = tool.ok_or_else(|| format!("there is no tool '{}'", call.tool.escape_debug()))?;
        check_arguments(tool, &call.arguments).map_err(|error| error.0)?;
        for parameter in tool.parameters() {
            let texts: Vec<&str> = match call.arguments.get(parameter.name) {
                Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).collect(),
                Some(Value::String(text)) => vec![text],
                _ => Vec::new(),
            };
            if parameter.is_list {
                let unknown = texts.iter().find(|named| plan.person(named).is_none());
                if let Some(unknown) = unknown {
                    return Err(format!("nobody in the request is called '{}'", unknown.escape_debug()));
                }
            } else if is_models {
                texts.iter().try_for_each(|text| check_model_text(text, LONGEST_ARGUMENT))?;
            }
        }
        Ok(())
    }

    /// Returns the output that asks the model for the calls of a step; none when the prompt could not be built.
    fn step_prompt(
        &self,
        entry: &NodeInput<'_>,
        task: &Task,
        plan: &TaskPlan,
        step: &PlannedStep,
    ) -> Option<NodeOutput> {
        let outputs = task.tool_output.as_ref();
        let before = plan.steps.iter().filter(|other| step.after.contains(&other.step_number));
        let results = before.filter_map(|other| outputs?.get(&other.name()));
        let data = StepCallsData {
            instruction: plan.with_handles(&step.instruction),
            people: plan.people.iter().map(|person| person.handle.clone()).collect(),
            results: results.map(|result| plan.with_handles(&shorten(&result.to_string()))).collect(),
            tools: show_tools(&self.tools, entry.mail.is_some()),
        };
        let inquiry = Box::new(data.to_prompt_input()?);
        Some(NodeOutput::from_call(Call::Model { inquiry }))
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(LONGEST_RESULT).collect()
}
