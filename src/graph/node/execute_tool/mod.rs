//! The node execute_tool: works on one of the agent's steps per visit. A tool only computes. The effect it requests is
//! judged by the policy, planned in the outbox, and then awaited or put to a person; this node never carries an effect
//! out.

mod effect_outcome;
mod effect_plan;
mod model_calls;
mod plan_work;
mod rule_effect;
mod step_view;

use std::{ops::ControlFlow, sync::Arc};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::wording;
use crate::{
    graph::entry::{Call, Node, NodeInput, NodeOutput},
    llm::Prompt,
    model::{
        ActionId, Change, ContextDoc, HeldTime, InvoiceRow, ItemId, ItemKind, Me, Move, NewItem, OutboxState, RunKind,
        StepOutput, Task, TaskPlan, TaskStatus, plan::PlannerSettings,
    },
    source::CalendarLookup,
    tool::{
        BusyTimes, EarlierAnswer, FoundFile, FoundMaterial, OwnLetter, Registry, ReplyWording, ThreadMail, Tool,
        ToolInput, ToolOutcome, WantedMaterial, remind::is_reminder,
    },
};
use effect_plan::EffectfulStep;
use plan_work::AgentStep;
use step_view::{PlannedStepView, set_origins};

/// The node execute_tool, with the person it works for and the tools it may use.
pub(super) struct ExecuteTool {
    pub(super) me: Arc<Me>,
    pub(super) tools: Arc<Registry>,
    pub(super) planner: PlannerSettings,
}

/// What a tool is given beside its task, from recorded replies.
struct ToolReplies {
    thread: Vec<ThreadMail>,
    busy_times: BusyTimes,
    held_times: Vec<HeldTime>,
    in_calendar: CalendarLookup,
    letters: Vec<OwnLetter>,
    wording: Option<ReplyWording>,
    material: Option<FoundMaterial>,
    invoices: Vec<InvoiceRow>,
    documents: Vec<ContextDoc>,
}

impl Node for ExecuteTool {
    fn evaluate(&self, entry: &NodeInput<'_>) -> anyhow::Result<NodeOutput> {
        if entry.run.kind == RunKind::Effect {
            return rule_effect::work_on_mail(entry, &self.me);
        }
        let task = entry.state.task.as_ref().context("there is no task to work")?;
        if let Some((Call::Effect { action_id }, _)) = entry.replies.first() {
            return self.record_effect_outcome(entry, task, *action_id);
        }
        if let Some(action_id) = entry.state.decided.filter(|action_id| is_decided_step_open(entry, task, *action_id)) {
            return Ok(NodeOutput::from_move(Move::Wait { action_id }));
        }
        let plan = TaskPlan::of_context(&task.context);
        let template_step = self.untried_steps(task).next().filter(|_| entry.run.kind != RunKind::Step);
        if let (Some(plan), None) = (&plan, &template_step) {
            return self.work_plan(entry, task, plan);
        }
        match template_step {
            None => Ok(NodeOutput::from_move(Move::Next)),
            Some((index, tool)) => {
                self.run_tool(entry, task, &AgentStep { index, name: tool.name(), tool, planned: None })
            }
        }
    }
}

/// Returns whether a step was dealt with: done, withheld, void, or left to the person.
fn has_output(task: &Task, step: &str) -> bool {
    task.tool_output.as_ref().is_some_and(|output| output.contains_key(step))
}

/// Returns whether the step whose effect a person has decided on is still to be done.
fn is_decided_step_open(entry: &NodeInput<'_>, task: &Task, action_id: ActionId) -> bool {
    let is_open = |step: &str| !has_output(task, step) || StepOutput::of_step(task, step) == StepOutput::Waiting;
    let mut open = task.subtasks.iter().filter(|subtask| !subtask.done && is_open(&subtask.step));
    open.any(|subtask| derive_action_id(entry, task, &subtask.step) == action_id)
}

