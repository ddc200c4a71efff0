//! A run: one pass through the graph, as values. Its state on arrival is stored once, then only what each node changed.
//!
//! Every change is a [`Change`], so that a state can be rebuilt from its checkpoints and a node can be held to its
//! contract.

mod checkpoint;
mod task_update;

pub use checkpoint::{Checkpoint, CheckpointRow, NewRun, RecordedReply, RunRecord, RunRow};
pub use task_update::{ConversationEnd, MovedDeadline, TaskNote, TaskUpdate};

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ActionId, Appointment, Facts, Fingerprint, MailId, MailState, PlannedRuleEffect, Priority, Subtask, Task, TaskId,
    TaskStatus, ToolCall, UrgencyOrigin, plan, reading::MailWarning, text_enum::text_enum,
};

/// The version of every stored state and change. A run of another version is parked, its state is never guessed at.
pub const STATE_SCHEMA: u32 = 1;

text_enum! {
    /// The five nodes of the graph.
    NodeName {
        PlanStep = "plan_step",
        Prioritise = "prioritise",
        RetrieveContext = "retrieve_context",
        ExecuteTool = "execute_tool",
        GenerateResponse = "generate_response",
    }
}

text_enum! {
    /// What a run is for.
    RunKind {
        /// Reads a mail; ends after plan_step.
        Mail = "mail",
        /// Works one task, from prioritise on.
        Task = "task",
        /// Ranks a task again after a follow-up, a new version of the rules or a new day.
        Rank = "rank",
        /// Continues a task after a person decided.
        Decision = "decision",
        /// Works one step of a plan.
        Step = "step",
        /// Does to a mail what a person's rules say.
        Effect = "effect",
    }
}

text_enum! {
    /// The life cycle of a run. Every status but `running` is final; the allowed transitions stand in `migrations/`.
    RunStatus {
        Running = "running",
        /// A person must look at the run; the reason says why.
        Parked = "parked",
        /// There was no task in the mail.
        Skipped = "skipped",
        Done = "done",
        /// The task changed under the run, so that there was nothing left to do.
        Overtaken = "overtaken",
    }
}

/// What kind of move comes next. The node chooses the kind, the topology of the graph says where it leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "move", rename_all = "snake_case")]
pub enum Move {
    /// The next node.
    Next,
    /// The same node again, for the next step.
    Again,
    /// Wait for the effect that was just planned, then enter the same node again.
    Wait {
        action_id: ActionId,
    },
    /// A person must decide; ends the run.
    Park {
        reason: String,
    },
    /// There is nothing to do; ends the run.
    Skip {
        reason: String,
    },
    Done,
}

impl Move {
    /// Returns the kind of the move, as the topology of the graph names it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Move::Next => "next",
            Move::Again => "again",
            Move::Wait { .. } => "wait",
            Move::Park { .. } => "park",
            Move::Skip { .. } => "skip",
            Move::Done => "done",
        }
    }
}

/// A document of the memory that may help with the task. Its text was written by strangers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextDoc {
    /// `task:<ulid>` or `mail:<n>`.
    pub doc: String,
    pub title: String,
    /// What counted most: `meaning`, `words`, `thread`, `person`, `invoice` or `recent`.
    pub found_by: String,
    pub score: f64,
    /// Everything that counted, for a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

/// The typed state of a run. The mail it is about is kept once, in the store, and is given to nodes beside the state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mail_id: Option<MailId>,
    /// The id of that mail at its source, for effects on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mail_key: Option<String>,
    /// The task, shared with the checkpoint that stores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Arc<Task>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Facts>,
    /// The rule that decided the priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Whether a person set the priority, which then stays.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hand_ranked: bool,
    /// Whether a person said that this mail is a task, whatever the reading says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
    /// Whether a person said that this mail is genuine, whatever it was warned of.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub genuine: bool,
    /// Whether a person asked to archive this mail: its task is that and nothing else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archive: bool,
    /// Counts the attempts at an effect that a person asked for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub generation: u32,
    /// The effect that a person approved, which the run is to wait for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<ActionId>,
    /// The number of the step of the plan that the run was opened for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_step: Option<u32>,
    /// The documents found for the task. Shared, because a state is copied at every node.
    #[serde(default, skip_serializing_if = "no_documents")]
    pub context_docs: Arc<Vec<ContextDoc>>,
    /// What a person's rules do to the mail, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rule_effects: Vec<PlannedRuleEffect>,
    /// The tasks that the run of a mail opened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<TaskId>,
}

