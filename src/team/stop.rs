//! Stopping a team with its context: everything is cancelled, the manager is told where everybody stood, and the
//! conversations are repaired, so that the team can go on with "continue", "cancel remaining" or new instructions.

use std::fmt::Write as _;

use chrono_tz::Tz;
use serde_json::Value;

use super::{
    event::TeamEvent,
    message::{AgentMessage, repair},
    question,
    report::last_result,
    session::{Agent, TeamSession},
    todo,
};
use crate::model::{AgentId, AgentState, Instant, TeamState, TodoStatus};

/// How much of a text stands in the summary, in characters.
const PREVIEW_CHARS: usize = 50;

/// What the person says to a stopped team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StoppedReply {
    /// The stopped workers go on.
    Continue,
    /// The stopped workers are cancelled, and the manager answers with what there is.
    CancelRemaining,
    /// The stopped workers are cancelled, and the manager does what the text says.
    Instructions,
}

impl StoppedReply {
    /// Reads what the person typed.
    pub(super) fn read(text: &str) -> Self {
        let text = text.trim().trim_end_matches(['.', '!']).to_lowercase();
        match text.as_str() {
            "continue" | "go on" | "resume" | "המשך" | "תמשיך" => Self::Continue,
            "cancel remaining" | "cancel the rest" | "cancel" | "בטל את השאר" => Self::CancelRemaining,
            _ => Self::Instructions,
        }
    }
}

/// Stops all agents. The jobs that were under way have been ended by the caller; what they would have returned is lost.
pub(super) fn stop_team(session: &mut TeamSession, now: Instant, zone: Tz) {
    let summary = summarise(session, now, zone);
    for worker in session.workers(|state| !state.has_ended() && state != AgentState::Stopped) {
        question::close(session, worker, "the team was stopped");
        repair_agent(session, worker);
        session.set_agent_state(worker, AgentState::Stopped, None);
    }
    if let Some(manager) = session.manager().map(|agent| agent.row.agent_id) {
        question::close(session, manager, "the team was stopped");
        repair_agent(session, manager);
        session.deliver_messages(manager);
        session.add_message(manager, AgentMessage::Program { text: summary.clone() });
        if session.manager().is_some_and(|agent| agent.row.state == AgentState::Working) {
            session.set_agent_state(manager, AgentState::Waiting, None);
        }
    }
    session.record(TeamEvent::Stopped { summary });
    session.set_team_state(TeamState::Stopped);
}

fn repair_agent(session: &mut TeamSession, id: AgentId) {
    let Some(agent) = session.agent(id) else { return };
    let (added, log) = repair(&mut agent.messages.clone());
    for line in log {
        tracing::info!(agent.id = %id, "conversation repaired: {line}");
    }
    added.into_iter().for_each(|message| session.add_message(id, message));
}

/// Lets a stopped team go on as the person says.
pub(super) fn resume_team(session: &mut TeamSession, text: &str) {
    let Some(manager) = session.manager().map(|agent| agent.row.agent_id) else { return };
    let stopped = session.workers(|state| state == AgentState::Stopped);
    session.set_team_state(TeamState::Running);
    session.record(TeamEvent::PersonSaid { agent: manager, text: text.to_owned() });
    session.add_message(manager, AgentMessage::Person { text: text.to_owned() });
    let reply = StoppedReply::read(text);
    if reply == StoppedReply::Continue {
        for worker in &stopped {
            session.add_message(*worker, AgentMessage::Program { text: "Go on where you were stopped.".into() });
            session.set_agent_state(*worker, AgentState::Queued, None);
        }
        session.start_queued_workers();
        if !stopped.is_empty() {
            let text = format!("{} stopped tasks go on. Their reports will come by themselves.", stopped.len());
            session.add_message(manager, AgentMessage::Program { text });
        }
    } else {
        for worker in &stopped {
            session.set_agent_state(*worker, AgentState::Cancelled, None);
        }
        let note = match reply {
            StoppedReply::CancelRemaining => "The stopped tasks are cancelled. Answer with what there is.",
            _ => {
                "The stopped tasks are cancelled. Do what the person says now; start tasks again only if that needs them."
            }
        };
        session.add_message(manager, AgentMessage::Program { text: note.into() });
    }
    if session.manager().is_some_and(|agent| agent.row.state == AgentState::Waiting) {
        session.set_agent_state(manager, AgentState::Working, None);
    }
}

