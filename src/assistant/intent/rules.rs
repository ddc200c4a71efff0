//! The rules of a language, read once from its file, and what they propose for a clause.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    sync::LazyLock,
};

use super::{
    pattern::{PatternMatch, PhraseClasses, PhrasePattern, without_joining_prefix},
    reading::Intent,
    token::MessageToken,
};
use crate::assistant::ChatLanguage;

static ENGLISH: LazyLock<IntentRules> = LazyLock::new(|| IntentRules::parse(include_str!("english.txt")));
static HEBREW: LazyLock<IntentRules> = LazyLock::new(|| IntentRules::parse(include_str!("hebrew.txt")));

/// So many courtesies in a row are taken off.
const MAX_COURTESIES: usize = 5;

/// How much a pattern says by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// It stands by itself.
    Sure,
    /// A keyword; the learned weights may veto it.
    Plain,
    /// An imperative without any keyword, which counts only where no courtesy makes it a request.
    Bare,
    /// The same, with a verb that can only be a note to oneself.
    Lone,
}

/// What the rules make of a clause. Places are numbers of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proposal {
    pub(super) intent: Intent,
    pub(super) strength: Strength,
    pub(super) trigger: Range<usize>,
    pub(super) rest: Range<usize>,
    /// What is wanted of is only a pronoun.
    pub(super) is_about_the_same: bool,
}

impl Proposal {
    /// Returns whether it is an imperative without any keyword.
    pub(super) fn is_imperative(&self) -> bool {
        matches!(self.strength, Strength::Bare | Strength::Lone)
    }

    /// Returns whether it wants something, so that it may stand beside another clause.
    pub(super) fn wants_something(&self) -> bool {
        self.intent.is_change() || self.intent == Intent::List
    }
}

#[derive(Debug)]
struct RuleSection {
    intent: Intent,
    strength: Strength,
}

/// The rules of one language.
#[derive(Debug, Default)]
pub(super) struct IntentRules {
    classes: PhraseClasses,
    sections: Vec<RuleSection>,
    /// Each with the number of its section, in the order of the file.
    patterns: Vec<(usize, PhrasePattern)>,
    by_first_word: HashMap<String, Vec<usize>>,
    /// Patterns that can begin with any word.
    unindexed: Vec<usize>,
}

