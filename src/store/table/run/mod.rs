//! Runs: opened with their state, advanced by checkpoints, ended once.
//!
//! A checkpoint commits everything that a node did, or nothing: changes, history, audit, effects, items, replies and
//! the next node. It is refused when the run was ended or advanced by somebody else, or when its task has a newer
//! revision.

pub(in crate::store) mod model_call;
pub(in crate::store) mod read;

use rusqlite::Connection;

use super::{
    approval::item,
    document::search_index,
    execute,
    mail::{appointment, ledger, warning},
    outbox, parse_column, parse_optional_column, query_optional,
    task::{self, facts, followup, history, task_update},
};
use crate::{
    model::{
        AccountId, Change, Checkpoint, Facts, Instant, ItemId, ItemKind, MailId, MailState, NewItem, NewRun, NodeName,
        RecordedReply, RunId, RunStatus, TaskId, TaskStatus, UserId, run::STATE_SCHEMA,
    },
    store::{
        error::{Result, StoreContext, StoreError},
        prepared::{EncodedCheckpoint, SearchEntry},
        session::Session,
    },
};

/// Returns how many runs a task has had so far.
pub(super) fn count_of_task(connection: &Connection, task_id: TaskId) -> Result<i64> {
    let sql = "SELECT count(*) FROM run WHERE task_id = ?1";
    query_optional(connection, sql, [task_id.to_string()], "counting runs", |row| row.get(0))
        .map(Option::unwrap_or_default)
}

/// Opens a run with its encoded state. One that exists already is left unchanged, so that a repeated write opens it
/// once.
pub(in crate::store) fn open(connection: &Connection, new: &NewRun, state: &str, at: Instant) -> Result<()> {
    let sql = "INSERT INTO run (run_id, account, user_id, kind, mail_id, task_id, parent_run, fork_of, fork_seq, schema, status, reason, node, seq, \
               created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'running', '', ?11, ?12, ?13, ?13) ON CONFLICT DO NOTHING";
    let (fork_of, fork_seq) = new.fork.map(|(run, seq)| (run.to_string(), seq)).unzip();
    let values = rusqlite::params![
        new.run_id.to_string(),
        new.account.as_str(),
        new.user.as_str(),
        new.kind.as_str(),
        new.state.mail_id.map(|id| id.0),
        new.task_id.map(|id| id.to_string()),
        new.parent_run.map(|id| id.to_string()),
        fork_of,
        fork_seq,
        STATE_SCHEMA,
        new.node.as_str(),
        fork_seq.unwrap_or(0),
        at.to_string(),
    ];
    if execute(connection, sql, values, "opening a run")? == 0 {
        return Ok(());
    }
    execute(
        connection,
        "INSERT INTO run_input (run_id, state) VALUES (?1, ?2)",
        (new.run_id.to_string(), state),
        "storing a state",
    )
    .map(drop)
}

/// Stores the replies that the node received, those of models with their cost.
fn record_replies(connection: &Connection, point: &Checkpoint, text: &EncodedCheckpoint) -> Result<()> {
    for reply in &point.replies {
        match &reply.call {
            Some(call) => {
                let asked = model_call::ModelCallKey {
                    run: Some((&text.run_id, point.seq)),
                    node: reply.node.as_str(),
                    input_hash: &reply.input_hash,
                    ordinal: reply.ordinal,
                };
                model_call::insert_model_call(connection, &asked, reply.reply.as_str(), call, &text.at)?;
            }
            None => record_reply(connection, (&text.run_id, point.seq), reply)?,
        }
    }
    Ok(())
}

/// Stores a recorded reply. One that is stored already is left unchanged.
pub(super) fn record_reply(connection: &Connection, (run_id, seq): (&str, u32), reply: &RecordedReply) -> Result<()> {
    let sql = "INSERT INTO reply (run_id, node, input_hash, ordinal, seq, reply) VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
    let values = (run_id, reply.node.as_str(), &reply.input_hash, reply.ordinal, seq, reply.reply.as_str());
    execute(connection, sql, values, "recording a reply").map(drop)
}

