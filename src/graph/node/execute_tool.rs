//! execute_tool: one of the agent's steps per visit. Effects are judged, planned in the outbox and waited for.

use std::{ops::ControlFlow, sync::Arc};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::wording;
use crate::{
    approval,
    graph::entry::{Call, EffectOutcome, Node, NodeInput, NodeOutput},
    llm::Prompt,
    model::{
        Action, ActionId, Change, Effect, ItemId, ItemKind, Me, Move, NewAction, NewItem, OutboxState, RiskClass,
        Subtask, Task, TaskStatus,
        action::{Argument, Origin},
    },
    policy::{AccountPermissions, ApprovedAction, PolicyContext, PolicyVerdict, judge_action},
    source::CalendarLookup,
    tool::{
        BusyTimes, Registry, ReplyWording, RequestedEffect, ThreadMail, Tool, ToolInput, ToolOutcome,
        remind::is_reminder,
    },
};

pub(super) struct ExecuteTool {
    pub(super) me: Arc<Me>,
    pub(super) tools: Arc<Registry>,
}

/// Marks the output of a step that only the person can do.
pub(super) const LEFT_TO_PERSON: &str = "yours";

impl Node for ExecuteTool {
    fn evaluate(&self, entry: &NodeInput<'_>) -> anyhow::Result<NodeOutput> {
        let task = entry.state.task.as_ref().context("there is no task to work")?;
        if let Some((Call::Effect { action_id }, _)) = entry.replies.first() {
            return self.record_effect_outcome(entry, task, *action_id);
        }
        if let Some(action_id) = entry.state.decided.filter(|action_id| is_decided_step_open(entry, task, *action_id)) {
            return Ok(NodeOutput::from_move(Move::Wait { action_id }));
        }
        match self.untried_steps(task).next() {
            None => Ok(NodeOutput::from_move(Move::Next)),
            Some((index, tool)) => self.run_tool(entry, task, index, tool),
        }
    }
}

/// A step that has an output was dealt with: done, withheld, or void.
fn has_output(task: &Task, step: &str) -> bool {
    task.tool_output.as_ref().is_some_and(|output| output.contains_key(step))
}

/// The step a person has decided on is still to be done.
fn is_decided_step_open(entry: &NodeInput<'_>, task: &Task, action_id: ActionId) -> bool {
    let mut open = task.subtasks.iter().filter(|subtask| !subtask.done && !has_output(task, &subtask.step));
    open.any(|subtask| self::derive_action_id(entry, task, &subtask.step) == action_id)
}

impl ExecuteTool {
    /// The agent's steps that are still to be worked.
    fn untried_steps<'a>(&'a self, task: &'a Task) -> impl Iterator<Item = (usize, &'a dyn Tool)> {
        let open = task.subtasks.iter().enumerate().filter(|(_, subtask)| !subtask.done);
        let agents = open.filter_map(|(index, subtask)| Some((index, self.tools.get(&subtask.step)?)));
        agents.filter(|(_, tool)| !has_output(task, tool.name()))
    }

    /// Where to when the step at `index` has been dealt with.
    fn next_move(&self, task: &Task, index: usize) -> Move {
        if self.untried_steps(task).any(|(other, _)| other != index) { Move::Again } else { Move::Next }
    }

    fn run_tool(
        &self,
        entry: &NodeInput<'_>,
        task: &Task,
        index: usize,
        tool: &dyn Tool,
    ) -> anyhow::Result<NodeOutput> {
        let worded = tool.accepts_wording() && entry.has_model;
        let thread: Option<Vec<ThreadMail>> = entry.find_reply(|call| matches!(call, Call::Thread { .. }))?;
        if (tool.reads_thread() || worded) && thread.is_none() {
            let thread = entry.mail.map(|mail| mail.thread.clone()).unwrap_or_default();
            return Ok(NodeOutput::from_call(Call::Thread { thread }));
        }
        let agenda: Option<BusyTimes> = entry.find_reply(|call| matches!(call, Call::Busy { .. }))?;
        if let (Some(days), None) = (tool.busy_days_ahead(), &agenda) {
            let to = entry.now.plus(chrono::Duration::days(days));
            return Ok(NodeOutput::from_call(Call::Busy { from: entry.now, to }));
        }
        let in_calendar: Option<CalendarLookup> = entry.find_reply(|call| matches!(call, Call::Invited { .. }))?;
        let invite = entry.mail.and_then(|mail| mail.invite.as_ref()).filter(|_| tool.reads_invited_events());
        if let (Some(invite), None) = (invite, &in_calendar) {
            return Ok(NodeOutput::from_call(Call::Invited { uid: invite.uid.clone() }));
        }
        let words = match self.obtain_wording(entry, task, worded, thread.as_deref().unwrap_or_default())? {
            ControlFlow::Continue(words) => words,
            ControlFlow::Break(asking) => return Ok(asking),
        };
        let facts = entry.state.facts.as_ref().context("the task has no facts")?;
        let action_id = derive_action_id(entry, task, tool.name());
        let input = ToolInput {
            task,
            facts,
            mail: entry.mail,
            thread: thread.as_deref().unwrap_or_default(),
            busy_times: &agenda.unwrap_or_default(),
            in_calendar: &in_calendar.unwrap_or_default(),
            wording: words.as_ref(),
            me: &self.me,
            own: self.me.reply_sender(&entry.run.account, entry.mail),
            now: entry.now,
            idempotency_key: &action_id.to_string(),
        };
        let changes = in_progress_changes(task);
        match tool.run(&input) {
            Ok(ToolOutcome::Output(value)) => Ok(NodeOutput::from_move(self.next_move(task, index))
                .with_changes(complete_step(changes, index, tool.name(), value))),
            Ok(ToolOutcome::Effect(wished)) => {
                self.plan_effect(entry, task, (index, tool.name(), action_id), *wished, changes)
            }
            Ok(ToolOutcome::LeftToPerson(why)) => {
                let output = Change::Output { step: tool.name().to_owned(), value: json!({ LEFT_TO_PERSON: why }) };
                Ok(NodeOutput::from_move(self.next_move(task, index)).with_changes(vec![output]))
            }
            Err(cannot) => Ok(park_failed_step(entry, task, tool.name(), &cannot.0, changes)),
        }
    }
}

