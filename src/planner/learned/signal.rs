//! What a weight can stand for, and its name: a word, two or three words in a row, a word of the subject, a cue.

use std::fmt;

use crate::planner::text::Sentence;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::planner) enum Signal<'a> {
    Word(&'a str),
    Pair(&'a str, &'a str),
    Three(&'a str, &'a str, &'a str),
    Subject(&'a str),
    Cue(&'a str),
    /// A cue about the subject alone.
    SubjectCue(&'a str),
    /// A cue seen more than once.
    Again(&'a str),
}

impl fmt::Display for Signal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Signal::Word(word) => write!(f, "word:{word}"),
            Signal::Pair(a, b) => write!(f, "pair:{a} {b}"),
            Signal::Three(a, b, c) => write!(f, "three:{a} {b} {c}"),
            Signal::Subject(word) => write!(f, "subject:{word}"),
            Signal::Cue(name) => write!(f, "cue:{name}"),
            Signal::SubjectCue(name) => write!(f, "subject_cue:{name}"),
            Signal::Again(name) => write!(f, "again:{name}"),
        }
    }
}

impl Signal<'_> {
    /// As a person reads it: words in quotes, cues by name.
    pub(in crate::planner) fn spoken(&self) -> String {
        match self {
            Signal::Word(word) | Signal::Subject(word) => format!("“{word}”"),
            Signal::Pair(a, b) => format!("“{}”", format!("{a} {b}").trim_matches(['^', '$', ' '])),
            Signal::Three(a, b, c) => format!("“{}”", format!("{a} {b} {c}").trim_matches(['^', '$', ' '])),
            Signal::Cue(name) | Signal::Again(name) | Signal::SubjectCue(name) => name.replace('_', " "),
        }
    }

    /// The key of its row, without writing its name.
    pub(super) fn key(&self) -> u64 {
        match self {
            Signal::Word(word) => Key::WORD.with(hash(word)),
            Signal::Pair(a, b) => Key::PAIR.with(hash(a)).with(hash(b)),
            Signal::Three(a, b, c) => Key::THREE.with(hash(a)).with(hash(b)).with(hash(c)),
            Signal::Subject(word) => Key::SUBJECT.with(hash(word)),
            Signal::Cue(name) => Key::CUE.with(hash(name)),
            Signal::SubjectCue(name) => Key::SUBJECT_CUE.with(hash(name)),
            Signal::Again(name) => Key::AGAIN.with(hash(name)),
        }
        .done()
    }

    /// The signal of a name, as the weights' file has it.
    pub(super) fn named(name: &str) -> Option<Signal<'_>> {
        let (sort, rest) = name.split_once(':')?;
        let mut words = rest.split(' ');
        let mut word = || words.next();
        Some(match sort {
            "word" => Signal::Word(rest),
            "pair" => Signal::Pair(word()?, word()?),
            "three" => Signal::Three(word()?, word()?, word()?),
            "subject" => Signal::Subject(rest),
            "cue" => Signal::Cue(rest),
            "subject_cue" => Signal::SubjectCue(rest),
            "again" => Signal::Again(rest),
            _ => return None,
        })
    }
}

/// A key in the making: the sort of signal, then its words. A word is hashed once, however many signals it is part of.
#[derive(Clone, Copy)]
pub(super) struct Key(u64);

impl Key {
    pub(super) const WORD: Key = Key(1);
    pub(super) const PAIR: Key = Key(2);
    pub(super) const THREE: Key = Key(3);
    const SUBJECT: Key = Key(4);
    const CUE: Key = Key(5);
    const SUBJECT_CUE: Key = Key(6);
    const AGAIN: Key = Key(7);

