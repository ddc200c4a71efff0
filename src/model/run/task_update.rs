//! What a mail of the conversation does to an open task beside being linked to it.

use serde::{Deserialize, Serialize};

use crate::model::{AskedTimes, Instant, TaskStatus, text_enum::text_enum};

/// The changes that a linked mail makes to its task. Each is visible on the task and can be undone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskUpdate {
    /// What was said, put on the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<TaskNote>,
    /// A new date of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<MovedDeadline>,
    /// Other times for the meeting that the task asks about: they are answered in place of the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_times: Option<AskedTimes>,
    /// Why there is nothing left to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<ConversationEnd>,
}

impl TaskUpdate {
    pub fn is_empty(&self) -> bool {
        self.note.is_none() && self.deadline.is_none() && self.asked_times.is_none() && self.end.is_none()
    }
}

/// Something that was said about a task after it was opened, with who said it and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskNote {
    pub who: String,
    pub at: Instant,
    pub text: String,
}

/// The date to which a task is moved, as precise as it was said, and as a point in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedDeadline {
    pub deadline: String,
    pub due_at: Instant,
}

text_enum! {
    /// How a conversation ended a task.
    ConversationEnd {
        /// The person answered it, or wrote that it is done.
        Answered = "answered",
        /// The one who asked has what they asked for.
        Settled = "settled",
        /// The one who asked needs it no longer.
        Withdrawn = "withdrawn",
    }
}

impl ConversationEnd {
    /// Returns the status that the task ends in.
    pub const fn status(self) -> TaskStatus {
        match self {
            Self::Answered | Self::Settled => TaskStatus::Done,
            Self::Withdrawn => TaskStatus::Cancelled,
        }
    }
}
