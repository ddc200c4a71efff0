//! The words of time, and whether a sentence holds any.

use std::sync::LazyLock;

/// Most sentences hold neither a figure nor a word of time, and need not be read for one. Hebrew is always read.
pub(super) fn may_name_a_time(plain: &str) -> bool {
    !plain.is_ascii()
        || (plain.contains(|c: char| c.is_ascii_digit()) && plain.split(|c: char| !is_of_figure(c)).any(may_be_time))
        || plain.as_bytes().split(|byte| !byte.is_ascii_alphabetic()).any(is_time_word)
}

/// Whether it is a word of time, by its first letters: every word of every mail is asked, and a longer one that begins
/// alike is only read for nothing.
pub(super) fn is_time_word(word: &[u8]) -> bool {
    static HEADS: LazyLock<Vec<u64>> = LazyLock::new(|| {
        let mut heads: Vec<u64> = TIME_WORDS.iter().map(|word| head(word.as_bytes())).collect();
        heads.sort_unstable();
        heads
    });
    HEADS.binary_search(&head(word)).is_ok()
}

/// Up to eight letters as one number.
fn head(word: &[u8]) -> u64 {
    word.iter().take(8).fold(0, |head, letter| head << 8 | u64::from(*letter))
}

fn is_of_figure(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '-' | '.' | '/' | ':')
}

/// A year alone is no day.
fn may_be_time(figure: &str) -> bool {
    let bare = figure.trim_matches(|c: char| !c.is_ascii_digit());
    !bare.is_empty() && (bare.len() != 4 || bare.contains(|c: char| !c.is_ascii_digit()))
}

/// Every English word without which a time said in words is none; sorted.
pub(super) const TIME_WORDS: &[&str] = &[
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
    fn words_of_time_are_sorted() {
        assert!(TIME_WORDS.is_sorted());
    }

    #[test]
    fn every_word_of_time_is_one() {
        assert!(TIME_WORDS.iter().all(|word| is_time_word(word.as_bytes())));
        assert!(!["a", "", "the", "dust", "Friday"].iter().any(|word| is_time_word(word.as_bytes())));
    }
}
