//! The task: exactly the JSON of the specification, and the database columns of the same names.

mod edit;
mod held_time;
mod lifecycle;
mod page;
mod recurrence;
mod reminder;
mod row;

pub use edit::{NamedMessage, NewRequest, Rerank, TaskEdit, TaskEditKind};
pub use held_time::{Appointment, HeldKind, HeldTime};
pub use lifecycle::{IllegalTransition, TaskStatus};
pub use page::{BadTaskPosition, TaskCounts, TaskPage, TaskPageQuery, TaskPosition, TaskView};
pub use recurrence::Recurrence;
pub use reminder::{NewReminder, ReminderRow, ShownReminder};
pub use row::{HistoryRow, InvoiceRow, RankableTask, TaskRow};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Instant, Priority, TaskId, TaskNote,
    reading::{MailWarning, WarningKind},
};

/// The task with its twelve fields. An unknown field is an error, so that a foreign form is never half understood.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    pub task_id: TaskId,
    pub created_at: Instant,
    /// Where the task came from: `email:<id>`, `chat:<conversation>`, `ask:<run>` or `mcp:<client>`.
    pub source: String,
    pub objective: String,
    #[serde(default)]
    pub context: TaskContext,
    pub priority: Priority,
    pub status: TaskStatus,
    /// The plan, in the order of its steps.
    #[serde(default)]
    pub subtasks: Vec<Subtask>,
    /// `ToolingAgent`, `TaskManager`, or none when only a person can do it.
    #[serde(default)]
    pub assigned_agent: Option<String>,
    pub last_updated: Instant,
    /// The outputs of the steps, as an object keyed by step; none before the first.
    #[serde(default)]
    pub tool_output: Option<Map<String, Value>>,
    /// What came of the task; none before its end.
    #[serde(default)]
    pub result_summary: Option<String>,
}

/// What is known about a task. Fields without a name of their own are kept as they came.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskContext {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// The conversation: its first message, then every message of it that was read, in the order in which they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meeting_duration: Option<String>,
    /// The deadline (ISO 8601).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Every other field.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// One step of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subtask {
    /// The name of the step. A tool of this name makes it the agent's step; any other step is the person's.
    pub step: String,
    #[serde(default)]
    pub done: bool,
}

impl TaskContext {
    /// The key of the mail's warnings; absent when there are none.
    pub const WARNINGS: &'static str = "warnings";
    /// The key of what was said about the task after it was opened: a list of [`TaskNote`]s.
    pub const NOTES: &'static str = "notes";
    /// The key of the time of the meeting that the task asks about, an instant. Absent for any other task.
    pub const HAPPENS_AT: &'static str = "happens_at";
    /// The key that says whether answering completes the task. Absent where the kind of the task says it.
    pub const WANTS_ANSWER: &'static str = "wants_answer";
    /// The key of what is asked that the program can answer ([`crate::model::reading::Asked`]).
    pub const ASKED: &'static str = "asked";
    /// The key of the name of the file in `data/files` that is asked for. Absent where none was found.
    pub const FILE: &'static str = "file";
    /// The key of the times that the mail names for a meeting ([`crate::model::AskedTimes`]). Absent for any other task.
    pub const ASKED_TIMES: &'static str = "asked_times";

    /// The most messages of the conversation that are named. Of more, the first and the newest are kept.
    pub const MOST_THREADS: usize = 200;

    /// Adds a message of the conversation. Returns whether it was new.
    pub fn add_message(&mut self, message_id: &str) -> bool {
        if self.threads.iter().any(|known| known == message_id) {
            return false;
        }
        self.threads.push(message_id.to_owned());
        if self.threads.len() > Self::MOST_THREADS {
            self.threads.remove(1);
        }
        true
    }

    /// Returns what was said about the task after it was opened, oldest first. A note that cannot be read is left out.
    pub fn notes(&self) -> Vec<TaskNote> {
        let notes = self.more.get(Self::NOTES).and_then(Value::as_array).into_iter().flatten();
        notes.filter_map(|note| TaskNote::deserialize(note).ok()).collect()
    }

    /// Returns the warnings of the mail, for a person. Those that cannot be read are left out here and count in
    /// [`Self::has_warning`].
    pub fn warnings(&self) -> Vec<MailWarning> {
        self.more.get(Self::WARNINGS).and_then(|list| Vec::deserialize(list).ok()).unwrap_or_default()
    }

    /// Returns whether the reading of the mail warned of this. Warnings that cannot be read count as every kind, so that
    /// a task without a readable answer is treated like phishing.
    pub fn has_warning(&self, kind: WarningKind) -> bool {
        let Some(warnings) = self.more.get(Self::WARNINGS) else { return false };
        Vec::<MailWarning>::deserialize(warnings)
            .map_or(true, |warnings| warnings.iter().any(|warning| warning.kind == kind))
    }
}

/// The step of the agent that finds times for a meeting.
pub const PROPOSE_TIME_SLOTS: &str = "propose_time_slots";
/// The step of the agent that answers the mail of a task.
pub const SEND_REPLY: &str = "send_reply";
/// The step of the person in its place, where nothing is known that could be answered.
pub const ANSWER_MAIL: &str = "answer_mail";

