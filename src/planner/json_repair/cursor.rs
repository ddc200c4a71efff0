//! The position in the text, with the white space, comments and lookahead that every part of the reader needs.

use std::collections::BTreeSet;

use super::{JsonRepairError, RepairDoubt};

/// How far the reader looks ahead to decide whether a key follows, in characters. The bound keeps the time linear.
pub(super) const MAX_LOOKAHEAD: usize = 160;

/// The containers that are open around the position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    Object,
    Array,
}

/// A text with a position, the open containers, and the doubts so far.
pub(super) struct Cursor {
    chars: Vec<char>,
    pub(super) position: usize,
    pub(super) open: Vec<Container>,
    /// How many wrapping calls, such as `ObjectId(`, are open.
    pub(super) wrapping_calls: usize,
    pub(super) doubts: BTreeSet<RepairDoubt>,
}

impl Cursor {
    pub(super) fn new(text: &str) -> Self {
        Self {
            chars: text.chars().collect(),
            position: 0,
            open: Vec::new(),
            wrapping_calls: 0,
            doubts: BTreeSet::new(),
        }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.at(self.position)
    }

    pub(super) fn at(&self, position: usize) -> Option<char> {
        self.chars.get(position).copied()
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.position >= self.chars.len()
    }

    /// Returns the next character and moves behind it.
    pub(super) fn take(&mut self) -> Option<char> {
        let next = self.peek();
        self.position += usize::from(next.is_some());
        next
    }

    /// Moves behind the character if it is next. Returns whether it was.
    pub(super) fn take_if(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.position += usize::from(found);
        found
    }

    pub(super) fn starts_with(&self, position: usize, wanted: &str) -> bool {
        wanted.chars().enumerate().all(|(nth, c)| self.at(position + nth) == Some(c))
    }

    pub(super) fn text_between(&self, from: usize, to: usize) -> String {
        self.chars.get(from..to.max(from)).unwrap_or_default().iter().collect()
    }

    pub(super) fn error<T>(&self, what: &'static str) -> Result<T, JsonRepairError> {
        Err(JsonRepairError::Unreadable { what, at: self.position })
    }

    pub(super) fn doubt(&mut self, doubt: RepairDoubt) {
        self.doubts.insert(doubt);
    }

    /// Moves behind white space and comments.
    pub(super) fn skip_space(&mut self) {
        self.position = self.after_space(self.position);
    }

    /// Returns the position behind the white space and the comments at `position`.
    pub(super) fn after_space(&self, mut position: usize) -> usize {
        loop {
            match self.at(position) {
                Some(c) if c.is_whitespace() || c == '\u{feff}' => position += 1,
                Some('/') if self.at(position + 1) == Some('*') => position = self.after_block_comment(position),
                Some('/') if self.at(position + 1) == Some('/') => position = self.line_end(position),
                Some('#') if self.is_line_comment(position) => position = self.line_end(position),
                _ => return position,
            }
        }
    }

    /// Returns whether the `#` here begins a comment: at the start of a line, or behind white space and before some.
    fn is_line_comment(&self, position: usize) -> bool {
        let before = position.checked_sub(1).and_then(|before| self.at(before));
        before.is_none_or(char::is_whitespace) && self.at(position + 1).is_none_or(|c| c.is_whitespace() || c == '!')
    }

    fn after_block_comment(&self, position: usize) -> usize {
        let mut end = position + 2;
        while end < self.chars.len() && !self.starts_with(end, "*/") {
            end += 1;
        }
        (end + 2).min(self.chars.len())
    }

    fn line_end(&self, mut position: usize) -> usize {
        while self.at(position).is_some_and(|c| c != '\n' && c != '\r') {
            position += 1;
        }
        position
    }

    /// Returns whether a comment begins here.
    pub(super) fn is_comment(&self, position: usize) -> bool {
        match self.at(position) {
            Some('/') => matches!(self.at(position + 1), Some('*' | '/')),
            Some('#') => self.is_line_comment(position),
            _ => false,
        }
    }

    /// Returns whether a quoted or bare key with its colon begins here.
    pub(super) fn is_key_with_colon(&self, position: usize) -> bool {
        match self.at(position) {
            Some(quote) if is_quote(quote) => {
                self.find_quote_end(position).is_some_and(|end| self.at(self.after_space(end + 1)) == Some(':'))
            }
            Some(c) if is_word_char(c) => {
                let mut end = position;
                while end < position + MAX_LOOKAHEAD && self.at(end).is_some_and(is_word_char) {
                    end += 1;
                }
                let colon = self.after_space(end);
                self.at(colon) == Some(':') && !self.starts_with(colon, "://")
            }
            _ => false,
        }
    }

    /// Returns whether a quoted text begins here that may be a key although its colon is missing.
    pub(super) fn may_be_quoted_key(&self, position: usize) -> bool {
        if self.is_key_with_colon(position) {
            return true;
        }
        let Some(end) = self.find_quote_end(position) else { return true };
        let next = self.at(self.after_space(end + 1));
        next.is_none_or(|c| is_quote(c) || c.is_ascii_digit() || matches!(c, '{' | '[' | '-'))
    }

    /// Returns the position of the quote that ends the text begun here, if it ends on the same line and soon.
    fn find_quote_end(&self, position: usize) -> Option<usize> {
        let quote = self.at(position)?;
        let mut end = position + 1;
        while end < position + MAX_LOOKAHEAD {
            match self.at(end)? {
                '\n' => return None,
                '\\' => end += 1,
                c if closes(quote, c) => return Some(end),
                _ => {}
            }
            end += 1;
        }
        None
    }

    /// Returns the last character before `position` that is no white space, and whether a line ends between them.
    pub(super) fn before(&self, position: usize, from: usize) -> (Option<char>, usize, bool) {
        let (mut at, mut newline) = (position, false);
        while at > from {
            at -= 1;
            match self.at(at) {
                Some('\n') => newline = true,
                Some(c) if c.is_whitespace() => {}
                found => return (found, at, newline),
            }
        }
        (None, from, newline)
    }

    /// Returns the position behind the bracket of a wrapping call such as `ObjectId(`, if there is one here.
    pub(super) fn wrapping_call_end(&self) -> Option<usize> {
        let mut end = self.position;
        if !self.at(end).is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$') {
            return None;
        }
        while self.at(end).is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.')) {
            end += 1;
        }
        (self.at(end) == Some('(')).then_some(end + 1)
    }

    /// Returns whether the container is among those that are open, the innermost one left out.
    pub(super) fn is_open_outside(&self, wanted: Container) -> bool {
        self.open.iter().rev().skip(1).any(|open| *open == wanted)
    }
}

/// Returns whether the character can begin a quoted text.
pub(super) const fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '´' | '“' | '”' | '„' | '‘' | '’')
}

/// Returns whether `c` ends a text that `quote` began.
pub(super) const fn closes(quote: char, c: char) -> bool {
    match quote {
        '"' => c == '"',
        '“' | '”' | '„' => matches!(c, '“' | '”' | '"'),
        '‘' | '’' | '`' | '´' => matches!(c, '‘' | '’' | '`' | '´' | '\''),
        _ => c == '\'',
    }
}

/// Returns whether the character can be part of a word without quotes.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.' | '@' | '%' | '#')
}
