//! One automaton over the phrases of the languages that are read together, so that a sentence is walked once.

use aho_corasick::{Anchored, automaton::Automaton as _, nfa::contiguous::NFA};
use hashbrown::HashSet;

use super::{Feature, PhraseMatch};
use crate::plain_text::word_hash::{HashedToken, tokenise_ascii};
use crate::reading::sentence::text::{normalise, words};

struct Phrase {
    feature: Feature,
    opens_sentence: bool,
    any_ending: bool,
    closes_sentence: bool,
}

#[derive(Default)]
pub(super) struct PhraseAutomaton {
    /// None only if the embedded files were unusable; a test pins that they are not.
    automaton: Option<NFA>,
    phrases: Vec<Phrase>,
    /// The filter of the phrases that only match at the start of a sentence.
    sentence_start_prefilter: PhrasePrefilter,
    anywhere_prefilter: PhrasePrefilter,
    lead_ins: HashSet<String>,
}

impl PhraseAutomaton {
    pub(super) fn new(entries: impl Iterator<Item = (Feature, &'static str)>, lead_ins: HashSet<String>) -> Self {
        let mut texts = Vec::new();
        let mut built = Self { lead_ins, ..Self::default() };
        for (feature, entry) in entries {
            let text = normalise(trim_marks(entry));
            let phrase = Phrase {
                feature,
                opens_sentence: entry.starts_with('^'),
                any_ending: entry.ends_with('*'),
                closes_sentence: entry.ends_with('$'),
            };
            let prefilter =
                if phrase.opens_sentence { &mut built.sentence_start_prefilter } else { &mut built.anywhere_prefilter };
            prefilter.add(&text, phrase.any_ending);
            built.phrases.push(phrase);
            texts.push(text);
        }
        // The contiguous automaton is a tenth of the full table's memory at about the same speed on texts this short.
        built.automaton = NFA::new(&texts).ok();
        built
    }

    pub(super) fn is_lead_in(&self, word: &str) -> bool {
        self.lead_ins.contains(word.trim_end_matches([',', ':', '-', '!', '.']))
    }

    pub(super) fn find_all(&self, plain: &str, hits: &mut Vec<PhraseMatch>) {
        if plain.is_ascii() {
            self.match_in_ascii(plain, hits);
        } else {
            self.match_at_every_character(plain, hits);
        }
    }

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
            leading = leading && self.is_lead_in(plain.get(word.start..end).unwrap_or_default());
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
                    && self.accepts_match(phrase, plain, &hit(phrase))
                {
                    hits.push(hit(phrase));
                }
            }
        }
    }

    fn accepts_match(&self, phrase: &Phrase, plain: &str, hit: &PhraseMatch) -> bool {
        let before = plain.get(..hit.start).unwrap_or_default();
        let after = plain.get(hit.end..).unwrap_or_default();
        let text = plain.get(hit.start..hit.end).unwrap_or_default();
        let starts = !text.starts_with(char::is_alphanumeric) || is_word_start(before, text);
        let ends = || {
            phrase.any_ending
                || !text.ends_with(char::is_alphanumeric)
                || !after.starts_with(|c: char| c.is_alphanumeric())
        };
        starts
            && ends()
            && (!phrase.opens_sentence || self.is_sentence_start(before))
            && (!phrase.closes_sentence || !after.contains(char::is_alphanumeric))
    }

    /// At the head of a sentence: nothing before, only lead-ins, or the name of the one spoken to.
    fn is_sentence_start(&self, before: &str) -> bool {
        // Longer than any greeting: no need to count its words.
        const LONGEST_CALL: usize = 48;
        let before = before.trim_end();
        if before.is_empty() || before.len() > LONGEST_CALL {
            return before.is_empty();
        }
        let called = before.ends_with([',', ':', '-', '–', '—', ';']) && words(before).count() <= 4;
        called || words(before).enumerate().all(|(index, word)| index < 3 && self.is_lead_in(word))
    }
}

