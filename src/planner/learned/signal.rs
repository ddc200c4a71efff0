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

    /// The hash of its name, without writing the name.
    pub(super) fn hash(&self) -> u64 {
        match self {
            Signal::Word(word) => feed(feed(START, "word:"), word),
            Signal::Pair(a, b) => feed(feed(feed(feed(START, "pair:"), a), " "), b),
            Signal::Three(a, b, c) => {
                let two = feed(feed(feed(feed(START, "three:"), a), " "), b);
                feed(feed(two, " "), c)
            }
            Signal::Subject(word) => feed(feed(START, "subject:"), word),
            Signal::Cue(name) => feed(feed(START, "cue:"), name),
            Signal::SubjectCue(name) => feed(feed(START, "subject_cue:"), name),
            Signal::Again(name) => feed(feed(START, "again:"), name),
        }
    }
}

pub(super) fn hash_of(name: &str) -> u64 {
    feed(START, name)
}

/// FNV-1a: short keys, no hostile ones (the table is ours).
const START: u64 = 0xcbf2_9ce4_8422_2325;

fn feed(hash: u64, text: &str) -> u64 {
    text.bytes().fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Longer words are addresses and noise.
const LONGEST_WORD: usize = 24;

/// Words as the weights know them: numbers are one word, question and exclamation marks are words.
pub(in crate::planner) fn terms(plain: &str) -> impl Iterator<Item = &str> {
    let letter = |c: char| c.is_alphanumeric() || c == '\'';
    let mut rest = plain;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(|c: char| letter(c) || matches!(c, '?' | '!' | '$' | '%'))?;
            rest = rest.get(start..)?;
            let end = rest.find(|c: char| !letter(c)).unwrap_or(rest.len()).max(1);
            let (word, after) = rest.split_at_checked(end)?;
            rest = after;
            let word = word.trim_matches('\'');
            if word.starts_with(|c: char| c.is_ascii_digit()) {
                return Some("#");
            }
            if !word.is_empty() && word.len() <= LONGEST_WORD {
                return Some(word);
            }
        }
    })
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
    fn a_name_and_its_hash_agree() {
        for signal in [
            Signal::Word("please"),
            Signal::Pair("^", "please"),
            Signal::Three("let", "me", "know"),
            Signal::Subject("דחוף"),
            Signal::Cue("urgent"),
            Signal::SubjectCue("urgent"),
            Signal::Again("urgent"),
        ] {
            assert_eq!(signal.hash(), hash_of(&signal.to_string()), "{signal}");
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
