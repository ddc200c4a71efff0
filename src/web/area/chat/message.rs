//! A message as markup. What the person typed has the direction of each of its lines; a reply has that of its own words,
//! with every title in an isolate, so that a Hebrew title in an English sentence, or the other way round, does not move
//! what stands beside it.

use std::sync::LazyLock;

use chrono_tz::Tz;
use maud::{Markup, html};
use regex::Regex;

use crate::{
    ingest::escape_for_display,
    model::{ChatMessageRow, ChatRole},
    wording::description::format_timestamp,
};

/// The end of a line of a list: the number of a task, and what follows it.
static TASK_NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\s\((?:ID: |#)\d+\)").ok());

/// Returns one message.
pub(super) fn message_block(message: &ChatMessageRow, zone: Tz) -> Markup {
    let (class, who) = match message.role {
        ChatRole::User => ("said you", "You"),
        ChatRole::Assistant => ("said", "Adjutant"),
    };
    html! {
        article class=(class) {
            p.muted { (who) " " time datetime=(message.at) { (format_timestamp(message.at, zone)) } }
            @match message.role {
                ChatRole::User => { @for line in message.text.lines() { p dir="auto" { (escape_for_display(line)) } } }
                // The isolates do not count when the direction is found.
                ChatRole::Assistant => { div dir="auto" { @for line in message.text.lines() { p { (isolate_titles(line)) } } } }
            }
        }
    }
}

/// Returns a line of a reply with its titles in isolates: what stands in quotation marks, and the title of a list's
/// line.
fn isolate_titles(line: &str) -> Markup {
    let (number, rest) = split_list_number(line);
    if number.is_empty() {
        return isolate_quotations(rest);
    }
    let end = TASK_NUMBER.as_ref().and_then(|pattern| pattern.find(rest)).map_or(rest.len(), |found| found.start());
    let (title, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
    html! { (number) bdi { (escape_for_display(title)) } (escape_for_display(after)) }
}

/// Splits "12. " off a line of a list.
fn split_list_number(line: &str) -> (&str, &str) {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    match line.split_at_checked(digits + 2) {
        Some((number, rest)) if digits > 0 && number.ends_with(". ") => (number, rest),
        _ => ("", line),
    }
}

/// Returns a text with every quotation in an isolate. An apostrophe inside a word is no quotation mark.
fn isolate_quotations(text: &str) -> Markup {
    let mut parts: Vec<(bool, &str)> = Vec::new();
    let mut rest = text;
    while let Some((before, quoted, after)) = next_quotation(rest) {
        parts.push((false, before));
        parts.push((true, quoted));
        rest = after;
    }
    parts.push((false, rest));
    html! {
        @for (is_quoted, part) in parts {
            @if is_quoted { "'" bdi { (escape_for_display(part)) } "'" } @else { (escape_for_display(part)) }
        }
    }
}

/// Returns the text before the first quotation, the quotation, and the text after it.
fn next_quotation(text: &str) -> Option<(&str, &str, &str)> {
    let is_open = |at: usize| text.get(..at).is_some_and(|before| !before.ends_with(char::is_alphanumeric));
    let open = text.match_indices('\'').map(|(at, _)| at).find(|at| is_open(*at))?;
    let inner = text.get(open + 1..)?;
    let is_close = |at: usize| inner.get(at + 1..).is_some_and(|after| !after.starts_with(char::is_alphanumeric));
    let close = inner.match_indices('\'').map(|(at, _)| at).find(|at| is_close(*at))?;
    Some((text.get(..open)?, inner.get(..close)?, inner.get(close + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        isolate_titles(line).into_string()
    }

    #[test]
    fn titles_stand_in_isolates() {
        for (line, expected) in [
            ("I've added 'חלב' to your list.", "I've added '<bdi>חלב</bdi>' to your list."),
            ("1. לקנות חלב (#3)", "1. <bdi>לקנות חלב</bdi> (#3)"),
            ("2. Finish Q4 (draft) (ID: 3)", "2. <bdi>Finish Q4 (draft)</bdi> (ID: 3)"),
            ("הוספתי את 'Dana's report'.", "הוספתי את '<bdi>Dana's report</bdi>'."),
            ("It's 5 o'clock", "It's 5 o'clock"),
            ("3. לקנות חלב", "3. <bdi>לקנות חלב</bdi>"),
            ("'a' and 'b'", "'<bdi>a</bdi>' and '<bdi>b</bdi>'"),
            ("", ""),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn nothing_in_a_message_acts_on_the_page() {
        assert_eq!(shown("'<b>\u{202e}x'"), "'<bdi>&lt;b&gt;\\u{202e}x</bdi>'");
    }
}
