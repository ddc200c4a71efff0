//! The node plan_step: reads a mail, and opens a task for each thing it asks for, links it to open tasks, or records
//! why it is neither.

use std::sync::Arc;

use anyhow::Context as _;
use serde_json::Value;

use super::{
    asked_files, follow_up,
    mail_plan::{is_complex_request, plan_mail_request},
    wording,
};
use crate::{
    followup::{self, FollowUpOutcome, Situation},
    graph::entry::{Call, Node, NodeInput, NodeOutput},
    llm::Prompt,
    model::{
        ActionId, Addressed, Change, Direction, ExtractedTask, Facts, FactsKind, Mail, MailContext, MailState,
        MailboxKind, MatchedAct, Me, Move, NewRun, NodeName, PlannedRuleEffect, Priority, Reading, RelatedTask, RunId,
        RunKind, RunState, SentenceScores, Subtask, Task, TaskContext, TaskId, TaskStatus, Turn, WarningKind,
        reading::{MailWarning, NoTask},
    },
    reading::{self, FirstReading, ReadContext, Relation},
    rules::TaskRuleMatch,
    tool::Registry,
};

/// The node plan_step, with the person it reads for and the tools that steps may name.
pub(super) struct PlanStep {
    pub(super) me: Arc<Me>,
    pub(super) tools: Arc<Registry>,
    /// Whether a mail that asks for several things gets a plan.
    pub(super) plans_requests: bool,
}

impl Node for PlanStep {
    fn evaluate(&self, entry: &NodeInput<'_>) -> anyhow::Result<NodeOutput> {
        let mail = entry.mail.context("the mail of this run is not in the store")?;
        let mail_id = entry.state.mail_id.context("the run has no mail")?;
        let Some(mut known) = entry.find_reply::<MailContext>(|call| matches!(call, Call::MailContext { .. }))? else {
            return Ok(NodeOutput::from_call(Call::MailContext { mail_id }));
        };
        let context = self.read_context(entry, &known);
        let mut reading = match read_mail(entry, mail, &context)? {
            FirstReading::Done(reading) => reading,
            FirstReading::InDoubt(sentences) => {
                return Ok(NodeOutput::from_call(Call::SecondReading { sentences }));
            }
        };
        if entry.state.forced && reading.tasks.is_empty() {
            reading.tasks.push(reading::plan_forced_task(mail, &context));
            reading.reason = "a person said: this is a task".into();
        }
        let warnings = reading.warnings.clone();
        if entry.state.archive {
            // The person knows the warnings and decided: they do not hold back what the person asked for.
            reading.warnings.clear();
            reading.tasks = vec![reading::plan_archive_task(mail)];
            reading.reason = "a person said: archive it".into();
        }
        let about = self.mail_facts(entry, mail, &known, &reading);
        // Nothing is learned about unverified senders, because anybody can forge their address.
        if about.sender_verified && !entry.state.is_overruled() && known.direction == Direction::In {
            let Some(taught) =
                entry.find_reply::<Option<TaskRuleMatch>>(|call| matches!(call, Call::LearnedReading { .. }))?
            else {
                return Ok(NodeOutput::from_call(Call::LearnedReading { facts: Box::new(about) }));
            };
            apply_learned_reading(&mut reading, taught, mail, &context);
        }
        let Some(acts) = self.ask_rule_acts(entry, &known, &reading)? else {
            let about = self.mail_facts(entry, mail, &known, &reading);
            // As in the ledger, a mail is of the kind of its first task.
            let facts = Box::new(reading.tasks.first().map_or_else(|| about.clone(), |plan| about.for_task(plan)));
            return Ok(NodeOutput::from_call(Call::RuleActs { facts }));
        };
        let requests =
            if entry.state.is_overruled() { Vec::new() } else { followup::invoice_fingerprints(mail, &reading.tasks) };
        if !requests.is_empty() {
            let Some(same) =
                entry.find_reply::<Vec<RelatedTask>>(|call| matches!(call, Call::TasksWithFingerprints { .. }))?
            else {
                return Ok(NodeOutput::from_call(Call::TasksWithFingerprints { fingerprints: requests }));
            };
            followup::merge_tasks(&mut known.tasks, same);
        }
        if let Some(asking) = asked_files::note_asked_files(entry, &known, &mut reading)? {
            return Ok(asking);
        }
        let mut step = self.open_or_link_tasks(entry, mail, &known, &reading);
        step.runs.extend(effect_run(entry, &known, acts));
        if !warnings.is_empty() || entry.state.genuine {
            set_warnings(&mut step, &warnings);
        }
        match entry.find_model_reply(Prompt::PlanStep)? {
            Some(heard) => Ok(wording::apply_plan_wording(step, &heard, &self.tools)),
            None if entry.has_model && !entry.state.archive => {
                Ok(wording::request_plan_wording(&step, mail, &self.me, &reading.language).unwrap_or(step))
            }
            None => Ok(step),
        }
    }
}

