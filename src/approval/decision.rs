//! What a decision on an item means.

use serde_json::{Value, json};

use super::change::{ApprovalGrant, DecisionChange, DecisionError, TaskChange, not_approved};
use crate::model::{
    Action, ActionMove, ApprovalUse, Decision, DecisionKind, ItemKind, ItemRow, MailId, NodeName, OutboxRow,
    OutboxState, TaskId, TaskRow, TaskStatus, action::ComposedMessage, nightly::CorrectionKind,
};

type Changes<'a> = Vec<DecisionChange<'a>>;

/// What a decision is about. It tells which rows are to be read to know what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionSubject {
    /// The effect behind the item is approved, for [`approve_action`].
    Approval,
    /// The effect behind the item is rejected, for [`reject_by_person`].
    Rejection,
    /// Something else is to be done instead of the effect, for [`redo_step`].
    Instruction(TaskId),
    /// An effect of unknown outcome did happen, for [`confirm_sent`].
    Confirmation(TaskId),
    /// A step of the task is retried, skipped, or cancelled with its task, for [`decide_step`].
    Step(TaskId),
    /// A proposed edit of the rules, for [`decide_proposal`].
    Proposal,
    /// A mail that could not be worked, for [`decide_mail`].
    Mail(MailId),
}

impl DecisionSubject {
    /// Returns what the decision is about, or the refusal of one that does not fit the item.
    pub fn new(decision: &Decision, item: &ItemRow) -> Result<Self, DecisionError> {
        use DecisionKind::{Approve, Cancel, Reject, Respond, Retry, Sent, Skip};
        match (item.kind, item.task_id, decision.kind) {
            (ItemKind::Action, Some(_), Approve) => Ok(Self::Approval),
            (ItemKind::Action, Some(_), Reject) => Ok(Self::Rejection),
            (ItemKind::Action, Some(_), Respond) if decision.reason.trim().is_empty() => {
                Err(DecisionError::refused("say what to do instead"))
            }
            (ItemKind::Action, Some(task_id), Respond) => Ok(Self::Instruction(task_id)),
            (ItemKind::Action, Some(task_id), Skip | Cancel) => Ok(Self::Step(task_id)),
            (ItemKind::RuleProposal, _, Approve | Reject) => Ok(Self::Proposal),
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

/// Approves exactly what the person saw: the task goes on with a short run that waits for exactly this effect.
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
    Ok(vec![
        DecisionChange::Grant(grant),
        DecisionChange::ResumeTask { task_id: action.task_id, why: "approved".into() },
        open_run(action.task_id, &action.step, NodeName::ExecuteTool, Some(action)),
    ])
}

/// Rejects an effect because a person said so, which is a correction too.
pub fn reject_by_person<'a>(decision: &Decision, action: &'a Action) -> Changes<'a> {
    let why = format!("rejected: {}", reason_or(decision, "no reason given"));
    let mut changes = vec![correction(action, CorrectionKind::Reject, &decision.reason)];
    changes.extend(reject_action(action, &why));
    changes
}

/// Rejects an effect: it is void and its step becomes the person's; whatever else the agent has to do goes on.
pub fn reject_action<'a>(action: &'a Action, why: &str) -> Changes<'a> {
    let task_id = action.task_id;
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

/// Returns the name of the person's step for what the agent did not do in the end.
pub fn manual_step_name(step: &str) -> String {
    format!("{step}_by_hand")
}

/// Does the step of an effect anew with the person's words; what comes of it is shown to them again.
pub fn redo_step<'a>(decision: &Decision, task_id: TaskId, action: &'a Action) -> Changes<'a> {
    let why = "another answer was asked for";
    let changes =
        vec![TaskChange::Instruct(decision.reason.clone()), TaskChange::DiscardOutput { step: action.step.clone() }];
    vec![
        correction(action, CorrectionKind::Respond, &decision.reason),
        DecisionChange::VoidAction { action, why: why.into() },
        DecisionChange::ResumeTask { task_id, why: why.into() },
        DecisionChange::ChangeTask { task_id, changes },
        open_run(task_id, &action.step, NodeName::ExecuteTool, None),
    ]
}