impl ExecuteTool {
    /// A model's words for a step that can use them, or the step that asks for them.
    fn obtain_wording(
        &self,
        entry: &NodeInput<'_>,
        task: &Task,
        wanted: bool,
        thread: &[ThreadMail],
    ) -> anyhow::Result<ControlFlow<NodeOutput, Option<ReplyWording>>> {
        let Some(mail) = entry.mail.filter(|_| wanted) else { return Ok(ControlFlow::Continue(None)) };
        if let Some(heard) = entry.heard(Prompt::DraftReply)? {
            return Ok(ControlFlow::Continue(wording::draft_wording(&heard)));
        }
        let Some(style) = entry.find_reply::<Vec<String>>(|call| matches!(call, Call::Style { .. }))? else {
            return Ok(ControlFlow::Break(NodeOutput::from_call(Call::Style { person: mail.from.addr.clone() })));
        };
        let asking = wording::request_draft(entry, mail, &self.me, task, (thread, &style));
        Ok(asking.map_or(ControlFlow::Continue(None), ControlFlow::Break))
    }
}

/// The first tool call puts the task in progress.
fn in_progress_changes(task: &Task) -> Vec<Change> {
    if task.status == TaskStatus::Ready {
        vec![Change::Status { to: TaskStatus::InProgress, why: "tool call kicked off".into() }]
    } else {
        Vec::new()
    }
}

fn complete_step(mut changes: Vec<Change>, index: usize, step: &str, value: Value) -> Vec<Change> {
    changes.push(Change::Output { step: step.to_owned(), value });
    changes.push(Change::StepDone { index });
    changes
}

/// The key of an effect is (task, step, generation), never the run.
fn derive_action_id(entry: &NodeInput<'_>, task: &Task, step: &str) -> ActionId {
    ActionId::derive(task.created_at, &[&task.task_id.to_string(), step, &entry.state.generation.to_string()])
}

