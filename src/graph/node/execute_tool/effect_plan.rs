//! Plans the effect that a tool requested. The policy judges it; then it is withheld, applied with the checkpoint,
//! awaited, or put to a person.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{ExecuteTool, complete_step, completes_when_shown, park_failed_step, with_effect_result};
use crate::{
    approval,
    graph::entry::{Call, NodeInput, NodeOutput},
    model::{
        Action, ActionId, Change, Effect, Move, NewAction, OutboxState, RiskClass, StepOutput, Task, TaskPlan,
        TaskStatus, WarningKind,
        action::{Argument, Origin},
    },
    policy::{AccountPermissions, ApprovedAction, PolicyContext, PolicyVerdict, judge_action},
    tool::RequestedEffect,
};

/// A step of a task whose tool requests an effect.
pub(super) struct EffectfulStep<'a> {
    pub(super) entry: &'a NodeInput<'a>,
    pub(super) task: &'a Task,
    /// The position of the step among the task's subtasks.
    pub(super) index: usize,
    pub(super) name: &'a str,
    /// The name of its tool, which is that of the step except in a plan.
    pub(super) tool: &'a str,
    /// The id of the effect, derived from task, step and generation.
    pub(super) action_id: ActionId,
}

impl ExecuteTool {
    /// Plans an effect in the outbox. `changes` are the changes that the step makes whatever the verdict is.
    ///
    /// Needs the replies to [`Call::AccountPermissions`] and, when a person must be asked, to [`Call::QueueRoom`]; while one is
    /// missing, the output is that call.
    pub(super) fn plan_effect(
        &self,
        step: &EffectfulStep<'_>,
        requested: RequestedEffect,
        changes: Vec<Change>,
    ) -> anyhow::Result<NodeOutput> {
        let entry = step.entry;
        let Some(permissions) = entry.find_reply::<AccountPermissions>(|call| *call == Call::AccountPermissions)?
        else {
            return Ok(NodeOutput::from_call(Call::AccountPermissions));
        };
        let RequestedEffect { effect, output, arguments } = requested;
        let action = step.resolve_action(effect, arguments);
        match judge_action(action.clone(), &self.policy_context(step, &permissions)) {
            PolicyVerdict::Denied { reason } => {
                Ok(park_failed_step(entry, step.task, step.name, &format!("not allowed: {reason}"), changes))
            }
            PolicyVerdict::Withheld { class, reason } => {
                let action = step.new_action(action, class, OutboxState::Withheld, &reason);
                Ok(self.withhold(step, action, output, changes))
            }
            PolicyVerdict::Allowed(approved) => match immediate_result(entry, &permissions, &approved) {
                Some(result) => {
                    let action = step.new_action(action, approved.class(), OutboxState::Applied, &result);
                    Ok(self.apply_with_checkpoint(step, action, output, changes))
                }
                None => {
                    let action = step.new_action(action, approved.class(), OutboxState::Ready, "");
                    Ok(step.await_effect(action, output, changes))
                }
            },
            PolicyVerdict::NeedsApproval { .. }
                if entry.find_reply::<bool>(|call| matches!(call, Call::QueueRoom { .. }))?.is_none() =>
            {
                Ok(NodeOutput::from_call(Call::QueueRoom { sender: step.sender() }))
            }
            PolicyVerdict::NeedsApproval { class, reason } => {
                step.request_approval(action, (class, &reason), &output, &permissions, changes)
            }
        }
    }

    /// Returns what the policy's verdict on the step's effect depends on.
    fn policy_context<'a>(
        &'a self,
        step: &EffectfulStep<'a>,
        permissions: &'a AccountPermissions,
    ) -> PolicyContext<'a> {
        PolicyContext {
            mode: permissions.mode,
            mail: step.entry.mail,
            labels: &permissions.labels,
            is_phishing: step.task.context.has_warning(WarningKind::Phishing),
            own: &self.me.addresses,
            policy: &permissions.policy,
            approval: None,
            epoch: permissions.epoch,
            restored_at: permissions.restored_at,
            now: step.entry.now,
        }
    }

    /// Records an effect that the account's mode forbids, and goes on without it.
    fn withhold(
        &self,
        step: &EffectfulStep<'_>,
        action: NewAction,
        output: Value,
        mut changes: Vec<Change>,
    ) -> NodeOutput {
        let value = json!({ "withheld": action.reason, "planned": output });
        changes.push(Change::Output { step: step.name.to_owned(), value });
        let next = self.go_on(step.entry, step.task, step.index, changes);
        NodeOutput { action: Some(Arc::new(action)), ..next }
    }

    /// Applies an effect that is only a row of our own database: the row is written in the transaction of the
    /// checkpoint.
    fn apply_with_checkpoint(
        &self,
        step: &EffectfulStep<'_>,
        action: NewAction,
        output: Value,
        mut changes: Vec<Change>,
    ) -> NodeOutput {
        let value = with_effect_result(output, OutboxState::Applied, action.reason.clone());
        if completes_when_shown(step.entry, step.name) {
            changes.push(Change::Output { step: step.name.to_owned(), value });
        } else {
            changes = complete_step(changes, step.index, step.name, value);
        }
        let next = self.go_on(step.entry, step.task, step.index, changes);
        NodeOutput { action: Some(Arc::new(action)), ..next }
    }
}

