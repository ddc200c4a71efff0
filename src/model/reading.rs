//! What reading a mail yields: tasks with their evidence, or the reason there is none.

use serde::{Deserialize, Serialize};

use super::{Instant, text_enum::text_enum};

text_enum! {
    /// What kind of work a task is; each has a template of steps.
    TaskKind {
        Meeting = "meeting",
        Invitation = "invitation",
        Invoice = "invoice",
        Alert = "alert",
        Deadline = "deadline",
        Question = "question",
        Request = "request",
        Review = "review",
        Commitment = "commitment",
        /// "Remind me …", written by the person to themselves.
        Reminder = "reminder",
        /// "Create a folder …", written by the person to themselves.
        Folder = "folder",
        /// "Summarise this thread", written by the person to themselves.
        Summary = "summary",
    }
}

text_enum! {
    /// Why a mail opened no task.
    NoTask {
        Bulk = "bulk",
        Notification = "notification",
        Receipt = "receipt",
        Fyi = "fyi",
        Spam = "spam",
        Phishing = "phishing",
        Sent = "sent",
        Old = "old",
        Empty = "empty",
        Overruled = "overruled",
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExtractedTask {
    pub kind: TaskKind,
    /// One imperative sentence.
    pub objective: String,
    /// Who it is for or from, as a person would say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// ISO 8601 with offset, or a date, as precise as the mail was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Instant>,
    /// `30m`, `1h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meeting_duration: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<f64>,
    /// ISO 4217.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invoice_number: Option<String>,
    /// The sentence that decided, as it stands in the mail.
    pub evidence: String,
    /// Steps in order, from the template of the kind.
    pub steps: Vec<String>,
}

text_enum! {
    /// What a mail is warned of.
    WarningKind {
        /// It looks like an attempt to deceive: no effect because of it goes out unasked.
        Phishing = "phishing",
        /// It contains words that are meant for the program and not for the person.
        Injection = "injection",
        /// Its own date was not believed.
        Date = "date",
        /// Only a part of it was read.
        Cut = "cut",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailWarning {
    pub kind: WarningKind,
    pub text: String,
}

/// The planner's whole reading of one mail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    pub tasks: Vec<ExtractedTask>,
    /// Set exactly when there is no task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_task: Option<NoTask>,
    /// One sentence a person understands: what decided.
    pub reason: String,
    /// How sure it is that there is a task, 0..=1.
    pub score: f64,
    pub meeting: bool,
    /// Between people who know each other outside of work.
    #[serde(default)]
    pub personal: bool,
    /// Unasked-for advertising or worse, whatever else was made of it.
    #[serde(default)]
    pub spam: bool,
    pub language: String,
    /// Built-in estimate, 0..=1.
    pub urgency: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<MailWarning>,
}

impl Reading {
    pub fn has_warning(&self, kind: WarningKind) -> bool {
        self.warnings.iter().any(|warning| warning.kind == kind)
    }
}
