//! The state of a team while a process works it: its agents with their conversations, and the changes that are not
//! stored yet.
//!
//! Whatever happens is first a change in here; [`TeamSession::commit`] stores all changes of one step together. A process
//! that dies in between loses the step and nothing else.

use serde_json::Value;

use super::{event::TeamEvent, handles::Handles, message::AgentMessage};
use crate::{
    model::{
        AgentId, AgentRow, AgentState, AgentType, Instant, TeamChange, TeamRow, TeamState, TeamUpdate, TeamWrite,
        TodoItem,
    },
    store::{Store, StoreReader, Write},
};

/// How many workers are active at the same time. Further ones queue.
pub const MOST_ACTIVE_WORKERS: usize = 5;
/// How many workers a team may start in all, so that a model in a loop ends.
pub const MOST_WORKERS: usize = 100;

/// An agent with what it knows.
#[derive(Debug)]
pub(super) struct Agent {
    pub row: AgentRow,
    pub messages: Vec<AgentMessage>,
    /// What arrived while a turn was under way; it is delivered with the next turn.
    pub inbox: Vec<AgentMessage>,
    /// Whether a model call or a tool of this agent is under way.
    pub is_busy: bool,
    /// How many answers of the model in a row could not be used.
    pub unusable_answers: u32,
}

impl Agent {
    /// Returns how many actions the agent has taken.
    pub(super) fn turns(&self) -> usize {
        self.messages.iter().filter(|message| message.is_own()).count()
    }

    /// Returns the action whose result is missing, if there is one.
    pub(super) fn open_action(&self) -> Option<&Value> {
        match self.messages.last() {
            Some(AgentMessage::Action { turn }) => Some(turn),
            _ => None,
        }
    }

    pub(super) fn is_manager(&self) -> bool {
        self.row.agent_type.is_task_manager()
    }
}

/// A team in memory.
pub(super) struct TeamSession {
    pub team: TeamRow,
    pub agents: Vec<Agent>,
    pub todos: Vec<TodoItem>,
    pending: Vec<TeamChange>,
}

impl TeamSession {
    /// Reads a team as it was stored.
    pub(super) fn load(reader: &StoreReader<'_>, team: TeamRow) -> crate::store::Result<Self> {
        let teams = reader.teams();
        let mut agents = Vec::new();
        for row in teams.agents(team.team_id)? {
            let (delivered, waiting) = teams.messages(row.agent_id)?;
            let decode = |texts: Vec<String>| texts.iter().filter_map(|text| serde_json::from_str(text).ok()).collect();
            agents.push(Agent {
                row,
                messages: decode(delivered),
                inbox: decode(waiting),
                is_busy: false,
                unusable_answers: 0,
            });
        }
        let todos = teams.todos(team.team_id)?;
        Ok(Self { team, agents, todos, pending: Vec::new() })
    }

