//! plan_step: reads the mail, and opens a task for everything it asks for, or says why there is none.

use std::{collections::HashSet, sync::Arc};

use anyhow::Context as _;
use serde_json::Value;

use super::wording;
use crate::{
    graph::entry::{Call, Entry, Node, Step},
    llm::Prompt,
    model::{
        Addressed, Change, Context, Direction, Facts, Mail, MailState, Me, Move, NodeName, PlannedTask, Priority,
        Reading, RunId, RunKind, RunState, Status, Subtask, Task, TaskId, TaskKind, plan::NoTask,
    },
    planner::{self, ReadContext, Relation},
    store::{
        query_words,
        value::{Acquaintance, NewRun, ThreadTask},
    },
    tool::Registry,
};

pub(super) struct PlanStep {
    pub(super) me: Arc<Me>,
    pub(super) tools: Arc<Registry>,
}

impl Node for PlanStep {
    fn enter(&self, entry: &Entry<'_>) -> anyhow::Result<Step> {
        let mail = entry.mail.context("the mail of this run is not in the store")?;
        let mail_id = entry.state.mail_id.context("the run has no mail")?;
        let Some(known) = entry.reply::<Acquaintance>(|call| matches!(call, Call::Acquaintance { .. }))? else {
            return Ok(Step::ask(Call::Acquaintance { mail_id }));
        };
        let context = ReadContext {
            me: &self.me,
            now: known.arrived_at,
            known_contact: known.known_contact,
            thread_mine: known.thread_mine,
        };
        let mut reading = planner::read(mail, &context);
        if entry.state.forced && reading.tasks.is_empty() {
            reading.tasks.push(planner::forced(mail, &context));
            reading.reason = "a person said: this is a task".into();
        }
        let step = self.decide(entry, mail, &known, &reading);
        match entry.heard(Prompt::PlanStep)? {
            Some(heard) => Ok(wording::with_plan(step, &heard, &self.tools)),
            None if entry.model => Ok(wording::ask_for_plan(&step, mail, &self.me, &reading.language).unwrap_or(step)),
            None => Ok(step),
        }
    }
}

impl PlanStep {
    fn decide(&self, entry: &Entry<'_>, mail: &Mail, known: &Acquaintance, reading: &Reading) -> Step {
        let relation = Relation {
            known_contact: known.known_contact,
            thread_mine: known.thread_mine,
            addressed: Some(addressed(mail, known, &self.me)),
        };
        let about = planner::facts(mail, reading, entry.run.account.as_str(), &relation);
        if known.muted && !entry.state.forced {
            return none(about, NoTask::Overruled, "a person muted this sender");
        }
        if reading.tasks.is_empty() {
            let Some(task) = known.tasks.first().filter(|_| !mail.references.is_empty()) else {
                let no_task = reading.no_task.unwrap_or(NoTask::Fyi);
                return none(about, no_task, &reading.reason);
            };
            return follow_up(entry, about, task, "a reply in the conversation of this task");
        }
        let fresh: Vec<&PlannedTask> =
            reading.tasks.iter().filter(|planned| !continues(planned, known, entry)).collect();
        match (fresh.is_empty(), known.tasks.first()) {
            (true, Some(task)) => follow_up(entry, about, task, "asks again for what this task is about"),
            _ => self.open(entry, mail, known, reading, &about, &fresh),
        }
    }

    fn open(
        &self,
        entry: &Entry<'_>,
        mail: &Mail,
        known: &Acquaintance,
        reading: &Reading,
        about: &Facts,
        planned: &[&PlannedTask],
    ) -> Step {
        let mut step = Step::go(Move::Next);
        for (ordinal, plan) in planned.iter().enumerate() {
            let task = self.task(entry, mail, known, reading, plan, ordinal);
            let facts = about.of(plan);
            step.runs.push(task_run(entry, known, &task, &facts));
            step.changes.push(Change::OpenTask { task: Box::new(task), facts: Box::new(facts) });
        }
        let first = planned.first().map_or_else(|| about.clone(), |plan| about.of(plan));
        step.changes.push(Change::Settle {
            state: MailState::Task,
            reason: reading.reason.clone(),
            facts: Some(Box::new(first)),
        });
        step
    }

