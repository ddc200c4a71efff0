//! What a person's decision on an item means, as changes that the store applies in their order.

use serde_json::{Value, json};

use super::{
    change::{ApprovalGrant, DecisionChange, DecisionError, TaskChange, not_approved},
    task_edit::changes_for_step,
};
use crate::model::{
    Action, ActionEdit, ActionMove, ApprovalUse, Decision, DecisionKind, ItemKind, ItemRow, MailId, NodeName,
    OutboxRow, OutboxState, StepInstruction, TaskId, TaskPlan, TaskRow, TaskStatus, action::ComposedMessage,
    nightly::CorrectionKind,
};

/// The changes that follow from a decision, in the order in which the store applies them.
type Changes<'a> = Vec<DecisionChange<'a>>;

/// What a decision is about. It says which rows the store must read, and which function then returns the changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionSubject<'a> {
    /// The effect behind the item is approved; see [`approve_action`].
    Approval,
    /// The effect behind the item is rejected; see [`reject_by_person`].
    Rejection,
    /// The agent is told what to do instead of the effect; see [`redo_step`].
    Instruction(TaskId, &'a StepInstruction),
    /// A person knows that an effect of unknown outcome did happen; see [`confirm_sent`].
    Confirmation(TaskId),
    /// A step of the task is retried or skipped, or the task is cancelled; see [`decide_step`].
    Step(TaskId),
    /// A proposed edit of the rules is allowed or turned down; see [`decide_proposal`].
    Proposal,
    /// A question of an agent is answered, or a team may start or not; see [`decide_question`].
    Question,
    /// A mail that could not be processed is retried or put aside; see [`decide_mail`].
    Mail(MailId),
}

impl<'a> DecisionSubject<'a> {
    /// Returns the subject of the decision. Refuses a decision that does not fit the kind of the item.
    pub fn new(decision: &'a Decision, item: &ItemRow) -> Result<Self, DecisionError> {
        use DecisionKind::{Approve, Cancel, Reject, Respond, Retry, Sent, Skip};
        match (item.kind, item.task_id, decision.kind) {
            (ItemKind::Action, Some(_), Approve) => Ok(Self::Approval),
            (ItemKind::Action, Some(_), Reject) => Ok(Self::Rejection),
            (ItemKind::Action, Some(task_id), Respond) => {
                let instruction =
                    decision.instruction.as_ref().map(|instruction| Self::Instruction(task_id, instruction));
                instruction.ok_or_else(|| DecisionError::refused("say what to do instead"))
            }
            (ItemKind::Action, Some(task_id), Skip | Cancel) => Ok(Self::Step(task_id)),
            (ItemKind::RuleProposal, _, Approve | Reject) => Ok(Self::Proposal),
            (ItemKind::Question, _, Approve | Reject) if item.asks_consent() => Ok(Self::Question),
            (ItemKind::Question, _, Respond | Reject) if !item.asks_consent() => Ok(Self::Question),
            (ItemKind::FailedStep, Some(task_id), Sent) => Ok(Self::Confirmation(task_id)),
            (ItemKind::FailedStep, Some(task_id), Retry | Skip | Cancel) => Ok(Self::Step(task_id)),
            (ItemKind::FailedStep, None, Retry | Skip | Cancel) => {
                let neither = "the item concerns neither a task nor a mail";
                item.mail_id.map(Self::Mail).ok_or_else(|| DecisionError::refused(neither))
            }
            (kind, _, decided) => {
                let kind = kind.as_str().replace('_', " ");
                Err(DecisionError::refused(format!("{kind} cannot be answered with {decided}")))
            }
        }
    }
}

