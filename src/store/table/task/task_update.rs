//! What a mail of the conversation changes about an open task: what was said is put on it, its date moves, or it ends.

use rusqlite::Connection;
use serde_json::Value;

use crate::{
    model::{
        Actor, AskedTimes, Checkpoint, ConversationEnd, Instant, MovedDeadline, RunKind, Task, TaskContext, TaskId,
        TaskNote, TaskStatus, TaskUpdate,
    },
    store::{
        error::{Result, StoreContext},
        session::Session,
        table::{
            approval::item,
            execute, json_extract_sql, parse_column, query_optional, query_readable,
            task::{
                self, TaskReader,
                followup::{HAS_LEFT, end_idle_runs},
                history::{self, BY_PERSON},
                reminder,
            },
        },
    },
};

/// The most notes on a task; of more, the newest are kept.
const MOST_NOTES: usize = 20;

/// Applies the update of a linked mail. A task that has ended meanwhile is left as it is. A date that a person set stays.
pub(in crate::store) fn apply_update(
    session: &Session,
    point: &Checkpoint,
    task_id: TaskId,
    update: &TaskUpdate,
    why: &str,
) -> Result<()> {
    let row = task::get(session, task_id)?;
    if row.task.status.is_terminal() {
        return Ok(());
    }
    let mut changed = row.task.clone();
    if let Some(note) = &update.note {
        add_note(&mut changed, note)?;
    }
    let moved = match &update.deadline {
        Some(moved) if !history::is_set_by_person(session, task_id, "deadline")? => Some(moved),
        _ => None,
    };
    if let Some(moved) = moved {
        changed.context.deadline = Some(moved.deadline.clone());
    }
    if changed != row.task {
        changed.last_updated = point.entered_at;
        task::update(session, &changed, row.revision, None)?;
    }
    if let Some(moved) = moved {
        let before = row.task.context.deadline.as_deref().unwrap_or_default();
        move_deadline(session, point, task_id, (before, moved), why)?;
    }
    if let Some(asked) = &update.asked_times {
        ask_for_other_times(session, point, task_id, asked, why)?;
    }
    match update.end {
        Some(end) => end_task(session, point, task_id, end, why),
        None => Ok(()),
    }
}

/// Has the times of a meeting looked for again: what was planned or asked is about the times as they were. Where a message
/// has left already, nothing changes.
fn ask_for_other_times(
    session: &Session,
    point: &Checkpoint,
    task_id: TaskId,
    asked: &AskedTimes,
    why: &str,
) -> Result<()> {
    let (who, at) = (point.node.into(), point.entered_at);
    let row = task::get(session, task_id)?;
    let sql = format!("SELECT 1 FROM outbox b WHERE b.task_id = ?1 AND {HAS_LEFT} LIMIT 1");
    let has_left = query_optional(session, &sql, [task_id.to_string()], "looking for a message", |_| Ok(()))?.is_some();
    let asked = serde_json::to_value(asked).context("encoding times")?;
    if has_left || row.task.context.more.get(TaskContext::ASKED_TIMES) == Some(&asked) {
        return Ok(());
    }
    item::void_of_task(session, task_id, why, at)?;
    task::edit::void_actions(session, &row, (who, why), at)?;
    // Without a run that answers the new times, the one that there is does.
    if point.runs.iter().any(|run| run.task_id == Some(task_id) && run.kind == RunKind::Decision) {
        end_idle_runs(session, task_id, why, at)?;
    }
    let mut row = task::get(session, task_id)?;
    row.task.ask_for_times(asked);
    row.task.last_updated = at;
    task::update(session, &row.task, row.revision, None)
}

/// So long after its beginning a meeting is over.
const LONGEST_MEETING: chrono::Duration = chrono::Duration::hours(1);

/// Ends the open tasks about meetings whose time has passed. A task whose date a person set is theirs to end.
pub(in crate::store) fn end_past_meetings(session: &Session, at: Instant) -> Result<()> {
    for task_id in past_meetings(session, at)? {
        let row = task::get(session, task_id)?;
        let when = row.task.context.more.get(TaskContext::HAPPENS_AT).and_then(Value::as_str).unwrap_or_default();
        let why = format!("over: it was at {when}");
        task::edit::transition_task(session, &row, TaskStatus::Cancelled, Actor::Clock, &why, at)?;
        let entry = history::HistoryEntry { field: "over", from: "", to: when, who: Actor::Clock, why: &why };
        history::record(session, task_id, &entry, at)?;
    }
    Ok(())
}

fn past_meetings(connection: &Connection, at: Instant) -> Result<Vec<TaskId>> {
    let happens_at = json_extract_sql("t.context", "$.happens_at");
    let sql = format!(
        "SELECT t.task_id FROM tasks t WHERE t.status NOT IN ('DONE', 'CANCELLED') AND {happens_at} < ?1
         AND NOT EXISTS (SELECT 1 FROM task_history h WHERE h.task_id = t.task_id AND h.field = 'deadline' AND {BY_PERSON})"
    );
    let before = at.plus(-LONGEST_MEETING).to_string();
    query_readable(connection, &sql, [before], "looking for past meetings", |row| parse_column(row, 0))
}

impl TaskReader<'_> {
    /// Returns whether an open task is about a meeting whose time has passed.
    pub fn has_past_meetings(self, now: Instant) -> Result<bool> {
        Ok(!past_meetings(self.0, now)?.is_empty())
    }
}

/// Adds what was said to the notes of a task.
fn add_note(task: &mut Task, note: &TaskNote) -> Result<()> {
    let notes = task.context.more.entry(TaskContext::NOTES).or_insert_with(|| Value::Array(Vec::new()));
    if !notes.is_array() {
        *notes = Value::Array(Vec::new());
    }
    if let Value::Array(notes) = notes {
        notes.push(serde_json::to_value(note).context("encoding a note")?);
        let surplus = notes.len().saturating_sub(MOST_NOTES);
        notes.drain(..surplus);
    }
    Ok(())
}

/// Moves the facts and the reminders of a task to its new date, with a line of history.
fn move_deadline(
    connection: &Connection,
    point: &Checkpoint,
    task_id: TaskId,
    (before, moved): (&str, &MovedDeadline),
    why: &str,
) -> Result<()> {
    let entry =
        history::HistoryEntry { field: "deadline", from: before, to: &moved.deadline, who: point.node.into(), why };
    history::record(connection, task_id, &entry, point.entered_at)?;
    let known: Option<Instant> = task::facts::of_task(connection, task_id)?.and_then(|facts| facts.due_at);
    let sql = "UPDATE task_facts SET due_at = ?2 WHERE task_id = ?1";
    execute(connection, sql, (task_id.to_string(), moved.due_at.to_string()), "updating facts")?;
    known.map_or(Ok(()), |known| reminder::shift(connection, task_id, moved.due_at.utc() - known.utc()))
}

/// Ends a task because of its conversation. Its pending effects and items are void, and the history names the mail.
fn end_task(session: &Session, point: &Checkpoint, task_id: TaskId, end: ConversationEnd, why: &str) -> Result<()> {
    let (who, at) = (point.node.into(), point.entered_at);
    let row = task::get(session, task_id)?;
    task::edit::transition_task(session, &row, end.status(), who, why, at)?;
    let mail = point.mail_id.map_or_else(String::new, |mail_id| format!("mail:{mail_id}"));
    let entry = history::HistoryEntry { field: end.as_str(), from: "", to: &mail, who, why };
    history::record(session, task_id, &entry, at)
}