impl ExecuteTool {
    fn plan_effect(
        &self,
        entry: &NodeInput<'_>,
        task: &Task,
        (index, step, action_id): (usize, &str, ActionId),
        wished: RequestedEffect,
        mut changes: Vec<Change>,
    ) -> anyhow::Result<NodeOutput> {
        let Some(standing) = entry.find_reply::<AccountPermissions>(|call| *call == Call::Standing)? else {
            return Ok(NodeOutput::from_call(Call::Standing));
        };
        let RequestedEffect { effect, output, arguments } = wished;
        let action = resolve_action(entry, task, (step, action_id), effect, arguments);
        let situation = self.policy_context(entry, task, &standing);
        let sender = entry.mail.map(|mail| mail.from.addr.clone()).unwrap_or_default();
        let planned = |action: Action, class, state, reason: &str| {
            Some(Arc::new(NewAction { action, class, state, reason: reason.to_owned(), sender: sender.clone() }))
        };
        match judge_action(action.clone(), &situation) {
            PolicyVerdict::Denied { reason } => {
                Ok(park_failed_step(entry, task, step, &format!("not allowed: {reason}"), changes))
            }
            PolicyVerdict::Withheld { class, reason } => {
                let value = json!({ "withheld": reason, "planned": output });
                changes.push(Change::Output { step: step.to_owned(), value });
                let action = planned(action, class, OutboxState::Withheld, &reason);
                Ok(NodeOutput { action, ..NodeOutput::from_move(self.next_move(task, index)).with_changes(changes) })
            }
            PolicyVerdict::Allowed(approved) => match immediate_result(entry, &standing, &approved) {
                Some(result) => {
                    let action = planned(action, approved.class(), OutboxState::Applied, &result);
                    let output = with_effect_result(output, OutboxState::Applied, result);
                    let changes = if completes_when_shown(entry, step) {
                        changes.push(Change::Output { step: step.to_owned(), value: output });
                        changes
                    } else {
                        complete_step(changes, index, step, output)
                    };
                    Ok(NodeOutput {
                        action,
                        ..NodeOutput::from_move(self.next_move(task, index)).with_changes(changes)
                    })
                }
                None => {
                    changes.push(Change::Output { step: step.to_owned(), value: output });
                    let action = planned(action, approved.class(), OutboxState::Ready, "");
                    Ok(NodeOutput { action, ..NodeOutput::from_move(Move::Wait { action_id }).with_changes(changes) })
                }
            },
            PolicyVerdict::NeedsApproval { .. }
                if entry.find_reply::<bool>(|call| matches!(call, Call::Room { .. }))?.is_none() =>
            {
                Ok(NodeOutput::from_call(Call::Room { sender }))
            }
            PolicyVerdict::NeedsApproval { class, reason } => {
                let why = format!("{step} needs approval: {reason}");
                changes.push(Change::Status { to: TaskStatus::WaitingHitl, why });
                let (policy, now, run_id) = (&standing.charter, entry.now, entry.run.run_id.to_string());
                let action = approval::bind_approval_terms(action, policy, now, &run_id);
                let mail = entry.mail;
                let item = approval::new_approval_item(&action, class, &reason, &output, mail, policy, now);
                let action = planned(action, class, OutboxState::Parked, &reason);
                let park = Move::Park { reason: format!("{step} waits for approval: {reason}") };
                Ok(NodeOutput { action, item: Some(item), ..NodeOutput::from_move(park).with_changes(changes) })
            }
        }
    }

    /// What a verdict on an effect of the step depends on.
    fn policy_context<'a>(
        &'a self,
        entry: &NodeInput<'a>,
        task: &Task,
        standing: &'a AccountPermissions,
    ) -> PolicyContext<'a> {
        PolicyContext {
            mode: standing.mode,
            mail: entry.mail,
            labels: &standing.labels,
            is_phishing: task.context.has_warning("phishing"),
            own: &self.me.addresses,
            policy: &standing.charter,
            approval: None,
            epoch: standing.epoch,
            restored_at: standing.restored_at,
            now: entry.now,
        }
    }

    /// The effect has ended: what it came to is the step's output.
    fn record_effect_outcome(
        &self,
        entry: &NodeInput<'_>,
        task: &Task,
        waited_for: ActionId,
    ) -> anyhow::Result<NodeOutput> {
        let end = entry
            .find_reply::<EffectOutcome>(|call| matches!(call, Call::Effect { .. }))?
            .context("the effect has no end")?;
        let mut open = task.subtasks.iter().enumerate().filter(|(_, subtask)| !subtask.done);
        let (index, subtask) = open
            .find(|(_, subtask)| derive_action_id(entry, task, &subtask.step) == waited_for)
            .context("no step waits for this effect")?;
        let step = subtask.step.as_str();
        let planned = task.tool_output.as_ref().and_then(|output| output.get(step)).cloned().unwrap_or_default();
        let next = NodeOutput::from_move(self.next_move(task, index));
        match end.state {
            OutboxState::Applied | OutboxState::Saved | OutboxState::Sent => {
                let value = with_effect_result(planned, end.state, end.result);
                if completes_when_shown(entry, step) {
                    return Ok(next.with_changes(vec![Change::Output { step: step.to_owned(), value }]));
                }
                Ok(next.with_changes(complete_step(Vec::new(), index, step, value)))
            }
            OutboxState::Failed => Ok(park_failed_step(entry, task, step, &end.result, Vec::new())),
            OutboxState::NeedsHuman => {
                let mut parked = park_failed_step(entry, task, step, &end.result, Vec::new());
                parked.item.iter_mut().for_each(|item| item.action_id = Some(waited_for));
                Ok(parked)
            }
            // What the agent did not do in the end is for the person.
            OutboxState::Void => {
                let value = json!({ "void": end.result, "planned": planned });
                let by_hand = Subtask { step: approval::manual_step_name(step), done: false };
                let changes =
                    vec![Change::Output { step: step.to_owned(), value }, Change::AddStep { subtask: by_hand }];
                Ok(next.with_changes(changes))
            }
            other => {
                let value = json!({ other.as_str(): end.result, "planned": planned });
                Ok(next.with_changes(vec![Change::Output { step: step.to_owned(), value }]))
            }
        }
    }
}

