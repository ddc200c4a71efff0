//! Which sentences of a mail are its requests, and which of them say the same thing.
//!
//! Owns the count of tasks. When in doubt two sentences are one request: a task too many costs more trust than a long one.

use std::collections::HashSet;

use crate::reading::{
    lexicon::Feature,
    mail::annotated_mail::AnnotatedMail,
    sentence::{
        clause::{Clause, ClauseKind, extract_clause},
        score::{ScoredSentence, THRESHOLD, logistic},
        text::words,
    },
};

/// More requests in one mail are one piece of work with many parts.
pub(in crate::reading) const MAX_TASKS_PER_MAIL: usize = 5;

/// The sentences that ask for clearly different things, in the order of the mail.
pub(in crate::reading) fn find_distinct_requests<'p, 'a>(
    annotated: &'p AnnotatedMail<'a>,
    lean: f64,
) -> Vec<&'p ScoredSentence<'a>> {
    let asks = |scored: &&ScoredSentence<'_>| {
        logistic(scored.logit_in_mail + lean) >= THRESHOLD && !scored.is_courtesy() && !scored.is_assigned_to_others
    };
    let items = annotated.sentences.iter().filter(asks).any(|scored| scored.sentence.is_list_item);
    // "Could you do the following:" is the frame of a list, not one of its requests.
    let asking: Vec<&ScoredSentence<'a>> = annotated
        .sentences
        .iter()
        .filter(asks)
        .filter(|scored| !(items && scored.sentence.raw.ends_with(':')))
        .collect();
    // What talks to the program is no request to the person, but alone it still stands: the warning says the rest.
    let strength = |scored: &ScoredSentence<'_>| {
        let outright = if scored.asks_outright() { 0.5 } else { 0.0 };
        scored.logit_in_mail + outright - if scored.has(Feature::Injection) { 9.0 } else { 0.0 }
    };
    let best =
        asking.iter().copied().max_by(|a, b| strength(a).total_cmp(&strength(b)).then(std::cmp::Ordering::Greater));
    let Some(best) = best else { return Vec::new() };
    let mut chosen = vec![RequestSentence::new(best)];
    for scored in asking.iter().copied() {
        if chosen.len() == MAX_TASKS_PER_MAIL {
            break;
        }
        if std::ptr::eq(scored, best) || !is_separate_request(scored) {
            continue;
        }
        let request = RequestSentence::new(scored);
        if chosen.iter().all(|other| request.differs(other)) {
            chosen.push(request);
        }
    }
    // What could only be quoted whole stands back behind what can be said in a sentence.
    if chosen.iter().any(|request| request.clause_kind != ClauseKind::Whole) {
        chosen.retain(|request| request.clause_kind != ClauseKind::Whole);
    }
    let is_chosen = |scored: &&ScoredSentence<'_>| chosen.iter().any(|request| std::ptr::eq(*scored, request.scored));
    annotated.sentences.iter().filter(is_chosen).collect()
}

/// Asks outright, for itself: what is said on a condition or hands something over belongs to another request.
fn is_separate_request(scored: &ScoredSentence<'_>) -> bool {
    scored.asks_outright() && !scored.features.has_any(&[Feature::Conditional, Feature::HandsOver, Feature::Injection])
}

/// A sentence that asks, with the words it asks in: taken out once, however many it is compared with.
struct RequestSentence<'p, 'a> {
    scored: &'p ScoredSentence<'a>,
    clause_kind: ClauseKind,
    words: Vec<String>,
    /// The same, to be looked for.
    word_set: HashSet<String>,
}

impl<'p, 'a> RequestSentence<'p, 'a> {
    fn new(scored: &'p ScoredSentence<'a>) -> Self {
        let clause = extract_clause(scored);
        let words = extract_content_words(&clause);
        Self { scored, clause_kind: clause.kind, word_set: words.iter().cloned().collect(), words }
    }

    /// Its words are its own. When in doubt it is the same request said twice.
    fn differs(&self, other: &RequestSentence<'_, '_>) -> bool {
        let both_meet = self.scored.has(Feature::Meeting) && other.scored.has(Feature::Meeting);
        let shared = self.words.iter().filter(|word| other.word_set.contains(*word)).count();
        let few = self.words.len().min(other.words.len()).max(1);
        !both_meet && self.clause_kind != ClauseKind::Tell && self.words.len() >= 2 && shared * 5 < few * 2
    }
}

/// The words that carry the meaning: longer than three letters, or numbers.
fn extract_content_words(clause: &Clause) -> Vec<String> {
    const EMPTY: &[&str] = &[
        "this", "that", "them", "with", "from", "your", "please", "have", "know", "when", "what", "also", "back",
        "soon", "possible",
    ];
    let lower = clause.text.to_ascii_lowercase();
    let carries = |word: &&str| word.chars().count() > 3 && !EMPTY.contains(word);
    words(&lower).filter(carries).map(str::to_owned).collect()
}
