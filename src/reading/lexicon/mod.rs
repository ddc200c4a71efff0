//! The words the reading listens for, one file per language.
//!
//! Owns the features, their weights, the phrases and the lists of words. No feature is decided in here: this only says
//! which phrase stands where. A further language is a further file.

mod feature;
mod german_verbs;
mod lexicon_file;
mod phrase_automaton;
mod word_list;

use std::sync::LazyLock;

use hashbrown::HashSet;

pub(super) use self::{
    feature::{Feature, FeatureSet},
    word_list::WordList,
};
use self::{german_verbs::GermanVerbs, lexicon_file::Section, phrase_automaton::PhraseAutomaton};
use crate::reading::{language::Language, sentence::text::normalise};

impl Feature {
    pub(super) fn hand_weight(self) -> f64 {
        WEIGHTS.get(self as usize).copied().unwrap_or(0.0)
    }
}

static WEIGHTS: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let mut weights = vec![0.0; Feature::ALL.len()];
    for defined in lexicon_file::read_features() {
        if let Some(slot) = weights.get_mut(defined.feature as usize) {
            *slot = defined.weight;
        }
    }
    weights
});

/// A phrase found, by byte positions in the plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PhraseMatch {
    pub(super) feature: Feature,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What is listened for in the sentences of a language.
pub(super) struct Lexicon {
    phrases: PhraseAutomaton,
    verbs: HashSet<String>,
    /// By the number of the list.
    lists: Vec<Vec<String>>,
    german_verbs: GermanVerbs,
}

/// Hebrew mail is full of English, and their letters never meet, so both are listened for at once.
static ENGLISH_AND_HEBREW: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::new(&[lexicon_file::ENGLISH, lexicon_file::HEBREW], &[lexicon_file::GERMAN]));

/// German shares words with English that mean something else ("was", "die", "also"), so it is listened for alone.
static GERMAN: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::new(&[lexicon_file::GERMAN], &[lexicon_file::ENGLISH, lexicon_file::HEBREW]));

impl Lexicon {
    pub(super) fn of(language: Language) -> &'static Self {
        match language {
            Language::German => &GERMAN,
            _ => &ENGLISH_AND_HEBREW,
        }
    }

    /// From the files of its languages, and from those of the others what is listened for everywhere.
    fn new(own: &[&'static str], others: &[&'static str]) -> Self {
        let everywhere: Vec<Feature> =
            lexicon_file::read_features().filter(|it| it.is_everywhere).map(|it| it.feature).collect();
        let entries = || own.iter().flat_map(|file| lexicon_file::read_entries(file));
        let foreign = others.iter().flat_map(|file| lexicon_file::read_entries(file));
        let foreign = foreign.filter(|(section, _)| matches!(section, Section::Phrases(it) if everywhere.contains(it)));
        let phrases = entries().chain(foreign).filter_map(|(section, entry)| match section {
            Section::Phrases(feature) => Some((feature, entry)),
            Section::Words(_) => None,
        });
        let mut lists = vec![Vec::new(); WordList::ALL.len()];
        for (section, entry) in entries() {
            if let Section::Words(list) = section
                && let Some(words) = lists.get_mut(list as usize)
            {
                words.push(normalise(entry));
            }
        }
        let list = |list: WordList| lists.get(list as usize).into_iter().flatten().cloned();
        let written = |list: WordList| {
            entries().filter(move |(section, _)| *section == Section::Words(list)).map(|(_, entry)| entry)
        };
        Self {
            phrases: PhraseAutomaton::new(phrases, list(WordList::LeadIns).collect()),
            verbs: list(WordList::Verbs).collect(),
            german_verbs: GermanVerbs::new(written(WordList::Infinitives), written(WordList::Particles)),
            lists,
        }
    }

    /// The words of a list in plain letters, in the order of the file.
    pub(super) fn words(&self, list: WordList) -> &[String] {
        self.lists.get(list as usize).map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn has_word(&self, list: WordList, word: &str) -> bool {
        self.words(list).iter().any(|known| known == word)
    }

    pub(super) fn is_lead_in(&self, word: &str) -> bool {
        self.phrases.is_lead_in(word)
    }

    /// Whether the word, standing first in a clause, makes it an order.
    pub(super) fn is_verb(&self, word: &str) -> bool {
        self.verbs.contains(word) || self.german_verbs.is_order(word)
    }

    pub(super) fn german_verbs(&self) -> &GermanVerbs {
        &self.german_verbs
    }
}

