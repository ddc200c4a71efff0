//! The calls by which the assistant reads and changes tasks. It does both through [`TaskTools`] and nothing else.

use std::future::Future;

use serde::{Deserialize, Serialize};

use super::command::{ChatPriority, ChatStatus};
use crate::model::{HistoryRow, Instant, ListedStatus, Priority, TaskId, TaskStatus};

/// How many tasks a page of a list has.
pub const PAGE: usize = 20;

/// A task as the assistant talks about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChatTask {
    pub task_id: TaskId,
    /// The number by which the person names the task; none once a successor has it.
    pub number: Option<i64>,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub status: TaskStatus,
    pub priority: Priority,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snooze_until: Option<Instant>,
    /// Whether a mail opened it.
    #[serde(skip)]
    pub is_from_mail: bool,
}

impl ChatTask {
    /// Returns the number as people write it, "#3"; the id for a task without one.
    pub fn label(&self) -> String {
        self.number.map_or_else(|| self.task_id.to_string(), |number| format!("#{number}"))
    }
}

/// A deadline: as it is stored and shown, and as a point in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadline {
    pub text: String,
    pub at: Instant,
}

/// What is changed in a task. What is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskChanges {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// An empty text removes the description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<ChatPriority>,
    /// None within removes the deadline.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "nullable")]
    pub deadline: Option<Option<Deadline>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ChatStatus>,
}

/// Stores "no deadline" as null and "the deadline stays" as an absent field.
mod nullable {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::Deadline;

    pub(super) fn serialize<S: Serializer>(value: &Option<Option<Deadline>>, to: S) -> Result<S::Ok, S::Error> {
        value.as_ref().and_then(Option::as_ref).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<Deadline>>, D::Error> {
        Option::<Deadline>::deserialize(from).map(Some)
    }
}

impl TaskChanges {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A call with its arguments, as it is shown with the reply.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "name", content = "arguments", rename_all = "snake_case")]
pub enum TaskCall {
    AddTask {
        title: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        priority: Option<ChatPriority>,
        #[serde(skip_serializing_if = "Option::is_none")]
        deadline: Option<Deadline>,
        /// How a reminder was asked for, with its recurrence; none for a task that is more than a reminder.
        #[serde(skip_serializing_if = "Option::is_none")]
        remind: Option<String>,
    },
    ListTasks {
        status: ListedStatus,
        /// Counted from 0.
        page: usize,
    },
    /// The tasks whose titles the text names best.
    #[serde(rename = "list_tasks")]
    FindTasks {
        status: ListedStatus,
        title: String,
    },
    /// Pending tasks that have one of these words in their titles.
    #[serde(rename = "list_tasks")]
    FindRelated {
        status: ListedStatus,
        words: Vec<String>,
    },
    /// The task with this number.
    GetTask {
        number: i64,
    },
    /// The task with this id.
    #[serde(rename = "get_task")]
    GetTaskById {
        task_id: TaskId,
    },
    CompleteTask {
        task_id: TaskId,
    },
    DeleteTask {
        task_id: TaskId,
    },
    UpdateTask {
        task_id: TaskId,
        #[serde(flatten)]
        changes: TaskChanges,
    },
    /// Opens a task again that was completed or deleted.
    ReopenTask {
        task_id: TaskId,
    },
    SnoozeTask {
        task_id: TaskId,
        until: Option<Instant>,
    },
    /// Records that a mail was no task, which the nightly job learns from.
    MarkNotATask {
        task_id: TaskId,
    },
    ExplainPriority {
        task_id: TaskId,
    },
    ListApprovals,
    /// Divides a request into steps. Changes nothing.
    PreparePlan {
        request: String,
    },
    /// Opens the task of a plan to which the person has agreed.
    OpenPlan {
        plan: OfferedPlan,
    },
}

/// An item of the approval queue, as far as a conversation shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitingItem {
    pub number: i64,
    pub summary: String,
}

/// A request that was divided into steps, as it is offered to the person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedPlan {
    /// What each step does; none when the request is no plan.
    pub steps: Vec<String>,
    /// Whether a tool does one of the steps. Otherwise they are all left to the person.
    pub has_calls: bool,
    /// What the person should know before they agree.
    pub notes: Vec<String>,
    /// The request as the task planner reads it back, so that what is opened is what was shown.
    pub prepared: serde_json::Value,
}

/// Why a task has its priority.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PriorityReason {
    pub level: ChatPriority,
    /// Whether the person set it.
    pub set_by_hand: bool,
    /// The rule that decided, and what it says of itself; none when no rule matched.
    pub rule: Option<(String, String)>,
}

/// What a call returned.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolResult {
    /// The task after the change, with the newest line of its history.
    Changed {
        task: ChatTask,
        recorded: Option<HistoryRow>,
    },
    /// The task; none when there is no such task.
    Found {
        task: Option<ChatTask>,
    },
    /// A page of tasks, and how many there are on all pages.
    Listed {
        tasks: Vec<ChatTask>,
        total: u64,
    },
    Waiting {
        items: Vec<WaitingItem>,
    },
    Reason(PriorityReason),
    Plan(OfferedPlan),
}

/// Why a call did nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolFailure {
    /// There is no such task any more.
    NotFound,
    /// The task is in a state that does not allow it.
    Refused,
    /// The database failed. The cause is in the log.
    Unavailable,
}

/// A call that was made, with what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MadeCall {
    #[serde(flatten)]
    pub call: TaskCall,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<ToolResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolFailure>,
}

/// Reads and changes the tasks of one user. The program's own implementation is in `app`; tests have one in memory.
pub trait TaskTools: Send {
    /// Makes calls that do not depend on each other. Returns one outcome for each, in their order.
    fn call_all(&mut self, calls: Vec<TaskCall>) -> impl Future<Output = Vec<Result<ToolResult, ToolFailure>>> + Send;
}
