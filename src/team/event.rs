//! What happens in a team, as screens and logs are told, and what a person can say to it. Both are stored in order, so
//! that a screen in another process, or one that is opened later, sees the same.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{AgentId, AgentState, AgentType, Instant, TeamId, TeamState, TodoItem};

/// Something that happened in a team.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TeamEvent {
    /// The team exists. The manager's agent is announced next.
    TeamOpened {
        team: TeamId,
        number: i64,
        request: String,
    },
    TeamStateChanged {
        state: TeamState,
    },
    /// An agent exists. Workers are numbered from 1 in the order in which they were started; the manager has 0.
    AgentStarted {
        agent: AgentId,
        agent_type: AgentType,
        number: u32,
        task: String,
    },
    AgentStateChanged {
        agent: AgentId,
        state: AgentState,
    },
    Thought {
        agent: AgentId,
        text: String,
    },
    /// The manager replaced its todo list.
    TodoListChanged {
        todos: Vec<TodoItem>,
    },
    /// An agent calls a tool. `summary` is one line for the screen, such as the beginning of a script.
    ToolCalled {
        agent: AgentId,
        tool: String,
        summary: String,
    },
    ToolReturned {
        agent: AgentId,
        tool: String,
        is_error: bool,
        summary: String,
    },
    /// An agent asks the person. It waits until it is answered.
    Question {
        agent: AgentId,
        text: String,
    },
    /// The person said something to an agent.
    PersonSaid {
        agent: AgentId,
        text: String,
    },
    /// The manager says something before its answer.
    Remark {
        agent: AgentId,
        text: String,
    },
    /// An action was proposed; `outcome` says where it stands, such as "waits for your approval (item 3)".
    ActionProposed {
        agent: AgentId,
        text: String,
        outcome: String,
    },
    /// A worker ended with a result. `warning` says how the result differs from the expected form.
    WorkerFinished {
        agent: AgentId,
        result: String,
        warning: Option<String>,
    },
    /// A worker ended with an error report (an [`ErrorReport`] in JSON).
    WorkerFailed {
        agent: AgentId,
        report: Value,
    },
    /// The person stopped the team. `summary` is what the manager is told.
    Stopped {
        summary: String,
    },
    /// The manager's answer to the person's request.
    Answered {
        text: String,
    },
    /// Something that a person should know, such as a used-up budget.
    Notice {
        text: String,
    },
}

/// An event with its place in the order of its team.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredTeamEvent {
    /// Counts from 1 within the team, without gaps.
    pub seq: i64,
    pub at: Instant,
    #[serde(flatten)]
    pub event: TeamEvent,
}

/// What a person sends to a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "snake_case")]
pub enum TeamInput {
    /// Text for an agent. For a waiting worker it is the answer to its question. For the manager of a stopped team,
    /// "continue" and "cancel remaining" have a meaning; everything else is a new instruction.
    Say { agent: AgentId, text: String },
    /// Stops the manager and all workers, with a summary.
    Stop,
}

/// Why a worker did not do its task, in the form in which its manager is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorReport {
    pub task_id: AgentId,
    pub task_description: String,
    /// Always `error`.
    pub status: String,
    pub error_summary: String,
    pub error_details: ErrorDetails,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack_trace: Option<String>,
}

/// What went wrong, how far the worker came, and what may help.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorDetails {
    /// For example `timeout`, `syntax_error`, `runtime_error`, `permission_denied`, `not_found`, `model_unavailable`.
    #[serde(rename = "type")]
    pub kind: String,
    pub message: String,
    pub context: ErrorContext,
    pub suggestion: String,
}

/// How far the worker came before the error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorContext {
    pub last_successful_step: String,
    pub failed_at: String,
    pub partial_results: Value,
}
