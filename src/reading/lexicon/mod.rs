//! The words the reading listens for, read once from `phrases.txt` and `verbs.txt`.
//!
//! Owns the features, their weights and one automaton over all phrases, so that a mail is walked once. No feature is
//! decided in here: this only says which phrase stands where.

pub(super) mod bloom;
mod feature;

use std::sync::LazyLock;

use aho_corasick::{Anchored, automaton::Automaton as _, nfa::contiguous::NFA};

use crate::reading::{
    lexicon::bloom::{BloomFilter, HashedToken, WordSet, tokenise_ascii},
    sentence::text::words,
};
pub(super) use feature::{Feature, FeatureSet};

impl Feature {
    pub(super) fn hand_weight(self) -> f64 {
        LEXICON.weights.get(self as usize).copied().unwrap_or(0.0)
    }
}

/// A phrase found, by byte positions in the plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PhraseMatch {
    pub(super) feature: Feature,
    pub(super) start: usize,
    pub(super) end: usize,
}

const PHRASES: &str = include_str!("phrases.txt");
const VERBS: &str = include_str!("verbs.txt");

struct Phrase {
    feature: Feature,
    opens_sentence: bool,
    any_ending: bool,
    closes_sentence: bool,
}

struct Lexicon {
    /// None only if the embedded file were unusable; a test pins that it is not.
    automaton: Option<NFA>,
    phrases: Vec<Phrase>,
    /// The filter of the phrases that only match at the start of a sentence.
    sentence_start_prefilter: PhrasePrefilter,
    anywhere_prefilter: PhrasePrefilter,
    weights: Vec<f64>,
    verbs: WordSet<2048>,
    lead_ins: WordSet<128>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut texts = Vec::new();
    let mut phrases = Vec::new();
    let (mut heads, mut anywhere) = (PhrasePrefilter::default(), PhrasePrefilter::default());
    let mut weights = vec![0.0; Feature::ALL.len()];
    let mut feature = Feature::Always;
    for line in PHRASES.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        if let Some((named, weight)) = parse_section_header(line) {
            feature = named;
            if let Some(slot) = weights.get_mut(feature as usize) {
                *slot = weight;
            }
            continue;
        }
        for phrase in line.split(" | ") {
            let text = phrase.trim_start_matches('^').trim_end_matches(['*', '$']);
            texts.push(text);
            let phrase = Phrase {
                feature,
                opens_sentence: phrase.starts_with('^'),
                any_ending: phrase.ends_with('*'),
                closes_sentence: phrase.ends_with('$'),
            };
            let sorts = if phrase.opens_sentence { &mut heads } else { &mut anywhere };
            sorts.add(text, phrase.any_ending);
            phrases.push(phrase);
        }
    }
    // The contiguous automaton is a tenth of the full table's memory at about the same speed on texts this short.
    let automaton = NFA::new(&texts).ok();
    let verbs = VERBS.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    let (verbs, lead_ins) = (WordSet::from_words(verbs), WordSet::from_words(LEAD_INS.iter().copied()));
    Lexicon {
        automaton,
        phrases,
        sentence_start_prefilter: heads,
        anywhere_prefilter: anywhere,
        weights,
        verbs,
        lead_ins,
    }
});

fn parse_section_header(line: &str) -> Option<(Feature, f64)> {
    let (name, weight) = line.strip_prefix('[')?.strip_suffix(']')?.split_once(' ')?;
    Some((name.parse().ok()?, weight.parse().ok()?))
}

/// With which words phrases begin: most words in a mail begin none, and are not looked at closely.
#[derive(Default)]
struct PhrasePrefilter {
    /// Phrases of one word, or of whose second nothing is known.
    single_words: BloomFilter<4096>,
    /// The first two words of the others.
    word_pairs: BloomFilter<8192>,
    /// The first letters of words that may go on in any way.
    stems: BloomFilter<256>,
}

const STEM_BYTES: usize = 4;

impl PhrasePrefilter {
    fn add(&mut self, phrase: &str, any_ending: bool) {
        let whole = |run: &HashedToken| !any_ending || run.end < phrase.len();
        let mut words = tokenise_ascii(phrase);
        let (first, second) = (words.next(), words.next());
        match (first.filter(whole), second.filter(whole)) {
            (Some(first), Some(second)) => self.word_pairs.insert(first.hash_with(&second)),
            (Some(first), None) => self.single_words.insert(first.hash),
            // In another script it is looked for everywhere.
            (None, _) if !phrase.is_ascii() => {}
            (None, _) => self.stems.insert(pack_stem(phrase, 0)),
        }
    }