/// Stores a checkpoint and applies everything that follows from it. The checkpoint of a fork changes no task; its
/// effect is stored as void.
pub(in crate::store) fn store_checkpoint(
    session: &Session,
    point: &Checkpoint,
    text: &EncodedCheckpoint,
) -> Result<()> {
    advance_run(session, point, text)?;
    let sql = "INSERT INTO checkpoint (run_id, seq, node, move, next_node, changes, entered_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let next = point.next.map(|node| node.as_str());
    let values = (&text.run_id, point.seq, point.node.as_str(), &text.next_move, next, &text.changes, &text.at);
    execute(session, sql, values, "storing a checkpoint")?;
    record_replies(session, point, text)?;
    // A fork only shows what would happen: nothing beyond this line may reach a task, a mail or the outbox.
    if point.fork {
        return record_fork_effect(session, point);
    }
    if let Some(mv) = &point.action_move {
        outbox::advance(session, mv)?;
    }
    project_changes(session, point, &text.search_entries)?;
    if let Some(action) = &point.action {
        outbox::plan(session, action, point.run_id, point.node.into(), point.entered_at)?;
    }
    if let Some(new) = &point.item {
        item::open(session, new, &point.account, &point.user, Some(point.run_id), point.entered_at)?;
    }
    for (run, state) in point.runs.iter().zip(&text.runs) {
        open(session, run, state, point.entered_at)?;
    }
    if let Some((day, reflection)) = point.reflection.as_deref() {
        let line = serde_json::to_string(reflection).context("encoding a reflection")?;
        let sql = "INSERT INTO reflection (day, run_id, line) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        execute(session, sql, (day, point.run_id.to_string(), line), "storing a reflection")?;
    }
    Ok(())
}

/// Advances the run to its next node. Returns [`StoreError::RunTakenOver`] when it was ended or advanced by somebody
/// else.
fn advance_run(connection: &Connection, point: &Checkpoint, text: &EncodedCheckpoint) -> Result<()> {
    let (status, reason) = match &point.end {
        Some((status, reason)) => (*status, reason.as_str()),
        None => (RunStatus::Running, ""),
    };
    // A run that has advanced no longer waits. A stale time would keep it from being resumed after a kill.
    let sql = "UPDATE run SET seq = ?2, node = ?3, status = ?4, reason = ?5, updated_at = ?6, wait_until = NULL, waits_for = ''
               WHERE run_id = ?1 AND seq = ?2 - 1 AND status = 'running'";
    let node = point.next.unwrap_or(point.node).as_str();
    let values = (&text.run_id, point.seq, node, status.as_str(), reason, &text.at);
    if execute(connection, sql, values, "advancing a run")? == 0 {
        return Err(StoreError::RunTakenOver(format!(
            "run {} is not at checkpoint {} any more",
            point.run_id,
            point.seq - 1
        )));
    }
    Ok(())
}

/// Sets a run aside until a time, with a reason for a person. A run that has ended is left unchanged.
pub(in crate::store) fn defer(
    connection: &Connection,
    run_id: RunId,
    reason: &str,
    until: Instant,
    at: Instant,
) -> Result<()> {
    let sql =
        "UPDATE run SET wait_until = ?2, waits_for = ?3, updated_at = ?4 WHERE run_id = ?1 AND status = 'running'";
    let values = (run_id.to_string(), until.to_string(), reason, at.to_string());
    execute(connection, sql, values, "setting a run aside").map(drop)
}

/// Ends a run outside its nodes. A parked run leaves an item for a person, unless it is a fork. A run that has ended
/// already is left unchanged.
pub(in crate::store) fn end(
    connection: &Connection,
    run_id: RunId,
    status: RunStatus,
    reason: &str,
    at: Instant,
) -> Result<()> {
    let sql = "UPDATE run SET status = ?2, reason = ?3, updated_at = ?4 WHERE run_id = ?1 AND status = 'running'
               RETURNING account, user_id, mail_id, task_id, node, fork_of IS NOT NULL";
    let values = (run_id.to_string(), status.as_str(), reason, at.to_string());
    let ended = query_optional(connection, sql, values, "ending a run", |row| {
        Ok(EndedRun {
            account: AccountId(row.get(0)?),
            user: UserId(row.get(1)?),
            mail_id: row.get::<_, Option<i64>>(2)?.map(MailId),
            // The run ends whatever its row holds: an unreadable run must not be resumed for ever.
            task_id: parse_optional_column(row, 3).unwrap_or_default(),
            node: parse_column(row, 4).unwrap_or(NodeName::PlanStep),
            fork: row.get(5)?,
        })
    })?;
    match ended {
        Some(ended) if status == RunStatus::Parked && !ended.fork => {
            report_parked_run(connection, run_id, &ended, reason, at)
        }
        _ => Ok(()),
    }
}

