//! What became of the messages that the agent wrote: approved, edited or rejected.

use std::collections::BTreeMap;

use serde_json::Value;

use super::NightlyReader;
use crate::{
    model::{Instant, MessageFate, MessageOutcome, Reflection, RunFeedback, RunId, TaskId, nightly::ReplyOutcome},
    store::{
        error::{Result, SkipUnreadable as _},
        table::{decode_json_column, json_extract_sql, parse_column, query_optional, query_readable, run::RunReader},
    },
};

/// The steps that write a message of the agent's own: no answers to invitations, and no forwarded mail.
const MESSAGE_STEPS: &str = "('send_reply', 'send_mail', 'send_calendar_invite')";
/// The JSON path of the message text in an action.
const BODY: &str = "$.effect.message.body";

impl NightlyReader<'_> {
    /// Returns the replies to verified senders since then that were sent, saved or rejected, with their length when the
    /// agent wrote them and when they left. The first generation of a step is what the agent wrote, the last one what
    /// left.
    pub fn reply_outcomes(self, since: Instant) -> Result<Vec<ReplyOutcome>> {
        let (written, left) = (json_extract_sql("first.action", BODY), json_extract_sql("last.action", BODY));
        let sql = format!(
            "SELECT f.sender_domain, {written},
                     (SELECT {left} FROM outbox last
                      WHERE last.task_id = first.task_id AND last.step = first.step AND last.state IN ('sent', 'saved')
                      ORDER BY last.generation DESC LIMIT 1),
                     EXISTS (SELECT 1 FROM correction c WHERE c.task_id = first.task_id AND c.kind = 'reject'), first.created_at
                   FROM outbox first JOIN task_facts f USING (task_id)
                   WHERE first.generation = (SELECT min(generation) FROM outbox o WHERE o.task_id = first.task_id AND o.step = first.step)
                     AND first.step IN {MESSAGE_STEPS} AND f.sender_verified AND first.created_at >= ?1 ORDER BY first.action_id"
        );
        let rows = query_readable(self.0, &sql, [since.to_string()], "reading what became of replies", |row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, Option<String>>(1)?,
                row.get::<_, Option<String>>(2)?,
                row.get::<_, bool>(3)?,
                parse_column::<Instant>(row, 4)?,
            ))
        })?;
        // A reply that is neither sent nor rejected yet teaches nothing.
        let ended = rows.into_iter().filter(|(_, _, last, rejected, _)| last.is_some() || *rejected);
        /// Domain, first text, last text that left, whether a person rejected it, and when it was planned.
        type ReplyColumns = (String, Option<String>, Option<String>, bool, Instant);
        let outcome = |(domain, first, last, rejected, at): ReplyColumns| ReplyOutcome {
            domain,
            words_before: count_words(first.as_deref()),
            words_after: last.as_deref().map(|text| count_words(Some(text))),
            rejected: rejected && last.is_none(),
            at,
        };
        Ok(ended.map(outcome).collect())
    }
}

impl NightlyReader<'_> {
    /// Returns the reflections of the runs that ended since then, in the order they were written. Those of a retired
    /// account are left out, and lines that cannot be read.
    pub fn reflections(self, since: Instant) -> Result<Vec<Reflection>> {
        let sql = "SELECT l.line FROM reflection l JOIN run r USING (run_id) JOIN account a ON a.account = r.account
                   WHERE l.day >= ?1 AND a.mode <> 'retired' ORDER BY l.entry";
        // A day is a local date, which may be one behind.
        let first_day = since.plus(-chrono::Duration::days(1)).utc().format("%Y-%m-%d").to_string();
        let lines = query_readable(self.0, sql, [first_day], "reading reflections", |row| {
            decode_json_column::<Reflection>(row, 0)
        })?;
        Ok(lines.into_iter().filter(|line| line.at >= since).collect())
    }
}

impl RunReader<'_> {
    /// Returns what people did to the messages of a task, and how long the run took, for its reflection.
    pub fn feedback(self, task_id: TaskId, run_id: RunId, now: Instant) -> Result<RunFeedback> {
        let sql = format!(
            "SELECT action, state IN ('sent', 'saved'), step FROM outbox WHERE task_id = ?1 AND step IN {MESSAGE_STEPS} ORDER BY generation"
        );
        let rows: Vec<(String, (Value, bool))> =
            query_readable(self.0, &sql, [task_id.to_string()], "reading a task's messages", |row| {
                Ok((row.get(2)?, (decode_json_column(row, 0)?, row.get(1)?)))
            })?;
        let sql = "SELECT 1 FROM correction WHERE task_id = ?1 AND kind = 'reject'";
        let rejected =
            query_optional(self.0, sql, [task_id.to_string()], "looking for a rejection", |_| Ok(()))?.is_some();
        let outcomes = message_outcomes(&rows, rejected);
        let messages: Vec<(Value, bool)> = rows.into_iter().map(|(_, message)| message).collect();
        let words = |action: &Value| count_words(action.pointer("/effect/message/body").and_then(Value::as_str));
        let left = messages.iter().rev().find(|(_, left)| *left);
        // The first generation is what the agent wrote. If what left differs, a person has changed it.
        let edited = messages.first().zip(left).filter(|((first, _), (last, _))| first != last);
        let sql = "SELECT count(*) FROM approval p JOIN outbox o USING (action_id) WHERE o.task_id = ?1";
        let approvals =
            query_optional(self.0, sql, [task_id.to_string()], "counting approvals", |row| row.get::<_, u32>(0))?;
        let sql = "SELECT created_at FROM run WHERE run_id = ?1";
        let begun: Option<Instant> =
            query_optional(self.0, sql, [run_id.to_string()], "reading a run", |row| parse_column(row, 0))
                .skip_unreadable()?;
        Ok(RunFeedback {
            approvals: approvals.unwrap_or_default(),
            draft_changed: edited.is_some(),
            words_before: edited.map(|((first, _), _)| words(first)),
            words_after: edited.map(|(_, (last, _))| words(last)),
            messages: outcomes,
            seconds: begun.map(|begun| (begun.hours_until(now) * 3600.0).max(0.0) as u64).unwrap_or_default(),
        })
    }
}

/// Returns what became of the message of each step: its first generation is what the tool wrote, the last that left is
/// what was sent. `rejected` says whether a person rejected a message of the task.
fn message_outcomes(rows: &[(String, (Value, bool))], rejected: bool) -> Vec<MessageOutcome> {
    let mut by_step: BTreeMap<&str, Vec<&(Value, bool)>> = BTreeMap::new();
    for (step, message) in rows {
        by_step.entry(step).or_default().push(message);
    }
    let text = |action: &Value| action.pointer("/effect/message/body").cloned();
    let outcome = |(step, messages): (&str, Vec<&(Value, bool)>)| {
        let (first, _) = messages.first()?;
        let fate = match messages.iter().rev().find(|(_, left)| *left) {
            Some((last, _)) if text(first) == text(last) => MessageFate::Sent,
            Some(_) => MessageFate::Edited,
            None if rejected => MessageFate::Rejected,
            None => return None,
        };
        Some(MessageOutcome { tool: step.to_owned(), fate })
    };
    by_step.into_iter().filter_map(outcome).collect()
}

fn count_words(text: Option<&str>) -> usize {
    text.map_or(0, |text| text.split_whitespace().count())
}
