//! What is found, and what belongs together: values the store takes and gives.

use serde::{Deserialize, Serialize};

use crate::model::{Direction, Instant, MailId, TaskId, mail::Invite, text_enum::words};

/// A task or a mail as far as it is shown and weighed when it is found. Its title is a stranger's text.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// `task:<ulid>` or `mail:<n>`.
    pub doc: String,
    pub title: String,
    pub at: Instant,
    /// The address of who wrote; empty without one.
    pub person: String,
    /// Empty without one.
    pub thread: String,
}

/// What is found by words.
#[derive(Debug, Clone, PartialEq)]
pub struct FullTextHit {
    pub document: Document,
    /// BM25: higher is better.
    pub score: f64,
    /// How much of what the question says is in it, 0..=1; rare words say more.
    pub share: f64,
    /// Of the question, those that are in it.
    pub words: Vec<String>,
}

/// What is known about a mail beside its text: how it came, its people and its conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MailContext {
    pub source_key: String,
    /// Of its account.
    #[serde(default)]
    pub kind: String,
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
    pub kind: String,
    #[serde(default)]
    pub kinship: Kinship,
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

words! {
    /// What a mail and a task have in common.
    #[derive(Default)]
    Kinship {
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
