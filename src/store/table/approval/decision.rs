//! A person's decision on an item.
//!
//! It counts once: the item is claimed by a single conditional update, in the transaction that applies what follows.
//! What a decision means is decided by [`crate::approval`].

use rusqlite::Connection;

use crate::{
    approval::{self, DecisionSubject},
    model::{ActionEdit, Actor, Decision, Instant, ItemId, ItemRow, ItemState, RunId, audit::AuditEntry},
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

/// The reason of an item that nobody answered in time.
const EXPIRED: &str = "nobody answered in time";

/// Records a decision and applies what follows from it. Returns the runs that were opened. Refused when the item is not
/// open any more, or when the decision file was used before.
pub(in crate::store) fn decide_item(connection: &Connection, decision: &Decision) -> Result<Vec<RunId>> {
    let item = load_item(connection, decision.item_id)?;
    if let Some(file) = &decision.file_sha256 {
        consume_decision_file(connection, file, decision.at)?;
    }
    // Claimed before anything that follows from it is applied: a second decision on the item is refused here.
    claim_item(connection, decision, &item)?;
    append_audit(connection, decision, &item)?;
    let cause = DecisionCause { item: &item, who: decision.who, at: decision.at };
    let apply = |changes: &[_]| apply_changes(connection, cause, changes);
    match DecisionSubject::new(decision, &item)? {
        DecisionSubject::Approval => {
            apply(&approval::approve_action(decision, &item, &action_of_item(connection, &item)?)?)
        }
        DecisionSubject::Rejection => {
            apply(&approval::reject_by_person(decision, &action_of_item(connection, &item)?.action))
        }
        DecisionSubject::Instruction(task_id, instruction) => {
            let row = task::get(connection, task_id)?;
            apply(&approval::redo_step(decision, instruction, &row, &action_of_item(connection, &item)?.action)?)
        }
        DecisionSubject::Confirmation(task_id) => {
            apply(&approval::confirm_sent(decision, task_id, &action_of_item(connection, &item)?.action))
        }
        DecisionSubject::Step(task_id) => {
            apply(&approval::decide_step(decision, &item, &task::get(connection, task_id)?))
        }
        DecisionSubject::Proposal => apply(&approval::decide_proposal(decision, &item)?),
        DecisionSubject::Question => apply(&approval::decide_question(decision, &item)?),
        DecisionSubject::Mail(mail_id) => apply(&approval::decide_mail(decision, mail_id)),
    }
}

/// Voids an action without a person, and adds its step to the task as one for the person. Returns the run in which the
/// task goes on.
pub(in crate::store::table) fn reject_action(
    connection: &Connection,
    item: &ItemRow,
    who: Actor,
    why: &str,
    at: Instant,
) -> Result<Vec<RunId>> {
    let row = action_of_item(connection, item)?;
    apply_changes(connection, DecisionCause { item, who, at }, &approval::reject_action(&row.action, why))
}

/// Expires the items that nobody answered in time, which counts as a no. Returns the runs that were opened.
pub(in crate::store) fn expire_overdue_items(connection: &Connection, at: Instant) -> Result<Vec<RunId>> {
    let mut runs = Vec::new();
    for row in item::overdue(connection, at)? {
        item::close(connection, row.item_id, ItemState::Expired, EXPIRED, at)?;
        if row.action_id.is_some() {
            // The action or task behind the item may be unreadable. Then it opens no run, and the other items still
            // expire.
            let rejected = reject_action(connection, &row, Actor::Clock, EXPIRED, at).map(Some).skip_unreadable()?;
            runs.extend(rejected.into_iter().flatten());
        }
    }
    Ok(runs)
}

/// Revokes an approval within its grace. Refused when the grace is over.
pub(in crate::store) fn revoke_approval(
    connection: &Connection,
    item_id: ItemId,
    who: Actor,
    at: Instant,
) -> Result<()> {
    let item = load_item(connection, item_id)?;
    let row = action_of_item(connection, &item)?;
    apply_changes(connection, DecisionCause { item: &item, who, at }, &approval::revoke_approval(&row)).map(drop)
}

/// Voids an action and plans the edited one, which gets an item of its own. Refused when the item is not open any more.
pub(in crate::store) fn edit_action(connection: &Connection, edit: &ActionEdit) -> Result<()> {
    let old = load_item(connection, edit.item_id)?;
    if !item::replace(connection, edit.item_id, edit.at)? {
        return Err(StoreError::Refused(format!("item {} is {} and cannot be edited", edit.item_id, old.state)));
    }
    let row = action_of_item(connection, &old)?;
    let cause = DecisionCause { item: &old, who: edit.who, at: edit.at };
    apply_changes(connection, cause, &approval::replace_action(&row.action, edit))?;
    let run = old.run_id.unwrap_or(row.run_id);
    outbox::plan(connection, &edit.action, run, edit.who, edit.at)?;
    item::open(connection, &edit.item, &old.account, &old.user, Some(run), edit.at)
}

fn load_item(connection: &Connection, item_id: ItemId) -> Result<ItemRow> {
    item::get(connection, item_id)?.ok_or_else(|| StoreError::NotFound(format!("item {item_id}")))
}

/// Marks the item as decided, if it is still open: one conditional update, so that no decision counts twice.
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
