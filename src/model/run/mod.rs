//! A run: one journey through the graph, as values. Its state on arrival is stored once, then only what each node changed.

mod checkpoint;

pub use checkpoint::{Checkpoint, CheckpointRow, NewRun, RecordedReply, RunRecord, RunRow};

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ActionId, Facts, Fingerprint, MailId, MailState, Priority, Subtask, Task, TaskId, TaskStatus, UrgencyOrigin,
    text_enum::text_enum,
};

/// The version of every stored state and change. An older one is read or parked, never guessed at.
pub const STATE_SCHEMA: u32 = 1;

text_enum! {
    NodeName {
        PlanStep = "plan_step",
        Prioritise = "prioritise",
        RetrieveContext = "retrieve_context",
        ExecuteTool = "execute_tool",
        GenerateResponse = "generate_response",
    }
}

text_enum! {
    RunKind {
        /// Reads a mail; ends after plan_step.
        Mail = "mail",
        /// Works one task from prioritise on.
        Task = "task",
        /// Ranks a task again after a follow-up, a new version of the rules or a new day.
        Rank = "rank",
        /// Goes on with a task after a person decided.
        Decision = "decision",
    }
}

text_enum! {
    RunStatus {
        Running = "running",
        /// A person must look: the reason says at what.
        Parked = "parked",
        Skipped = "skipped",
        Done = "done",
        /// The task changed under the run so that there was nothing left to do.
        Overtaken = "overtaken",
    }
}

/// What kind of move comes next. The node says the kind, the graph says where to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "move", rename_all = "snake_case")]
pub enum Move {
    Next,
    /// The same node again, for the next subtask.
    Again,
    /// For the effect just wished for.
    Wait {
        action_id: ActionId,
    },
    /// A person must decide; ends the run.
    Park {
        reason: String,
    },
    /// Nothing to do here; ends the run.
    Skip {
        reason: String,
    },
    Done,
}

impl Move {
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

/// Something found that may help with the task. Its text is untrusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContextDoc {
    /// `task:<ulid>` or `mail:<n>`.
    pub doc: String,
    pub title: String,
    /// What weighed most: `meaning`, `words`, `thread`, `person`, `invoice` or `recent`.
    pub found_by: String,
    pub score: f64,
    /// Everything that weighed, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

/// The typed state of a run. The mail it is about is kept once, in the store, and handed to nodes beside this.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunState {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mail_id: Option<MailId>,
    /// The source's own id of that mail, for effects on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mail_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// Shared with the checkpoint that stores it.
    pub task: Option<Arc<Task>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Facts>,
    /// The rule that decided the priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// A person set the priority: it stands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hand_ranked: bool,
    /// A person said that this mail is a task, whatever reading it says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
    /// Counts the attempts at an effect that a person asked for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub generation: u32,
    /// The effect a person allowed, to be waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<ActionId>,
    /// Shared: a state is copied at every node, its documents are not.
    #[serde(default, skip_serializing_if = "no_documents")]
    pub context_docs: Arc<Vec<ContextDoc>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opened: Vec<TaskId>,
}

/// One change a node makes. Applied to the state by [`RunState::apply`], projected to tables by the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    OpenTask {
        task: Box<Task>,
        facts: Box<Facts>,
        /// What it is recognised by.
        #[serde(default, rename = "marks", skip_serializing_if = "Vec::is_empty")]
        fingerprints: Vec<Fingerprint>,
        /// Open tasks with one of its fingerprints that were seen, and found to be something else. Any other is a reason to
        /// look again.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        seen: Vec<TaskId>,
    },
    /// The mail is a follow-up to a task.
    LinkMail {
        task_id: TaskId,
        facts: Box<Facts>,
        /// What says so, for a person.
        #[serde(default)]
        evidence: String,
        /// What it changes about the event that the task is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        event: Option<Box<EventChange>>,
    },
    /// What the ledger says about the mail, and what was read in it.
    Settle {
        state: MailState,
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        facts: Option<Box<Facts>>,
    },
    Priority {
        priority: Priority,
        rule: String,
        /// What a model scored, if one was asked: the level was judged by it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        urgency: Option<f64>,
    },
    Status {
        to: TaskStatus,
        why: String,
    },
    Documents {
        documents: Arc<Vec<ContextDoc>>,
    },
    StepDone {
        index: usize,
    },
    /// A step the person must do, because the agent's could not be.
    AddStep {
        subtask: Subtask,
    },
    Output {
        step: String,
        value: Value,
    },
    Summary {
        text: String,
    },
}

/// What an organizer says about an event they have invited to. Whatever waited to be answered is void.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventChange {
    /// It is another one now, and is answered anew.
    Updated {
        objective: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        due_at: Option<super::Instant>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration: Option<String>,
    },
    /// It does not take place.
    Cancelled,
}

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
    pub const fn written_field(&self) -> WrittenField {
        match self {
            Change::OpenTask { .. } | Change::LinkMail { .. } => WrittenField::Tasks,
            Change::Settle { .. } => WrittenField::Ledger,
            Change::Priority { .. } => WrittenField::Priority,
            Change::Status { .. } => WrittenField::Status,
            Change::Documents { .. } => WrittenField::ContextDocs,
            Change::StepDone { .. } | Change::AddStep { .. } => WrittenField::Subtasks,
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

impl RunState {
    pub fn apply(&mut self, change: &Change, at: super::Instant) -> Result<(), BadChange> {
        match change {
            Change::OpenTask { task, .. } => self.opened.push(task.task_id),
            Change::LinkMail { .. } | Change::Settle { .. } => {}
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
            Change::AddStep { subtask } => self.touch_task(at)?.subtasks.push(subtask.clone()),
            Change::Output { step, value } => {
                self.touch_task(at)?.tool_output.get_or_insert_default().insert(step.clone(), value.clone());
            }
            Change::Summary { text } => self.touch_task(at)?.result_summary = Some(text.clone()),
        }
        Ok(())
    }

    fn touch_task(&mut self, at: super::Instant) -> Result<&mut Task, BadChange> {
        let task = Arc::make_mut(self.task.as_mut().ok_or(BadChange::NoTask)?);
        task.last_updated = at;
        Ok(task)
    }
}
