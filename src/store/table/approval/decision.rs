//! A person's word on an item. Used once: the row is claimed by a single conditional update.

use std::sync::Arc;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::{
    model::{
        ActionMove, Actor, ApprovalUse, Decision, DecisionKind, Instant, ItemKind, ItemRow, ItemState, MailState,
        NewRun, NodeName, OutboxState, RunId, RunKind, RunState, Subtask, TaskId, TaskRow, TaskStatus,
        audit::AuditEntry, nightly::CorrectionKind, task::INSTRUCTION,
    },
    store::{
        error::{Result, SkipUnreadable as _, StoreError},
        prepared,
        table::{
            approval::{self, item},
            audit, execute,
            mail::ledger,
            nightly::rules_version,
            outbox, run,
            task::{self, facts},
        },
    },
};

/// The runs that go on because of it.
pub(in crate::store) fn decide_item(connection: &Connection, decision: &Decision) -> Result<Vec<RunId>> {
    let row = item::get(connection, decision.item_id)?
        .ok_or_else(|| StoreError::NotFound(format!("item {}", decision.item_id)))?;
    if let Some(file) = &decision.file_sha256 {
        approval::consume_decision_file(connection, file, decision.at)?;
    }
    claim_item(connection, decision, &row)?;
    append_audit(connection, decision, &row)?;
    match (row.kind, row.task_id) {
        (ItemKind::Action, Some(task_id)) if approval::decides_action(decision.kind) => {
            decide_action(connection, decision, &row, task_id)
        }
        (ItemKind::RuleProposal, _) if matches!(decision.kind, DecisionKind::Approve | DecisionKind::Reject) => {
            if decision.kind == DecisionKind::Approve && !decision.channel.may_approve() {
                let why = format!("{} can show it, not approve it", decision.channel);
                return Err(StoreError::Refused(format!("item {} was not approved: {why}", row.item_id)));
            }
            if decision.kind == DecisionKind::Approve && row.action_sha256.as_deref() != Some(decision.sha256.as_str())
            {
                let why = "it is not what you were shown; look at it again";
                return Err(StoreError::Refused(format!("item {} was not approved: {why}", row.item_id)));
            }
            if decision.kind == DecisionKind::Reject {
                rules_version::reject_proposal(connection, row.item_id, &decision.reason, decision.at)?;
            }
            Ok(Vec::new())
        }
        (ItemKind::FailedStep, Some(task_id)) if decision.kind == DecisionKind::Sent => {
            confirm_sent(connection, decision, &row, task_id)
        }
        (ItemKind::FailedStep, Some(task_id)) if answers_failed_step(decision.kind) => {
            decide_task_step(connection, decision, &row, task_id)
        }
        (ItemKind::FailedStep, None) if answers_failed_step(decision.kind) => decide_mail(connection, decision, &row),
        _ => Err(StoreError::Refused(format!(
            "{} cannot be answered with {}",
            row.kind.as_str().replace('_', " "),
            decision.kind
        ))),
    }
}

const fn answers_failed_step(verdict: DecisionKind) -> bool {
    matches!(verdict, DecisionKind::Retry | DecisionKind::Skip | DecisionKind::Cancel)
}

fn decide_action(connection: &Connection, decision: &Decision, item: &ItemRow, task_id: TaskId) -> Result<Vec<RunId>> {
    match decision.kind {
        DecisionKind::Approve => approve_action(connection, decision, item),
        DecisionKind::Reject => {
            let why = format!("rejected: {}", reason_or_default(decision, "no reason given"));
            record_correction(connection, decision, item, CorrectionKind::Reject)?;
            reject_action(connection, item, decision.who, &why, decision.at).map(|run| vec![run])
        }
        DecisionKind::Respond => redo_with_instruction(connection, decision, item, task_id),
        _ => decide_task_step(connection, decision, item, task_id),
    }
}

fn record_correction(connection: &Connection, decision: &Decision, item: &ItemRow, kind: CorrectionKind) -> Result<()> {
    let action = approval::action_of_item(connection, item)?.action;
    approval::record_correction(connection, &action, kind, ("", ""), &decision.reason, decision.at)
}

