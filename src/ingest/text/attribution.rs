//! The line above a quote that says who wrote it and when: `On Mon, 3 Mar 2026 at 10:12, Dana <d@x.example> wrote:`.

use super::{
    client_words::{Kind, WORDS},
    phrase_set::{Languages, fold},
};

/// Mail programs wrap it over so many lines at most.
const MAX_LINES: usize = 4;
const MAX_BYTES: usize = 500;
/// A weekday or a word like "on" stands in so many bytes.
const HEAD_BYTES: usize = 64;
/// Letters of a writer's initials before the mark of a quote.
const MAX_INITIALS: usize = 3;

/// Returns the number of lines of an attribution, when one starts here.
pub(super) fn attribution_len(lines: &[&str]) -> Option<usize> {
    let first = lines.first()?.trim();
    // Its first line names a date or an address, or is its last.
    let may_start = has_digit(first) || first.contains('@') || ends_with_colon(first);
    if !may_start || first.len() > MAX_BYTES || is_quoted(first) {
        return None;
    }
    let opening = find_opening(first);
    if opening.is_none() && !ends_with_colon(first) && !starts_with_person(first) {
        return None;
    }
    let mut joined = String::new();
    for (count, line) in lines.iter().take(MAX_LINES).enumerate() {
        let line = line.trim();
        let begins_anew = count > 0 && has_digit(line) && find_opening(line) == Some(Opening::Word);
        if line.is_empty() || joined.len() + line.len() > MAX_BYTES || begins_anew || is_quoted(line) {
            return None;
        }
        joined.push(' ');
        joined.push_str(line);
        if ends_with_colon(line) {
            let above_quote = || is_quote_next(lines.get(count + 1..).unwrap_or_default());
            return is_attribution(&joined, opening, count + 1, above_quote).then_some(count + 1);
        }
        // A sentence that ends is not the beginning of one, and a date stands in the first line.
        if ends_sentence(line) || (count == 0 && !has_digit(line) && !line.contains('@')) {
            return None;
        }
    }
    None
}

/// What it opens with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    /// "On", "Am", "Le".
    Word,
    /// The date itself: "2026-03-03", "Tue, 3 Mar".
    Date,
}

fn find_opening(line: &str) -> Option<Opening> {
    let head = fold(line.get(..line.floor_char_boundary(HEAD_BYTES))?);
    if WORDS.of(Kind::Attribution).is_start(&head) {
        return Some(Opening::Word);
    }
    let is_date = head.starts_with(|c: char| c.is_ascii_digit())
        || WORDS.of(Kind::Weekday).find_start(&head).is_some_and(|day| {
            head.get(day.bytes..).is_some_and(|rest| rest.starts_with(['.', ',', ' ', '(']) && has_digit(rest))
        });
    is_date.then_some(Opening::Date)
}

/// Returns whether a line begins as `Dana Cohen <d@x.example>` does.
fn starts_with_person(line: &str) -> bool {
    line.split_once('<').is_some_and(|(name, rest)| name.split_whitespace().count() <= 5 && rest.contains('@'))
}

fn is_attribution(text: &str, opening: Option<Opening>, lines: usize, above_quote: impl FnOnce() -> bool) -> bool {
    let dated = has_year_before_name(text);
    let text = &fold(text);
    let said = text.trim_end_matches([':', ' ']);
    let names_writer = WORDS.of(Kind::Wrote).is_end(said)
        || (opening.is_some() && WORDS.of(Kind::WroteBefore).is_inside(said, Languages::ALL))
        || (opening.is_none() && text.contains('@') && WORDS.of(Kind::WroteBefore).is_inside(said, Languages::ALL));
    let has_address = text.contains('@');
    let has_time = has_time_of_day(text);
    match opening {
        // `2026年3月3日(火) 10:12 X <x@y.example>:` and its like in languages that have no verb there.
        Some(Opening::Date) if said.ends_with('>') && has_address && has_time => true,
        Some(_) if names_writer && (has_address || has_time || dated || has_numeric_date(text)) => true,
        None if names_writer && lines > 1 && !(has_address && has_time) => false,
        None if names_writer && has_address && has_time => true,
        // `Dana wrote:` counts only right above a quote, which is looked for last because it may be far away.
        _ => (names_writer || (said.ends_with('>') && has_address && has_digit(text))) && above_quote(),
    }
}

/// Returns whether a line is marked as quoted: `> x`, or with the writer's initials, `DC> x`.
pub(super) fn is_quoted(line: &str) -> bool {
    let line = line.trim_start();
    let after = line.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let initials = line.len() - after.len();
    let ends = || after.get(1..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '>']));
    after.starts_with('>') && (initials == 0 || (initials <= MAX_INITIALS && ends()))
}

/// Returns a line without the marks of quotation.
pub(super) fn strip_quote_marks(line: &str) -> &str {
    match is_quoted(line) {
        true => line.trim_start().trim_start_matches(|c: char| c.is_ascii_alphabetic()).trim_start_matches(['>', ' ']),
        false => line.trim_start(),
    }
}

/// Returns whether the next line that holds something is quoted.
pub(super) fn is_quote_next(lines: &[&str]) -> bool {
    lines.iter().find(|line| !line.trim().is_empty()).is_some_and(|line| is_quoted(line))
}

fn ends_with_colon(line: &str) -> bool {
    let is_mark = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '*' | '_');
    line.trim_end_matches(is_mark).ends_with([':', '：'])
}

/// Returns whether a sentence ends here. The point of `2026 г.` and of other short words behind a number ends none.
fn ends_sentence(line: &str) -> bool {
    let mut words = line.split_whitespace().rev();
    let last = words.next().unwrap_or_default();
    let behind_number = words.next().is_some_and(has_digit) && last.chars().count() <= 5;
    last.ends_with(['!', '?']) || (last.ends_with('.') && !behind_number)
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns whether a time stands in the text: `10:12`, `10.12.33`, `10h12`.
fn has_time_of_day(text: &str) -> bool {
    text.as_bytes().windows(4).any(|four| {
        matches!(four, [hour, b':' | b'h', one, two] if [hour, one, two].iter().all(|byte| byte.is_ascii_digit()))
    })
}

/// Returns whether a name follows on a year: `On 8 Sep 2026, Dana wrote:`.
fn has_year_before_name(text: &str) -> bool {
    let is_year = |word: &str| word.len() == 5 && word.starts_with(['1', '2']) && word.ends_with(',');
    let is_name = |word: &str| word.trim_start_matches(['"', '\'']).starts_with(char::is_uppercase);
    let words = text.split_whitespace();
    words.clone().zip(words.skip(1)).any(|(year, name)| is_year(year) && is_name(name))
}

/// Returns whether a date stands in the text that is all numbers: `3/3/25`, `03.03.2026`, `2026-03-03`.
fn has_numeric_date(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        let numbers = word.trim_end_matches([',', '.']).split(['/', '.', '-']);
        numbers.clone().count() == 3
            && numbers.into_iter().all(|number| {
                !number.is_empty() && number.len() <= 4 && number.bytes().all(|byte| byte.is_ascii_digit())
            })
    })
}

#[cfg(test)]
#[path = "attribution_tests.rs"]
mod tests;
