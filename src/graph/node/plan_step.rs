//! The node plan_step: reads a mail, and opens a task for each thing it asks for, links it to open tasks, or records
//! why it is neither.

use std::sync::Arc;

use anyhow::Context as _;
use serde_json::Value;

use super::wording;
use crate::{
    followup,
    graph::entry::{Call, Node, NodeInput, NodeOutput},
    llm::Prompt,
    model::{
        Addressed, Change, Direction, ExtractedTask, Facts, FactsKind, Mail, MailContext, MailState, MailboxKind, Me,
        Move, NewRun, NodeName, Priority, Reading, RelatedTask, RunId, RunKind, RunState, Subtask, Task, TaskContext,
        TaskId, TaskStatus, reading::NoTask,
    },
    reading::{self, ReadContext, Relation},
    rules::TaskRuleMatch,
    tool::Registry,
};

/// The node plan_step, with the person it reads for and the tools that steps may name.
pub(super) struct PlanStep {
    pub(super) me: Arc<Me>,
    pub(super) tools: Arc<Registry>,
}

impl Node for PlanStep {
    fn evaluate(&self, entry: &NodeInput<'_>) -> anyhow::Result<NodeOutput> {
        let mail = entry.mail.context("the mail of this run is not in the store")?;
        let mail_id = entry.state.mail_id.context("the run has no mail")?;
        let Some(mut known) = entry.find_reply::<MailContext>(|call| matches!(call, Call::MailContext { .. }))? else {
            return Ok(NodeOutput::from_call(Call::MailContext { mail_id }));
        };
        let context = ReadContext {
            me: &self.me,
            now: known.arrived_at,
            known_contact: known.known_contact,
            thread_mine: known.thread_mine,
        };
        let mut reading = entry.reading_cache.get_or_init(|| reading::read(mail, &context)).clone();
        if entry.state.forced && reading.tasks.is_empty() {
            reading.tasks.push(reading::plan_forced_task(mail, &context));
            reading.reason = "a person said: this is a task".into();
        }
        let about = self.mail_facts(entry, mail, &known, &reading);
        // Nothing is learned about unverified senders, because anybody can forge their address.
        if about.sender_verified && !entry.state.forced && known.direction == Direction::In {
            let Some(taught) =
                entry.find_reply::<Option<TaskRuleMatch>>(|call| matches!(call, Call::LearnedReading { .. }))?
            else {
                return Ok(NodeOutput::from_call(Call::LearnedReading { facts: Box::new(about) }));
            };
            apply_learned_reading(&mut reading, taught, mail, &context);
        }
        let invoices =
            if entry.state.forced { Vec::new() } else { followup::invoice_fingerprints(mail, &reading.tasks) };
        if !invoices.is_empty() {
            let Some(same) =
                entry.find_reply::<Vec<RelatedTask>>(|call| matches!(call, Call::TasksAboutInvoice { .. }))?
            else {
                return Ok(NodeOutput::from_call(Call::TasksAboutInvoice { invoices }));
            };
            followup::merge_tasks(&mut known.tasks, same);
        }
        let step = self.open_or_link_tasks(entry, mail, &known, &reading);
        match entry.find_model_reply(Prompt::PlanStep)? {
            Some(heard) => Ok(wording::apply_plan_wording(step, &heard, &self.tools)),
            None if entry.has_model => {
                Ok(wording::request_plan_wording(&step, mail, &self.me, &reading.language).unwrap_or(step))
            }
            None => Ok(step),
        }
    }
}

/// Overrides the reading by an entry of the learned rules: such mails are never tasks, or always.
fn apply_learned_reading(reading: &mut Reading, taught: Option<TaskRuleMatch>, mail: &Mail, context: &ReadContext<'_>) {
    match taught {
        Some(taught) if !taught.opens && !reading.tasks.is_empty() => {
            reading.tasks.clear();
            reading.no_task = Some(NoTask::Overruled);
            reading.reason = format!("learned ({}): {}", taught.entry, taught.why);
        }
        Some(taught) if taught.opens && reading.tasks.is_empty() => {
            reading.tasks.push(reading::plan_forced_task(mail, context));
            reading.no_task = None;
            reading.reason = format!("learned ({}): {}", taught.entry, taught.why);
        }
        _ => {}
    }
}

