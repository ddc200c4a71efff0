//! What a person prepares on one page and confirms on the next: an edited copy of the rules, a plan, the answers of a
//! first start. It is kept here and not in a form, so that what is confirmed is exactly what was shown. A draft that
//! was not confirmed is lost with the process, which its page then says.

use std::{
    collections::VecDeque,
    io,
    sync::{Mutex, PoisonError},
};

use super::guard::PageSession;
use crate::{
    app::{CheckedAnswers, FirstAnswers, NotFound, PreparedRequest},
    http_guard::random_bytes,
    model::ids::hex,
};

/// How many drafts of a kind are kept. One person has few of them at once.
const MOST_DRAFTS: usize = 32;

/// Drafts of one kind, each for the session that made it.
pub(in crate::web) struct PageDrafts<T>(Mutex<VecDeque<(String, PageSession, T)>>);

impl<T> Default for PageDrafts<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> PageDrafts<T> {
    /// Keeps a draft. Returns the name under which its page is found.
    pub(in crate::web) fn keep(&self, session: &PageSession, draft: T) -> io::Result<String> {
        let name = hex(&random_bytes::<12>()?);
        let mut drafts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drafts.push_back((name.clone(), session.clone(), draft));
        while drafts.len() > MOST_DRAFTS {
            drafts.pop_front();
        }
        Ok(name)
    }

    /// Returns the draft of this name, if it is of this session.
    pub(in crate::web) fn find(&self, session: &PageSession, name: &str) -> Result<T, NotFound> {
        let drafts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = drafts.iter().find(|(known, of, _)| known == name && of == session);
        found.map(|(_, _, draft)| draft.clone()).ok_or_else(draft_lost)
    }

    /// Returns a draft and forgets it, so that it is carried out once.
    pub(in crate::web) fn take(&self, session: &PageSession, name: &str) -> Result<T, NotFound> {
        let mut drafts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = drafts.iter().position(|(known, of, _)| known == name && of == session);
        let taken = place.and_then(|place| drafts.remove(place));
        taken.map(|(_, _, draft)| draft).ok_or_else(draft_lost)
    }
}

fn draft_lost() -> NotFound {
    NotFound("this draft is not kept any more: it was used, dropped, or Adjutant was started again since".into())
}

/// An edited copy of the rules.
#[derive(Debug, Clone)]
pub(in crate::web) struct RulesDraft {
    /// Stands for the text that the copy was made from.
    pub(in crate::web) base: String,
    pub(in crate::web) text: String,
}

/// The answers of a first start, as they were typed and as the check of the configuration took them.
#[derive(Debug, Clone)]
pub(in crate::web) struct AnswersDraft {
    pub(in crate::web) answers: FirstAnswers,
    /// The checked answers, or why they are refused.
    pub(in crate::web) outcome: Result<CheckedAnswers, String>,
}

/// All drafts of the page.
#[derive(Default)]
pub(in crate::web) struct DraftStore {
    pub(in crate::web) rules: PageDrafts<RulesDraft>,
    pub(in crate::web) plans: PageDrafts<PreparedRequest>,
    pub(in crate::web) answers: PageDrafts<AnswersDraft>,
}
