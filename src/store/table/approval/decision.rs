//! A person's decision on an item. Used once: the row is claimed by a single conditional update. What the decision means
//! is told by [`crate::approval`].

use rusqlite::Connection;

use crate::{
    approval::{self, DecisionSubject},
    model::{ActionEdit, Decision, Instant, ItemId, ItemRow, ItemState, RunId, audit::AuditEntry},
    store::{
        error::{Result, SkipUnreadable as _, StoreError},
        table::{
            approval::{
                action_of_item,
                change::{DecisionCause, apply_changes},
                consume_decision_file, item,
            },
            audit, execute, outbox, task,
        },
    },
};

const EXPIRED: &str = "nobody answered in time";

/// Records a decision and applies what follows from it. Returns the runs that go on because of it.
pub(in crate::store) fn decide_item(connection: &Connection, decision: &Decision) -> Result<Vec<RunId>> {
    let item = load_item(connection, decision.item_id)?;
    if let Some(file) = &decision.file_sha256 {
        consume_decision_file(connection, file, decision.at)?;
    }
    claim_item(connection, decision, &item)?;
    append_audit(connection, decision, &item)?;
    let cause = DecisionCause { item: &item, who: &decision.who, at: decision.at };
    let apply = |changes: &[_]| apply_changes(connection, cause, changes);
    match DecisionSubject::new(decision, &item)? {
        DecisionSubject::Approval => {
            apply(&approval::approve_action(decision, &item, &action_of_item(connection, &item)?)?)
        }
        DecisionSubject::Rejection => {
            apply(&approval::reject_by_person(decision, &action_of_item(connection, &item)?.action))
        }
        DecisionSubject::Instruction(task_id) => {
            apply(&approval::redo_step(decision, task_id, &action_of_item(connection, &item)?.action))
        }
        DecisionSubject::Confirmation(task_id) => {
            apply(&approval::confirm_sent(decision, task_id, &action_of_item(connection, &item)?.action))
        }
        DecisionSubject::Step(task_id) => {
            apply(&approval::decide_step(decision, &item, &task::get(connection, task_id)?))
        }
        DecisionSubject::Proposal => apply(&approval::decide_proposal(decision, &item)?),
        DecisionSubject::Mail(mail_id) => apply(&approval::decide_mail(decision, mail_id)),
    }
}

/// Voids an action and gives its step to the person. Returns the run in which the task goes on.
pub(in crate::store::table) fn reject_action(
    connection: &Connection,
    item: &ItemRow,
    who: &str,
    why: &str,
    at: Instant,
) -> Result<Vec<RunId>> {
    let row = action_of_item(connection, item)?;
    apply_changes(connection, DecisionCause { item, who, at }, &approval::reject_action(&row.action, why))
}

/// Expires items that nobody answered in time, which counts as a no. Returns the runs that go on.
pub(in crate::store) fn expire_overdue_items(connection: &Connection, at: Instant) -> Result<Vec<RunId>> {
    let mut runs = Vec::new();
    for row in item::overdue(connection, at)? {
        item::close(connection, row.item_id, ItemState::Expired, EXPIRED, at)?;
        if row.action_id.is_some() {
            // What is behind it may be unreadable: then nothing goes on, and the others expire all the same.
            let rejected = reject_action(connection, &row, "clock", EXPIRED, at).map(Some).skip_unreadable()?;
            runs.extend(rejected.into_iter().flatten());
        }
    }
    Ok(runs)
}

/// Takes an approval back within its grace.
pub(in crate::store) fn revoke_approval(
    connection: &Connection,
    item_id: ItemId,
    who: &str,
    at: Instant,
) -> Result<()> {
    let item = load_item(connection, item_id)?;
    let row = action_of_item(connection, &item)?;
    apply_changes(connection, DecisionCause { item: &item, who, at }, &approval::revoke_approval(&row)).map(drop)
}

/// Replaces an action by one in other words, which is asked about in turn.
pub(in crate::store) fn edit_action(connection: &Connection, edit: &ActionEdit) -> Result<()> {
    let old = load_item(connection, edit.item_id)?;
    if !item::replace(connection, edit.item_id, edit.at)? {
        return Err(StoreError::Refused(format!("item {} is {} and cannot be edited", edit.item_id, old.state)));
    }
    let row = action_of_item(connection, &old)?;
    let cause = DecisionCause { item: &old, who: &edit.who, at: edit.at };
    apply_changes(connection, cause, &approval::replace_action(&row.action))?;
    let run = old.run_id.unwrap_or(row.run_id);
    outbox::plan(connection, &edit.action, run, &edit.who, edit.at)?;
    item::open(connection, &edit.item, &old.account, &old.user, Some(run), edit.at)
}

fn load_item(connection: &Connection, item_id: ItemId) -> Result<ItemRow> {
    item::get(connection, item_id)?.ok_or_else(|| StoreError::NotFound(format!("item {item_id}")))
}

fn claim_item(connection: &Connection, decision: &Decision, row: &ItemRow) -> Result<()> {
    let sql = "UPDATE item SET state = 'decided', decision = ?2, decided_by = ?3, reason = ?4, updated_at = ?5
               WHERE item_id = ?1 AND state = 'open'";
    let values = (
        decision.item_id.to_string(),
        decision.kind.as_str(),
        &decision.who,
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
        who: decision.who.clone(),
        act: format!("decided_{}", decision.kind),
        subject: format!("item:{}", decision.item_id),
        detail: decision.reason.clone(),
    };
    audit::append(connection, &entry)
}
