//! Our own words for the full-text index: folded the same way when stored and when asked, Hebrew included.

use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization;

/// A document's share of the index; more words add size, not findability.
const WORDS_PER_DOCUMENT: usize = 400;
/// Longer runs of letters are not words.
const LONGEST_WORD: usize = 40;
/// Hebrew prefixes that are written together with the word: and, the, in, to, from, as, that.
const HEBREW_PREFIXES: &[char] = &['ו', 'ה', 'ב', 'ל', 'מ', 'כ', 'ש'];

/// The distinct words of `text`, in order, with a space between.
pub fn tokens(text: &str) -> String {
    let mut seen = HashSet::new();
    let mut out = String::new();
    for word in words(text) {
        for form in forms(&word) {
            if seen.len() >= WORDS_PER_DOCUMENT {
                return out;
            }
            if seen.insert(form.clone()) {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(&form);
            }
        }
    }
    out
}

/// The words of a question, most telling first, without those that every text holds.
pub fn query_words(text: &str) -> Vec<String> {
    const MOST: usize = 16;
    let mut seen = HashSet::new();
    let mut found: Vec<String> =
        words(text).filter(|word| !is_stop_word(word)).filter(|word| seen.insert(word.clone())).collect();
    found.sort_by_key(|word| std::cmp::Reverse(word.chars().count().min(8)));
    found.truncate(MOST);
    found
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric() && !is_mark(c))
        .filter(|word| !word.is_empty())
        .map(fold)
        .filter(|word| !word.is_empty() && word.chars().count() <= LONGEST_WORD)
}

fn fold(word: &str) -> String {
    if word.is_ascii() {
        return stem(word.to_ascii_lowercase());
    }
    let folded = word.nfkd().filter(|c| !is_mark(*c)).flat_map(char::to_lowercase).map(unfinal).collect();
    stem(folded)
}

/// Plural and possessive s only: enough to make "invoice" find "invoices", too little to confuse.
fn stem(mut word: String) -> String {
    if word.len() > 3 && word.is_ascii() && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us") {
        word.pop();
    }
    word
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
fn forms(word: &str) -> Vec<String> {
    let mut forms = vec![word.to_owned()];
    let mut rest = word;
    for _ in 0..2 {
        let mut chars = rest.chars();
        let prefixed = chars.next().is_some_and(|first| HEBREW_PREFIXES.contains(&first));
        rest = chars.as_str();
        if !prefixed || rest.chars().count() < 3 || !rest.chars().all(|c| ('א'..='ת').contains(&c)) {
            break;
        }
        forms.push(rest.to_owned());
    }
    forms
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
    fn a_huge_text_has_a_bounded_share() {
        let text: String = (0..5000).map(|n| format!("word{n} ")).collect();
        assert_eq!(tokens(&text).split(' ').count(), WORDS_PER_DOCUMENT);
    }
}