    pub(super) fn with(self, hash: u64) -> Key {
        Key((self.0.rotate_left(23) ^ hash).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(super) fn done(self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

/// FNV-1a: short words, and no hostile ones (the table is ours).
pub(super) fn hash(word: &str) -> u64 {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    word.bytes().fold(START, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Longer words are addresses and noise.
const LONGEST_WORD: usize = 24;
/// Every number is this word.
pub(super) const NUMBER: &str = "#";

/// Words as the weights know them: numbers are one word, question and exclamation marks are words.
pub(in crate::planner) fn terms(plain: &str) -> impl Iterator<Item = &str> {
    placed(plain).map(|(_, word)| word)
}

/// The words with where they start.
pub(super) fn placed(plain: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = plain;
    std::iter::from_fn(move || {
        loop {
            rest = rest.get(span(rest, Sort::Space)..).filter(|rest| !rest.is_empty())?;
            let (word, after) = rest.split_at_checked(span(rest, Sort::Letter).max(1))?;
            let (start, bare) = (plain.len() - rest.len(), word.trim_start_matches('\''));
            rest = after;
            let start = start + word.len() - bare.len();
            let word = bare.trim_end_matches('\'');
            if word.as_bytes().first().is_some_and(u8::is_ascii_digit) {
                return Some((start, NUMBER));
            }
            if !word.is_empty() && word.len() <= LONGEST_WORD {
                return Some((start, word));
            }
        }
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Letter,
    /// A word by itself.
    Mark,
    Space,
}

impl Sort {
    const fn of_ascii(byte: u8) -> Self {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'\'' => Self::Letter,
            b'?' | b'!' | b'$' | b'%' => Self::Mark,
            _ => Self::Space,
        }
    }

    fn of(c: char) -> Self {
        if matches!(c, 'א'..='ת') || c.is_alphanumeric() { Self::Letter } else { Self::Space }
    }
}

/// How many bytes of characters of this sort stand at the head. Almost all are ASCII, and not decoded.
fn span(text: &str, sort: Sort) -> usize {
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        if byte.is_ascii() {
            if Sort::of_ascii(*byte) != sort {
                break;
            }
            at += 1;
            continue;
        }
        match text.get(at..).and_then(|text| text.chars().next()).filter(|c| Sort::of(*c) == sort) {
            Some(c) => at += c.len_utf8(),
            None => break,
        }
    }
    at
}

/// Every signal of one sentence's words, with its ends.
pub(in crate::planner) fn of_sentence<'a>(sentence: &'a Sentence<'_>, mut take: impl FnMut(Signal<'a>)) {
    let (mut before, mut last) = ("", "^");
    for word in terms(&sentence.plain) {
        take(Signal::Word(word));
        take(Signal::Pair(last, word));
        if !before.is_empty() {
            take(Signal::Three(before, last, word));
        }
        (before, last) = (last, word);
    }
    take(Signal::Pair(last, "$"));
    if !before.is_empty() {
        take(Signal::Three(before, last, "$"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::text::sentences;

    #[test]
    fn a_name_and_its_signal_agree() {
        for signal in [
            Signal::Word("please"),
            Signal::Pair("^", "please"),
            Signal::Three("let", "me", "know"),
            Signal::Subject("דחוף"),
            Signal::Cue("urgent"),
            Signal::SubjectCue("urgent"),
            Signal::Again("urgent"),
        ] {
            assert_eq!(Signal::named(&signal.to_string()), Some(signal));
        }
    }

    #[test]
    fn words_of_a_sentence() {
        let text = sentences("Can't you pay $20 by 5pm? 'Now'!");
        let words: Vec<_> = terms(&text[0].plain).collect();
        assert_eq!(words, ["can't", "you", "pay", "$", "#", "by", "#", "?"]);
        let mut named = Vec::new();
        of_sentence(&sentences("Call me")[0], |signal| named.push(signal.to_string()));
        let expected =
            ["word:call", "pair:^ call", "word:me", "pair:call me", "three:^ call me", "pair:me $", "three:call me $"];
        assert_eq!(named, expected);
    }
}
