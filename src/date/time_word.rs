//! Whether a sentence holds a word or a figure of time at all.

use super::language::may_be_word_of_time;
use crate::plain_text::word_hash::tokenise_by;

/// Most sentences hold neither a figure nor a word of time, and need not be read for one. What is written in other
/// letters than the English is always read.
pub(super) fn may_name_a_time(plain: &str) -> bool {
    !plain.is_ascii()
        || find_figures(plain.as_bytes()).any(may_be_time)
        || tokenise_by(plain, u8::is_ascii_alphabetic).any(|word| may_be_word_of_time(word.hash))
}

/// Digits, with what may stand between them.
fn find_figures(plain: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = plain;
    std::iter::from_fn(move || {
        let (_, from) = rest.split_at_checked(rest.iter().position(u8::is_ascii_digit)?)?;
        let of_figure = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'/' | b':');
        let (figure, after) =
            from.split_at_checked(from.iter().position(|byte| !of_figure(byte)).unwrap_or(from.len()))?;
        rest = after;
        Some(figure)
    })
}

/// A year alone is no day.
fn may_be_time(figure: &[u8]) -> bool {
    let end = figure.iter().rposition(u8::is_ascii_digit);
    let bare = end.and_then(|end| figure.get(..=end)).unwrap_or_default();
    bare.len() != 4 || !bare.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_name_a_time_is_read() {
        for (plain, may) in [
            ("as it was in 2019.", false),
            ("room 1204, then", false),
            ("it costs 12", true),
            ("at 5:30", true),
            ("on 2026-06-23", true),
            ("by 23/6", true),
            ("in june 2027", true),
            ("nothing of the sort", false),
            ("bis freitag", true),
            ("mach es uebermorgen", true),
            ("by half past four", true),
            ("מחר", true),
        ] {
            assert_eq!(may_name_a_time(plain), may, "{plain}");
        }
    }
}
