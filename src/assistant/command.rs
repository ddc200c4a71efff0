//! The command that a conversation has collected so far, in the words of the chat. It is executed only when it is ready.

use serde::{Deserialize, Deserializer, Serialize};

use super::vocabulary::PhraseList;
use crate::model::{Priority, TaskId, text_enum::text_enum};

text_enum! {
    /// What a command does.
    CommandIntent {
        AddTask = "add_task",
        UpdateTask = "update_task",
        DeleteTask = "delete_task",
        /// Only the direct profile has it; in the guided one, completing is an update of the status.
        CompleteTask = "complete_task",
        ListTasks = "list_tasks",
        /// Something is missing or in doubt. It is never executed.
        Clarify = "clarify",
    }
}

text_enum! {
    /// A priority as people name it.
    ChatPriority {
        Low = "low",
        Medium = "medium",
        High = "high",
        Urgent = "urgent",
    }
}

text_enum! {
    /// A status as people name it.
    ChatStatus {
        Open = "open",
        InProgress = "in progress",
        Done = "done",
    }
}

impl ChatPriority {
    /// Returns the priority that a text names, and nothing else.
    pub(super) fn read(text: &str) -> Option<Self> {
        let lists = [
            (PhraseList("priority_low"), Self::Low),
            (PhraseList("priority_medium"), Self::Medium),
            (PhraseList("priority_high"), Self::High),
            (PhraseList("priority_urgent"), Self::Urgent),
        ];
        lists.into_iter().find(|(list, _)| list.is(text)).map(|(_, level)| level)
    }

    /// Returns the priority of a task that it stands for.
    pub const fn level(self) -> Priority {
        match self {
            Self::Low => Priority::Low,
            Self::Medium => Priority::Med,
            Self::High => Priority::High,
            Self::Urgent => Priority::Critical,
        }
    }

    /// Returns the word for the priority of a task.
    pub const fn of(level: Priority) -> Self {
        match level {
            Priority::Low => Self::Low,
            Priority::Med => Self::Medium,
            Priority::High => Self::High,
            Priority::Critical => Self::Urgent,
        }
    }
}

impl ChatStatus {
    /// Returns the status that a text names, and nothing else.
    pub(super) fn read(text: &str) -> Option<Self> {
        let lists = [
            (PhraseList("status_done"), Self::Done),
            (PhraseList("status_open"), Self::Open),
            (PhraseList("status_in_progress"), Self::InProgress),
        ];
        lists.into_iter().find(|(list, _)| list.is(text)).map(|(_, status)| status)
    }
}

/// The fields that a command sets. Those that it does not set are absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandFields {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<ChatPriority>,
    /// An ISO date, or null where the person said that there is none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "deserialize_null_as_value")]
    pub deadline: Option<Option<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ChatStatus>,
}

impl CommandFields {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Reads a null as the value "none" instead of as an absent field.
fn deserialize_null_as_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(deserializer).map(Some)
}

/// The task that a command is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRef {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Set when the command is about more than one task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub task_ids: Vec<TaskId>,
}

/// What a conversation has collected so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatCommand {
    pub intent: CommandIntent,
    /// Whether everything is known and, where that is required, confirmed.
    pub ready: bool,
    /// 1 for a ready command, 0.7 for any other.
    pub confidence: f64,
    pub fields: CommandFields,
    #[serde(rename = "ref")]
    pub target: Option<TaskRef>,
    /// What is asked for next. Empty only in a ready command.
    pub missing_fields: Vec<String>,
}

/// The confidence from which on a command is executed.
const LEAST_CONFIDENCE: f64 = 0.8;

impl ChatCommand {
    /// Returns a command that still needs something.
    pub fn asking(intent: CommandIntent, missing: &str) -> Self {
        Self {
            intent,
            ready: false,
            confidence: 0.7,
            fields: CommandFields::default(),
            target: None,
            missing_fields: vec![missing.to_owned()],
        }
    }

    /// Returns a command of which everything is known.
    pub fn complete(intent: CommandIntent, fields: CommandFields, target: Option<TaskRef>) -> Self {
        Self { intent, ready: true, confidence: 1.0, fields, target, missing_fields: Vec::new() }
    }

    /// Returns the same command, asking for something else.
    pub fn now_missing(self, missing: &str) -> Self {
        Self { ready: false, confidence: 0.7, missing_fields: vec![missing.to_owned()], ..self }
    }

    /// Returns the same command as a question, with everything that it has collected.
    pub fn clarifying(self, missing: &str) -> Self {
        Self { intent: CommandIntent::Clarify, ..self.now_missing(missing) }
    }

    /// Returns the same command with nothing missing.
    pub fn into_ready(self, intent: CommandIntent) -> Self {
        Self::complete(intent, self.fields, self.target)
    }

    /// Returns whether the command may be executed.
    pub fn is_executable(&self) -> bool {
        self.ready && self.confidence >= LEAST_CONFIDENCE && self.intent != CommandIntent::Clarify
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_that_was_declined_is_not_a_deadline_that_is_missing() {
        let declined = CommandFields { deadline: Some(None), ..CommandFields::default() };
        let text = serde_json::to_string(&declined).unwrap();
        assert_eq!(text, r#"{"deadline":null}"#);
        assert_eq!(serde_json::from_str::<CommandFields>(&text).unwrap(), declined);
        assert_eq!(serde_json::from_str::<CommandFields>("{}").unwrap(), CommandFields::default());
    }

    #[test]
    fn only_a_ready_command_is_executed() {
        let asking = ChatCommand::asking(CommandIntent::DeleteTask, "confirmation");
        assert!(!asking.is_executable());
        assert!(asking.clone().into_ready(CommandIntent::DeleteTask).is_executable());
        let clarify = ChatCommand { intent: CommandIntent::Clarify, ..asking.into_ready(CommandIntent::DeleteTask) };
        assert!(!clarify.is_executable(), "a question is never executed");
    }

    #[test]
    fn priorities_and_statuses_are_read_in_both_languages() {
        for (text, expected) in [
            ("HIGH", Some(ChatPriority::High)),
            ("urgent", Some(ChatPriority::Urgent)),
            ("נמוכה", Some(ChatPriority::Low)),
            ("בינונית", Some(ChatPriority::Medium)),
            ("גבוהה", Some(ChatPriority::High)),
            ("דחופה", Some(ChatPriority::Urgent)),
            ("soon", None),
            ("not high", None),
        ] {
            assert_eq!(ChatPriority::read(text), expected, "{text}");
        }
        assert_eq!(ChatStatus::read("In Progress"), Some(ChatStatus::InProgress));
        assert_eq!(ChatStatus::read("סיימתי"), Some(ChatStatus::Done));
        assert_eq!(ChatStatus::read("waiting"), None);
    }
}
