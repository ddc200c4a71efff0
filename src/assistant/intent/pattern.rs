//! A pattern of a rule file, and how it matches the words of a clause.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::token::{MessageToken, tokenise};

/// How many words `..` stands for at most.
const SHORT_GAP: usize = 4;
/// Letters that are written together with the Hebrew word they belong to: and, that.
const JOINING_PREFIXES: [char; 2] = ['ו', 'ש'];
/// With nouns also: the, in, to, as, from.
const NOUN_PREFIXES: [char; 7] = ['ו', 'ש', 'ה', 'ב', 'ל', 'כ', 'מ'];
/// A shorter word is not looked for behind a prefix.
const SHORTEST_PREFIXED: usize = 3;

/// Phrases with a name.
#[derive(Debug, Default)]
pub(super) struct PhraseClass {
    words: HashSet<String>,
    /// Phrases of several words, the longest first.
    phrases: Vec<Vec<PatternElement>>,
    are_nouns: bool,
}

/// The classes of one language, by name.
#[derive(Debug, Default)]
pub(super) struct PhraseClasses(HashMap<String, PhraseClass>);

impl PhraseClasses {
    pub(super) fn define(&mut self, name: &str, are_nouns: bool) {
        self.0.insert(name.to_owned(), PhraseClass { are_nouns, ..PhraseClass::default() });
    }

    /// Adds a phrase to a class that was defined before.
    pub(super) fn add(&mut self, name: &str, phrase: &str) {
        let Some(class) = self.0.get_mut(name) else { return };
        let elements = phrase_elements(phrase);
        match elements.as_slice() {
            [PatternElement::Words { words, .. }] => class.words.extend(words.iter().cloned()),
            [] => {}
            _ => {
                class.phrases.push(elements);
                class.phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
            }
        }
    }

    /// Returns the ends of every phrase of the class that begins with the first of these words, the longest first.
    pub(super) fn ends<'a>(&'a self, name: &str, tokens: &'a [MessageToken]) -> impl Iterator<Item = usize> + use<'a> {
        let class = self.0.get(name);
        let phrases = class.map_or(&[][..], |class| &class.phrases);
        let several = phrases.iter().filter(move |phrase| {
            phrase.len() <= tokens.len() && phrase.iter().zip(tokens).all(|(element, token)| element.is(token))
        });
        let one = class.is_some_and(|class| tokens.first().is_some_and(|token| class.has_word(token)));
        several.map(Vec::len).chain(one.then_some(1))
    }

    /// Returns whether a phrase of the class stands anywhere in these words.
    pub(super) fn occurs(&self, name: &str, tokens: &[MessageToken]) -> bool {
        (0..tokens.len()).any(|from| self.ends(name, tokens.get(from..).unwrap_or_default()).next().is_some())
    }

    fn first_words(&self, name: &str, into: &mut Vec<String>) -> bool {
        let Some(class) = self.0.get(name) else { return false };
        into.extend(class.words.iter().cloned());
        class.phrases.iter().all(|phrase| match phrase.first() {
            Some(PatternElement::Words { words, .. }) => {
                into.extend(words.iter().cloned());
                true
            }
            _ => false,
        })
    }
}

impl PhraseClass {
    fn has_word(&self, token: &MessageToken) -> bool {
        if self.words.contains(&token.text) {
            return true;
        }
        let prefixes = if self.are_nouns { &NOUN_PREFIXES[..] } else { &JOINING_PREFIXES[..] };
        without_prefix(&token.text, prefixes).is_some_and(|bare| self.words.contains(bare))
    }
}

/// Returns the word without one Hebrew prefix, if it has one and enough is left.
pub(super) fn without_prefix<'a>(word: &'a str, prefixes: &[char]) -> Option<&'a str> {
    let bare = word.strip_prefix(prefixes)?;
    (bare.chars().count() >= SHORTEST_PREFIXED).then_some(bare)
}

/// Returns a Hebrew word without "and" or "that" in front.
pub(super) fn without_joining_prefix(word: &str) -> Option<&str> {
    without_prefix(word, &JOINING_PREFIXES)
}

/// Returns a Hebrew word without the small word in front that is written together with it.
pub(super) fn without_any_prefix(word: &str) -> Option<&str> {
    without_prefix(word, &NOUN_PREFIXES)
}