/// Approves exactly the bytes that the person saw. Refuses when the channel may only show items, when the action is not
/// the one that was shown, when its terms have expired, or when its text has a gap that only a person can fill.
///
/// The task goes on in a short run that waits for exactly this effect.
pub fn approve_action<'a>(
    decision: &Decision,
    item: &ItemRow,
    row: &'a OutboxRow,
) -> Result<Changes<'a>, DecisionError> {
    let action = &row.action;
    let refused = |why: &str| Err(not_approved(item.item_id, why));
    let Some(terms) = action.terms.as_ref() else { return refused("it was never asked about") };
    if !decision.channel.may_approve() {
        return refused(&format!("{} can show it, not approve it", decision.channel));
    }
    if decision.sha256 != row.sha256 || !row.intact {
        return refused("it is not what you were shown; look at it again");
    }
    if terms.expires_at <= decision.at {
        return refused("it has expired");
    }
    if action.effect.message().is_some_and(ComposedMessage::has_gap) {
        return refused("its text has a gap (…) that only you can fill; edit it first");
    }
    let grant = ApprovalGrant {
        action,
        item_id: item.item_id,
        sha256: row.sha256.clone(),
        epoch: decision.epoch,
        channel: decision.channel,
        granted_at: decision.at,
        expires_at: terms.expires_at,
        release_at: decision.release_at,
        state: row.state,
    };
    let Some(task_id) = action.task_id else { return refused("it is for no task") };
    Ok(vec![
        DecisionChange::Grant(grant),
        DecisionChange::ResumeTask { task_id, why: "approved".into() },
        open_run(task_id, &action.step, NodeName::ExecuteTool, Some(action)),
    ])
}

/// Rejects an effect and records a correction, from which the nightly job learns.
pub fn reject_by_person<'a>(decision: &Decision, action: &'a Action) -> Changes<'a> {
    let why = format!("rejected: {}", reason_or(decision, "no reason given"));
    let mut changes = vec![correction(action, CorrectionKind::Reject, &decision.reason)];
    changes.extend(reject_action(action, &why));
    changes
}

/// Rejects an effect without recording a correction, for example when nobody answered in time. The effect is void, and
/// its step is added to the task as a step for the person. The other steps of the agent go on.
pub fn reject_action<'a>(action: &'a Action, why: &str) -> Changes<'a> {
    let Some(task_id) = action.task_id else {
        return vec![
            DecisionChange::VoidItem { why: why.to_owned() },
            DecisionChange::VoidAction { action, why: why.to_owned() },
        ];
    };
    let changes = vec![
        TaskChange::RecordOutput { step: action.step.clone(), output: json!({ "void": why }) },
        TaskChange::AddStep(manual_step_name(&action.step)),
    ];
    vec![
        DecisionChange::VoidItem { why: why.to_owned() },
        DecisionChange::VoidAction { action, why: why.to_owned() },
        DecisionChange::ResumeTask { task_id, why: why.to_owned() },
        DecisionChange::ChangeTask { task_id, changes },
        open_run(task_id, &action.step, NodeName::ExecuteTool, None),
    ]
}

/// Returns the name of the step that a person does by hand in place of a rejected step of the agent.
pub fn manual_step_name(step: &str) -> String {
    // The steps of a plan are named by a sentence.
    if step.contains(' ') { format!("{step} (by hand)") } else { format!("{step}_by_hand") }
}

/// Voids an effect and does its step again, or a reply in its place, as the person instructed. The new effect needs an
/// approval of its own.
pub fn redo_step<'a>(
    decision: &Decision,
    instruction: &StepInstruction,
    row: &TaskRow,
    action: &'a Action,
) -> Result<Changes<'a>, DecisionError> {
    let why = "another answer was asked for";
    let task_id = row.task.task_id;
    let mut changes = if instruction.step == action.step {
        vec![TaskChange::Instruct(instruction.words.clone()), TaskChange::DiscardOutput { step: action.step.clone() }]
    } else {
        changes_for_step(row, &instruction.step, &instruction.words)?
    };
    changes.extend(instruction.answer.map(TaskChange::ChooseAnswer));
    Ok(vec![
        correction(action, CorrectionKind::Respond, &decision.reason),
        DecisionChange::VoidAction { action, why: why.into() },
        DecisionChange::ResumeTask { task_id, why: why.into() },
        DecisionChange::ChangeTask { task_id, changes },
        open_run(task_id, &instruction.step, NodeName::ExecuteTool, None),
    ])
}