/// The wish with everything that is to happen fixed.
fn resolve_action(
    entry: &NodeInput<'_>,
    task: &Task,
    (step, action_id): (&str, ActionId),
    effect: Effect,
    arguments: Vec<Argument>,
) -> Action {
    Action {
        action_id,
        account: entry.run.account.clone(),
        user: entry.run.user.clone(),
        task_id: task.task_id,
        step: step.to_owned(),
        generation: entry.state.generation,
        mail_id: entry.state.mail_id,
        mail_key: entry.state.mail_key.clone(),
        tool: step.to_owned(),
        effect,
        arguments: arguments.into_iter().map(|argument| attach_mail_origin(argument, entry, task)).collect(),
        terms: None,
    }
}

/// What comes from a mail comes from the one at hand. Nobody vouches for the rest of a mail whose beginning was answered:
/// what has left once does not leave again unasked.
fn attach_mail_origin(mut argument: Argument, entry: &NodeInput<'_>, task: &Task) -> Argument {
    if argument.origin == Origin::Mail {
        let is_whole = !task.context.more.contains_key(Task::PARTLY_ANSWERED);
        argument.mail_id = entry.state.mail_id;
        argument.verified = is_whole && entry.mail.is_some_and(|mail| mail.authentication.verified);
    }
    argument
}

/// What it comes to if it may be written right here, with the checkpoint: a row of our own that nobody else waits for.
/// A fork's effects are void, so it hears that of its outbox instead; so does everyone while effects are paused.
fn immediate_result(entry: &NodeInput<'_>, standing: &AccountPermissions, approved: &ApprovedAction) -> Option<String> {
    let own = approved.class() == RiskClass::R0 && !entry.run.is_fork && !standing.paused;
    own.then(|| approved.action().effect.database_row_result()).flatten()
}

/// A reminder that somebody asked for is set, not done: it is done when it was shown.
fn completes_when_shown(entry: &NodeInput<'_>, step: &str) -> bool {
    step == "remind" && entry.state.facts.as_ref().is_some_and(|facts| is_reminder(&facts.kind))
}

fn with_effect_result(mut output: Value, state: OutboxState, result: String) -> Value {
    if let Value::Object(fields) = &mut output {
        fields.insert(state.to_string(), Value::from(result));
    }
    output
}

/// There is no FAILED: the task waits, and a person says retry, skip or cancel.
pub(super) fn park_failed_step(
    entry: &NodeInput<'_>,
    task: &Task,
    step: &str,
    error: &str,
    mut changes: Vec<Change>,
) -> NodeOutput {
    changes.push(Change::Status { to: TaskStatus::WaitingHitl, why: format!("{step} failed: {error}") });
    let title = format!("{step} failed: {error}");
    let item = NewItem {
        item_id: ItemId::derive(entry.now, &[&entry.run.run_id.to_string(), &title]),
        kind: ItemKind::FailedStep,
        task_id: Some(task.task_id),
        mail_id: entry.state.mail_id,
        action_id: None,
        title: title.clone(),
        body: json!({ "step": step, "error": error }),
        expires_at: None,
        sender: entry.mail.map(|mail| mail.from.addr.clone()).unwrap_or_default(),
        queue_limits: None,
    };
    NodeOutput { item: Some(item), ..NodeOutput::from_move(Move::Park { reason: title }).with_changes(changes) }
}