impl PlanStep {
    /// Returns the facts of the mail, which rules match against.
    fn mail_facts(&self, entry: &NodeInput<'_>, mail: &Mail, known: &MailContext, reading: &Reading) -> Facts {
        let relation = Relation {
            known_contact: known.known_contact,
            thread_mine: known.thread_mine,
            addressed: Some(addressed(mail, known, &self.me)),
        };
        reading::collect_facts(mail, reading, entry.run.account.as_str(), &relation)
    }

    /// Decides what the mail becomes, in this order: nothing because its sender is muted, a change of an event that a
    /// task is about, a follow-up, nothing because it asks for nothing, or new tasks beside follow-ups.
    ///
    /// A person who declared the mail to be a task (`forced`) overrides muting and linking.
    fn open_or_link_tasks(
        &self,
        entry: &NodeInput<'_>,
        mail: &Mail,
        known: &MailContext,
        reading: &Reading,
    ) -> NodeOutput {
        let about = self.mail_facts(entry, mail, known, reading);
        let told = followup::facts_for_link(mail, &about);
        if known.muted && !entry.state.forced {
            return skip_without_task(about, NoTask::Overruled, "a person muted this sender");
        }
        if let Some((task, evidence)) = followup::find_changed_event(mail, &known.tasks).filter(|_| !entry.state.forced)
        {
            return follow_event(entry, known, told, (task, evidence), reading.tasks.first());
        }
        if reading.tasks.is_empty() {
            let Some(task) = followup::find_answered_task(mail, &known.tasks) else {
                let no_task = reading.no_task.unwrap_or(NoTask::Fyi);
                return skip_without_task(about, no_task, &reading.reason);
            };
            return link_follow_up(entry, told, &[(task, followup::reply_evidence(task).to_owned())]);
        }
        let mut fresh = Vec::new();
        let mut again: Vec<(&RelatedTask, String)> = Vec::new();
        for planned in &reading.tasks {
            match followup::find_same_task(planned, mail, &known.tasks).filter(|_| !entry.state.forced) {
                Some(found) if again.iter().any(|(task, _)| task.task_id == found.0.task_id) => {}
                Some(found) => again.push(found),
                None => fresh.push(planned),
            }
        }
        if fresh.is_empty() {
            return link_follow_up(entry, told, &again);
        }
        let mut step = self.open_tasks(entry, mail, known, reading, &about, &fresh);
        let links = again.iter().map(|(task, evidence)| link_change(task, &told, evidence));
        let settled = step.changes.pop();
        step.changes.extend(links.chain(settled));
        step.runs.extend(again.iter().map(|(task, _)| rank_run(entry, task)));
        step
    }

    /// Returns the output that opens the planned tasks, each with a run of its own, and settles the mail as a task.
    fn open_tasks(
        &self,
        entry: &NodeInput<'_>,
        mail: &Mail,
        known: &MailContext,
        reading: &Reading,
        about: &Facts,
        planned: &[&ExtractedTask],
    ) -> NodeOutput {
        let mut step = NodeOutput::from_move(Move::Next);
        for (ordinal, plan) in planned.iter().enumerate() {
            let task = self.build_task(entry, mail, known, reading, plan, ordinal);
            let facts = about.for_task(plan);
            step.runs.push(task_run(entry, known, &task, &facts));
            let fingerprints = if entry.state.forced { Vec::new() } else { followup::task_fingerprints(mail, plan) };
            let seen = known.tasks.iter().map(|task| task.task_id).collect();
            step.changes.push(Change::OpenTask { task: Box::new(task), facts: Box::new(facts), fingerprints, seen });
        }
        let first = planned.first().map_or_else(|| about.clone(), |plan| about.for_task(plan));
        step.changes.push(Change::Settle {
            state: MailState::Task,
            reason: reading.reason.clone(),
            facts: Some(Box::new(first)),
        });
        step
    }

