//! What the manager's actions do. Each is applied in one step together with the action itself, so that after a crash it
//! has happened as a whole or not at all.

use serde_json::{Value, json};

use super::{
    event::TeamEvent,
    message::AgentMessage,
    question,
    session::{MOST_ACTIVE_WORKERS, MOST_WORKERS, TeamSession},
    todo,
    turn::TurnContext,
};
use crate::{
    llm::prompt::team_turn::{ManagerAction, ManagerTurn},
    model::{AgentId, AgentState, AgentType, TeamChange, TeamState},
};

/// The longest description of a task, in characters.
const LONGEST_TASK: usize = 2_000;

/// Applies one turn of the manager.
pub(super) fn apply_manager_turn(
    session: &mut TeamSession,
    manager: AgentId,
    turn: &ManagerTurn,
    context: &TurnContext<'_>,
) {
    let result = match turn.action {
        ManagerAction::Think => {
            session.record(TeamEvent::Thought { agent: manager, text: context.explain(&turn.thought) });
            Ok(json!({ "status": "thought_recorded", "message": "Thought logged successfully" }))
        }
        ManagerAction::TodoWrite => write_todos(session, turn),
        ManagerAction::TodoRead => Ok(todo::read_todos(&session.todos)),
        ManagerAction::StartTask => start_task(session, manager, turn, context),
        ManagerAction::Wait => wait(session, manager),
        ManagerAction::AskUser => {
            question::ask_person(session, manager, &turn.text, context);
            Ok(json!({ "status": "asked" }))
        }
        ManagerAction::Answer => Ok(answer(session, manager, &turn.text, context)),
    };
    let (is_error, output) = match result {
        Ok(output) => (false, output),
        Err(why) => (true, json!({ "status": "refused", "error": why })),
    };
    let tool = serde_json::to_value(turn.action).ok().and_then(|name| name.as_str().map(str::to_owned));
    session.add_message(manager, AgentMessage::Result { tool: tool.unwrap_or_default(), is_error, output });
}

fn write_todos(session: &mut TeamSession, turn: &ManagerTurn) -> Result<Value, String> {
    let todos = todo::check_todos(&turn.todos)?;
    let count = todos.len();
    session.todos.clone_from(&todos);
    session.change(TeamChange::ReplaceTodos(todos.clone()));
    session.record(TeamEvent::TodoListChanged { todos });
    Ok(json!({ "status": "updated", "task_count": count }))
}

/// Starts a worker and returns at once. With five active workers, the sixth queues.
fn start_task(
    session: &mut TeamSession,
    manager: AgentId,
    turn: &ManagerTurn,
    context: &TurnContext<'_>,
) -> Result<Value, String> {
    if session.agents.len() > MOST_WORKERS {
        return Err(format!("a team starts at most {MOST_WORKERS} tasks; answer with what there is"));
    }
    let task: String = turn.task_description.trim().chars().take(LONGEST_TASK).collect();
    let format = turn.expected_output_format.trim();
    let expected = (!format.is_empty()).then(|| format.chars().take(LONGEST_TASK).collect());
    let has_room = session.active_workers() < MOST_ACTIVE_WORKERS;
    let state = if has_room { AgentState::Working } else { AgentState::Queued };
    let worker = session.add_agent(AgentType::TaskWorker { parent_id: manager }, &task, expected, state);
    let number = session.agent(worker).map(|agent| agent.row.number).unwrap_or_default();
    tracing::debug!(worker = number, spawn_ms = context.elapsed_ms(), "worker spawned");
    Ok(json!({
        "task_id": worker, "task_number": number, "status": "started", "queued": !has_room, "task_description": task,
    }))
}

fn wait(session: &mut TeamSession, manager: AgentId) -> Result<Value, String> {
    let has_mail = session.agent(manager).is_some_and(|agent| !agent.inbox.is_empty());
    if !has_mail && !session.has_open_workers() {
        return Err("no task is running, so there is nothing to wait for: start a task, ask, or answer".into());
    }
    if !has_mail {
        session.set_agent_state(manager, AgentState::Waiting, None);
    }
    Ok(json!({ "status": "waiting" }))
}

/// Gives the person the answer. While tasks are running, it is a remark, and their reports still come.
fn answer(session: &mut TeamSession, manager: AgentId, text: &str, context: &TurnContext<'_>) -> Value {
    let text = context.explain(text);
    let has_mail = session.agent(manager).is_some_and(|agent| !agent.inbox.is_empty());
    if session.has_open_workers() || has_mail {
        session.record(TeamEvent::Remark { agent: manager, text });
        if !has_mail {
            session.set_agent_state(manager, AgentState::Waiting, None);
        }
        return json!({ "status": "shown", "message": "tasks are still running; their reports will come" });
    }
    session.record(TeamEvent::Answered { text });
    session.set_agent_state(manager, AgentState::Waiting, None);
    session.set_team_state(TeamState::Answered);
    json!({ "status": "answered" })
}
