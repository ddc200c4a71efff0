//! Effects as data: what a node wishes for, resolved to the last byte, and where it stands in the outbox.

use serde::{Deserialize, Serialize};

use super::{AccountId, ActionId, Address, Instant, MailId, TaskId, UserId, ids::sha256_hex, words::words};

words! {
    /// Computed by `policy` from the resolved action, never lowered by anything else.
    RiskClass { R0 = "R0", R1 = "R1", R2 = "R2", R3 = "R3", R4 = "R4" }
}

words! {
    /// The life of an effect. The allowed pairs stand in `migrations/`.
    OutboxState {
        Planned = "planned",
        Parked = "parked",
        Ready = "ready",
        Held = "held",
        Drafting = "drafting",
        Drafted = "drafted",
        Sending = "sending",
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

/// A message written by the program, with every byte that matters fixed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Composed {
    pub to: Vec<Address>,
    pub cc: Vec<Address>,
    pub subject: String,
    pub body: String,
    /// The whole message as it would be stored or sent.
    pub mime: String,
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
        message: Composed,
    },
    /// A notice in every door at the time.
    Remind {
        at: Instant,
        text: String,
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
}

impl Action {
    /// The digest an approval binds and the audit names.
    pub fn sha256(&self) -> String {
        sha256_hex(serde_json::to_string(self).unwrap_or_default().as_bytes())
    }
}
