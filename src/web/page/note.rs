//! Notes about what a change did, shown on the page after it. They are kept here and not in the address, so that no
//! link can make a page say something.

use std::{
    collections::VecDeque,
    io,
    sync::{Mutex, PoisonError},
};

use crate::{http_guard::random_bytes, model::ids::hex, web::guard::PageSession};

/// How many notes are kept. They are shown right after the change, so few are enough.
const MOST_NOTES: usize = 256;

/// What a change did.
#[derive(Debug, Clone)]
pub(in crate::web) struct PageNote {
    pub(in crate::web) text: String,
    /// Whether the change was refused.
    pub(in crate::web) is_refusal: bool,
    /// How it is taken back: the path of that change and the digest of what it is about; none when it cannot be.
    pub(in crate::web) undo: Option<(String, String)>,
}

impl PageNote {
    pub(in crate::web) fn done(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_refusal: false, undo: None }
    }

    pub(in crate::web) fn refused(text: impl Into<String>) -> Self {
        Self { is_refusal: true, ..Self::done(text) }
    }

    /// Adds how the change is taken back.
    #[must_use]
    pub(in crate::web) fn with_undo(self, path: &str, seen: &str) -> Self {
        Self { undo: Some((path.to_owned(), seen.to_owned())), ..self }
    }
}

/// The newest notes, each for the session that made the change.
#[derive(Default)]
pub(in crate::web) struct Notes(Mutex<VecDeque<(String, PageSession, PageNote)>>);

impl Notes {
    /// Keeps a note. Returns the name under which its page asks for it.
    pub(super) fn keep(&self, session: &PageSession, note: PageNote) -> io::Result<String> {
        let name = hex(&random_bytes::<8>()?);
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push_back((name.clone(), session.clone(), note));
        while notes.len() > MOST_NOTES {
            notes.pop_front();
        }
        Ok(name)
    }

    /// Returns the note of this name, if it is of this session.
    pub(super) fn find(&self, session: &PageSession, name: &str) -> Option<PageNote> {
        let notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.iter().find(|(known, of, _)| known == name && of == session).map(|(_, _, note)| note.clone())
    }
}
