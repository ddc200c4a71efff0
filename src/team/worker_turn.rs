//! What a worker's actions do. Ending and asking are applied in one step with the action; what reads or proposes is done
//! by a job, and its result is stored when it is there.

use serde_json::{Value, json};

use super::{
    event::TeamEvent,
    message::AgentMessage,
    question,
    report::{WorkerError, cut, error_report},
    result_format::check_result,
    session::TeamSession,
    turn::TurnContext,
};
use crate::{
    llm::prompt::team_turn::{WorkerAction, WorkerTurn},
    model::{AgentId, AgentState},
};

/// Applies one turn of a worker, as far as it needs no job.
pub(super) fn apply_worker_turn(
    session: &mut TeamSession,
    worker: AgentId,
    turn: &WorkerTurn,
    context: &TurnContext<'_>,
) {
    match turn.action {
        WorkerAction::Finish => finish(session, worker, &turn.text, context),
        WorkerAction::ReportError => {
            let or = |text: &str, otherwise: &str| {
                if text.trim().is_empty() { otherwise.to_owned() } else { text.trim().to_owned() }
            };
            let error = WorkerError {
                kind: or(&turn.error_type, "task_error"),
                message: turn.text.trim().to_owned(),
                suggestion: or(&turn.suggestion, "Refine the task, try another way, or ask the person."),
                stack: None,
            };
            // Reported first: its own end is no successful step.
            fail_worker(session, worker, &error);
            close_action(session, worker, "report_error", "reported");
        }
        WorkerAction::AskUser => {
            question::ask_person(session, worker, &turn.text, context);
            close_action(session, worker, "ask_user", "asked");
        }
        WorkerAction::ExecuteJavascript
        | WorkerAction::Search
        | WorkerAction::ListMails
        | WorkerAction::ReadMail
        | WorkerAction::ListTasks
        | WorkerAction::ReadTask
        | WorkerAction::ProposeAction => {
            let summary = summarise(turn);
            session.record(TeamEvent::ToolCalled { agent: worker, tool: tool_name(turn.action), summary });
        }
    }
}

/// Returns the name of an action as it stands in conversations and events.
pub(super) fn tool_name(action: WorkerAction) -> String {
    serde_json::to_value(action).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Returns one line about a call, for the screen.
fn summarise(turn: &WorkerTurn) -> String {
    let text = match turn.action {
        WorkerAction::ExecuteJavascript => &turn.code,
        WorkerAction::Search | WorkerAction::ListMails => &turn.query,
        WorkerAction::ProposeAction => &turn.tool,
        _ => &turn.handle,
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(100).collect()
}

fn close_action(session: &mut TeamSession, worker: AgentId, tool: &str, status: &str) {
    let output = json!({ "status": status });
    session.add_message(worker, AgentMessage::Result { tool: tool.to_owned(), is_error: false, output });
}

/// Ends a worker with its result, and reports to its manager.
fn finish(session: &mut TeamSession, worker: AgentId, result: &str, context: &TurnContext<'_>) {
    let Some(row) = session.agent(worker).map(|agent| agent.row.clone()) else { return };
    let result = result.trim();
    let warning = check_result(result, row.expected_format.as_deref());
    close_action(session, worker, "finish", "finished");
    let event = TeamEvent::WorkerFinished { agent: worker, result: context.explain(result), warning: warning.clone() };
    session.record(event);
    session.set_agent_state(worker, AgentState::Finished, Some(result.to_owned()));
    let mut report = json!({
        "task_id": worker, "task_description": row.task, "status": "finished", "result": result,
    });
    if let (Some(fields), Some(warning)) = (report.as_object_mut(), warning) {
        fields.insert("warning".into(), Value::from(warning));
    }
    report_to_manager(session, row.number, report);
}

/// Ends a worker with an error report, and hands the report to its manager. The worker is not tried again.
pub(super) fn fail_worker(session: &mut TeamSession, worker: AgentId, error: &WorkerError) {
    let Some(agent) = session.agent(worker) else { return };
    let number = agent.row.number;
    let report = error_report(&agent.row, &agent.messages, error);
    let report = serde_json::to_value(&report).unwrap_or_else(|_| json!({ "status": "error" }));
    session.record(TeamEvent::WorkerFailed { agent: worker, report: report.clone() });
    session.set_agent_state(worker, AgentState::Failed, Some(report.to_string()));
    report_to_manager(session, number, report);
}

fn report_to_manager(session: &mut TeamSession, worker: u32, report: Value) {
    let Some(manager) = session.manager().map(|agent| agent.row.agent_id) else { return };
    session.post_message(manager, AgentMessage::Report { worker, report });
}

/// Stores what came of a job.
pub(super) fn apply_tool_result(session: &mut TeamSession, worker: AgentId, tool: &str, result: Result<Value, Value>) {
    let (is_error, output) = match result {
        Ok(output) => (false, output),
        Err(error) => (true, error),
    };
    let summary = cut(&output.to_string());
    session.record(TeamEvent::ToolReturned { agent: worker, tool: tool.to_owned(), is_error, summary });
    session.add_message(worker, AgentMessage::Result { tool: tool.to_owned(), is_error, output });
}
