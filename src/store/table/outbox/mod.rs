//! The outbox: the durable record of every effect, stored before the effect is begun.
//!
//! The key of a row is (task, step, generation) and never the run, so that a resumed or repeated run finds the effect
//! that it planned before. A state changes only along the table of allowed pairs, which a trigger enforces.

pub(in crate::store) mod journal;

use rusqlite::{Connection, Row};

use super::{
    approval, approval::ApprovalReader, audit, decode_json_column, execute, json_extract_sql, parse_column,
    parse_optional_column, query_all, query_optional, query_readable, setting, task::reminder,
};
use crate::{
    model::{
        AccountMode, Action, ActionId, ActionMove, Actor, ApprovalUse, Effect, Instant, ItemKind, MailId, NewAction,
        OutboxRow, OutboxState, RiskClass, RunId, TaskId, TaskRow, TaskStatus, audit::AuditEntry, ids::sha256_hex,
    },
    store::error::{Result, SkipUnreadable as _, StoreContext, StoreError},
};

/// Stores a planned effect. One that is only a row of the database may be applied in the same transaction.
pub(in crate::store) fn plan(
    connection: &Connection,
    new: &NewAction,
    run_id: RunId,
    who: Actor,
    at: Instant,
) -> Result<()> {
    let NewAction { action, class, state, reason, sender } = new;
    let sql = "INSERT INTO outbox (action_id, task_id, step, generation, run_id, account, user_id, class, action, sha256, state, result, \
               created_at, updated_at, sender, mail_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?13, ?14, ?15)";
    let sha = action.sha256().context("encoding an action")?;
    let values = (
        action.action_id.to_string(),
        action.task_id.map(|id| id.to_string()),
        &action.step,
        action.generation,
        run_id.to_string(),
        action.account.as_str(),
        action.user.as_str(),
        class.as_str(),
        serde_json::to_string(action).context("encoding an action")?,
        &sha,
        state.as_str(),
        reason,
        at.to_string(),
        sender,
        // An effect of a task is found by the task.
        action.mail_id.filter(|_| action.task_id.is_none()).map(|id| id.0),
    );
    execute(connection, sql, values, "planning an effect")?;
    if *state != OutboxState::Applied {
        return append_audit(
            connection,
            action,
            &format!("{} {class} → {state} ({sha})", action.tool),
            who,
            "effect_planned",
            at,
        );
    }
    // The effect is applied in this transaction. The audit chain gets a line for planning it, and one for applying it.
    let ready = OutboxState::Ready;
    append_audit(connection, action, &format!("{} {class} → {ready} ({sha})", action.tool), who, "effect_planned", at)?;
    apply_database_effect(connection, action, at)?;
    append_audit(connection, action, &format!("{ready} → {state}: {reason}"), who, "effect_moved", at)
}

/// Moves an effect to another state, together with what belongs to it: the use of its approval, its row in the
/// database, its journal entry and its audit line. Returns a conflict when the effect is no longer in the expected
/// state.
pub(in crate::store) fn advance(connection: &Connection, mv: &ActionMove) -> Result<()> {
    let row = get(connection, mv.action_id)?.ok_or_else(|| StoreError::NotFound(format!("action {}", mv.action_id)))?;
    if mv.to == OutboxState::Sending {
        ensure_may_still_leave(connection, &row)?;
    }
    // `doubt_since` is when an effect first became of unknown outcome or could not be carried out. It survives probes and
    // retries, so that they end after their timeout, and is cleared by any other transition.
    let sql =
        "UPDATE outbox SET state = ?3, result = ?4, handle = CASE WHEN ?5 = '' THEN handle ELSE ?5 END, updated_at = ?6,
                doubt_since = CASE
                    WHEN ?2 = 'probe' AND ?3 IN ('unknown', 'settling') THEN coalesce(doubt_since, ?6)
                    WHEN ?3 IN ('unknown', 'settling') THEN ?6
                    WHEN ?3 IN ('probe', 'drafting', 'sending') THEN doubt_since
                    WHEN (?2, ?3) IN (('drafting', 'ready'), ('sending', 'drafted')) THEN coalesce(doubt_since, ?6) END,
                tried = CASE WHEN ?3 = 'drafting' THEN 1 WHEN ?7 THEN 0 ELSE tried END,
                begun = begun + (?3 = 'sending')
               WHERE action_id = ?1 AND state = ?2";
    let (id, at) = (mv.action_id.to_string(), mv.at.to_string());
    let values = (id, mv.from.as_str(), mv.to.as_str(), &mv.result, &mv.handle, at, mv.untried);
    let moved = execute(connection, sql, values, "moving an effect").map_err(|error| {
        error.with_transition(&format!("action {}", mv.action_id), mv.from.as_str(), mv.to.as_str())
    })?;
    if moved == 0 {
        return Err(StoreError::Conflict(format!("action {} is {}, no longer {}", mv.action_id, row.state, mv.from)));
    }
    match mv.approval {
        ApprovalUse::None => {}
        ApprovalUse::Use => approval::use_approval(connection, &row, mv.at)?,
        ApprovalUse::Return => approval::return_approval(connection, mv.action_id)?,
    }
    if mv.is_database_row {
        apply_database_effect(connection, &row.action, mv.at)?;
    }
    // Only what was really applied can be undone.
    if mv.undoable && mv.to == OutboxState::Applied {
        let sql = "INSERT INTO journal (action_id, handle, done_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        execute(connection, sql, (mv.action_id.to_string(), &mv.handle, mv.at.to_string()), "keeping the journal")?;
    }
    append_audit(
        connection,
        &row.action,
        &format!("{} → {}: {}", mv.from, mv.to, mv.result),
        mv.who,
        "effect_moved",
        mv.at,
    )
}

