//! Hybrid search: by words in the store, by meaning in the vectors, fused into one list.
//!
//! A search never crosses accounts. When the vectors cannot be used, the search by words answers alone and the reason
//! is returned with its results.

use super::{
    Memory,
    fusion::{self, CandidateLists, FoundDocument},
    traits::{Filter, NearDocument},
};
use crate::{
    model::{AccountId, Instant},
    store::{Result, SearchDepth, SkipUnreadable as _, StoreReader},
};

/// How many documents of the same conversation are candidates whatever they say.
const FROM_THREAD: usize = 5;
/// How many documents of the same person are candidates whatever they say.
const FROM_PERSON: usize = 3;
/// How many documents about the same invoice are candidates whatever they say.
const FROM_INVOICE: usize = 5;

/// What is searched for, and for whom.
pub struct MemoryQuery<'a> {
    pub account: &'a AccountId,
    pub text: &'a str,
    /// The id of the conversation; empty for none.
    pub thread: &'a str,
    /// The address of a person; empty for none.
    pub person: &'a str,
    /// The fingerprint of an invoice; empty for none.
    pub invoice: &'a str,
    /// Ids of documents that must not be returned, such as the mail that the query comes from.
    pub leave_out: &'a [String],
    pub now: Instant,
    pub scope: Scope,
}

/// How deep a search goes, and which results are good enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scope {
    pub depth: SearchDepth,
    /// How many candidates are taken by words, and how many by meaning.
    pub candidates: usize,
    /// How many results are returned.
    pub limit: usize,
    /// The least cosine of a result by meaning. Anything below is near by chance.
    pub least_cosine: f32,
    /// The least cosine when no document contains any word of the query: the query may then be no real words at all.
    pub least_cosine_alone: f32,
    /// The least share of the query's words that a result by words must hold.
    pub least_share: f64,
}

impl Scope {
    /// Returns the scope for a person who reads the list, so everything that may be right is in it. Measured: below a
    /// cosine of 0.2 no result among the first ten of 430 queries was right.
    pub const fn person(limit: usize) -> Self {
        Self {
            depth: SearchDepth::PERSON,
            candidates: 100,
            limit,
            least_cosine: 0.2,
            least_cosine_alone: 0.3,
            least_share: 0.0,
        }
    }

    /// The scope for a run, which uses the results without a person seeing them. Measured: in half of the cases the
    /// best of five hundred unrelated texts has a cosine of 0.42.
    pub const RUN: Self = Self {
        depth: SearchDepth::RUN,
        candidates: 16,
        limit: 8,
        least_cosine: 0.45,
        least_cosine_alone: 0.45,
        least_share: 0.34,
    };

    /// Returns the filter of the vector search. Which of the two limits applies is known only after the search by
    /// words, so the lower one is used here.
    fn filter(&self, account: &AccountId) -> Filter {
        Filter { min_cosine: self.least_cosine.min(self.least_cosine_alone), ..Filter::account(account) }
    }
}

/// The results of a search.
#[derive(Debug)]
pub struct HybridResults {
    pub found: Vec<FoundDocument>,
    /// Why nothing was searched by meaning; none when that worked.
    pub trouble: Option<String>,
}

impl Memory {
    /// Searches by words and by meaning. Fails only when the store does.
    pub async fn search(&self, query: &MemoryQuery<'_>) -> Result<HybridResults> {
        let scope = query.scope;
        let (near, trouble) = match self.find_nearest(&scope.filter(query.account), query.text, scope.candidates).await
        {
            Ok(near) => (near, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let candidates = self.store.read_blocking(|reader| collect_candidates(reader, query, near))?;
        let mut found = fusion::fuse(query, candidates);
        found.retain(|found| !query.leave_out.contains(&found.doc));
        found.truncate(scope.limit);
        Ok(HybridResults { found, trouble })
    }
}

/// Reads the candidates of all kinds from the store. `near` are those found by meaning.
fn collect_candidates(
    reader: &StoreReader<'_>,
    query: &MemoryQuery<'_>,
    near: Vec<NearDocument>,
) -> Result<CandidateLists> {
    let MemoryQuery { account, text, thread, person, invoice, scope, .. } = query;
    let (words, has_known_word) =
        reader.documents().find_with_share(text, account, scope.depth, scope.candidates, scope.least_share)?;
    let mut candidates = CandidateLists { words, ..CandidateLists::default() };
    let least = if has_known_word { scope.least_cosine } else { scope.least_cosine_alone };
    for NearDocument { doc, score, document, .. } in near.into_iter().filter(|near| near.score >= least) {
        let document = document
            .map_or_else(|| reader.documents().get(&doc, account).skip_unreadable(), |document| Ok(Some(document)))?;
        candidates.near.extend(document.map(|document| (document, score)));
    }
    if !thread.is_empty() {
        candidates.related = reader.documents().of_thread(account, thread, FROM_THREAD)?;
    }
    if !person.is_empty() {
        candidates.related.extend(reader.documents().of_person(account, person, FROM_PERSON)?);
    }
    if !invoice.is_empty() {
        candidates.invoice = reader.documents().with_fingerprint(account, invoice, FROM_INVOICE)?;
    }
    Ok(candidates)
}