    fn may_start_phrase(&self, plain: &str, word: &HashedToken, next: Option<&HashedToken>) -> bool {
        self.single_words.may_contain(word.hash)
            || next.is_some_and(|next| self.word_pairs.may_contain(word.hash_with(next)))
            || self.stems.may_contain(pack_stem(plain, word.start))
    }
}

fn pack_stem(plain: &str, start: usize) -> u64 {
    let letters = plain.as_bytes().get(start..start + STEM_BYTES).unwrap_or_default();
    letters.iter().fold(0, |stem, letter| stem << 8 | u64::from(*letter))
}

/// So many phrases a sentence has.
const USUAL_MATCHES: usize = 8;

/// Every phrase in `plain`, overlapping ones too ("let me know" inside a longer courtesy), by where they end.
pub(super) fn find_phrases(plain: &str) -> Vec<PhraseMatch> {
    let lexicon = &*LEXICON;
    let mut hits = Vec::with_capacity(USUAL_MATCHES);
    if plain.is_ascii() {
        lexicon.match_in_ascii(plain, &mut hits);
    } else {
        lexicon.match_at_every_character(plain, &mut hits);
    }
    hits.sort_by_key(|hit| (hit.end, hit.start));
    hits
}

impl Lexicon {
    /// A Hebrew phrase may begin behind prefix letters.
    fn match_at_every_character(&self, plain: &str, hits: &mut Vec<PhraseMatch>) {
        plain.char_indices().filter(|(_, c)| *c != ' ').for_each(|(start, _)| self.match_from(plain, start, hits));
    }

    fn match_in_ascii(&self, plain: &str, hits: &mut Vec<PhraseMatch>) {
        let mut words = tokenise_ascii(plain).peekable();
        let (mut end, mut leading) = (0, true);
        loop {
            let word = words.next();
            let gap = plain.as_bytes().get(end..word.map_or(plain.len(), |word| word.start)).unwrap_or_default();
            if gap != b" " {
                let marks = (end..).zip(gap).filter(|(_, byte)| **byte != b' ');
                marks.for_each(|(start, _)| self.match_from(plain, start, hits));
            }
            let Some(word) = word else { break };
            let next = words.peek();
            let may = |openings: &PhrasePrefilter| openings.may_start_phrase(plain, &word, next);
            let heads = leading || gap != b" ";
            if may(&self.anywhere_prefilter) || (heads && may(&self.sentence_start_prefilter)) {
                self.match_from(plain, word.start, hits);
            }
            end = word.end;
            leading = leading && is_lead_in(plain.get(word.start..end).unwrap_or_default());
        }
    }

    /// The phrases that begin at `start`.
    fn match_from(&self, plain: &str, start: usize, hits: &mut Vec<PhraseMatch>) {
        let Some((automaton, mut state)) =
            self.automaton.as_ref().and_then(|nfa| Some((nfa, nfa.start_state(Anchored::Yes).ok()?)))
        else {
            return;
        };
        for (length, byte) in (1..).zip(plain.as_bytes().get(start..).unwrap_or_default()) {
            state = automaton.next_state(Anchored::Yes, state, *byte);
            if !automaton.is_special(state) {
                continue;
            }
            if automaton.is_dead(state) {
                return;
            }
            for nth in 0..automaton.match_len(state) {
                let found = automaton.match_pattern(state, nth);
                let hit = |phrase: &Phrase| PhraseMatch { feature: phrase.feature, start, end: start + length };
                // A state also knows the phrases that only end here.
                if automaton.pattern_len(found) == length
                    && let Some(phrase) = self.phrases.get(found.as_usize())
                    && phrase.accepts_match(plain, &hit(phrase))
                {
                    hits.push(hit(phrase));
                }
            }
        }
    }
}

impl Phrase {
    fn accepts_match(&self, plain: &str, hit: &PhraseMatch) -> bool {
        let before = plain.get(..hit.start).unwrap_or_default();
        let after = plain.get(hit.end..).unwrap_or_default();
        let text = plain.get(hit.start..hit.end).unwrap_or_default();
        let starts = !text.starts_with(char::is_alphanumeric) || is_word_start(before, text);
        let ends = || {
            self.any_ending
                || !text.ends_with(char::is_alphanumeric)
                || !after.starts_with(|c: char| c.is_alphanumeric())
        };
        starts
            && ends()
            && (!self.opens_sentence || is_sentence_start(before))
            && (!self.closes_sentence || !after.contains(char::is_alphanumeric))
    }
}

