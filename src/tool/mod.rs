//! The tools that the node execute_tool can use: an open set behind one trait, with one explicit registry.
//!
//! A tool is a pure function of its input. It does nothing itself: it returns an output, or requests an effect that
//! goes through `policy` and the outbox.

mod answer;
mod create_folder;
mod draft_reply;
mod invite;
mod label;
mod letter;
mod lookup;
mod material;
mod meeting_time;
mod message;
mod parameter;
mod propose_time_slots;
mod record_invoice;
pub mod remind;
mod response_words;
mod revision;
mod reword;
mod send;
mod slot_search;
mod summarise_thread;

pub use answer::say_when;
pub use material::{EarlierAnswer, FoundFile, FoundMaterial};
pub use meeting_time::MeetingSpan;
pub use parameter::{ToolAccess, ToolParameter, check_arguments};
pub use response_words::{decline_letter, is_finished_letter, place_line, time_suits};
pub use revision::MessageRevision;
pub use reword::{InvitationMove, edit_message, event_of, move_invitation};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    model::{
        ContextDoc, Effect, Facts, HeldTime, Instant, InvoiceRow, Mail, Me, Task,
        action::{Argument, Origin},
    },
    source::{Busy, CalendarLookup},
};

/// Everything that a tool can see.
pub struct ToolInput<'a> {
    pub task: &'a Task,
    pub facts: &'a Facts,
    pub mail: Option<&'a Mail>,
    /// The conversation, newest first; only for tools that ask for it.
    pub thread: &'a [ThreadMail],
    /// When the person is busy; only for tools that ask for it.
    pub busy_times: &'a BusyTimes,
    /// The times that the person's other tasks hold; only for tools that ask for it.
    pub held_times: &'a [HeldTime],
    /// What the calendar has under the UID of the invitation; only for tools that ask for it.
    pub in_calendar: &'a CalendarLookup,
    /// What the person wrote to the mail's sender before, newest first; only for tools that ask for it.
    pub letters: &'a [OwnLetter],
    /// A model's words; only for tools that accept them.
    pub wording: Option<&'a ReplyWording>,
    /// What the person's own files and mails hold for an answer; only for tools that ask for it.
    pub material: Option<&'a FoundMaterial>,
    /// The recorded invoices; only for tools that ask for them.
    pub invoices: &'a [InvoiceRow],
    /// What the search found; only for tools that ask for it.
    pub documents: &'a [ContextDoc],
    /// The arguments that the plan gives; none for a step of a template.
    pub arguments: Option<&'a Map<String, Value>>,
    pub me: &'a Me,
    /// The address that messages of this account are from.
    pub own: &'a str,
    pub now: Instant,
    /// Identifies what the step makes; the same over retries.
    pub idempotency_key: &'a str,
}

impl<'a> ToolInput<'a> {
    /// Returns an argument that is a text with words in it.
    fn text_argument(&self, name: &str) -> Option<&'a str> {
        self.arguments?.get(name)?.as_str().map(str::trim).filter(|text| !text.is_empty())
    }
}

/// What a tool looks for in the person's own files and mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WantedMaterial<'a> {
    /// The file of this name.
    File(&'a str),
    /// What the person answered to this question before.
    Answer(&'a str),
}

/// A model's words for a message. It supplies neither the recipients nor the subject nor the signature.
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

/// A mail that the person wrote, as far as it shows how they greet and sign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnLetter {
    /// The beginning of the text.
    pub text: String,
    /// The closing and the signature.
    pub ending: String,
}

/// When the person is busy, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "calendar", rename_all = "snake_case")]
pub enum BusyTimes {
    /// The account has no calendar.
    #[default]
    None,
    /// The account has a calendar, and it could not be asked.
    Silent {
        why: String,
    },
    Known {
        busy: Vec<Busy>,
    },
}

/// What a tool returns.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolOutcome {
    /// The output itself is the work; nothing is done outside the task.
    Output(Value),
    /// The tool requests an effect.
    Effect(Box<RequestedEffect>),
    /// Only the person can do the step; the text says why.
    LeftToPerson(String),
    /// There is nothing for the tool to do: these open steps give way to one of the person.
    ReplacedBy { steps: &'static [&'static str], step: &'static str },
}

/// An effect that a tool requests. Whether it happens is decided by the policy and, where that asks, by a person.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestedEffect {
    pub effect: Effect,
    /// The output of the step once the effect is done.
    pub output: Value,
    /// Where each argument of the effect comes from.
    pub arguments: Vec<Argument>,
}

