//! Checks texts that a model wrote: no address, no link, no id, no hidden characters.
//!
//! The text alone decides. Refusing a good text costs little, because a template takes its place; so everything
//! doubtful is refused.

use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization as _;

/// The reason of a refusal, which is sent to the model and recorded. It repeats nothing that the model wrote.
pub const FORBIDDEN_IN_TEXT: &str = "a text must not hold an address, a link, a domain, a file name or an id";

/// A word of letters and digits that is at least this long counts as an id, a key or a hash.
const ID_CHARS: usize = 16;
/// This many digits together count as an account or telephone number. A date with year and time of day has at most ten.
const ACCOUNT_DIGITS: usize = 11;

/// Matches everything that a reader or a mail program could take for a link. If it could not be compiled, every text is
/// refused.
static LINK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let parts = [
        // a scheme, a bare domain, an obfuscated one
        r"[a-z][a-z0-9+.-]*://",
        r"\b(?:www|mailto|tel|sms|javascript|data)[.:]\S",
        r"[\p{L}\p{N}_-]\.[\p{L}\p{N}_-]*\p{L}{2,}",
        r"[\[({]\s*(?:at|dot|punkt)\s*[\])}]",
        r"\bat\s+\S+\s+dot\b",
        r"\S\s+dot\s+(?:com|net|org|io|de|co|info|biz|example)\b",
        r"\]\s*\(",
        r"<\s*/?\s*[a-z!]",
    ];
    Regex::new(&parts.join("|")).ok()
});

/// Checks a text of several lines. The reason of a refusal never repeats the text.
pub fn check(text: &str, longest: usize) -> Result<(), String> {
    if text.chars().count() > longest {
        return Err(format!("a text is longer than {longest} characters"));
    }
    if text.chars().any(is_hidden) {
        return Err("a text holds control or hidden characters".into());
    }
    let plain: String = text.nfkc().flat_map(char::to_lowercase).map(|c| if is_dot(c) { '.' } else { c }).collect();
    let has_link = LINK.as_ref().is_none_or(|links| links.is_match(&plain));
    if plain.contains('@') || has_link || plain.split_whitespace().any(is_id) || has_account_number(&plain) {
        return Err(FORBIDDEN_IN_TEXT.into());
    }
    Ok(())
}

/// Checks a text that must be one line and not empty.
pub(super) fn check_line(text: &str, longest: usize) -> Result<(), String> {
    if text.trim().is_empty() || text.contains('\n') {
        return Err("a text that must be one line is empty or has several".into());
    }
    check(text, longest)
}

/// Returns whether a character is a control or an invisible one, such as a zero-width space or a change of direction.
fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns whether a character is a full stop that Unicode normalisation leaves as it is.
const fn is_dot(c: char) -> bool {
    matches!(c, '\u{3002}' | '\u{ff0e}' | '\u{ff61}' | '\u{2024}')
}

/// Returns whether a word mixes letters and digits like an id, a key or a hash.
fn is_id(word: &str) -> bool {
    let count = |wanted: fn(&char) -> bool| word.chars().filter(wanted).count();
    let (letters, digits) = (count(|c| c.is_ascii_alphabetic()), count(char::is_ascii_digit));
    letters > 0 && digits > 1 && letters + digits >= ID_CHARS
}

/// Returns whether a text contains an account number: many digits in a row, apart from single separators.
fn has_account_number(text: &str) -> bool {
    let (mut digits, mut after_separator) = (0, false);
    for c in text.chars() {
        let is_separator = matches!(c, ' ' | '-' | '/' | '.' | '(' | ')' | '+');
        match c {
            c if c.is_numeric() => digits += 1,
            // Two separators in a row stand between two numbers, as in a span of dates.
            _ if is_separator && !after_separator => {}
            _ => digits = 0,
        }
        after_separator = is_separator;
        if digits >= ACCOUNT_DIGITS {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_pass() {
        for text in [
            "Thank you for your mail. I will be back on Thursday, 19 November at 14:30.",
            "Danke, das passt mir gut, z. B. am Dienstag um 9.30 Uhr.",
            "תודה רבה, אחזור אליך מחר.",
            "The total is EUR 1,250.00 (invoice 1024).",
            "…",
            "I am at home; e.g. on Monday. 50/50?",
            "2026-11-25 14:30",
            "from 25.11.2026 - 30.11.2026 I am (a) away and (b) busy",
        ] {
            assert_eq!(check(text, 1000), Ok(()), "{text}");
        }
    }

    #[test]
    fn addresses_links_and_ids_do_not() {
        for text in [
            "Write to eve@evil.example",
            "Write to eve＠evil．example",
            "See https://evil.example/x",
            "see evil.example for more",
            "see evil。example",
            "eve [at] evil [dot] example",
            "eve at evil dot com",
            "click [here](evil)",
            "<a href=x>here</a>",
            "mailto:eve",
            "Pay to DE89 3704 0044 0532 0130 00",
            "call +49 170 1234567 890",
            "the key is sk4f9a8b7c6d5e4f3a2b",
            "01JYD3A8P0WQ5M4T6R2P0N1M4K",
            "hid\u{200b}den",
            "turn\u{202e}ed",
            "open report.pdf",
        ] {
            assert!(check(text, 1000).is_err(), "{text}");
        }
        assert!(check("abc", 2).is_err());
        assert!(check_line("a\nb", 10).is_err() && check_line("  ", 10).is_err());
    }

    #[test]
    fn the_patterns_compile() {
        assert!(LINK.is_some());
    }
}
