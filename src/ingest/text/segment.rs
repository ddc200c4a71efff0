//! The lines of a text as sentences that know where they stand, so that single ones can be left out.

use std::{borrow::Cow, ops::Range};

/// A line that is at least so long may go on in the next one when that starts with a small letter.
const WRAPPED_CHARS: usize = 45;
/// A line that is at least so long may go on in the next one whatever that starts with.
const FULL_LINE_CHARS: usize = 60;

/// A sentence, or the part of one that stands in one line.
#[derive(Debug, Clone, Copy)]
struct Piece<'a> {
    line: usize,
    text: &'a str,
}

/// A sentence over one line or several.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pieces: Range<usize>,
    /// The line it begins in.
    pub(super) line: usize,
    /// Paragraphs are parted by empty lines.
    pub(super) paragraph: usize,
    /// How many lines that hold something stand above.
    pub(super) filled_above: usize,
}

#[derive(Debug, Default)]
pub(super) struct Segments<'a> {
    pieces: Vec<Piece<'a>>,
    pub(super) all: Vec<Segment>,
    pub(super) filled_lines: usize,
}

impl<'a> Segments<'a> {
    pub(super) fn new(lines: &[&'a str]) -> Self {
        let mut segments = Self::default();
        let mut paragraph = 0;
        let mut open = false;
        let mut above = "";
        for (at, line) in lines.iter().enumerate() {
            let text = line.trim();
            if text.is_empty() {
                paragraph += 1;
                open = false;
                continue;
            }
            open = open && goes_on(above, text);
            for sentence in split_sentences(text) {
                segments.push(Piece { line: at, text: sentence }, paragraph, open);
                open = false;
            }
            open = !ends_sentence(text);
            above = text;
            segments.filled_lines += 1;
        }
        segments
    }

    fn push(&mut self, piece: Piece<'a>, paragraph: usize, open: bool) {
        self.pieces.push(piece);
        let end = self.pieces.len();
        match self.all.last_mut().filter(|_| open) {
            Some(last) => last.pieces.end = end,
            None => self.all.push(Segment {
                pieces: end - 1..end,
                line: piece.line,
                paragraph,
                filled_above: self.filled_lines,
            }),
        }
    }

    /// Returns the first piece of a sentence: what it begins with.
    pub(super) fn head(&self, segment: &Segment) -> &'a str {
        self.pieces.get(segment.pieces.start).map_or("", |piece| piece.text)
    }

    pub(super) fn text(&self, segment: &Segment) -> Cow<'a, str> {
        match self.pieces.get(segment.pieces.clone()).unwrap_or_default() {
            [] => Cow::Borrowed(""),
            [one] => Cow::Borrowed(one.text),
            more => Cow::Owned(more.iter().map(|piece| piece.text).collect::<Vec<_>>().join(" ")),
        }
    }

    /// Parts the lines into those that are kept and those that are cut, by a mark for each sentence.
    pub(super) fn part(&self, lines: &[&'a str], cut: &[bool]) -> (Vec<Cow<'a, str>>, Vec<&'a str>) {
        let mut left_out = vec![false; self.pieces.len()];
        for (segment, _) in self.all.iter().zip(cut).filter(|(_, cut)| **cut) {
            left_out.get_mut(segment.pieces.clone()).unwrap_or_default().fill(true);
        }
        let mut kept = Vec::with_capacity(lines.len());
        let mut removed = Vec::new();
        let mut next = 0;
        for (at, line) in lines.iter().enumerate() {
            let start = next;
            while self.pieces.get(next).is_some_and(|piece| piece.line == at) {
                next += 1;
            }
            let pieces = self.pieces.get(start..next).unwrap_or_default();
            let marks = left_out.get(start..next).unwrap_or_default();
            if !marks.contains(&true) {
                kept.push(Cow::Borrowed(*line));
                continue;
            }
            let of =
                |cut: bool| pieces.iter().zip(marks).filter(move |(_, mark)| **mark == cut).map(|(one, _)| one.text);
            removed.extend(of(true));
            let rest: Vec<_> = of(false).collect();
            if !rest.is_empty() {
                kept.push(Cow::Owned(rest.join(" ")));
            }
        }
        (kept, removed)
    }
}