impl RunState {
    /// Returns whether a person has overruled the reading of the mail.
    pub const fn is_overruled(&self) -> bool {
        self.forced || self.genuine || self.archive
    }
}

/// One change that a node makes. [`RunState::apply`] applies it to the state, the store writes it to the tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// Opens a task.
    OpenTask {
        task: Box<Task>,
        facts: Box<Facts>,
        /// The fingerprints by which a later mail about the same is recognised.
        #[serde(default, rename = "marks", skip_serializing_if = "Vec::is_empty")]
        fingerprints: Vec<Fingerprint>,
        /// Open tasks that share a fingerprint and were found to be about something else. When there is another one by
        /// the time of the commit, the store refuses the change and the run looks again.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        seen: Vec<TaskId>,
    },
    /// Links the mail to an open task as a follow-up.
    LinkMail {
        task_id: TaskId,
        facts: Box<Facts>,
        /// Why the mail is about the task, for a person.
        #[serde(default)]
        evidence: String,
        /// What the mail changes about the event that the task is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        event: Option<Box<EventChange>>,
        /// What the mail changes about the task itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        update: Option<Box<TaskUpdate>>,
    },
    /// Writes the outcome of the mail into the ledger, with the facts that were read.
    Settle {
        state: MailState,
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        facts: Option<Box<Facts>>,
        /// What the mail is warned of from now on; none leaves the warnings as they are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        warnings: Option<Vec<MailWarning>>,
    },
    /// Records when the person is taken because of the mail, in place of what was recorded before.
    HoldTimes { appointments: Vec<Appointment> },
    /// Sets the priority, with the rule that decided.
    Priority {
        priority: Priority,
        rule: String,
        /// The urgency that a model estimated, if one was asked: the priority was decided by it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        urgency: Option<f64>,
    },
    /// Moves the task to another status.
    Status { to: TaskStatus, why: String },
    /// Keeps the documents that were found for the task.
    Documents { documents: Arc<Vec<ContextDoc>> },
    /// Marks a step of the plan as done.
    StepDone { index: usize },
    /// Records that the call of a step of the plan begins.
    StepStarted { number: u32 },
    /// Records the calls that a model named for a step of the plan. The first one does the step; each further one is a
    /// step of its own behind it.
    StepCalls { number: u32, calls: Vec<ToolCall> },
    /// Adds a step that the person must do, because the agent could not do its own.
    AddStep { subtask: Subtask },
    /// Replaces the open steps of these names by one that the person must do, in the place of the first of them.
    ReplaceSteps { steps: Vec<String>, by: String },
    /// Stores the output of a step.
    Output { step: String, value: Value },
    /// Stores the summary of the result.
    Summary { text: String },
}

/// What an organizer says about an event they invited to. An answer that waited for approval becomes void.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventChange {
    /// The event was changed and needs a new answer.
    Updated {
        objective: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due_at: Option<super::Instant>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration: Option<String>,
    },
    /// The event does not take place.
    Cancelled,
}

/// Why a change cannot be applied to a state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadChange {
    #[error("the run has no task to change")]
    NoTask,
    #[error("the task has no step {0}")]
    NoStep(usize),
    #[error(transparent)]
    Transition(#[from] crate::model::task::IllegalTransition),
}