/// Ends an effect of unknown outcome as sent, because a person knows it.
pub fn confirm_sent<'a>(decision: &Decision, task_id: TaskId, action: &'a Action) -> Changes<'a> {
    let sent = ActionMove {
        action_id: action.action_id,
        from: OutboxState::NeedsHuman,
        to: OutboxState::Sent,
        result: "sent, says a person".into(),
        handle: String::new(),
        who: decision.who.clone(),
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

/// Retries or skips a step that needs a person, or cancels its task.
pub fn decide_step<'a>(decision: &Decision, item: &ItemRow, row: &'a TaskRow) -> Changes<'a> {
    let task_id = row.task.task_id;
    if decision.kind == DecisionKind::Cancel {
        return vec![DecisionChange::EndTask { row, to: TaskStatus::Cancelled, why: reason_or(decision, "cancelled") }];
    }
    if row.task.status != TaskStatus::WaitingHitl {
        return resume_parked_node(decision, item, task_id);
    }
    let why = reason_or(decision, "a person decided");
    let step = body_text(item, "step");
    let changes = if decision.kind == DecisionKind::Skip {
        let output = json!({ "skipped": true, "by": decision.who, "reason": decision.reason });
        vec![TaskChange::FinishStep(step.to_owned()), TaskChange::RecordOutput { step: step.to_owned(), output }]
    } else {
        vec![TaskChange::DiscardOutput { step: step.to_owned() }]
    };
    vec![
        DecisionChange::VoidActionsOfTask { row, why: why.clone() },
        DecisionChange::ResumeTask { task_id, why },
        DecisionChange::ChangeTask { task_id, changes },
        open_run(task_id, step, NodeName::ExecuteTool, None),
    ]
}

/// Goes on where a run stopped that parked before any tool: the task kept its state. A skip leaves it there.
fn resume_parked_node<'a>(decision: &Decision, item: &ItemRow, task_id: TaskId) -> Changes<'a> {
    if decision.kind == DecisionKind::Skip {
        return Vec::new();
    }
    let node = body_text(item, "node").parse().unwrap_or(NodeName::ExecuteTool);
    vec![open_run(task_id, "", node, None)]
}

fn body_text<'a>(item: &'a ItemRow, key: &str) -> &'a str {
    item.body.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Allows a proposed edit of the rules, which whoever adopts proposals then writes, or turns it down.
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

/// Reads a mail again that could not be worked, or puts it aside.
pub fn decide_mail(decision: &Decision, mail_id: MailId) -> Changes<'static> {
    if decision.kind == DecisionKind::Retry {
        return vec![DecisionChange::RetryMail(mail_id)];
    }
    vec![DecisionChange::CloseMail { mail_id, why: reason_or(decision, "skipped by a person") }]
}

/// Takes an approval back within its grace: the item is open again, and the run that waited for the effect is over.
pub fn revoke_approval(row: &OutboxRow) -> Changes<'_> {
    let action = &row.action;
    let why = "the approval was taken back";
    vec![
        DecisionChange::Revoke { action, state: row.state },
        DecisionChange::ReopenItem,
        DecisionChange::EndDecisionRuns { task_id: action.task_id, why },
        DecisionChange::SuspendTask { action, why },
        DecisionChange::RecordCorrection {
            action,
            kind: CorrectionKind::Undo,
            from: "approved",
            to: "parked",
            why: String::new(),
        },
        DecisionChange::AuditAction { action, detail: "held → parked: taken back", act: "taken_back" },
    ]
}

/// Returns the refusal to take an approval back when the effect is in this state.
pub fn refuse_revocation(state: OutboxState) -> DecisionError {
    match state {
        OutboxState::Parked => DecisionError::refused("it was not approved"),
        state => DecisionError::refused(format!("it is too late: the effect is {state}")),
    }
}

/// Replaces an effect by one in other words: the old one is void, and that a person wanted another is a correction.
pub fn replace_action(action: &Action) -> Changes<'_> {
    vec![DecisionChange::VoidAction { action, why: "edited".into() }, correction(action, CorrectionKind::Edit, "")]
}

fn correction<'a>(action: &'a Action, kind: CorrectionKind, why: &str) -> DecisionChange<'a> {
    DecisionChange::RecordCorrection { action, kind, from: "", to: "", why: why.to_owned() }
}

fn open_run<'a>(task_id: TaskId, step: &str, node: NodeName, approved: Option<&'a Action>) -> DecisionChange<'a> {
    DecisionChange::OpenRun { task_id, step: step.to_owned(), node, approved }
}

fn reason_or(decision: &Decision, otherwise: &str) -> String {
    if decision.reason.is_empty() { otherwise.to_owned() } else { decision.reason.clone() }
}
