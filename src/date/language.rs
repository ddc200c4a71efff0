//! The words of each language, from the files in `words/`: a language is data.

use std::{collections::HashMap, sync::LazyLock};

use hashbrown::HashSet;

use super::term::{Lead, Term};
use crate::plain_text::word_hash::hash_word;

/// What a word or phrase means for times.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Meaning {
    pub(super) terms: Vec<Term>,
    /// What it is to the term that follows, when it is no term itself.
    pub(super) lead: Option<Lead>,
    /// Says that what follows is a limit.
    pub(super) is_limit: bool,
}

/// The words for times of one language: one file.
#[derive(Debug, Default)]
pub(super) struct TimeVocabulary {
    /// By their first word, the longest phrase first.
    phrases: HashMap<String, Vec<TimePhrase>>,
    /// Words that may follow an hour said without "o'clock", or a day said as "the 5th".
    followers: Vec<String>,
    /// Words that no other language has: they tell which one a sentence is in.
    signs: HashSet<String>,
    /// "Who is coming on the 5th": the day of something else.
    relatives: Vec<String>,
}

#[derive(Debug)]
struct TimePhrase {
    rest: Vec<String>,
    meaning: Meaning,
}

/// The languages whose words are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tongue {
    English,
    German,
    Hebrew,
}

static ENGLISH: LazyLock<TimeVocabulary> = LazyLock::new(|| TimeVocabulary::parse(include_str!("words/english.txt")));
static GERMAN: LazyLock<TimeVocabulary> = LazyLock::new(|| TimeVocabulary::parse(include_str!("words/german.txt")));
static HEBREW: LazyLock<TimeVocabulary> = LazyLock::new(|| TimeVocabulary::parse(include_str!("words/hebrew.txt")));

/// The hash of every word without which a time said in words of Latin letters is none.
static NAMES_OF_TIME: LazyLock<HashSet<u64>> = LazyLock::new(|| {
    let words = [&ENGLISH, &GERMAN].into_iter().flat_map(|language| language.words_that_name_times());
    words.map(hash_word).collect()
});

/// Whether one of the words may name a time, told by its hash alone.
#[inline]
pub(super) fn may_be_word_of_time(hash: u64) -> bool {
    NAMES_OF_TIME.contains(&hash)
}

impl Tongue {
    /// The languages to look a word up in, the sentence's own first. English words stand in mail of every language.
    fn languages(self) -> [&'static TimeVocabulary; 2] {
        match self {
            Self::English => [&ENGLISH, &ENGLISH],
            Self::German => [&GERMAN, &ENGLISH],
            Self::Hebrew => [&HEBREW, &ENGLISH],
        }
    }

    /// The meaning of the phrase that starts with the first of the words, and how many words it has.
    pub(super) fn find<'w>(self, words: impl Iterator<Item = &'w str> + Clone) -> Option<(&'static Meaning, usize)> {
        self.languages().into_iter().find_map(|language| language.find(words.clone()))
    }

    pub(super) fn find_word(self, word: &str) -> Option<&'static Meaning> {
        self.find(std::iter::once(word)).map(|(meaning, _)| meaning)
    }

    pub(super) fn may_follow(self, word: &str) -> bool {
        self.languages().into_iter().any(|language| language.followers.iter().any(|known| known == word))
    }

    pub(super) fn is_relative(self, word: &str) -> bool {
        self.languages().into_iter().any(|language| language.relatives.iter().any(|known| known == word))
    }
}

/// Whether a word is German and not English.
pub(super) fn is_german_sign(word: &str) -> bool {
    GERMAN.signs.contains(word)
}

/// Whether a word is English and not German.
pub(super) fn is_english_sign(word: &str) -> bool {
    ENGLISH.signs.contains(word)
}

