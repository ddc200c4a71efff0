//! What a person's edit of a task means.

use serde_json::{Value, json};

use super::change::{DecisionError, TaskChange};
use crate::model::{
    Instant, Rerank, Task, TaskEdit, TaskEditKind, TaskId, TaskRow, TaskStatus,
    nightly::CorrectionKind,
    task::{ANSWER_MAIL, SEND_REPLY},
};

/// The reason why pending effects of a task are void after a person has edited the task.
pub const EDITED: &str = "the task was edited";

/// What follows from an edit of an existing task.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskEditOutcome {
    /// The task moves to a final status.
    End(TaskStatus),
    /// A successor made by [`reopen_task`] takes the place of the ended task.
    Reopen,
    /// The task is put off until then; none ends the snooze.
    Snooze(Option<Instant>),
    /// Pending effects are void, and the step is done again with the instruction of the person.
    RedoStep { step: String, words: String, changes: Vec<TaskChange> },
    /// One field gets another value.
    Change(Box<FieldChange>),
}

/// A field of a task with another value.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldChange {
    /// The task after the change.
    pub task: Task,
    pub field: &'static str,
    pub from: String,
    pub to: String,
    /// What the nightly job may learn from the change; none for a step that was done.
    pub correction: Option<FieldCorrection>,
    /// Whether pending effects are void, because a task with another objective or deadline is not the one they were
    /// planned for.
    pub voids_actions: bool,
}

/// What the nightly job may learn from an edit. An objective or a deadline may quote the mail, so its values are left
/// out; priorities are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldCorrection {
    pub kind: CorrectionKind,
    pub from: String,
    pub to: String,
}

/// Returns what the edit does to the task, or why it is refused. A task that has ended can only be reopened.
pub fn plan_task_edit(row: &TaskRow, edit: &TaskEdit) -> Result<TaskEditOutcome, DecisionError> {
    if edit.kind == TaskEditKind::Reopen {
        return ensure_reopenable(row).map(|()| TaskEditOutcome::Reopen);
    }
    if row.task.status.is_terminal() {
        let advice = "reopen it first with `adjutant tasks undo`";
        return Err(DecisionError::refused(format!("task {} is {}: {advice}", task_label(row), row.task.status)));
    }
    match &edit.kind {
        TaskEditKind::Done => Ok(TaskEditOutcome::End(TaskStatus::Done)),
        TaskEditKind::Cancel => Ok(TaskEditOutcome::End(TaskStatus::Cancelled)),
        TaskEditKind::Snooze(until) => Ok(TaskEditOutcome::Snooze(*until)),
        TaskEditKind::InstructStep { step, words, message } => {
            let mut outcome = redo_step_of_task(row, step, words)?;
            if let (TaskEditOutcome::RedoStep { changes, .. }, Some(message)) = (&mut outcome, message) {
                changes.push(TaskChange::NameRecipients(message.clone()));
            }
            Ok(outcome)
        }
        _ => change_field(row, edit).map(|change| TaskEditOutcome::Change(Box::new(change))),
    }
}

/// The steps that a person can add to any task that has a mail.
const MAIL_STEPS: [&str; 3] = [SEND_REPLY, "forward", "archive"];
/// The step that a person can add to any task.
const NEW_MESSAGE_STEP: &str = "send_mail";

fn redo_step_of_task(row: &TaskRow, step: &str, words: &str) -> Result<TaskEditOutcome, DecisionError> {
    let changes = changes_for_step(row, step, words)?;
    Ok(TaskEditOutcome::RedoStep { step: step.to_owned(), words: words.to_owned(), changes })
}

/// Returns the changes by which a step is done with the words of a person. Refuses a step that the task does not have or
/// that is done, unless it is one that a person can add. A reply makes the other steps that answer the mail needless.
pub(super) fn changes_for_step(row: &TaskRow, step: &str, words: &str) -> Result<Vec<TaskChange>, DecisionError> {
    let is_open = |step: &str| row.task.subtasks.iter().any(|subtask| subtask.step == step && !subtask.done);
    let is_of_mail = MAIL_STEPS.contains(&step);
    if !is_open(step) && is_of_mail && row.mail_id.is_none() {
        return Err(DecisionError::refused(format!("task {} has no mail", task_label(row))));
    }
    if !is_open(step) && !is_of_mail && step != NEW_MESSAGE_STEP {
        return Err(DecisionError::refused(format!("task {} has no open step '{step}'", task_label(row))));
    }
    let mut changes = vec![TaskChange::Instruct(words.to_owned()), TaskChange::DiscardOutput { step: step.to_owned() }];
    if step == SEND_REPLY {
        changes.extend(prepare_reply(is_open));
    } else if !is_open(step) {
        changes.push(TaskChange::AddStep(step.to_owned()));
    }
    Ok(changes)
}

/// The steps of the agent that a person's own answer makes needless.
const ANSWERED_BY_REPLY: [&str; 4] = ["propose_time_slots", "draft_reply", "send_calendar_invite", "answer_invitation"];

/// Returns the changes by which the reply is the one step of the agent that answers the mail.
fn prepare_reply(is_open: impl Fn(&str) -> bool) -> Vec<TaskChange> {
    let by_hand = super::manual_step_name(SEND_REPLY);
    let mut changes: Vec<TaskChange> = ANSWERED_BY_REPLY
        .into_iter()
        .filter(|step| is_open(step))
        .flat_map(|step| {
            let output = json!({ "skipped": "you answered in your own words" });
            [TaskChange::RecordOutput { step: step.to_owned(), output }, TaskChange::FinishStep(step.to_owned())]
        })
        .collect();
    let theirs = [ANSWER_MAIL, by_hand.as_str()].into_iter().find(|step| is_open(step));
    match theirs {
        _ if is_open(SEND_REPLY) => {}
        Some(from) => changes.push(TaskChange::RenameStep { from: from.to_owned(), to: SEND_REPLY.to_owned() }),
        None => changes.push(TaskChange::AddStep(SEND_REPLY.to_owned())),
    }
    changes
}