/// Ends an effect of unknown outcome as sent, on the word of a person, and finishes its step.
pub fn confirm_sent<'a>(decision: &Decision, task_id: TaskId, action: &'a Action) -> Changes<'a> {
    let sent = ActionMove {
        action_id: action.action_id,
        from: OutboxState::NeedsHuman,
        to: OutboxState::Sent,
        result: "sent, says a person".into(),
        handle: String::new(),
        who: decision.who,
        at: decision.at,
        is_database_row: false,
        approval: ApprovalUse::None,
        undoable: false,
        untried: false,
    };
    let changes = vec![
        TaskChange::FinishStep(action.step.clone()),
        TaskChange::RecordOutput { step: action.step.clone(), output: json!({ "sent": "says a person" }) },
    ];
    vec![
        DecisionChange::MoveAction(Box::new(sent)),
        DecisionChange::ResumeTask { task_id, why: "a person knows that it was sent".into() },
        DecisionChange::ChangeTask { task_id, changes },
        open_run(task_id, &action.step, NodeName::ExecuteTool, None),
    ]
}

/// Retries or skips a step that waits for a person, or cancels its task. Retrying and skipping void the pending effects
/// of the task, so that none of them is carried out beside the new attempt.
pub fn decide_step<'a>(decision: &Decision, item: &ItemRow, row: &'a TaskRow) -> Changes<'a> {
    let task_id = row.task.task_id;
    if decision.kind == DecisionKind::Cancel {
        return vec![DecisionChange::EndTask { row, to: TaskStatus::Cancelled, why: reason_or(decision, "cancelled") }];
    }
    let step = body_text(item, "step");
    let is_planned = row.task.context.more.contains_key(TaskPlan::KEY) && !step.is_empty();
    // A decision on another step of the plan may have resumed the task already.
    if row.task.status != TaskStatus::WaitingHitl && !is_planned {
        return resume_parked_node(decision, item, task_id);
    }
    let why = reason_or(decision, "a person decided");
    let changes = if decision.kind == DecisionKind::Skip {
        let output = json!({ "skipped": true, "by": decision.who, "reason": decision.reason });
        vec![TaskChange::FinishStep(step.to_owned()), TaskChange::RecordOutput { step: step.to_owned(), output }]
    } else {
        vec![TaskChange::DiscardOutput { step: step.to_owned() }]
    };
    let void = if is_planned {
        DecisionChange::VoidActionsOfStep { row, step: step.to_owned(), why: why.clone() }
    } else {
        DecisionChange::VoidActionsOfTask { row, why: why.clone() }
    };
    vec![
        void,
        DecisionChange::ResumeTask { task_id, why },
        DecisionChange::ChangeTask { task_id, changes },
        open_run(task_id, step, NodeName::ExecuteTool, None),
    ]
}

/// Resumes a task whose run was parked before any tool ran: the task kept its status, so the run starts again at the
/// node that failed. A skip leaves the task as it is.
fn resume_parked_node<'a>(decision: &Decision, item: &ItemRow, task_id: TaskId) -> Changes<'a> {
    if decision.kind == DecisionKind::Skip {
        return Vec::new();
    }
    let node = body_text(item, "node").parse().unwrap_or(NodeName::ExecuteTool);
    vec![open_run(task_id, "", node, None)]
}

/// Returns a text field of the item body; empty when it is missing.
fn body_text<'a>(item: &'a ItemRow, key: &str) -> &'a str {
    item.body.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Allows a proposed edit of the rules or turns it down. Allowing changes no row beyond the decision itself: whoever