    /// Returns the manager. Every team has one from its first step on.
    pub(super) fn manager(&self) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.is_manager())
    }

    pub(super) fn agent(&self, id: AgentId) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.row.agent_id == id)
    }

    pub(super) fn agent_mut(&mut self, id: AgentId) -> Option<&mut Agent> {
        self.agents.iter_mut().find(|agent| agent.row.agent_id == id)
    }

    /// Returns the workers in a state that passes the test.
    pub(super) fn workers(&self, is_wanted: impl Fn(AgentState) -> bool) -> Vec<AgentId> {
        let wanted = self.agents.iter().filter(|agent| !agent.is_manager() && is_wanted(agent.row.state));
        wanted.map(|agent| agent.row.agent_id).collect()
    }

    /// Returns how many workers are active.
    pub(super) fn active_workers(&self) -> usize {
        self.workers(AgentState::is_active).len()
    }

    /// Returns whether a worker is active or queued, so that there is something to wait for.
    pub(super) fn has_open_workers(&self) -> bool {
        !self.workers(|state| state.is_active() || state == AgentState::Queued).is_empty()
    }

    /// Records something that happened.
    pub(super) fn record(&mut self, event: TeamEvent) {
        log_event(&self.team, &event);
        if let Ok(text) = serde_json::to_string(&event) {
            self.pending.push(TeamChange::AddEvent(text));
        }
    }

    /// Adds a further change to those that are stored next.
    pub(super) fn change(&mut self, change: TeamChange) {
        self.pending.push(change);
    }

    pub(super) fn set_team_state(&mut self, state: TeamState) {
        if self.team.state != state {
            self.team.state = state;
            self.pending.push(TeamChange::SetState(state));
            self.record(TeamEvent::TeamStateChanged { state });
        }
    }

    /// Moves an agent to another state. `result` is what it ended with.
    pub(super) fn set_agent_state(&mut self, id: AgentId, state: AgentState, result: Option<String>) {
        let Some(agent) = self.agent_mut(id) else { return };
        if agent.row.state == state {
            return;
        }
        agent.row.state = state;
        if result.is_some() {
            agent.row.result.clone_from(&result);
        }
        self.pending.push(TeamChange::SetAgentState { agent: id, state, result });
        self.record(TeamEvent::AgentStateChanged { agent: id, state });
    }

    /// Adds a message to the end of an agent's conversation.
    pub(super) fn add_message(&mut self, id: AgentId, message: AgentMessage) {
        let Some(content) = encode(&message) else { return };
        if let Some(agent) = self.agent_mut(id) {
            agent.messages.push(message);
            self.pending.push(TeamChange::AddMessage { agent: id, content });
        }
    }

    /// Leaves a message for an agent's next turn, and wakes an agent that waits.
    pub(super) fn post_message(&mut self, id: AgentId, message: AgentMessage) {
        let Some(content) = encode(&message) else { return };
        let Some(agent) = self.agent_mut(id) else { return };
        agent.inbox.push(message);
        let waits = agent.row.state == AgentState::Waiting;
        self.pending.push(TeamChange::PostMessage { agent: id, content });
        if waits {
            self.set_agent_state(id, AgentState::Working, None);
        }
    }

    /// Moves what was left for an agent to the end of its conversation.
    pub(super) fn deliver_messages(&mut self, id: AgentId) {
        let Some(agent) = self.agent_mut(id) else { return };
        if agent.inbox.is_empty() {
            return;
        }
        let waiting = std::mem::take(&mut agent.inbox);
        agent.messages.extend(waiting);
        self.pending.push(TeamChange::DeliverMessages { agent: id });
    }

    /// Adds an agent. Its id follows from the team and its number, so that starting it again after a crash is the same.
    pub(super) fn add_agent(
        &mut self,
        agent_type: AgentType,
        task: &str,
        expected_format: Option<String>,
        state: AgentState,
    ) -> AgentId {
        let number = u32::try_from(self.agents.len()).unwrap_or(u32::MAX);
        let parts = ["agent", &self.team.team_id.to_string(), &number.to_string()];
        let agent_id = AgentId::derive(self.team.created_at, &parts);
        let row = AgentRow {
            agent_id,
            number,
            agent_type,
            task: task.to_owned(),
            expected_format,
            state,
            item_id: None,
            result: None,
        };
        self.pending.push(TeamChange::AddAgent(row.clone()));
        self.agents.push(Agent { row, messages: Vec::new(), inbox: Vec::new(), is_busy: false, unusable_answers: 0 });
        self.record(TeamEvent::AgentStarted { agent: agent_id, agent_type, number, task: task.to_owned() });
        self.record(TeamEvent::AgentStateChanged { agent: agent_id, state });
        self.add_message(agent_id, AgentMessage::Request { text: task.to_owned() });
        agent_id
    }

    /// Lets queued workers begin while there is room for them, the oldest first.
    pub(super) fn start_queued_workers(&mut self) {
        for worker in self.workers(|state| state == AgentState::Queued) {
            if self.active_workers() >= MOST_ACTIVE_WORKERS {
                break;
            }
            self.set_agent_state(worker, AgentState::Working, None);
        }
    }

    /// Stores all changes since the last commit, together with the handles that were given out meanwhile: a handle is
    /// known to the database before a model sees it.
    pub(super) async fn commit(
        &mut self,
        store: &Store,
        handles: Vec<crate::model::TeamHandle>,
        at: Instant,
    ) -> anyhow::Result<()> {
        let mut changes: Vec<TeamChange> = handles.into_iter().map(TeamChange::AddHandle).collect();
        changes.append(&mut self.pending);
        if changes.is_empty() {
            return Ok(());
        }
        let update = TeamUpdate { team_id: self.team.team_id, changes, at };
        store.write(Write::Team(Box::new(TeamWrite::Update(update)))).await?;
        Ok(())
    }
}

fn encode(message: &AgentMessage) -> Option<String> {
    serde_json::to_string(message).ok()
}

/// Logs the life cycle: which agent, which state, which tool. Never a text of a person, a mail or a model.
fn log_event(team: &TeamRow, event: &TeamEvent) {
    let number = team.number;
    match event {
        TeamEvent::TeamStateChanged { state } => tracing::info!(team = number, team.state = %state, "team"),
        TeamEvent::AgentStarted { agent, number: agent_number, .. } => {
            tracing::info!(team = number, agent.id = %agent, agent.number = agent_number, "agent started");
        }
        TeamEvent::AgentStateChanged { agent, state } => {
            tracing::info!(team = number, agent.id = %agent, agent.state = %state, "agent");
        }
        TeamEvent::ToolCalled { agent, tool, .. } => {
            tracing::debug!(team = number, agent.id = %agent, tool, "tool called");
        }
        TeamEvent::WorkerFinished { agent, warning: Some(warning), .. } => {
            tracing::warn!(team = number, agent.id = %agent, warning, "a result has another form");
        }
        _ => {}
    }
}

/// Returns the handles of a team as they were stored.
pub(super) fn load_handles(reader: &StoreReader<'_>, team: &TeamRow) -> crate::store::Result<Handles> {
    Ok(Handles::load(reader.teams().handles(team.team_id)?))
}