impl IntentRules {
    pub(super) fn of(language: ChatLanguage) -> &'static Self {
        match language {
            ChatLanguage::English => &ENGLISH,
            ChatLanguage::Hebrew => &HEBREW,
        }
    }

    fn parse(text: &str) -> Self {
        let mut rules = Self::default();
        let mut heading = String::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                heading = rules.open_section(name);
            } else if heading.is_empty() {
                rules.patterns.push((rules.sections.len().saturating_sub(1), PhrasePattern::parse(line)));
            } else {
                line.split(", ").for_each(|phrase| rules.classes.add(&heading, phrase));
            }
        }
        rules.index();
        rules
    }

    /// Opens a section. Returns the name of the class that its lines belong to; nothing if they are patterns.
    fn open_section(&mut self, heading: &str) -> String {
        let (first, second) = heading.split_once(' ').unwrap_or((heading, ""));
        if let Ok(intent) = first.parse::<Intent>() {
            let strength = match second {
                "sure" => Strength::Sure,
                "plain" => Strength::Plain,
                "lone" => Strength::Lone,
                _ => Strength::Bare,
            };
            self.sections.push(RuleSection { intent, strength });
            return String::new();
        }
        let name = heading.strip_prefix("class ").unwrap_or(heading);
        let (name, are_nouns) = name.strip_suffix(" nouns").map_or((name, false), |name| (name, true));
        self.classes.define(name, are_nouns);
        name.to_owned()
    }

    fn index(&mut self) {
        for (number, (_, pattern)) in self.patterns.iter().enumerate() {
            match pattern.first_words(&self.classes) {
                None => self.unindexed.push(number),
                Some(words) => {
                    for word in words.into_iter().collect::<HashSet<_>>() {
                        self.by_first_word.entry(word).or_default().push(number);
                    }
                }
            }
        }
    }

    /// Returns the classes of phrases, for the cues.
    pub(super) fn classes(&self) -> &PhraseClasses {
        &self.classes
    }

    /// Returns the number of words of the longest joiner at the beginning of these words.
    pub(super) fn joiner_length(&self, tokens: &[MessageToken]) -> usize {
        self.classes.ends("join", tokens).next().unwrap_or(0)
    }

    /// Returns whether it is "and" written together with a word that a pattern may begin with.
    pub(super) fn is_joined_verb(&self, token: &MessageToken) -> bool {
        let bare = token.text.strip_prefix('ו').filter(|bare| bare.chars().count() > 2);
        bare.is_some_and(|bare| self.by_first_word.contains_key(bare))
    }

    /// Returns what the first pattern that matches proposes: with courtesies taken off, and without.
    pub(super) fn propose(&self, tokens: &[MessageToken]) -> Option<Proposal> {
        let end = self.end_without_courtesies(tokens);
        let mut best: Option<(usize, usize, PatternMatch)> = None;
        for (start, only_sure) in self.verb_places(tokens.get(..end).unwrap_or_default()) {
            let is_bare_place = start == 0 && end == tokens.len();
            let words = tokens.get(start..end).unwrap_or_default();
            let below = best.as_ref().map_or(usize::MAX, |(number, _, _)| *number);
            let found = self.first_match(words, below, |strength| match strength {
                Strength::Sure => true,
                Strength::Plain => !only_sure,
                Strength::Bare | Strength::Lone => is_bare_place,
            });
            if let Some((number, matched)) = found {
                best = Some((number, start, matched));
            }
        }
        let (number, start, mut matched) = best?;
        let section = self.sections.get(self.patterns.get(number)?.0)?;
        if matches!(section.strength, Strength::Bare | Strength::Lone) && section.intent.is_change() {
            // The verb belongs to the title.
            matched = PatternMatch { trigger: 0..0, rest: 0..matched.rest.end };
        }
        let shift = |range: Range<usize>| range.start + start..range.end + start;
        let rest = tokens.get(shift(matched.rest.clone())).unwrap_or_default();
        let is_number = rest.first().is_some_and(|token| token.is_number);
        Some(Proposal {
            is_about_the_same: !is_number && self.classes.ends("it", rest).any(|end| end == rest.len()),
            intent: section.intent,
            strength: section.strength,
            trigger: shift(matched.trigger),
            rest: shift(matched.rest),
        })
    }

    /// Returns the first pattern before `below` that matches all the words.
    fn first_match(
        &self,
        words: &[MessageToken],
        below: usize,
        is_allowed: impl Fn(Strength) -> bool,
    ) -> Option<(usize, PatternMatch)> {
        let first = words.first()?;
        let indexed = |word: &str| self.by_first_word.get(word).map_or(&[][..], Vec::as_slice).iter().copied();
        let bare = without_joining_prefix(&first.text).unwrap_or_default();
        let mut numbers: Vec<usize> =
            indexed(&first.text).chain(indexed(bare)).chain(self.unindexed.iter().copied()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().take_while(|number| *number < below).find_map(|number| {
            let (section, pattern) = self.patterns.get(number)?;
            let strength = self.sections.get(*section)?.strength;
            if !is_allowed(strength) {
                return None;
            }
            Some((number, pattern.matches(words, &self.classes)?))
        })
    }

    /// Returns where the verb may stand: at the beginning, and behind each courtesy. The flag says that "I need to"
    /// or the like stands before, which makes a new task of everything that is not surely something else.
    fn verb_places(&self, tokens: &[MessageToken]) -> Vec<(usize, bool)> {
        let mut places = vec![(0, false)];
        let (mut at, mut needs) = (0, false);
        for _ in 0..MAX_COURTESIES {
            let rest = tokens.get(at..).unwrap_or_default();
            let lead = self.classes.ends("lead", rest).next();
            let need = self.classes.ends("lead need", rest).next();
            let Some(length) = lead.max(need).filter(|length| at + length < tokens.len()) else { break };
            needs |= need > lead;
            at += length;
            places.push((at, needs));
        }
        places
    }

    /// Returns the number of words without the courtesies at the end.
    fn end_without_courtesies(&self, tokens: &[MessageToken]) -> usize {
        let mut end = tokens.len();
        for _ in 0..MAX_COURTESIES {
            let shorter = (1..=3.min(end.saturating_sub(1))).rev().find(|length| {
                let tail = tokens.get(end - length..end).unwrap_or_default();
                self.classes.ends("trail", tail).next() == Some(*length)
            });
            let Some(length) = shorter else { break };
            end -= length;
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assistant::intent::token::tokenise;

    #[test]
    fn every_class_that_a_pattern_names_is_defined() {
        for text in [include_str!("english.txt"), include_str!("hebrew.txt")] {
            for line in text.lines().filter(|line| !line.starts_with(['#', '['])) {
                for word in line.split_whitespace() {
                    let word = word.trim_end_matches('?');
                    let name = word.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).or_else(|| {
                        let inside = word.strip_prefix("{x").and_then(|rest| rest.strip_suffix('}'))?;
                        inside.get(1..)
                    });
                    let Some(name) = name.filter(|name| *name != "n") else { continue };
                    assert!(text.contains(&format!("[class {name}")), "<{name}> in: {line}");
                }
            }
        }
    }

    fn propose(text: &str) -> Option<(Intent, Strength, String, String)> {
        let tokens = tokenise(text);
        let rules = IntentRules::of(ChatLanguage::detect(text, ChatLanguage::English));
        let proposal = rules.propose(&tokens)?;
        let words =
            |range: Range<usize>| tokens[range].iter().map(|token| token.text.clone()).collect::<Vec<_>>().join(" ");
        Some((proposal.intent, proposal.strength, words(proposal.trigger), words(proposal.rest)))
    }

    #[test]
    fn a_proposal_names_the_trigger_and_the_rest() {
        for (text, intent, strength, trigger, rest) in [
            ("Add buy milk", Intent::Create, Strength::Plain, "add", "buy milk"),
            ("could you please remind me to call mom?", Intent::Create, Strength::Sure, "remind me to", "call mom"),
            ("put eggs on my shopping list", Intent::Create, Strength::Sure, "put", "eggs"),
            ("task 3 is done", Intent::Complete, Strength::Sure, "is done", "task 3"),
            ("mark it as done please", Intent::Complete, Strength::Sure, "mark", "it"),
            ("Buy groceries", Intent::Create, Strength::Lone, "", "buy groceries"),
            ("I need to buy milk", Intent::Create, Strength::Plain, "i need to", "buy milk"),
            ("I need to delete task 5", Intent::Delete, Strength::Sure, "delete", "task 5"),
            ("תזכירי לי בבקשה לאסוף את הילדים", Intent::Create, Strength::Sure, "תזכירי לי", "בבקשה לאסוף את הילדים"),
            ("ותמחק את משימה 5", Intent::Delete, Strength::Sure, "ותמחק", "את משימה 5"),
        ] {
            let found = propose(text).unwrap_or_else(|| panic!("{text}: nothing"));
            assert_eq!(found, (intent, strength, trigger.to_owned(), rest.to_owned()), "{text}");
        }
    }
}
