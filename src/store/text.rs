//! Our own words for the full-text index: folded the same way when stored and when asked, Hebrew included.

use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization;

/// A document's share of the index; more words add size, not findability.
const WORDS_PER_DOCUMENT: usize = 400;
/// Longer runs of letters are not words.
const LONGEST_WORD: usize = 40;
/// Words of a question that are weighed at all.
const LONGEST_QUESTION: usize = 400;
/// The word, and it without one and two prefixes.
const MOST_FORMS: usize = 3;
/// Hebrew prefixes that are written together with the word: and, the, in, to, from, as, that.
const HEBREW_PREFIXES: &[char] = &['ו', 'ה', 'ב', 'ל', 'מ', 'כ', 'ש'];

/// The distinct words of `text`, in order, with a space between.
pub fn tokens(text: &str) -> String {
    tokens_of(&[text])
}

/// The same of several texts.
pub(super) fn tokens_of(texts: &[&str]) -> String {
    let mut seen = HashSet::new();
    let mut out = String::new();
    for text in texts {
        // A word that is there already, as most are, costs no memory.
        let full = each_word(text, |word| {
            for form in forms(word) {
                if seen.len() >= WORDS_PER_DOCUMENT {
                    return false;
                }
                if !seen.contains(form) {
                    seen.insert(form.to_owned());
                    if !out.is_empty() {
                        out.push(' ');
                    }
                    out.push_str(form);
                }
            }
            true
        });
        if full {
            break;
        }
    }
    out
}

/// The words of a question, most telling first, without those that every text holds.
pub fn query_words(text: &str) -> Vec<String> {
    const MOST: usize = 16;
    let mut found: Vec<String> = Vec::new();
    each_word(text, |word| {
        if !is_stop_word(word) && !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
        found.len() < LONGEST_QUESTION
    });
    found.sort_by_key(|word| std::cmp::Reverse(word.chars().count().min(8)));
    found.truncate(MOST);
    found
}

/// How many of `words` occur in `text`.
pub fn shared_words(words: &[String], text: &str) -> usize {
    let mut found = vec![false; words.len()];
    each_word(text, |word| {
        words.iter().zip(&mut found).filter(|(known, _)| *known == word).for_each(|(_, found)| *found = true);
        true
    });
    found.into_iter().filter(|found| *found).count()
}

/// Shows every word, folded, until told to stop; true when it was told.
fn each_word(text: &str, mut show: impl FnMut(&str) -> bool) -> bool {
    let mut word = String::new();
    for raw in text.split(|c: char| !c.is_alphanumeric() && !is_mark(c)).filter(|raw| !raw.is_empty()) {
        fold(raw, &mut word);
        let length = if word.is_ascii() { word.len() } else { word.chars().count() };
        if (1..=LONGEST_WORD).contains(&length) && !show(&word) {
            return true;
        }
    }
    false
}

fn fold(raw: &str, word: &mut String) {
    word.clear();
    if raw.is_ascii() {
        word.push_str(raw);
        word.make_ascii_lowercase();
    } else {
        word.extend(raw.nfkd().filter(|c| !is_mark(*c)).flat_map(char::to_lowercase).map(unfinal));
    }
    stem(word);
}

/// Plural and possessive s only: enough to make "invoice" find "invoices", too little to confuse.
fn stem(word: &mut String) {
    if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") && word.is_ascii() {
        word.pop();
    }
}

/// Combining marks, Hebrew points and accents among them.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036F}' | '\u{0591}'..='\u{05BD}' | '\u{05BF}' | '\u{05C1}'..='\u{05C2}' | '\u{05C4}'..='\u{05C5}' | '\u{05C7}')
}

fn unfinal(c: char) -> char {
    match c {
        'ך' => 'כ',
        'ם' => 'מ',
        'ן' => 'נ',
        'ף' => 'פ',
        'ץ' => 'צ',
        other => other,
    }
}

/// A Hebrew word is found with and without its prefix.
fn forms(word: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(word), |longer| {
        let mut chars = longer.chars();
        let prefixed = chars.next().is_some_and(|first| HEBREW_PREFIXES.contains(&first));
        let rest = chars.as_str();
        let is_word = || rest.chars().count() >= 3 && rest.chars().all(|c| ('א'..='ת').contains(&c));
        (prefixed && is_word()).then_some(rest)
    })
    .take(MOST_FORMS)
}

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
        assert_eq!(tokens(text), expected, "{text}");
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
        check("שָׁלוֹם", "שלומ לומ");
        check("והחשבונית", "והחשבונית החשבונית חשבונית");
        assert_eq!(query_words("חשבונית"), ["חשבונית"]);
    }

    #[test]
    fn questions_lose_the_words_every_text_holds() {
        assert_eq!(query_words("Please send me the report for the board"), ["report", "board", "send"]);
    }

    #[test]
    fn shared_words_are_counted_once_each() {
        let words = query_words("the quarterly reports for Café Berlin");
        assert_eq!(shared_words(&words, "Report: report on the CAFE, quarter"), 2);
        assert_eq!(shared_words(&words, ""), 0);
    }

    #[test]
    fn a_huge_text_has_a_bounded_share() {
        let text: String = (0..5000).map(|n| format!("word{n} ")).collect();
        assert_eq!(tokens(&text).split(' ').count(), WORDS_PER_DOCUMENT);
    }
}
