//! The tasks that a mail may be about, found by its conversation and by fingerprints.
//!
//! Only open tasks are found, except those that were opened by the beginning of the same mail. Whether a found task is
//! really linked is decided by [`crate::followup`].

use rusqlite::{Connection, Row};

use super::TaskReader;
use crate::{
    followup::fingerprint,
    model::{
        AccountId, Checkpoint, EventChange, FactsKind, Fingerprint, FollowUp, Instant, Mail, MailId, RelatedTask,
        TaskContext, TaskId, TaskRelation, TaskRow, TaskStatus,
    },
    store::{
        error::{Result, SkipUnreadable as _, StoreError},
        session::Session,
        table::{
            approval::item,
            execute, json_extract_sql, parse_column, parse_optional_column, query_optional, query_readable,
            task::{self, history},
        },
    },
};

/// The limit of tasks per conversation or fingerprint. It is the same for the search and for the check against
/// concurrent tasks: a task that the run was shown is no reason to refuse its checkpoint.
const MOST: i64 = 20;
/// The step that answers an invitation.
pub(in crate::store::table) const ANSWER_STEP: &str = "answer_invitation";
/// The SQL condition that a message of the outbox row `b` was sent or may have been sent.
pub(super) const HAS_LEFT: &str =
    "b.class NOT IN ('R0', 'R1') AND b.state NOT IN ('planned', 'parked', 'ready', 'withheld', 'void')";

/// Returns SQL for the open tasks of a conversation (`task_thread`) or a fingerprint (`task_mark`), oldest first.
fn open_tasks_sql(from: &str) -> String {
    tasks_sql(from, "t.status NOT IN ('DONE', 'CANCELLED')")
}

/// Returns the same SQL with another condition on the task.
fn tasks_sql(from: &str, condition: &str) -> String {
    let invoice = json_extract_sql("t.context", "$.invoice_number");
    let invite = json_extract_sql("m.body", "$.invite");
    let evidence = json_extract_sql("t.context", "$.evidence");
    let wants_answer = json_extract_sql("t.context", "$.wants_answer");
    let asked_times = json_extract_sql("t.context", "$.asked_times");
    let duration = json_extract_sql("t.context", "$.meeting_duration");
    format!(
        "SELECT t.task_id, f.objective, f.kind, f.sender, f.sender_verified, f.known_contact,
                EXISTS (SELECT 1 FROM ledger l WHERE l.mail_id = o.mail_id AND l.direction = 'out'),
                {invoice}, (SELECT {invite} FROM mail m WHERE m.mail_id = o.mail_id),
                (SELECT coalesce(max(b.generation) + 1, 0) FROM outbox b WHERE b.task_id = t.task_id
                  AND b.step IN ('{ANSWER_STEP}', 'draft_reply', 'send_reply', 'send_calendar_invite')),
                EXISTS (SELECT 1 FROM outbox b WHERE b.task_id = t.task_id AND {HAS_LEFT}),
                {evidence}, f.subject, (SELECT m.sent_at FROM mail m WHERE m.mail_id = o.mail_id), f.due_at, {wants_answer}, {asked_times}, {duration},
                NOT EXISTS (SELECT 1 FROM run r WHERE r.task_id = t.task_id AND r.kind = 'task' AND r.status = 'running'
                              AND NOT EXISTS (SELECT 1 FROM checkpoint c WHERE c.run_id = r.run_id))
         FROM {from} h JOIN tasks t USING (task_id) JOIN task_facts f USING (task_id) JOIN task_owner o USING (task_id)
         WHERE h.account = ?1 AND h.{key} = ?2 AND {condition} ORDER BY t.task_id LIMIT {MOST}",
        key = if from == "task_thread" { "thread" } else { "mark" },
    )
}