/// Checks, in the transaction that stores `sending`, that the message may still be sent. A pause, a change of mode or
/// an edit of the task that was committed before always wins, however late it came.
fn ensure_may_still_leave(connection: &Connection, row: &OutboxRow) -> Result<()> {
    let sql = "SELECT EXISTS (SELECT 1 FROM setting WHERE name = ?1 AND value <> ''),
                      (SELECT mode FROM account WHERE account = ?2), (SELECT status FROM tasks WHERE task_id = ?3),
                      EXISTS (SELECT 1 FROM approval WHERE action_id = ?4 AND sha256 <> ?5)";
    let action = &row.action;
    let (task_id, action_id) = (action.task_id.map(|id| id.to_string()), action.action_id.to_string());
    let values = (setting::PAUSED, action.account.as_str(), task_id, action_id, &row.sha256);
    let found = query_optional(connection, sql, values, "asking whether an effect may leave", |row| {
        Ok((
            row.get(0)?,
            parse_optional_column::<AccountMode>(row, 1)?,
            parse_optional_column::<TaskStatus>(row, 2)?,
            row.get(3)?,
        ))
    })?;
    let why = match found {
        Some((true, ..)) => "effects are paused",
        Some((_, mode, ..)) if mode != Some(AccountMode::Active) => "the account is not to be touched",
        Some((_, _, status, _)) if status.is_some_and(|status| status.is_terminal()) => "its task has ended",
        // Set when a person changed the task while an earlier attempt may have been leaving.
        _ if row.overruled => "its task was changed",
        Some((_, _, _, true)) => "something else was approved",
        _ => return Ok(()),
    };
    Err(StoreError::Conflict(format!("action {}: {why}", action.action_id)))
}

/// Carries out an effect that is only a row of the database.
fn apply_database_effect(connection: &Connection, action: &Action, at: Instant) -> Result<()> {
    match &action.effect {
        Effect::Label { label } => {
            let Some(mail) = action.mail_id else { return Err(StoreError::Refused("a label needs a mail".into())) };
            let sql = "INSERT INTO label (mail_id, label, at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
            execute(connection, sql, (mail.0, label, at.to_string()), "labelling").map(drop)
        }
        Effect::Remind { at: due, text, every } => {
            let (account, user) = (&action.account, &action.user);
            let (action_id, task_id) = (action.action_id, task_of(action)?);
            let new = reminder::NewReminderRow { action_id, task_id, account, user, due: *due, text, every: *every };
            reminder::insert_reminder(connection, &new)
        }
        Effect::RecordInvoice { invoice } => reminder::record_invoice(connection, action, invoice, at),
        Effect::Archive | Effect::Draft { .. } | Effect::Send { .. } | Effect::CreateFolder { .. } => {
            Err(StoreError::Refused("this effect is not a row of the database".into()))
        }
    }
}