/// The columns of a run that ended outside its nodes.
struct EndedRun {
    account: AccountId,
    user: UserId,
    mail_id: Option<MailId>,
    task_id: Option<TaskId>,
    node: NodeName,
    /// Whether the run is a fork, which reports to nobody.
    fork: bool,
}

/// Opens an item for a run that was parked outside its nodes, and marks its mail as parked, so that it is accounted
/// for.
fn report_parked_run(
    connection: &Connection,
    run_id: RunId,
    ended: &EndedRun,
    reason: &str,
    at: Instant,
) -> Result<()> {
    if let (Some(mail_id), None) = (ended.mail_id, ended.task_id) {
        let sql = "UPDATE ledger SET state = 'parked', reason = ?2, flagged = 0, updated_at = ?3 WHERE mail_id = ?1 AND state = 'pending'";
        execute(connection, sql, (mail_id.0, reason, at.to_string()), "parking a mail")?;
    }
    let node = ended.node;
    let new = NewItem {
        item_id: ItemId::derive(at, &[&run_id.to_string(), node.as_str(), "ended"]),
        kind: ItemKind::FailedStep,
        task_id: ended.task_id,
        mail_id: ended.mail_id,
        action_id: None,
        title: format!("{node} could not go on: {reason}"),
        body: serde_json::json!({ "node": node, "step": "", "error": reason }),
        expires_at: None,
        sender: String::new(),
        queue_limits: None,
    };
    item::open(connection, &new, &ended.account, &ended.user, Some(run_id), at)
}

/// Stores the effect that a fork asked for, as void: a fork never acts.
fn record_fork_effect(connection: &Connection, point: &Checkpoint) -> Result<()> {
    let Some(new) = &point.action else { return Ok(()) };
    let action = serde_json::to_string(&new.action).context("encoding an action")?;
    let sql = "INSERT INTO fork_effect (run_id, seq, class, action, state) VALUES (?1, ?2, ?3, ?4, 'void')";
    execute(
        connection,
        sql,
        (point.run_id.to_string(), point.seq, new.class.as_str(), action),
        "recording a fork's effect",
    )
    .map(drop)
}

/// Applies the changes of a checkpoint to the tables of tasks, mails and facts.
fn project_changes(session: &Session, point: &Checkpoint, found: &[SearchEntry]) -> Result<()> {
    let touched = point.changes.iter().any(|change| change.written_field().is_of_task());
    if let Some((after, revision)) = point.task.as_ref().filter(|_| touched) {
        // Checked before any change is applied: a change that no longer fits a task that somebody else has moved is a
        // conflict, not a fault of the run.
        task::ensure_unchanged(session, after.task_id, *revision)?;
    }
    let who = point.node.into();
    let mut found = found.iter();
    let mut concerned = None;
    let mut rule = None;
    for change in &point.changes {
        match change {
            Change::OpenTask { task, facts, fingerprints, seen } => {
                let owner = task::TaskOwner { account: &point.account, user: &point.user, mail_id: point.mail_id, who };
                let found = found.next().ok_or_else(|| StoreError::Refused("it was not prepared".into()))?;
                task::open(session, task, found, facts, &owner, point.entered_at)?;
                followup::record_task_fingerprints(session, point, task.task_id, fingerprints, seen)?;
                concerned.get_or_insert(task.task_id);
            }
            Change::LinkMail { task_id, facts, evidence, event, update } => {
                link_mail(session, *task_id, facts, evidence, point)?;
                if let Some(event) = event {
                    followup::apply_event_change(session, point, *task_id, event, evidence)?;
                }
                if let Some(update) = update {
                    task_update::apply_update(session, point, *task_id, update, evidence)?;
                }
                if event.is_some() || update.is_some() {
                    let row = task::get(session, *task_id)?;
                    search_index::index_changed_task(session, &row.account, &row.task)?;
                }
                concerned.get_or_insert(*task_id);
            }
            Change::Settle { state, reason, facts, warnings } => {
                record_mail_outcome(session, *state, reason, facts.as_deref(), concerned, point)?;
                if let (Some(mail_id), Some(warnings)) = (point.mail_id, warnings) {
                    warning::set_warnings(session, mail_id, warnings)?;
                }
            }
            Change::HoldTimes { appointments } => {
                if let Some(mail_id) = point.mail_id {
                    appointment::hold_times(session, mail_id, &point.user, appointments)?;
                }
            }
            Change::Priority { priority, rule: decided, urgency } => {
                record_priority_change(session, point, priority.as_str(), decided)?;
                if let (Some(urgency), Some((after, _))) = (urgency, &point.task) {
                    facts::set_model_urgency(session, after.task_id, *urgency)?;
                }
                rule = Some(decided.as_str());
            }
            Change::Status { to, why } => set_task_status(session, point, *to, why)?,
            // These are fields of the task, written below, or of the state of the run.
            Change::StepDone { .. }
            | Change::StepStarted { .. }
            | Change::StepCalls { .. }
            | Change::AddStep { .. }
            | Change::ReplaceSteps { .. }
            | Change::Output { .. }
            | Change::Summary { .. }
            | Change::Documents { .. } => {}
        }
    }
    match &point.task {
        Some((after, revision)) if touched => task::update(session, after, *revision, rule),
        _ => Ok(()),
    }
}

