//! What may help with a task: the same conversation, the same person, the same words. Never across accounts.

use std::collections::HashSet;

use crate::{
    model::{AccountId, ContextDoc, MailId, TaskId},
    store::{Reader, Relation, Result, query_words, shared_words, value::Hit},
};

/// Documents handed to a task.
const MOST: usize = 8;
const FROM_THREAD: usize = 5;
const FROM_PERSON: usize = 3;
/// Looked at for shared words; the newest first.
const CANDIDATES: usize = 40;
/// The most telling words are asked for; more cost time and find noise.
const WORDS_ASKED: usize = 4;
/// A shared conversation says more than a shared person, a person more than any word.
const THREAD_SCORE: f64 = 1.0;
const PERSON_SCORE: f64 = 0.6;
const WORDS_SCORE: f64 = 0.9;
/// Fewer of the task's words than this are an accident.
const LEAST_OVERLAP: f64 = 0.34;

pub(super) struct Question<'a> {
    pub(super) account: &'a AccountId,
    pub(super) mail_id: Option<MailId>,
    pub(super) task_id: Option<TaskId>,
    pub(super) thread: &'a str,
    pub(super) person: &'a str,
    pub(super) words: &'a str,
}

pub(super) fn recall(reader: &Reader<'_>, question: &Question<'_>) -> Result<Vec<ContextDoc>> {
    let mut found = Vec::new();
    if !question.thread.is_empty() {
        let hits = reader.related_mails(question.account, Relation::Thread, question.thread, FROM_THREAD)?;
        found.extend(hits.into_iter().map(|hit| doc(hit, "thread", THREAD_SCORE)));
    }
    if !question.person.is_empty() {
        let hits = reader.related_mails(question.account, Relation::Sender, question.person, FROM_PERSON)?;
        found.extend(hits.into_iter().map(|hit| doc(hit, "person", PERSON_SCORE)));
    }
    found.extend(by_words(reader, question)?);
    let own = [question.mail_id.map(|id| format!("mail:{id}")), question.task_id.map(|id| format!("task:{id}"))];
    found.retain(|doc| !own.iter().flatten().any(|own| *own == doc.doc));
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.doc.cmp(&b.doc)));
    let mut seen = HashSet::new();
    found.retain(|doc| seen.insert(doc.doc.clone()));
    found.truncate(MOST);
    Ok(found)
}

fn by_words(reader: &Reader<'_>, question: &Question<'_>) -> Result<Vec<ContextDoc>> {
    let words = query_words(question.words);
    let asked: Vec<String> = words.iter().take(WORDS_ASKED).cloned().collect();
    let hits = reader.recent_with(&asked, question.account, CANDIDATES)?;
    let overlap = |hit: &Hit| shared_words(&words, &hit.title) as f64 / words.len().max(1) as f64;
    Ok(hits
        .into_iter()
        .map(|hit| (overlap(&hit), hit))
        .filter(|(share, _)| *share >= LEAST_OVERLAP)
        .map(|(share, hit)| doc(hit, "words", WORDS_SCORE * share))
        .collect())
}

fn doc(hit: Hit, found_by: &str, score: f64) -> ContextDoc {
    ContextDoc {
        doc: hit.doc,
        title: hit.title,
        found_by: found_by.to_owned(),
        score: (score * 1000.0).round() / 1000.0,
    }
}