/// A word starts here, or (Hebrew) one or two prefix letters lead to it.
fn is_word_start(before: &str, text: &str) -> bool {
    const PREFIXES: [char; 7] = ['ו', 'ה', 'ב', 'ל', 'ש', 'מ', 'כ'];
    if !before.ends_with(char::is_alphanumeric) {
        return true;
    }
    let hebrew = text.starts_with(|c: char| ('א'..='ת').contains(&c)) && text.len() >= 6;
    let stem = before.trim_end_matches(PREFIXES);
    hebrew && before.len() - stem.len() <= 4 && !stem.ends_with(char::is_alphanumeric)
}

/// Words that open a sentence without saying anything yet.
const LEAD_INS: &[&str] = &[
    "additionally",
    "again",
    "all",
    "also",
    "and",
    "but",
    "dear",
    "everyone",
    "finally",
    "first",
    "guys",
    "hello",
    "hey",
    "hi",
    "if",
    "just",
    "no",
    "not",
    "now",
    "ok",
    "okay",
    "ps",
    "second",
    "simply",
    "so",
    "team",
    "then",
    "yes",
    "אז",
    "גם",
    "היי",
    "שלום",
];

/// At the head of a sentence: nothing before, only lead-ins, or the name of the one spoken to.
fn is_sentence_start(before: &str) -> bool {
    // Longer than any greeting: no need to count its words.
    const LONGEST_CALL: usize = 48;
    let before = before.trim_end();
    if before.is_empty() || before.len() > LONGEST_CALL {
        return before.is_empty();
    }
    let called = before.ends_with([',', ':', '-', '–', '—', ';']) && words(before).count() <= 4;
    called || words(before).enumerate().all(|(index, word)| index < 3 && is_lead_in(word))
}

pub(super) fn is_lead_in(word: &str) -> bool {
    LEXICON.lead_ins.contains(word.trim_end_matches([',', ':', '-', '!', '.']))
}

pub(super) fn is_verb(word: &str) -> bool {
    LEXICON.verbs.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_file_is_understood() {
        let mut sections = 0;
        for line in PHRASES.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            if line.starts_with('[') {
                assert!(parse_section_header(line).is_some(), "{line}");
                sections += 1;
            }
            assert!(!line.split('|').any(|phrase| phrase.trim().is_empty()), "empty phrase: {line}");
            let open = |phrase: &str| phrase.starts_with(' ') || (phrase.ends_with('*') && phrase.len() <= STEM_BYTES);
            assert!(!line.split(" | ").any(open), "not found by how it opens: {line}");
            assert_eq!(line, crate::reading::sentence::text::normalise(line), "phrases are written plain");
        }
        assert_eq!(sections, Feature::ALL.len(), "every feature has a section");
        assert!(LEXICON.automaton.is_some() && Feature::ALL.len() <= 128);
    }

    #[test]
    fn statics_stay_small() {
        let automaton = LEXICON.automaton.as_ref().unwrap().memory_usage();
        assert!(automaton < 1_000_000, "{automaton} bytes");
    }

    /// Every phrase, in places where it stands and where it does not.
    #[test]
    fn what_opens_no_phrase_has_none() {
        let lines = PHRASES.lines().filter(|line| line.is_ascii() && !line.starts_with(['#', '[']));
        for phrase in lines.flat_map(|line| line.split(" | ")) {
            let text = phrase.trim_start_matches('^').trim_end_matches(['*', '$']);
            for plain in [
                text.to_owned(),
                format!("so, {text} then"),
                format!("we said {text}ing it's {text}"),
                format!("a-{text}'s 50{text} (x{text}) \"{text}\", {text}."),
            ] {
                let mut anywhere = Vec::new();
                LEXICON.match_at_every_character(&plain, &mut anywhere);
                anywhere.sort_by_key(|hit| (hit.end, hit.start));
                assert_eq!(find_phrases(&plain), anywhere, "{plain}");
            }
        }
    }

    fn check(plain: &str, feature: Feature, expected: bool) {
        assert_eq!(find_phrases(plain).iter().any(|hit| hit.feature == feature), expected, "{feature} in {plain:?}");
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
        ] {
            check(plain, feature, expected);
        }
    }
}