    fn task(
        &self,
        entry: &Entry<'_>,
        mail: &Mail,
        known: &Acquaintance,
        reading: &Reading,
        plan: &PlannedTask,
        ordinal: usize,
    ) -> Task {
        let source = source(mail);
        // What a person took back stays taken back: their second word opens a task of its own.
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
            context: context(mail, reading, plan),
            priority: Priority::Low,
            status: Status::New,
            subtasks: plan.steps.iter().map(|step| Subtask { step: step.clone(), done: false }).collect(),
            assigned_agent: agents.then(|| Task::TOOLING_AGENT.to_owned()),
            last_updated: entry.now,
            tool_output: None,
            result_summary: None,
        }
    }
}

fn source(mail: &Mail) -> String {
    let id = mail.message_id.as_deref().map_or_else(|| format!("sha256:{}", mail.content_sha256), str::to_owned);
    format!("email:{id}")
}

fn context(mail: &Mail, reading: &Reading, plan: &PlannedTask) -> Context {
    let mut threads = vec![mail.thread.clone()];
    threads.extend(mail.message_id.iter().filter(|id| **id != mail.thread).cloned());
    let mut context = Context {
        person: plan.person.clone(),
        threads,
        meeting_duration: plan.meeting_duration.clone(),
        deadline: plan.deadline.clone(),
        ..Context::default()
    };
    let mut more = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            context.more.insert(key.into(), value);
        }
    };
    more("kind", Some(Value::from(plan.kind.as_str())));
    more("evidence", Some(Value::from(plan.evidence.clone())));
    more("amount", plan.amount.map(Value::from));
    more("currency", plan.currency.clone().map(Value::from));
    more("invoice_number", plan.invoice_number.clone().map(Value::from));
    more(
        "warnings",
        (!reading.warnings.is_empty()).then(|| serde_json::to_value(&reading.warnings).unwrap_or_default()),
    );
    context
}

/// A run of its own for the task; where it starts is for the graph to say.
fn task_run(entry: &Entry<'_>, known: &Acquaintance, task: &Task, facts: &Facts) -> NewRun {
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
            task: Some(task.clone()),
            facts: Some(facts.clone()),
            ..RunState::default()
        },
    }
}

fn none(facts: Facts, kind: NoTask, reason: &str) -> Step {
    let facts = Facts { kind: kind.to_string(), ..facts };
    let settle = Change::Settle { state: MailState::NoTask, reason: reason.to_owned(), facts: Some(Box::new(facts)) };
    Step::go(Move::Skip { reason: reason.to_owned() }).changing(vec![settle])
}

fn follow_up(entry: &Entry<'_>, facts: Facts, task: &ThreadTask, reason: &str) -> Step {
    let facts = Box::new(Facts { kind: "follow_up".into(), ..facts });
    let mut step = Step::go(Move::Next).changing(vec![
        Change::LinkMail { task_id: task.task_id, facts: facts.clone() },
        Change::Settle {
            state: MailState::Linked,
            reason: format!("{reason}: {}", task.objective),
            facts: Some(facts),
        },
    ]);
    step.runs.push(NewRun {
        run_id: RunId::derive(entry.now, &[&entry.run.run_id.to_string(), &task.task_id.to_string()]),
        account: entry.run.account.clone(),
        user: entry.run.user.clone(),
        kind: RunKind::Rank,
        parent_run: Some(entry.run.run_id),
        fork: None,
        node: NodeName::Prioritise,
        task_id: Some(task.task_id),
        state: RunState { mail_id: entry.state.mail_id, ..RunState::default() },
    });
    step
}

/// The same request once more: an open task of the conversation is the same meeting, invoice or alert, or shares half of
/// the words.
fn continues(planned: &PlannedTask, known: &Acquaintance, entry: &Entry<'_>) -> bool {
    if entry.state.forced {
        return false;
    }
    let words: HashSet<String> = query_words(&planned.objective).into_iter().collect();
    known.tasks.iter().any(|task| {
        let shared = query_words(&task.objective).iter().filter(|word| words.contains(*word)).count();
        (is_one_thing(planned.kind) && task.kind == planned.kind.as_str()) || shared * 2 >= words.len().max(1)
    })
}

/// A conversation is about one of these; of requests and questions it may hold many.
const fn is_one_thing(kind: TaskKind) -> bool {
    matches!(kind, TaskKind::Meeting | TaskKind::Invitation | TaskKind::Invoice | TaskKind::Alert)
}

fn addressed(mail: &Mail, known: &Acquaintance, me: &Me) -> Addressed {
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
