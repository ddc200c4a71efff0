//! Approvals: given for exact bytes, used once, revocable within their grace, void after a restore.
//!
//! An approval is used by one conditional update in the transaction that begins its effect. The update compares the
//! digest, so that an approval of other bytes never counts.

pub(in crate::store) mod change;
pub(in crate::store) mod decision;
pub(in crate::store) mod item;
pub(in crate::store) mod queue_limit;

use rusqlite::Connection;

use super::{execute, nightly::correction, outbox, parse_column, query_first_readable, query_optional};
use crate::{
    approval::{ApprovalGrant, refuse_revocation},
    model::{
        Action, ActionId, Actor, Approval, Instant, ItemId, ItemRow, OutboxRow, OutboxState, ReevaluatedAction,
        nightly::CorrectionKind,
    },
    store::error::{Result, StoreContext, StoreError},
};

/// Stores an approval and releases its effect, at once or into its grace. Refused when the effect no longer waits for
/// an approval.
pub(in crate::store::table) fn grant(connection: &Connection, grant: &ApprovalGrant<'_>, who: Actor) -> Result<()> {
    let action_id = grant.action.action_id.to_string();
    let at = grant.granted_at.to_string();
    let sql = "INSERT OR REPLACE INTO approval (action_id, item_id, sha256, epoch, door, who, granted_at, expires_at, used_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, NULL)";
    let values = (
        &action_id,
        grant.item_id.to_string(),
        &grant.sha256,
        grant.epoch,
        grant.channel.as_str(),
        who.as_str(),
        &at,
        grant.expires_at.to_string(),
    );
    execute(connection, sql, values, "recording an approval")?;
    let to = grant.next_state();
    let sql = "UPDATE outbox SET state = ?2, release_at = ?3, result = 'approved', updated_at = ?4 WHERE action_id = ?1 AND state = 'parked'";
    let values = (&action_id, to.as_str(), grant.release_at.map(|at| at.to_string()), &at);
    if execute(connection, sql, values, "releasing an effect")? == 0 {
        return Err(grant.refusal().into());
    }
    let detail = format!("parked → {to} ({})", grant.sha256);
    outbox::append_audit(connection, grant.action, &detail, who, "approved", grant.granted_at)
}

/// Returns the effect that the item asks about.
pub(in crate::store) fn action_of_item(connection: &Connection, item: &ItemRow) -> Result<OutboxRow> {
    let action_id =
        item.action_id.ok_or_else(|| StoreError::Refused(format!("item {} is about no effect", item.item_id)))?;
    outbox::get(connection, action_id)?.ok_or_else(|| StoreError::NotFound(format!("action {action_id}")))
}

/// Marks the approval of an effect as used, in the transaction that begins the effect. Refused when there is none that
/// is unused, unexpired and of the same digest, so that no approval is used twice.
pub(super) fn use_approval(connection: &Connection, row: &OutboxRow, at: Instant) -> Result<()> {
    let sql =
        "UPDATE approval SET used_at = ?2 WHERE action_id = ?1 AND used_at IS NULL AND expires_at > ?2 AND sha256 = ?3";
    let values = (row.action.action_id.to_string(), at.to_string(), &row.sha256);
    if execute(connection, sql, values, "using an approval")? == 0 {
        return Err(StoreError::Refused(format!("action {} has no approval that counts", row.action.action_id)));
    }
    Ok(())
}

/// Makes an approval usable again, because what it was used for certainly did not happen.
pub(super) fn return_approval(connection: &Connection, action_id: ActionId) -> Result<()> {
    let sql = "UPDATE approval SET used_at = NULL WHERE action_id = ?1";
    execute(connection, sql, [action_id.to_string()], "returning an approval").map(drop)
}

/// Parks a held effect again and deletes its approval. Refused when its grace is over.
pub(in crate::store::table) fn revoke(
    connection: &Connection,
    action_id: ActionId,
    state: OutboxState,
    at: Instant,
) -> Result<()> {
    let id = action_id.to_string();
    let sql = "UPDATE outbox SET state = 'parked', release_at = NULL, result = 'taken back', updated_at = ?2 WHERE action_id = ?1 AND state = 'held'";
    if execute(connection, sql, (&id, at.to_string()), "taking an approval back")? == 0 {
        return Err(refuse_revocation(state).into());
    }
    execute(connection, "DELETE FROM approval WHERE action_id = ?1", [&id], "voiding an approval").map(drop)
}

/// Applies the verdict of a new policy to an action that waits for approval. A denied one is rejected; otherwise its
/// terms, class and digest are replaced, so that the person is asked about the action under the new policy.
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
    // The effect no longer waits for an approval, so there is nothing to ask anew.
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

/// Records that a person wanted another effect than the agent had planned.
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
        task_id: action.task_id,
        mail_id: action.mail_id,
        at,
    };
    correction::record(connection, &about, kind, values, why)
}

/// Marks a decision file as used, by its digest. Refused when a file with the same bytes was used before.
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
    /// Returns the approval of an effect; none when it has not been approved.
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