/// Returns whether a sentence that is open at the end of a line goes on in the next one. Behind an address and around a
/// ruled line it does not.
fn goes_on(line: &str, next: &str) -> bool {
    let is_rule = |line: &str| !line.contains(char::is_alphanumeric);
    let ends_with_link = line.split_whitespace().next_back().is_some_and(|word| word.contains("://"));
    if ends_with_link || is_rule(line) || is_rule(next) {
        return false;
    }
    let first = next.chars().next().unwrap_or(' ');
    let continues =
        first.is_lowercase() || (first.is_alphabetic() && !first.is_uppercase()) || matches!(first, '<' | '(');
    let length = line.chars().count();
    // A line of a signature ends with a number, a sentence seldom does.
    let ends_with_number = line.ends_with(|c: char| c.is_ascii_digit());
    (continues && length >= WRAPPED_CHARS) || (!starts_item(next) && !ends_with_number && length >= FULL_LINE_CHARS)
}

/// Returns whether a line is an item of a list.
pub(super) fn starts_item(line: &str) -> bool {
    let mark = line.split_whitespace().next().unwrap_or_default();
    let number = mark.trim_end_matches(['.', ')']);
    matches!(mark, "-" | "*" | "•" | "–" | "+" | "·")
        || (number.len() < mark.len() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn ends_sentence(text: &str) -> bool {
    text.ends_with(['.', '!', '?', ':', '。', '！', '？'])
}

/// Splits a line after each mark that ends a sentence and is followed by a space.
fn split_sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .char_indices()
            .find(|(at, c)| match c {
                '.' | '!' | '?' => ends_here(rest, at + 1),
                '。' | '！' | '？' => true,
                _ => false,
            })
            .map_or(rest.len(), |(at, c)| at + c.len_utf8());
        let (sentence, below) = rest.split_at_checked(end).unwrap_or((rest, ""));
        rest = below.trim_start();
        Some(sentence)
    })
}

/// Returns whether a sentence ends before this place: a space follows, and it is not the point of `Str. 12`.
fn ends_here(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let mut next = after.chars();
    let spaced = next.next().is_none_or(char::is_whitespace);
    let number = next.next().is_some_and(|c| c.is_ascii_digit());
    let short = || before.split_whitespace().next_back().is_some_and(|word| word.len() <= 5 && word.ends_with('.'));
    spaced && !(number && short())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let lines: Vec<_> = text.lines().collect();
        let segments = Segments::new(&lines);
        let found: Vec<_> = segments.all.iter().map(|segment| segments.text(segment)).collect();
        assert_eq!(found, expected, "{text}");
        let (kept, removed) = segments.part(&lines, &vec![false; found.len()]);
        assert_eq!((kept, removed.len()), (lines.iter().map(|line| Cow::Borrowed(*line)).collect::<Vec<_>>(), 0));
    }

    #[test]
    fn sentences_know_their_lines() {
        check("One. Two! Three", &["One.", "Two!", "Three"]);
        check("Short\nShort too", &["Short", "Short too"]);
        check(
            "A line that is long enough to have been wrapped here\nand goes on. Next\n\nlast",
            &["A line that is long enough to have been wrapped here and goes on.", "Next", "last"],
        );
        check(&format!("{0}\n{0}", "_".repeat(70)), &["_".repeat(70).as_str(); 2]);
        check("www.x.example/a.html v1.2", &["www.x.example/a.html v1.2"]);
        check("一。二。", &["一。", "二。"]);
        check("Lange Str. 12. Tel. 040 1. Next", &["Lange Str. 12.", "Tel. 040 1.", "Next"]);
        check("", &[]);
    }

    #[test]
    fn single_sentences_are_left_out() {
        let lines = ["One. Two. Three.", "", "Four."];
        let segments = Segments::new(&lines);
        let (kept, removed) = segments.part(&lines, &[false, true, false, true]);
        assert_eq!((kept.join("|"), removed.join("|")), ("One. Three.|".into(), "Two.|Four.".into()));
    }
}
