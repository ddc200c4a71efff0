//! A task with a plan: which of its steps is worked next, by which run, and what its tool is shown.
//!
//! Each step of the agent is a run of its own, so that independent steps go on side by side and a park stops only its
//! branch. A run that has ended its step opens the runs of the steps that may begin now. Their ids are derived from task
//! and step, so that two runs that end at once open each of them once.

use serde_json::{Map, Value};

use super::{ExecuteTool, complete_step, in_progress_changes, park_failed_step};
use crate::{
    graph::entry::{NodeInput, NodeOutput},
    model::{Change, Move, NewRun, NodeName, PlannedStep, RunId, RunKind, RunState, StepOutput, Task, TaskPlan},
    planner::{deduplication, step_order::StepGraph},
    tool::{Tool, check_arguments},
};

/// A step of the agent: its place among the subtasks, its name, and the tool that does it.
pub(super) struct AgentStep<'a> {
    pub(super) index: usize,
    pub(super) name: &'a str,
    pub(super) tool: &'a dyn Tool,
    /// The plan and its step; none for a step of a template.
    pub(super) planned: Option<(&'a TaskPlan, &'a PlannedStep)>,
}

impl<'a> AgentStep<'a> {
    /// Returns the arguments that the plan gives; none for a step of a template.
    pub(super) fn arguments(&self) -> Option<&'a Map<String, Value>> {
        self.planned.and_then(|(_, step)| step.call.as_ref()).map(|call| &call.arguments)
    }
}

/// Where a step of a plan stands for the steps behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepStanding {
    /// It is done, skipped or only shown: the steps behind it may begin.
    Ended,
    /// Its effect is under way, or a person is asked about it.
    InFlight,
    /// The program has not begun it.
    Open,
    /// Only the person can end it.
    Persons,
    /// It waits for a step that only the person can end.
    Blocked,
}

impl ExecuteTool {
    /// Works the step that the run was opened for, or opens the runs of the steps that may begin.
    pub(super) fn work_plan(&self, entry: &NodeInput<'_>, task: &Task, plan: &TaskPlan) -> anyhow::Result<NodeOutput> {
        let own = entry.state.plan_step.and_then(|number| plan.steps.iter().find(|step| step.step_number == number));
        let Some(step) = own.filter(|step| standing(task, step) == StepStanding::Open) else {
            return Ok(self.continue_plan(entry, task, plan, Vec::new()));
        };
        let name = step.name();
        let Some(index) = task.subtasks.iter().position(|subtask| subtask.step == name) else {
            return Ok(self.continue_plan(entry, task, plan, Vec::new()));
        };
        let Some(call) = &step.call else {
            return self.ask_for_calls(entry, task, plan, step);
        };
        let mut changes = in_progress_changes(task);
        let fail = |why: &str, changes| Ok(park_failed_step(entry, task, &name, why, changes));
        let Some(tool) = self.tools.get(&call.tool) else {
            return fail(&format!("there is no tool '{}'", call.tool.escape_debug()), changes);
        };
        if let Err(error) = check_arguments(tool, &call.arguments) {
            return fail(&error.0, changes);
        }
        if tool.needs_mail() && entry.mail.is_none() {
            return fail(&format!("{} works on a mail, and this request has none", call.tool), changes);
        }
        let window = (self.planner.deduplication_window, entry.now);
        if let Some(earlier) = deduplication::find_repeated_step(plan, task, step, &self.tools, window) {
            changes.push(Change::StepStarted { number: step.step_number });
            let value = repeated_output(task, earlier);
            return Ok(self.go_on(entry, task, index, complete_step(changes, index, &name, value)));
        }
        self.run_tool(entry, task, &AgentStep { index, name: &name, tool, planned: Some((plan, step)) })
    }

    /// Returns the output that ends a step with these changes: on to the next step of the task, or of its plan.
    pub(super) fn go_on(&self, entry: &NodeInput<'_>, task: &Task, index: usize, changes: Vec<Change>) -> NodeOutput {
        if TaskPlan::of_context(&task.context).is_none() {
            return NodeOutput::from_move(self.next_move(task, index)).with_changes(changes);
        }
        let mut after = RunState { task: entry.state.task.clone(), ..RunState::default() };
        let applied = changes.iter().all(|change| after.apply(change, entry.now).is_ok());
        match after.task.filter(|_| applied) {
            // The steps of the template come before those of the plan, one after the other.
            Some(after) if entry.run.kind != RunKind::Step && self.untried_steps(&after).next().is_some() => {
                NodeOutput::from_move(Move::Again).with_changes(changes)
            }
            Some(after) => match TaskPlan::of_context(&after.context) {
                Some(plan) => self.continue_plan(entry, &after, &plan, changes),
                None => NodeOutput::from_move(Move::Next).with_changes(changes),
            },
            // A change that does not fit fails when the checkpoint is built, with its own error.
            None => NodeOutput::from_move(Move::Next).with_changes(changes),
        }
    }