/// The task goes on, with a short run that waits for exactly this effect.
fn approve_action(connection: &Connection, decision: &Decision, item: &ItemRow) -> Result<Vec<RunId>> {
    let action = approval::grant(connection, decision, item)?.action;
    let row = resume_waiting_task(connection, action.task_id, decision.who, "approved", decision.at)?;
    let mut run = build_run_for_item(connection, item, &row, &action.step, NodeName::ExecuteTool, decision.at)?;
    run.state.generation = action.generation;
    run.state.decided = Some(action.action_id);
    run::open(connection, &run, &prepared::encode_state(&run.state)?, decision.at)?;
    Ok(vec![run.run_id])
}

/// The action is void and its step becomes the person's; whatever else the agent has to do goes on.
pub(in crate::store::table) fn reject_action(
    connection: &Connection,
    item: &ItemRow,
    who: Actor,
    why: &str,
    at: Instant,
) -> Result<RunId> {
    let action = approval::action_of_item(connection, item)?.action;
    item::close(connection, item.item_id, ItemState::Void, why, at)?;
    outbox::void(connection, &action, why, who, at)?;
    let mut row = resume_waiting_task(connection, action.task_id, who, why, at)?;
    row.task.tool_output.get_or_insert_default().insert(action.step.clone(), json!({ "void": why }));
    row.task.subtasks.push(Subtask { step: manual_step_name(&action.step), done: false });
    store_task(connection, &mut row, at)?;
    let run = build_run_for_item(connection, item, &row, &action.step, NodeName::ExecuteTool, at)?;
    run::open(connection, &run, &prepared::encode_state(&run.state)?, at)?;
    Ok(run.run_id)
}

/// What the agent did not do in the end is for the person.
fn manual_step_name(step: &str) -> String {
    format!("{step}_by_hand")
}

/// Something else instead: the step is done anew with the person's words, and shown again.
fn redo_with_instruction(
    connection: &Connection,
    decision: &Decision,
    item: &ItemRow,
    task_id: TaskId,
) -> Result<Vec<RunId>> {
    if decision.reason.trim().is_empty() {
        return Err(StoreError::Refused("say what to do instead".into()));
    }
    record_correction(connection, decision, item, CorrectionKind::Respond)?;
    let action = approval::action_of_item(connection, item)?.action;
    outbox::void(connection, &action, "another answer was asked for", decision.who, decision.at)?;
    let mut row = resume_waiting_task(connection, task_id, decision.who, "another answer was asked for", decision.at)?;
    row.task.context.more.insert(INSTRUCTION.to_owned(), json!(decision.reason));
    if let Some(output) = row.task.tool_output.as_mut() {
        output.remove(&action.step);
    }
    store_task(connection, &mut row, decision.at)?;
    let run = build_run_for_item(connection, item, &row, &action.step, NodeName::ExecuteTool, decision.at)?;
    run::open(connection, &run, &prepared::encode_state(&run.state)?, decision.at)?;
    Ok(vec![run.run_id])
}

/// A person knows that it did happen.
fn confirm_sent(connection: &Connection, decision: &Decision, item: &ItemRow, task_id: TaskId) -> Result<Vec<RunId>> {
    let action = approval::action_of_item(connection, item)?.action;
    let mv = ActionMove {
        action_id: action.action_id,
        from: OutboxState::NeedsHuman,
        to: OutboxState::Sent,
        result: "sent, says a person".into(),
        handle: String::new(),
        who: decision.who,
        at: decision.at,
        is_database_row: false,
        approval: ApprovalUse::None,
        undoable: false,
        untried: false,
    };
    outbox::advance(connection, &mv)?;
    let mut row =
        resume_waiting_task(connection, task_id, decision.who, "a person knows that it was sent", decision.at)?;
    if let Some(subtask) = row.task.subtasks.iter_mut().find(|subtask| subtask.step == action.step && !subtask.done) {
        subtask.done = true;
    }
    row.task.tool_output.get_or_insert_default().insert(action.step.clone(), json!({ "sent": "says a person" }));
    store_task(connection, &mut row, decision.at)?;
    let run = build_run_for_item(connection, item, &row, &action.step, NodeName::ExecuteTool, decision.at)?;
    run::open(connection, &run, &prepared::encode_state(&run.state)?, decision.at)?;
    Ok(vec![run.run_id])
}

