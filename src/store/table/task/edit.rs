//! A person's edits of a task, and changes of its priority by new rules.
//!
//! What an edit means is decided by [`crate::approval`]. Effects that were planned for the task as it was are voided in
//! the transaction of the edit, so that none is carried out for a task that has changed.

use rusqlite::Connection;

use crate::{
    approval::{self, FieldChange, FieldCorrection, TaskChange, TaskEditOutcome},
    model::{
        ActionId, Actor, Instant, NewReminder, NewRequest, Rerank, Task, TaskEdit, TaskEditKind, TaskId, TaskPlan,
        TaskRow, TaskStatus, nightly::CorrectionKind,
    },
    store::{
        error::{Result, StoreError},
        prepared::build_task_entry_with_due_vectors,
        session::Session,
        table::{
            approval::{change, item},
            audit,
            document::search_index,
            execute,
            nightly::correction,
            outbox, parse_column, query_first_readable, query_optional, run,
            task::{
                self, facts,
                history::{self, BY_PERSON},
                reminder,
            },
        },
    },
};

/// Adds a task by hand, or applies edits to an existing one. Returns the task, or its successor when it was reopened.
pub(in crate::store) fn edit_task(session: &Session, edits: &[TaskEdit]) -> Result<TaskId> {
    let mut edited = None;
    for edit in edits {
        edited = Some(apply_edit(session, edit)?);
    }
    edited.ok_or_else(|| StoreError::Refused("there is nothing to change".into()))
}

