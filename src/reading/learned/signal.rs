//! What a weight can stand for, and its name: a word, two or three words in a row, a word of the subject, a cue.

use std::fmt;

use crate::plain_text::word_hash::{extend_hash, hash_word};
use crate::reading::sentence::text::Sentence;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal<'a> {
    Word(&'a str),
    Pair(&'a str, &'a str),
    Three(&'a str, &'a str, &'a str),
    /// The first letters of a longer word.
    Stem(&'a str),
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
            Signal::Stem(letters) => write!(f, "stem:{letters}"),
            Signal::Subject(word) => write!(f, "subject:{word}"),
            Signal::Cue(name) => write!(f, "cue:{name}"),
            Signal::SubjectCue(name) => write!(f, "subject_cue:{name}"),
            Signal::Again(name) => write!(f, "again:{name}"),
        }
    }
}

impl Signal<'_> {
    /// As a person reads it: words in quotes, cues by name.
    pub(in crate::reading) fn describe(&self) -> String {
        match self {
            Signal::Word(word) | Signal::Subject(word) | Signal::Stem(word) => format!("“{word}”"),
            Signal::Pair(a, b) => format!("“{}”", format!("{a} {b}").trim_matches(['^', '$', ' '])),
            Signal::Three(a, b, c) => format!("“{}”", format!("{a} {b} {c}").trim_matches(['^', '$', ' '])),
            Signal::Cue(name) | Signal::Again(name) | Signal::SubjectCue(name) => name.replace('_', " "),
        }
    }

    /// The key of its row, without writing its name.
    pub(crate) fn row_key(&self) -> u64 {
        match self {
            Signal::Word(word) => SignalKey::WORD.with_hash(hash_word(word)),
            Signal::Pair(a, b) => SignalKey::PAIR.with_hash(hash_word(a)).with_hash(hash_word(b)),
            Signal::Three(a, b, c) => {
                SignalKey::THREE.with_hash(hash_word(a)).with_hash(hash_word(b)).with_hash(hash_word(c))
            }
            Signal::Stem(letters) => SignalKey::STEM.with_hash(hash_word(letters)),
            Signal::Subject(word) => SignalKey::SUBJECT.with_hash(hash_word(word)),
            Signal::Cue(name) => SignalKey::CUE.with_hash(hash_word(name)),
            Signal::SubjectCue(name) => SignalKey::SUBJECT_CUE.with_hash(hash_word(name)),
            Signal::Again(name) => SignalKey::AGAIN.with_hash(hash_word(name)),
        }
        .finish()
    }

    /// The signal of a name, as the weights' file has it.
    pub(crate) fn parse(name: &str) -> Option<Signal<'_>> {
        let (sort, rest) = name.split_once(':')?;
        let mut words = rest.split(' ');
        let mut word = || words.next();
        Some(match sort {
            "word" => Signal::Word(rest),
            "pair" => Signal::Pair(word()?, word()?),
            "three" => Signal::Three(word()?, word()?, word()?),
            "stem" => Signal::Stem(rest),
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
pub(super) struct SignalKey(u64);

impl SignalKey {
    pub(super) const WORD: SignalKey = SignalKey::for_kind(1);
    pub(super) const PAIR: SignalKey = SignalKey::for_kind(2);
    pub(super) const THREE: SignalKey = SignalKey::for_kind(3);
    const SUBJECT: SignalKey = SignalKey::for_kind(4);
    const CUE: SignalKey = SignalKey::for_kind(5);
    const SUBJECT_CUE: SignalKey = SignalKey::for_kind(6);
    const AGAIN: SignalKey = SignalKey::for_kind(7);
    const STEM: SignalKey = SignalKey::for_kind(8);

    /// Far apart: a word's number has few bits when the word is short.
    const fn for_kind(sort: u64) -> SignalKey {
        SignalKey(sort.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    #[inline]
    pub(super) fn with_hash(self, word: u64) -> SignalKey {
        SignalKey((self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    #[inline]
    pub(super) fn finish(self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

/// Longer words are addresses and noise.
const LONGEST_WORD: usize = 24;
/// Every number is this word.
pub(super) const NUMBER: &str = "#";

/// Words as the weights know them: numbers are one word, question and exclamation marks are words.
pub(in crate::reading) fn tokenise(plain: &str) -> impl Iterator<Item = &str> {
    tokenise_and_hash(plain).map(|term| term.text(plain))
}

/// One word of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HashedWord {
    pub(super) hash: u64,
    start: u32,
    /// A number has none, because all are one word.
    length: u32,
}

impl HashedWord {
    const NUMBER_HASH: u64 = b'#' as u64;

    /// `plain` is where it was found.
    pub(super) fn text<'a>(&self, plain: &'a str) -> &'a str {
        if self.length == 0 {
            return NUMBER;
        }
        let start = self.start as usize;
        plain.get(start..start + self.length as usize).unwrap_or_default()
    }
}

#[inline]
pub(super) fn tokenise_and_hash(plain: &str) -> impl Iterator<Item = HashedWord> {
    let bytes = plain.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let first = loop {
                let (sort, length) = CharKind::classify_at(plain, bytes, at)?;
                match sort {
                    CharKind::Space | CharKind::Apostrophe => at += length,
                    sort => break sort,
                }
            };
            let (start, mut end, mut known, mut key) = (at, at, 0, 0);
            loop {
                while let Some(byte) = bytes.get(at).filter(|byte| byte.is_ascii_alphanumeric()) {
                    key = extend_hash(key, *byte);
                    at += 1;
                    (end, known) = (at, key);
                }
                // An apostrophe, a letter of another script, or a mark that is a word by itself.
                let (sort, length) = CharKind::classify_at(plain, bytes, at).unwrap_or((CharKind::Space, 0));
                if sort == CharKind::Space || (sort == CharKind::Mark && at > start) {
                    break;
                }
                key = bytes
                    .get(at..at + length)
                    .unwrap_or_default()
                    .iter()
                    .fold(key, |key, byte| extend_hash(key, *byte));
                at += length;
                if sort != CharKind::Apostrophe {
                    (end, known) = (at, key);
                }
                if sort == CharKind::Mark {
                    break;
                }
            }
            if first == CharKind::Digit {
                return Some(HashedWord { hash: HashedWord::NUMBER_HASH, start: start as u32, length: 0 });
            }
            if end - start <= LONGEST_WORD {
                return Some(HashedWord { hash: known, start: start as u32, length: (end - start) as u32 });
            }
        }
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharKind {
    Letter,
    Digit,
    Apostrophe,
    /// A word by itself.
    Mark,
    Space,
}

impl CharKind {
    #[expect(clippy::indexing_slicing, reason = "a constant: the compiler has seen that it fits")]
    const ASCII_KINDS: [CharKind; 128] = {
        let mut sorts = [Self::Space; 128];
        let mut byte = 0;
        while byte < 128 {
            sorts[byte] = match byte as u8 {
                b'a'..=b'z' | b'A'..=b'Z' => Self::Letter,
                b'0'..=b'9' => Self::Digit,
                b'\'' => Self::Apostrophe,
                b'?' | b'!' | b'$' | b'%' => Self::Mark,
                _ => Self::Space,
            };
            byte += 1;
        }
        sorts
    };

    /// Returns the kind and the length of the character at a place. Almost all are ASCII, and not decoded.
    #[inline]
    fn classify_at(plain: &str, bytes: &[u8], at: usize) -> Option<(Self, usize)> {
        let byte = *bytes.get(at)?;
        if let Some(sort) = Self::ASCII_KINDS.get(usize::from(byte)) {
            return Some((*sort, 1));
        }
        let c = plain.get(at..)?.chars().next()?;
        let letter = matches!(c, 'א'..='ת') || c.is_alphanumeric();
        Some((if letter { Self::Letter } else { Self::Space }, c.len_utf8()))
    }
}

/// Every signal of one sentence's words, with its ends.
pub(in crate::reading) fn emit_sentence_signals<'a>(sentence: &'a Sentence<'_>, mut take: impl FnMut(Signal<'a>)) {
    let (mut before, mut last) = ("", "^");
    for word in tokenise(&sentence.normalised) {
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
    use crate::reading::sentence::text::split_sentences;

    #[test]
    fn a_name_and_its_signal_agree() {
        for signal in [
            Signal::Word("please"),
            Signal::Pair("^", "please"),
            Signal::Three("let", "me", "know"),
            Signal::Stem("remi"),
            Signal::Subject("דחוף"),
            Signal::Cue("urgent"),
            Signal::SubjectCue("urgent"),
            Signal::Again("urgent"),
        ] {
            assert_eq!(Signal::parse(&signal.to_string()), Some(signal));
        }
    }

    #[test]
    fn words_of_a_sentence() {
        let text = split_sentences("Can't you pay $20 by 5pm? 'Now'!");
        let words: Vec<_> = tokenise(&text[0].normalised).collect();
        assert_eq!(words, ["can't", "you", "pay", "$", "#", "by", "#", "?"]);
        let mut named = Vec::new();
        emit_sentence_signals(&split_sentences("Call me")[0], |signal| named.push(signal.to_string()));
        let expected =
            ["word:call", "pair:^ call", "word:me", "pair:call me", "three:^ call me", "pair:me $", "three:call me $"];
        assert_eq!(named, expected);
    }
}
