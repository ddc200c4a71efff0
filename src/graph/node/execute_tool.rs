//! execute_tool: one of the agent's steps per visit. Effects are judged, planned in the outbox and waited for.

use std::sync::Arc;

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::{
    graph::entry::{Call, EffectEnd, Entry, Node, Step},
    model::{Action, ActionId, Change, Effect, ItemId, ItemKind, Me, Move, OutboxState, Status, Task},
    policy::{Situation, Standing, Verdict, judge},
    store::value::{NewAction, NewItem},
    tool::{Outcome, Registry, ThreadMail, Tool, ToolInput},
};

pub(super) struct ExecuteTool {
    pub(super) me: Arc<Me>,
    pub(super) tools: Arc<Registry>,
}

impl Node for ExecuteTool {
    fn enter(&self, entry: &Entry<'_>) -> anyhow::Result<Step> {
        let task = entry.state.task.as_ref().context("there is no task to work")?;
        if let Some((Call::Effect { action_id }, _)) = entry.replies.first() {
            return finish(entry, task, *action_id);
        }
        let open = task.subtasks.iter().enumerate().filter(|(_, subtask)| !subtask.done);
        let mut agents = open.filter_map(|(index, subtask)| Some((index, self.tools.get(&subtask.step)?)));
        match agents.find(|(_, tool)| !was_tried(task, tool.name())) {
            None => Ok(Step::go(Move::Next)),
            Some((index, tool)) => self.work(entry, task, index, tool),
        }
    }
}

/// A step that has an output was dealt with: done, withheld, or void.
fn was_tried(task: &Task, step: &str) -> bool {
    task.tool_output.as_ref().is_some_and(|output| output.contains_key(step))
}

impl ExecuteTool {
    fn work(&self, entry: &Entry<'_>, task: &Task, index: usize, tool: &dyn Tool) -> anyhow::Result<Step> {
        let thread: Option<Vec<ThreadMail>> = entry.reply(|call| matches!(call, Call::Thread { .. }))?;
        if tool.reads_thread() && thread.is_none() {
            let thread = entry.mail.map(|mail| mail.thread.clone()).unwrap_or_default();
            return Ok(Step::ask(Call::Thread { thread }));
        }
        let facts = entry.state.facts.as_ref().context("the task has no facts")?;
        let action_id = action_id(entry, task, tool.name());
        let input = ToolInput {
            task,
            facts,
            mail: entry.mail,
            thread: thread.as_deref().unwrap_or_default(),
            me: &self.me,
            now: entry.now,
            token: &action_id.to_string(),
        };
        let changes = kick_off(task);
        match tool.run(&input) {
            Ok(Outcome::Output(value)) => Ok(Step::go(Move::Again).changing(done(changes, index, tool.name(), value))),
            Ok(Outcome::Effect { effect, output }) => {
                wish(entry, task, tool.name(), action_id, effect, output, changes)
            }
            Err(cannot) => Ok(park_failed(entry, task, tool.name(), &cannot.0, changes)),
        }
    }
}

/// The first tool call puts the task in progress.
fn kick_off(task: &Task) -> Vec<Change> {
    if task.status == Status::Ready {
        vec![Change::Status { to: Status::InProgress, why: "tool call kicked off".into() }]
    } else {
        Vec::new()
    }
}

fn done(mut changes: Vec<Change>, index: usize, step: &str, value: Value) -> Vec<Change> {
    changes.push(Change::Output { step: step.to_owned(), value });
    changes.push(Change::StepDone { index });
    changes
}

/// The key of an effect is (task, step, generation), never the run.
fn action_id(entry: &Entry<'_>, task: &Task, step: &str) -> ActionId {
    ActionId::derive(task.created_at, &[&task.task_id.to_string(), step, &entry.state.generation.to_string()])
}