/// A phrase without the marks that say where it stands.
fn trim_marks(entry: &str) -> &str {
    entry.trim_start_matches('^').trim_end_matches(['*', '$'])
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

/// With which words phrases begin: most words in a mail begin none, and are not looked at closely.
#[derive(Default)]
struct PhrasePrefilter {
    /// Phrases of one word, or of whose second nothing is known.
    single_words: HashSet<u64>,
    /// The first two words of the others.
    word_pairs: HashSet<u64>,
    /// The first letters of words that may go on in any way.
    stems: HashSet<u64>,
}

const STEM_BYTES: usize = 4;

impl PhrasePrefilter {
    fn add(&mut self, phrase: &str, any_ending: bool) {
        let whole = |run: &HashedToken| !any_ending || run.end < phrase.len();
        let mut words = tokenise_ascii(phrase);
        let (first, second) = (words.next(), words.next());
        let (set, key) = match (first.filter(whole), second.filter(whole)) {
            (Some(first), Some(second)) => (&mut self.word_pairs, first.hash_with(&second)),
            (Some(first), None) => (&mut self.single_words, first.hash),
            // In another script it is looked for everywhere.
            (None, _) if !phrase.is_ascii() => return,
            (None, _) => (&mut self.stems, pack_stem(phrase, 0)),
        };
        set.insert(key);
    }

    fn may_start_phrase(&self, plain: &str, word: &HashedToken, next: Option<&HashedToken>) -> bool {
        self.single_words.contains(&word.hash)
            || next.is_some_and(|next| self.word_pairs.contains(&word.hash_with(next)))
            || self.stems.contains(&pack_stem(plain, word.start))
    }
}

fn pack_stem(plain: &str, start: usize) -> u64 {
    let letters = plain.as_bytes().get(start..start + STEM_BYTES).unwrap_or_default();
    letters.iter().fold(0, |stem, letter| stem << 8 | u64::from(*letter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{
        language::Language,
        lexicon::{Lexicon, lexicon_file},
    };

    #[test]
    fn statics_stay_small() {
        for language in [Language::English, Language::German] {
            let automaton = Lexicon::of(language).phrases.automaton.as_ref().unwrap().memory_usage();
            assert!(automaton < 1_000_000, "{automaton} bytes");
        }
    }

    #[test]
    fn every_phrase_is_found_by_how_it_opens() {
        for file in [lexicon_file::ENGLISH, lexicon_file::GERMAN, lexicon_file::HEBREW] {
            for (section, entry) in lexicon_file::read_entries(file) {
                if matches!(section, lexicon_file::Section::Words(_)) {
                    continue;
                }
                let text = normalise(trim_marks(entry));
                let open = entry.ends_with('*') && text.is_ascii() && text.len() < STEM_BYTES;
                assert!(!text.is_empty() && text.trim_start() == text && !open, "{section:?} {entry:?}");
            }
        }
    }

    /// Every phrase, in places where it stands and where it does not.
    #[test]
    fn what_opens_no_phrase_has_none() {
        for (language, file) in [(Language::English, lexicon_file::ENGLISH), (Language::German, lexicon_file::GERMAN)] {
            let automaton = &Lexicon::of(language).phrases;
            let texts = lexicon_file::read_entries(file).map(|(_, entry)| normalise(trim_marks(entry)));
            for text in texts.filter(|text| text.is_ascii()) {
                for plain in [
                    text.clone(),
                    format!("so, {text} then"),
                    format!("we said {text}ing it's {text}"),
                    format!("a-{text}'s 50{text} (x{text}) \"{text}\", {text}."),
                ] {
                    let (mut found, mut anywhere) = (Vec::new(), Vec::new());
                    automaton.find_all(&plain, &mut found);
                    automaton.match_at_every_character(&plain, &mut anywhere);
                    found.sort_by_key(|hit| (hit.end, hit.start));
                    anywhere.sort_by_key(|hit| (hit.end, hit.start));
                    assert_eq!(found, anywhere, "{plain}");
                }
            }
        }
    }
}
