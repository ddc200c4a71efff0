//! What an edit of a task by a person means.

use serde_json::Value;

use super::change::{DecisionError, TaskChange};
use crate::model::{
    Instant, Rerank, Task, TaskEdit, TaskEditKind, TaskId, TaskRow, TaskStatus, nightly::CorrectionKind,
};

/// Why what waited in a task's name is void once a person has edited the task.
pub const EDITED: &str = "the task was edited";

/// What follows from an edit of a task that is there.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskEditOutcome {
    /// The task ends.
    End(TaskStatus),
    /// A successor carries on, made by [`reopen_task`].
    Reopen,
    Snooze(Option<Instant>),
    /// What was asked about is void, and the step is done anew with the person's words.
    RedoStep {
        step: String,
        words: String,
        changes: Vec<TaskChange>,
    },
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
    pub correction: Option<FieldCorrection>,
    /// A task in other words or with another deadline is another one: what was asked about is void.
    pub voids_actions: bool,
}

/// What the nightly job may learn from an edit, with the values that are kept. The words of a mail are not kept beside a
/// correction; a level is no word of a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldCorrection {
    pub kind: CorrectionKind,
    pub from: String,
    pub to: String,
}

/// Returns what the edit does to the task, or why it cannot be done.
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
        TaskEditKind::InstructStep { step, words } => redo_step_of_task(row, step, words),
        _ => change_field(row, edit).map(|change| TaskEditOutcome::Change(Box::new(change))),
    }
}

fn redo_step_of_task(row: &TaskRow, step: &str, words: &str) -> Result<TaskEditOutcome, DecisionError> {
    if !row.task.subtasks.iter().any(|subtask| subtask.step == step && !subtask.done) {
        return Err(DecisionError::refused(format!("task {} has no open step '{step}'", task_label(row))));
    }
    let changes = vec![TaskChange::Instruct(words.to_owned()), TaskChange::DiscardOutput { step: step.to_owned() }];
    Ok(TaskEditOutcome::RedoStep { step: step.to_owned(), words: words.to_owned(), changes })
}

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
        TaskEditKind::Deadline(..) => (correction(CorrectionKind::Deadline, "", ""), true),
        _ => (None, false),
    };
    Ok(FieldChange { task, field, from, to, correction, voids_actions })
}

/// Returns the shortest legal way of a task to the status, without the status it is in.
pub fn status_path(from: TaskStatus, to: TaskStatus) -> Vec<TaskStatus> {
    if to == TaskStatus::Cancelled {
        return vec![to];
    }
    let line = [TaskStatus::New, TaskStatus::Ready, TaskStatus::InProgress, TaskStatus::Done];
    let from = if from == TaskStatus::WaitingHitl { TaskStatus::Ready } else { from };
    line.into_iter().skip_while(|status| *status != from).skip(1).take_while(|status| *status <= to).collect()
}

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

/// Returns the successor of a task that has ended. The old row stays as it ended.
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

/// Returns the status that a reopened task takes up, from the one before its end. A wait for a person becomes work in
/// progress, because what it waited for is void.
pub fn status_after_reopening(row: &TaskRow, before_end: Option<TaskStatus>) -> TaskStatus {
    match before_end {
        Some(TaskStatus::WaitingHitl) => TaskStatus::InProgress,
        // Completing by hand walks through IN_PROGRESS; what a person reopens waits for them again.
        Some(TaskStatus::InProgress) if row.task.subtasks.iter().any(|subtask| !subtask.done) => TaskStatus::InProgress,
        Some(status) if !status.is_terminal() => status,
        _ => TaskStatus::Ready,
    }
}

/// Returns the task with the level that new rules or a new day give it; none where that is not for rules to decide: a
/// person's own level stands, and a task that has ended keeps its level.
pub fn rerank_task(row: &TaskRow, rerank: &Rerank) -> Option<Task> {
    let is_for_rules = !row.hand_ranked && !row.task.status.is_terminal();
    is_for_rules.then(|| Task { priority: rerank.priority, last_updated: rerank.at, ..row.task.clone() })
}

fn task_label(row: &TaskRow) -> String {
    row.number.map_or_else(|| row.task.task_id.to_string(), |number| number.to_string())
}
