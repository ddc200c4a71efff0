//! What can be encoded before the writer sees it is encoded by the asker: the writer's time is everybody's.

use super::{
    error::{Context as _, Result},
    text::tokens_of,
    value::{Arrival, ArrivalContent, Checkpoint},
    write::Write,
};
use crate::model::{Change, Context, Mail, RunState, Task};

/// Enough of a long mail to find it again.
const INDEXED_CHARS: usize = 8_000;

/// The texts of a write's columns, in the order they are needed.
pub(super) enum Prepared {
    Nothing,
    Checkpoint(CheckpointText),
    /// The state of a run.
    Run(String),
    Arrivals(Vec<Option<MailText>>),
}

pub(super) struct CheckpointText {
    pub(super) run_id: String,
    pub(super) at: String,
    pub(super) changes: String,
    pub(super) mv: String,
    pub(super) replies: Vec<String>,
    /// The states of the runs it opens.
    pub(super) runs: Vec<String>,
    /// The words of the tasks it opens.
    pub(super) words: Vec<String>,
}

pub(super) struct MailText {
    pub(super) body: String,
    pub(super) tokens: String,
}

pub(super) fn prepare(write: &Write) -> Result<Prepared> {
    Ok(match write {
        Write::Checkpoint(point) => Prepared::Checkpoint(checkpoint(point)?),
        Write::OpenRun(new, _) => Prepared::Run(state(&new.state)?),
        Write::Arrivals(batch) => Prepared::Arrivals(batch.arrivals.iter().map(arrival).collect::<Result<_>>()?),
        _ => Prepared::Nothing,
    })
}

fn checkpoint(point: &Checkpoint) -> Result<CheckpointText> {
    Ok(CheckpointText {
        run_id: point.run_id.to_string(),
        at: point.entered_at.to_string(),
        changes: serde_json::to_string(&point.changes).context("encoding changes")?,
        mv: serde_json::to_string(&point.mv).context("encoding a move")?,
        replies: point
            .replies
            .iter()
            .map(|reply| serde_json::to_string(&reply.reply).context("encoding a reply"))
            .collect::<Result<_>>()?,
        runs: point.runs.iter().map(|run| state(&run.state)).collect::<Result<_>>()?,
        words: point.changes.iter().filter_map(opened).map(task_tokens).collect(),
    })
}

fn opened(change: &Change) -> Option<&Task> {
    match change {
        Change::OpenTask { task, .. } => Some(task),
        _ => None,
    }
}

pub(super) fn state(state: &RunState) -> Result<String> {
    serde_json::to_string(state).context("encoding a state")
}

fn arrival(arrival: &Arrival) -> Result<Option<MailText>> {
    match &arrival.content {
        ArrivalContent::Work(mail) | ArrivalContent::Keep { mail, .. } => mail_text(mail).map(Some),
        _ => Ok(None),
    }
}

fn mail_text(mail: &Mail) -> Result<MailText> {
    Ok(MailText { body: serde_json::to_string(mail).context("encoding a mail")?, tokens: mail_tokens(mail) })
}

/// The words a task is found by.
pub(super) fn task_tokens(task: &Task) -> String {
    let Context { person, description, .. } = &task.context;
    tokens_of(&[&task.objective, person.as_deref().unwrap_or_default(), description.as_deref().unwrap_or_default()])
}

/// The words a mail is found by.
pub(super) fn mail_tokens(mail: &Mail) -> String {
    let end = mail.text.char_indices().nth(INDEXED_CHARS).map_or(mail.text.len(), |(end, _)| end);
    let body = mail.text.get(..end).unwrap_or_default();
    tokens_of(&[&mail.subject, mail.from.label(), &mail.from.addr, body])
}
