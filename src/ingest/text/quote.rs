//! Which lines of a body the sender wrote, which were quoted, and which were forwarded.
//!
//! A forward carries its content; a reply carries only its own words, also those between quotes.

use super::{
    attribution::{attribution_len, is_quote_next, is_quoted, strip_quote_marks},
    client_words::{Kind, WORDS},
    header_block::{header_block_len, parse_field},
    phrase_set::fold,
};

/// The head of an earlier mail under a ruled line ends within so many lines.
const HEAD_LINES: usize = 14;
/// A ruled line without words has at least so many characters.
const MIN_RULE_CHARS: usize = 20;
/// A ruled line with words has at most so many bytes.
const MAX_MARKER_BYTES: usize = 160;

#[derive(Debug, Default)]
pub(crate) struct SplitBody<'a> {
    pub(crate) own: Vec<&'a str>,
    /// From the forward's marker on.
    pub(crate) forwarded: Vec<&'a str>,
    /// What they answer, without marks of quotation. Empty in a forward, which is the sender's message.
    pub(crate) quoted: Vec<&'a str>,
}

pub(crate) fn split_quotes<'a>(lines: &[&'a str], subject: &str) -> SplitBody<'a> {
    let mut split = Splitter::new(subject);
    let mut at = 0;
    while let Some(rest) = lines.get(at..).filter(|rest| !rest.is_empty()) {
        match split.take_next(rest) {
            Some(len) => at += len,
            None => break,
        }
    }
    split.finish(lines)
}

/// What was seen of a body so far.
struct Splitter<'a> {
    split: SplitBody<'a>,
    is_forward: bool,
    is_reply: bool,
    /// The last line of their own that holds something. Asked at every header block, so kept and not looked for.
    last_own: Option<&'a str>,
    /// A quote was seen that is marked, so that lines without a mark are answers.
    answered: bool,
}

impl<'a> Splitter<'a> {
    fn new(subject: &str) -> Self {
        Self {
            split: SplitBody::default(),
            is_forward: is_forward_subject(subject),
            is_reply: has_prefix(subject, Kind::ReplySubject),
            last_own: None,
            answered: false,
        }
    }

    /// Takes the first line, or as many as belong together. Returns their number; none when nothing below is their own.
    fn take_next(&mut self, rest: &[&'a str]) -> Option<usize> {
        let line = *rest.first()?;
        let text = line.trim();
        if is_forward_marker(text) || (!self.answered && is_quoted(text) && is_forward_marker(strip_quote_marks(text)))
        {
            self.split.forwarded = rest.to_vec();
            return None;
        }
        if let Some(len) = earlier_mail_head_len(rest) {
            let marked = is_quote_next(rest.get(len..).unwrap_or_default()) && !self.is_forward;
            return self.take_quote(rest, len, 0, marked);
        }
        if let Some(len) = attribution_len(rest) {
            let marked = is_quote_next(rest.get(len..).unwrap_or_default());
            return self.take_quote(rest, len, len, marked);
        }
        if is_quoted(line) {
            self.split.quoted.push(strip_quote_marks(text));
        } else {
            self.last_own = Some(text).filter(|text| !text.is_empty()).or(self.last_own);
            self.split.own.push(line);
        }
        Some(1)
    }

    /// Takes the head of an earlier mail. Where that mail is marked, lines without a mark are answers; otherwise nothing
    /// below is the sender's own. What is handed on begins with the line `handed_on`.
    fn take_quote(&mut self, rest: &[&'a str], len: usize, handed_on: usize, marked: bool) -> Option<usize> {
        if marked {
            self.answered = true;
            return Some(len);
        }
        // With nothing above it, or announced by a colon, it is not what they answer but something handed on.
        let announced = !self.is_reply && self.last_own.is_some_and(|line| line.ends_with(':'));
        if self.is_forward || announced || self.last_own.is_none() {
            self.split.forwarded = rest.get(handed_on..).unwrap_or_default().to_vec();
        } else {
            let below = rest.get(len..).unwrap_or_default();
            self.split.quoted.extend(below.iter().map(|line| strip_quote_marks(line.trim())));
        }
        None
    }

    fn finish(self, lines: &[&'a str]) -> SplitBody<'a> {
        let mut split = self.split;
        // Quote marks and nothing else: the sender's way of setting text apart.
        if !self.answered && self.last_own.is_none() && split.forwarded.is_empty() {
            split.own = lines.to_vec();
        }
        if !split.forwarded.is_empty() {
            split.quoted.clear();
        }
        split
    }
}

pub(crate) fn is_forward_subject(subject: &str) -> bool {
    has_prefix(subject, Kind::ForwardSubject)
}

/// Returns whether the subject starts with one of these words and a colon, in brackets or not.
fn has_prefix(subject: &str, kind: Kind) -> bool {
    let subject = subject.trim_start_matches(['[', ' ']);
    let head = fold(subject.get(..subject.floor_char_boundary(40)).unwrap_or_default());
    head.split_once(':').is_some_and(|(prefix, _)| WORDS.of(kind).is_whole(prefix.trim_end()))
}

/// `---------- Forwarded message ---------`, `Begin forwarded message:`.
fn is_forward_marker(text: &str) -> bool {
    if text.len() > MAX_MARKER_BYTES {
        return false;
    }
    match text_inside_rule(text) {
        Some(inner) => WORDS.of(Kind::Forwarded).is_start(&fold(inner)),
        None => text.ends_with([':', '：']) && WORDS.of(Kind::ForwardLine).is_whole(&fold(text)),
    }
}

/// The words inside a ruled line, `-----Original Message-----`.
fn text_inside_rule(text: &str) -> Option<&str> {
    let is_rule = |c: char| matches!(c, '-' | '_' | '=' | '*' | '#' | '–' | '—' | '~') || c.is_whitespace();
    let mut chars = text.chars();
    let ruled =
        chars.next().is_some_and(|first| !first.is_alphanumeric() && is_rule(first) && chars.next() == Some(first));
    let inner = || text.trim_matches(is_rule);
    (ruled && text.len() <= MAX_MARKER_BYTES).then(inner).filter(|inner| !inner.is_empty())
}

/// Returns the number of lines of the head under which an earlier mail stands: a ruled line, a header block, or both.
fn earlier_mail_head_len(lines: &[&str]) -> Option<usize> {
    let first = lines.first()?.trim();
    let is_marker = text_inside_rule(first).is_some_and(|inner| WORDS.of(Kind::Original).is_start(&fold(inner)));
    if is_marker {
        return Some(1 + fields_len(lines.get(1..).unwrap_or_default()));
    }
    if is_rule(first) {
        let below = lines.iter().take(4).skip(1).position(|line| !line.trim().is_empty())? + 1;
        return Some(below + header_block_len(lines.get(below..)?)?);
    }
    header_block_len(lines)
}

/// Returns the number of lines that hold header fields or nothing.
fn fields_len(lines: &[&str]) -> usize {
    let is_head = |line: &&&str| line.trim().is_empty() || parse_field(line).is_some();
    lines.iter().take(HEAD_LINES).take_while(is_head).count()
}

fn is_rule(text: &str) -> bool {
    text.starts_with(['-', '_', '='])
        && text.len() >= MIN_RULE_CHARS
        && text.chars().all(|c| matches!(c, '_' | '-' | '='))
}

#[cfg(test)]
#[path = "quote_tests.rs"]
mod tests;
