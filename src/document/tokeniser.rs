//! The tokens of the full-text index. Stored texts and questions are folded in the same way, Hebrew included.
//!
//! A Hebrew word carries prefixes and endings, so it is also found by its trigrams. English words have none: measured,
//! trigrams treble the index and find less.

use std::{hash::BuildHasher as _, ops::Range};

use hashbrown::{DefaultHashBuilder, HashTable, hash_table::Entry};
use unicode_normalization::UnicodeNormalization;

/// How many words of a document are indexed. More make the index larger and find no more.
const WORDS_PER_DOCUMENT: usize = 400;
/// A longer sequence of letters is not a word and is left out.
const LONGEST_WORD: usize = 40;
/// How many words of a question are considered at all.
const MAX_QUERY_WORDS: usize = 400;
/// How many forms of a Hebrew word are indexed: the word, and the word without one and two prefixes.
const MAX_FORMS: usize = 3;
/// The length of a piece of a Hebrew word. Four letters, and pieces that mark the ends of a word, found less.
const TRIGRAM_LETTERS: usize = 3;
/// How many trigrams of a document are indexed, beside its words.
const TRIGRAMS_PER_DOCUMENT: usize = 400;
/// The first character of a trigram, which tells it from a word. SQLite's `ascii` tokeniser takes every character
/// beyond ASCII for a letter.
const TRIGRAM_MARK: char = '·';
/// Hebrew prefixes that are written together with the word: and, the, in, to, from, as, that.
const HEBREW_PREFIXES: &[char] = &['ו', 'ה', 'ב', 'ל', 'מ', 'כ', 'ש'];

/// Returns the distinct words of `text`, in order, separated by spaces.
pub fn tokenise(text: &str) -> String {
    tokenise_texts(&[text])
}

/// Returns the distinct words of several texts, as [`tokenise`] does for one.
pub fn tokenise_texts(texts: &[&str]) -> String {
    let mut seen = DistinctWords::default();
    let mut cut = Vec::new();
    for text in texts {
        let full = visit_words(text, |word| {
            if word.is_ascii() {
                let room = seen.count() < WORDS_PER_DOCUMENT;
                if room {
                    seen.add(word);
                }
                return room;
            }
            if is_hebrew(word) && !seen.contains(word) && cut.len() < TRIGRAMS_PER_DOCUMENT {
                cut.extend(trigrams(word));
            }
            for form in prefix_stripped_forms(word) {
                if seen.count() >= WORDS_PER_DOCUMENT {
                    return false;
                }
                seen.add(form);
            }
            true
        });
        if full {
            break;
        }
    }
    cut.into_iter().take(TRIGRAMS_PER_DOCUMENT).for_each(|piece| seen.add(&piece));
    seen.text
}

/// A set of words that is also the indexed text: each word once, separated by spaces. The table points into the text, so
/// that a word needs no allocation of its own: a set of strings took 29 us a mail instead of 11, which is more than 3 % of the
/// CPU time of a mail in `cargo bench --bench path`. A table written by hand took 10.
struct DistinctWords {
    text: String,
    /// Where each word stands in `text`.
    places: HashTable<Range<usize>>,
    hasher: DefaultHashBuilder,
}

/// Room for most documents, so that neither the text nor the table need grow.
const INITIAL_CAPACITY: usize = 2048;
const INITIAL_WORDS: usize = 256;

impl Default for DistinctWords {
    fn default() -> Self {
        Self {
            text: String::with_capacity(INITIAL_CAPACITY),
            places: HashTable::with_capacity(INITIAL_WORDS),
            hasher: DefaultHashBuilder::default(),
        }
    }
}