/// Reads a task that a mail may be about. An invitation that cannot be read counts as none.
fn related_task_row(row: &Row<'_>, relation: TaskRelation) -> rusqlite::Result<RelatedTask> {
    let kind = parse_column(row, 2)?;
    // Tasks of earlier versions do not say what completes them; a question is completed by an answer.
    let is_question = matches!(kind, FactsKind::Task(kind) if kind.is_question());
    let evidence: Option<String> = row.get(11)?;
    let wants_answer: Option<bool> = row.get(15)?;
    Ok(RelatedTask {
        task_id: parse_column(row, 0)?,
        objective: row.get(1)?,
        kind,
        relation,
        sender: row.get(3)?,
        sender_verified: row.get(4)?,
        known_contact: row.get(5)?,
        own: row.get(6)?,
        invoice_number: row.get(7)?,
        invite: row.get::<_, Option<String>>(8)?.and_then(|invite| serde_json::from_str(&invite).ok()),
        answers: row.get(9)?,
        has_sent: row.get(10)?,
        has_begun: row.get(18)?,
        wants_answer: wants_answer.unwrap_or(is_question),
        evidence: evidence.unwrap_or_default(),
        subject: row.get(12)?,
        asked_at: parse_optional_column(row, 13).unwrap_or_default(),
        due_at: parse_optional_column(row, 14).unwrap_or_default(),
        meeting_minutes: row.get::<_, Option<String>>(17)?.as_deref().and_then(TaskContext::parse_minutes),
        asked_times: row.get::<_, Option<String>>(16)?.and_then(|asked| serde_json::from_str(&asked).ok()),
    })
}

/// Returns the open tasks of a conversation.
pub(in crate::store) fn tasks_of_thread(
    connection: &Connection,
    account: &str,
    thread: &str,
) -> Result<Vec<RelatedTask>> {
    query_readable(connection, &open_tasks_sql("task_thread"), (account, thread), "finding the thread's tasks", |row| {
        related_task_row(row, TaskRelation::Thread)
    })
}

/// Returns the open tasks with a fingerprint, marked with the kinship that it stands for.
pub(in crate::store) fn tasks_with_fingerprint(
    connection: &Connection,
    account: &str,
    fingerprint: &Fingerprint,
    relation: TaskRelation,
) -> Result<Vec<RelatedTask>> {
    query_readable(
        connection,
        &open_tasks_sql("task_mark"),
        (account, fingerprint.as_str()),
        "finding marked tasks",
        |row| related_task_row(row, relation),
    )
}

/// Returns the tasks, open or ended, that were opened by the beginning of this mail.
fn tasks_of_beginning(connection: &Connection, account: &str, whole: MailId) -> Result<Vec<RelatedTask>> {
    let (sql, fingerprint) = (tasks_sql("task_mark", "TRUE"), fingerprint::of_whole(whole));
    query_readable(connection, &sql, (account, fingerprint.as_str()), "finding the tasks of a beginning", |row| {
        related_task_row(row, TaskRelation::Beginning)
    })
}

/// Adds a fingerprint to tasks that the beginning of a mail opened, so that the complete mail finds them.
pub(in crate::store) fn mark_tasks_of_beginning(
    connection: &Connection,
    account: &AccountId,
    tasks: &[TaskRow],
    whole: MailId,
) -> Result<()> {
    for task in tasks {
        let sql = "INSERT INTO task_mark (account, mark, task_id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        let values = (account.as_str(), fingerprint::of_whole(whole).to_string(), task.task.task_id.to_string());
        execute(connection, sql, values, "marking the task of a beginning")?;
    }
    Ok(())
}

/// Adds the tasks that a mail repeats, changes, completes or quotes to those of its conversation. A task that was found
/// twice keeps the stronger kinship: completing the beginning of a mail is the strongest, then the text, the event, the
/// conversation, and last a quote.
pub(in crate::store) fn add_tasks_with_fingerprints(
    connection: &Connection,
    account: &str,
    (mail_id, mail): (MailId, &Mail),
    text: Option<&Fingerprint>,
    tasks: &mut Vec<RelatedTask>,
) -> Result<()> {
    // Tasks of earlier versions of the program are found by their older fingerprint.
    let former = fingerprint::former_of_mail(mail);
    let same = [text, former.as_ref()].into_iter().flatten().map(|fingerprint| (TaskRelation::Text, fingerprint));
    let event = fingerprint::of_invitation(mail);
    let event = event.as_ref().map(|fingerprint| (TaskRelation::Invitation, fingerprint));
    let quoted = mail.quoted.iter().map(|fingerprint| (TaskRelation::Quote, fingerprint));
    let subjects = fingerprint::of_missing_conversation(mail);
    let subjects = subjects.iter().map(|fingerprint| (TaskRelation::Subject, fingerprint));
    let mut found = Vec::new();
    let request = fingerprint::of_request(mail).map(|fingerprint| (TaskRelation::Request, fingerprint));
    let request = request.as_ref().map(|(relation, fingerprint)| (*relation, fingerprint));
    for (relation, fingerprint) in same.chain(event).chain(quoted).chain(request).chain(subjects) {
        found.extend(tasks_with_fingerprint(connection, account, fingerprint, relation)?);
    }
    found.extend(tasks_of_beginning(connection, account, mail_id)?);
    for task in found {
        match tasks.iter_mut().find(|known| known.task_id == task.task_id) {
            Some(known) if task.relation == TaskRelation::Beginning => known.relation = task.relation,
            Some(known)
                if known.relation == TaskRelation::Thread
                    && !matches!(
                        task.relation,
                        TaskRelation::Quote | TaskRelation::Subject | TaskRelation::Request
                    ) =>
            {
                known.relation = task.relation;
            }
            Some(_) => {}
            None => tasks.push(task),
        }
    }
    Ok(())
}