/// Returns the task of an effect that is kept with one.
pub(in crate::store::table) fn task_of(action: &Action) -> Result<TaskId> {
    action.task_id.ok_or_else(|| StoreError::Refused("this effect needs a task".into()))
}

/// Undoes an effect that is a row of the database. Only labels can be undone.
pub(super) fn revert_database_effect(connection: &Connection, action: &Action) -> Result<()> {
    if let (Effect::Label { label }, Some(mail)) = (&action.effect, action.mail_id) {
        let sql = "DELETE FROM label WHERE mail_id = ?1 AND label = ?2";
        execute(connection, sql, (mail.0, label), "taking a label off")?;
    }
    Ok(())
}

/// Voids an effect, with an audit line.
pub(super) fn void(connection: &Connection, action: &Action, why: &str, who: Actor, at: Instant) -> Result<()> {
    let sql = "UPDATE outbox SET state = 'void', result = ?2, updated_at = ?3 WHERE action_id = ?1";
    execute(connection, sql, (action.action_id.to_string(), why, at.to_string()), "voiding an effect")?;
    append_audit(connection, action, &format!("→ void: {why}"), who, "effect_moved", at)
}

/// Voids every pending effect of a task. One that may be leaving cannot be voided; it is marked as overruled, so that
/// it is not begun again if it turns out not to have left. A draft that may be in the mailbox already is marked for
/// cleaning up.
pub(in crate::store) fn void_of_task(
    connection: &Connection,
    row: &TaskRow,
    (who, why): (Actor, &str),
    at: Instant,
) -> Result<()> {
    void_pending(connection, (row, None), (who, why), at)
}

/// Voids every pending effect of one step of a task, in the same way.
pub(in crate::store) fn void_of_step(
    connection: &Connection,
    (row, step): (&TaskRow, &str),
    (who, why): (Actor, &str),
    at: Instant,
) -> Result<()> {
    void_pending(connection, (row, Some(step)), (who, why), at)
}

/// Voids the pending effects of a task, or of one of its steps.
fn void_pending(
    connection: &Connection,
    (row, step): (&TaskRow, Option<&str>),
    (who, why): (Actor, &str),
    at: Instant,
) -> Result<()> {
    let effect = json_extract_sql("action", "$.effect.effect");
    let sql = format!(
        "UPDATE outbox SET state = 'void', result = ?2, updated_at = ?3, cleanup_due = (state = 'ready' AND {effect} = 'draft')
         WHERE task_id = ?1 AND (?4 IS NULL OR step = ?4) AND state IN ('planned', 'parked', 'ready', 'held', 'drafting', 'drafted', 'needs_human') RETURNING action_id, account"
    );
    let id = row.task.task_id.to_string();
    let voided: Vec<(String, String)> =
        query_all(connection, &sql, (id, why, at.to_string(), step), "voiding effects", |found| {
            Ok((found.get(0)?, found.get(1)?))
        })?;
    for (action_id, account) in voided {
        let entry = AuditEntry {
            at,
            account,
            who,
            act: "effect_moved".into(),
            subject: format!("action:{action_id}"),
            detail: format!("→ void: {why}"),
        };
        audit::append(connection, &entry)?;
    }
    // These may have left. If one has not, the mark keeps it from being begun again.
    let sql = "UPDATE outbox SET overruled = 1
               WHERE task_id = ?1 AND (?2 IS NULL OR step = ?2) AND state IN ('sending', 'unknown', 'probe')";
    execute(connection, sql, (row.task.task_id.to_string(), step), "overruling effects").map(drop)
}

/// Returns the generation of the next effect of a step.
pub(in crate::store) fn next_generation(connection: &Connection, task_id: TaskId, step: &str) -> Result<u32> {
    let sql = "SELECT coalesce(max(generation) + 1, 0) FROM outbox WHERE task_id = ?1 AND step = ?2";
    query_optional(connection, sql, (task_id.to_string(), step), "counting attempts", |row| row.get(0))
        .map(Option::unwrap_or_default)
}

/// Appends an audit line about an effect.
pub(super) fn append_audit(
    connection: &Connection,
    action: &Action,
    detail: &str,
    who: Actor,
    act: &str,
    at: Instant,
) -> Result<()> {
    let entry = AuditEntry {
        at,
        account: action.account.to_string(),
        who,
        act: act.to_owned(),
        subject: format!("action:{}", action.action_id),
        detail: detail.to_owned(),
    };
    audit::append(connection, &entry)
}

