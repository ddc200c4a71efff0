//! The context of a mail: what is known about it beside its text, and which open tasks it may be about.

use crate::model::{
    AskedTimes, Direction, FactsKind, Instant, MailId, MailboxKind, TaskId, mail::Invite, text_enum::text_enum,
};
use serde::{Deserialize, Serialize};

/// What is known about a mail beside its text: how it came, its people and its conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MailContext {
    pub source_key: String,
    /// The kind of the mailbox it came to; none in runs of versions that did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<MailboxKind>,
    pub direction: Direction,
    pub arrived_at: Instant,
    /// Whether no other mail of its conversation and no task that it may be about is known. Only then the context
    /// cannot change before the run reads it.
    pub alone: bool,
    /// Whether the person has written to the sender before.
    pub known_contact: bool,
    /// Whether the person has written in this conversation.
    pub thread_mine: bool,
    /// Whether the person has muted the sender.
    pub muted: bool,
    /// Open tasks that may be about the same, first those of its conversation, then the oldest.
    pub tasks: Vec<RelatedTask>,
}

/// An open task that a mail may be a follow-up to, with what the decision depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelatedTask {
    pub task_id: TaskId,
    pub objective: String,
    pub kind: FactsKind,
    #[serde(default, rename = "kinship")]
    pub relation: TaskRelation,
    /// The sender of the mail that opened the task.
    #[serde(default)]
    pub sender: String,
    #[serde(default)]
    pub sender_verified: bool,
    #[serde(default)]
    pub known_contact: bool,
    /// Whether the task was opened by a mail of the person's own.
    #[serde(default)]
    pub own: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invoice_number: Option<String>,
    /// The invitation in the mail that opened the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invite: Option<Invite>,
    /// How often an answer to that invitation was begun.
    #[serde(default)]
    pub answers: u32,
    /// Whether a message may have been sent for the task.
    #[serde(default)]
    pub has_sent: bool,
    /// The sentence that the task came from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    /// The subject of the mail that opened the task.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// When the mail that opened the task was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Instant>,
    /// The deadline of the task as a point in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Instant>,
    /// Whether the work on the task has begun. Until then, what a later mail changes about it needs no run of its own.
    #[serde(default = "has_begun")]
    pub has_begun: bool,
    /// Whether an answer is all that the task asks for.
    #[serde(default)]
    pub wants_answer: bool,
    /// The times that its mail names for a meeting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_times: Option<AskedTimes>,
    /// How long the meeting is to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meeting_minutes: Option<i64>,
}

/// What earlier versions, which did not record it, took for granted.
const fn has_begun() -> bool {
    true
}

text_enum! {
    /// The evidence that a mail and a task are about the same.
    #[derive(Default)]
    TaskRelation {
        /// The mail and the task belong to the same conversation, by the headers.
        #[default]
        Thread = "thread",
        /// The mail quotes the sentence the task came from.
        Quote = "quote",
        /// The mail says word for word what the mail of the task said.
        Text = "text",
        /// The mail and the task name the same invoice of the same sender.
        Invoice = "invoice",
        /// The mail and the task are about the same event of the same sender's calendar.
        Invitation = "invitation",
        /// The mail names the subject of the task and is by the same sender, or by the person to that sender.
        Subject = "subject",
        /// The mail asks in the same words for the same as the task, by the same sender on the same day.
        Request = "request",
        /// The task was opened by the beginning of the mail, which was read while the rest was still being written.
        /// Such a task may have ended.
        Beginning = "beginning",
    }
}

/// A mail that was linked to a task, with the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FollowUp {
    pub mail_id: MailId,
    pub sender: String,
    pub subject: String,
    /// Why the mail is about this task, for a person.
    pub reason: String,
    pub at: Instant,
}