/// The field of a task's context that holds what a person told the agent to do instead.
pub const INSTRUCTION: &str = "instruction";
/// The field of a task's context that holds what the person answers an invitation with.
pub const ANSWER: &str = "answer";
/// The key in the context of a task with the recipients that a person named for a message.
pub const MESSAGE: &str = "message";

impl Task {
    /// The value of `assigned_agent` for a task that the graph works.
    pub const TOOLING_AGENT: &'static str = "ToolingAgent";
    /// The value of `assigned_agent` for a task that a team may work, once a person has agreed.
    pub const TASK_MANAGER: &'static str = "TaskManager";
    /// The field of the context which says that the beginning of the mail was answered before the rest had arrived, so
    /// that nothing more is sent without asking.
    pub const PARTLY_ANSWERED: &'static str = "partly_answered";

    /// Moves the task to another status. An illegal transition is an error and changes nothing.
    pub fn transition(&mut self, to: TaskStatus, at: Instant) -> Result<(), IllegalTransition> {
        self.status = self.status.transition_to(to)?;
        self.last_updated = at;
        Ok(())
    }

    /// Returns whether every step is done, the person's steps included.
    pub fn all_steps_done(&self) -> bool {
        self.subtasks.iter().all(|subtask| subtask.done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specification's own example, with valid ids in place of its placeholders.
    const SEED: &str = r#"{
      "task_id": "01JYD3A8P0WQ5M4T6R2P0N1M4K",
      "created_at": "2025-06-23T03:15:00Z",
      "source": "email:18c2f4a9b7d3e610",
      "objective": "Schedule 30-min catch-up with Dr. Smith",
      "context": {
        "person": "Dr. Anna Smith",
        "threads": ["<msg1@example.com>", "<msg2@example.com>"],
        "meeting_duration": "30m"
      },
      "priority": "high",
      "status": "NEW",
      "subtasks": [
        {"step": "propose_time_slots", "done": false},
        {"step": "send_calendar_invite", "done": false}
      ],
      "assigned_agent": "ToolingAgent",
      "last_updated": "2025-06-23T03:16:10Z",
      "tool_output": null,
      "result_summary": null
    }"#;

    #[test]
    fn the_seed_example_round_trips() {
        let given: Value = serde_json::from_str(SEED).unwrap();
        let task: Task = serde_json::from_str(SEED).unwrap();
        assert_eq!(serde_json::to_value(&task).unwrap(), given);
    }

    #[test]
    fn optional_fields_may_be_missing_and_unknown_context_is_kept() {
        let task: Task = serde_json::from_value(serde_json::json!({
            "task_id": "01JYD3A8P0WQ5M4T6R2P0N1M4K", "created_at": "2025-06-23T03:15:00Z", "source": "chat:1",
            "objective": "Buy milk", "priority": "low", "status": "NEW", "last_updated": "2025-06-23T03:15:00Z",
            "context": {"colour": "green"},
        }))
        .unwrap();
        assert_eq!(task.subtasks, []);
        assert_eq!(task.context.more.get("colour"), Some(&Value::from("green")));
    }

    #[test]
    fn a_conversation_names_each_message_once_and_never_too_many() {
        let mut context = TaskContext { threads: vec!["<root>".into()], ..TaskContext::default() };
        assert!(context.add_message("<two>"));
        assert!(!context.add_message("<two>") && !context.add_message("<root>"));
        assert_eq!(context.threads, ["<root>", "<two>"]);
        for nth in 0..TaskContext::MOST_THREADS {
            context.add_message(&format!("<{nth}>"));
        }
        assert_eq!(context.threads.len(), TaskContext::MOST_THREADS);
        assert_eq!((context.threads[0].as_str(), context.threads[1].as_str()), ("<root>", "<1>"));
    }

    #[test]
    fn warnings_that_cannot_be_read_count_as_phishing() {
        let phishing = |warnings: Option<Value>| {
            let more = warnings.map(|warnings| (TaskContext::WARNINGS.to_owned(), warnings)).into_iter().collect();
            TaskContext { more, ..TaskContext::default() }.has_warning(WarningKind::Phishing)
        };
        assert!(!phishing(None));
        assert!(!phishing(Some(serde_json::json!([{ "kind": "cut", "text": "too long" }]))));
        for warnings in [
            serde_json::json!([{ "kind": "cut", "text": "" }, { "kind": "phishing", "text": "" }]),
            serde_json::json!([{ "kind": "phish", "text": "" }]),
            serde_json::json!([{ "text": "no kind" }]),
            serde_json::json!({ "kind": "cut", "text": "" }),
            Value::Null,
        ] {
            assert!(phishing(Some(warnings.clone())), "{warnings}");
        }
    }

    #[test]
    fn an_illegal_transition_changes_nothing() {
        let mut task: Task = serde_json::from_str(SEED).unwrap();
        let before = task.clone();
        assert!(task.transition(TaskStatus::Done, task.created_at).is_err());
        assert_eq!(task, before);
    }
}
