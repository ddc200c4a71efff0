//! Effects as data: what a node asks for, resolved to the last byte, and where it stands in the outbox.
//!
//! An action holds everything that its effect needs, so that what a person approves is exactly what is done. Nothing in
//! here carries an effect out.

mod outbox;
mod rule_effect;

pub use outbox::{ActionMove, ApprovalUse, JournalRow, NewAction, OutboxRow, ReevaluatedAction};
pub use rule_effect::{MatchedAct, PlannedRuleEffect, RuleAct};

use serde::{Deserialize, Serialize};

use super::{
    AccountId, ActionId, Address, Attachment, Instant, MailId, Recurrence, TaskId, UserId, ids::sha256_hex,
    text_enum::text_enum,
};

text_enum! {
    /// How much harm an action can do. R0 stays in the program's own data; R1 changes the mailbox of the person and can
    /// be undone; R2 sends a reply inside the conversation; R3 sends anything else; R4 is always denied. `policy`
    /// computes the class from the resolved action, and nothing else may lower it.
    RiskClass { R0 = "R0", R1 = "R1", R2 = "R2", R3 = "R3", R4 = "R4" }
}

text_enum! {
    /// The life cycle of an effect. The allowed transitions stand in `migrations/`, and the database refuses any other.
    OutboxState {
        /// A node asked for the effect and nothing was decided yet.
        Planned = "planned",
        /// The effect waits for a person's approval.
        Parked = "parked",
        /// The effect may be carried out. It is judged again before that happens.
        Ready = "ready",
        /// Approved, and waiting for the end of its grace, until which the person can take the approval back.
        Held = "held",
        /// A draft of the message is being stored in the mailbox. Nothing has left.
        Drafting = "drafting",
        /// The draft is in the mailbox and can be sent.
        Drafted = "drafted",
        /// Committed before the first byte leaves. A row that is found in this state after a crash becomes `unknown`.
        Sending = "sending",
        /// The message has left for certain; what goes with it, such as its calendar event, is still to be done.
        Settling = "settling",
        /// The message was sent.
        Sent = "sent",
        /// Nobody knows whether the effect happened. It is probed, never repeated on a guess.
        Unknown = "unknown",
        /// The mailbox is being asked whether the effect happened.
        Probe = "probe",
        /// The probe found no answer: a person must say whether the effect happened.
        NeedsHuman = "needs_human",
        /// The effect was carried out; for effects other than a send.
        Applied = "applied",
        /// The message was stored in Sent and not transmitted, because the account has no way to send.
        Saved = "saved",
        /// Not carried out, because the program may not change the mailbox.
        Withheld = "withheld",
        /// Not carried out, and it will not be: a person or the policy said no, or its task changed.
        Void = "void",
        /// The attempt failed for certain. A person can have it tried again.
        Failed = "failed",
    }
}

impl OutboxState {
    /// Returns whether the program will do nothing more about the effect, so that its step can go on.
    pub const fn is_ended(self) -> bool {
        use OutboxState::{Applied, Failed, Saved, Sent, Void, Withheld};
        matches!(self, Applied | Saved | Sent | Withheld | Void | Failed)
    }
}

text_enum! {
    /// What kind of message is sent.
    SendKind {
        Reply = "reply",
        New = "new",
        Forward = "forward",
        /// A calendar invitation of the person's own.
        Invite = "invite",
        /// The answer to somebody else's invitation.
        Answer = "answer",
    }
}

text_enum! {
    /// Who supplied an argument of an action. The policy trusts each origin differently.
    Origin {
        /// The program's own fixed words and choices.
        Template = "template",
        /// The person, in their own words.
        Person = "person",
        /// A mail, so possibly a stranger.
        Mail = "mail",
        /// A language model. It never supplies a recipient.
        Model = "model",
    }
}

/// Where one argument of an action comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    pub name: String,
    pub origin: Origin,
    /// The mail that the argument was taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mail_id: Option<MailId>,
    /// Whether the receiving server vouched for the sender of that mail.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verified: bool,
}

impl Argument {
    /// The name of the argument that holds the recipients of a message.
    pub const RECIPIENTS: &'static str = "recipients";
    /// The name of the argument that holds the words of a message.
    pub const TEXT: &'static str = "text";

    /// The names of all arguments that the tools of the program have. The policy denies any other.
    pub const NAMES: [&'static str; 6] = [Self::RECIPIENTS, Self::TEXT, "subject", "label", "name", "invoice"];

    /// Describes an argument that was not taken from a mail.
    pub fn new(name: &str, origin: Origin) -> Self {
        Self { name: name.to_owned(), origin, mail_id: None, verified: false }
    }
}

/// The conditions of an approval. They are part of the action, so its digest covers them too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalTerms {
    /// The version of the policy that demanded the approval.
    pub policy: String,
    /// After this time the action can no longer be approved or carried out.
    pub expires_at: Instant,
    /// Makes the digest of this action unlike that of any other, so that no approval fits twice.
    pub nonce: String,
}

