//! What a person says to a team while it is worked.

use super::{
    event::{TeamEvent, TeamInput},
    message::AgentMessage,
    question,
    session::TeamSession,
    stop::resume_team,
};
use crate::model::{AgentId, TeamState};

/// Applies what a person said to an agent. Stopping is done by whoever runs the jobs.
pub(super) fn apply_saying(session: &mut TeamSession, agent: AgentId, text: &str) {
    let text = text.trim();
    let Some(manager) = session.manager().map(|found| found.row.agent_id) else { return };
    if text.is_empty() {
        return;
    }
    if session.team.state == TeamState::Stopped {
        // Workers are stopped too, so that whatever is typed is for the manager.
        return resume_team(session, text);
    }
    let has_ended = session.agent(agent).is_none_or(|found| found.row.state.has_ended());
    // What is said to a task that has ended is for the manager, who can start another.
    let to = if has_ended { manager } else { agent };
    question::close(session, to, "answered on the screen");
    session.record(TeamEvent::PersonSaid { agent: to, text: text.to_owned() });
    if session.team.state == TeamState::Answered {
        session.set_team_state(TeamState::Running);
    }
    session.post_message(to, AgentMessage::Person { text: text.to_owned() });
}

/// Returns whether an input stops the team.
pub(super) const fn is_stop(input: &TeamInput) -> bool {
    matches!(input, TeamInput::Stop)
}
