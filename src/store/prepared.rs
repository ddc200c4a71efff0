//! Encoding of writes on the thread of the caller: JSON, index tokens and vectors are made before the writer sees the
//! write.
//!
//! The time of the writer is shared by all callers, so it only binds texts that are ready.

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
    model::{Change, Fingerprint, Mail, RunState, Task},
};

/// The number of characters of a mail that are indexed. The beginning is enough to find a long mail again.
const INDEXED_CHARS: usize = 8_000;

/// The encoded rows of a write.
pub(super) enum PreparedWrite {
    /// The write needs no encoding, or is encoded by the writer.
    Nothing,
    Checkpoint(EncodedCheckpoint),
    /// The state of a run as JSON.
    Run(String),
    /// One entry per arrival; none for an arrival without a mail.
    Arrivals(Vec<Option<EncodedMail>>),
}

/// The texts of a checkpoint row and of the rows that it adds.
pub(super) struct EncodedCheckpoint {
    pub(super) run_id: String,
    pub(super) at: String,
    pub(super) changes: String,
    /// How the run goes on, as JSON.
    pub(super) next_move: String,
    /// The states of the runs that it opens, in their order.
    pub(super) runs: Vec<String>,
    /// The search entries of the tasks that it opens, in the order of the changes.
    pub(super) search_entries: Vec<SearchEntry>,
}

/// The texts of a mail row.
pub(super) struct EncodedMail {
    pub(super) body: String,
    pub(super) search_entry: SearchEntry,
    /// The fingerprint of the mail (see [`fingerprint`]); none for a mail without words.
    pub(super) fingerprint: Option<Fingerprint>,
}

/// What a document is found by: words and vectors.
pub(super) struct SearchEntry {
    pub(super) tokens: String,
    pub(super) vectors: PreparedVectors,
}

/// The vectors of a document, one per snippet.
pub(super) enum PreparedVectors {
    /// The stored vectors stay, because the text has not changed.
    Unchanged,
    /// The vectors are made later, by the memory loop.
    Due,
    /// The vectors as bytes; none for a snippet that has no vector.
    Made(Vec<Option<Vec<u8>>>),
}

/// Encodes a write. An error here means that nothing was handed to the writer.
pub(super) fn prepare(write: &Write, embed: Option<&EmbedFn>) -> Result<PreparedWrite> {
    Ok(match write {
        Write::Checkpoint(point) => PreparedWrite::Checkpoint(encode_checkpoint(point, embed)?),
        Write::OpenRun(new, _) => PreparedWrite::Run(encode_state(&new.state)?),
        Write::OpenRequest(new) => PreparedWrite::Run(encode_state(&new.run.state)?),
        Write::RecordArrivals(batch) => {
            let texts = batch.arrivals.iter().map(|new| encode_arrival(new, embed));
            PreparedWrite::Arrivals(texts.collect::<Result<_>>()?)
        }
        _ => PreparedWrite::Nothing,
    })
}

/// Encodes a checkpoint, with the search entries of the tasks that it opens.
fn encode_checkpoint(point: &Checkpoint, embed: Option<&EmbedFn>) -> Result<EncodedCheckpoint> {
    // Embedding is outside the span, which measures only the encoding of rows.
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

/// Returns the task that a change opens, if it opens one.
fn opened_task(change: &Change) -> Option<&Task> {
    match change {
        Change::OpenTask { task, .. } => Some(task),
        _ => None,
    }
}

/// Encodes the state with which a run is opened.
pub(super) fn encode_state(state: &RunState) -> Result<String> {
    serde_json::to_string(state).context("encoding a state")
}

/// Returns the encoded mail; none for an arrival that failed, was parked or is gone.
fn encode_arrival(arrival: &Arrival, embed: Option<&EmbedFn>) -> Result<Option<EncodedMail>> {
    match &arrival.content {
        ArrivalContent::Process(mail) | ArrivalContent::StoreOnly { mail, .. } => encode_mail(mail, embed).map(Some),
        _ => Ok(None),
    }
}

/// Encodes a mail, with its search entry and fingerprint.
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

/// Returns the search entry of a task that the writer itself writes. Its vectors are due, because making them would
/// hold up every other write.
pub(super) fn build_task_entry_with_due_vectors(task: &Task) -> SearchEntry {
    SearchEntry { tokens: tokenise_task(task), vectors: PreparedVectors::Due }
}

/// Returns one vector per snippet, or marks them as due when there is no embedder.
fn embed_snippets(pieces: &[String], embed: Option<&EmbedFn>) -> PreparedVectors {
    match embed {
        Some(embed) => PreparedVectors::Made(
            pieces.iter().map(|text| embed(text).map(|made| int8_vector::encode(&made))).collect(),
        ),
        None => PreparedVectors::Due,
    }
}

/// Returns the index tokens of a task: its objective, and what is known about it.
pub(super) fn tokenise_task(task: &Task) -> String {
    tokenise_texts(&[&task.objective, &snippet::context_text(&task.context)])
}

/// Returns the index tokens of a mail: its subject, sender and the beginning of its text.
pub(super) fn tokenise_mail(mail: &Mail) -> String {
    tokenise_texts(&[
        &mail.subject,
        mail.from.label(),
        &mail.from.addr,
        snippet::truncate_chars(&mail.text, INDEXED_CHARS),
    ])
}
