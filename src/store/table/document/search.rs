//! Full-text search: BM25 over the newest documents that contain each word, so that a query costs the same however much
//! is stored.
//!
//! No query returns a document of another account.

use std::collections::HashMap;

use super::DocumentReader;
use crate::{
    document::{Document, FullTextHit, QueryTerms, is_trigram},
    model::AccountId,
    store::{
        error::{Result, SkipUnreadable as _},
        table::{parse_column, query_optional, query_readable},
    },
};

/// The parameter k1 of BM25, at its usual value. The index holds each word of a document once, so term frequency is 1.
const SATURATION: f64 = 1.2;
/// The parameter b of BM25, which controls how much a long document is penalised, at its usual value.
const BM25_B: f64 = 0.75;
/// The average length of a document, as a constant: a value twice or half as large ranks the same.
const AVERAGE_DOCUMENT_WORDS: f64 = 40.0;

/// How many index entries of all accounts are scanned for each wanted document of the own account. It bounds the cost
/// for a small account beside a huge one.
const SCANNED_PER_OWN_DOCUMENT: i64 = 16;

/// How many documents a query looks at, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchDepth {
    /// The limit per word.
    pub per_word: usize,
    /// The limit for all words together. The longest words, which tell most, are looked up first.
    pub in_all: usize,
}

impl SearchDepth {
    /// For a person who waits for the result. On 7,000 documents this ranks as if all were looked at.
    pub const PERSON: Self = Self { per_word: 2_000, in_all: 20_000 };
    /// For a run, which searches once per task.
    pub const RUN: Self = Self { per_word: 64, in_all: 192 };
}

/// The smallest share of the query weight that counts without a whole word. Every Hebrew text contains some trigrams of
/// any word, so matches below this share are chance.
const MIN_TRIGRAM_SHARE: f64 = 0.25;

/// The scores of the documents that match a query.
#[derive(Default)]
struct DocumentScores {
    documents: HashMap<i64, DocumentScore>,
    /// The weight of all terms of the query: what a document with all of them would have.
    total_weight: f64,
}

#[derive(Default)]
struct DocumentScore {
    score: f64,
    weight: f64,
    /// A bit for each word of the query that the document contains.
    words: u32,
    /// Whether it contains at least one whole word, not only trigrams.
    whole: bool,
}

impl DocumentScores {
    /// Adds the BM25 score of one term to every document that contains it.
    fn add_term(&mut self, word: usize, term: &str, weight: f64, holders: &[(i64, f64)]) {
        self.total_weight += weight;
        for (doc_id, length) in holders {
            let tally = self.documents.entry(*doc_id).or_default();
            let long = 1.0 - BM25_B + BM25_B * length / AVERAGE_DOCUMENT_WORDS;
            tally.score += weight * (SATURATION + 1.0) / (1.0 + SATURATION * long);
            tally.weight += weight;
            tally.whole |= !is_trigram(term);
            tally.words |= bit(word);
        }
    }

    /// Returns the best documents with their scores; none when all matches are chance.
    fn into_best(self, limit: usize) -> Vec<(i64, DocumentScore)> {
        let mut best: Vec<(i64, DocumentScore)> = self.documents.into_iter().collect();
        if !best.iter().any(|(_, tally)| tally.whole || tally.weight >= MIN_TRIGRAM_SHARE * self.total_weight) {
            return Vec::new();
        }
        // Equal scores are ordered by age, newest first, so that the result does not depend on the hash map.
        best.sort_by(|(a, one), (b, other)| other.score.total_cmp(&one.score).then_with(|| b.cmp(a)));
        best.truncate(limit);
        best
    }
}

/// Returns the bit of a word of the query; 0 for a word beyond the 32 bits.
fn bit(word: usize) -> u32 {
    u32::try_from(word).ok().and_then(|word| 1_u32.checked_shl(word)).unwrap_or_default()
}

