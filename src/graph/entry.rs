//! The interface between the engine and a node: [`NodeInput`], [`NodeOutput`] and [`Call`]. A node makes no call
//! itself. It returns the calls it needs, and is evaluated again with the replies.

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

/// A question that the engine answers for a node. Replies are recorded, so that a replay makes no call.
///
/// The serialised form is hashed to find the recorded reply ([`Call::input_hash`]). A change of a variant's name or
/// fields therefore makes old records unreadable to a replay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case")]
pub enum Call {
    /// The context of a mail: how it arrived, whether its sender is known, which tasks its conversation has.
    #[serde(rename = "acquaintance")]
    MailContext { mail_id: MailId },
    /// The open tasks about one of these invoices.
    #[serde(rename = "kin")]
    TasksWithFingerprints {
        #[serde(rename = "marks")]
        fingerprints: Vec<Fingerprint>,
    },
    /// The learned entry, if there is one, that says whether such mails are tasks.
    #[serde(rename = "taught")]
    LearnedReading { facts: Box<Facts> },
    /// What the rules in force do to a mail with these facts.
    RuleActs { facts: Box<Facts> },
    /// What the second reader says about the sentences that the first one is in doubt about.
    SecondReading { sentences: Vec<String> },
    /// The priority by the rules in force. `urgency` is the model's estimate, if a model was called.
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
        /// The fingerprint of the invoice that the task is about; empty if it is about none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        invoice: String,
    },
    /// The newest mails of the conversation.
    Thread { thread: String },
    /// Mails that the person wrote, those to this address first, as samples of their style.
    Style { person: String },
    /// Mails that the person wrote to this address alone.
    OwnLetters { person: String },
    /// Which file each of these requests asks for by its name.
    FindFiles { requests: Vec<String> },
    /// A file under `data/files`, by its name.
    ReadFile { name: String },
    /// What the person answered to the same question in another conversation, among the documents found for the task.
    EarlierAnswer { question: String, documents: Vec<String> },
    /// A prompt to the model. It always has a reply: the model's answer, or why there is none.
    Model { inquiry: Box<PromptInput> },
    /// The permissions of the account: its mode, the policy, whether effects are paused.
    #[serde(rename = "standing")]
    AccountPermissions,
    /// The recorded invoices.
    Invoices,
    /// The times between two instants at which the person is busy.
    #[serde(rename = "busy")]
    BusyTimes { from: Instant, to: Instant },
    /// The times between two instants that other tasks hold.
    #[serde(rename = "held")]
    HeldTimes { from: Instant, to: Instant },
    /// The calendar's events under the UID of an invitation.
    #[serde(rename = "invited")]
    CalendarEvent { uid: String },
    /// Whether the approval queue has room for one more item because of this sender. The run is deferred until it has.
    #[serde(rename = "room")]
    QueueRoom { sender: String },
    /// The task as it is now. Asked by the engine at the start of a run that did not open the task itself, and when
    /// somebody else changed it.
    Task { task_id: TaskId },
    /// The outcome of an effect that this run planned.
    Effect { action_id: ActionId },
}

impl Call {
    /// Returns the hash by which the recorded reply of this call is found.
    pub fn input_hash(&self) -> anyhow::Result<String> {
        let mut hash = sha256_hex(serde_json::to_string(self).context("encoding a call")?.as_bytes());
        hash.truncate(32);
        Ok(hash)
    }
}

/// The outcome of an effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectOutcome {
    pub state: OutboxState,
    /// What came of the effect, for a person.
    pub result: String,
}

/// A task as it was just read, with what a run must know to change it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurrentTask {
    pub task: Task,
    pub facts: Facts,
    /// The revision that a checkpoint must name to be accepted.
    pub revision: i64,
    /// Whether a person set the priority, which then stays.
    pub hand_ranked: bool,
}

/// The priority that the rules gave, with the rule that decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankedPriority {
    pub level: crate::model::Priority,
    pub rule: String,
    pub why: String,
    /// The version of the rules.
    pub version: String,
}

