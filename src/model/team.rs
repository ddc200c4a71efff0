//! The values of a team: a task manager that divides a request, and the workers that it starts.

use serde::{Deserialize, Serialize};

use super::{
    AccountId, Instant, ItemId, NewItem, NewModelCall, TaskId, UserId,
    ids::{AgentId, TeamId},
    text_enum::text_enum,
};

/// What an agent is for. Its prompt, its tools and how it ends follow from this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AgentType {
    /// Divides the request, starts workers and answers the person. There is one per team.
    TaskManager,
    /// Does one task and reports to the agent that started it.
    TaskWorker { parent_id: AgentId },
}

impl AgentType {
    pub const fn is_task_manager(self) -> bool {
        matches!(self, Self::TaskManager)
    }

    /// Returns the agent that started this one; none for the manager.
    pub const fn parent_id(self) -> Option<AgentId> {
        match self {
            Self::TaskManager => None,
            Self::TaskWorker { parent_id } => Some(parent_id),
        }
    }
}

text_enum! {
    /// Where an agent stands.
    AgentState {
        /// Started, but five workers are active already.
        Queued = "queued",
        Working = "working",
        /// Asked the person and waits for the answer; for the manager also: waits for its workers.
        Waiting = "waiting",
        /// Stopped by the person; it goes on when the person says so.
        Stopped = "stopped",
        Finished = "finished",
        Failed = "failed",
        /// Stopped, and not to be continued.
        Cancelled = "cancelled",
    }
}

impl AgentState {
    /// Returns whether the agent has ended for good.
    pub const fn has_ended(self) -> bool {
        matches!(self, Self::Finished | Self::Failed | Self::Cancelled)
    }

    /// Returns whether the agent takes one of the five places of a team.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Working | Self::Waiting)
    }
}

text_enum! {
    /// Where a team stands.
    TeamState {
        /// A mail asks for it; it starts when a person agrees.
        Proposed = "proposed",
        /// Stored; no process has begun to work it.
        Requested = "requested",
        Running = "running",
        /// Stopped by the person, with a summary; it waits for "continue" or new instructions.
        Stopped = "stopped",
        /// The manager has given its answer. What the person says next makes it run again.
        Answered = "answered",
        Cancelled = "cancelled",
        Failed = "failed",
    }
}

impl TeamState {
    /// Returns whether a process should be working the team.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Requested | Self::Running)
    }
}

text_enum! {
    /// Where an entry of the todo list stands.
    TodoStatus {
        Pending = "pending",
        InProgress = "in_progress",
        Completed = "completed",
    }
}

/// An entry of the manager's todo list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TodoItem {
    /// What is to be done, as an imperative.
    pub content: String,
    /// The same as what is being done.
    #[serde(rename = "activeForm")]
    pub active_form: String,
    pub status: TodoStatus,
}

text_enum! {
    /// Where a team was asked for.
    TeamOrigin {
        Terminal = "terminal",
        Chat = "chat",
        Web = "web",
        /// A mail asks for several things. A person agrees before the team starts.
        Mail = "mail",
    }
}

/// A team as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TeamRow {
    pub team_id: TeamId,
    /// The number by which a person names the team.
    pub number: i64,
    pub user: UserId,
    /// The only account that is read; none for all accounts of the person.
    pub account: Option<AccountId>,
    pub request: String,
    pub origin: TeamOrigin,
    /// The task of the mail that asks for the team.
    pub task_id: Option<TaskId>,
    /// The question whether the team may start.
    pub item_id: Option<ItemId>,
    pub state: TeamState,
    pub created_at: Instant,
    pub updated_at: Instant,
}

/// An agent as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentRow {
    pub agent_id: AgentId,
    /// 0 for the manager; workers count from 1 in the order of their start.
    pub number: u32,
    #[serde(flatten)]
    pub agent_type: AgentType,
    pub task: String,
    pub expected_format: Option<String>,
    pub state: AgentState,
    /// The agent's question in the approval queue.
    pub item_id: Option<ItemId>,
    /// The result, or the error report as JSON; none before the end.
    pub result: Option<String>,
}

/// A handle by which agents name a person, a mail or a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamHandle {
    pub handle: String,
    /// The address, the number of the mail or the id of the task.
    pub target: String,
    /// The name of a person; empty for others.
    pub name: String,
}

/// A team before it is stored.
#[derive(Debug, Clone)]
pub struct NewTeam {
    pub team_id: TeamId,
    pub user: UserId,
    pub account: Option<AccountId>,
    pub request: String,
    pub origin: TeamOrigin,
    pub task_id: Option<TaskId>,
    /// The question that a person must answer before the team starts; none when a person started it.
    pub question: Option<NewItem>,
    pub at: Instant,
}

/// A write about teams. It commits as a whole.
#[derive(Debug, Clone)]
pub enum TeamWrite {
    /// Adds a team. One that exists already is left unchanged.
    Open(Box<NewTeam>),
    /// Applies changes of one team together.
    Update(TeamUpdate),
    /// Leaves what a person says to a team, as JSON, for the process that works it.
    AddInput { team_id: TeamId, input: String, at: Instant },
}

impl TeamWrite {
    /// Returns the name of the write in failpoints.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Open(_) => "open_team",
            Self::Update(_) => "team",
            Self::AddInput { .. } => "team_input",
        }
    }
}

/// Changes of a team that commit together.
#[derive(Debug, Clone)]
pub struct TeamUpdate {
    pub team_id: TeamId,
    pub changes: Vec<TeamChange>,
    pub at: Instant,
}

/// One change of a team.
#[derive(Debug, Clone)]
pub enum TeamChange {
    SetState(TeamState),
    AddAgent(AgentRow),
    SetAgentState {
        agent: AgentId,
        state: AgentState,
        result: Option<String>,
    },
    /// Adds a message to the end of an agent's conversation.
    AddMessage {
        agent: AgentId,
        content: String,
    },
    /// Leaves a message for an agent's next turn.
    PostMessage {
        agent: AgentId,
        content: String,
    },
    /// Delivers what was left for an agent, in the order of arrival.
    DeliverMessages {
        agent: AgentId,
    },
    ReplaceTodos(Vec<TodoItem>),
    AddEvent(String),
    AddHandle(TeamHandle),
    /// Marks an input as one that has had its effect.
    TakeInput(i64),
    /// Stores a model call with its cost, in the transaction that stores what came of it.
    RecordModelCall(Box<NewModelCall>),
    /// Puts an agent's question into the approval queue.
    AskInQueue {
        agent: AgentId,
        item: Box<NewItem>,
    },
    /// Closes an agent's question, because it was answered elsewhere or is no longer asked.
    CloseQuestion {
        agent: AgentId,
        item: ItemId,
        why: String,
    },
}