impl DocumentReader<'_> {
    /// Returns the documents of `account` that contain any of the words, best first.
    pub fn find(self, text: &str, account: &AccountId, depth: SearchDepth, limit: usize) -> Result<Vec<FullTextHit>> {
        self.find_with_share(text, account, depth, limit, 0.0).map(|(hits, _)| hits)
    }

    /// Returns those of the best documents that contain at least `least_share` of the weight of the query, and whether
    /// any document matches at all.
    pub fn find_with_share(
        self,
        text: &str,
        account: &AccountId,
        depth: SearchDepth,
        limit: usize,
        least_share: f64,
    ) -> Result<(Vec<FullTextHit>, bool)> {
        let terms = QueryTerms::parse(text);
        let newest = "SELECT coalesce(max(doc_id), 0) FROM search_doc";
        let stored =
            query_optional(self.0, newest, [], "looking at the index", |row| row.get::<_, i64>(0))?.unwrap_or_default();
        let mut tallies = DocumentScores::default();
        let mut left = depth.in_all;
        for (word, term) in &terms.index_terms {
            let limit = depth.per_word.min(left);
            if limit == 0 {
                break;
            }
            let holders = self.with_term(term, account, limit)?;
            left -= holders.len();
            tallies.add_term(*word, term, inverse_document_frequency(&holders, limit, stored), &holders);
        }
        // The lower bound avoids a division by zero for a query without terms.
        let question = tallies.total_weight.max(f64::MIN_POSITIVE);
        let best = tallies.into_best(limit);
        let any = !best.is_empty();
        let sharing = best.into_iter().map(|(doc_id, tally)| (doc_id, tally.weight / question, tally));
        let hits = sharing.filter(|(_, share, _)| *share >= least_share).map(|(doc_id, share, tally)| {
            let held = terms.words.iter().enumerate().filter(|(nth, _)| tally.words & bit(*nth) != 0);
            let words = held.map(|(_, word)| word.clone()).collect();
            Ok(self.by_id(doc_id).skip_unreadable()?.map(|document| FullTextHit {
                document,
                score: tally.score,
                share,
                words,
            }))
        });
        Ok((hits.filter_map(Result::transpose).collect::<Result<_>>()?, any))
    }

    /// Returns the newest documents with a term, and the number of words of each. The cross join keeps the order of its
    /// left side and stops at the limit; sorting again would first look up all of them.
    fn with_term(self, term: &str, account: &AccountId, limit: usize) -> Result<Vec<(i64, f64)>> {
        let sql = "SELECT d.doc_id, d.words
                   FROM (SELECT rowid AS doc_id FROM search WHERE search MATCH ?1 ORDER BY rowid DESC LIMIT ?4) s
                   CROSS JOIN search_doc d USING (doc_id) WHERE d.account = ?2 LIMIT ?3";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let all = limit.saturating_mul(SCANNED_PER_OWN_DOCUMENT);
        query_readable(self.0, sql, (format!("\"{term}\""), account.as_str(), limit, all), "searching", |row| {
            Ok((row.get(0)?, row.get::<_, f64>(1)?))
        })
    }

    fn by_id(self, doc_id: i64) -> Result<Option<Document>> {
        let sql = "SELECT doc, title, at, person, thread FROM search_doc WHERE doc_id = ?1";
        query_optional(self.0, sql, [doc_id], "reading a document", document_row)
    }

    /// Returns a document; none when the account has no such document.
    pub fn get(self, doc: &str, account: &AccountId) -> Result<Option<Document>> {
        let sql = "SELECT doc, title, at, person, thread FROM search_doc WHERE doc = ?1 AND account = ?2";
        query_optional(self.0, sql, (doc, account.as_str()), "reading a document", document_row)
    }

    /// Returns the newest mails of a conversation.
    pub fn of_thread(self, account: &AccountId, thread: &str, limit: usize) -> Result<Vec<Document>> {
        let sql =
            "SELECT 'mail:' || mail_id, subject, sent_at, sender, thread FROM mail WHERE account = ?1 AND thread = ?2
                   ORDER BY mail_id DESC LIMIT ?3";
        self.query(sql, account, thread, limit)
    }

    /// Returns the newest mails of a sender.
    pub fn of_person(self, account: &AccountId, person: &str, limit: usize) -> Result<Vec<Document>> {
        let sql =
            "SELECT 'mail:' || mail_id, subject, sent_at, sender, thread FROM mail WHERE account = ?1 AND sender = ?2
                   ORDER BY mail_id DESC LIMIT ?3";
        self.query(sql, account, person, limit)
    }

    /// Returns the tasks with a fingerprint, open or ended, newest first.
    pub fn with_fingerprint(self, account: &AccountId, mark: &str, limit: usize) -> Result<Vec<Document>> {
        let sql = "SELECT d.doc, d.title, d.at, d.person, d.thread FROM task_mark m JOIN search_doc d ON d.doc = 'task:' || m.task_id
                   WHERE m.account = ?1 AND m.mark = ?2 ORDER BY m.task_id DESC LIMIT ?3";
        self.query(sql, account, mark, limit)
    }

    fn query(self, sql: &str, account: &AccountId, value: &str, limit: usize) -> Result<Vec<Document>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        query_readable(self.0, sql, (account.as_str(), value, limit), "finding related mail", document_row)
    }
}

/// Reads the columns doc, title, at, person and thread, in this order.
pub(in crate::store::table) fn document_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Document> {
    Ok(Document {
        doc: row.get(0)?,
        title: row.get(1)?,
        at: parse_column(row, 2)?,
        person: row.get(3)?,
        thread: row.get(4)?,
    })
}

/// Returns the weight of a term by the number of documents that contain it. When the list of holders was cut off at the
/// limit, the term is assumed to be as frequent among the older documents as among the newer ones.
fn inverse_document_frequency(holders: &[(i64, f64)], limit: usize, stored: i64) -> f64 {
    let all = stored.max(1) as f64;
    let seen = holders.len() as f64;
    let holding = match holders.last() {
        Some((oldest, _)) if holders.len() == limit => seen * all / ((stored - oldest + 1).max(1) as f64),
        _ => seen,
    };
    (1.0 + (all - holding + 0.5).max(0.0) / (holding + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holders(ids: impl Iterator<Item = i64>) -> Vec<(i64, f64)> {
        ids.map(|id| (id, 40.0)).collect()
    }

    #[test]
    fn a_rare_word_weighs_more_and_a_cut_list_is_guessed_from_its_part() {
        let rare = inverse_document_frequency(&holders([900, 3].into_iter()), 100, 1000);
        let common = inverse_document_frequency(&holders((1..=1000).rev().take(500)), 1000, 1000);
        assert!(rare > 5.0 && common < 1.0, "{rare} {common}");
        // Every second of the newest two hundred has the word: about five hundred of a thousand.
        let guessed = inverse_document_frequency(&holders((801..=1000).rev().step_by(2)), 100, 1000);
        assert!((guessed - common).abs() < 0.05, "{guessed} {common}");
        assert!(inverse_document_frequency(&[], 100, 0) >= 0.0);
    }
}