fn wish(
    entry: &Entry<'_>,
    task: &Task,
    step: &str,
    action_id: ActionId,
    effect: Effect,
    output: Value,
    mut changes: Vec<Change>,
) -> anyhow::Result<Step> {
    let Some(standing) = entry.reply::<Standing>(|call| *call == Call::Standing)? else {
        return Ok(Step::ask(Call::Standing));
    };
    let action = Action {
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
    };
    let situation = Situation {
        mode: standing.mode,
        mail: entry.mail,
        labels: &standing.labels,
        phishing: task.context.has_warning("phishing"),
    };
    let planned = |class, state, reason: &str| {
        Some(NewAction { action: action.clone(), class, state, reason: reason.to_owned() })
    };
    match judge(action.clone(), &situation) {
        Verdict::Denied { reason } => Ok(park_failed(entry, task, step, &format!("not allowed: {reason}"), changes)),
        Verdict::Withheld { class, reason } => {
            let value = json!({ "withheld": reason, "planned": output });
            changes.push(Change::Output { step: step.to_owned(), value });
            let action = planned(class, OutboxState::Withheld, &reason);
            Ok(Step { action, ..Step::go(Move::Again).changing(changes) })
        }
        Verdict::Allowed(approved) => {
            changes.push(Change::Output { step: step.to_owned(), value: output });
            let action = planned(approved.class(), OutboxState::Ready, "");
            Ok(Step { action, ..Step::go(Move::Wait { action_id }).changing(changes) })
        }
        Verdict::NeedsApproval { class, reason } => {
            changes.push(Change::Status { to: Status::WaitingHitl, why: format!("{step} needs approval: {reason}") });
            let body = json!({ "step": step, "class": class, "reason": reason, "planned": output });
            let item = item(entry, task, ItemKind::Action, &format!("{step}: {reason}"), body, Some(action_id));
            let action = planned(class, OutboxState::Parked, &reason);
            let park = Move::Park { reason: format!("{step} waits for approval: {reason}") };
            Ok(Step { action, item: Some(item), ..Step::go(park).changing(changes) })
        }
    }
}

/// The effect has ended: what it came to is the step's output.
fn finish(entry: &Entry<'_>, task: &Task, waited_for: ActionId) -> anyhow::Result<Step> {
    let end = entry.reply::<EffectEnd>(|call| matches!(call, Call::Effect { .. }))?.context("the effect has no end")?;
    let mut open = task.subtasks.iter().enumerate().filter(|(_, subtask)| !subtask.done);
    let (index, subtask) = open
        .find(|(_, subtask)| action_id(entry, task, &subtask.step) == waited_for)
        .context("no step waits for this effect")?;
    let step = subtask.step.as_str();
    let planned = task.tool_output.as_ref().and_then(|output| output.get(step)).cloned().unwrap_or_default();
    match end.state {
        OutboxState::Applied | OutboxState::Saved | OutboxState::Sent => {
            let mut value = planned;
            if let Value::Object(fields) = &mut value {
                fields.insert(end.state.to_string(), Value::from(end.result));
            }
            Ok(Step::go(Move::Again).changing(done(Vec::new(), index, step, value)))
        }
        OutboxState::Failed => Ok(park_failed(entry, task, step, &end.result, Vec::new())),
        other => {
            let value = json!({ other.as_str(): end.result, "planned": planned });
            Ok(Step::go(Move::Again).changing(vec![Change::Output { step: step.to_owned(), value }]))
        }
    }
}

/// There is no FAILED: the task waits, and a person says retry, skip or cancel.
pub(super) fn park_failed(entry: &Entry<'_>, task: &Task, step: &str, error: &str, mut changes: Vec<Change>) -> Step {
    changes.push(Change::Status { to: Status::WaitingHitl, why: format!("{step} failed: {error}") });
    let title = format!("{step} failed: {error}");
    let item = item(entry, task, ItemKind::FailedStep, &title, json!({ "step": step, "error": error }), None);
    Step { item: Some(item), ..Step::go(Move::Park { reason: title }).changing(changes) }
}

fn item(
    entry: &Entry<'_>,
    task: &Task,
    kind: ItemKind,
    title: &str,
    body: Value,
    action_id: Option<ActionId>,
) -> NewItem {
    NewItem {
        item_id: ItemId::derive(entry.now, &[&entry.run.run_id.to_string(), title]),
        kind,
        task_id: Some(task.task_id),
        mail_id: entry.state.mail_id,
        action_id,
        title: title.to_owned(),
        body,
        expires_at: None,
    }
}
