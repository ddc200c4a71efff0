//! The tools execute_tool can use: an open set behind one trait, with one explicit registry.
//!
//! A tool is a function of what it is shown. It does nothing itself: it answers with an output, or with an effect that
//! goes through `policy` and the outbox.

mod create_folder;
mod draft_reply;
mod invite;
mod label;
mod message;
mod propose_time_slots;
mod record_invoice;
pub mod remind;
mod send;
mod summarise_thread;

pub use message::rewrite_message;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    model::{
        Effect, Facts, Instant, Mail, Me, Task,
        action::{Argument, Origin},
    },
    source::{Busy, CalendarLookup},
};

/// What a tool is shown.
pub struct ToolInput<'a> {
    pub task: &'a Task,
    pub facts: &'a Facts,
    pub mail: Option<&'a Mail>,
    /// The conversation, newest first; only for tools that ask for it.
    pub thread: &'a [ThreadMail],
    /// When the person is busy; only for tools that ask for it.
    pub busy_times: &'a BusyTimes,
    /// What the calendar has under the invitation's UID; only for tools that ask for it.
    pub in_calendar: &'a CalendarLookup,
    /// What a model would write; only for tools that take words.
    pub wording: Option<&'a ReplyWording>,
    pub me: &'a Me,
    /// The person's address in this account.
    pub own: &'a str,
    pub now: Instant,
    /// The step's own name for what it makes, stable over retries.
    pub idempotency_key: &'a str,
}

/// A model's words for a letter. Whom it goes to, its subject and who signs it are not among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyWording {
    pub greeting: String,
    pub text: String,
    pub closing: String,
}

/// One mail of a conversation, as far as a summary needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadMail {
    pub from: String,
    pub at: Option<Instant>,
    pub text: String,
}

/// When the person is busy, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "calendar", rename_all = "snake_case")]
pub enum BusyTimes {
    /// The account has no calendar.
    #[default]
    None,
    /// There is one, and it could not be asked.
    Silent {
        why: String,
    },
    Known {
        busy: Vec<Busy>,
    },
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolOutcome {
    /// Nothing leaves the program: the answer itself is the work.
    Output(Value),
    /// Wants something done.
    Effect(Box<RequestedEffect>),
    /// Only the person can: the step stays theirs, and says why.
    LeftToPerson(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct RequestedEffect {
    pub effect: Effect,
    /// What the step shows once it is done.
    pub output: Value,
    /// Where each argument comes from.
    pub arguments: Vec<Argument>,
}

impl ToolOutcome {
    fn request_effect(effect: Effect, output: Value, arguments: &[(&str, Origin)]) -> Self {
        let arguments = arguments.iter().map(|(name, origin)| Argument::new(name, *origin)).collect();
        Self::Effect(Box::new(RequestedEffect { effect, output, arguments }))
    }
}

/// Why a tool cannot do its step. Trying again will not help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(pub String);

pub trait Tool: Send + Sync {
    fn name(&self) -> &'static str;

    /// Whether it wants to see the conversation.
    fn reads_thread(&self) -> bool {
        false
    }

    /// How many days ahead it wants to know when the person is busy.
    fn busy_days_ahead(&self) -> Option<i64> {
        None
    }

    /// Whether it wants to know what the calendar has under the UID of the mail's invitation.
    fn reads_invited_events(&self) -> bool {
        false
    }

    /// Whether a model may word what it makes.
    fn accepts_wording(&self) -> bool {
        false
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError>;
}

/// Every tool, by name.
pub struct Registry(Vec<Box<dyn Tool>>);

impl Registry {
    pub fn shipped() -> Self {
        Self(vec![
            Box::new(label::Label),
            Box::new(label::Archive),
            Box::new(draft_reply::DraftReply),
            Box::new(propose_time_slots::ProposeTimeSlots),
            Box::new(remind::Remind),
            Box::new(record_invoice::RecordInvoice),
            Box::new(summarise_thread::SummariseThread),
            Box::new(create_folder::CreateFolder),
            Box::new(send::SendReply),
            Box::new(send::SendMail),
            Box::new(send::Forward),
            Box::new(invite::SendCalendarInvite),
            Box::new(invite::AnswerInvitation),
        ])
    }

    #[must_use]
    pub fn with(mut self, tool: Box<dyn Tool>) -> Self {
        self.0.retain(|known| known.name() != tool.name());
        self.0.push(tool);
        self
    }

    pub fn get(&self, name: &str) -> Option<&dyn Tool> {
        self.0.iter().find(|tool| tool.name() == name).map(AsRef::as_ref)
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.iter().map(|tool| tool.name())
    }
}

#[cfg(test)]
mod tests;