/// Reads the mail, once for all evaluations of a visit.
fn read_mail(entry: &NodeInput<'_>, mail: &Mail, context: &ReadContext<'_>) -> anyhow::Result<FirstReading> {
    if let Some(reading) = entry.reading_cache.get() {
        return Ok(FirstReading::Done(reading.clone()));
    }
    let heard = entry.find_reply::<Vec<SentenceScores>>(|call| matches!(call, Call::SecondReading { .. }))?;
    let reading = if heard.is_none() && entry.has_second_reader {
        match reading::read_unless_in_doubt(mail, context) {
            FirstReading::Done(reading) => reading,
            in_doubt @ FirstReading::InDoubt(_) => return Ok(in_doubt),
        }
    } else {
        let second_reading = heard.unwrap_or_default();
        reading::read(mail, &ReadContext { second_reading: &second_reading, ..*context })
    };
    Ok(FirstReading::Done(entry.reading_cache.get_or_init(|| reading).clone()))
}

/// Adds the warnings to the outcome of the mail.
fn set_warnings(step: &mut NodeOutput, found: &[MailWarning]) {
    for change in &mut step.changes {
        if let Change::Settle { warnings, .. } = change {
            *warnings = Some(found.to_vec());
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
    /// Returns what a person's rules do to the mail; none while they were not asked. They do nothing to the person's own
    /// mail, to one that was read again because of a correction, and to one that looks like phishing.
    fn ask_rule_acts(
        &self,
        entry: &NodeInput<'_>,
        known: &MailContext,
        reading: &Reading,
    ) -> anyhow::Result<Option<Vec<MatchedAct>>> {
        let is_phishing = reading.warnings.iter().any(|warning| warning.kind == WarningKind::Phishing);
        let applies =
            entry.has_rule_acts && known.direction == Direction::In && !entry.state.is_overruled() && !is_phishing;
        if !applies {
            return Ok(Some(Vec::new()));
        }
        entry.find_reply(|call| matches!(call, Call::RuleActs { .. }))
    }

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
    /// A person who declared the mail to be a task or genuine overrides muting and linking.
    fn open_or_link_tasks(
        &self,
        entry: &NodeInput<'_>,
        mail: &Mail,
        known: &MailContext,
        reading: &Reading,
    ) -> NodeOutput {
        let about = self.mail_facts(entry, mail, known, reading);
        let told = followup::facts_for_link(mail, known.direction, &about);
        if known.muted && !entry.state.is_overruled() {
            return skip_without_task(about, NoTask::Overruled, "a person muted this sender");
        }
        if let Some((task, evidence)) =
            followup::find_changed_event(mail, &known.tasks).filter(|_| !entry.state.is_overruled())
        {
            return follow_up::follow_event(entry, known, told, (task, evidence), reading.tasks.first());
        }
        let turn = self.read_turn(entry, mail, known);
        let situation = Situation { mail, known, turn: &turn, now: entry.now, content_words: reading::content_words };
        let decision = if entry.state.is_overruled() {
            FollowUpOutcome { fresh: reading.tasks.iter().collect(), ..FollowUpOutcome::default() }
        } else {
            followup::decide(situation, &reading.tasks)
        };
        let appointments = followup::appointments_of(&situation, reading, &decision);
        let mut step = match (decision.fresh.is_empty(), decision.links.is_empty()) {
            (true, true) => {
                let (no_task, reason) =
                    decision.quiet.unwrap_or_else(|| (reading.no_task.unwrap_or(NoTask::Fyi), reading.reason.clone()));
                skip_without_task(about, no_task, &reason)
            }
            (true, false) => follow_up::link_follow_up(entry, known, told, &decision.links),
            (false, _) => {
                let mut step = self.open_tasks(entry, mail, known, reading, &about, &decision.fresh);
                follow_up::add_links(&mut step, entry, known, &told, &decision.links);
                step
            }
        };
        if !appointments.is_empty() {
            step.changes.push(Change::HoldTimes { appointments });
        }
        step
    }

    /// Returns what the mail says about the matter of its conversation; nothing when there is no conversation that it
    /// could change.
    fn read_turn(&self, entry: &NodeInput<'_>, mail: &Mail, known: &MailContext) -> Turn {
        if entry.state.forced || (known.tasks.is_empty() && !known.thread_mine) {
            return Turn::default();
        }
        reading::read_turn(mail, &self.read_context(entry, known))
    }

    fn read_context<'a>(&'a self, entry: &NodeInput<'_>, known: &MailContext) -> ReadContext<'a> {
        ReadContext {
            me: &self.me,
            now: known.arrived_at,
            known_contact: known.known_contact,
            thread_mine: known.thread_mine,
            second_reading: &[],
            is_genuine: entry.state.genuine,
        }
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
            let fingerprints =
                if entry.state.is_overruled() { Vec::new() } else { followup::task_fingerprints(mail, plan) };
            let seen = known.tasks.iter().map(|task| task.task_id).collect();
            step.changes.push(Change::OpenTask { task: Box::new(task), facts: Box::new(facts), fingerprints, seen });
        }
        let first = planned.first().map_or_else(|| about.clone(), |plan| about.for_task(plan));
        step.changes.push(Change::Settle {
            state: MailState::Task,
            reason: reading.reason.clone(),
            facts: Some(Box::new(first)),
            warnings: None,
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
        if entry.state.is_overruled() {
            parts.push(&run);
        }
        let agents = plan.steps.iter().any(|step| self.tools.get(step).is_some());
        let mut context = context(mail, known, reading, plan);
        let mut subtasks: Vec<Subtask> =
            plan.steps.iter().map(|step| Subtask { step: step.clone(), done: false }).collect();
        let planned =
            self.plans_requests.then(|| plan_mail_request(mail, reading, plan, &self.tools, entry.has_model)).flatten();
        if let Some(planned) = &planned {
            planned.store_in(&mut context);
            subtasks.extend(planned.subtasks());
        }
        // What the words of the mail do not divide is offered to a team, if there is a model for one.
        let is_for_team =
            planned.is_none() && self.plans_requests && entry.has_model && is_complex_request(reading, plan);
        let agent = match agents || planned.is_some() {
            _ if is_for_team => Some(Task::TASK_MANAGER),
            true => Some(Task::TOOLING_AGENT),
            false => None,
        };
        Task {
            task_id: TaskId::derive(known.arrived_at, &parts),
            created_at: entry.now,
            source,
            objective: plan.objective.clone(),
            context,
            priority: Priority::Low,
            status: TaskStatus::New,
            subtasks,
            assigned_agent: agent.map(str::to_owned),
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
    let mut context = TaskContext {
        person: plan.person.clone(),
        threads: vec![mail.thread.clone()],
        meeting_duration: plan.meeting_duration.clone(),
        deadline: plan.deadline.clone(),
        ..TaskContext::default()
    };
    for id in mail.references.iter().chain(&mail.message_id) {
        context.add_message(id);
    }
    let mut more = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            context.more.insert(key.into(), value);
        }
    };
    more("kind", Some(Value::from(plan.kind.as_str())));
    more(Task::PARTLY_ANSWERED, followup::is_partly_answered(&known.tasks).then_some(Value::from(true)));
    more("evidence", Some(Value::from(plan.evidence.clone())));
    more("amount", plan.amount.map(Value::from));
    more(
        TaskContext::WANTS_ANSWER,
        (plan.wants_answer != plan.kind.is_question()).then(|| Value::from(plan.wants_answer)),
    );
    more(TaskContext::ASKED, plan.asked.map(|asked| Value::from(asked.as_str())));
    more(
        TaskContext::ASKED_TIMES,
        plan.asked_times.as_ref().map(|asked| serde_json::to_value(asked).unwrap_or_default()),
    );
    more(TaskContext::FILE, plan.file.clone().map(Value::from));
    more(TaskContext::HAPPENS_AT, plan.happens_at.map(|at| Value::from(at.to_string())));
    more("currency", plan.currency.clone().map(Value::from));
    more("invoice_number", plan.invoice_number.clone().map(Value::from));
    more(
        TaskContext::WARNINGS,
        (!reading.warnings.is_empty()).then(|| serde_json::to_value(&reading.warnings).unwrap_or_default()),
    );
    context
}

/// Returns the run that does what a person's rules say; none if they say nothing. The ids of its effects are derived from
/// the mail, so that a repeated visit plans the same effects.
fn effect_run(entry: &NodeInput<'_>, known: &MailContext, acts: Vec<MatchedAct>) -> Option<NewRun> {
    let generation = 0_u32;
    let plan = |matched: MatchedAct| {
        let parts = [entry.run.account.as_str(), &known.source_key, &matched.act.step(), &generation.to_string()];
        PlannedRuleEffect { action_id: ActionId::derive(known.arrived_at, &parts), matched }
    };
    let rule_effects: Vec<PlannedRuleEffect> = acts.into_iter().map(plan).collect();
    (!rule_effects.is_empty()).then(|| NewRun {
        run_id: RunId::derive(entry.now, &[&entry.run.run_id.to_string(), "effect"]),
        account: entry.run.account.clone(),
        user: entry.run.user.clone(),
        kind: RunKind::Effect,
        parent_run: Some(entry.run.run_id),
        fork: None,
        node: NodeName::ExecuteTool,
        task_id: None,
        state: RunState {
            mail_id: entry.state.mail_id,
            mail_key: Some(known.source_key.clone()),
            generation,
            rule_effects,
            ..RunState::default()
        },
    })
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
    let settle = Change::Settle {
        state: MailState::NoTask,
        reason: reason.to_owned(),
        facts: Some(Box::new(facts)),
        warnings: None,
    };
    NodeOutput::from_move(Move::Skip { reason: reason.to_owned() }).with_changes(vec![settle])
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
