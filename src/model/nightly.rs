//! The values of the nightly job: lessons, the past they are tested on, versions of the rules, proposals.

use crate::model::{
    AccountId, Actor, DecisionKind, Facts, Instant, ItemId, MailId, NewItem, Priority, RunId, TaskId, TaskStatus,
    UserId, text_enum::text_enum,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

text_enum! {
    /// What a person overruled.
    CorrectionKind {
        /// The priority of a task.
        Priority = "priority",
        /// That a mail opened a task.
        NotATask = "not_a_task",
        /// That a mail opened no task.
        MakeTask = "make_task",
        /// That mail of this sender opens tasks at all.
        Mute = "mute",
        /// Where a mail is kept.
        Archive = "archive",
        /// That a mail was warned of.
        Genuine = "genuine",
        /// An action that waited for approval.
        Reject = "reject",
        /// The wording of an action; the person said what to do instead.
        Respond = "respond",
        /// The wording of a message, which the person rewrote.
        Edit = "edit",
        /// An effect that was carried out without asking.
        Undo = "undo",
        Objective = "objective",
        Deadline = "deadline",
    }
}

/// A person's correction. It holds no text of a mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CorrectionRow {
    /// The number of the correction; evidence names it.
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

/// A correction with the facts of its task or mail.
#[derive(Debug, Clone, PartialEq)]
pub struct LessonRow {
    pub correction: CorrectionRow,
    pub facts: Facts,
    /// When the task was opened or the mail arrived: the moment at which rules judge it.
    pub created_at: Instant,
    /// Whether the headers mark the mail as sent to many or by a machine.
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
    /// Returns whether the person neither set the priority nor cancelled the task, so that rules may still change its
    /// level.
    pub fn is_uncorrected(&self) -> bool {
        !self.hand_ranked && self.status != TaskStatus::Cancelled
    }
}

/// A mail of the past, and whether it opened a task.
#[derive(Debug, Clone, PartialEq)]
pub struct PastMail {
    pub mail_id: MailId,
    pub arrived_at: Instant,
    pub opened_task: bool,
    /// Whether a person corrected what became of the mail.
    pub corrected: bool,
    /// Whether the headers mark the mail as sent to many or by a machine.
    pub bulk: bool,
    pub facts: Facts,
}

/// Claims a date for the nightly job. There is one run per date, whatever happens to it.
#[derive(Debug, Clone, PartialEq)]
pub struct BeginNightly {
    pub date: String,
    pub scheduled_at: Instant,
    pub run_id: RunId,
    /// Dates that passed while the program was off, with the time at which each was due. This run stands for them too.
    pub missed: Vec<(String, Instant)>,
    pub at: Instant,
}

/// Closes the nightly job of a date, with everything it leaves behind.
#[derive(Debug, Clone, PartialEq)]
pub struct EndNightly {
    pub date: String,
    pub run_id: RunId,
    /// Edits, proposals and duplicates with their tests, as a person can read them.
    pub report: Value,
    /// How often each learned entry has matched, and when last.
    pub hits: Vec<(String, u64, Option<Instant>)>,
    pub proposals: Vec<NewProposal>,
    pub account: AccountId,
    pub user: UserId,
    pub at: Instant,
}

/// An edit of the rules that a person must allow, with the item that asks.
#[derive(Debug, Clone, PartialEq)]
pub struct NewProposal {
    pub item: NewItem,
    pub edit: Value,
    /// The numbers of the corrections that the edit was derived from.
    pub evidence: Vec<i64>,
}

text_enum! {
    /// How far the nightly job of a date has come. The allowed transitions stand in `migrations/`.
    NightlyState {
        /// The job was begun. After a crash it is resumed under the same run.
        Running = "running",
        Done = "done",
        /// The date passed while the program was off, and the job of a later date stood for it.
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

/// A version of the rules that is about to be written: both files as a whole. It is stored before the files are
/// replaced, so that a crash in between can be repaired.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRulesVersion {
    /// Who made the version: `night`, `person`, `approval` or `rollback`.
    pub who: Actor,
    pub run_id: String,
    pub why: String,
    pub rules: String,
    pub guidelines: String,
    pub edits: Value,
    pub at: Instant,
}

/// Marks an intended version as live, once the files are as it says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveRulesVersion {
    pub version: i64,
    /// The entries that the version adds or changes, with their evidence.
    pub learned: Vec<LearnedEntryRow>,
    /// The names of the entries that the version removes.
    pub retired: Vec<String>,
    /// The conditions of entries that a person took back or overruled, each with the reason. They are learned again
    /// only from newer corrections.
    pub unlearned: Vec<(String, String)>,
    /// The proposal that this version carries out.
    pub closes_proposal: Option<ItemId>,
}

/// A learned entry of the rules, with where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LearnedEntryRow {
    pub name: String,
    pub entry: Value,
    pub run_id: String,
    pub evidence: Vec<i64>,
    pub made_at: Instant,
    /// How many tasks and mails of the past the entry matched, as of the last nightly job.
    #[serde(default)]
    pub hits: u64,
    #[serde(default)]
    pub last_hit: Option<Instant>,
}

/// A version of the rules as it is stored, whole, so that it can be rolled back to.
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

/// A proposal, with the person's decision if there is one.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposalRow {
    pub item_id: ItemId,
    pub edit: Value,
    pub run_id: String,
    pub evidence: Vec<i64>,
    pub decision: Option<DecisionKind>,
    pub asked_at: Instant,
    /// Whether its item still waits for an answer.
    pub is_open: bool,
    /// Whether the answer was acted on.
    pub is_closed: bool,
}

/// Two open tasks that are about the same; the newer one can be cancelled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DuplicateTasks {
    pub newer: TaskId,
    pub older: TaskId,
    pub why: String,
}

/// What a person did to a written reply before it left. Lines of the guidelines are derived from many of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyOutcome {
    /// The domain of the verified sender who is answered.
    pub domain: String,
    /// The number of words of the first version.
    pub words_before: usize,
    /// The number of words that were sent; none when nothing was sent.
    pub words_after: Option<usize>,
    pub rejected: bool,
    /// When the first version was written.
    pub at: Instant,
}

/// The priority that the program gave a task, and the person's last word on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriorityCorrection {
    pub task_id: TaskId,
    pub given: Priority,
    pub wanted: Priority,
}

/// A correction that taught something, with the task or mail that it was about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvidenceRow {
    #[serde(flatten)]
    pub correction: CorrectionRow,
    /// The number of the task; none for a mail without one.
    pub number: Option<i64>,
    /// The objective of the task, or the subject of the mail.
    pub title: String,
}
