//! What can be encoded before the writer sees it is encoded by the asker: the writer's time is everybody's.

use super::{
    ENCODE_SPAN,
    error::{Result, StoreContext as _},
    write::Write,
};
use crate::{
    document::{EmbedFn, tokenise_texts},
    model::{Arrival, ArrivalContent, Checkpoint},
};
use crate::{
    document::{int8_vector, snippet},
    followup::fingerprint,
    model::{Change, Fingerprint, Mail, RunState, Task, TaskContext},
};

/// Enough of a long mail to find it again.
const INDEXED_CHARS: usize = 8_000;

/// The texts of a write's columns, in the order they are needed.
pub(super) enum PreparedWrite {
    Nothing,
    Checkpoint(EncodedCheckpoint),
    /// The state of a run.
    Run(String),
    Arrivals(Vec<Option<EncodedMail>>),
}

pub(super) struct EncodedCheckpoint {
    pub(super) run_id: String,
    pub(super) at: String,
    pub(super) changes: String,
    pub(super) next_move: String,
    /// The states of the runs it opens.
    pub(super) runs: Vec<String>,
    /// What the tasks it opens are found by.
    pub(super) search_entries: Vec<SearchEntry>,
}

pub(super) struct EncodedMail {
    pub(super) body: String,
    pub(super) search_entry: SearchEntry,
    /// The mark of its text (see [`fingerprint`]).
    pub(super) fingerprint: Option<Fingerprint>,
}

/// What a document is found by.
pub(super) struct SearchEntry {
    pub(super) tokens: String,
    pub(super) vectors: PreparedVectors,
}

/// By its meaning, piece by piece.
pub(super) enum PreparedVectors {
    /// They are what they were.
    Unchanged,
    /// They are made elsewhere, later.
    Due,
    /// None for a piece that says nothing.
    Made(Vec<Option<Vec<u8>>>),
}

pub(super) fn prepare(write: &Write, embed: Option<&EmbedFn>) -> Result<PreparedWrite> {
    Ok(match write {
        Write::Checkpoint(point) => PreparedWrite::Checkpoint(encode_checkpoint(point, embed)?),
        Write::OpenRun(new, _) => PreparedWrite::Run(encode_state(&new.state)?),
        Write::RecordArrivals(batch) => {
            let texts = batch.arrivals.iter().map(|new| encode_arrival(new, embed));
            PreparedWrite::Arrivals(texts.collect::<Result<_>>()?)
        }
        _ => PreparedWrite::Nothing,
    })
}

fn encode_checkpoint(point: &Checkpoint, embed: Option<&EmbedFn>) -> Result<EncodedCheckpoint> {
    let found = point.changes.iter().filter_map(opened_task).map(|task| build_task_entry(task, embed)).collect();
    let _making = tracing::trace_span!(ENCODE_SPAN).entered();
    Ok(EncodedCheckpoint {
        run_id: point.run_id.to_string(),
        at: point.entered_at.to_string(),
        changes: serde_json::to_string(&point.changes).context("encoding changes")?,
        next_move: serde_json::to_string(&point.next_move).context("encoding a move")?,
        runs: point.runs.iter().map(|run| encode_state(&run.state)).collect::<Result<_>>()?,
        search_entries: found,
    })
}

fn opened_task(change: &Change) -> Option<&Task> {
    match change {
        Change::OpenTask { task, .. } => Some(task),
        _ => None,
    }
}

pub(super) fn encode_state(state: &RunState) -> Result<String> {
    serde_json::to_string(state).context("encoding a state")
}

fn encode_arrival(arrival: &Arrival, embed: Option<&EmbedFn>) -> Result<Option<EncodedMail>> {
    match &arrival.content {
        ArrivalContent::Process(mail) | ArrivalContent::StoreOnly { mail, .. } => encode_mail(mail, embed).map(Some),
        _ => Ok(None),
    }
}

fn encode_mail(mail: &Mail, embed: Option<&EmbedFn>) -> Result<EncodedMail> {
    let vectors = embed_snippets(&snippet::of_mail(mail), embed);
    let _making = tracing::trace_span!(ENCODE_SPAN).entered();
    let body = serde_json::to_string(mail).context("encoding a mail")?;
    Ok(EncodedMail {
        body,
        search_entry: SearchEntry { tokens: tokenise_mail(mail), vectors },
        fingerprint: fingerprint::of_mail(mail),
    })
}

fn build_task_entry(task: &Task, embed: Option<&EmbedFn>) -> SearchEntry {
    SearchEntry { tokens: tokenise_task(task), vectors: embed_snippets(&snippet::of_task(task), embed) }
}

/// Of a task that is written by the writer itself, whose time is too dear to make vectors.
pub(super) fn build_task_entry_with_due_vectors(task: &Task) -> SearchEntry {
    SearchEntry { tokens: tokenise_task(task), vectors: PreparedVectors::Due }
}

fn embed_snippets(pieces: &[String], embed: Option<&EmbedFn>) -> PreparedVectors {
    match embed {
        Some(embed) => PreparedVectors::Made(
            pieces.iter().map(|text| embed(text).map(|made| int8_vector::encode(&made))).collect(),
        ),
        None => PreparedVectors::Due,
    }
}

/// The words a task is found by.
pub(super) fn tokenise_task(task: &Task) -> String {
    let TaskContext { person, description, .. } = &task.context;
    tokenise_texts(&[
        &task.objective,
        person.as_deref().unwrap_or_default(),
        description.as_deref().unwrap_or_default(),
    ])
}

/// The words a mail is found by.
pub(super) fn tokenise_mail(mail: &Mail) -> String {
    tokenise_texts(&[
        &mail.subject,
        mail.from.label(),
        &mail.from.addr,
        snippet::truncate_chars(&mail.text, INDEXED_CHARS),
    ])
}
