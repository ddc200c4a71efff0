//! The plain values the store takes and gives. No transaction, no closure, no rusqlite type among them.

mod audit_chain;
mod file;
mod item;
mod model_call;

use std::{collections::BTreeSet, sync::Arc};

pub use audit_chain::{AuditChain, DetectedRestore, WitnessKept};
pub use file::{ArrivalFile, LedgerFileRow, UnchangedFile};
pub use item::{ItemRow, NewItem, QueueLimits};
pub use model_call::{CostRow, ModelCallRow, NewModelCall};
use serde::Serialize;

pub use super::followup::{Document, FollowUp, FullTextHit, Kinship, MailContext, RelatedTask};
use crate::model::{
    AccountId, AccountMode, Action, ActionId, Change, Direction, Door, Facts, Instant, ItemId, Mail, MailId, MailState,
    Move, NodeName, OutboxState, Priority, Recurrence, Reflection, ReplyJson, RiskClass, RunId, RunKind, RunState,
    RunStatus, Task, TaskId, UserId, llm::ModelCall, text_enum::words,
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Account {
    pub account: AccountId,
    pub user: UserId,
    pub kind: String,
    pub mode: AccountMode,
    pub cursor: Option<String>,
    pub created_at: Instant,
    pub polled_at: Option<Instant>,
}

/// A message as it goes into the ledger.
#[derive(Debug, Clone)]
pub struct Arrival {
    pub source_key: String,
    pub folder: String,
    pub direction: Direction,
    pub arrived_at: Instant,
    pub size: u64,
    /// What came of reading it.
    pub content: ArrivalContent,
    pub file: ArrivalFile,
}

#[derive(Debug, Clone)]
pub enum ArrivalContent {
    /// To be worked by the graph.
    Process(Arc<Mail>),
    /// Kept and searchable, but it opens no run.
    StoreOnly { mail: Arc<Mail>, reason: String },
    /// Could not be read now; tried again.
    Failed { reason: String },
    /// Cannot be read; a person may look.
    Parked { reason: String },
    /// It was seen, and had left the mailbox before it could be read.
    Gone,
}

/// What one poll brought, committed together with its cursor.
#[derive(Debug, Clone)]
pub struct Arrivals {
    pub account: AccountId,
    pub user: UserId,
    /// Only with the last part of a poll.
    pub cursor: Option<String>,
    pub arrivals: Vec<Arrival>,
    pub gone_keys: Vec<String>,
    pub unchanged_files: Vec<UnchangedFile>,
    pub at: Instant,
}

/// What became of one arrival.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrivalReceipt {
    pub source_key: String,
    pub mail_id: MailId,
    pub state: MailState,
    /// The run that was opened for it, and what is known about the mail's people.
    pub run: Option<(RunId, MailContext)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    pub run_id: RunId,
    pub account: AccountId,
    pub user: UserId,
    pub kind: RunKind,
    pub parent_run: Option<RunId>,
    /// The run this one repeats and the checkpoint it starts after.
    pub fork: Option<(RunId, u32)>,
    pub node: NodeName,
    /// The task it works; none for the run of a mail.
    pub task_id: Option<TaskId>,
    pub state: RunState,
}

/// A reply the engine was given, to be stored before or with the checkpoint that used it.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedReply {
    pub node: NodeName,
    pub input_hash: String,
    pub ordinal: u32,
    pub reply: ReplyJson,
    /// A model said it; what the asking was.
    pub call: Option<Box<ModelCall>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewAction {
    pub action: Action,
    pub class: RiskClass,
    pub state: OutboxState,
    pub reason: String,
    /// Who wrote the mail that caused it; empty without one.
    pub sender: String,
}

/// Everything one node did, committed as one.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    pub run_id: RunId,
    pub account: AccountId,
    pub user: UserId,
    pub seq: u32,
    pub node: NodeName,
    pub next_move: Move,
    pub next: Option<NodeName>,
    pub mail_id: Option<MailId>,
    pub entered_at: Instant,
    pub changes: Vec<Change>,
    pub replies: Vec<RecordedReply>,
    /// The task after the changes and the revision it was read at; none for a mail's run.
    pub task: Option<(Arc<Task>, i64)>,
    pub action: Option<Arc<NewAction>>,
    /// The end of the effect the run waited for.
    pub action_move: Option<Box<ActionMove>>,
    pub item: Option<NewItem>,
    pub runs: Vec<NewRun>,
    pub reflection: Option<Box<(String, Reflection)>>,
    pub end: Option<(RunStatus, String)>,
    /// A fork is an experiment: it is recorded, and nothing of it reaches the tasks.
    pub fork: bool,
}

