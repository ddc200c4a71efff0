//! The values of a team: a task manager that divides a request, and the workers that it starts.

use serde::{Deserialize, Serialize};

use super::{ids::AgentId, text_enum::text_enum};

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
        /// Stored by a chat, a page or a mail; no process has begun to work it.
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