impl TimeVocabulary {
    fn parse(file: &str) -> Self {
        let mut language = Self::default();
        let mut joined = Vec::new();
        for line in file.lines().filter(|line| !line.starts_with('#')) {
            let Some((meaning, words)) = line.split_once(": ") else { continue };
            let words = words.split(", ").map(|word| (word.trim_end_matches('?'), !word.ends_with('?')));
            for (word, is_sign) in words {
                let folded = fold(word).into_owned();
                match meaning {
                    "follow" => language.followers.push(folded),
                    "relative" => language.relatives.push(folded),
                    "sign" => drop(language.signs.insert(folded)),
                    meaning if let Some(meaning) = meaning.strip_prefix("joined ") => {
                        joined.push((folded, parse_meaning(meaning)));
                    }
                    meaning => language.insert(&folded, parse_meaning(meaning), is_sign),
                }
            }
        }
        language.join_days(&joined);
        for phrases in language.phrases.values_mut() {
            phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.rest.len()));
        }
        language
    }

    fn insert(&mut self, words: &str, meaning: Meaning, is_sign: bool) {
        let mut words = words.split(' ').map(str::to_owned);
        let Some(first) = words.next() else { return };
        let rest: Vec<String> = words.collect();
        if is_sign && rest.is_empty() {
            self.signs.insert(first.clone());
        }
        self.phrases.entry(first).or_default().push(TimePhrase { rest, meaning });
    }

    /// Adds the name of every day with each of the words at its end.
    fn join_days(&mut self, ends: &[(String, Meaning)]) {
        let is_day =
            |phrase: &TimePhrase| matches!(phrase.meaning.terms.as_slice(), [Term::Day(_)]) && phrase.rest.is_empty();
        let named = self.phrases.iter().flat_map(|(word, phrases)| phrases.iter().map(move |phrase| (word, phrase)));
        let days: Vec<(String, Term)> = named
            .filter(|(_, phrase)| is_day(phrase))
            .flat_map(|(word, phrase)| phrase.meaning.terms.iter().map(|day| (word.clone(), *day)))
            .collect();
        for (day, term) in &days {
            for (end, meaning) in ends {
                let terms = std::iter::once(*term).chain(meaning.terms.iter().copied()).collect();
                self.insert(&format!("{day}{end}"), Meaning { terms, ..Meaning::default() }, true);
            }
        }
    }

    fn find<'w>(&self, mut words: impl Iterator<Item = &'w str> + Clone) -> Option<(&Meaning, usize)> {
        let phrases = self.phrases.get(words.next()?)?;
        let fits = |phrase: &&TimePhrase| {
            let mut words = words.clone();
            phrase.rest.iter().all(|word| words.next() == Some(word))
        };
        phrases.iter().find(fits).map(|phrase| (&phrase.meaning, phrase.rest.len() + 1))
    }

    /// A phrase is known by its first word.
    fn words_that_name_times(&self) -> impl Iterator<Item = &str> {
        let names = |phrases: &[TimePhrase]| {
            phrases.iter().flat_map(|phrase| &phrase.meaning.terms).any(|term| term.names_time())
        };
        self.phrases.iter().filter(move |(_, phrases)| names(phrases)).map(|(first, _)| first.as_str())
    }
}

fn parse_meaning(text: &str) -> Meaning {
    let mut meaning = Meaning::default();
    for part in text.split(" + ") {
        match part {
            "limit" => {
                meaning.is_limit = true;
                meaning.lead = Some(Lead::LIMIT);
            }
            "from" => meaning.lead = Some(Lead::FROM),
            "lead" => meaning.lead = Some(Lead::NONE),
            "lead at" => meaning.lead = Some(Lead::AT),
            "lead on" => meaning.lead = Some(Lead::ON),
            "lead the" => meaning.lead = Some(Lead::THE),
            part => meaning.terms.extend(Term::parse(part)),
        }
    }
    meaning
}

/// Lower case, and umlauts as two letters, so that every spelling of a German word is one.
pub(super) fn fold(text: &str) -> std::borrow::Cow<'_, str> {
    let is_foreign = |c: char| ('\u{c0}'..='\u{24f}').contains(&c);
    if text.is_ascii() || !text.contains(is_foreign) {
        return text.into();
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            'ä' => folded.push_str("ae"),
            'ö' => folded.push_str("oe"),
            'ü' => folded.push_str("ue"),
            'ß' => folded.push_str("ss"),
            c => folded.push(c),
        }
    }
    folded.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_every_language_has_a_meaning() {
        for file in
            [include_str!("words/english.txt"), include_str!("words/german.txt"), include_str!("words/hebrew.txt")]
        {
            for line in file.lines().filter(|line| !line.starts_with('#')) {
                let (meaning, _) = line.split_once(": ").unwrap_or_else(|| panic!("{line}"));
                let is_list = matches!(meaning, "follow" | "relative" | "sign");
                let meaning = meaning.strip_prefix("joined ").unwrap_or(meaning);
                let parsed = parse_meaning(meaning);
                let parts = meaning.split(" + ").filter(|part| Term::parse(part).is_some()).count();
                assert_eq!(parsed.terms.len(), parts, "{line}");
                assert!(is_list || !parsed.terms.is_empty() || parsed.lead.is_some(), "{line}");
            }
        }
    }

    #[test]
    fn umlauts_have_two_spellings() {
        for (text, folded) in
            [("Übermorgen", "uebermorgen"), ("FÜNF", "fuenf"), ("dreißig", "dreissig"), ("מחר", "מחר")]
        {
            assert_eq!(fold(text), folded);
        }
    }

    #[test]
    fn the_longest_phrase_counts() {
        let found = Tongue::English.find("day after tomorrow".split(' ')).unwrap();
        assert_eq!((found.0.terms.as_slice(), found.1), ([Term::Overmorrow].as_slice(), 3));
        assert_eq!(Tongue::German.find_word("am").unwrap().lead, Some(Lead::ON));
        assert_eq!(Tongue::English.find_word("am").unwrap().lead, None);
    }
}
