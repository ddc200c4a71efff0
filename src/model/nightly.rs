//! The plain values of the night: lessons, the past to test them on, versions of the rules, questions to ask.

use crate::model::{
    AccountId, Actor, DecisionKind, Facts, Instant, ItemId, MailId, NewItem, Priority, RunId, TaskId, TaskStatus,
    UserId, text_enum::text_enum,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

text_enum! {
    /// What a person overruled.
    CorrectionKind {
        Priority = "priority",
        NotATask = "not_a_task",
        MakeTask = "make_task",
        Mute = "mute",
        Reject = "reject",
        Respond = "respond",
        Edit = "edit",
        Undo = "undo",
        Objective = "objective",
        Deadline = "deadline",
    }
}

/// A person's correction, without a word of the mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CorrectionRow {
    pub correction: i64,
    pub account: AccountId,
    pub kind: CorrectionKind,
    pub task_id: Option<TaskId>,
    pub mail_id: Option<MailId>,
    pub from: String,
    pub to: String,
    pub why: String,
    pub at: Instant,
}

/// A correction with what is known about its task or mail.
#[derive(Debug, Clone, PartialEq)]
pub struct LessonRow {
    pub correction: CorrectionRow,
    pub facts: Facts,
    /// When the task was opened or the mail arrived: the moment rules judge it at.
    pub created_at: Instant,
    /// Sent to many or by a machine, by its headers.
    pub bulk: bool,
}

/// A task of the past, as far as rules are concerned.
#[derive(Debug, Clone, PartialEq)]
pub struct PastTask {
    pub task_id: TaskId,
    pub number: Option<i64>,
    pub created_at: Instant,
    pub status: TaskStatus,
    pub priority: Priority,
    pub hand_ranked: bool,
    pub facts: Facts,
}

impl PastTask {
    /// The person neither set its level nor threw it away.
    pub fn is_uncorrected(&self) -> bool {
        !self.hand_ranked && self.status != TaskStatus::Cancelled
    }
}

/// A mail of the past and whether it opened a task.
#[derive(Debug, Clone, PartialEq)]
pub struct PastMail {
    pub mail_id: MailId,
    pub arrived_at: Instant,
    pub opened_task: bool,
    /// A person said something about it.
    pub corrected: bool,
    /// Sent to many or by a machine, by its headers.
    pub bulk: bool,
    pub facts: Facts,
}

#[derive(Debug, Clone, PartialEq)]
pub struct BeginNightly {
    pub date: String,
    pub scheduled_at: Instant,
    pub run_id: RunId,
    /// Dates that were missed and are made up for by this run.
    pub missed: Vec<(String, Instant)>,
    pub at: Instant,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EndNightly {
    pub date: String,
    pub run_id: RunId,
    pub report: Value,
    /// How often each learned entry has matched, and when last.
    pub hits: Vec<(String, u64, Option<Instant>)>,
    pub proposals: Vec<NewProposal>,
    pub account: AccountId,
    pub user: UserId,
    pub at: Instant,
}

/// An edit a person must allow.
#[derive(Debug, Clone, PartialEq)]
pub struct NewProposal {
    pub item: NewItem,
    pub edit: Value,
    pub evidence: Vec<i64>,
}

text_enum! {
    /// How far the nightly job of a date has come. The allowed pairs stand in `migrations/`.
    NightlyState {
        /// It was begun. After a crash it is taken up under the same run.
        Running = "running",
        Done = "done",
        /// Its time passed while the program was off, and a later date made up for it.
        CaughtUp = "caught_up",
    }
}

/// The nightly job of one date, as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NightlyRow {
    pub date: String,
    pub scheduled_at: Instant,
    pub run_id: RunId,
    pub state: NightlyState,
    pub begun_at: Instant,
    pub ended_at: Option<Instant>,
    pub report: Value,
}

/// Both files as they are to be.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRulesVersion {
    pub who: Actor,
    pub run_id: String,
    pub why: String,
    pub rules: String,
    pub guidelines: String,
    pub edits: Value,
    pub at: Instant,
}

/// The file is as it was intended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveRulesVersion {
    pub version: i64,
    pub learned: Vec<LearnedEntryRow>,
    pub retired: Vec<String>,
    /// Reaches a person took back, and why.
    pub unlearned: Vec<(String, String)>,
    /// The proposal this settles.
    pub closes_proposal: Option<ItemId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LearnedEntryRow {
    pub name: String,
    pub entry: Value,
    pub run_id: String,
    pub evidence: Vec<i64>,
    pub made_at: Instant,
    #[serde(default)]
    pub hits: u64,
    #[serde(default)]
    pub last_hit: Option<Instant>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RulesVersionRow {
    pub version: i64,
    pub at: Instant,
    pub who: Actor,
    pub run_id: String,
    pub why: String,
    #[serde(skip)]
    pub rules: String,
    #[serde(skip)]
    pub guidelines: String,
    pub edits: Value,
}

/// A question about an edit, with the person's word if there is one.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposalRow {
    pub item_id: ItemId,
    pub edit: Value,
    pub run_id: String,
    pub evidence: Vec<i64>,
    pub decision: Option<DecisionKind>,
    pub asked_at: Instant,
    pub is_open: bool,
    pub is_closed: bool,
}

/// Two tasks that are one: the newer can go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DuplicateTasks {
    pub newer: TaskId,
    pub older: TaskId,
    pub why: String,
}

/// What a person did to a reply before it left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyOutcome {
    /// Of the verified sender who is answered.
    pub domain: String,
    pub words_before: usize,
    /// None: it was not sent.
    pub words_after: Option<usize>,
    pub rejected: bool,
    /// When it was first written.
    pub at: Instant,
}
