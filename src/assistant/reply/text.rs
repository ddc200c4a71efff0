//! A reply as it is put together, with the places of the titles in it.

use std::ops::Range;

use crate::assistant::{marker::defuse_markers, phrase::clean_message};

/// The longest title that a reply shows whole.
const SHOWN_TITLE_CHARS: usize = 200;
/// First strong isolate and pop directional isolate: what stands between them has a direction of its own.
const ISOLATE: (char, char) = ('\u{2068}', '\u{2069}');

/// The text of a reply. It knows where titles stand, so that a screen can set them apart from text of the other direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplyText {
    text: String,
    /// The bytes of each title.
    titles: Vec<Range<usize>>,
}

impl ReplyText {
    pub(in crate::assistant) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(in crate::assistant) fn push_title(&mut self, title: &str) {
        let start = self.text.len();
        self.text.push_str(&shown_title(title));
        self.titles.push(start..self.text.len());
    }

    /// Adds another text after a separator, which is left out at the beginning.
    pub(in crate::assistant) fn join(&mut self, separator: &str, more: &Self) {
        if !self.text.is_empty() && !more.text.is_empty() {
            self.text.push_str(separator);
        }
        let start = self.text.len();
        self.text.push_str(&more.text);
        self.titles.extend(more.titles.iter().map(|place| place.start + start..place.end + start));
    }

    /// Adds another text on a line of its own, without its first line.
    pub(in crate::assistant) fn join_lines_after_first(&mut self, more: &Self) {
        let Some((heading, lines)) = more.text.split_once('\n') else { return };
        let cut = heading.len() + 1;
        let titles = more.titles.iter().filter(|place| place.start >= cut);
        let titles = titles.map(|place| place.start - cut..place.end - cut).collect();
        self.join("\n", &Self { text: lines.to_owned(), titles });
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the text as it is stored and given to programs.
    pub fn plain(&self) -> &str {
        &self.text
    }

    /// Returns the titles in the text, as they are shown.
    pub fn titles(&self) -> impl Iterator<Item = &str> {
        self.titles.iter().filter_map(|place| self.text.get(place.clone()))
    }

    /// Returns the text for a screen: each title in an isolate, so that a Hebrew title in an English sentence, or the other
    /// way round, does not move what stands beside it.
    pub fn isolated(&self) -> String {
        let mut shown = String::with_capacity(self.text.len() + self.titles.len() * 6);
        let mut at = 0;
        for place in &self.titles {
            shown.push_str(self.text.get(at..place.start).unwrap_or_default());
            shown.push(ISOLATE.0);
            shown.push_str(self.text.get(place.clone()).unwrap_or_default());
            shown.push(ISOLATE.1);
            at = place.end;
        }
        shown.push_str(self.text.get(at..).unwrap_or_default());
        shown
    }
}

/// Returns a title as replies show it: on one line, without control characters and anything like a marker, with a capital
/// first letter, and cut when it is very long.
pub(in crate::assistant) fn shown_title(title: &str) -> String {
    let clean = clean_message(title);
    let one_line = defuse_markers(&clean.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut chars = one_line.chars();
    let mut shown: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    shown.extend(chars.by_ref().take(SHOWN_TITLE_CHARS - 1));
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}
