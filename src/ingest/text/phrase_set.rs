//! A list of phrases, found at the start of a text or inside it in one pass.

use std::{collections::BTreeMap, sync::OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

/// Phrases of one kind, folded as the texts are that they are looked for in.
#[derive(Debug, Default)]
pub(super) struct PhraseSet {
    /// In the order of their bytes.
    phrases: Vec<ClientPhrase>,
    /// The first bytes of each, in order: most texts begin with none of them, and are not looked at closely.
    stems: Vec<u32>,
    /// Those with a `*` as a word of its own, by their words.
    with_gap: Vec<(Vec<String>, Languages)>,
    /// Finds phrases inside a text. Most kinds are never looked for there, so it is built when it is first asked for.
    automaton: OnceLock<Option<AhoCorasick>>,
}

#[derive(Debug)]
struct ClientPhrase {
    text: String,
    any_ending: bool,
    languages: Languages,
}

/// Languages of the file, one bit for each in its order. A phrase may be of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Languages(u64);

impl Languages {
    pub(super) const ALL: Self = Self(u64::MAX);

    /// The language that stands at this place in the file; those behind the last bit share it.
    pub(super) fn nth(place: u32) -> Self {
        Self(1 << place.min(u64::BITS - 1))
    }

    fn overlap(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A phrase with which a text starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) bytes: usize,
    pub(super) words: usize,
    pub(super) languages: Languages,
}

impl PhraseSet {
    pub(super) fn new(phrases: &[(&str, Languages)]) -> Self {
        let mut set = Self::default();
        let mut by_text: BTreeMap<String, ClientPhrase> = BTreeMap::new();
        for (phrase, languages) in phrases {
            let folded = fold(phrase);
            if folded.split(' ').any(|word| word == "*") {
                set.with_gap.push((folded.split(' ').map(str::to_owned).collect(), *languages));
                continue;
            }
            let text = folded.trim_end_matches('*').to_owned();
            let known = by_text.entry(text.clone());
            let known = known.or_insert(ClientPhrase { text, any_ending: false, languages: Languages::default() });
            known.any_ending |= folded.ends_with('*');
            known.languages.0 |= languages.0;
        }
        set.phrases = by_text.into_values().filter(|phrase| !phrase.text.is_empty()).collect();
        set.stems = set.phrases.iter().map(|phrase| pack_stem(&phrase.text)).collect();
        set.stems.sort_unstable();
        set
    }

    /// Returns the longest phrase whose letters are the first of a folded text, be it inside a word.
    fn longest_prefix(&self, text: &str) -> Option<&ClientPhrase> {
        if !self.may_start(text) {
            return None;
        }
        let mut text = text.as_bytes();
        let mut phrases = self.phrases.as_slice();
        loop {
            let end = phrases.partition_point(|phrase| phrase.text.as_bytes() <= text);
            phrases = phrases.get(..end)?;
            let last = phrases.last()?;
            let common = text.iter().zip(last.text.as_bytes()).take_while(|(one, other)| one == other).count();
            if common == last.text.len() {
                return Some(last);
            }
            // A longer one would stand behind this one in their order.
            text = text.get(..common)?;
        }
    }

    /// Returns whether a folded text may start with a phrase, by its first bytes.
    pub(super) fn may_start(&self, text: &str) -> bool {
        let stem = pack_stem(text);
        // Phrases that are shorter have zeros behind them.
        let stems = [stem, stem & 0xffff_ff00, stem & 0xffff_0000, stem & 0xff00_0000];
        stems.iter().any(|stem| self.stems.binary_search(stem).is_ok())
    }

    /// Returns the longest phrase with which a folded text starts.
    pub(super) fn find_start(&self, text: &str) -> Option<Start> {
        let phrase = self.longest_prefix(text)?;
        let bytes = phrase.text.len();
        let ends = phrase.any_ending || is_boundary(text, bytes);
        ends.then(|| Start { bytes, words: phrase.text.split(' ').count(), languages: phrase.languages })
    }

    pub(super) fn is_start(&self, text: &str) -> bool {
        self.find_start(text).is_some()
    }

    /// Returns the languages of the phrase that a folded text is, if it is one.
    pub(super) fn find_whole(&self, text: &str) -> Option<Languages> {
        let listed = self.find_listed(text).map(|phrase| phrase.languages);
        listed.or_else(|| self.with_gap.iter().find(|(phrase, _)| is_with_gap(text, phrase)).map(|found| found.1))
    }

    fn find_listed(&self, text: &str) -> Option<&ClientPhrase> {
        let at = self.phrases.binary_search_by(|phrase| phrase.text.as_str().cmp(text)).ok()?;
        self.phrases.get(at)
    }

    pub(super) fn is_whole(&self, text: &str) -> bool {
        self.find_whole(text).is_some()
    }

    /// Returns the phrases that stand in a folded text as whole words, by their number.
    fn find_inside<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (usize, &'a ClientPhrase)> {
        let automaton = self.automaton.get_or_init(|| self.build_automaton()).as_ref();
        let hits = automaton.into_iter().flat_map(move |automaton| automaton.find_iter(text));
        hits.filter_map(move |hit| {
            let phrase = self.phrases.get(hit.pattern().as_usize())?;
            let ends = phrase.any_ending || is_boundary(text, hit.end());
            (ends && is_boundary(text, hit.start())).then_some((hit.pattern().as_usize(), phrase))
        })
    }

    /// Returns none of an empty set; an error would only mean too many phrases.
    fn build_automaton(&self) -> Option<AhoCorasick> {
        let texts = self.phrases.iter().map(|phrase| &phrase.text);
        // The contiguous automaton is small, and the texts are too short for a search of their own before it.
        let mut builder = AhoCorasick::builder();
        builder.kind(Some(AhoCorasickKind::ContiguousNFA)).match_kind(MatchKind::LeftmostLongest).prefilter(false);
        builder.build(texts).ok().filter(|_| !self.phrases.is_empty())
    }

    /// Adds the phrases that stand in a folded text. Returns whether there was any.
    pub(super) fn collect_inside(&self, text: &str, found: &mut PhraseIds) -> bool {
        let mut any = false;
        for (id, _) in self.find_inside(text) {
            any = true;
            if !found.insert(id) {
                break;
            }
        }
        any
    }

    /// Returns how many different phrases stand in a folded text, counted up to [`MAX_COUNTED`].
    pub(super) fn count_inside(&self, text: &str) -> usize {
        let mut found = PhraseIds::default();
        self.collect_inside(text, &mut found);
        found.len()
    }

    /// Returns whether a phrase of one of these languages stands in a folded text.
    pub(super) fn is_inside(&self, text: &str, languages: Languages) -> bool {
        self.find_inside(text).any(|(_, phrase)| phrase.languages.overlap(languages))
    }

    /// Returns whether a folded text ends with one of the phrases.
    pub(super) fn is_end(&self, text: &str) -> bool {
        let starts = text.char_indices().rev().take(MAX_END_CHARS).map(|(at, _)| at);
        starts
            .filter(|at| is_boundary(text, *at))
            .any(|at| text.get(at..).is_some_and(|end| self.find_listed(end).is_some()))
    }
}

/// Returns the first four bytes of a text as one number.
fn pack_stem(text: &str) -> u32 {
    let bytes = text.as_bytes();
    (0..4).fold(0, |stem, at| stem << 8 | bytes.get(at).map_or(0, |byte| u32::from(*byte)))
}

/// Returns whether a text is a phrase with a `*` for any one word.
fn is_with_gap(text: &str, phrase: &[String]) -> bool {
    let mut words = text.split(' ');
    phrase.iter().all(|word| words.next().is_some_and(|found| word == "*" || word == found)) && words.next().is_none()
}

/// The longest phrase that a text may end with.
const MAX_END_CHARS: usize = 40;

/// Different phrases of a set, up to [`MAX_COUNTED`].
#[derive(Debug, Default)]
pub(super) struct PhraseIds(Vec<usize>);

/// Nobody asks for more.
const MAX_COUNTED: usize = 3;

impl PhraseIds {
    /// Returns whether there is room for more.
    fn insert(&mut self, id: usize) -> bool {
        if !self.0.contains(&id) && self.0.len() < MAX_COUNTED {
            self.0.push(id);
        }
        self.0.len() < MAX_COUNTED
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns whether a word may begin or end here. Scripts without spaces have no such places, so there it may anywhere.
fn is_boundary(text: &str, at: usize) -> bool {
    let joins = |c: char| c.is_alphanumeric() && c < FIRST_UNSPACED_CHAR;
    let before = text.get(..at).and_then(|text| text.chars().next_back());
    let after = text.get(at..).and_then(|text| text.chars().next());
    !(before.is_some_and(joins) && after.is_some_and(joins))
}

/// From here on are the scripts of East Asia.
const FIRST_UNSPACED_CHAR: char = '\u{2e80}';

/// Returns the text in lower case, with single spaces, without marks of direction, and with plain quotation marks.
pub(super) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut apart = false;
    for c in text.chars() {
        // Most letters are these, and need no more.
        let plain = if c.is_ascii() { c.to_ascii_lowercase() } else { plain_char(c) };
        if plain == ' ' || plain.is_ascii_whitespace() {
            apart = true;
            continue;
        }
        if plain == HIDDEN {
            continue;
        }
        if std::mem::take(&mut apart) && !out.is_empty() {
            out.push(' ');
        }
        if plain.is_ascii() {
            out.push(plain);
        } else {
            out.extend(plain.to_lowercase());
        }
    }
    out
}

/// Stands for a character that is left out.
const HIDDEN: char = '\0';

/// Returns what counts of a character that is not ASCII.
fn plain_char(c: char) -> char {
    match c {
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => HIDDEN,
        '’' | '‘' | '´' | '׳' => '\'',
        '“' | '”' | '„' | '״' => '"',
        '‑' | '‐' => '-',
        '：' => ':',
        'İ' | 'ı' => 'i',
        space if space.is_whitespace() => ' ',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_whole_words() {
        let one = Languages::nth(0);
        let set = PhraseSet::new(
            &["sent from", "sent from my", "confidential*", "のメール", "mit * gruß"].map(|phrase| (phrase, one)),
        );
        for (text, start) in [
            ("sent from my phone", Some(12)),
            ("sent from mywork", None),
            ("sent from", Some(9)),
            ("unsent from", None),
            ("confidentiality", Some(12)),
            ("", None),
        ] {
            assert_eq!(set.find_start(text).map(|start| start.bytes), start, "{text}");
        }
        assert_eq!(set.count_inside("it was sent from here, confidentially"), 2);
        assert_eq!(set.count_inside("unconfidential"), 0);
        assert!(set.is_end("山田のメール") && !set.is_end("sent from x") && set.is_end("x sent from"));
        assert!(set.is_whole("mit nettem gruß") && !set.is_whole("mit gruß") && !set.is_whole("mit a b gruß"));
    }

    #[test]
    fn a_phrase_belongs_to_its_languages() {
        let [one, two, three] = [0, 1, 2].map(Languages::nth);
        let set = PhraseSet::new(&[("mi", one), ("i", two), ("MI", two)]);
        assert_eq!(set.find_start("mi casa").map(|start| start.languages), Some(Languages(0b11)));
        assert!(set.is_inside("de mi casa", two) && !set.is_inside("i am", one) && !set.is_inside("mi i", three));
        assert!(set.is_inside("mi", Languages::ALL) && Languages::nth(99) == Languages::nth(63));
    }

    #[test]
    fn what_does_not_count_is_folded_away() {
        assert_eq!(fold(" On\u{a0}3  Mar\u{202f}2026 \u{200f}WROTE： "), "on 3 mar 2026 wrote:");
        assert_eq!(fold("Message d’origine"), fold("message d'origine"));
        assert_eq!(fold("İLETİLEN ILETI"), "iletilen ileti");
    }
}
