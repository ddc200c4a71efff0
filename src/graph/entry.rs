//! What a node is told and what it answers. A node makes no call itself: it asks, and is entered again with the reply.

use std::sync::{Arc, OnceLock};

use anyhow::Context as _;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    llm::{ModelReply, Prompt, PromptInput},
    model::{
        AccountId, ActionId, Change, Facts, Fingerprint, Instant, Mail, MailId, Move, NewAction, NewItem, NewRun,
        OutboxState, Reading, Reflection, ReplyJson, RunId, RunKind, RunState, Task, TaskId, UserId, ids::sha256_hex,
    },
};

/// A question the engine answers on a node's behalf. Replies are recorded, so a replay asks nobody. They are found by the
/// hash of the call as JSON, so the name of a variant and its fields in JSON never change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case")]
pub enum Call {
    /// How the mail came, who wrote it, which tasks its conversation has.
    #[serde(rename = "acquaintance")]
    MailContext { mail_id: MailId },
    /// Open tasks about one of these invoices.
    #[serde(rename = "kin")]
    TasksAboutInvoice {
        #[serde(rename = "marks")]
        invoices: Vec<Fingerprint>,
    },
    /// Whether mails like this were learned to be tasks, or none.
    #[serde(rename = "taught")]
    LearnedReading { facts: Box<Facts> },
    /// What the rules in force say about the run's facts, with the urgency a model scored, if one was asked.
    Rank {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        urgency: Option<f64>,
    },
    /// Earlier mails and tasks that may help.
    Recall {
        mail_id: Option<MailId>,
        thread: String,
        person: String,
        words: String,
        /// The mark of the invoice it is about; empty for anything else.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        invoice: String,
    },
    /// The conversation itself.
    Thread { thread: String },
    /// How the person writes: what they wrote last, to this address first.
    Style { person: String },
    /// Put to the model. Answered in any case, if only with why there is no answer.
    Model { inquiry: Box<PromptInput> },
    /// What the account allows.
    #[serde(rename = "standing")]
    AccountPermissions,
    /// When the person is busy between two times.
    #[serde(rename = "busy")]
    BusyTimes { from: Instant, to: Instant },
    /// What the calendar has under the UID of an invitation.
    #[serde(rename = "invited")]
    CalendarEvent { uid: String },
    /// Whether one more question because of this sender fits into the queue. Answered once there is room.
    #[serde(rename = "room")]
    QueueRoom { sender: String },
    /// The task as it stands now: at the start of a run that did not just open it, and when somebody was faster.
    Task { task_id: TaskId },
    /// What became of an effect this run wished for.
    Effect { action_id: ActionId },
}

impl Call {
    /// Returns the name of the question in the record.
    pub fn input_hash(&self) -> anyhow::Result<String> {
        let mut hash = sha256_hex(serde_json::to_string(self).context("encoding a call")?.as_bytes());
        hash.truncate(32);
        Ok(hash)
    }
}

/// What became of an effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectOutcome {
    pub state: OutboxState,
    pub result: String,
}

/// A task read anew, with what a run must know to change it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurrentTask {
    pub task: Task,
    pub facts: Facts,
    pub revision: i64,
    pub hand_ranked: bool,
}

/// What the rules decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankedPriority {
    pub level: crate::model::Priority,
    pub rule: String,
    pub why: String,
    /// Of the rules.
    pub version: String,
}

/// Who is running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunIdentity {
    pub run_id: RunId,
    pub account: AccountId,
    pub user: UserId,
    pub kind: RunKind,
    /// An experiment: its effects are void.
    pub is_fork: bool,
}

/// Said of a reply that is on record and cannot be understood.
pub(super) const UNREADABLE_REPLY: &str = "a recorded reply cannot be read";