/// Adds the mail of the run to the messages of every task of its conversation, also of those that have ended: the
/// person's own answer often comes after the end.
pub(in crate::store) fn add_message_to_conversation(connection: &Connection, point: &Checkpoint) -> Result<()> {
    let Some(mail_id) = point.mail_id else { return Ok(()) };
    let sql = "SELECT h.task_id FROM mail m JOIN task_thread h ON h.account = m.account AND h.thread = m.thread
               WHERE m.mail_id = ?1 AND m.message_id NOT IN ('', m.thread) ORDER BY h.task_id DESC LIMIT ?2";
    let tasks = query_readable(connection, sql, (mail_id.0, MOST), "finding the conversation's tasks", |row| {
        parse_column(row, 0)
    })?;
    tasks.into_iter().try_for_each(|task_id| add_message(connection, mail_id, task_id))
}

/// Adds a mail to the messages that the context of a task names. A task that cannot be read is left as it is.
pub(in crate::store) fn add_message(connection: &Connection, mail_id: MailId, task_id: TaskId) -> Result<()> {
    let sql = "SELECT message_id FROM mail WHERE mail_id = ?1 AND message_id <> ''";
    let found = query_optional(connection, sql, [mail_id.0], "reading a message id", |row| row.get::<_, String>(0))?;
    let (Some(message_id), Some(row)) = (found, TaskReader(connection).get(task_id).skip_unreadable()?) else {
        return Ok(());
    };
    let mut task = row.task;
    if task.context.add_message(&message_id) { task::update(connection, &task, row.revision, None) } else { Ok(()) }
}

/// Stores the fingerprints of a new task. Returns a conflict when an open task that the run was not shown has one of
/// them: two mails about the same were read at once, and the run must look again.
pub(in crate::store) fn record_task_fingerprints(
    connection: &Connection,
    point: &Checkpoint,
    task_id: TaskId,
    fingerprints: &[Fingerprint],
    seen: &[TaskId],
) -> Result<()> {
    let account = point.account.as_str();
    for fingerprint in fingerprints {
        if fingerprint.kind().names_sender() {
            // Different people may write the same sentence. Only a fingerprint that includes the sender identifies a
            // request. A mail may open several tasks, which share its text.
            let sql = "SELECT t.task_id FROM task_mark m JOIN tasks t USING (task_id) JOIN task_owner o USING (task_id)
                       WHERE m.account = ?1 AND m.mark = ?2 AND o.mail_id IS NOT ?3 AND t.status NOT IN ('DONE', 'CANCELLED')
                       ORDER BY t.task_id LIMIT ?4";
            let mail = point.mail_id.map(|mail_id| mail_id.0);
            let others = query_readable(
                connection,
                sql,
                (account, fingerprint.as_str(), mail, MOST),
                "looking for the same",
                |row| parse_column(row, 0),
            )?;
            if let Some(other) = others.iter().find(|other: &&TaskId| !seen.contains(other)) {
                return Err(StoreError::Conflict(format!("task {other} about the same was opened meanwhile")));
            }
        }
        let sql = "INSERT INTO task_mark (account, mark, task_id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        execute(connection, sql, (account, fingerprint.as_str(), task_id.to_string()), "marking a task")?;
    }
    Ok(())
}

