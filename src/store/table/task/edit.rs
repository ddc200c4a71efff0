//! What a person does to a task. An edit voids what was waiting to happen in its name, in the same transaction.

use rusqlite::Connection;
use serde_json::Value;

use crate::{
    model::{
        ActionId, Actor, Instant, NewReminder, Rerank, Subtask, Task, TaskEdit, TaskEditKind, TaskId, TaskRow,
        TaskStatus, nightly::CorrectionKind, task::INSTRUCTION,
    },
    store::{
        error::{Result, StoreError},
        prepared::build_task_entry_with_due_vectors,
        session::Session,
        table::{
            approval::{decision, item},
            audit,
            document::search_index,
            execute,
            nightly::correction,
            outbox, parse_column, query_first_readable, query_optional,
            task::{self, facts, history, reminder},
        },
    },
};

pub(in crate::store) fn edit_task(session: &Session, edit: &TaskEdit) -> Result<TaskId> {
    if let TaskEditKind::Add { task: new, facts, remind } = &edit.kind {
        let owner = task::TaskOwner { account: &edit.account, user: &edit.user, mail_id: None, who: Actor::Person };
        task::open(session, new, &build_task_entry_with_due_vectors(new), facts, &owner, edit.at)?;
        let ready = task::StatusTransition {
            account: &edit.account,
            from: TaskStatus::New.as_str(),
            to: TaskStatus::Ready,
            who: Actor::Person,
            why: "added by hand",
            at: edit.at,
        };
        task::set_status(session, new.task_id, &ready)?;
        if let Some(NewReminder { at, every }) = remind {
            let set = reminder::NewReminderRow {
                action_id: ActionId::derive(edit.at, &["remind", &new.task_id.to_string()]),
                task_id: new.task_id,
                account: &edit.account,
                user: &edit.user,
                due: *at,
                text: &new.objective,
                every: *every,
            };
            reminder::insert_reminder(session, &set)?;
        }
        return Ok(new.task_id);
    }
    let row = task::get(session, edit.task_id)?;
    if edit.kind == TaskEditKind::Reopen {
        return reopen(session, &row, edit);
    }
    if row.task.status.is_terminal() {
        let advice = "reopen it first with `adjutant tasks undo`";
        return Err(StoreError::Refused(format!("task {} is {}: {advice}", task_label(&row), row.task.status)));
    }
    match &edit.kind {
        TaskEditKind::Done => transition_task(session, &row, TaskStatus::Done, Actor::Person, &edit.why, edit.at)?,
        TaskEditKind::Cancel => {
            transition_task(session, &row, TaskStatus::Cancelled, Actor::Person, &edit.why, edit.at)?
        }
        TaskEditKind::Snooze(until) => snooze(session, &row, *until, edit)?,
        TaskEditKind::InstructStep { step, words } => instruct_step(session, &row, step, words, edit)?,
        _ => change_field(session, &row, edit)?,
    }
    Ok(edit.task_id)
}

fn task_label(row: &TaskRow) -> String {
    row.number.map_or_else(|| row.task.task_id.to_string(), |number| number.to_string())
}

/// Along legal pairs, each with its own line of history, and everything pending in the task's name made void.
pub(in crate::store) fn transition_task(
    connection: &Connection,
    row: &TaskRow,
    to: TaskStatus,
    who: Actor,
    why: &str,
    at: Instant,
) -> Result<()> {
    let mut from = row.task.status;
    for next in status_path(from, to) {
        let mv = task::StatusTransition { account: &row.account, from: from.as_str(), to: next, who, why, at };
        task::set_status(connection, row.task.task_id, &mv)?;
        from = next;
    }
    if to.is_terminal() {
        let sql = "UPDATE task_owner SET revision = revision + 1 WHERE task_id = ?1";
        execute(connection, sql, [row.task.task_id.to_string()], "claiming a task")?;
        void_pending(connection, row, (who, &format!("the task is {to}")), at)?;
    }
    Ok(())
}