/// adopts proposals reads it and writes the rules. Refuses like [`approve_action`] when the channel or the digest is
/// not right.
pub fn decide_proposal(decision: &Decision, item: &ItemRow) -> Result<Changes<'static>, DecisionError> {
    if decision.kind == DecisionKind::Reject {
        return Ok(vec![DecisionChange::RejectProposal { why: decision.reason.clone() }]);
    }
    if !decision.channel.may_approve() {
        return Err(not_approved(item.item_id, &format!("{} can show it, not approve it", decision.channel)));
    }
    if item.action_sha256.as_deref() != Some(decision.sha256.as_str()) {
        return Err(not_approved(item.item_id, "it is not what you were shown; look at it again"));
    }
    Ok(Vec::new())
}

/// Answers a question of an agent, or allows a team to start or not. Changes no row beyond the decision itself: whoever
/// asked reads it. Consent is refused like an approval when the channel or the digest is not right.
pub fn decide_question(decision: &Decision, item: &ItemRow) -> Result<Changes<'static>, DecisionError> {
    match decision.kind {
        DecisionKind::Respond if decision.reason.trim().is_empty() => Err(DecisionError::refused("type an answer")),
        DecisionKind::Approve => decide_proposal(decision, item),
        _ => Ok(Vec::new()),
    }
}

/// Processes a mail again that could not be processed, or records that it opens no task.
pub fn decide_mail(decision: &Decision, mail_id: MailId) -> Changes<'static> {
    if decision.kind == DecisionKind::Retry {
        return vec![DecisionChange::RetryMail(mail_id)];
    }
    vec![DecisionChange::CloseMail { mail_id, why: reason_or(decision, "skipped by a person") }]
}

/// Revokes an approval within its grace: the effect is parked, the item is open again, and the run that waited for the
/// effect ends.
pub fn revoke_approval(row: &OutboxRow) -> Changes<'_> {
    let action = &row.action;
    let why = "the approval was taken back";
    let ended = action.task_id.map(|task_id| DecisionChange::EndDecisionRuns { task_id, why });
    let mut changes = vec![DecisionChange::Revoke { action, state: row.state }, DecisionChange::ReopenItem];
    changes.extend(ended);
    changes.extend([
        DecisionChange::SuspendTask { action, why },
        DecisionChange::RecordCorrection {
            action,
            kind: CorrectionKind::Undo,
            from: "approved",
            to: "parked",
            why: String::new(),
        },
        DecisionChange::AuditAction { action, detail: "held → parked: taken back", act: "taken_back" },
    ]);
    changes
}

/// Returns the refusal to revoke an approval when the effect is in this state.
pub fn refuse_revocation(state: OutboxState) -> DecisionError {
    match state {
        OutboxState::Parked => DecisionError::refused("it was not approved"),
        state => DecisionError::refused(format!("it is too late: the effect is {state}")),
    }
}

/// Voids an effect that a person replaces by another one, and records the correction. The output of another step may
/// change with it.
pub fn replace_action<'a>(action: &'a Action, edit: &ActionEdit) -> Changes<'a> {
    let why = if edit.kind == CorrectionKind::Respond { "another answer was asked for" } else { "edited" };
    let mut changes =
        vec![DecisionChange::VoidAction { action, why: why.into() }, correction(action, edit.kind, &edit.words)];
    changes.extend(edit.step_output.as_ref().zip(action.task_id).map(|((step, output), task_id)| {
        let changes = vec![TaskChange::RecordOutput { step: step.clone(), output: output.clone() }];
        DecisionChange::ChangeTask { task_id, changes }
    }));
    changes
}

fn correction<'a>(action: &'a Action, kind: CorrectionKind, why: &str) -> DecisionChange<'a> {
    DecisionChange::RecordCorrection { action, kind, from: "", to: "", why: why.to_owned() }
}

fn open_run<'a>(task_id: TaskId, step: &str, node: NodeName, approved: Option<&'a Action>) -> DecisionChange<'a> {
    DecisionChange::OpenRun { task_id, step: step.to_owned(), node, approved }
}

/// Returns the reason of the person, or the default when they gave none.
fn reason_or(decision: &Decision, otherwise: &str) -> String {
    if decision.reason.is_empty() { otherwise.to_owned() } else { decision.reason.clone() }
}
