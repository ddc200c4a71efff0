//! A person's word on an item. Used once: the row is claimed by a single conditional update.

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{audit, execute, item, ledger, outbox, run, task, task_edit};
use crate::{
    model::{Instant, ItemKind, MailState, NodeName, RunId, RunKind, RunState, Status, TaskId, audit::AuditEntry},
    store::{
        error::{Result, StoreError},
        value::{Decision, ItemRow, NewRun, TaskRow, Verdict},
    },
};

/// The runs that go on because of it.
pub(in crate::store) fn decide(connection: &Connection, decision: &Decision) -> Result<Vec<RunId>> {
    let row = item::get(connection, decision.item_id)?
        .ok_or_else(|| StoreError::NotFound(format!("item {}", decision.item_id)))?;
    claim(connection, decision, &row)?;
    note(connection, decision, &row)?;
    match (row.kind, row.task_id) {
        (ItemKind::FailedStep, Some(task_id)) => of_task(connection, decision, &row, task_id),
        (ItemKind::FailedStep, None) => of_mail(connection, decision, &row),
        (ItemKind::Action, Some(task_id)) if decision.verdict != Verdict::Retry => {
            of_task(connection, decision, &row, task_id)
        }
        _ => Err(StoreError::Refused(format!("a {} cannot be answered with {}", row.kind, decision.verdict))),
    }
}

fn claim(connection: &Connection, decision: &Decision, row: &ItemRow) -> Result<()> {
    let sql = "UPDATE item SET state = 'decided', decision = ?2, decided_by = ?3, reason = ?4, updated_at = ?5
               WHERE item_id = ?1 AND state = 'open'";
    let values = (
        decision.item_id.to_string(),
        decision.verdict.as_str(),
        &decision.who,
        &decision.reason,
        decision.at.to_string(),
    );
    if execute(connection, sql, values, "deciding an item")? == 0 {
        return Err(StoreError::Refused(format!("item {} is {} already", decision.item_id, row.state)));
    }
    Ok(())
}

fn note(connection: &Connection, decision: &Decision, row: &ItemRow) -> Result<()> {
    let entry = AuditEntry {
        at: decision.at,
        account: row.account.to_string(),
        who: decision.who.clone(),
        act: format!("decided_{}", decision.verdict),
        subject: format!("item:{}", decision.item_id),
        detail: decision.reason.clone(),
    };
    audit::append(connection, &entry)
}

fn of_task(connection: &Connection, decision: &Decision, item: &ItemRow, task_id: TaskId) -> Result<Vec<RunId>> {
    let row = task::get(connection, task_id)?;
    if decision.verdict == Verdict::Cancel {
        task_edit::walk(
            connection,
            &row,
            Status::Cancelled,
            &decision.who,
            &reason(decision, "cancelled"),
            decision.at,
        )?;
        return Ok(Vec::new());
    }
    if row.task.status != Status::WaitingHitl {
        return go_on(connection, decision, item, &row);
    }
    outbox::void_of_task(connection, &row, &reason(decision, "a person decided"), decision.at)?;
    let mv = task::StatusMove {
        account: &row.account,
        from: row.task.status.as_str(),
        to: Status::InProgress,
        who: &decision.who,
        why: &reason(decision, "a person decided"),
        at: decision.at,
    };
    task::set_status(connection, task_id, &mv)?;
    let mut row = task::get(connection, task_id)?;
    let step = text(item, "step");
    match decision.verdict {
        Verdict::Skip => skip(connection, &mut row, step, decision)?,
        _ => forget(connection, &mut row, step, decision)?,
    }
    let run = resume(connection, item, &row, step, NodeName::ExecuteTool, decision.at)?;
    run::open(connection, &run, decision.at)?;
    Ok(vec![run.run_id])
}

/// A run that parked before any tool: the task kept its state, and goes on where the run stopped, or not at all.
fn go_on(connection: &Connection, decision: &Decision, item: &ItemRow, row: &TaskRow) -> Result<Vec<RunId>> {
    if decision.verdict == Verdict::Skip {
        return Ok(Vec::new());
    }
    let node = text(item, "node").parse().unwrap_or(NodeName::ExecuteTool);
    let run = resume(connection, item, row, "", node, decision.at)?;
    run::open(connection, &run, decision.at)?;
    Ok(vec![run.run_id])
}

fn text<'a>(item: &'a ItemRow, key: &str) -> &'a str {
    item.body.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A skipped step counts as dealt with; its output says that it was skipped and by whom.
fn skip(connection: &Connection, row: &mut TaskRow, step: &str, decision: &Decision) -> Result<()> {
    let who = decision.who.as_str();
    if let Some(subtask) = row.task.subtasks.iter_mut().find(|subtask| subtask.step == step && !subtask.done) {
        subtask.done = true;
    }
    let output = json!({ "skipped": true, "by": who, "reason": decision.reason });
    row.task.tool_output.get_or_insert_default().insert(step.to_owned(), output);
    row.task.last_updated = decision.at;
    task::update(connection, &row.task, row.revision, None)?;
    row.revision += 1;
    Ok(())
}

/// What was planned in the failed attempt counts no more: a step with an output is one that was dealt with.
fn forget(connection: &Connection, row: &mut TaskRow, step: &str, decision: &Decision) -> Result<()> {
    let planned = row.task.tool_output.as_mut().and_then(|output| output.remove(step));
    if planned.is_none() {
        return Ok(());
    }
    row.task.last_updated = decision.at;
    task::update(connection, &row.task, row.revision, None)?;
    row.revision += 1;
    Ok(())
}

fn resume(
    connection: &Connection,
    item: &ItemRow,
    row: &TaskRow,
    step: &str,
    node: NodeName,
    at: Instant,
) -> Result<NewRun> {
    let generation = outbox::next_generation(connection, row.task.task_id, step)?;
    Ok(NewRun {
        run_id: RunId::derive(at, &["decision", &item.item_id.to_string()]),
        account: row.account.clone(),
        user: row.user.clone(),
        kind: RunKind::Decision,
        parent_run: item.run_id,
        fork: None,
        node,
        task_id: Some(row.task.task_id),
        state: RunState {
            mail_id: row.mail_id,
            mail_key: row
                .mail_id
                .map(|mail_id| ledger::entry(connection, mail_id))
                .transpose()?
                .map(|entry| entry.source_key),
            task: Some(row.task.clone()),
            facts: super::facts::of_task(connection, row.task.task_id)?,
            rule: Some(row.rule.clone()),
            generation,
            ..RunState::default()
        },
    })
}

fn of_mail(connection: &Connection, decision: &Decision, item: &ItemRow) -> Result<Vec<RunId>> {
    let mail_id =
        item.mail_id.ok_or_else(|| StoreError::Refused("the item concerns neither a task nor a mail".into()))?;
    if decision.verdict == Verdict::Retry {
        return ledger::again(connection, mail_id, &item.user, decision.at).map(|run| vec![run]);
    }
    ledger::settle(
        connection,
        mail_id,
        MailState::NoTask,
        &reason(decision, "skipped by a person"),
        None,
        decision.at,
    )?;
    Ok(Vec::new())
}

fn reason(decision: &Decision, otherwise: &str) -> String {
    if decision.reason.is_empty() { otherwise.to_owned() } else { decision.reason.clone() }
}
