//! Asking both halves: by words from the store, by meaning from the vectors. Never across accounts; without vectors
//! the words answer alone.

use super::{
    Memory,
    fusion::{self, CandidateLists, FoundDocument},
    traits::{Filter, NearDocument},
};
use crate::{
    model::{AccountId, Instant},
    store::{Result, SearchDepth, SkipUnreadable as _, StoreReader},
};

/// Mails of the conversation and of the person that are handed on whatever they say.
const FROM_THREAD: usize = 5;
const FROM_PERSON: usize = 3;
const OF_INVOICE: usize = 5;

pub struct MemoryQuery<'a> {
    pub account: &'a AccountId,
    pub text: &'a str,
    /// Empty without one.
    pub thread: &'a str,
    /// An address; empty without one.
    pub person: &'a str,
    /// The mark of an invoice; empty without one.
    pub invoice: &'a str,
    /// What asks is no answer.
    pub leave_out: &'a [String],
    pub now: Instant,
    pub scope: Scope,
}

/// How far to look, and what is worth showing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scope {
    pub depth: SearchDepth,
    /// Of each half.
    pub candidates: usize,
    pub limit: usize,
    /// Less near in meaning is chance.
    pub least_cosine: f32,
    /// The same where no document has a word of the question, which then may be no word at all.
    pub least_cosine_alone: f32,
    /// Less of the question's words is chance.
    pub least_share: f64,
}

impl Scope {
    /// A person looks at the list, so anything that may be it is in it: below 0.2 nothing among the first ten of 430
    /// questions was right.
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

    /// Handed to a task unseen. The best of five hundred texts about anything has 0.42, half of the time.
    pub const RUN: Self = Self {
        depth: SearchDepth::RUN,
        candidates: 16,
        limit: 8,
        least_cosine: 0.45,
        least_cosine_alone: 0.45,
        least_share: 0.34,
    };

    /// What is too far in any case need not be looked up.
    fn filter(&self, account: &AccountId) -> Filter {
        Filter { min_cosine: self.least_cosine.min(self.least_cosine_alone), ..Filter::account(account) }
    }
}

/// What was found, and why not by meaning when it was not.
#[derive(Debug)]
pub struct HybridResults {
    pub found: Vec<FoundDocument>,
    pub trouble: Option<String>,
}

impl Memory {
    pub async fn search(&self, question: &MemoryQuery<'_>) -> Result<HybridResults> {
        let scope = question.scope;
        let (near, trouble) =
            match self.find_nearest(&scope.filter(question.account), question.text, scope.candidates).await {
                Ok(near) => (near, None),
                Err(error) => (Vec::new(), Some(error.to_string())),
            };
        let finds = self.store.read_blocking(|reader| collect_candidates(reader, question, near))?;
        let mut found = fusion::fuse(question, finds);
        found.retain(|found| !question.leave_out.contains(&found.doc));
        found.truncate(scope.limit);
        Ok(HybridResults { found, trouble })
    }
}

fn collect_candidates(
    reader: &StoreReader<'_>,
    question: &MemoryQuery<'_>,
    near: Vec<NearDocument>,
) -> Result<CandidateLists> {
    let MemoryQuery { account, text, thread, person, invoice, scope, .. } = question;
    let (words, any) =
        reader.search_documents_with_share(text, account, scope.depth, scope.candidates, scope.least_share)?;
    let mut finds = CandidateLists { words, ..CandidateLists::default() };
    let least = if any { scope.least_cosine } else { scope.least_cosine_alone };
    for NearDocument { doc, score, document, .. } in near.into_iter().filter(|near| near.score >= least) {
        let document =
            document.map_or_else(|| reader.document(&doc, account).skip_unreadable(), |document| Ok(Some(document)))?;
        finds.near.extend(document.map(|document| (document, score)));
    }
    if !thread.is_empty() {
        finds.related = reader.documents_of_thread(account, thread, FROM_THREAD)?;
    }
    if !person.is_empty() {
        finds.related.extend(reader.documents_of_person(account, person, FROM_PERSON)?);
    }
    if !invoice.is_empty() {
        finds.invoice = reader.documents_with_fingerprint(account, invoice, OF_INVOICE)?;
    }
    Ok(finds)
}