/// Returns the summary of an interruption: where everybody stood, with partial results.
fn summarise(session: &TeamSession, now: Instant, zone: Tz) -> String {
    let time = now.utc().with_timezone(&zone).format("%H:%M:%S");
    let mut summary = format!("[SYSTEM INTERRUPTION]\nUser pressed Stop at {time}\n\nActive state when stopped:\n");
    // Writing into a String cannot fail.
    for agent in &session.agents {
        if agent.is_manager() {
            let doing = if agent.row.state == AgentState::Working { "processing" } else { "idle" };
            let _written = writeln!(summary, "- Task Manager: {doing}");
        } else if !agent.row.state.has_ended() {
            let _written = writeln!(
                summary,
                "- Task {}: \"{}\" - {}",
                agent.row.number,
                preview(&agent.row.task),
                describe_progress(agent)
            );
        }
    }
    let todos = &session.todos;
    let _written = writeln!(
        summary,
        "\nTodo list: {} tasks ({} pending, {} in_progress, {} completed)",
        todos.len(),
        todo::count(todos, TodoStatus::Pending),
        todo::count(todos, TodoStatus::InProgress),
        todo::count(todos, TodoStatus::Completed),
    );
    let count = |is_wanted: fn(AgentState) -> bool| session.workers(is_wanted).len();
    let _written = writeln!(
        summary,
        "Workers: {} ({} stopped, {} finished, {} failed, {} cancelled)",
        session.agents.len().saturating_sub(1),
        count(|state| !state.has_ended()),
        count(|state| state == AgentState::Finished),
        count(|state| state == AgentState::Failed),
        count(|state| state == AgentState::Cancelled),
    );
    summary.push_str("\nWhat would you like to do next?\n");
    summary
}

/// Returns what a worker was doing, and its last result.
fn describe_progress(agent: &Agent) -> String {
    let doing = match (agent.row.state, agent.open_action()) {
        (AgentState::Queued, _) => "not started".to_owned(),
        (AgentState::Waiting, _) => "waiting for user input".to_owned(),
        (_, Some(turn)) => {
            let text = |key: &str| turn.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            match text("action").as_str() {
                "execute_javascript" => format!("executing JavaScript ({})", preview(&text("code"))),
                action => format!("carrying out {action}"),
            }
        }
        _ if agent.turns() == 0 => "not started".to_owned(),
        _ => "thinking about its next step".to_owned(),
    };
    match last_result(&agent.messages, false) {
        Some((tool, output)) => format!("{doing}; partial result of {tool}: {output}"),
        None => doing,
    }
}

fn preview(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(PREVIEW_CHARS) {
        Some((end, _)) => format!("{}...", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_after_a_stop_is_understood() {
        for (text, reply) in [
            ("continue", StoppedReply::Continue),
            (" Continue. ", StoppedReply::Continue),
            ("Cancel remaining", StoppedReply::CancelRemaining),
            ("continue with the second mail only", StoppedReply::Instructions),
            ("look at June instead", StoppedReply::Instructions),
        ] {
            assert_eq!(StoppedReply::read(text), reply, "{text}");
        }
    }

    #[test]
    fn a_preview_is_cut_between_characters() {
        assert_eq!(preview("a\n b"), "a b");
        assert_eq!(preview(&"א".repeat(60)), format!("{}...", "א".repeat(50)));
    }
}