/// Nobody answered in time: that means no.
pub(in crate::store) fn expire_overdue_items(connection: &Connection, at: Instant) -> Result<Vec<RunId>> {
    let mut runs = Vec::new();
    for row in item::overdue(connection, at)? {
        item::close(connection, row.item_id, ItemState::Expired, "nobody answered in time", at)?;
        if row.action_id.is_some() {
            // What is behind it may be unreadable: then nothing goes on, and the others expire all the same.
            runs.extend(
                reject_action(connection, &row, Actor::Clock, "nobody answered in time", at)
                    .map(Some)
                    .skip_unreadable()?,
            );
        }
    }
    Ok(runs)
}

/// Out of waiting.
fn resume_waiting_task(
    connection: &Connection,
    task_id: TaskId,
    who: Actor,
    why: &str,
    at: Instant,
) -> Result<TaskRow> {
    let row = task::get(connection, task_id)?;
    if row.task.status != TaskStatus::WaitingHitl {
        return Ok(row);
    }
    let mv = task::StatusTransition {
        account: &row.account,
        from: row.task.status.as_str(),
        to: TaskStatus::InProgress,
        who,
        why,
        at,
    };
    task::set_status(connection, task_id, &mv)?;
    task::get(connection, task_id)
}

fn store_task(connection: &Connection, row: &mut TaskRow, at: Instant) -> Result<()> {
    row.task.last_updated = at;
    task::update(connection, &row.task, row.revision, None)?;
    row.revision += 1;
    Ok(())
}

fn claim_item(connection: &Connection, decision: &Decision, row: &ItemRow) -> Result<()> {
    let sql = "UPDATE item SET state = 'decided', decision = ?2, decided_by = ?3, reason = ?4, updated_at = ?5
               WHERE item_id = ?1 AND state = 'open'";
    let values = (
        decision.item_id.to_string(),
        decision.kind.as_str(),
        decision.who.as_str(),
        &decision.reason,
        decision.at.to_string(),
    );
    if execute(connection, sql, values, "deciding an item")? == 0 {
        return Err(StoreError::Refused(format!("item {} is {} already", decision.item_id, row.state)));
    }
    Ok(())
}

fn append_audit(connection: &Connection, decision: &Decision, row: &ItemRow) -> Result<()> {
    let entry = AuditEntry {
        at: decision.at,
        account: row.account.to_string(),
        who: decision.who,
        act: format!("decided_{}", decision.kind),
        subject: format!("item:{}", decision.item_id),
        detail: decision.reason.clone(),
    };
    audit::append(connection, &entry)
}

fn decide_task_step(
    connection: &Connection,
    decision: &Decision,
    item: &ItemRow,
    task_id: TaskId,
) -> Result<Vec<RunId>> {
    let row = task::get(connection, task_id)?;
    if decision.kind == DecisionKind::Cancel {
        task::edit::transition_task(
            connection,
            &row,
            TaskStatus::Cancelled,
            decision.who,
            &reason_or_default(decision, "cancelled"),
            decision.at,
        )?;
        return Ok(Vec::new());
    }
    if row.task.status != TaskStatus::WaitingHitl {
        return resume_parked_node(connection, decision, item, &row);
    }
    let why = reason_or_default(decision, "a person decided");
    outbox::void_of_task(connection, &row, (decision.who, &why), decision.at)?;
    let mut row = resume_waiting_task(connection, task_id, decision.who, &why, decision.at)?;
    let step = body_text(item, "step");
    match decision.kind {
        DecisionKind::Skip => skip_step(connection, &mut row, step, decision)?,
        _ => discard_step_output(connection, &mut row, step, decision)?,
    }
    let run = build_run_for_item(connection, item, &row, step, NodeName::ExecuteTool, decision.at)?;
    run::open(connection, &run, &prepared::encode_state(&run.state)?, decision.at)?;
    Ok(vec![run.run_id])
}

