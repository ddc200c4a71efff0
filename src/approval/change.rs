//! Changes as values: what the store does because of a decision, in this order and in one transaction.

use serde_json::{Value, json};

use crate::model::{
    Action, ActionMove, DecisionChannel, Instant, ItemId, MailId, NodeName, OutboxState, Subtask, Task, TaskId,
    TaskRow, TaskStatus, nightly::CorrectionKind, task::INSTRUCTION,
};

/// A decision or an edit that does not count, with the reason in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecisionError {
    #[error("{0}")]
    Refused(String),
    #[error("{0}")]
    NotFound(String),
}

impl DecisionError {
    pub(super) fn refused(why: impl Into<String>) -> Self {
        Self::Refused(why.into())
    }
}

/// One change that follows from a decision on an item.
#[derive(Debug, Clone)]
pub enum DecisionChange<'a> {
    /// Closes the item as void.
    VoidItem {
        why: String,
    },
    /// Opens a decided item again.
    ReopenItem,
    /// Stores the approval and lets the effect go, unless the effect waits for nobody any more.
    Grant(ApprovalGrant<'a>),
    /// Takes the approval back and parks the effect again, unless its grace is over.
    Revoke {
        action: &'a Action,
        state: OutboxState,
    },
    /// Voids one effect.
    VoidAction {
        action: &'a Action,
        why: String,
    },
    /// Voids every effect of the task that has not left.
    VoidActionsOfTask {
        row: &'a TaskRow,
        why: String,
    },
    MoveAction(Box<ActionMove>),
    /// Records that a person wanted another effect.
    RecordCorrection {
        action: &'a Action,
        kind: CorrectionKind,
        from: &'static str,
        to: &'static str,
        why: String,
    },
    /// Moves a task that waits for a person to work in progress; any other stays as it is.
    ResumeTask {
        task_id: TaskId,
        why: String,
    },
    /// Lets a task in progress wait for a person again; any other stays as it is.
    SuspendTask {
        action: &'a Action,
        why: &'static str,
    },
    /// Changes what the task holds.
    ChangeTask {
        task_id: TaskId,
        changes: Vec<TaskChange>,
    },
    /// Moves the task to an end, and voids what is pending in its name.
    EndTask {
        row: &'a TaskRow,
        to: TaskStatus,
        why: String,
    },
    /// Opens a short run that takes the task up at this step.
    OpenRun {
        task_id: TaskId,
        step: String,
        node: NodeName,
        /// The approved action that the run waits for.
        approved: Option<&'a Action>,
    },
    /// Appends a line about the effect to the audit chain.
    AuditAction {
        action: &'a Action,
        detail: &'static str,
        act: &'static str,
    },
    /// Ends the decision runs of the task.
    EndDecisionRuns {
        task_id: TaskId,
        why: &'static str,
    },
    /// Turns a proposed edit of the rules down.
    RejectProposal {
        why: String,
    },
    /// Reads the mail again.
    RetryMail(MailId),
    /// Records that the mail opens no task.
    CloseMail {
        mail_id: MailId,
        why: String,
    },
}

/// An approval as it is stored, and the state in which its effect waits for its time.
#[derive(Debug, Clone)]
pub struct ApprovalGrant<'a> {
    pub action: &'a Action,
    pub item_id: ItemId,
    pub sha256: String,
    pub epoch: i64,
    pub channel: DecisionChannel,
    pub granted_at: Instant,
    pub expires_at: Instant,
    /// The end of the grace; none when there is no grace.
    pub release_at: Option<Instant>,
    /// The state in which the effect was read.
    pub state: OutboxState,
}

impl ApprovalGrant<'_> {
    /// Returns the state of the effect after the approval.
    pub const fn next_state(&self) -> OutboxState {
        if self.release_at.is_some() { OutboxState::Held } else { OutboxState::Ready }
    }

    /// Returns the refusal of an effect that does not wait for an approval.
    pub fn refusal(&self) -> DecisionError {
        not_approved(self.item_id, &format!("it is {} already", self.state))
    }
}

pub(super) fn not_approved(item_id: ItemId, why: &str) -> DecisionError {
    DecisionError::Refused(format!("item {item_id} was not approved: {why}"))
}

/// One change of what a task holds.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskChange {
    AddStep(String),
    FinishStep(String),
    RecordOutput {
        step: String,
        output: Value,
    },
    /// A step with an output is one that was dealt with; without it the agent does the step anew.
    DiscardOutput {
        step: String,
    },
    /// What a person told the agent to do instead.
    Instruct(String),
}

impl TaskChange {
    /// Applies the change. Returns whether the task is another one now.
    pub fn apply_to(&self, task: &mut Task) -> bool {
        match self {
            Self::AddStep(step) => {
                task.subtasks.push(Subtask { step: step.clone(), done: false });
                true
            }
            Self::FinishStep(step) => {
                let open = task.subtasks.iter_mut().find(|subtask| subtask.step == *step && !subtask.done);
                open.map(|subtask| subtask.done = true).is_some()
            }
            Self::RecordOutput { step, output } => {
                task.tool_output.get_or_insert_default().insert(step.clone(), output.clone());
                true
            }
            Self::DiscardOutput { step } => {
                task.tool_output.as_mut().and_then(|outputs| outputs.remove(step)).is_some()
            }
            Self::Instruct(words) => {
                task.context.more.insert(INSTRUCTION.to_owned(), json!(words));
                true
            }
        }
    }
}