/// One move of an effect in the outbox.
#[derive(Debug, Clone)]
pub struct ActionMove {
    pub action_id: ActionId,
    pub from: OutboxState,
    pub to: OutboxState,
    pub result: String,
    pub handle: String,
    pub who: String,
    pub at: Instant,
    /// The effect is a row of ours (label, reminder, invoice): written in the same transaction.
    pub is_database_row: bool,
    pub approval: ApprovalUse,
    /// It can be taken back.
    pub undoable: bool,
    /// No try has put anything of it into the mailbox, for certain.
    pub untried: bool,
}

/// What a move does to the approval behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalUse {
    None,
    /// Uses it, or the move is refused.
    Use,
    /// What it was used for certainly did not happen.
    Return,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutboxRow {
    pub action: Action,
    pub class: RiskClass,
    pub state: OutboxState,
    pub result: String,
    /// Of the action. Told where a person can say yes to it, as `action_sha256` of the item, and nowhere else.
    #[serde(skip)]
    pub sha256: String,
    pub run_id: RunId,
    pub updated_at: Instant,
    pub handle: String,
    /// The end of the grace after an approval.
    pub release_at: Option<Instant>,
    /// Since when nobody knows whether it happened, or it cannot be done for want of a way.
    pub doubt_since: Option<Instant>,
    pub sender: String,
    /// A try may have left a draft of it in the mailbox.
    pub tried: bool,
    /// How often its sending was begun.
    pub begun: u32,
    /// A person's word on its task came while it may have been leaving: it is not begun again.
    #[serde(skip)]
    pub overruled: bool,
    /// The stored bytes are those the digest was taken of.
    #[serde(skip)]
    pub intact: bool,
}

/// What a person asks of a task.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskEditKind {
    Add {
        task: Box<Task>,
        facts: Box<Facts>,
        /// The task is a reminder.
        remind: Option<NewReminder>,
    },
    Done,
    Cancel,
    Priority(Priority),
    Objective(String),
    Deadline(Option<String>, Option<Instant>),
    StepDone(String),
    /// What to say: the step is done anew with these words, and shown before it leaves.
    InstructStep {
        step: String,
        words: String,
    },
    Snooze(Option<Instant>),
    /// Takes back a completion or a cancellation: a successor carries on.
    Reopen,
}

#[derive(Debug, Clone)]
pub struct TaskEdit {
    pub task_id: TaskId,
    pub account: AccountId,
    pub user: UserId,
    pub kind: TaskEditKind,
    pub why: String,
    pub at: Instant,
    /// With a new deadline: when its reminder comes now. None: not at all.
    pub remind_at: Option<Instant>,
}

/// A reminder a person typed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReminder {
    pub at: Instant,
    pub every: Option<Recurrence>,
}

/// A level that new rules or a new day give an open task.
#[derive(Debug, Clone)]
pub struct Rerank {
    pub task_id: TaskId,
    pub revision: i64,
    pub priority: Priority,
    pub rule: String,
    pub why: String,
    pub at: Instant,
}

/// What a person says about a mail.
#[derive(Debug, Clone, PartialEq)]
pub enum MailEditKind {
    NotATask,
    /// The run that opens the task after all is made by the caller.
    MakeTask(Box<NewRun>),
    Mute,
    Unmute,
}

#[derive(Debug, Clone)]
pub struct MailEdit {
    pub mail_id: MailId,
    pub user: UserId,
    pub kind: MailEditKind,
    pub why: String,
    pub at: Instant,
}

words! {
    /// What a person can say to an item.
    Verdict {
        /// To an action: do exactly this.
        Approve = "approve",
        Reject = "reject",
        /// Do something else instead; the reason says what.
        Respond = "respond",
        /// To a failed step.
        Retry = "retry",
        Skip = "skip",
        Cancel = "cancel",
        /// To an effect nobody knows the end of: it did happen.
        Sent = "sent",
    }
}

#[derive(Debug, Clone)]
pub struct Decision {
    pub item_id: ItemId,
    pub kind: Verdict,
    pub who: String,
    pub reason: String,
    pub at: Instant,
    pub channel: Door,
    /// Of the action the person saw; needed to approve.
    pub sha256: String,
    /// When an approved action leaves.
    pub release_at: Option<Instant>,
    pub epoch: i64,
    /// The decision file it came in, by its digest: used once.
    pub file_sha256: Option<String>,
}