impl DistinctWords {
    fn add(&mut self, word: &str) {
        let hash = |word: &[u8]| self.hasher.hash_one(word);
        let word_at = |place: &Range<usize>| self.text.as_bytes().get(place.clone()).unwrap_or_default();
        let is_word = |place: &Range<usize>| word_at(place) == word.as_bytes();
        let entry = self.places.entry(hash(word.as_bytes()), is_word, |place| hash(word_at(place)));
        if let Entry::Vacant(vacant) = entry {
            if !self.text.is_empty() {
                self.text.push(' ');
            }
            vacant.insert(self.text.len()..self.text.len() + word.len());
            self.text.push_str(word);
        }
    }

    fn contains(&self, word: &str) -> bool {
        let is_word = |place: &Range<usize>| self.text.as_bytes().get(place.clone()) == Some(word.as_bytes());
        self.places.find(self.hasher.hash_one(word.as_bytes()), is_word).is_some()
    }

    fn count(&self) -> usize {
        self.places.len()
    }
}

/// The terms that a question is looked up by.
pub struct QueryTerms {
    /// The words as a person knows them, the longest first.
    pub words: Vec<String>,
    /// The terms of the index, each with the position in `words` of the word it stands for.
    pub index_terms: Vec<(usize, String)>,
}

impl QueryTerms {
    /// Returns the terms of a question. Each term stands once, for the first word that has it.
    pub fn parse(question: &str) -> Self {
        let words = query_words(question);
        let mut index_terms: Vec<(usize, String)> = Vec::new();
        for (nth, word) in words.iter().enumerate() {
            let whole = prefix_stripped_forms(word).map(str::to_owned);
            let cut = is_hebrew(word).then(|| trigrams(word)).into_iter().flatten();
            for term in whole.chain(cut) {
                if !index_terms.iter().any(|(_, known)| *known == term) {
                    index_terms.push((nth, term));
                }
            }
        }
        Self { words, index_terms }
    }
}

/// Returns the words of a question, the longest first, without those that every text holds.
pub fn query_words(text: &str) -> Vec<String> {
    const MOST: usize = 16;
    let mut found: Vec<String> = Vec::new();
    visit_words(text, |word| {
        if !is_stop_word(word) && !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
        found.len() < MAX_QUERY_WORDS
    });
    found.sort_by_key(|word| std::cmp::Reverse(word.chars().count().min(8)));
    found.truncate(MOST);
    found
}

/// Calls `show` with every folded word until it returns false. Returns whether it did.
fn visit_words(text: &str, mut show: impl FnMut(&str) -> bool) -> bool {
    if text.is_ascii() {
        let lower = text.to_ascii_lowercase();
        let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        return words.map(stem).any(|word| word.len() <= LONGEST_WORD && !show(word));
    }
    let mut word = String::new();
    for raw in text.split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c)).filter(|raw| !raw.is_empty()) {
        fold_word(raw, &mut word);
        let word = stem(&word);
        if (1..=LONGEST_WORD).contains(&word.chars().count()) && !show(word) {
            return true;
        }
    }
    false
}

/// Writes the word in lower case, without accents, Hebrew points and final letter forms.
fn fold_word(raw: &str, word: &mut String) {
    word.clear();
    if raw.is_ascii() {
        word.push_str(raw);
        word.make_ascii_lowercase();
    } else {
        word.extend(raw.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).map(fold_final_letter));
    }
}

/// Removes the English plural or possessive s, and nothing more: "invoice" finds "invoices", and no two words are
/// confused.
fn stem(word: &str) -> &str {
    let plural = word.strip_suffix('s').filter(|rest| rest.len() > 2 && !rest.ends_with(['s', 'u']) && rest.is_ascii());
    plural.unwrap_or(word)
}

/// Returns whether the character is a combining mark, such as an accent or a Hebrew point.
fn is_combining_mark(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036F}' | '\u{0591}'..='\u{05BD}' | '\u{05BF}' | '\u{05C1}'..='\u{05C2}' | '\u{05C4}'..='\u{05C5}' | '\u{05C7}')
}

fn fold_final_letter(c: char) -> char {
    match c {
        'ך' => 'כ',
        'ם' => 'מ',
        'ן' => 'נ',
        'ף' => 'פ',
        'ץ' => 'צ',
        other => other,
    }
}