impl ToolOutcome {
    fn request_effect(effect: Effect, output: Value, arguments: &[(&str, Origin)]) -> Self {
        let arguments = arguments.iter().map(|(name, origin)| Argument::new(name, *origin)).collect();
        Self::Effect(Box::new(RequestedEffect { effect, output, arguments }))
    }
}

/// Why a tool cannot do its step. Trying again with the same input cannot help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(pub String);

/// A tool: a function from its input to an outcome. The methods below `name` say what it needs to be given.
pub trait Tool: Send + Sync {
    /// Returns the name of the tool, which is also the name of the steps it does.
    fn name(&self) -> &'static str;

    /// Returns what the tool does, in words for a person and for a model; empty for one that only a template uses.
    fn purpose(&self) -> &'static str {
        ""
    }

    /// Returns the arguments that a plan can give.
    fn parameters(&self) -> &'static [ToolParameter] {
        &[]
    }

    /// Returns whether the tool only reads.
    fn access(&self) -> ToolAccess {
        ToolAccess::Write
    }

    /// Returns whether the tool works on the mail of its task, and so cannot be used without one.
    fn needs_mail(&self) -> bool {
        false
    }

    /// Returns whether what the tool does needs an account that can send, or one whose mail is searched.
    fn needs_account(&self) -> bool {
        false
    }

    /// Returns whether the tool needs the recorded invoices.
    fn reads_invoices(&self) -> bool {
        false
    }

    /// Returns the words that the tool needs a search for.
    fn search_words<'a>(&self, _arguments: Option<&'a Map<String, Value>>) -> Option<&'a str> {
        None
    }

    /// Returns whether the tool needs the conversation.
    fn reads_thread(&self) -> bool {
        false
    }

    /// Returns between which instants the tool needs to know when the person is free.
    fn needs_free_times(&self, _task: &Task, _now: Instant) -> Option<(Instant, Instant)> {
        None
    }

    /// Returns between which instants the tool needs to know what is held for others.
    fn needs_held_times(&self, task: &Task, now: Instant) -> Option<(Instant, Instant)> {
        self.needs_free_times(task, now)
    }

    /// Returns whether the tool needs to know what the calendar has under the UID of the mail's invitation.
    fn reads_invited_events(&self) -> bool {
        false
    }

    /// Returns what the tool looks for to make an answer of.
    fn wanted_material<'a>(&self, _task: &'a Task) -> Option<WantedMaterial<'a>> {
        None
    }

    /// Returns whether the tool writes a letter for this task, and so needs to know how the person writes to its sender.
    fn writes_letter(&self, _task: &Task) -> bool {
        false
    }

    /// Returns whether a model may word what the tool makes for this task.
    fn accepts_wording(&self, _task: &Task) -> bool {
        false
    }

    /// Does the step. It must neither do I/O nor depend on anything but `input`, so that a replay gets the same
    /// outcome.
    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError>;
}

/// All tools, by name.
pub struct Registry(Vec<Box<dyn Tool>>);

impl Registry {
    /// Returns the tools of the program.
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
            Box::new(lookup::CollectInvoices),
            Box::new(lookup::Find),
            Box::new(send::SendReply),
            Box::new(send::SendMail),
            Box::new(send::Forward),
            Box::new(invite::SendCalendarInvite),
            Box::new(invite::AnswerInvitation),
        ])
    }

    /// Adds a tool in place of the one with the same name. Tests use it.
    #[must_use]
    pub fn with(mut self, tool: Box<dyn Tool>) -> Self {
        self.0.retain(|known| known.name() != tool.name());
        self.0.push(tool);
        self
    }

    pub fn get(&self, name: &str) -> Option<&dyn Tool> {
        self.0.iter().find(|tool| tool.name() == name).map(AsRef::as_ref)
    }

    /// Returns the tools that a plan can use: all that say what they do, and without a mail only those that need none.
    pub fn plannable(&self, has_mail: bool) -> impl Iterator<Item = &dyn Tool> {
        let tools = self.0.iter().map(AsRef::as_ref);
        tools.filter(move |tool| !tool.purpose().is_empty() && (has_mail || !tool.needs_mail()))
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.iter().map(|tool| tool.name())
    }
}

#[cfg(test)]
mod tests;