/// What the captured words must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RestCondition {
    Anything,
    /// They begin with the class.
    BeginsWith(String),
    /// They are of the class, with nothing or a word of `after` behind.
    Is(String),
    /// The class is somewhere in them.
    Contains(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PatternElement {
    Words { words: Vec<String>, is_optional: bool },
    Class { name: String, is_optional: bool },
    Number,
    Gap { most: usize },
    Rest(RestCondition),
}

impl PatternElement {
    fn is(&self, token: &MessageToken) -> bool {
        match self {
            Self::Words { words, .. } => words.iter().any(|word| {
                *word == token.text
                    || without_joining_prefix(&token.text).is_some_and(|bare| word.len() > 4 && word == bare)
            }),
            Self::Number => token.is_number,
            _ => false,
        }
    }

    fn parse(text: &str) -> Self {
        let name_of =
            |text: &str, open: &str| text.strip_prefix(open).map(|rest| rest.trim_end_matches('}').to_owned());
        let (text, is_optional) = text.strip_suffix('?').map_or((text, false), |bare| (bare, true));
        match text {
            ".." => return Self::Gap { most: SHORT_GAP },
            "..." => return Self::Gap { most: usize::MAX },
            "<n>" => return Self::Number,
            "{x}" => return Self::Rest(RestCondition::Anything),
            _ => {}
        }
        if let Some(name) = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
            return Self::Class { name: name.to_owned(), is_optional };
        }
        let kinds: [(&str, fn(String) -> RestCondition); 3] =
            [("{x:", RestCondition::BeginsWith), ("{x=", RestCondition::Is), ("{x~", RestCondition::Contains)];
        for (open, wanted) in kinds {
            if let Some(name) = name_of(text, open) {
                return Self::Rest(wanted(name));
            }
        }
        let words = text.split('|').map(|word| tokenise(word).into_iter().map(|token| token.text).collect()).collect();
        Self::Words { words, is_optional }
    }
}

/// The elements of a phrase of words and numbers.
fn phrase_elements(phrase: &str) -> Vec<PatternElement> {
    let word = |text: &str| match text {
        "<n>" => vec![PatternElement::Number],
        text => {
            let tokens = tokenise(text).into_iter();
            tokens.map(|token| PatternElement::Words { words: vec![token.text], is_optional: false }).collect()
        }
    };
    phrase.split_whitespace().flat_map(word).collect()
}

/// Where a pattern matched, in numbers of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PatternMatch {
    pub(super) trigger: Range<usize>,
    pub(super) rest: Range<usize>,
}

/// One line of a rule file.
#[derive(Debug)]
pub(super) struct PhrasePattern {
    elements: Vec<PatternElement>,
}

impl PhrasePattern {
    pub(super) fn parse(line: &str) -> Self {
        Self { elements: line.split_whitespace().map(PatternElement::parse).collect() }
    }

    /// Returns the words it can begin with, or none if it can begin with any.
    pub(super) fn first_words(&self, classes: &PhraseClasses) -> Option<Vec<String>> {
        let mut first = Vec::new();
        for element in &self.elements {
            let (is_known, is_optional) = match element {
                PatternElement::Words { words, is_optional } => {
                    first.extend(words.iter().cloned());
                    (true, *is_optional)
                }
                PatternElement::Class { name, is_optional } => (classes.first_words(name, &mut first), *is_optional),
                _ => (false, false),
            };
            if !is_known {
                return None;
            }
            if !is_optional {
                return Some(first);
            }
        }
        Some(first)
    }

    /// Matches all of these words.
    pub(super) fn matches(&self, tokens: &[MessageToken], classes: &PhraseClasses) -> Option<PatternMatch> {
        let mut rest = None;
        if !match_from(&self.elements, tokens, 0, classes, &mut rest) {
            return None;
        }
        let Some(rest) = rest else {
            let verb = match self.elements.first() {
                Some(PatternElement::Class { name, .. }) => classes.ends(name, tokens).next().unwrap_or(1),
                _ => 1,
            };
            return Some(PatternMatch {
                trigger: 0..verb.min(tokens.len()),
                rest: verb.min(tokens.len())..tokens.len(),
            });
        };
        let trigger = if rest.start == 0 { rest.end..tokens.len() } else { 0..rest.start };
        Some(PatternMatch { trigger, rest })
    }
}

