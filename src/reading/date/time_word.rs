//! The words of time, and whether a sentence holds any.

use std::sync::LazyLock;

use crate::reading::lexicon::bloom::{WordSet, tokenise_by};

/// Most sentences hold neither a figure nor a word of time, and need not be read for one. Hebrew is always read.
pub(super) fn may_name_a_time(plain: &str) -> bool {
    !plain.is_ascii()
        || find_figures(plain.as_bytes()).any(may_be_time)
        || tokenise_by(plain, u8::is_ascii_alphabetic).any(|word| KNOWN.may_contain(word.hash))
}

static KNOWN: LazyLock<WordSet<256>> = LazyLock::new(|| WordSet::from_words(TIME_WORDS.iter().copied()));

pub(super) fn is_time_word(word: &str) -> bool {
    KNOWN.contains(word)
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

/// Every English word without which a time said in words is none.
const TIME_WORDS: &[&str] = &[
    "afternoon",
    "apr",
    "april",
    "aug",
    "august",
    "business",
    "cob",
    "day",
    "days",
    "dec",
    "december",
    "eod",
    "eom",
    "eow",
    "evening",
    "feb",
    "february",
    "fri",
    "friday",
    "hour",
    "hours",
    "hrs",
    "jan",
    "january",
    "jul",
    "july",
    "jun",
    "june",
    "mar",
    "march",
    "may",
    "midday",
    "midnight",
    "min",
    "mins",
    "minute",
    "minutes",
    "mon",
    "monday",
    "month",
    "months",
    "morning",
    "night",
    "noon",
    "nov",
    "november",
    "oct",
    "october",
    "sat",
    "saturday",
    "sep",
    "sept",
    "september",
    "sun",
    "sunday",
    "thu",
    "thur",
    "thurs",
    "thursday",
    "tmrw",
    "today",
    "tomorrow",
    "tonight",
    "tue",
    "tues",
    "tuesday",
    "wed",
    "wednesday",
    "week",
    "weekend",
    "weeks",
    "year",
    "years",
];

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
            ("מחר", true),
        ] {
            assert_eq!(may_name_a_time(plain), may, "{plain}");
        }
    }

    #[test]
    fn every_word_of_time_is_one() {
        assert!(TIME_WORDS.iter().all(|word| is_time_word(word)));
        assert!(!["a", "", "the", "dust", "Friday"].iter().any(|word| is_time_word(word)));
    }
}