/// A message written by the program, with every byte that matters fixed. The policy checks that `mime` says the same as
/// the fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComposedMessage {
    pub to: Vec<Address>,
    pub cc: Vec<Address>,
    pub subject: String,
    pub body: String,
    /// The whole message as it is stored or sent.
    pub mime: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

impl ComposedMessage {
    /// Returns everyone the message goes to.
    pub fn recipients(&self) -> impl Iterator<Item = &Address> {
        self.to.iter().chain(&self.cc)
    }

    /// Returns whether a gap is left that only the person can fill. Such a message is never sent.
    pub fn has_gap(&self) -> bool {
        self.body.lines().any(|line| line.trim() == Self::GAP)
    }

    /// The line of a draft that stands where the person's own words belong.
    pub const GAP: &'static str = "…";
}

/// A draft that an earlier step stored, and what it said. If somebody has changed it since, it is theirs and stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplacedDraft {
    pub action_id: ActionId,
    /// The digest of the message as it was stored.
    pub sha256: String,
}

/// An invoice as it is recorded; a field is none when the mail does not name it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InvoiceRecord {
    pub payee: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
}

/// Everything that a step of a task can do to the world. A closed set: no tool and no model can ask for anything else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Adds a label from the configured set to the mail that caused the task.
    Label { label: String },
    /// Moves the mail that caused the task to the archive folder.
    Archive,
    /// Stores a message in the drafts folder, for the person to send.
    Draft { message: ComposedMessage },
    /// Sends a message.
    Send {
        kind: SendKind,
        message: ComposedMessage,
        /// The draft of an earlier step that this message replaces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<ReplacedDraft>,
    },
    /// Shows a reminder in every interface when its time comes.
    Remind {
        at: Instant,
        text: String,
        /// How often the reminder comes back; none for a single one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        every: Option<Recurrence>,
    },
    /// Adds an invoice to the list of invoices.
    RecordInvoice { invoice: InvoiceRecord },
    /// Creates a folder under `data/files`.
    CreateFolder { name: String },
}

/// An effect bound to its task, step and the mail that caused it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    pub action_id: ActionId,
    pub account: AccountId,
    pub user: UserId,
    /// The task that the effect is for; none for what a person's rule does to a mail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// The step of the task's plan that the effect belongs to.
    pub step: String,
    /// Counts the attempts that a person asked for. The idempotency key of an effect is (task, step, generation); without
    /// a task, (mail, step, generation).
    pub generation: u32,
    /// The mail that caused the task; none for a task that a person typed in.
    pub mail_id: Option<MailId>,
    /// The id of that mail at its source.
    pub mail_key: Option<String>,
    pub tool: String,
    pub effect: Effect,
    /// Where each argument of the effect comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Argument>,
    /// Set only where a person must approve the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<ApprovalTerms>,
}

impl Effect {
    /// Returns the result of an effect that is nothing but a row of the database; none for an effect on the mailbox or
    /// the disk.
    pub fn database_row_result(&self) -> Option<String> {
        match self {
            Self::Label { label } => Some(format!("labelled {label}")),
            Self::Remind { at, .. } => Some(format!("reminds at {at}")),
            Self::RecordInvoice { .. } => Some("recorded".into()),
            Self::Archive | Self::Draft { .. } | Self::Send { .. } | Self::CreateFolder { .. } => None,
        }
    }

    /// Returns the message that the effect stores or sends.
    pub const fn message(&self) -> Option<&ComposedMessage> {
        match self {
            Self::Draft { message } | Self::Send { message, .. } => Some(message),
            _ => None,
        }
    }

    /// Returns the draft of an earlier step that is removed once the message has left.
    pub const fn replaced_draft(&self) -> Option<&ReplacedDraft> {
        match self {
            Self::Send { replaces, .. } => replaces.as_ref(),
            _ => None,
        }
    }
}

impl Action {
    /// Returns since when the effect can have happened: since its task was created, or else since it was planned.
    pub fn possible_since_ms(&self) -> u64 {
        let planned = self.action_id.0.timestamp_ms();
        self.task_id.map_or(planned, |task_id| task_id.0.timestamp_ms().min(planned))
    }

    /// Returns the digest that an approval is bound to and that the audit chain names. It covers every field, in the
    /// order of the type, so a new field changes the digest of what waits.
    pub fn sha256(&self) -> serde_json::Result<String> {
        Ok(sha256_hex(serde_json::to_string(self)?.as_bytes()))
    }
}