text_enum! {
    /// What a node writes, in the words of the node contracts.
    WrittenField {
        Ledger = "ledger",
        Tasks = "state.tasks",
        ContextDocs = "state.context_docs",
        Priority = "task.priority",
        Status = "task.status",
        Subtasks = "task.subtasks",
        ToolOutput = "task.tool_output",
        ResultSummary = "task.result_summary",
    }
}
impl WrittenField {
    /// Whether it is a column of the task that the run is about.
    pub const fn is_of_task(self) -> bool {
        use WrittenField::{ContextDocs, Ledger, Priority, ResultSummary, Status, Subtasks, Tasks, ToolOutput};
        match self {
            Priority | Status | Subtasks | ToolOutput | ResultSummary => true,
            Ledger | Tasks | ContextDocs => false,
        }
    }
}

impl Change {
    /// Returns the field that the change writes.
    pub const fn written_field(&self) -> WrittenField {
        match self {
            Change::OpenTask { .. } | Change::LinkMail { .. } => WrittenField::Tasks,
            Change::Settle { .. } | Change::HoldTimes { .. } => WrittenField::Ledger,
            Change::Priority { .. } => WrittenField::Priority,
            Change::Status { .. } => WrittenField::Status,
            Change::Documents { .. } => WrittenField::ContextDocs,
            Change::StepDone { .. }
            | Change::StepStarted { .. }
            | Change::StepCalls { .. }
            | Change::AddStep { .. }
            | Change::ReplaceSteps { .. } => WrittenField::Subtasks,
            Change::Output { .. } => WrittenField::ToolOutput,
            Change::Summary { .. } => WrittenField::ResultSummary,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn no_documents(documents: &Arc<Vec<ContextDoc>>) -> bool {
    documents.is_empty()
}

/// Puts one step in the place of the first open step of these names, and drops the others.
fn replace_steps(subtasks: &mut Vec<Subtask>, steps: &[String], by: &str) {
    let is_replaced = |subtask: &Subtask| !subtask.done && steps.contains(&subtask.step);
    let Some(first) = subtasks.iter().position(is_replaced) else { return };
    subtasks.retain(|subtask| !is_replaced(subtask));
    subtasks.insert(first, Subtask { step: by.to_owned(), done: false });
}

impl RunState {
    /// Applies one change to the state. The store writes the same change to the tables when the checkpoint commits.
    pub fn apply(&mut self, change: &Change, at: super::Instant) -> Result<(), BadChange> {
        match change {
            Change::OpenTask { task, .. } => self.opened.push(task.task_id),
            Change::LinkMail { .. } | Change::Settle { .. } | Change::HoldTimes { .. } => {}
            Change::Documents { documents } => self.context_docs = Arc::clone(documents),
            Change::Priority { priority, rule, urgency } => {
                if let (Some(facts), Some(urgency)) = (&mut self.facts, urgency) {
                    (facts.urgency, facts.urgency_origin) = (*urgency, UrgencyOrigin::Model);
                }
                self.rule = Some(rule.clone());
                self.touch_task(at)?.priority = *priority;
            }
            Change::Status { to, .. } => self.touch_task(at)?.transition(*to, at)?,
            Change::StepDone { index } => {
                self.touch_task(at)?.subtasks.get_mut(*index).ok_or(BadChange::NoStep(*index))?.done = true;
            }
            Change::StepStarted { number } => {
                plan::change_plan(self.touch_task(at)?, |plan| plan.start_step(*number, at));
            }
            Change::StepCalls { number, calls } => {
                plan::change_plan(self.touch_task(at)?, |plan| plan.set_calls(*number, calls));
            }
            Change::ReplaceSteps { steps, by } => replace_steps(&mut self.touch_task(at)?.subtasks, steps, by),
            Change::AddStep { subtask } => self.touch_task(at)?.subtasks.push(subtask.clone()),
            Change::Output { step, value } => {
                self.touch_task(at)?.tool_output.get_or_insert_default().insert(step.clone(), value.clone());
            }
            Change::Summary { text } => self.touch_task(at)?.result_summary = Some(text.clone()),
        }
        Ok(())
    }

    /// Returns the task for writing, and notes the time of the change.
    fn touch_task(&mut self, at: super::Instant) -> Result<&mut Task, BadChange> {
        let task = Arc::make_mut(self.task.as_mut().ok_or(BadChange::NoTask)?);
        task.last_updated = at;
        Ok(task)
    }
}
