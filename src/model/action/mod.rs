//! Effects as data: what a node wishes for, resolved to the last byte, and where it stands in the outbox.

mod outbox;

pub use outbox::{ActionMove, ApprovalUse, NewAction, OutboxRow, ReevaluatedAction};

use serde::{Deserialize, Serialize};

use super::{
    AccountId, ActionId, Address, Attachment, Instant, MailId, Recurrence, TaskId, UserId, ids::sha256_hex,
    text_enum::text_enum,
};

text_enum! {
    /// Computed by `policy` from the resolved action, never lowered by anything else.
    RiskClass { R0 = "R0", R1 = "R1", R2 = "R2", R3 = "R3", R4 = "R4" }
}

text_enum! {
    /// The life of an effect. The allowed pairs stand in `migrations/`.
    OutboxState {
        Planned = "planned",
        Parked = "parked",
        Ready = "ready",
        Held = "held",
        Drafting = "drafting",
        Drafted = "drafted",
        Sending = "sending",
        /// It has left; what goes with it is still to be done.
        Settling = "settling",
        Sent = "sent",
        Unknown = "unknown",
        Probe = "probe",
        NeedsHuman = "needs_human",
        Applied = "applied",
        Saved = "saved",
        Withheld = "withheld",
        Void = "void",
        Failed = "failed",
    }
}

impl OutboxState {
    /// Nothing more will happen to it: the step may go on.
    pub const fn is_ended(self) -> bool {
        use OutboxState::{Applied, Failed, Saved, Sent, Void, Withheld};
        matches!(self, Applied | Saved | Sent | Withheld | Void | Failed)
    }
}

text_enum! {
    /// How a message leaves the house.
    SendKind {
        Reply = "reply",
        New = "new",
        Forward = "forward",
        /// A calendar invitation of our own.
        Invite = "invite",
        /// The answer to somebody's invitation.
        Answer = "answer",
    }
}

text_enum! {
    /// Who supplied an argument of an action.
    Origin {
        /// Our own fixed words and choices.
        Template = "template",
        /// The person, in their own words.
        Person = "person",
        /// Taken from a mail.
        Mail = "mail",
        /// Written by a model: never a recipient.
        Model = "model",
    }
}

/// Where one argument of an action comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    pub name: String,
    pub origin: Origin,
    /// The message it was taken from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mail_id: Option<MailId>,
    /// The receiving server vouched for that message's sender.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verified: bool,
}

impl Argument {
    /// The recipients of a message, among its arguments.
    pub const RECIPIENTS: &'static str = "recipients";
    pub const TEXT: &'static str = "text";

    pub fn new(name: &str, origin: Origin) -> Self {
        Self { name: name.to_owned(), origin, mail_id: None, verified: false }
    }
}

/// What an approval of an action is bound to beside the action itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalTerms {
    /// The version of the policy that asked for it.
    pub policy: String,
    pub expires_at: Instant,
    pub nonce: String,
}

/// A message written by the program, with every byte that matters fixed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComposedMessage {
    pub to: Vec<Address>,
    pub cc: Vec<Address>,
    pub subject: String,
    pub body: String,
    /// The whole message as it would be stored or sent.
    pub mime: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

impl ComposedMessage {
    pub fn recipients(&self) -> impl Iterator<Item = &Address> {
        self.to.iter().chain(&self.cc)
    }

    /// What only a person can fill in is still missing.
    pub fn has_gap(&self) -> bool {
        self.body.lines().any(|line| line.trim() == Self::GAP)
    }

    /// Stands in a draft where the person's own words belong.
    pub const GAP: &'static str = "…";
}

/// A draft of ours, as we wrote it. If somebody has changed it since, it is theirs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplacedDraft {
    pub action_id: ActionId,
    pub sha256: String,
}

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

/// Everything the program can do to the world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// On the triggering mail, from the configured set.
    Label {
        label: String,
    },
    /// The triggering mail moves to the archive folder.
    Archive,
    Draft {
        message: ComposedMessage,
    },
    /// Leaves the house.
    Send {
        kind: SendKind,
        message: ComposedMessage,
        /// The draft of an earlier step that this message replaces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<ReplacedDraft>,
    },
    /// A notice in every door at the time.
    Remind {
        at: Instant,
        text: String,
        /// It comes back; none: once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        every: Option<Recurrence>,
    },
    RecordInvoice {
        invoice: InvoiceRecord,
    },
    /// Under `data/files`.
    CreateFolder {
        name: String,
    },
}

/// An effect bound to its task, step and the mail that caused it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    pub action_id: ActionId,
    pub account: AccountId,
    pub user: UserId,
    pub task_id: TaskId,
    pub step: String,
    /// Counts the attempts a person asked for; the key of an effect is (task, step, generation).
    pub generation: u32,
    pub mail_id: Option<MailId>,
    /// The source's own id of that mail.
    pub mail_key: Option<String>,
    pub tool: String,
    pub effect: Effect,
    /// Where each argument comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Argument>,
    /// Only where a person must allow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<ApprovalTerms>,
}

impl Effect {
    /// What it comes to, if it is a row of our own and nothing else.
    pub fn database_row_result(&self) -> Option<String> {
        match self {
            Self::Label { label } => Some(format!("labelled {label}")),
            Self::Remind { at, .. } => Some(format!("reminds at {at}")),
            Self::RecordInvoice { .. } => Some("recorded".into()),
            Self::Archive | Self::Draft { .. } | Self::Send { .. } | Self::CreateFolder { .. } => None,
        }
    }

    pub const fn message(&self) -> Option<&ComposedMessage> {
        match self {
            Self::Draft { message } | Self::Send { message, .. } => Some(message),
            _ => None,
        }
    }

    pub const fn replaced_draft(&self) -> Option<&ReplacedDraft> {
        match self {
            Self::Send { replaces, .. } => replaces.as_ref(),
            _ => None,
        }
    }
}

impl Action {
    /// Returns the digest an approval binds and the audit names: over every field, in the order of the type. An action
    /// that cannot be encoded has none, and so no approval can be for it.
    pub fn sha256(&self) -> serde_json::Result<String> {
        Ok(sha256_hex(serde_json::to_string(self)?.as_bytes()))
    }
}
