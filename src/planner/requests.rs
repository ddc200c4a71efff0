//! Which sentences of a mail are its requests, and which of them say the same thing.
//!
//! Owns the count of tasks. When in doubt two sentences are one request: a task too many costs more trust than a long one.

use super::{
    clause::{Clause, Wish, clause},
    lexicon::Feature,
    page::Page,
    score::{Scored, THRESHOLD, logistic},
    text::words,
};

/// More requests in one mail are one piece of work with many parts.
pub(super) const MOST_TASKS: usize = 5;

/// The sentences that ask for clearly different things, in the order of the mail.
pub(super) fn distinct<'p, 'a>(page: &'p Page<'a>, lean: f64) -> Vec<&'p Scored<'a>> {
    let asks =
        |scored: &&Scored<'_>| logistic(scored.sum + lean) >= THRESHOLD && !scored.is_courtesy() && !scored.for_others;
    let items = page.sentences.iter().filter(asks).any(|scored| scored.sentence.item);
    // "Could you do the following:" is the frame of a list, not one of its requests.
    let asking: Vec<&Scored<'a>> =
        page.sentences.iter().filter(asks).filter(|scored| !(items && scored.sentence.raw.ends_with(':'))).collect();
    // What talks to the program is no request to the person, but alone it still stands: the warning says the rest.
    let strength = |scored: &Scored<'_>| {
        let outright = if scored.asks_outright() { 0.5 } else { 0.0 };
        scored.sum + outright - if scored.has(Feature::Injection) { 9.0 } else { 0.0 }
    };
    let best =
        asking.iter().copied().max_by(|a, b| strength(a).total_cmp(&strength(b)).then(std::cmp::Ordering::Greater));
    let Some(best) = best else { return Vec::new() };
    let mut chosen = vec![best];
    for scored in asking.iter().copied() {
        if chosen.len() < MOST_TASKS && chosen.iter().all(|other| differs(scored, other)) {
            chosen.push(scored);
        }
    }
    // What could only be quoted whole stands back behind what can be said in a sentence.
    if chosen.iter().any(|scored| clause(scored).wish != Wish::Whole) {
        chosen.retain(|scored| clause(scored).wish != Wish::Whole);
    }
    page.sentences.iter().filter(|scored| chosen.iter().any(|other| std::ptr::eq(*scored, *other))).collect()
}

/// Asks outright for something whose words are its own. When in doubt it is the same request said twice.
fn differs(scored: &Scored<'_>, other: &Scored<'_>) -> bool {
    if std::ptr::eq(scored, other)
        || !scored.asks_outright()
        || scored.features.any(&[Feature::Conditional, Feature::HandsOver, Feature::Injection])
    {
        return false;
    }
    let both_meet = scored.has(Feature::Meeting) && other.has(Feature::Meeting);
    let own_clause = clause(scored);
    let told = own_clause.wish == Wish::Tell;
    let own = content(&own_clause);
    let others = content(&clause(other));
    let shared = own.iter().filter(|word| others.contains(*word)).count();
    !both_meet && !told && own.len() >= 2 && shared * 5 < own.len().min(others.len()).max(1) * 2
}

/// The words that carry the meaning: longer than three letters, or numbers.
fn content(clause: &Clause) -> Vec<String> {
    const EMPTY: &[&str] = &[
        "this", "that", "them", "with", "from", "your", "please", "have", "know", "when", "what", "also", "back",
        "soon", "possible",
    ];
    let lower = clause.text.to_ascii_lowercase();
    let carries = |word: &&str| word.chars().count() > 3 && !EMPTY.contains(word);
    words(&lower).filter(carries).map(str::to_owned).collect()
}