/// Whether no person has acted on any of the tasks, no other mail is linked to them, and nothing has left in their name.
pub(in crate::store) fn are_untouched(connection: &Connection, tasks: &[TaskRow]) -> Result<bool> {
    let sql = "SELECT 1 FROM task_owner o WHERE o.task_id = ?1 AND (o.hand_ranked OR o.snooze_until IS NOT NULL
                 OR EXISTS (SELECT 1 FROM task_history h WHERE h.task_id = o.task_id AND h.who = 'person')
                 OR EXISTS (SELECT 1 FROM item i WHERE i.task_id = o.task_id AND i.state NOT IN ('open', 'void'))
                 OR EXISTS (SELECT 1 FROM ledger l WHERE l.task_id = o.task_id AND l.state = 'linked')
                 OR EXISTS (SELECT 1 FROM outbox b WHERE b.task_id = o.task_id AND b.class NOT IN ('R0', 'R1')
                            AND b.state NOT IN ('planned', 'parked', 'ready', 'withheld', 'void')))";
    for task in tasks {
        let values = [task.task.task_id.to_string()];
        if query_optional(connection, sql, values, "looking whether a task was touched", |_| Ok(()))?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The shortest legal way.
fn status_path(from: TaskStatus, to: TaskStatus) -> Vec<TaskStatus> {
    if to == TaskStatus::Cancelled {
        return vec![to];
    }
    let line = [TaskStatus::New, TaskStatus::Ready, TaskStatus::InProgress, TaskStatus::Done];
    let from = if from == TaskStatus::WaitingHitl { TaskStatus::Ready } else { from };
    line.into_iter().skip_while(|status| *status != from).skip(1).take_while(|status| *status <= to).collect()
}

fn void_pending(connection: &Connection, row: &TaskRow, (who, why): (Actor, &str), at: Instant) -> Result<()> {
    outbox::void_of_task(connection, row, (who, why), at)?;
    item::void_of_task(connection, row.task.task_id, why, at)
}

/// Voids what was asked about: a task that was changed is another one. A failed step is still a failed step.
pub(in crate::store::table) fn void_actions(
    connection: &Connection,
    row: &TaskRow,
    (who, why): (Actor, &str),
    at: Instant,
) -> Result<()> {
    outbox::void_of_task(connection, row, (who, why), at)?;
    item::void_actions_of_task(connection, row.task.task_id, why, at)?;
    if row.task.status == TaskStatus::WaitingHitl && !item::has_open_item(connection, row.task.task_id)? {
        return end_waiting(connection, row, (who, why), at);
    }
    Ok(())
}

/// Who edits a task, and why what it waited for is void.
const EDITED: (Actor, &str) = (Actor::Person, "the task was edited");

fn snooze(connection: &Connection, row: &TaskRow, until: Option<Instant>, edit: &TaskEdit) -> Result<()> {
    let text = until.map(|at| at.to_string());
    let sql = "UPDATE task_owner SET snooze_until = ?2 WHERE task_id = ?1";
    execute(connection, sql, (row.task.task_id.to_string(), &text), "snoozing a task")?;
    if let Some(until) = until {
        reminder::reschedule_shown(connection, row.task.task_id, until)?;
    }
    record_edit(connection, row, "snooze", "", &text.unwrap_or_default(), edit)
}

/// The agent takes its step up again, with the person's words.
fn instruct_step(connection: &Connection, row: &TaskRow, step: &str, words: &str, edit: &TaskEdit) -> Result<()> {
    if !row.task.subtasks.iter().any(|subtask| subtask.step == step && !subtask.done) {
        return Err(StoreError::Refused(format!("task {} has no open step '{step}'", task_label(row))));
    }
    void_actions(connection, row, EDITED, edit.at)?;
    let mut row = task::get(connection, row.task.task_id)?;
    row.task.context.more.insert(INSTRUCTION.to_owned(), Value::from(words));
    if let Some(output) = row.task.tool_output.as_mut() {
        output.remove(step);
    }
    row.task.last_updated = edit.at;
    task::update(connection, &row.task, row.revision, None)?;
    record_edit(connection, &row, "instruction", "", words, edit)?;
    decision::open_step_run(connection, &row, step, edit.at).map(drop)
}

/// Priority, wording, deadline or a step.
fn change_field(session: &Session, row: &TaskRow, edit: &TaskEdit) -> Result<()> {
    let mut changed = row.task.clone();
    changed.last_updated = edit.at;
    let (field, from, to) = apply_field_edit(&mut changed, edit)?;
    task::update(session, &changed, row.revision, None)?;
    record_edit(session, row, field, &from, &to, edit)?;
    update_dependents(session, row, &changed, edit)?;
    match field {
        "priority" => record_correction(session, row, CorrectionKind::Priority, (&from, &to), edit),
        "objective" => {
            record_correction(session, row, CorrectionKind::Objective, ("", ""), edit)?;
            void_actions(session, row, EDITED, edit.at)
        }
        "deadline" => {
            record_correction(session, row, CorrectionKind::Deadline, ("", ""), edit)?;
            void_actions(session, row, EDITED, edit.at)
        }
        _ => Ok(()),
    }
}

/// What it waited for is void: the open step is the person's now.
fn end_waiting(connection: &Connection, row: &TaskRow, (who, why): (Actor, &str), at: Instant) -> Result<()> {
    let mv = task::StatusTransition {
        account: &row.account,
        from: row.task.status.as_str(),
        to: TaskStatus::InProgress,
        who,
        why: &format!("{why}, so what it waited for is void"),
        at,
    };
    task::set_status(connection, row.task.task_id, &mv)
}

/// Changes the task; the field with its old and new value.
fn apply_field_edit(task: &mut Task, edit: &TaskEdit) -> Result<(&'static str, String, String)> {
    match &edit.kind {
        TaskEditKind::Priority(level) => {
            let old = std::mem::replace(&mut task.priority, *level);
            Ok(("priority", old.to_string(), level.to_string()))
        }
        TaskEditKind::Objective(text) => {
            Ok(("objective", std::mem::replace(&mut task.objective, text.clone()), text.clone()))
        }
        TaskEditKind::Deadline(text, _) => {
            let old = std::mem::replace(&mut task.context.deadline, text.clone());
            Ok(("deadline", old.unwrap_or_default(), text.clone().unwrap_or_default()))
        }
        TaskEditKind::StepDone(step) => {
            let found = task.subtasks.iter_mut().find(|subtask: &&mut Subtask| &subtask.step == step && !subtask.done);
            found.ok_or_else(|| StoreError::NotFound(format!("open step '{step}'")))?.done = true;
            Ok(("step", format!("{step}: open"), format!("{step}: done")))
        }
        other => Err(StoreError::Refused(format!("not a change of a field: {other:?}"))),
    }
}

/// What else depends on the changed field.
fn update_dependents(session: &Session, row: &TaskRow, changed: &Task, edit: &TaskEdit) -> Result<()> {
    let id = row.task.task_id.to_string();
    match &edit.kind {
        TaskEditKind::Priority(_) => {
            let sql = "UPDATE task_owner SET hand_ranked = 1, rule = 'set by hand' WHERE task_id = ?1";
            execute(session, sql, [id], "keeping a person's priority").map(drop)
        }
        TaskEditKind::Objective(_) => {
            let sql = "UPDATE task_facts SET objective = ?2 WHERE task_id = ?1";
            execute(session, sql, (id, &changed.objective), "updating facts")?;
            reminder::set_text(session, changed.task_id, &changed.objective)?;
            let sender = facts::of_task(session, changed.task_id)?.map(|facts| facts.sender).unwrap_or_default();
            search_index::index_task(
                session,
                &row.account,
                changed,
                &sender,
                &build_task_entry_with_due_vectors(changed),
            )
        }
        TaskEditKind::Deadline(_, due) => {
            let sql = "UPDATE task_facts SET due_at = ?2 WHERE task_id = ?1";
            execute(session, sql, (id, due.map(|at| at.to_string())), "updating facts")?;
            reminder::reschedule(session, changed.task_id, edit.remind_at)
        }
        _ => Ok(()),
    }
}

fn record_edit(
    connection: &Connection,
    row: &TaskRow,
    field: &str,
    from: &str,
    to: &str,
    edit: &TaskEdit,
) -> Result<()> {
    let entry = history::HistoryEntry { field, from, to, who: Actor::Person, why: &edit.why };
    history::record(connection, row.task.task_id, &entry, edit.at)?;
    audit::append(
        connection,
        &crate::model::audit::AuditEntry {
            at: edit.at,
            account: row.account.to_string(),
            who: Actor::Person,
            act: format!("task_{field}"),
            subject: format!("task:{}", row.task.task_id),
            detail: format!("{from} → {to}"),
        },
    )
}

/// The words of a mail are not kept beside the correction; a level is no word of a mail.
fn record_correction(
    connection: &Connection,
    row: &TaskRow,
    kind: CorrectionKind,
    values: (&str, &str),
    edit: &TaskEdit,
) -> Result<()> {
    let about = correction::CorrectionSubject {
        account: &row.account,
        user: &row.user,
        task_id: Some(row.task.task_id),
        mail_id: row.mail_id,
        at: edit.at,
    };
    correction::record(connection, &about, kind, values, &edit.why)
}

/// A successor takes over the number; the old row stays as it ended.
fn reopen(session: &Session, row: &TaskRow, edit: &TaskEdit) -> Result<TaskId> {
    if !row.task.status.is_terminal() {
        return Err(StoreError::Refused(format!(
            "task {} is {}: there is nothing to take back",
            task_label(row),
            row.task.status
        )));
    }
    if row.number.is_none() {
        return Err(StoreError::Refused(format!(
            "task {} was reopened already; its successor carries on",
            task_label(row)
        )));
    }
    let before = status_before_end(session, row)?;
    let mut successor = row.task.clone();
    successor.task_id = TaskId::derive(edit.at, &["reopen", &row.task.task_id.to_string()]);
    successor.created_at = edit.at;
    successor.last_updated = edit.at;
    successor.status = TaskStatus::New;
    successor.result_summary = None;
    successor.context.more.insert("reopened_from".into(), Value::from(row.task.task_id.to_string()));
    let sql = "UPDATE task_owner SET number = NULL WHERE task_id = ?1";
    execute(session, sql, [row.task.task_id.to_string()], "handing a number over")?;
    let known =
        facts::of_task(session, row.task.task_id)?.ok_or_else(|| StoreError::NotFound("facts of the task".into()))?;
    let owner = task::TaskOwner { account: &row.account, user: &row.user, mail_id: row.mail_id, who: Actor::Person };
    task::open(session, &successor, &build_task_entry_with_due_vectors(&successor), &known, &owner, edit.at)?;
    let sql = "UPDATE task_owner SET number = ?2, rule = ?3, hand_ranked = ?4 WHERE task_id = ?1";
    let values = (successor.task_id.to_string(), row.number, &row.rule, row.hand_ranked);
    execute(session, sql, values, "taking a number over")?;
    reminder::reassign_to_task(session, row.task.task_id, successor.task_id)?;
    let opened = task::get(session, successor.task_id)?;
    task::update(session, &Task { status: TaskStatus::New, ..successor.clone() }, opened.revision, None)?;
    transition_task(session, &opened, before, Actor::Person, &edit.why, edit.at)?;
    record_correction(session, row, CorrectionKind::Undo, (row.task.status.as_str(), before.as_str()), edit)?;
    Ok(successor.task_id)
}

/// Where it stood before it ended; a wait for a person becomes work in progress, because what it waited for is void.
fn status_before_end(connection: &Connection, row: &TaskRow) -> Result<TaskStatus> {
    let sql = "SELECT from_value FROM task_history WHERE task_id = ?1 AND field = 'status' AND to_value = ?2 ORDER BY entry DESC";
    let ended = row.task.status.as_str();
    let before =
        query_first_readable(connection, sql, (row.task.task_id.to_string(), ended), "reading history", |found| {
            parse_column(found, 0)
        })?;
    Ok(match before {
        Some(TaskStatus::WaitingHitl) => TaskStatus::InProgress,
        // Completing by hand walks through IN_PROGRESS; what a person reopens waits for them again.
        Some(TaskStatus::InProgress) if row.task.subtasks.iter().any(|subtask| !subtask.done) => TaskStatus::InProgress,
        Some(status) if !status.is_terminal() => status,
        _ => TaskStatus::Ready,
    })
}

/// New rules or a new day give an open task another level. A person's own level stands.
pub(in crate::store) fn rerank(connection: &Connection, rerank: &Rerank) -> Result<()> {
    let row = task::get(connection, rerank.task_id)?;
    if row.hand_ranked || row.task.status.is_terminal() {
        return Err(StoreError::Conflict(format!("task {} is not for rules to rank", rerank.task_id)));
    }
    let changed = Task { priority: rerank.priority, last_updated: rerank.at, ..row.task.clone() };
    task::update(connection, &changed, rerank.revision, Some(&rerank.rule))?;
    let entry = history::HistoryEntry {
        field: "priority",
        from: row.task.priority.as_str(),
        to: rerank.priority.as_str(),
        who: Actor::Prioritise,
        why: &rerank.why,
    };
    history::record(connection, rerank.task_id, &entry, rerank.at)
}
