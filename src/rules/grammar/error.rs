//! What is wrong with a rules file: the place, what was found and what was expected, with the line itself and a caret.
//!
//! An error never shows more of the file than that one line, and no character of it reaches a terminal that the
//! terminal would obey.

use std::fmt;

/// A place in the file, counted from 1. Line 0 stands for the file as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

/// What was found and what was expected, not yet tied to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::rules) struct Fault {
    pub(in crate::rules) at: Position,
    /// How many characters the caret underlines.
    pub(in crate::rules) width: usize,
    pub(in crate::rules) found: String,
    pub(in crate::rules) expected: String,
}

impl Fault {
    pub(in crate::rules) fn new(at: Position, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { at, width: 1, found: found.into(), expected: expected.into() }
    }

    /// Sets how many characters the caret underlines.
    pub(in crate::rules) fn with_width(self, width: usize) -> Self {
        Self { width, ..self }
    }
}

/// Why a rules file does not take effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct RulesError {
    pub file: String,
    pub at: Position,
    pub found: String,
    pub expected: String,
    /// The offending line, as it stands in the file.
    pub line: String,
    width: usize,
}

/// The most of a line that is shown, so that a minified or hostile line does not fill the screen.
const MAX_SHOWN_CHARS: usize = 160;

impl RulesError {
    /// Ties a fault to its file and copies the line it is about.
    pub(in crate::rules) fn from_fault(file: &str, text: &str, fault: Fault) -> Self {
        let line = fault.at.line.checked_sub(1).and_then(|index| text.lines().nth(index)).unwrap_or_default();
        let Fault { at, width, found, expected } = fault;
        Self { file: file.to_owned(), at, found, expected, line: line.to_owned(), width }
    }

    /// Describes a file that could not be read or is too large to be parsed.
    pub(in crate::rules) fn for_whole_file(file: &str, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::from_fault(file, "", Fault::new(Position::default(), found, expected))
    }
}

impl RulesError {
    /// Returns the place, what was found and what was expected, without the line itself.
    pub fn in_one_line(&self) -> String {
        let place = if self.at.line > 0 { format!(":{}:{}", self.at.line, self.at.column) } else { String::new() };
        format!("{}{place}: {}; expected {}", self.file, mask_control_chars(&self.found), self.expected)
    }
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_one_line())?;
        let indent = self.at.column.saturating_sub(1);
        if self.at.line == 0 || indent > MAX_SHOWN_CHARS {
            return Ok(());
        }
        let shown: String = mask_control_chars(&self.line).chars().take(MAX_SHOWN_CHARS).collect();
        let room = shown.chars().count().saturating_sub(indent).max(1);
        let (number, caret) = (self.at.line.to_string(), "^".repeat(self.width.clamp(1, room)));
        let gutter = " ".repeat(number.len());
        write!(f, "\n {gutter} |\n {number} | {shown}\n {gutter} | {}{caret}", " ".repeat(indent))
    }
}

/// Replaces control characters, and those that change the direction of text, by a dot.
pub(in crate::rules) fn mask_control_chars(text: &str) -> String {
    let obeyed = |c: char| {
        c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if obeyed(c) { '·' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: usize, column: usize, width: usize, expected: &str) {
        let fault = Fault::new(Position { line, column }, "'x'", "y").with_width(width);
        assert_eq!(RulesError::from_fault("f.yml", "a: 1\nbad: [x]\n", fault).to_string(), expected);
    }

    #[test]
    fn the_caret_stands_under_the_place() {
        check(2, 7, 1, "f.yml:2:7: 'x'; expected y\n   |\n 2 | bad: [x]\n   |       ^");
        check(2, 1, 3, "f.yml:2:1: 'x'; expected y\n   |\n 2 | bad: [x]\n   | ^^^");
        check(2, 7, 99, "f.yml:2:7: 'x'; expected y\n   |\n 2 | bad: [x]\n   |       ^^");
        check(0, 0, 1, "f.yml: 'x'; expected y");
    }

    #[test]
    fn nothing_a_terminal_obeys_is_shown() {
        assert_eq!(mask_control_chars("a\u{1b}[2J\tb\u{202e}c\u{200b}d"), "a·[2J·b·c·d");
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        let fault = Fault::new(Position { line: 1, column: 1 }, "\u{1b}[31m", "y");
        let shown = RulesError::from_fault("f.yml", "\u{1b}[2J\u{202e}\tx", fault).to_string();
        assert!(!shown.contains(['\u{1b}', '\u{202e}', '\t']), "{shown:?}");
    }
}