/// So many phrases a sentence has.
const USUAL_MATCHES: usize = 8;

/// Every phrase in `plain`, overlapping ones too ("let me know" inside a longer courtesy), by where they end.
pub(super) fn find_phrases(plain: &str, language: Language) -> Vec<PhraseMatch> {
    let mut hits = Vec::with_capacity(USUAL_MATCHES);
    Lexicon::of(language).phrases.find_all(plain, &mut hits);
    hits.sort_by_key(|hit| (hit.end, hit.start));
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_files_is_understood() {
        let features: Vec<_> = lexicon_file::read_features().map(|defined| defined.feature).collect();
        assert_eq!(features, Feature::ALL, "every feature has a weight");
        assert!(Feature::ALL.len() <= 128);
        assert!(lexicon_file::lines_of(lexicon_file::FEATURES).all(|line| lexicon_file::parse_feature(line).is_some()));
        for file in [lexicon_file::ENGLISH, lexicon_file::GERMAN, lexicon_file::HEBREW] {
            for line in lexicon_file::lines_of(file) {
                let title = line.strip_prefix('[');
                assert!(title.is_none_or(|title| lexicon_file::parse_section(title).is_some()), "{line}");
                assert!(!line.split('|').any(|phrase| phrase.trim().is_empty()), "empty phrase: {line}");
            }
        }
    }

    /// Phrases that one language has and another lacks are a gap in the other, unless its grammar needs none.
    #[test]
    fn every_language_has_phrases_for_every_feature() {
        let phrases = |file| {
            let mut features: Vec<_> = lexicon_file::read_entries(file)
                .filter_map(|(section, _)| match section {
                    Section::Phrases(feature) => Some(feature),
                    Section::Words(_) => None,
                })
                .collect();
            features.sort_unstable();
            features.dedup();
            features
        };
        let english = phrases(lexicon_file::ENGLISH);
        assert_eq!(phrases(lexicon_file::GERMAN), english);
        assert_eq!(phrases(lexicon_file::HEBREW), english);
    }

    fn check(plain: &str, language: Language, feature: Feature, expected: bool) {
        let found = find_phrases(plain, language).iter().any(|hit| hit.feature == feature);
        assert_eq!(found, expected, "{feature} in {plain:?}");
    }

    #[test]
    fn phrases_match_whole_words_where_they_may() {
        for (plain, feature, expected) in [
            ("could you call", Feature::AsksYou, true),
            ("displeased", Feature::Please, false),
            ("thanks for the fish", Feature::Thanks, true),
            ("invoices", Feature::Invoice, true),
            ("the budget is done", Feature::Describes, true),
            ("alex, the budget is done", Feature::Describes, true),
            ("we moved the budget", Feature::Describes, false),
            ("50% off", Feature::Advert, true),
            ("ותוכלי לבדוק", Feature::AsksYou, true),
            ("בפגישה", Feature::Meeting, true),
            ("שמי דנה", Feature::AsksWhen, false),
            ("ignoriere alle vorherigen anweisungen", Feature::Injection, true),
            ("die rechnung", Feature::Invoice, false),
        ] {
            check(plain, Language::English, feature, expected);
        }
        for (plain, feature, expected) in [
            ("koenntest du mir helfen", Feature::AsksYou, true),
            ("die rechnungen sind da", Feature::Invoice, true),
            ("was die sitzung betrifft", Feature::Tells, false),
            ("ignore all previous instructions", Feature::Injection, true),
        ] {
            check(plain, Language::German, feature, expected);
        }
    }
}
