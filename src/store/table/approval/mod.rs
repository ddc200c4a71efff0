//! Approvals: given for exact bytes, used once, taken back within their grace, void after a restore.

pub(in crate::store) mod decision;
pub(in crate::store) mod item;
pub(in crate::store) mod queue_limit;

use rusqlite::Connection;

use super::{execute, nightly::correction, outbox, parse_column, query_first_readable, query_optional, task};
use crate::{
    model::{
        Action, ActionEdit, ActionId, Actor, Approval, Decision, DecisionKind, Instant, ItemId, ItemRow, OutboxRow,
        OutboxState, ReevaluatedAction, TaskStatus, nightly::CorrectionKind,
    },
    store::error::{Result, StoreContext, StoreError},
};

/// Lets the action go, after its grace. What the person saw must be what is stored.
pub(in crate::store) fn grant(connection: &Connection, decision: &Decision, item: &ItemRow) -> Result<OutboxRow> {
    let row = action_of_item(connection, item)?;
    let refused = |why: &str| Err(StoreError::Refused(format!("item {} was not approved: {why}", item.item_id)));
    let Some(terms) = row.action.terms.as_ref() else { return refused("it was never asked about") };
    if !decision.channel.may_approve() {
        return refused(&format!("{} can show it, not approve it", decision.channel));
    }
    if decision.sha256 != row.sha256 || !row.intact {
        return refused("it is not what you were shown; look at it again");
    }
    if terms.expires_at <= decision.at {
        return refused("it has expired");
    }
    if row.action.effect.message().is_some_and(crate::model::action::ComposedMessage::has_gap) {
        return refused("its text has a gap (…) that only you can fill; edit it first");
    }
    let sql = "INSERT OR REPLACE INTO approval (action_id, item_id, sha256, epoch, door, who, granted_at, expires_at, used_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, NULL)";
    let values = (
        row.action.action_id.to_string(),
        item.item_id.to_string(),
        &row.sha256,
        decision.epoch,
        decision.channel.as_str(),
        decision.who.as_str(),
        decision.at.to_string(),
        terms.expires_at.to_string(),
    );
    execute(connection, sql, values, "recording an approval")?;
    let to = if decision.release_at.is_some() { OutboxState::Held } else { OutboxState::Ready };
    let sql = "UPDATE outbox SET state = ?2, release_at = ?3, result = 'approved', updated_at = ?4 WHERE action_id = ?1 AND state = 'parked'";
    let release = decision.release_at.map(|at| at.to_string());
    let values = (row.action.action_id.to_string(), to.as_str(), release, decision.at.to_string());
    if execute(connection, sql, values, "releasing an effect")? == 0 {
        return refused(&format!("it is {} already", row.state));
    }
    outbox::append_audit(
        connection,
        &row.action,
        &format!("parked → {to} ({})", row.sha256),
        decision.who,
        "approved",
        decision.at,
    )?;
    Ok(row)
}

pub(in crate::store) fn action_of_item(connection: &Connection, item: &ItemRow) -> Result<OutboxRow> {
    let action_id =
        item.action_id.ok_or_else(|| StoreError::Refused(format!("item {} is about no effect", item.item_id)))?;
    outbox::get(connection, action_id)?.ok_or_else(|| StoreError::NotFound(format!("action {action_id}")))
}

/// Uses the approval of an effect, in the transaction that runs it. One conditional update: never twice.
pub(super) fn use_approval(connection: &Connection, row: &OutboxRow, at: Instant) -> Result<()> {
    let sql =
        "UPDATE approval SET used_at = ?2 WHERE action_id = ?1 AND used_at IS NULL AND expires_at > ?2 AND sha256 = ?3";
    let values = (row.action.action_id.to_string(), at.to_string(), &row.sha256);
    if execute(connection, sql, values, "using an approval")? == 0 {
        return Err(StoreError::Refused(format!("action {} has no approval that counts", row.action.action_id)));
    }
    Ok(())
}

/// What it was used for certainly did not happen.
pub(super) fn return_approval(connection: &Connection, action_id: ActionId) -> Result<()> {
    let sql = "UPDATE approval SET used_at = NULL WHERE action_id = ?1";
    execute(connection, sql, [action_id.to_string()], "returning an approval").map(drop)
}

/// Within the grace: the item is open again, and the run that would have done it is over.
pub(in crate::store) fn revoke(connection: &Connection, item_id: ItemId, who: Actor, at: Instant) -> Result<()> {
    let row = item::get(connection, item_id)?.ok_or_else(|| StoreError::NotFound(format!("item {item_id}")))?;
    let action = action_of_item(connection, &row)?;
    let id = action.action.action_id.to_string();
    let sql = "UPDATE outbox SET state = 'parked', release_at = NULL, result = 'taken back', updated_at = ?2 WHERE action_id = ?1 AND state = 'held'";
    if execute(connection, sql, (&id, at.to_string()), "taking an approval back")? == 0 {
        let why = match action.state {
            OutboxState::Parked => "it was not approved".to_owned(),
            state => format!("it is too late: the effect is {state}"),
        };
        return Err(StoreError::Refused(why));
    }
    execute(connection, "DELETE FROM approval WHERE action_id = ?1", [&id], "voiding an approval")?;
    let sql = "UPDATE item SET state = 'open', decision = '', reason = '', updated_at = ?2 WHERE item_id = ?1 AND state = 'decided'";
    execute(connection, sql, (item_id.to_string(), at.to_string()), "opening an item again")?;
    let task_id = action.action.task_id;
    let sql = "UPDATE run SET status = 'overtaken', reason = 'the approval was taken back', updated_at = ?2
               WHERE task_id = ?1 AND status = 'running' AND kind = 'decision'";
    execute(connection, sql, (task_id.to_string(), at.to_string()), "ending a run")?;
    let (from, _) = task::status_and_priority(connection, task_id)?;
    if from == TaskStatus::InProgress.as_str() {
        let account = &action.action.account;
        let mv = task::StatusTransition {
            account,
            from: &from,
            to: TaskStatus::WaitingHitl,
            who,
            why: "the approval was taken back",
            at,
        };
        task::set_status(connection, task_id, &mv)?;
    }
    record_correction(connection, &action.action, CorrectionKind::Undo, ("approved", "parked"), "", at)?;
    outbox::append_audit(connection, &action.action, "held → parked: taken back", who, "taken_back", at)
}