/// What identifies a run: its id, its account and person, its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunIdentity {
    pub run_id: RunId,
    pub account: AccountId,
    pub user: UserId,
    pub kind: RunKind,
    /// Whether the run is a fork, that is an experiment. Its effects are void.
    pub is_fork: bool,
}

/// The error for a recorded reply that does not have the expected type.
pub(super) const UNREADABLE_REPLY: &str = "a recorded reply cannot be read";

/// Everything that a node may know. Its output must be a function of this value alone; that is what makes a replay
/// exact.
pub struct NodeInput<'a> {
    pub run: &'a RunIdentity,
    pub state: &'a RunState,
    pub mail: Option<&'a Mail>,
    /// The reading of the mail, kept for the further evaluations of one visit. Neither the mail nor its context changes
    /// between them.
    pub reading_cache: &'a OnceLock<Reading>,
    /// The calls of this visit with their replies, in the order in which they were made.
    pub replies: &'a [(Call, ReplyJson)],
    /// Whether there is a model to call; on a replay, whether there was one.
    pub has_model: bool,
    /// Whether there is a second reader of sentences; on a replay, its recorded replies tell.
    pub has_second_reader: bool,
    /// Whether any rule acts on mail; on a replay, the recorded replies tell.
    pub has_rule_acts: bool,
    /// Whether there are files that a mail may ask for; on a replay, the recorded replies tell.
    pub has_files: bool,
    /// The time of the visit. All evaluations of one visit and a replay of it are given the same time.
    pub now: Instant,
}

impl NodeInput<'_> {
    /// Returns the reply to the first call that `wanted` accepts; none if there was no such call yet.
    pub fn find_reply<T: DeserializeOwned>(&self, wanted: impl Fn(&Call) -> bool) -> anyhow::Result<Option<T>> {
        let found = self.replies.iter().find(|(call, _)| wanted(call));
        found.map(|(_, value)| value.read().context(UNREADABLE_REPLY)).transpose()
    }

    /// Returns the model's reply to this prompt; none if the model was not called with it yet.
    pub fn find_model_reply(&self, prompt: Prompt) -> anyhow::Result<Option<ModelReply>> {
        self.find_reply(|call| matches!(call, Call::Model { inquiry } if inquiry.prompt == prompt))
    }
}

/// The output of a node: calls that it needs first, or everything that its checkpoint stores.
#[derive(Debug, Clone, Default)]
pub struct NodeOutput {
    /// The calls that the node needs. While there are any, the rest of the output is ignored.
    pub calls: Vec<Call>,
    pub changes: Vec<Change>,
    /// The effect that the node plans.
    pub action: Option<Arc<NewAction>>,
    /// The item for the approval queue.
    pub item: Option<NewItem>,
    /// The runs that begin when the checkpoint is stored.
    pub runs: Vec<NewRun>,
    /// The local date and the reflection of a finished run.
    pub reflection: Option<Box<(String, Reflection)>>,
    /// The move. It is none only beside calls.
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

/// One node of the graph.
pub trait Node: Send + Sync {
    /// Returns calls to make, or the result of the visit. Must do no I/O and read no clock: it is evaluated again after
    /// each call, after a crash and on a replay, and must give the same output for the same input.
    fn evaluate(&self, entry: &NodeInput<'_>) -> anyhow::Result<NodeOutput>;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replies of every version before are found by these.
    #[test]
    fn a_call_is_named_in_the_record_as_it_always_was() {
        let at: Instant = "2026-11-16T08:00:00Z".parse().unwrap();
        let fingerprints = vec!["invoice:ann@x.example 7".parse().unwrap()];
        for (call, json, hash) in [
            (
                Call::MailContext { mail_id: MailId(7) },
                r#"{"call":"acquaintance","mail_id":7}"#,
                "da638666531cf32315f784c0aebbd38a",
            ),
            (
                Call::TasksWithFingerprints { fingerprints },
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
                Call::HeldTimes { from: at, to: at },
                r#"{"call":"held","from":"2026-11-16T08:00:00Z","to":"2026-11-16T08:00:00Z"}"#,
                "12c29e4c05e0cf78981a5e4d1cd6ee14",
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
