//! What reading a mail yields: tasks with their evidence, or the reason why there is none.

use serde::{Deserialize, Serialize};

use super::{Appointment, AskedTimes, Instant, text_enum::text_enum};

text_enum! {
    /// What kind of work a task is. Each kind has a template of steps.
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

impl TaskKind {
    /// Returns whether an answer completes a task of this kind, unless its sentence asks for more.
    pub const fn is_question(self) -> bool {
        matches!(self, TaskKind::Question | TaskKind::Meeting | TaskKind::Invitation)
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
        /// It speaks to a program that reads the mail, and asks nothing else.
        Injection = "injection",
        /// The person wrote the mail themselves, and it promises nothing.
        Sent = "sent",
        Old = "old",
        Empty = "empty",
        /// A learned rule or a person said that such mail is no task.
        Overruled = "overruled",
    }
}

/// A task as it was read in a mail, before it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExtractedTask {
    pub kind: TaskKind,
    /// What is to be done, as one imperative sentence.
    pub objective: String,
    /// Who it is for or from, as a person would say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// The deadline as precisely as the mail names it: ISO 8601 with offset, or a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    /// The deadline as a point in time, by which it is ranked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Instant>,
    /// The length of a meeting, such as `30m` or `1h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meeting_duration: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<f64>,
    /// The currency of the amount (ISO 4217).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invoice_number: Option<String>,
    /// The sentence that decided, as it stands in the mail.
    pub evidence: String,
    /// The names of the steps in order, from the template of the kind.
    pub steps: Vec<String>,
    /// Whether an answer is all that is asked for, so that answering completes the task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wants_answer: bool,
    /// The time of the meeting or visit that is asked about. After it there is nothing left to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub happens_at: Option<Instant>,
    /// The times that the mail names for a meeting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_times: Option<AskedTimes>,
    /// What is asked that the program can answer by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
    /// Whether something is to be sent that may be a file of the person's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_for_file: bool,
    /// The name of that file, once it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

text_enum! {
    /// What a mail asks that can be answered with what the program knows for certain.
    Asked {
        /// Whether the mail has arrived, and nothing else.
        Receipt = "receipt",
        /// Whether the mail has arrived, beside something that only the person can answer.
        ReceiptAndMore = "receipt_and_more",
    }
}

text_enum! {
    /// What a mail is warned of.
    WarningKind {
        /// The mail looks like an attempt to deceive: no effect because of it goes out unasked.
        Phishing = "phishing",
        /// It contains words that are meant for the program and not for the person.
        Injection = "injection",
        /// Its own date was not believed.
        Date = "date",
        /// Only a part of it was read.
        Cut = "cut",
    }
}

/// Something about a mail that a person should know before they act on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailWarning {
    pub kind: WarningKind,
    pub text: String,
}

impl MailWarning {
    /// Returns whether the mail deceives the person or speaks past them to a program.
    pub const fn is_about_deceit(&self) -> bool {
        matches!(self.kind, WarningKind::Phishing | WarningKind::Injection)
    }
}

/// The result of reading one mail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    pub tasks: Vec<ExtractedTask>,
    /// Set exactly when there is no task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_task: Option<NoTask>,
    /// What decided, as one sentence that a person understands.
    pub reason: String,
    /// How certain it is that there is a task, 0..=1.
    pub score: f64,
    /// Whether the mail is about a meeting.
    pub meeting: bool,
    /// Whether the mail is between people who know each other outside of work.
    #[serde(default)]
    pub personal: bool,
    /// Whether the mail is unwanted advertising or worse, whatever else was found in it.
    #[serde(default)]
    pub spam: bool,
    pub language: String,
    /// The built-in estimate of the urgency, 0..=1.
    pub urgency: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<MailWarning>,
    /// When the person is taken, as far as the mail says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub appointments: Vec<Appointment>,
}

impl Reading {
    pub fn has_warning(&self, kind: WarningKind) -> bool {
        self.warnings.iter().any(|warning| warning.kind == kind)
    }
}