/// Applies a change of an event to its task. Pending effects and items of the task are voided in the same transaction.
/// A cancelled event cancels the task. A changed event becomes the new content of the task, and the run that the
/// checkpoint opens answers it. An objective that a person has edited is kept.
pub(in crate::store) fn apply_event_change(
    session: &Session,
    point: &Checkpoint,
    task_id: TaskId,
    change: &EventChange,
    why: &str,
) -> Result<()> {
    let (who, at) = (point.node.into(), point.entered_at);
    let row = task::get(session, task_id)?;
    if row.task.status.is_terminal() {
        return Ok(());
    }
    let EventChange::Updated { objective, deadline, due_at, duration } = change else {
        return task::edit::transition_task(session, &row, TaskStatus::Cancelled, who, why, at);
    };
    // What was planned or asked is about the event as it was.
    item::void_of_task(session, task_id, why, at)?;
    task::edit::void_actions(session, &row, (who, why), at)?;
    end_idle_runs(session, task_id, why, at)?;
    let mut row = task::get(session, task_id)?;
    let before = std::mem::replace(&mut row.task.context.deadline, deadline.clone()).unwrap_or_default();
    row.task.context.meeting_duration.clone_from(duration);
    if !history::is_set_by_person(session, task_id, "objective")? {
        row.task.objective.clone_from(objective);
    }
    // The invitation is to be answered again.
    row.task.subtasks.iter_mut().filter(|subtask| subtask.step == ANSWER_STEP).for_each(|subtask| subtask.done = false);
    if let Some(output) = row.task.tool_output.as_mut() {
        output.remove(ANSWER_STEP);
    }
    row.task.last_updated = at;
    task::update(session, &row.task, row.revision, None)?;
    let entry = history::HistoryEntry {
        field: "deadline",
        from: &before,
        to: deadline.as_deref().unwrap_or_default(),
        who,
        why,
    };
    history::record(session, task_id, &entry, at)?;
    let sql = "UPDATE task_facts SET due_at = ?2, objective = ?3 WHERE task_id = ?1";
    let values = (task_id.to_string(), due_at.map(|at| at.to_string()), &row.task.objective);
    execute(session, sql, values, "updating facts")?;
    // The answer must refer to the newest invitation, so the task now belongs to this mail.
    let sql = "UPDATE task_owner SET mail_id = coalesce(?2, mail_id) WHERE task_id = ?1";
    let mail = point.mail_id.map(|mail_id| mail_id.0);
    execute(session, sql, (task_id.to_string(), mail), "letting a task follow its event").map(drop)
}

/// Ends the runs that work the task as it was. If an effect of the task may be leaving, its runs are kept, so that they
/// record its outcome.
pub(super) fn end_idle_runs(connection: &Connection, task_id: TaskId, why: &str, at: Instant) -> Result<()> {
    let sql = "UPDATE run SET status = 'overtaken', reason = ?2, updated_at = ?3
               WHERE task_id = ?1 AND status = 'running' AND kind IN ('task', 'decision')
                 AND NOT EXISTS (SELECT 1 FROM outbox b WHERE b.task_id = ?1 AND b.state IN ('sending', 'unknown', 'probe', 'settling'))";
    execute(connection, sql, (task_id.to_string(), why, at.to_string()), "ending runs").map(drop)
}

impl TaskReader<'_> {
    /// Returns the mails that were linked to a task, oldest first.
    pub fn follow_ups(self, task_id: TaskId) -> Result<Vec<FollowUp>> {
        let sql = "SELECT m.mail_id, m.sender, m.subject, h.why, h.at FROM task_history h
                   JOIN mail m ON m.mail_id = CAST(substr(h.to_value, length('mail:') + 1) AS INTEGER)
                   WHERE h.task_id = ?1 AND h.field = 'follow_up' ORDER BY h.entry";
        query_readable(self.0, sql, [task_id.to_string()], "reading follow-ups", |row| {
            Ok(FollowUp {
                mail_id: MailId(row.get(0)?),
                sender: row.get(1)?,
                subject: row.get(2)?,
                reason: row.get(3)?,
                at: parse_column(row, 4)?,
            })
        })
    }

    /// Returns the open tasks about the same invoice.
    pub fn with_fingerprints(self, account: &AccountId, fingerprints: &[Fingerprint]) -> Result<Vec<RelatedTask>> {
        let mut found = Vec::new();
        for fingerprint in fingerprints {
            found.extend(tasks_with_fingerprint(self.0, account.as_str(), fingerprint, TaskRelation::Invoice)?);
        }
        Ok(found)
    }
}