/// The columns that [`outbox_row`] reads.
const COLUMNS: &str = "SELECT action, class, state, result, sha256, run_id, updated_at, handle, release_at, doubt_since, sender, tried, begun, overruled FROM outbox";

/// Reads a row, and checks the stored action against its digest.
fn outbox_row(row: &Row<'_>) -> rusqlite::Result<OutboxRow> {
    let intact = sha256_hex(row.get_ref(0)?.as_str()?.as_bytes()) == row.get_ref(4)?.as_str()?;
    Ok(OutboxRow {
        intact,
        action: decode_json_column(row, 0)?,
        class: parse_column(row, 1)?,
        state: parse_column(row, 2)?,
        result: row.get(3)?,
        sha256: row.get(4)?,
        run_id: parse_column(row, 5)?,
        updated_at: parse_column(row, 6)?,
        handle: row.get(7)?,
        release_at: parse_optional_column(row, 8)?,
        doubt_since: parse_optional_column(row, 9)?,
        sender: row.get(10)?,
        tried: row.get(11)?,
        begun: row.get(12)?,
        overruled: row.get(13)?,
    })
}

/// Returns an effect; none when there is no such row.
pub(in crate::store) fn get(connection: &Connection, action_id: ActionId) -> Result<Option<OutboxRow>> {
    query_optional(
        connection,
        &format!("{COLUMNS} WHERE action_id = ?1"),
        [action_id.to_string()],
        "reading an effect",
        outbox_row,
    )
}

/// Queries of the outbox.
#[derive(Clone, Copy)]
pub struct OutboxReader<'a>(pub(in crate::store) &'a Connection);

impl OutboxReader<'_> {
    /// Returns an effect; none when it does not exist. A row that cannot be read is an error; see
    /// [`SkipUnreadable`](crate::store::SkipUnreadable).
    pub fn get(self, action_id: ActionId) -> Result<Option<OutboxRow>> {
        get(self.0, action_id)
    }

    /// Returns the effects of a task, oldest first.
    pub fn of_task(self, task_id: TaskId) -> Result<Vec<OutboxRow>> {
        let sql = format!("{COLUMNS} WHERE task_id = ?1 ORDER BY created_at, action_id");
        query_readable(self.0, &sql, [task_id.to_string()], "listing effects", outbox_row)
    }

    /// Returns what rules did to a mail, oldest first.
    pub fn of_mail(self, mail_id: MailId) -> Result<Vec<OutboxRow>> {
        let sql = format!("{COLUMNS} WHERE mail_id = ?1 AND task_id IS NULL ORDER BY created_at, action_id");
        query_readable(self.0, &sql, [mail_id.0], "listing what rules did to a mail", outbox_row)
    }

    /// Returns the effects that were carried out since then, with class, sender and time. The rate limits are
    /// initialised from them.
    pub fn finished_since(self, since: Instant) -> Result<Vec<(RiskClass, String, Instant, Action)>> {
        let sql = "SELECT class, sender, updated_at, action FROM outbox
                   WHERE state IN ('applied', 'sent', 'saved') AND updated_at >= ?1 ORDER BY updated_at";
        query_readable(self.0, sql, [since.to_string()], "counting recent effects", |row| {
            Ok((parse_column(row, 0)?, row.get(1)?, parse_column(row, 2)?, decode_json_column(row, 3)?))
        })
    }

    /// Returns the number of effects in each state.
    pub fn counts(self) -> Result<Vec<(String, u64)>> {
        let sql = "SELECT state, count(*) FROM outbox GROUP BY state ORDER BY state";
        query_readable(self.0, sql, [], "counting effects", |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
        })
    }

    /// Returns the actions with an open item, most urgent task first.
    pub fn parked(self) -> Result<Vec<OutboxRow>> {
        let items = ApprovalReader(self.0).open_items()?;
        let ids = items.iter().filter(|item| item.kind == ItemKind::Action).filter_map(|item| item.action_id);
        let mut rows = Vec::new();
        for action_id in ids {
            rows.extend(get(self.0, action_id).skip_unreadable()?);
        }
        Ok(rows)
    }
}
