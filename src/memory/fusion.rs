//! Weighted reciprocal rank fusion: one list of results from those by words (full text) and those by meaning (vectors),
//! with additional weight for the same conversation, invoice or person and for recency.
//!
//! Pure. The weights were chosen on the odd lines of `tests/paraphrases` and are measured on the even ones.

use std::collections::HashMap;

use serde::Serialize;

use super::search::MemoryQuery;
use crate::{
    document::{Document, FullTextHit},
    model::{Instant, text_enum::text_enum},
};

text_enum! {
    /// Why a document was found.
    MatchKind {
        Meaning = "meaning",
        Words = "words",
        Thread = "thread",
        Invoice = "invoice",
        Person = "person",
        Recent = "recent",
    }
}

/// The constant `k` of reciprocal rank fusion: the second rank counts for three quarters of the first, the tenth for a
/// quarter. With the usual 60 the tenth rank counts almost as much as the first, and the many weak results of one list
/// outweigh the good ones of the other.
const RANK_CONSTANT: f64 = 2.0;
/// Exponent of the share of the query's words that a document contains. Above 1, a document with half of the words
/// counts for less than half of one with all of them.
const SHARE_EXPONENT: f64 = 1.5;
/// The weight of the first rank by meaning.
const MEANING_WEIGHT: f64 = 0.5;
/// The weight of the first rank by words, if the document contains all of them.
const WORDS_WEIGHT: f64 = 0.5;
/// The weight of the same conversation: as much as the first rank by words.
const THREAD_WEIGHT: f64 = 0.5;
/// The weight of the same invoice.
const INVOICE_WEIGHT: f64 = 0.5;
/// The weight of the same person: only a little, because a person writes about many things.
const PERSON_WEIGHT: f64 = 0.15;
/// The weight of a document from this moment; it halves with every month. Enough to order documents that are otherwise
/// alike.
const RECENCY_WEIGHT: f64 = 0.05;
const RECENCY_HALF_LIFE_DAYS: f64 = 30.0;

/// A document that a search found. Its title is untrusted text: it may be shown and compared, never obeyed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoundDocument {
    /// `task:<ulid>` or `mail:<n>`.
    pub doc: String,
    pub title: String,
    pub at: Instant,
    /// The sum of the weights of `reasons`; higher is better.
    pub score: f64,
    /// Why the document was found, the heaviest reason first.
    pub reasons: Vec<MatchReason>,
}

/// One reason why a document was found, with its share of the score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatchReason {
    pub by: MatchKind,
    /// The words that were found or the cosine, as a person reads it.
    pub detail: String,
    pub weight: f64,
}

impl std::fmt::Display for MatchReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.detail.as_str() {
            "" => write!(f, "{}", self.by),
            detail => write!(f, "{} ({detail})", self.by),
        }
    }
}

/// The lists that are fused, each best first.
#[derive(Debug, Default)]
pub(super) struct CandidateLists {
    /// Documents found by words.
    pub(super) words: Vec<FullTextHit>,
    /// Documents found by meaning, with their cosine similarity.
    pub(super) near: Vec<(Document, f32)>,
    /// Documents about the same invoice.
    pub(super) invoice: Vec<Document>,
    /// Documents of the same conversation or person, whatever they say.
    pub(super) related: Vec<Document>,
}

/// Returns every document of the lists once, with all its reasons, best first.
pub(super) fn fuse(query: &MemoryQuery<'_>, candidates: CandidateLists) -> Vec<FoundDocument> {
    let mut pool = FusionPool::default();
    for (rank, hit) in candidates.words.into_iter().enumerate() {
        pool.add_reason(
            hit.document,
            MatchKind::Words,
            hit.words.join(", "),
            WORDS_WEIGHT * hit.share.powf(SHARE_EXPONENT) * rank_weight(rank),
        );
    }
    for (rank, (document, cosine)) in candidates.near.into_iter().enumerate() {
        pool.add_reason(document, MatchKind::Meaning, format!("{cosine:.2}"), MEANING_WEIGHT * rank_weight(rank));
    }
    for document in candidates.invoice {
        pool.add_reason(document, MatchKind::Invoice, String::new(), INVOICE_WEIGHT);
    }
    candidates.related.into_iter().for_each(|document| pool.add_document(document));
    pool.into_ranked(query)
}

/// Returns 1 for the first rank (0), and less for each further one.
fn rank_weight(rank: usize) -> f64 {
    (RANK_CONSTANT + 1.0) / (RANK_CONSTANT + 1.0 + rank as f64)
}

/// The documents met so far, with their reasons.
#[derive(Default)]
struct FusionPool {
    found: Vec<(Document, Vec<MatchReason>)>,
    /// The position in `found` of each document id.
    places: HashMap<String, usize>,
}

impl FusionPool {
    /// Adds a document without a reason, unless it is there already.
    fn add_document(&mut self, document: Document) {
        if !self.places.contains_key(&document.doc) {
            self.places.insert(document.doc.clone(), self.found.len());
            self.found.push((document, Vec::new()));
        }
    }

    /// Adds a reason to a document, and the document if it is not there yet.
    fn add_reason(&mut self, document: Document, by: MatchKind, detail: String, weight: f64) {
        let doc = document.doc.clone();
        self.add_document(document);
        if let Some((_, reasons)) = self.places.get(&doc).and_then(|place| self.found.get_mut(*place)) {
            reasons.push(MatchReason { by, detail, weight });
        }
    }

