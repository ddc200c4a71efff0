//! Small operations on what a person types: cleaning, folding, words, quotes.

use super::vocabulary::PhraseList;

/// The longest message that is understood. Nobody types more; a longer one is a file that was pasted by mistake.
pub const MOST_MESSAGE_CHARS: usize = 4_000;
/// The longest title of a task.
pub(super) const MOST_TITLE_CHARS: usize = 500;

/// Returns the message as it is understood: without control characters and characters that only change direction, and
/// without blanks around it.
pub fn clean_message(message: &str) -> String {
    let kept = message.chars().map(|c| if c.is_control() { ' ' } else { c }).filter(|c| !is_invisible(*c));
    kept.collect::<String>().trim().to_owned()
}

/// Returns whether a character only changes the direction of text, or is not seen at all.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns whether a character belongs to a word.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the text in lower case, with plain apostrophes and single blanks, without punctuation around it and without
/// courtesies.
pub(super) fn fold(text: &str) -> String {
    let lower = fold_case(text);
    let mut rest = trim_punctuation(&lower);
    while let Some(shorter) = strip_courtesy(rest) {
        rest = shorter;
    }
    rest.to_owned()
}

/// Returns the text in lower case, with plain apostrophes and single blanks.
pub(super) fn fold_case(text: &str) -> String {
    let lower = text.to_lowercase().replace(['\u{2019}', '\u{2018}'], "'");
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a folded text without a courtesy at its beginning or end; none if it has none, or is nothing else.
fn strip_courtesy(text: &str) -> Option<&str> {
    let courtesy = PhraseList("courtesy");
    let shorter = courtesy.strip_start(text).or_else(|| courtesy.strip_end(text)).map(trim_punctuation);
    shorter.filter(|rest| !rest.is_empty() && rest.len() < text.len())
}

/// Returns the text without punctuation and blanks around it. A number sign and quotation marks stay.
pub(super) fn trim_punctuation(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | ',' | '!' | '?' | ';' | ':' | '…'))
}

/// Returns the words of a text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_word_char(c) && c != '\'' && c != '-').filter(|word| !word.is_empty())
}

/// The quotation marks that people type, each with its end.
const QUOTES: [(char, char); 6] = [('\'', '\''), ('"', '"'), ('“', '”'), ('‘', '’'), ('„', '“'), ('«', '»')];

/// Returns the texts in quotation marks, each with the bytes that it takes together with its marks. An apostrophe within a
/// word is no quotation mark.
pub(super) fn quoted(text: &str) -> Vec<(std::ops::Range<usize>, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some((start, open)) = next_char(text, at) {
        at = start + open.len_utf8();
        let Some((_, close)) = QUOTES.iter().find(|(mark, _)| *mark == open) else { continue };
        let is_word_before = text.get(..start).and_then(|before| before.chars().next_back()).is_some_and(is_word_char);
        if is_word_before {
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let end = rest.char_indices().find(|(offset, c)| {
            let after = rest.get(offset + c.len_utf8()..).and_then(|after| after.chars().next());
            *c == *close && after.is_none_or(|c| !is_word_char(c))
        });
        let Some((length, close)) = end else { continue };
        let inside = rest.get(..length).unwrap_or_default().trim();
        if !inside.is_empty() {
            found.push((start..at + length + close.len_utf8(), inside));
        }
        at += length + close.len_utf8();
    }
    found
}

fn next_char(text: &str, at: usize) -> Option<(usize, char)> {
    text.get(at..)?.chars().next().map(|c| (at, c))
}

/// Returns the text without quotation marks around the whole of it.
pub(super) fn unquote(text: &str) -> &str {
    let text = text.trim();
    match quoted(text).first() {
        Some((place, inside)) if *place == (0..text.len()) => inside,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_loses_what_cannot_be_seen() {
        for (typed, expected) in [
            ("  add\tmilk\r\n", "add milk"),
            ("add\u{202e} milk\u{200b}", "add milk"),
            ("\u{1b}[2Jdelete it", "[2Jdelete it"),
            ("\0", ""),
        ] {
            assert_eq!(clean_message(typed), expected, "{typed:?}");
        }
    }

    #[test]
    fn folding_drops_case_courtesies_and_punctuation() {
        for (text, expected) in
            [("Never  Mind, please!", "never mind"), ("בטל, בבקשה", "בטל"), ("please", "please"), ("Don’t", "don't")]
        {
            assert_eq!(fold(text), expected, "{text}");
        }
    }

    #[test]
    fn quotes_are_not_apostrophes() {
        let texts = |text| quoted(text).into_iter().map(|(_, inside)| inside.to_owned()).collect::<Vec<_>>();
        assert_eq!(texts("title to 'Call mom' and 'it's late'"), ["Call mom", "it's late"]);
        assert_eq!(texts("mom's and dad's"), [""; 0]);
        assert_eq!(unquote("“Buy milk”"), "Buy milk");
        assert_eq!(unquote("'a' and 'b'"), "'a' and 'b'");
    }
}