impl ExecuteTool {
    /// Returns the open steps that have a tool and were not tried yet. Steps without a tool are the person's.
    fn untried_steps<'a>(&'a self, task: &'a Task) -> impl Iterator<Item = (usize, &'a dyn Tool)> {
        let open = task.subtasks.iter().enumerate().filter(|(_, subtask)| !subtask.done);
        let agents = open.filter_map(|(index, subtask)| Some((index, self.tools.get(&subtask.step)?)));
        agents.filter(|(_, tool)| !has_output(task, tool.name()))
    }

    /// Returns the move after the step at `index`: again while another step is untried, otherwise on.
    fn next_move(&self, task: &Task, index: usize) -> Move {
        if self.untried_steps(task).any(|(other, _)| other != index) { Move::Again } else { Move::Next }
    }

    /// Runs one tool and turns its outcome into the output of the visit. A tool that cannot do its step parks the task;
    /// it does not fail the node, because trying again would not help.
    fn run_tool(&self, entry: &NodeInput<'_>, task: &Task, step: &AgentStep<'_>) -> anyhow::Result<NodeOutput> {
        let AgentStep { index, name, tool, planned } = *step;
        let replies = match self.gather_tool_replies(entry, task, step)? {
            ControlFlow::Continue(replies) => replies,
            ControlFlow::Break(asking) => return Ok(asking),
        };
        let action_id = derive_action_id(entry, task, name);
        let facts = entry.state.facts.as_ref().context("the task has no facts")?;
        let mut changes = in_progress_changes(task);
        let view = planned.map(|planned| PlannedStepView::new(entry, (task, facts), planned, &self.me)).transpose();
        let view = match view {
            Ok(view) => view,
            Err(cannot) => return Ok(park_failed_step(entry, task, name, &cannot.0, changes)),
        };
        if let Some((_, planned)) = planned {
            changes.push(Change::StepStarted { number: planned.step_number });
        }
        let input = ToolInput {
            task: view.as_ref().map_or(task, |view| &view.task),
            facts: view.as_ref().map_or(facts, |view| &view.facts),
            mail: entry.mail,
            thread: &replies.thread,
            busy_times: &replies.busy_times,
            held_times: &replies.held_times,
            in_calendar: &replies.in_calendar,
            letters: &replies.letters,
            wording: replies.wording.as_ref(),
            material: replies.material.as_ref(),
            invoices: &replies.invoices,
            documents: &replies.documents,
            arguments: step.arguments(),
            me: &self.me,
            own: self.me.reply_sender(&entry.run.account, entry.mail),
            now: entry.now,
            idempotency_key: &action_id.to_string(),
        };
        match tool.run(&input) {
            Ok(ToolOutcome::Output(value)) => {
                Ok(self.go_on(entry, task, index, complete_step(changes, index, name, value)))
            }
            Ok(ToolOutcome::Effect(mut requested)) => {
                if let Some((_, planned)) = planned {
                    set_origins(entry, planned, &mut requested);
                }
                let step = EffectfulStep { entry, task, index, name, tool: tool.name(), action_id };
                self.plan_effect(&step, *requested, changes)
            }
            Ok(ToolOutcome::LeftToPerson(why)) => Ok(self.leave_step_to_person(entry, task, step, &why)),
            Ok(ToolOutcome::ReplacedBy { .. }) if planned.is_some() => {
                Ok(self.leave_step_to_person(entry, task, step, "only you know what to write"))
            }
            Ok(ToolOutcome::ReplacedBy { steps, step }) => {
                let is_left = |other: &dyn Tool| !steps.contains(&other.name());
                let is_agents = self.tools.get(step).is_some() && !has_output(task, step);
                let is_more = is_agents || self.untried_steps(task).any(|(_, other)| is_left(other));
                let next = if is_more { Move::Again } else { Move::Next };
                let steps = steps.iter().map(|step| (*step).to_owned()).collect();
                let replace = Change::ReplaceSteps { steps, by: step.to_owned() };
                Ok(NodeOutput::from_move(next).with_changes(vec![replace]))
            }
            Err(cannot) => Ok(park_failed_step(entry, task, name, &cannot.0, changes)),
        }
    }

    /// Returns the output that leaves a step to the person, with the reason.
    fn leave_step_to_person(&self, entry: &NodeInput<'_>, task: &Task, step: &AgentStep<'_>, why: &str) -> NodeOutput {
        let value = json!({ StepOutput::LEFT_TO_PERSON: why });
        self.go_on(entry, task, step.index, vec![Change::Output { step: step.name.to_owned(), value }])
    }

    /// Returns what the tool needs beside its task, or the output that calls for the first part that is missing.
    fn gather_tool_replies(
        &self,
        entry: &NodeInput<'_>,
        task: &Task,
        step: &AgentStep<'_>,
    ) -> anyhow::Result<ControlFlow<NodeOutput, ToolReplies>> {
        let tool = step.tool;
        let invoices: Option<Vec<InvoiceRow>> = entry.find_reply(|call| *call == Call::Invoices)?;
        if tool.reads_invoices() && invoices.is_none() {
            return Ok(ControlFlow::Break(NodeOutput::from_call(Call::Invoices)));
        }
        let documents: Option<Vec<ContextDoc>> = entry.find_reply(|call| matches!(call, Call::Recall { .. }))?;
        if let (Some(words), None) = (tool.search_words(step.arguments()), &documents) {
            let (words, invoice) = (words.to_owned(), String::new());
            let call = Call::Recall { mail_id: None, thread: String::new(), person: String::new(), words, invoice };
            return Ok(ControlFlow::Break(NodeOutput::from_call(call)));
        }
        let worded = tool.accepts_wording(task) && entry.has_model;
        let thread: Option<Vec<ThreadMail>> = entry.find_reply(|call| matches!(call, Call::Thread { .. }))?;
        if (tool.reads_thread() || worded) && thread.is_none() {
            let thread = entry.mail.map(|mail| mail.thread.clone()).unwrap_or_default();
            return Ok(ControlFlow::Break(NodeOutput::from_call(Call::Thread { thread })));
        }
        let busy_times: Option<BusyTimes> = entry.find_reply(|call| matches!(call, Call::BusyTimes { .. }))?;
        let held_times: Option<Vec<HeldTime>> = entry.find_reply(|call| matches!(call, Call::HeldTimes { .. }))?;
        if let (Some((from, to)), None) = (tool.needs_free_times(task, entry.now), &busy_times) {
            return Ok(ControlFlow::Break(NodeOutput::from_call(Call::BusyTimes { from, to })));
        }
        if let (Some((from, to)), None) = (tool.needs_held_times(task, entry.now), &held_times) {
            return Ok(ControlFlow::Break(NodeOutput::from_call(Call::HeldTimes { from, to })));
        }
        let in_calendar: Option<CalendarLookup> =
            entry.find_reply(|call| matches!(call, Call::CalendarEvent { .. }))?;
        let invite = entry.mail.and_then(|mail| mail.invite.as_ref()).filter(|_| tool.reads_invited_events());
        if let (Some(invite), None) = (invite, &in_calendar) {
            return Ok(ControlFlow::Break(NodeOutput::from_call(Call::CalendarEvent { uid: invite.uid.clone() })));
        }
        let thread = thread.unwrap_or_default();
        let wording = match self.obtain_wording(entry, task, worded, &thread)? {
            ControlFlow::Continue(wording) => wording,
            ControlFlow::Break(asking) => return Ok(ControlFlow::Break(asking)),
        };
        let material = match self.find_material(entry, task, tool)? {
            ControlFlow::Continue(material) => material,
            ControlFlow::Break(asking) => return Ok(ControlFlow::Break(asking)),
        };
        let writes = tool.writes_letter(task) || material.is_some();
        let letters: Option<Vec<OwnLetter>> = entry.find_reply(|call| matches!(call, Call::OwnLetters { .. }))?;
        if let (Some(mail), None, true) = (entry.mail, &letters, wording.is_none() && writes) {
            let person = mail.from.addr.clone();
            return Ok(ControlFlow::Break(NodeOutput::from_call(Call::OwnLetters { person })));
        }
        let letters = letters.unwrap_or_default();
        let (busy_times, held_times) = (busy_times.unwrap_or_default(), held_times.unwrap_or_default());
        let in_calendar = in_calendar.unwrap_or_default();
        let (invoices, documents) = (invoices.unwrap_or_default(), documents.unwrap_or_default());
        Ok(ControlFlow::Continue(ToolReplies {
            thread,
            busy_times,
            held_times,
            in_calendar,
            letters,
            wording,
            material,
            invoices,
            documents,
        }))
    }

    /// Returns what the person's own files and mails hold for the step, or the output that calls for it.
    fn find_material(
        &self,
        entry: &NodeInput<'_>,
        task: &Task,
        tool: &dyn Tool,
    ) -> anyhow::Result<ControlFlow<NodeOutput, Option<FoundMaterial>>> {
        let wanted = tool.wanted_material(task).filter(|_| entry.mail.is_some());
        Ok(match wanted {
            None => ControlFlow::Continue(None),
            Some(WantedMaterial::File(name)) => {
                match entry.find_reply::<Option<FoundFile>>(|call| matches!(call, Call::ReadFile { .. }))? {
                    Some(found) => ControlFlow::Continue(found.map(FoundMaterial::File)),
                    None => ControlFlow::Break(NodeOutput::from_call(Call::ReadFile { name: name.to_owned() })),
                }
            }
            Some(WantedMaterial::Answer(_)) if entry.state.context_docs.is_empty() => ControlFlow::Continue(None),
            Some(WantedMaterial::Answer(question)) => {
                match entry.find_reply::<Option<EarlierAnswer>>(|call| matches!(call, Call::EarlierAnswer { .. }))? {
                    Some(found) => ControlFlow::Continue(found.map(FoundMaterial::Answer)),
                    None => {
                        let documents = entry.state.context_docs.iter().map(|found| found.doc.clone()).collect();
                        let call = Call::EarlierAnswer { question: question.to_owned(), documents };
                        ControlFlow::Break(NodeOutput::from_call(call))
                    }
                }
            }
        })
    }

    /// Returns a model's wording for a step that can use it, or the output that calls for it. Returns no wording when
    /// there is no model or no mail; the tool then uses its own.
    fn obtain_wording(
        &self,
        entry: &NodeInput<'_>,
        task: &Task,
        wanted: bool,
        thread: &[ThreadMail],
    ) -> anyhow::Result<ControlFlow<NodeOutput, Option<ReplyWording>>> {
        let Some(mail) = entry.mail.filter(|_| wanted) else { return Ok(ControlFlow::Continue(None)) };
        if let Some(heard) = entry.find_model_reply(Prompt::DraftReply)? {
            return Ok(ControlFlow::Continue(wording::draft_wording(&heard)));
        }
        let Some(style) = entry.find_reply::<Vec<String>>(|call| matches!(call, Call::Style { .. }))? else {
            return Ok(ControlFlow::Break(NodeOutput::from_call(Call::Style { person: mail.from.addr.clone() })));
        };
        let asking = wording::request_draft(entry, mail, &self.me, task, (thread, &style));
        Ok(asking.map_or(ControlFlow::Continue(None), ControlFlow::Break))
    }
}