fn apply_edit(session: &Session, edit: &TaskEdit) -> Result<TaskId> {
    if let TaskEditKind::Add { task: new, facts, remind } = &edit.kind {
        let owner = task::TaskOwner { account: &edit.account, user: &edit.user, mail_id: None, who: edit.who };
        task::open(session, new, &build_task_entry_with_due_vectors(new), facts, &owner, edit.at)?;
        // A task that a person adds needs no reading, so it is ready at once.
        let ready = task::StatusTransition {
            account: &edit.account,
            from: TaskStatus::New.as_str(),
            to: TaskStatus::Ready,
            who: edit.who,
            why: &edit.why,
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
    match approval::plan_task_edit(&row, edit)? {
        TaskEditOutcome::Reopen => return reopen(session, &row, edit),
        TaskEditOutcome::MoveTo(to) => transition_task(session, &row, to, edit.who, &edit.why, edit.at)?,
        TaskEditOutcome::Snooze(until) => snooze(session, &row, until, edit)?,
        TaskEditOutcome::RedoStep { step, words, changes } => {
            instruct_step(session, &row, (&step, &words), &changes, edit)?;
        }
        TaskEditOutcome::Change(change) => change_field(session, &row, &change, edit)?,
    }
    Ok(edit.task_id)
}

/// Adds the task of a request with the run that works it.
pub(in crate::store) fn open_request(session: &Session, new: &NewRequest, state: &str) -> Result<()> {
    let owner = task::TaskOwner { account: &new.run.account, user: &new.run.user, mail_id: None, who: Actor::Person };
    task::open(session, &new.task, &build_task_entry_with_due_vectors(&new.task), &new.facts, &owner, new.at)?;
    run::open(session, &new.run, state, new.at)
}

/// Moves a task to a status along legal transitions, each with its own line of history. Ending it voids its pending
/// effects and items.
pub(in crate::store) fn transition_task(
    connection: &Connection,
    row: &TaskRow,
    to: TaskStatus,
    who: Actor,
    why: &str,
    at: Instant,
) -> Result<()> {
    let mut from = row.task.status;
    for next in approval::status_path(from, to) {
        let mv = task::StatusTransition { account: &row.account, from: from.as_str(), to: next, who, why, at };
        task::set_status(connection, row.task.task_id, &mv)?;
        from = next;
    }
    if to.is_terminal() {
        // A run that still works on the task has read an older revision, and its next checkpoint gets a conflict.
        let sql = "UPDATE task_owner SET revision = revision + 1 WHERE task_id = ?1";
        execute(connection, sql, [row.task.task_id.to_string()], "claiming a task")?;
        void_pending(connection, row, (who, &format!("the task is {to}")), at)?;
    }
    Ok(())
}

/// Returns whether no person has acted on any of the tasks, no other mail is linked to them, and no message was or may
/// have been sent for them.
pub(in crate::store) fn are_untouched(connection: &Connection, tasks: &[TaskRow]) -> Result<bool> {
    let sql = format!(
        "SELECT 1 FROM task_owner o WHERE o.task_id = ?1 AND (o.hand_ranked OR o.snooze_until IS NOT NULL
                 OR EXISTS (SELECT 1 FROM task_history h WHERE h.task_id = o.task_id AND {BY_PERSON})
                 OR EXISTS (SELECT 1 FROM item i WHERE i.task_id = o.task_id AND i.state NOT IN ('open', 'void'))
                 OR EXISTS (SELECT 1 FROM ledger l WHERE l.task_id = o.task_id AND l.state = 'linked')
                 OR EXISTS (SELECT 1 FROM outbox b WHERE b.task_id = o.task_id AND b.class NOT IN ('R0', 'R1')
                            AND b.state NOT IN ('planned', 'parked', 'ready', 'withheld', 'void')))"
    );
    for task in tasks {
        let values = [task.task.task_id.to_string()];
        if query_optional(connection, &sql, values, "looking whether a task was touched", |_| Ok(()))?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Voids all pending effects and all open items of the task.
fn void_pending(connection: &Connection, row: &TaskRow, (who, why): (Actor, &str), at: Instant) -> Result<()> {
    outbox::void_of_task(connection, row, (who, why), at)?;
    item::void_of_task(connection, row.task.task_id, why, at)
}

/// Voids the pending effects of a task that was changed, and the items that ask about them. Items about a failed step
/// stay open. A task that waited only for these items goes on.
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

/// Puts a task off. A reminder that was shown already is shown again when the snooze ends.
fn snooze(connection: &Connection, row: &TaskRow, until: Option<Instant>, edit: &TaskEdit) -> Result<()> {
    let text = until.map(|at| at.to_string());
    let sql = "UPDATE task_owner SET snooze_until = ?2 WHERE task_id = ?1";
    execute(connection, sql, (row.task.task_id.to_string(), &text), "snoozing a task")?;
    if let Some(until) = until {
        reminder::reschedule_shown(connection, row.task.task_id, until)?;
    }
    record_edit(connection, row, "snooze", "", &text.unwrap_or_default(), edit)
}

/// Stores the instruction of the person and opens a run that does the step again.
fn instruct_step(
    connection: &Connection,
    row: &TaskRow,
    (step, words): (&str, &str),
    changes: &[TaskChange],
    edit: &TaskEdit,
) -> Result<()> {
    void_actions(connection, row, (edit.who, approval::EDITED), edit.at)?;
    let mut row = task::get(connection, row.task.task_id)?;
    for change in changes {
        change.apply_to(&mut row.task);
    }
    row.task.last_updated = edit.at;
    task::update(connection, &row.task, row.revision, None)?;
    record_edit(connection, &row, "instruction", "", words, edit)?;
    change::open_step_run(connection, &row, step, edit.at).map(drop)
}

/// Applies a change of priority, objective, deadline or a step, with its history, dependents and correction.
fn change_field(session: &Session, row: &TaskRow, change: &FieldChange, edit: &TaskEdit) -> Result<()> {
    task::update(session, &change.task, row.revision, None)?;
    record_edit(session, row, change.field, &change.from, &change.to, edit)?;
    update_dependents(session, row, &change.task, edit)?;
    if let Some(FieldCorrection { kind, from, to }) = &change.correction {
        record_correction(session, row, *kind, (from, to), edit)?;
    }
    if matches!(edit.kind, TaskEditKind::StepDone(_)) && change.task.context.more.contains_key(TaskPlan::KEY) {
        // The steps that waited for this one may begin now.
        change::open_step_run(session, &task::get(session, row.task.task_id)?, "", edit.at)?;
    }
    if change.voids_actions {
        void_actions(session, row, (edit.who, approval::EDITED), edit.at)?;
    }
    Ok(())
}

/// Moves a task that waited for a person to `IN_PROGRESS`, because what it waited for is void.
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

/// Updates what is derived from the changed field: facts, reminders, the search index.
fn update_dependents(session: &Session, row: &TaskRow, changed: &Task, edit: &TaskEdit) -> Result<()> {
    let id = row.task.task_id.to_string();
    match &edit.kind {
        TaskEditKind::Priority(_) => {
            // From now on neither rules nor a new day change the priority.
            let sql = "UPDATE task_owner SET hand_ranked = 1, rule = 'set by hand' WHERE task_id = ?1";
            execute(session, sql, [id], "keeping a person's priority").map(drop)
        }
        TaskEditKind::Objective(_) => {
            let sql = "UPDATE task_facts SET objective = ?2 WHERE task_id = ?1";
            execute(session, sql, (id, &changed.objective), "updating facts")?;
            reminder::set_text(session, changed.task_id, &changed.objective)?;
            search_index::index_changed_task(session, &row.account, changed)
        }
        TaskEditKind::Description(_) => search_index::index_changed_task(session, &row.account, changed),
        TaskEditKind::Deadline(_, due) => {
            let sql = "UPDATE task_facts SET due_at = ?2 WHERE task_id = ?1";
            execute(session, sql, (id, due.map(|at| at.to_string())), "updating facts")?;
            search_index::index_changed_task(session, &row.account, changed)?;
            reminder::reschedule(session, changed.task_id, edit.remind_at)
        }
        _ => Ok(()),
    }
}

/// Writes the line of history and the audit entry of an edit.
fn record_edit(
    connection: &Connection,
    row: &TaskRow,
    field: &str,
    from: &str,
    to: &str,
    edit: &TaskEdit,
) -> Result<()> {
    let entry = history::HistoryEntry { field, from, to, who: edit.who, why: &edit.why };
    history::record(connection, row.task.task_id, &entry, edit.at)?;
    audit::append(
        connection,
        &crate::model::audit::AuditEntry {
            at: edit.at,
            account: row.account.to_string(),
            who: edit.who,
            act: format!("task_{field}"),
            subject: format!("task:{}", row.task.task_id),
            detail: format!("{from} → {to}"),
        },
    )
}

/// Records a correction of the task for the nightly job, which learns from the person only. The values must not quote a
/// mail.
fn record_correction(
    connection: &Connection,
    row: &TaskRow,
    kind: CorrectionKind,
    values: (&str, &str),
    edit: &TaskEdit,
) -> Result<()> {
    if edit.who != Actor::Person {
        return Ok(());
    }
    let about = correction::CorrectionSubject {
        account: &row.account,
        user: &row.user,
        task_id: Some(row.task.task_id),
        mail_id: row.mail_id,
        at: edit.at,
    };
    correction::record(connection, &about, kind, values, &edit.why)
}

/// Creates a successor of an ended task, which takes over its number and reminders. The old row stays as it ended,
/// because the life cycle has no way back.
fn reopen(session: &Session, row: &TaskRow, edit: &TaskEdit) -> Result<TaskId> {
    let before = approval::status_after_reopening(row, status_before_end(session, row)?);
    let successor = approval::reopen_task(row, edit.at);
    // The number is unique, so the old task gives it up before the successor takes it.
    let sql = "UPDATE task_owner SET number = NULL WHERE task_id = ?1";
    execute(session, sql, [row.task.task_id.to_string()], "handing a number over")?;
    let known =
        facts::of_task(session, row.task.task_id)?.ok_or_else(|| StoreError::NotFound("facts of the task".into()))?;
    let owner = task::TaskOwner { account: &row.account, user: &row.user, mail_id: row.mail_id, who: edit.who };
    task::open(session, &successor, &build_task_entry_with_due_vectors(&successor), &known, &owner, edit.at)?;
    let sql = "UPDATE task_owner SET number = ?2, rule = ?3, hand_ranked = ?4 WHERE task_id = ?1";
    let values = (successor.task_id.to_string(), row.number, &row.rule, row.hand_ranked);
    execute(session, sql, values, "taking a number over")?;
    let sql = "INSERT INTO task_thread (account, thread, task_id) SELECT account, thread, ?2 FROM task_thread WHERE task_id = ?1
               ON CONFLICT DO NOTHING";
    execute(session, sql, (row.task.task_id.to_string(), successor.task_id.to_string()), "threading a task")?;
    reminder::reassign_to_task(session, row.task.task_id, successor.task_id)?;
    let opened = task::get(session, successor.task_id)?;
    task::update(session, &Task { status: TaskStatus::New, ..successor.clone() }, opened.revision, None)?;
    transition_task(session, &opened, before, edit.who, &edit.why, edit.at)?;
    record_correction(session, row, CorrectionKind::Undo, (row.task.status.as_str(), before.as_str()), edit)?;
    Ok(successor.task_id)
}

/// Returns the status in which the task was before it ended.
fn status_before_end(connection: &Connection, row: &TaskRow) -> Result<Option<TaskStatus>> {
    let sql = "SELECT from_value FROM task_history WHERE task_id = ?1 AND field = 'status' AND to_value = ?2 ORDER BY entry DESC";
    let values = (row.task.task_id.to_string(), row.task.status.as_str());
    query_first_readable(connection, sql, values, "reading history", |found| parse_column(found, 0))
}

/// Gives an open task the priority that new rules or a new day give it. Returns a conflict for a task that has ended or
/// whose priority a person set.
pub(in crate::store) fn rerank(connection: &Connection, rerank: &Rerank) -> Result<()> {
    let row = task::get(connection, rerank.task_id)?;
    let changed = approval::rerank_task(&row, rerank)
        .ok_or_else(|| StoreError::Conflict(format!("task {} is not for rules to rank", rerank.task_id)))?;
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