/// An action in another wording: the old one is void, the new one is asked about.
#[derive(Debug, Clone)]
pub struct ActionEdit {
    pub item_id: ItemId,
    pub action: Box<NewAction>,
    pub item: Box<NewItem>,
    pub who: String,
    pub at: Instant,
}

/// An action that waits for a person, judged again under another policy.
#[derive(Debug, Clone)]
pub struct ReevaluatedAction {
    pub action: Box<Action>,
    pub class: RiskClass,
    /// Nothing any more that a person could allow.
    pub denied: Option<String>,
    pub reason: String,
    pub at: Instant,
}

/// A task with what stands beside it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskRow {
    #[serde(flatten)]
    pub task: Task,
    pub number: Option<i64>,
    pub account: AccountId,
    pub user: UserId,
    pub mail_id: Option<MailId>,
    #[serde(skip)]
    pub revision: i64,
    pub rule: String,
    pub hand_ranked: bool,
    pub snooze_until: Option<Instant>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HistoryRow {
    pub field: String,
    pub from: String,
    pub to: String,
    pub who: String,
    pub why: String,
    pub at: Instant,
}

/// A line of the ledger, with the mail's headline when it could be read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LedgerRow {
    pub mail_id: MailId,
    pub account: AccountId,
    pub source_key: String,
    pub folder: String,
    pub direction: Direction,
    pub arrived_at: Instant,
    pub size: u64,
    pub state: MailState,
    pub reason: String,
    pub task_id: Option<TaskId>,
    pub retries: u32,
    pub sender: String,
    pub subject: String,
    #[serde(skip)]
    pub stamp: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunRow {
    pub run_id: RunId,
    pub account: AccountId,
    pub user: UserId,
    pub kind: RunKind,
    pub mail_id: Option<MailId>,
    pub task_id: Option<TaskId>,
    pub parent_run: Option<RunId>,
    pub fork_of: Option<RunId>,
    pub fork_seq: Option<u32>,
    pub schema: u32,
    pub status: RunStatus,
    pub reason: String,
    pub node: NodeName,
    pub seq: u32,
    pub created_at: Instant,
    pub updated_at: Instant,
    /// Not before this, because of `waits_for`.
    pub wait_until: Option<Instant>,
    pub waits_for: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckpointRow {
    pub seq: u32,
    pub node: NodeName,
    #[serde(flatten)]
    pub next_move: Move,
    pub next: Option<NodeName>,
    pub changes: Vec<Change>,
    pub entered_at: Instant,
}

/// A run as far as it got: enough to go on, to replay or to fork.
#[derive(Debug, Clone)]
pub struct RunRecord {
    pub row: RunRow,
    pub initial_state: RunState,
    pub checkpoints: Vec<CheckpointRow>,
    pub replies: Vec<(u32, RecordedReply)>,
    /// The checkpoints for which a model was asked.
    pub model_checkpoints: BTreeSet<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReminderRow {
    pub action_id: ActionId,
    pub task_id: TaskId,
    pub due_at: Instant,
    pub text: String,
    /// It comes back; none: once.
    pub every: Option<Recurrence>,
    /// Where its series began.
    pub first_at: Instant,
}

/// A reminder that somebody has seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownReminder {
    pub action_id: ActionId,
    /// The time it was shown for; one that was moved meanwhile is still to come.
    pub due_at: Instant,
    /// When it comes back.
    pub next: Option<Instant>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InvoiceRow {
    pub task_id: TaskId,
    pub payee: String,
    pub amount: Option<f64>,
    pub currency: Option<String>,
    pub due: Option<String>,
    pub number: Option<String>,
    pub recorded_at: Instant,
}

/// A line of the audit chain, by its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditHead {
    pub seq: i64,
    pub hash: String,
}

/// What a walk along the audit chain found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditVerification {
    pub lines: i64,
    /// The first thing that does not fit.
    pub problem: Option<String>,
}

/// Rows that cannot be read as what they stand for. Lists leave them out, and what stands for work is parked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct UnreadableRows {
    pub count: u64,
    /// The first of them.
    pub rows: Vec<UnreadableRow>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadableRow {
    pub table: &'static str,
    /// By which a person finds it.
    pub key: String,
    pub column: &'static str,
    /// What is wrong with the column.
    pub problem: String,
}