/// Returns the change that puts the task in progress, if this is its first tool call.
fn in_progress_changes(task: &Task) -> Vec<Change> {
    if task.status == TaskStatus::Ready {
        vec![Change::Status { to: TaskStatus::InProgress, why: "tool call kicked off".into() }]
    } else {
        Vec::new()
    }
}

/// Adds the changes that store a step's output and mark the step as done.
fn complete_step(mut changes: Vec<Change>, index: usize, step: &str, value: Value) -> Vec<Change> {
    changes.push(Change::Output { step: step.to_owned(), value });
    changes.push(Change::StepDone { index });
    changes
}

/// Returns the id of the step's effect, derived from task, step and generation and never from the run. Every run that
/// plans this effect, also after a crash, gets the same id, so that it happens once.
fn derive_action_id(entry: &NodeInput<'_>, task: &Task, step: &str) -> ActionId {
    ActionId::derive(task.created_at, &[&task.task_id.to_string(), step, &entry.state.generation.to_string()])
}

/// Returns whether the step is a reminder that somebody asked for. Setting it does not complete the step; showing it
/// does.
fn completes_when_shown(entry: &NodeInput<'_>, step: &str) -> bool {
    step == "remind" && entry.state.facts.as_ref().is_some_and(|facts| is_reminder(facts.kind))
}

/// Adds the result of an effect to the output of its step, under the name of the effect's state.
fn with_effect_result(mut output: Value, state: OutboxState, result: String) -> Value {
    if let Value::Object(fields) = &mut output {
        fields.insert(state.to_string(), Value::from(result));
    }
    output
}

/// Returns the output that parks a task whose step failed. A task has no failed status: it waits for a person, who
/// decides to retry, to skip the step or to cancel the task.
pub(super) fn park_failed_step(
    entry: &NodeInput<'_>,
    task: &Task,
    step: &str,
    error: &str,
    mut changes: Vec<Change>,
) -> NodeOutput {
    // Another step of the plan may have parked the task already.
    if task.status != TaskStatus::WaitingHitl {
        changes.push(Change::Status { to: TaskStatus::WaitingHitl, why: format!("{step} failed: {error}") });
    }
    // The other runs of a plan see by the output that the step waits for a person.
    if task.context.more.contains_key(TaskPlan::KEY) {
        changes.push(Change::Output { step: step.to_owned(), value: StepOutput::failed(error) });
    }
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