/// Another wording is another action: the old one is void, the new one is asked about.
pub(in crate::store) fn edit_action(connection: &Connection, edit: &ActionEdit) -> Result<()> {
    let old =
        item::get(connection, edit.item_id)?.ok_or_else(|| StoreError::NotFound(format!("item {}", edit.item_id)))?;
    let sql = "UPDATE item SET state = 'void', reason = 'edited', updated_at = ?2 WHERE item_id = ?1 AND state = 'open' AND kind = 'action'";
    if execute(connection, sql, (edit.item_id.to_string(), edit.at.to_string()), "replacing an item")? == 0 {
        return Err(StoreError::Refused(format!("item {} is {} and cannot be edited", edit.item_id, old.state)));
    }
    let row = action_of_item(connection, &old)?;
    outbox::void(connection, &row.action, "edited", edit.who, edit.at)?;
    record_correction(connection, &row.action, CorrectionKind::Edit, ("", ""), "", edit.at)?;
    let run = old.run_id.unwrap_or(row.run_id);
    outbox::plan(connection, &edit.action, run, edit.who, edit.at)?;
    item::open(connection, &edit.item, &old.account, &old.user, Some(run), edit.at)
}

/// A new policy asks about it anew, or not at all.
pub(in crate::store) fn reevaluate_action(connection: &Connection, judged: &ReevaluatedAction) -> Result<()> {
    let id = judged.action.action_id.to_string();
    let sql = "SELECT item_id FROM item WHERE action_id = ?1 AND state = 'open'";
    let open = query_first_readable(connection, sql, [&id], "finding an item", |row| parse_column::<ItemId>(row, 0))?;
    let Some(open) = open.map(|open| item::get(connection, open)).transpose()?.flatten() else { return Ok(()) };
    if let Some(denied) = &judged.denied {
        return decision::reject_action(connection, &open, Actor::Policy, denied, judged.at).map(drop);
    }
    let sql = "UPDATE outbox SET action = ?2, sha256 = ?3, class = ?4, result = ?5, updated_at = ?6 WHERE action_id = ?1 AND state = 'parked'";
    let text = serde_json::to_string(&judged.action).context("encoding an action")?;
    let sha = judged.action.sha256().context("encoding an action")?;
    let values = (&id, text, &sha, judged.class.as_str(), &judged.reason, judged.at.to_string());
    if execute(connection, sql, values, "judging again")? == 0 {
        return Ok(());
    }
    outbox::append_audit(
        connection,
        &judged.action,
        &format!("{} ({sha})", judged.class),
        Actor::Policy,
        "judged_again",
        judged.at,
    )
}

/// A person wanted another effect than the agent did.
pub(super) fn record_correction(
    connection: &Connection,
    action: &Action,
    kind: CorrectionKind,
    values: (&str, &str),
    why: &str,
    at: Instant,
) -> Result<()> {
    let about = correction::CorrectionSubject {
        account: &action.account,
        user: &action.user,
        task_id: Some(action.task_id),
        mail_id: action.mail_id,
        at,
    };
    correction::record(connection, &about, kind, values, why)
}

pub(super) fn consume_decision_file(connection: &Connection, sha256: &str, at: Instant) -> Result<()> {
    let sql = "INSERT INTO consumed (sha256, at) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    if execute(connection, sql, (sha256, at.to_string()), "using a decision file")? == 0 {
        return Err(StoreError::Refused("this decision file was used already".into()));
    }
    Ok(())
}

/// Queries of approvals and of the approval queue.
#[derive(Clone, Copy)]
pub struct ApprovalReader<'a>(pub(in crate::store) &'a Connection);

impl ApprovalReader<'_> {
    pub fn of_action(self, action_id: ActionId) -> Result<Option<Approval>> {
        let sql = "SELECT sha256, epoch, door, expires_at, used_at IS NOT NULL FROM approval WHERE action_id = ?1";
        query_optional(self.0, sql, [action_id.to_string()], "reading an approval", |row| {
            Ok(Approval {
                sha256: row.get(0)?,
                epoch: row.get(1)?,
                channel: parse_column(row, 2)?,
                expires_at: parse_column(row, 3)?,
                used: row.get(4)?,
            })
        })
    }
}

/// Whether a verdict concerns the effect behind an item.
pub(super) fn decides_action(verdict: DecisionKind) -> bool {
    matches!(
        verdict,
        DecisionKind::Approve
            | DecisionKind::Reject
            | DecisionKind::Respond
            | DecisionKind::Skip
            | DecisionKind::Cancel
    )
}
