//! What is known about a mail beside its text, and which tasks it may be about.

use crate::model::{Direction, FactsKind, Instant, MailId, MailboxKind, TaskId, mail::Invite, text_enum::text_enum};
use serde::{Deserialize, Serialize};

/// What is known about a mail beside its text: how it came, its people and its conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MailContext {
    pub source_key: String,
    /// The kind of its account's mailbox; none in runs of versions that did not record it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<MailboxKind>,
    pub direction: Direction,
    pub arrived_at: Instant,
    /// No other mail of its conversation is here.
    pub alone: bool,
    pub known_contact: bool,
    pub thread_mine: bool,
    pub muted: bool,
    /// Open tasks that may be about the same, those of its conversation first, then the oldest.
    pub tasks: Vec<RelatedTask>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelatedTask {
    pub task_id: TaskId,
    pub objective: String,
    pub kind: FactsKind,
    #[serde(default, rename = "kinship")]
    pub relation: TaskRelation,
    /// Who wrote the mail it came from.
    #[serde(default)]
    pub sender: String,
    #[serde(default)]
    pub sender_verified: bool,
    #[serde(default)]
    pub known_contact: bool,
    /// It came from a mail of the person's own.
    #[serde(default)]
    pub own: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invoice_number: Option<String>,
    /// What its mail invites to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invite: Option<Invite>,
    /// How often an answer to its invitation was begun.
    #[serde(default)]
    pub answers: u32,
    /// A message may have left in its name.
    #[serde(default)]
    pub has_sent: bool,
}

text_enum! {
    /// What a mail and a task have in common.
    #[derive(Default)]
    TaskRelation {
        /// The conversation, by its headers.
        #[default]
        Thread = "thread",
        /// The mail quotes the sentence the task came from.
        Quote = "quote",
        /// The mail says word for word what the task's mail said.
        Text = "text",
        /// The same invoice of the same sender.
        Invoice = "invoice",
        /// The same event of the same sender's calendar.
        Invitation = "invitation",
        /// The task was opened by the beginning of the mail, read while the rest was still being written. It may have ended.
        Beginning = "beginning",
    }
}

/// A mail that was linked to a task, with the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FollowUp {
    pub mail_id: MailId,
    pub sender: String,
    pub subject: String,
    /// What says that it is about this task.
    pub reason: String,
    pub at: Instant,
}