/// Stores the outcome and the facts of the mail that the run has read.
fn record_mail_outcome(
    connection: &Connection,
    state: MailState,
    reason: &str,
    known: Option<&Facts>,
    task_id: Option<TaskId>,
    point: &Checkpoint,
) -> Result<()> {
    let Some(mail_id) = point.mail_id else { return Ok(()) };
    if let Some(known) = known {
        facts::store_mail_facts(connection, mail_id, known)?;
    }
    followup::add_message_to_conversation(connection, point)?;
    ledger::record_outcome(connection, mail_id, state, reason, task_id, point.entered_at)
}

/// Links a mail to an open task: its facts are merged into those of the task, its message is added to the conversation of
/// the task, and the history names the mail and the evidence.
fn link_mail(
    connection: &Connection,
    task_id: TaskId,
    later: &Facts,
    evidence: &str,
    point: &Checkpoint,
) -> Result<()> {
    let mut known =
        facts::of_task(connection, task_id)?.ok_or_else(|| StoreError::NotFound(format!("task {task_id}")))?;
    known.merge_follow_up(later);
    facts::store_task_facts(connection, task_id, &known)?;
    if let Some(mail_id) = point.mail_id {
        followup::add_message(connection, mail_id, task_id)?;
    }
    let mail = point.mail_id.map_or_else(String::new, |id| format!("mail:{id}"));
    let entry = history::HistoryEntry {
        field: "follow_up",
        from: "",
        to: &mail,
        who: point.node.into(),
        why: if evidence.is_empty() { "another mail of the same thread" } else { evidence },
    };
    history::record(connection, task_id, &entry, point.entered_at)
}

/// Adds a line of history when the priority has changed.
fn record_priority_change(connection: &Connection, point: &Checkpoint, level: &str, rule: &str) -> Result<()> {
    let Some((after, _)) = &point.task else { return Ok(()) };
    let (_, before) = task::status_and_priority(connection, after.task_id)?;
    if before == level {
        return Ok(());
    }
    let entry =
        history::HistoryEntry { field: "priority", from: &before, to: level, who: point.node.into(), why: rule };
    history::record(connection, after.task_id, &entry, point.entered_at)
}

/// Makes the status transition that the node asked for.
fn set_task_status(connection: &Connection, point: &Checkpoint, to: TaskStatus, why: &str) -> Result<()> {
    let Some((after, _)) = &point.task else { return Ok(()) };
    let (from, _) = task::status_and_priority(connection, after.task_id)?;
    let mv = task::StatusTransition {
        account: &point.account,
        from: &from,
        to,
        who: point.node.into(),
        why,
        at: point.entered_at,
    };
    task::set_status(connection, after.task_id, &mv)
}

/// Queries of runs.
#[derive(Clone, Copy)]
pub struct RunReader<'a>(pub(in crate::store) &'a Connection);