    /// Scores all documents and sorts them, best first. Of two with the same score, the newer comes first.
    fn into_ranked(self, query: &MemoryQuery<'_>) -> Vec<FoundDocument> {
        let mut found: Vec<FoundDocument> =
            self.found.into_iter().map(|(document, reasons)| score_document(query, document, reasons)).collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.at.cmp(&a.at)).then_with(|| a.doc.cmp(&b.doc)));
        found
    }
}

/// Adds the reasons that follow from the document itself and sums all weights. Weights are rounded as they are shown,
/// so that the score is the sum of what a person sees.
fn score_document(query: &MemoryQuery<'_>, document: Document, mut reasons: Vec<MatchReason>) -> FoundDocument {
    let Document { doc, title, at, person, thread } = document;
    let mut add_reason = |by, weight: f64| reasons.push(MatchReason { by, detail: String::new(), weight });
    if !query.thread.is_empty() && thread == query.thread {
        add_reason(MatchKind::Thread, THREAD_WEIGHT);
    }
    if !query.person.is_empty() && person == query.person {
        add_reason(MatchKind::Person, PERSON_WEIGHT);
    }
    add_reason(MatchKind::Recent, RECENCY_WEIGHT * recency(query.now, at));
    for reason in &mut reasons {
        reason.weight = round_to_thousandths(reason.weight);
    }
    reasons.retain(|reason| reason.weight > 0.0);
    reasons.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.by.cmp(&b.by)));
    let score = round_to_thousandths(reasons.iter().fold(0.0, |sum, reason| sum + reason.weight));
    FoundDocument { doc, title, at, score, reasons }
}

/// Returns 1 for a document from now, half of that for one that is a month old, and so on.
fn recency(now: Instant, at: Instant) -> f64 {
    let days = (now.utc() - at.utc()).num_minutes().max(0) as f64 / (24.0 * 60.0);
    0.5_f64.powf(days / RECENCY_HALF_LIFE_DAYS)
}

fn round_to_thousandths(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{memory::search::Scope, model::AccountId};

    fn document(doc: &str) -> Document {
        let at = "2026-11-01T08:00:00Z".parse().unwrap();
        Document { doc: doc.into(), title: String::new(), at, person: String::new(), thread: String::new() }
    }

    fn hit(document: Document, share: f64) -> FullTextHit {
        FullTextHit { document, score: 1.0, share, words: vec!["lease".into()] }
    }

    fn order(candidates: CandidateLists) -> Vec<String> {
        let account = AccountId::from("a");
        let query = MemoryQuery {
            account: &account,
            text: "",
            thread: "<t>",
            person: "p@x.example",
            invoice: "",
            leave_out: &[],
            now: "2026-11-16T08:00:00Z".parse().unwrap(),
            scope: Scope::person(10),
        };
        let found = fuse(&query, candidates);
        for one in &found {
            let sum: f64 = one.reasons.iter().map(|reason| reason.weight).sum();
            assert!((sum - one.score).abs() < 1e-9, "{one:?}");
        }
        found.into_iter().map(|found| found.doc).collect()
    }

    #[test]
    fn both_halves_together_beat_either_alone() {
        let words = vec![hit(document("word"), 1.0), hit(document("both"), 1.0)];
        let near = vec![(document("mean"), 0.7), (document("both"), 0.6)];
        assert_eq!(order(CandidateLists { words, near, ..CandidateLists::default() }), ["both", "mean", "word"]);
    }

    #[test]
    fn one_common_word_does_not_outrank_what_means_the_same() {
        let words = (0..20).map(|n| hit(document(&format!("w{n}")), 0.1)).collect();
        let near: Vec<_> = (0..20).map(|n| (document(&format!("m{n}")), 0.5)).collect();
        let found = order(CandidateLists { words, near, ..CandidateLists::default() });
        assert!(found[..10].iter().all(|doc| doc.starts_with('m')), "{found:?}");
    }

    #[test]
    fn without_meaning_the_words_alone_keep_their_order() {
        let words = (0..5).map(|n| hit(document(&format!("w{n}")), 0.5)).collect();
        assert_eq!(order(CandidateLists { words, ..CandidateLists::default() }), ["w0", "w1", "w2", "w3", "w4"]);
    }

    #[test]
    fn a_conversation_outweighs_a_person_and_a_person_an_equal_stranger() {
        let of = |doc: &str, person: &str, thread: &str| Document {
            person: person.into(),
            thread: thread.into(),
            ..document(doc)
        };
        let related = vec![of("stranger", "", ""), of("person", "p@x.example", ""), of("thread", "", "<t>")];
        assert_eq!(order(CandidateLists { related, ..CandidateLists::default() }), ["thread", "person", "stranger"]);
        let invoice = vec![document("invoice")];
        let related = vec![of("person", "p@x.example", "")];
        assert_eq!(order(CandidateLists { related, invoice, ..CandidateLists::default() }), ["invoice", "person"]);
        // The same request outweighs another mail of the conversation.
        let (words, near) = (vec![hit(document("same"), 1.0)], vec![(document("same"), 0.9)]);
        let related = vec![of("thread", "", "<t>")];
        assert_eq!(order(CandidateLists { words, near, related, ..CandidateLists::default() }), ["same", "thread"]);
    }

    #[test]
    fn of_two_alike_the_newer_comes_first_and_age_alone_beats_nothing() {
        let old = |doc: &str| Document { at: "2024-01-01T08:00:00Z".parse().unwrap(), ..document(doc) };
        let related = vec![old("older"), document("newer")];
        assert_eq!(order(CandidateLists { related, ..CandidateLists::default() }), ["newer", "older"]);
        let near = vec![(old("first"), 0.6), (document("second"), 0.5)];
        assert_eq!(order(CandidateLists { near, ..CandidateLists::default() }), ["first", "second"]);
    }
}