/// A run that parked before any tool: the task kept its state, and goes on where the run stopped, or not at all.
fn resume_parked_node(
    connection: &Connection,
    decision: &Decision,
    item: &ItemRow,
    row: &TaskRow,
) -> Result<Vec<RunId>> {
    if decision.kind == DecisionKind::Skip {
        return Ok(Vec::new());
    }
    let node = body_text(item, "node").parse().unwrap_or(NodeName::ExecuteTool);
    let run = build_run_for_item(connection, item, row, "", node, decision.at)?;
    run::open(connection, &run, &prepared::encode_state(&run.state)?, decision.at)?;
    Ok(vec![run.run_id])
}

fn body_text<'a>(item: &'a ItemRow, key: &str) -> &'a str {
    item.body.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A skipped step counts as dealt with; its output says that it was skipped and by whom.
fn skip_step(connection: &Connection, row: &mut TaskRow, step: &str, decision: &Decision) -> Result<()> {
    let who = decision.who.as_str();
    if let Some(subtask) = row.task.subtasks.iter_mut().find(|subtask| subtask.step == step && !subtask.done) {
        subtask.done = true;
    }
    let output = json!({ "skipped": true, "by": who, "reason": decision.reason });
    row.task.tool_output.get_or_insert_default().insert(step.to_owned(), output);
    store_task(connection, row, decision.at)
}

/// What was planned in the failed attempt counts no more: a step with an output is one that was dealt with.
fn discard_step_output(connection: &Connection, row: &mut TaskRow, step: &str, decision: &Decision) -> Result<()> {
    let planned = row.task.tool_output.as_mut().and_then(|output| output.remove(step));
    if planned.is_none() {
        return Ok(());
    }
    store_task(connection, row, decision.at)
}

/// A run that takes a step up again without an item behind it.
pub(in crate::store::table) fn open_step_run(
    connection: &Connection,
    row: &TaskRow,
    step: &str,
    at: Instant,
) -> Result<RunId> {
    let new =
        build_decision_run(connection, (&row.task.task_id.to_string(), None), row, step, NodeName::ExecuteTool, at)?;
    run::open(connection, &new, &prepared::encode_state(&new.state)?, at)?;
    Ok(new.run_id)
}

fn build_run_for_item(
    connection: &Connection,
    item: &ItemRow,
    row: &TaskRow,
    step: &str,
    node: NodeName,
    at: Instant,
) -> Result<NewRun> {
    build_decision_run(connection, (&item.item_id.to_string(), item.run_id), row, step, node, at)
}

fn build_decision_run(
    connection: &Connection,
    (because, parent_run): (&str, Option<RunId>),
    row: &TaskRow,
    step: &str,
    node: NodeName,
    at: Instant,
) -> Result<NewRun> {
    let generation = outbox::next_generation(connection, row.task.task_id, step)?;
    // A yes that was taken back and given again in the same second is another decision.
    let runs = run::count_of_task(connection, row.task.task_id)?;
    Ok(NewRun {
        run_id: RunId::derive(at, &["decision", because, &generation.to_string(), &runs.to_string()]),
        account: row.account.clone(),
        user: row.user.clone(),
        kind: RunKind::Decision,
        parent_run,
        fork: None,
        node,
        task_id: Some(row.task.task_id),
        state: RunState {
            mail_id: row.mail_id,
            mail_key: row
                .mail_id
                .map(|mail_id| ledger::read_entry(connection, mail_id))
                .transpose()?
                .map(|entry| entry.source_key),
            task: Some(Arc::new(row.task.clone())),
            facts: facts::of_task(connection, row.task.task_id)?,
            rule: Some(row.rule.clone()),
            generation,
            ..RunState::default()
        },
    })
}

fn decide_mail(connection: &Connection, decision: &Decision, item: &ItemRow) -> Result<Vec<RunId>> {
    let mail_id =
        item.mail_id.ok_or_else(|| StoreError::Refused("the item concerns neither a task nor a mail".into()))?;
    if decision.kind == DecisionKind::Retry {
        return ledger::retry_mail(connection, mail_id, &item.user, decision.at).map(|run| vec![run]);
    }
    ledger::record_outcome(
        connection,
        mail_id,
        MailState::NoTask,
        &reason_or_default(decision, "skipped by a person"),
        None,
        decision.at,
    )?;
    Ok(Vec::new())
}

fn reason_or_default(decision: &Decision, otherwise: &str) -> String {
    if decision.reason.is_empty() { otherwise.to_owned() } else { decision.reason.clone() }
}