    /// Returns a new task. Its id is derived from the arrival, the account, the mail's key and the ordinal, so that a
    /// repeated visit opens the same task and not a second one.
    fn build_task(
        &self,
        entry: &NodeInput<'_>,
        mail: &Mail,
        known: &MailContext,
        reading: &Reading,
        plan: &ExtractedTask,
        ordinal: usize,
    ) -> Task {
        let source = source(mail, known);
        // A task that a person took back stays cancelled: when they declare the mail a task again, it opens another
        // one.
        let (nth, run) = (ordinal.to_string(), entry.run.run_id.to_string());
        let mut parts = vec![entry.run.account.as_str(), &known.source_key, &nth];
        if entry.state.forced {
            parts.push(&run);
        }
        let agents = plan.steps.iter().any(|step| self.tools.get(step).is_some());
        Task {
            task_id: TaskId::derive(known.arrived_at, &parts),
            created_at: entry.now,
            source,
            objective: plan.objective.clone(),
            context: context(mail, known, reading, plan),
            priority: Priority::Low,
            status: TaskStatus::New,
            subtasks: plan.steps.iter().map(|step| Subtask { step: step.clone(), done: false }).collect(),
            assigned_agent: agents.then(|| Task::TOOLING_AGENT.to_owned()),
            last_updated: entry.now,
            tool_output: None,
            result_summary: None,
        }
    }
}

/// Returns the task's source: Gmail's id of the mail, otherwise its Message-ID, otherwise the digest of its content.
fn source(mail: &Mail, known: &MailContext) -> String {
    if known.kind == Some(MailboxKind::Gmail) {
        return format!("email:{}", known.source_key);
    }
    let id = mail.message_id.as_deref().map_or_else(|| format!("sha256:{}", mail.content_sha256), str::to_owned);
    format!("email:{id}")
}

/// Returns the task's context: the person, the conversation, the deadline, and the evidence and warnings for a person.
fn context(mail: &Mail, known: &MailContext, reading: &Reading, plan: &ExtractedTask) -> TaskContext {
    let mut threads = vec![mail.thread.clone()];
    threads.extend(mail.message_id.iter().filter(|id| **id != mail.thread).cloned());
    let mut context = TaskContext {
        person: plan.person.clone(),
        threads,
        meeting_duration: plan.meeting_duration.clone(),
        deadline: plan.deadline.clone(),
        ..TaskContext::default()
    };
    let mut more = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            context.more.insert(key.into(), value);
        }
    };
    more("kind", Some(Value::from(plan.kind.as_str())));
    more(Task::PARTLY_ANSWERED, followup::is_partly_answered(&known.tasks).then_some(Value::from(true)));
    more("evidence", Some(Value::from(plan.evidence.clone())));
    more("amount", plan.amount.map(Value::from));
    more("currency", plan.currency.clone().map(Value::from));
    more("invoice_number", plan.invoice_number.clone().map(Value::from));
    more(
        TaskContext::WARNINGS,
        (!reading.warnings.is_empty()).then(|| serde_json::to_value(&reading.warnings).unwrap_or_default()),
    );
    context
}

/// Returns the run of a new task. Its first node is set by the engine, where the topology leads.
fn task_run(entry: &NodeInput<'_>, known: &MailContext, task: &Task, facts: &Facts) -> NewRun {
    NewRun {
        run_id: RunId::derive(entry.now, &[&entry.run.run_id.to_string(), &task.task_id.to_string()]),
        account: entry.run.account.clone(),
        user: entry.run.user.clone(),
        kind: RunKind::Task,
        parent_run: Some(entry.run.run_id),
        fork: None,
        node: NodeName::Prioritise,
        task_id: Some(task.task_id),
        state: RunState {
            mail_id: entry.state.mail_id,
            mail_key: Some(known.source_key.clone()),
            task: Some(Arc::new(task.clone())),
            facts: Some(facts.clone()),
            ..RunState::default()
        },
    }
}

