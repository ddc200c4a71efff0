//! The changes that follow from a decision, as values. The store applies them in their order, in the transaction that
//! records the decision.

use serde_json::{Value, json};

use crate::model::{
    Action, ActionMove, DecisionChannel, Instant, InvitationAnswer, ItemId, MailId, NamedMessage, NodeName,
    OutboxState, Subtask, Task, TaskId, TaskRow, TaskStatus,
    nightly::CorrectionKind,
    task::{ANSWER, INSTRUCTION, MESSAGE},
};

/// Why a decision or an edit is refused, in words for a person. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecisionError {
    /// It is not allowed, or it came too late.
    #[error("{0}")]
    Refused(String),
    /// What it refers to does not exist.
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
    VoidItem { why: String },
    /// Opens a decided item again.
    ReopenItem,
    /// Stores the approval and releases the effect. Refused when the effect no longer waits for an approval.
    Grant(ApprovalGrant<'a>),
    /// Deletes the approval and parks the effect again. Refused when its grace is over.
    Revoke { action: &'a Action, state: OutboxState },
    /// Voids one effect.
    VoidAction { action: &'a Action, why: String },
    /// Voids the pending effects of the task. One that may be leaving already is marked, so that it is not begun again.
    VoidActionsOfTask { row: &'a TaskRow, why: String },
    /// Voids the pending effects of one step of a plan, in the same way. Those of its other steps go on.
    VoidActionsOfStep { row: &'a TaskRow, step: String, why: String },
    /// Moves an effect to another state.
    MoveAction(Box<ActionMove>),
    /// Records that a person wanted another effect, for the nightly job.
    RecordCorrection { action: &'a Action, kind: CorrectionKind, from: &'static str, to: &'static str, why: String },
    /// Moves a task that waits for a person to `IN_PROGRESS`. Any other task stays as it is.
    ResumeTask { task_id: TaskId, why: String },
    /// Moves the task of the action from `IN_PROGRESS` back to `WAITING_HITL`. Any other task stays as it is.
    SuspendTask { action: &'a Action, why: &'static str },
    /// Changes fields of the task, as one new revision.
    ChangeTask { task_id: TaskId, changes: Vec<TaskChange> },
    /// Moves the task to a final status, and voids its pending effects and items.
    EndTask { row: &'a TaskRow, to: TaskStatus, why: String },
    /// Opens a short run that resumes the task at this step.
    OpenRun {
        task_id: TaskId,
        step: String,
        node: NodeName,
        /// The approved action that the run waits for.
        approved: Option<&'a Action>,
    },
    /// Appends a line about the effect to the audit chain.
    AuditAction { action: &'a Action, detail: &'static str, act: &'static str },
    /// Ends the decision runs of the task that are still running.
    EndDecisionRuns { task_id: TaskId, why: &'static str },
    /// Turns a proposed edit of the rules down. The same edit is proposed again only after newer corrections.
    RejectProposal { why: String },
    /// Processes the mail again in a new run.
    RetryMail(MailId),
    /// Records that the mail opens no task.
    CloseMail { mail_id: MailId, why: String },
}

/// An approval as it is stored, with what decides when its effect is released.
#[derive(Debug, Clone)]
pub struct ApprovalGrant<'a> {
    pub action: &'a Action,
    pub item_id: ItemId,
    /// The digest of exactly what the person saw.
    pub sha256: String,
    /// The epoch of the data folder. In a later epoch the approval is void.
    pub epoch: i64,
    /// The channel through which the person answered.
    pub channel: DecisionChannel,
    pub granted_at: Instant,
    /// The time after which the approval cannot be used any more.
    pub expires_at: Instant,
    /// The end of the grace, in which the approval can be revoked; none when there is no grace.
    pub release_at: Option<Instant>,
    /// The state in which the effect was read, for the text of a refusal.
    pub state: OutboxState,
}

impl ApprovalGrant<'_> {
    /// Returns the state of the effect after the approval: `held` while a grace runs, else `ready`.
    pub const fn next_state(&self) -> OutboxState {
        if self.release_at.is_some() { OutboxState::Held } else { OutboxState::Ready }
    }

    /// Returns the refusal for an effect that no longer waits for an approval.
    pub fn refusal(&self) -> DecisionError {
        not_approved(self.item_id, &format!("it is {} already", self.state))
    }
}

/// Returns the refusal of an approval, which names the item.
pub(super) fn not_approved(item_id: ItemId, why: &str) -> DecisionError {
    DecisionError::Refused(format!("item {item_id} was not approved: {why}"))
}

/// One change to the steps, outputs or context of a task.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskChange {
    AddStep(String),
    FinishStep(String),
    /// Gives an open step another name, so that somebody else does it.
    RenameStep {
        from: String,
        to: String,
    },
    RecordOutput {
        step: String,
        output: Value,
    },
    /// Removes the output of a step. A step with an output counts as dealt with; without one the agent does it again.
    DiscardOutput {
        step: String,
    },
    /// Stores the instruction of the person in the context of the task, where the tools read it.
    Instruct(String),
    /// Stores what an invitation is answered with.
    ChooseAnswer(InvitationAnswer),
    /// Stores whom a message goes to, as the person named them.
    NameRecipients(NamedMessage),
}

impl TaskChange {
    /// Applies the change. Returns whether the task differs afterwards.
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
            Self::RenameStep { from, to } => {
                let open = task.subtasks.iter_mut().find(|subtask| subtask.step == *from && !subtask.done);
                open.map(|subtask| subtask.step.clone_from(to)).is_some()
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
            Self::ChooseAnswer(answer) => {
                task.context.more.insert(ANSWER.to_owned(), json!(answer));
                true
            }
            Self::NameRecipients(message) => {
                task.context.more.insert(MESSAGE.to_owned(), json!(message));
                true
            }
        }
    }
}