/// Returns the task with one field changed, and the old and new value for the history.
fn change_field(row: &TaskRow, edit: &TaskEdit) -> Result<FieldChange, DecisionError> {
    let mut task = Task { last_updated: edit.at, ..row.task.clone() };
    let (field, from, to) = match &edit.kind {
        TaskEditKind::Priority(level) => {
            let old = std::mem::replace(&mut task.priority, *level);
            ("priority", old.to_string(), level.to_string())
        }
        TaskEditKind::Objective(text) => {
            ("objective", std::mem::replace(&mut task.objective, text.clone()), text.clone())
        }
        TaskEditKind::Description(text) => {
            let old = std::mem::replace(&mut task.context.description, text.clone());
            ("description", old.unwrap_or_default(), text.clone().unwrap_or_default())
        }
        TaskEditKind::Deadline(text, _) => {
            let old = std::mem::replace(&mut task.context.deadline, text.clone());
            ("deadline", old.unwrap_or_default(), text.clone().unwrap_or_default())
        }
        TaskEditKind::StepDone(step) => {
            if !TaskChange::FinishStep(step.clone()).apply_to(&mut task) {
                return Err(DecisionError::NotFound(format!("open step '{step}'")));
            }
            ("step", format!("{step}: open"), format!("{step}: done"))
        }
        other => return Err(DecisionError::refused(format!("not a change of a field: {other:?}"))),
    };
    let correction =
        |kind, from: &str, to: &str| Some(FieldCorrection { kind, from: from.to_owned(), to: to.to_owned() });
    let (correction, voids_actions) = match &edit.kind {
        TaskEditKind::Priority(_) => (correction(CorrectionKind::Priority, &from, &to), false),
        TaskEditKind::Objective(_) => (correction(CorrectionKind::Objective, "", ""), true),
        TaskEditKind::Description(_) => (None, true),
        TaskEditKind::Deadline(..) => (correction(CorrectionKind::Deadline, "", ""), true),
        _ => (None, false),
    };
    Ok(FieldChange { task, field, from, to, correction, voids_actions })
}

/// Returns the shortest path of legal transitions from one status to another, without the first. `CANCELLED` is one
/// transition from anywhere; any other path follows the life cycle step by step.
pub fn status_path(from: TaskStatus, to: TaskStatus) -> Vec<TaskStatus> {
    if to == TaskStatus::Cancelled {
        return vec![to];
    }
    let line = [TaskStatus::New, TaskStatus::Ready, TaskStatus::InProgress, TaskStatus::Done];
    let from = if from == TaskStatus::WaitingHitl { TaskStatus::Ready } else { from };
    line.into_iter().skip_while(|status| *status != from).skip(1).take_while(|status| *status <= to).collect()
}

/// Refuses a task that has not ended, and one that was reopened already and has a successor.
fn ensure_reopenable(row: &TaskRow) -> Result<(), DecisionError> {
    let label = task_label(row);
    if !row.task.status.is_terminal() {
        let status = row.task.status;
        return Err(DecisionError::refused(format!("task {label} is {status}: there is nothing to take back")));
    }
    if row.number.is_none() {
        return Err(DecisionError::refused(format!("task {label} was reopened already; its successor carries on")));
    }
    Ok(())
}

/// Returns the successor of a task that has ended, with a derived id. The old row stays as it ended.
pub fn reopen_task(row: &TaskRow, at: Instant) -> Task {
    let mut successor = row.task.clone();
    successor.task_id = TaskId::derive(at, &["reopen", &row.task.task_id.to_string()]);
    successor.created_at = at;
    successor.last_updated = at;
    successor.status = TaskStatus::New;
    successor.result_summary = None;
    successor.context.more.insert("reopened_from".into(), Value::from(row.task.task_id.to_string()));
    successor
}

/// Returns the status that a reopened task gets, from the one before it ended. `WAITING_HITL` becomes `IN_PROGRESS`,
/// because what it waited for is void.
pub fn status_after_reopening(row: &TaskRow, before_end: Option<TaskStatus>) -> TaskStatus {
    match before_end {
        Some(TaskStatus::WaitingHitl) => TaskStatus::InProgress,
        Some(TaskStatus::InProgress) if row.task.subtasks.iter().any(|subtask| !subtask.done) => TaskStatus::InProgress,
        Some(status) if !status.is_terminal() => status,
        _ => TaskStatus::Ready,
    }
}

/// Returns the task with the priority that new rules or a new day give it. Returns none for a priority that a person
/// set and for a task that has ended: neither is for rules to change.
pub fn rerank_task(row: &TaskRow, rerank: &Rerank) -> Option<Task> {
    let is_for_rules = !row.hand_ranked && !row.task.status.is_terminal();
    is_for_rules.then(|| Task { priority: rerank.priority, last_updated: rerank.at, ..row.task.clone() })
}

/// Returns the number of a task as a person knows it; its id when the number was handed to a successor.
fn task_label(row: &TaskRow) -> String {
    row.number.map_or_else(|| row.task.task_id.to_string(), |number| number.to_string())
}
