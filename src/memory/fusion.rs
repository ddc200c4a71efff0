//! One list of two: what was found by words and what was found by meaning, by their ranks, then what else speaks for a
//! document. Pure. The weights were chosen on the odd lines of `tests/paraphrases` and are measured on the even ones.

use std::collections::HashMap;

use serde::Serialize;

use super::search::MemoryQuery;
use crate::{
    model::{Instant, text_enum::words},
    store::value::{Document, FullTextHit},
};

words! {
    /// What speaks for a document.
    MatchKind {
        Meaning = "meaning",
        Words = "words",
        Thread = "thread",
        Invoice = "invoice",
        Person = "person",
        Recent = "recent",
    }
}

/// How fast a rank fades: the second counts for three quarters of the first, the tenth for a quarter. The usual 60 takes
/// the tenth of one half as seriously as its first, and then the weaker half drowns the better one.
const RANK_CONSTANT: f64 = 2.0;
/// A document with half of the words is worth less than half of one with all of them.
const SHARE_EXPONENT: f64 = 1.5;
/// Of a document that is first by meaning, and of one that is first by words and holds all of them.
const MEANING_WEIGHT: f64 = 0.5;
const WORDS_WEIGHT: f64 = 0.5;
/// A shared conversation or invoice says as much as being first by words; a shared person says a little.
const THREAD_WEIGHT: f64 = 0.5;
const INVOICE_WEIGHT: f64 = 0.5;
const PERSON_WEIGHT: f64 = 0.15;
/// Of a document from this moment; it halves with every month. Enough to order what is otherwise alike.
const RECENCY_WEIGHT: f64 = 0.05;
const RECENCY_HALF_LIFE_DAYS: f64 = 30.0;

/// A document that was found. Its title is a stranger's text: to be shown and compared, never obeyed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoundDocument {
    /// `task:<ulid>` or `mail:<n>`.
    pub doc: String,
    pub title: String,
    pub at: Instant,
    /// Higher is better; the sum of its reasons' weights.
    pub score: f64,
    /// What weighs most comes first.
    pub reasons: Vec<MatchReason>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatchReason {
    pub by: MatchKind,
    /// For a person: which words, how near.
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

/// What each way of looking found, best first.
#[derive(Debug, Default)]
pub(super) struct CandidateLists {
    pub(super) words: Vec<FullTextHit>,
    pub(super) near: Vec<(Document, f32)>,
    /// The same invoice.
    pub(super) invoice: Vec<Document>,
    /// Of the same conversation or person, whatever they say.
    pub(super) related: Vec<Document>,
}

pub(super) fn fuse(question: &MemoryQuery<'_>, finds: CandidateLists) -> Vec<FoundDocument> {
    let mut pool = FusionPool::default();
    for (rank, hit) in finds.words.into_iter().enumerate() {
        pool.add_reason(
            hit.document,
            MatchKind::Words,
            hit.words.join(", "),
            WORDS_WEIGHT * hit.share.powf(SHARE_EXPONENT) * rank_weight(rank),
        );
    }
    for (rank, (document, cosine)) in finds.near.into_iter().enumerate() {
        pool.add_reason(document, MatchKind::Meaning, format!("{cosine:.2}"), MEANING_WEIGHT * rank_weight(rank));
    }
    for document in finds.invoice {
        pool.add_reason(document, MatchKind::Invoice, String::new(), INVOICE_WEIGHT);
    }
    finds.related.into_iter().for_each(|document| pool.add_document(document));
    pool.into_ranked(question)
}

fn rank_weight(rank: usize) -> f64 {
    (RANK_CONSTANT + 1.0) / (RANK_CONSTANT + 1.0 + rank as f64)
}

#[derive(Default)]
struct FusionPool {
    found: Vec<(Document, Vec<MatchReason>)>,
    places: HashMap<String, usize>,
}

impl FusionPool {
    fn add_document(&mut self, document: Document) {
        if !self.places.contains_key(&document.doc) {
            self.places.insert(document.doc.clone(), self.found.len());
            self.found.push((document, Vec::new()));
        }
    }

    fn add_reason(&mut self, document: Document, by: MatchKind, detail: String, weight: f64) {
        let doc = document.doc.clone();
        self.add_document(document);
        if let Some((_, reasons)) = self.places.get(&doc).and_then(|place| self.found.get_mut(*place)) {
            reasons.push(MatchReason { by, detail, weight });
        }
    }

    fn into_ranked(self, question: &MemoryQuery<'_>) -> Vec<FoundDocument> {
        let mut found: Vec<FoundDocument> =
            self.found.into_iter().map(|(document, reasons)| score_document(question, document, reasons)).collect();
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.at.cmp(&a.at)).then_with(|| a.doc.cmp(&b.doc)));
        found
    }
}

fn score_document(question: &MemoryQuery<'_>, document: Document, mut reasons: Vec<MatchReason>) -> FoundDocument {
    let Document { doc, title, at, person, thread } = document;
    let mut because = |by, weight: f64| reasons.push(MatchReason { by, detail: String::new(), weight });
    if !question.thread.is_empty() && thread == question.thread {
        because(MatchKind::Thread, THREAD_WEIGHT);
    }
    if !question.person.is_empty() && person == question.person {
        because(MatchKind::Person, PERSON_WEIGHT);
    }
    because(MatchKind::Recent, RECENCY_WEIGHT * recency(question.now, at));
    for reason in &mut reasons {
        reason.weight = thousandths(reason.weight);
    }
    reasons.retain(|reason| reason.weight > 0.0);
    reasons.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.by.cmp(&b.by)));
    let score = thousandths(reasons.iter().fold(0.0, |sum, reason| sum + reason.weight));
    FoundDocument { doc, title, at, score, reasons }
}

/// 1 now, half of it a month ago.
fn recency(now: Instant, at: Instant) -> f64 {
    let days = (now.utc() - at.utc()).num_minutes().max(0) as f64 / (24.0 * 60.0);
    0.5_f64.powf(days / RECENCY_HALF_LIFE_DAYS)
}

fn thousandths(number: f64) -> f64 {
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

    fn order(finds: CandidateLists) -> Vec<String> {
        let account = AccountId::from("a");
        let question = MemoryQuery {
            account: &account,
            text: "",
            thread: "<t>",
            person: "p@x.example",
            invoice: "",
            leave_out: &[],
            now: "2026-11-16T08:00:00Z".parse().unwrap(),
            scope: Scope::person(10),
        };
        let found = fuse(&question, finds);
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