fn match_from(
    elements: &[PatternElement],
    tokens: &[MessageToken],
    at: usize,
    classes: &PhraseClasses,
    captured: &mut Option<Range<usize>>,
) -> bool {
    let Some((element, following)) = elements.split_first() else { return at == tokens.len() };
    let rest = tokens.get(at..).unwrap_or_default();
    match element {
        PatternElement::Words { is_optional, .. } => {
            (rest.first().is_some_and(|token| element.is(token))
                && match_from(following, tokens, at + 1, classes, captured))
                || (*is_optional && match_from(following, tokens, at, classes, captured))
        }
        PatternElement::Number => {
            rest.first().is_some_and(|token| token.is_number)
                && match_from(following, tokens, at + 1, classes, captured)
        }
        PatternElement::Class { name, is_optional } => {
            classes.ends(name, rest).any(|length| match_from(following, tokens, at + length, classes, captured))
                || (*is_optional && match_from(following, tokens, at, classes, captured))
        }
        PatternElement::Gap { .. }
            if following.is_empty() && matches!(element, PatternElement::Gap { most: usize::MAX }) =>
        {
            true
        }
        PatternElement::Gap { most } => {
            (0..=rest.len().min(*most)).any(|length| match_from(following, tokens, at + length, classes, captured))
        }
        PatternElement::Rest(wanted) => (1..=rest.len()).rev().any(|length| {
            let words = rest.get(..length).unwrap_or_default();
            if wanted.accepts(words, classes) && match_from(following, tokens, at + length, classes, captured) {
                *captured = Some(at..at + length);
                return true;
            }
            false
        }),
    }
}

impl RestCondition {
    fn accepts(&self, words: &[MessageToken], classes: &PhraseClasses) -> bool {
        match self {
            Self::Anything => true,
            Self::BeginsWith(name) => classes.ends(name, words).next().is_some(),
            Self::Is(name) => classes.ends(name, words).any(|end| {
                words
                    .get(end..)
                    .is_some_and(|behind| behind.is_empty() || classes.ends("after", behind).next().is_some())
            }),
            Self::Contains(name) => classes.occurs(name, words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes() -> PhraseClasses {
        let mut classes = PhraseClasses::default();
        classes.define("ref", false);
        ["task <n>", "it"].iter().for_each(|phrase| classes.add("ref", phrase));
        classes.define("after", false);
        classes.add("after", "to");
        classes.define("list", true);
        ["list", "to do list", "רשימה"].iter().for_each(|phrase| classes.add("list", phrase));
        classes
    }

    fn captured(pattern: &str, text: &str) -> Option<String> {
        let tokens = tokenise(text);
        let matched = PhrasePattern::parse(pattern).matches(&tokens, &classes())?;
        Some(tokens[matched.rest].iter().map(|token| token.text.clone()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_pattern_matches_the_whole_clause() {
        for (pattern, text, expected) in [
            ("add|create {x}", "add buy milk", Some("buy milk")),
            ("add {x}", "add", None),
            ("add {x}", "please add milk", None),
            ("add {x} to my|the? <list>", "add go to bed to my to-do list", Some("go to bed")),
            ("add {x} to my .. <list> ...", "add eggs to my shopping list if they aren't on it", Some("eggs")),
            ("delete {x:ref}", "delete task 3 groceries", Some("task 3 groceries")),
            ("delete {x:ref}", "delete task groceries", None),
            ("change {x=ref}", "change it to oat milk", Some("it to oat milk")),
            ("change {x=ref}", "change it around", None),
            ("delete {x~list}", "delete my old list now", Some("my old list now")),
            ("{x} is|are done", "the dishes are done", Some("the dishes")),
            ("show <list>", "show to do list", Some("to do list")),
            ("מה <list>", "מה ברשימה", Some("ברשימה")),
            ("מחק {x}", "ומחק חלב", Some("חלב")),
        ] {
            assert_eq!(captured(pattern, text).as_deref(), expected, "{pattern}: {text}");
        }
    }
}