/// Returns the word and, for a Hebrew word, its forms without prefixes.
fn prefix_stripped_forms(word: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(word), |longer| {
        let mut chars = longer.chars();
        let prefixed = chars.next().is_some_and(|first| HEBREW_PREFIXES.contains(&first));
        let rest = chars.as_str();
        let is_word = || rest.chars().count() >= 3 && is_hebrew(rest);
        (prefixed && is_word()).then_some(rest)
    })
    .take(MAX_FORMS)
}

/// Returns whether a term of the index is a trigram and not a whole word.
pub fn is_trigram(term: &str) -> bool {
    term.starts_with(TRIGRAM_MARK)
}

fn is_hebrew(word: &str) -> bool {
    word.chars().all(|c| ('א'..='ת').contains(&c))
}

/// Returns every three consecutive letters of a word, each with the mark of a trigram.
fn trigrams(word: &str) -> impl Iterator<Item = String> {
    let letters: Vec<char> = word.chars().collect();
    let pieces: Vec<String> =
        letters.windows(TRIGRAM_LETTERS).map(|piece| [&[TRIGRAM_MARK], piece].concat().iter().collect()).collect();
    pieces.into_iter()
}

/// Returns whether the folded word is too common to tell documents apart.
fn is_stop_word(word: &str) -> bool {
    const STOP: &[&str] = &[
        "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "for", "from", "have", "i", "if", "in", "is",
        "it", "me", "my", "of", "on", "or", "our", "please", "re", "that", "the", "this", "to", "u", "we", "will",
        "with", "you", "your", "של", "את", "על", "לא", "זה", "עמ", "אני", "הוא", "היא", "גמ", "כל", "או",
    ];
    STOP.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(tokenise(text), expected, "{text}");
    }

    #[test]
    fn words_are_folded_alike_in_every_spelling() {
        check("Invoices, INVOICE invoice!", "invoice");
        check("Café CAFE\u{301}", "cafe");
        check("bus class", "bus class");
        check("a@b.example 2041", "a b example 2041");
        check("", "");
    }

    #[test]
    fn hebrew_is_found_without_points_final_letters_and_prefixes() {
        check("שָׁלוֹם", "שלומ לומ ·שלו ·לומ");
        check("והכד", "והכד הכד ·והכ ·הכד");
        assert_eq!(query_words("חשבונית"), ["חשבונית"]);
    }

    #[test]
    fn questions_lose_the_words_every_text_holds() {
        assert_eq!(query_words("Please send me the report for the board"), ["report", "board", "send"]);
    }

    #[test]
    fn an_inflected_hebrew_word_shares_pieces_with_another_form_of_it() {
        let stored = tokenise("לחשבונות הספקים");
        let shared = |question: &str| {
            let terms = QueryTerms::parse(question);
            terms.index_terms.iter().filter(|(_, term)| stored.split(' ').any(|token| token == term)).count()
        };
        assert!(shared("חשבונית") >= 3, "{stored}");
        assert_eq!(shared("מזלג"), 0);
        assert_eq!(QueryTerms::parse("invoice 2041 invoice").index_terms, [(0, "invoice".into()), (1, "2041".into())]);
    }

    #[test]
    fn a_huge_text_has_a_bounded_share() {
        let text: String = (0..5000).map(|n| format!("word{n} ")).collect();
        assert_eq!(tokenise(&text).split(' ').count(), WORDS_PER_DOCUMENT);
        // A Hebrew word at the border has its pieces, and no word comes after it.
        for (english, expected) in [(WORDS_PER_DOCUMENT - 1, "קוד ·קוד"), (WORDS_PER_DOCUMENT, "·קוד")] {
            let text: String = (0..english).map(|n| format!("word{n} ")).collect();
            let last = format!("word{} {expected}", english - 1);
            assert!(tokenise(&format!("{text}קוד more")).ends_with(&last), "{english}");
        }
    }
}