pub struct NodeInput<'a> {
    pub run: &'a RunIdentity,
    pub state: &'a RunState,
    pub mail: Option<&'a Mail>,
    /// What the mail was read to say, for the later entries of one visit: neither it nor its writer changes meanwhile.
    pub reading_cache: &'a OnceLock<Reading>,
    /// Of this visit, in the order asked.
    pub replies: &'a [(Call, ReplyJson)],
    /// There is a model to ask; on a replay, whether there was.
    pub has_model: bool,
    pub now: Instant,
}

impl NodeInput<'_> {
    /// The reply to the first call that `wanted` picks, if it was asked already.
    pub fn find_reply<T: DeserializeOwned>(&self, wanted: impl Fn(&Call) -> bool) -> anyhow::Result<Option<T>> {
        let found = self.replies.iter().find(|(call, _)| wanted(call));
        found.map(|(_, value)| value.read().context(UNREADABLE_REPLY)).transpose()
    }

    /// What the model said to this prompt, if it was asked already.
    pub fn find_model_reply(&self, prompt: Prompt) -> anyhow::Result<Option<ModelReply>> {
        self.find_reply(|call| matches!(call, Call::Model { inquiry } if inquiry.prompt == prompt))
    }
}

/// What a node answers.
#[derive(Debug, Clone, Default)]
pub struct NodeOutput {
    /// Asked before anything else counts.
    pub calls: Vec<Call>,
    pub changes: Vec<Change>,
    pub action: Option<Arc<NewAction>>,
    pub item: Option<NewItem>,
    pub runs: Vec<NewRun>,
    /// The local day and the line.
    pub reflection: Option<Box<(String, Reflection)>>,
    pub next: Option<Move>,
}

impl NodeOutput {
    pub fn from_call(call: Call) -> Self {
        Self { calls: vec![call], ..Self::default() }
    }

    pub fn from_move(next: Move) -> Self {
        Self { next: Some(next), ..Self::default() }
    }

    #[must_use]
    pub fn with_changes(mut self, changes: Vec<Change>) -> Self {
        self.changes = changes;
        self
    }
}

pub trait Node: Send + Sync {
    fn evaluate(&self, entry: &NodeInput<'_>) -> anyhow::Result<NodeOutput>;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replies of every version before are found by these.
    #[test]
    fn a_call_is_named_in_the_record_as_it_always_was() {
        let at: Instant = "2026-11-16T08:00:00Z".parse().unwrap();
        let invoices = vec!["invoice:ann@x.example 7".parse().unwrap()];
        for (call, json, hash) in [
            (
                Call::MailContext { mail_id: MailId(7) },
                r#"{"call":"acquaintance","mail_id":7}"#,
                "da638666531cf32315f784c0aebbd38a",
            ),
            (
                Call::TasksAboutInvoice { invoices },
                r#"{"call":"kin","marks":["invoice:ann@x.example 7"]}"#,
                "561f5a186dd6db7fccebbda738f18dab",
            ),
            (Call::AccountPermissions, r#"{"call":"standing"}"#, "f2ac6bcdbfc152b30a81251807386417"),
            (
                Call::BusyTimes { from: at, to: at },
                r#"{"call":"busy","from":"2026-11-16T08:00:00Z","to":"2026-11-16T08:00:00Z"}"#,
                "cb62f001c02546d84a46fd1e755cd65f",
            ),
            (
                Call::CalendarEvent { uid: "u".into() },
                r#"{"call":"invited","uid":"u"}"#,
                "dd14cf1c4bb030c84e3c7414fc234b1e",
            ),
            (
                Call::QueueRoom { sender: "a@x".into() },
                r#"{"call":"room","sender":"a@x"}"#,
                "040049b58c56401268978dc73da252a5",
            ),
            (
                Call::Thread { thread: "t".into() },
                r#"{"call":"thread","thread":"t"}"#,
                "5d9a1e8072b37975b26d85703aa7cf7c",
            ),
        ] {
            assert_eq!(serde_json::to_string(&call).unwrap(), json);
            assert_eq!(call.input_hash().unwrap(), hash, "{json}");
        }
    }
}