impl EffectfulStep<'_> {
    /// Returns the requested effect as an action with everything fixed that will happen, so that its digest covers all
    /// of it.
    fn resolve_action(&self, effect: Effect, arguments: Vec<Argument>) -> Action {
        let (run, state) = (self.entry.run, self.entry.state);
        Action {
            action_id: self.action_id,
            account: run.account.clone(),
            user: run.user.clone(),
            task_id: Some(self.task.task_id),
            step: self.name.to_owned(),
            generation: state.generation,
            mail_id: state.mail_id,
            mail_key: state.mail_key.clone(),
            tool: self.tool.to_owned(),
            effect,
            arguments: arguments.into_iter().map(|argument| self.attach_mail_origin(argument)).collect(),
            terms: None,
        }
    }

    /// Adds to an argument that comes from a mail which mail it is, and whether its sender was verified. When only the
    /// beginning of the mail had arrived and was answered, nothing in the whole mail counts as verified: a person is
    /// asked, so that an answer is not sent a second time unasked.
    fn attach_mail_origin(&self, mut argument: Argument) -> Argument {
        if argument.origin == Origin::Mail {
            let is_whole = !self.task.context.more.contains_key(Task::PARTLY_ANSWERED);
            argument.mail_id = self.entry.state.mail_id;
            argument.verified = is_whole && self.entry.mail.is_some_and(|mail| mail.authentication.verified);
        }
        argument
    }

    fn new_action(&self, action: Action, class: RiskClass, state: OutboxState, reason: &str) -> NewAction {
        NewAction { action, class, state, reason: reason.to_owned(), sender: self.sender() }
    }

    fn sender(&self) -> String {
        self.entry.mail.map(|mail| mail.from.addr.clone()).unwrap_or_default()
    }

    /// Plans an effect that is allowed, and makes the run wait for its outcome.
    fn await_effect(&self, action: NewAction, output: Value, mut changes: Vec<Change>) -> NodeOutput {
        changes.push(Change::Output { step: self.name.to_owned(), value: output });
        let wait = NodeOutput::from_move(Move::Wait { action_id: self.action_id });
        NodeOutput { action: Some(Arc::new(action)), ..wait.with_changes(changes) }
    }

    /// Plans an effect that needs approval, adds an item to the queue, and parks the run. A later run goes on after the
    /// decision.
    fn request_approval(
        &self,
        action: Action,
        (class, reason): (RiskClass, &str),
        output: &Value,
        permissions: &AccountPermissions,
        mut changes: Vec<Change>,
    ) -> anyhow::Result<NodeOutput> {
        let why = format!("{} needs approval: {reason}", self.name);
        // Another step of the plan may have parked the task already.
        if self.task.status != TaskStatus::WaitingHitl {
            changes.push(Change::Status { to: TaskStatus::WaitingHitl, why });
        }
        if self.task.context.more.contains_key(TaskPlan::KEY) {
            changes.push(Change::Output {
                step: self.name.to_owned(),
                value: json!({ StepOutput::WAITS: reason, "planned": output }),
            });
        }
        let (policy, mail, now) = (&permissions.policy, self.entry.mail, self.entry.now);
        let run_id = self.entry.run.run_id.to_string();
        let action = approval::bind_approval_terms(action, policy, now, &run_id);
        let item = approval::new_approval_item(&action, class, reason, output, mail, policy, now)?;
        let action = self.new_action(action, class, OutboxState::Parked, reason);
        let park = Move::Park { reason: format!("{} waits for approval: {reason}", self.name) };
        Ok(NodeOutput {
            action: Some(Arc::new(action)),
            item: Some(item),
            ..NodeOutput::from_move(park).with_changes(changes)
        })
    }
}

/// Returns the result of an effect that may be written with the checkpoint: a row of our own database, of the lowest
/// risk class. Returns none for a fork, whose effects are void, and while effects are paused: then the outbox answers.
fn immediate_result(
    entry: &NodeInput<'_>,
    permissions: &AccountPermissions,
    approved: &ApprovedAction,
) -> Option<String> {
    let own = approved.class() == RiskClass::R0 && !entry.run.is_fork && !permissions.paused;
    own.then(|| approved.action().effect.database_row_result()).flatten()
}