/// Returns the output that settles the mail as no task, with the reason.
fn skip_without_task(facts: Facts, kind: NoTask, reason: &str) -> NodeOutput {
    let facts = Facts { kind: FactsKind::NoTask(kind), ..facts };
    let settle = Change::Settle { state: MailState::NoTask, reason: reason.to_owned(), facts: Some(Box::new(facts)) };
    NodeOutput::from_move(Move::Skip { reason: reason.to_owned() }).with_changes(vec![settle])
}

/// Returns the output that links the mail to open tasks. The ledger names the first of them.
fn link_follow_up(entry: &NodeInput<'_>, facts: Facts, tasks: &[(&RelatedTask, String)]) -> NodeOutput {
    let mut changes: Vec<Change> = tasks.iter().map(|(task, evidence)| link_change(task, &facts, evidence)).collect();
    let reason = tasks.first().map(|(task, evidence)| format!("{evidence}: {}", task.objective)).unwrap_or_default();
    let facts = Some(Box::new(Facts { kind: FactsKind::FollowUp, ..facts }));
    changes.push(Change::Settle { state: MailState::Linked, reason, facts });
    let mut step = NodeOutput::from_move(Move::Next).with_changes(changes);
    step.runs.extend(tasks.iter().map(|(task, _)| rank_run(entry, task)));
    step
}

/// Returns the change that links the mail to one task.
fn link_change(task: &RelatedTask, facts: &Facts, evidence: &str) -> Change {
    let facts = Box::new(Facts { kind: FactsKind::FollowUp, ..facts.clone() });
    Change::LinkMail { task_id: task.task_id, facts, evidence: evidence.to_owned(), event: None }
}

/// Returns the output for a mail in which the organizer changes an event: its task takes over the change, and is worked
/// again unless the event is cancelled.
fn follow_event(
    entry: &NodeInput<'_>,
    known: &MailContext,
    facts: Facts,
    (task, evidence): (&RelatedTask, String),
    planned: Option<&ExtractedTask>,
) -> NodeOutput {
    let mut step = link_follow_up(entry, facts, &[(task, evidence)]);
    for change in &mut step.changes {
        if let Change::LinkMail { event, .. } = change {
            *event = Some(Box::new(followup::event_change(planned)));
        }
    }
    if planned.is_some() {
        step.runs.push(answer_run(entry, known, task));
    }
    step
}

/// Returns the run that answers a changed event. It has a new generation, so that its effects are not those of the last
/// answer.
fn answer_run(entry: &NodeInput<'_>, known: &MailContext, task: &RelatedTask) -> NewRun {
    let (parent, task_id) = (entry.run.run_id.to_string(), task.task_id.to_string());
    NewRun {
        run_id: RunId::derive(entry.now, &[&parent, &task_id, "answer"]),
        kind: RunKind::Decision,
        node: NodeName::ExecuteTool,
        state: RunState {
            mail_id: entry.state.mail_id,
            mail_key: Some(known.source_key.clone()),
            generation: task.answers,
            ..RunState::default()
        },
        ..rank_run(entry, task)
    }
}

/// Returns the run that ranks a task again after a follow-up, which may raise its priority.
fn rank_run(entry: &NodeInput<'_>, task: &RelatedTask) -> NewRun {
    NewRun {
        run_id: RunId::derive(entry.now, &[&entry.run.run_id.to_string(), &task.task_id.to_string()]),
        account: entry.run.account.clone(),
        user: entry.run.user.clone(),
        kind: RunKind::Rank,
        parent_run: Some(entry.run.run_id),
        fork: None,
        node: NodeName::Prioritise,
        task_id: Some(task.task_id),
        state: RunState { mail_id: entry.state.mail_id, ..RunState::default() },
    }
}

/// Returns how the mail reached the person: directly, by a list or as a copy.
fn addressed(mail: &Mail, known: &MailContext, me: &Me) -> Addressed {
    if known.direction == Direction::Out || mail.to.iter().any(|address| me.is_me(address)) {
        Addressed::To
    } else if mail.list_id.is_some() {
        Addressed::List
    } else if mail.cc.iter().any(|address| me.is_me(address)) {
        Addressed::Cc
    } else {
        Addressed::To
    }
}
