//! Actions that a worker proposes. Each becomes a task with a plan of one step, so that it takes the way of every other
//! effect: the policy judges it, and where that asks, a person approves exactly its bytes.
//!
//! The model names tools of a closed list and people by handles. It can neither type an address nor carry anything out.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::handles::Handles;
use crate::{
    llm::{check_model_text, prompt::team_turn::WorkerTurn},
    model::{
        AccountId, Complexity, Instant, Me, NewRequest, NewRun, NodeName, PlanOrigin, PlanPerson, PlannedStep,
        Priority, RunId, RunKind, RunState, Task, TaskContext, TaskId, TaskKind, TaskPlan, TaskStatus, TeamId,
        ToolCall, UserId,
    },
    reading::facts_of_typed_task,
    tool::{Registry, ToolAccess, check_arguments},
};

/// The longest text that a model may write into an action, in characters.
const LONGEST_TEXT: usize = 2_000;
/// The longest objective of the task, in characters.
const LONGEST_OBJECTIVE: usize = 120;

/// A proposal that was checked: a call of a tool with the people that it names.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ActionProposal {
    pub call: ToolCall,
    pub people: Vec<PlanPerson>,
    /// What is proposed, in one line for a person.
    pub description: String,
}

/// Whose the task of a proposal becomes, and by which its id is derived again after a crash.
pub(super) struct ProposalOwner<'a> {
    pub team_id: TeamId,
    pub team_created_at: Instant,
    /// Names the action within the team; the same when it is carried out again.
    pub key: &'a str,
    pub account: AccountId,
    pub user: UserId,
    pub me: &'a Me,
    pub now: Instant,
}

/// Returns the tools that can be proposed, as a model is shown them: those that change something and need no mail.
pub(super) fn proposable_tools(tools: &Registry) -> Vec<(&'static str, &'static str)> {
    let writing = tools.plannable(false).filter(|tool| tool.access() == ToolAccess::Write);
    writing.map(|tool| (tool.name(), tool.purpose())).collect()
}

/// Checks a proposal as a worker wrote it. The reason of a refusal goes back to the worker.
pub(super) fn check_proposal(turn: &WorkerTurn, tools: &Registry, handles: &Handles) -> Result<ActionProposal, String> {
    let known = proposable_tools(tools);
    let names = || known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let tool = tools
        .plannable(false)
        .filter(|tool| known.iter().any(|(name, _)| *name == tool.name()))
        .find(|tool| tool.name() == turn.tool.trim())
        .ok_or_else(|| format!("there is no such tool to propose; there are: {}", names()))?;
    let mut arguments = Map::new();
    let mut people = Vec::new();
    for parameter in tool.parameters() {
        if parameter.is_list {
            people = find_people(&turn.to, handles)?;
            let to: Vec<Value> = people.iter().map(|person| Value::from(person.handle.clone())).collect();
            arguments.insert(parameter.name.to_owned(), Value::from(to));
            continue;
        }
        let text = if parameter.name == "subject" { &turn.subject } else { &turn.text };
        if !text.trim().is_empty() {
            check_model_text(text, LONGEST_TEXT)?;
            arguments.insert(parameter.name.to_owned(), Value::from(text.trim()));
        }
    }
    check_arguments(tool, &arguments).map_err(|error| error.0)?;
    let about = if turn.subject.trim().is_empty() { &turn.text } else { &turn.subject };
    let mut description = format!("{}: {}", tool.name().replace('_', " "), one_line(about));
    if !people.is_empty() {
        let names: Vec<&str> = people.iter().map(|person| person.name.as_str()).collect();
        description = format!("{description} (to {})", names.join(", "));
    }
    let description = description.chars().take(LONGEST_OBJECTIVE).collect();
    Ok(ActionProposal { call: ToolCall { tool: tool.name().to_owned(), arguments }, people, description })
}

/// Returns the people whom the handles name. One unknown handle refuses the whole proposal.
fn find_people(to: &[String], handles: &Handles) -> Result<Vec<PlanPerson>, String> {
    let person = |handle: &String| {
        let known = handles.person(handle).ok_or_else(|| {
            format!("nobody has the handle '{}'; people are named by handles such as P1", handle.escape_debug())
        })?;
        let name = if known.name.is_empty() { known.target.clone() } else { known.name.clone() };
        Ok(PlanPerson { handle: known.handle.clone(), name, address: known.target.clone() })
    };
    to.iter().map(person).collect()
}

/// Returns the task of a proposal with the run that works it. Its ids follow from the owner's key, so that proposing
/// again after a crash opens nothing new.
pub(super) fn new_request(proposal: &ActionProposal, owner: &ProposalOwner<'_>) -> NewRequest {
    let parts = ["team", &owner.team_id.to_string(), owner.key];
    let (task_id, run_id) =
        (TaskId::derive(owner.team_created_at, &parts), RunId::derive(owner.team_created_at, &parts));
    let plan = TaskPlan {
        original_request: proposal.description.clone(),
        origin: PlanOrigin::Model,
        complexity: Complexity::default(),
        people: proposal.people.clone(),
        steps: vec![PlannedStep {
            step_number: 1,
            description: proposal.description.clone(),
            instruction: proposal.description.clone(),
            call: Some(proposal.call.clone()),
            // The arguments are a model's, and are judged as such.
            asks_model: true,
            ..PlannedStep::default()
        }],
    };
    let facts = facts_of_typed_task(owner.me, &proposal.description, TaskKind::Request, None);
    let mut context = TaskContext::default();
    plan.store_in(&mut context);
    let task = Task {
        task_id,
        created_at: owner.now,
        source: format!("team:{}", owner.team_id),
        objective: proposal.description.clone(),
        context,
        priority: Priority::Low,
        status: TaskStatus::New,
        subtasks: plan.subtasks(),
        assigned_agent: Some(Task::TOOLING_AGENT.to_owned()),
        last_updated: owner.now,
        tool_output: None,
        result_summary: None,
    };
    let state = RunState { task: Some(Arc::new(task.clone())), facts: Some(facts.clone()), ..RunState::default() };
    let run = NewRun {
        run_id,
        account: owner.account.clone(),
        user: owner.user.clone(),
        kind: RunKind::Task,
        parent_run: None,
        fork: None,
        node: NodeName::Prioritise,
        task_id: Some(task_id),
        state,
    };
    NewRequest { task, facts, run, at: owner.now }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
