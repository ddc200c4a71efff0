//! Links a mail to the open tasks that it is about, as the changes and runs of its checkpoint.

use crate::{
    followup::{self, TaskLink},
    graph::entry::{NodeInput, NodeOutput},
    model::{
        Change, ExtractedTask, Facts, FactsKind, MailContext, MailState, Move, NewRun, NodeName, RelatedTask, RunId,
        RunKind, RunState, TaskUpdate,
    },
};

/// Returns the output that links the mail to open tasks. The ledger names the first of them.
pub(super) fn link_follow_up(
    entry: &NodeInput<'_>,
    known: &MailContext,
    facts: Facts,
    links: &[TaskLink<'_>],
) -> NodeOutput {
    let mut changes: Vec<Change> = links.iter().map(|link| link_change(link, &facts)).collect();
    let reason = links.first().map(|link| format!("{}: {}", link.evidence, link.task.objective)).unwrap_or_default();
    let facts = Some(Box::new(Facts { kind: FactsKind::FollowUp, ..facts }));
    changes.push(Change::Settle { state: MailState::Linked, reason, facts, warnings: None });
    let mut step = NodeOutput::from_move(Move::Next).with_changes(changes);
    step.runs.extend(runs_of_links(entry, known, links));
    step
}

/// Adds the links to the output that opens tasks, before the change that settles the mail.
pub(super) fn add_links(
    step: &mut NodeOutput,
    entry: &NodeInput<'_>,
    known: &MailContext,
    facts: &Facts,
    links: &[TaskLink<'_>],
) {
    let settled = step.changes.pop();
    step.changes.extend(links.iter().map(|link| link_change(link, facts)).chain(settled));
    step.runs.extend(runs_of_links(entry, known, links));
}

/// Returns the runs that rank the linked tasks again, and those that answer other times for a meeting. A task that the
/// mail ends needs none.
fn runs_of_links(entry: &NodeInput<'_>, known: &MailContext, links: &[TaskLink<'_>]) -> Vec<NewRun> {
    let open = || links.iter().filter(|link| link.update.end.is_none());
    let ranks = open().map(|link| rank_run(entry, link.task));
    // Who has not begun yet reads the times as they are now.
    let is_asked = |link: &&TaskLink<'_>| link.update.asked_times.is_some() && link.task.has_begun;
    let answers = open().filter(is_asked).map(|link| answer_run(entry, known, link.task));
    ranks.chain(answers).collect()
}

/// Returns the change that links the mail to one task.
fn link_change(link: &TaskLink<'_>, facts: &Facts) -> Change {
    Change::LinkMail {
        task_id: link.task.task_id,
        facts: Box::new(Facts { kind: FactsKind::FollowUp, ..facts.clone() }),
        evidence: link.evidence.clone(),
        event: None,
        update: (!link.update.is_empty()).then(|| Box::new(link.update.clone())),
    }
}

/// Returns the output for a mail in which the organizer changes an event: its task takes over the change, and is worked
/// again unless the event is cancelled.
pub(super) fn follow_event(
    entry: &NodeInput<'_>,
    known: &MailContext,
    facts: Facts,
    (task, evidence): (&RelatedTask, String),
    planned: Option<&ExtractedTask>,
) -> NodeOutput {
    let link = TaskLink { task, evidence, update: TaskUpdate::default() };
    let mut step = link_follow_up(entry, known, facts, &[link]);
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

/// Returns the run that answers a changed event or other times for a meeting. It has a new generation, so that its effects are not those of the last
/// answer.
fn answer_run(entry: &NodeInput<'_>, known: &MailContext, task: &RelatedTask) -> NewRun {
    let (parent, task_id) = (entry.run.run_id.to_string(), task.task_id.to_string());
    // A task that nobody has worked on yet is worked on from the beginning.
    let (kind, node) =
        if task.has_begun { (RunKind::Decision, NodeName::ExecuteTool) } else { (RunKind::Task, NodeName::Prioritise) };
    NewRun {
        run_id: RunId::derive(entry.now, &[&parent, &task_id, "answer"]),
        kind,
        node,
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