    /// Opens the runs of the steps that may begin, within the limit. Goes on to the summary when the program has nothing
    /// more to do, and else ends the run, because another one goes on with the plan.
    fn continue_plan(&self, entry: &NodeInput<'_>, task: &Task, plan: &TaskPlan, changes: Vec<Change>) -> NodeOutput {
        let standings = find_standings(task, plan);
        let of = |number: u32| standings.iter().find(|(step, _)| *step == number).map(|(_, standing)| *standing);
        let graph = StepGraph::of_plan(plan);
        let has_ended = |number: u32| of(number).is_none_or(|standing| standing == StepStanding::Ended);
        let is_left =
            |(_, standing): &(u32, StepStanding)| matches!(standing, StepStanding::Open | StepStanding::InFlight);
        if !standings.iter().any(is_left) {
            return NodeOutput::from_move(Move::Next).with_changes(changes);
        }
        let open = standings.iter().filter(|(_, standing)| *standing == StepStanding::Open).map(|(number, _)| *number);
        let ready =
            open.filter(|number| graph.is_ready(*number, has_ended)).take(self.planner.max_parallel_steps.max(1));
        let runs = ready.map(|number| step_run(entry, task, number)).collect();
        NodeOutput { runs, ..NodeOutput::from_move(Move::Done).with_changes(changes) }
    }
}

/// Returns where each step stands, by its number. A step behind one that only the person can end is blocked.
fn find_standings(task: &Task, plan: &TaskPlan) -> Vec<(u32, StepStanding)> {
    let mut standings: Vec<(u32, StepStanding)> =
        plan.steps.iter().map(|step| (step.step_number, standing(task, step))).collect();
    loop {
        let stuck: Vec<u32> = standings
            .iter()
            .filter(|(_, standing)| matches!(standing, StepStanding::Persons | StepStanding::Blocked))
            .map(|(number, _)| *number)
            .collect();
        let mut changed = false;
        for (step, (_, standing)) in plan.steps.iter().zip(&mut standings) {
            if *standing == StepStanding::Open && step.after.iter().any(|before| stuck.contains(before)) {
                *standing = StepStanding::Blocked;
                changed = true;
            }
        }
        if !changed {
            return standings;
        }
    }
}

fn standing(task: &Task, step: &PlannedStep) -> StepStanding {
    let name = step.name();
    if task.subtasks.iter().any(|subtask| subtask.step == name && subtask.done) {
        return StepStanding::Ended;
    }
    match StepOutput::of_step(task, &name) {
        StepOutput::Skipped | StepOutput::Withheld => StepStanding::Ended,
        StepOutput::Void | StepOutput::LeftToPerson => StepStanding::Persons,
        StepOutput::Begun | StepOutput::Waiting | StepOutput::Failed => StepStanding::InFlight,
        StepOutput::None if step.is_agents() => StepStanding::Open,
        StepOutput::None => StepStanding::Persons,
    }
}

/// Returns the run of a step.
fn step_run(entry: &NodeInput<'_>, task: &Task, number: u32) -> NewRun {
    let (task_id, number_text) = (task.task_id.to_string(), number.to_string());
    let resumed = entry.run.run_id.to_string();
    let mut parts = vec!["step", &task_id, &number_text];
    // A person had the plan resumed after the run of a step could not go on: that run exists and has ended.
    if entry.run.kind == RunKind::Decision && entry.state.plan_step.is_none() {
        parts.push(&resumed);
    }
    NewRun {
        run_id: RunId::derive(task.created_at, &parts),
        account: entry.run.account.clone(),
        user: entry.run.user.clone(),
        kind: RunKind::Step,
        parent_run: Some(entry.run.run_id),
        fork: None,
        node: NodeName::ExecuteTool,
        task_id: Some(task.task_id),
        state: RunState {
            mail_id: entry.state.mail_id,
            mail_key: entry.state.mail_key.clone(),
            rule: entry.state.rule.clone(),
            plan_step: Some(number),
            ..RunState::default()
        },
    }
}

/// Returns the output of a step whose call is the same as that of an earlier one: its result, and which step it is.
fn repeated_output(task: &Task, earlier: &PlannedStep) -> Value {
    let result = task.tool_output.as_ref().and_then(|outputs| outputs.get(&earlier.name())).cloned();
    let mut result = result.filter(Value::is_object).unwrap_or_else(|| Value::Object(Map::new()));
    if let Value::Object(fields) = &mut result {
        fields.insert("repeats_step".to_owned(), Value::from(earlier.step_number));
    }
    result
}
