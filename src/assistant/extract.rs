//! What a clause says of a task that is created: title, description, priority.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    command::ChatPriority,
    phrase::{self, fold, unquote},
    vocabulary::PhraseList,
};

/// A task that a clause asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct WantedTask {
    /// Empty when the clause names none.
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) priority: Option<ChatPriority>,
}

/// Matches a priority at the end of a title: "with high priority", "בעדיפות גבוהה".
static PRIORITY_AT_END: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)[\s,]+(?:(?:with|as|at)\s+(?:a\s+)?)?(?:(low|medium|high|urgent|critical)[\s-]+priority|priority[:\s]+(low|medium|high|urgent|critical)|בעדיפות\s+(\p{L}+))[\s.!]*$").ok()
});

/// Reads what follows the words that ask for a task.
pub(super) fn read_wanted_task(rest: &str) -> WantedTask {
    let mut rest = trim_title(rest);
    while let Some(shorter) = PhraseList("create_filler").strip_start(rest).map(trim_title) {
        rest = shorter;
    }
    rest = PhraseList("to_list").strip_end(rest).map(trim_title).unwrap_or(rest);
    rest = PhraseList("courtesy").strip_end(rest).map(trim_title).unwrap_or(rest);
    // "Add a task" names none.
    if PhraseList("task_word").is(PhraseList("article").strip_start(rest).unwrap_or(rest)) {
        rest = "";
    }
    let (rest, priority) = split_priority(rest);
    let (title, description) = split_description(rest);
    WantedTask {
        title: unquote(title).to_owned(),
        description: description.map(|text| unquote(text).to_owned()),
        priority,
    }
}

/// Returns a title without blanks and sentence marks around it. A question mark belongs to it.
fn trim_title(text: &str) -> &str {
    text.trim().trim_end_matches(['.', '!', ',', ';', ' ']).trim_start_matches([',', ':', ';', ' ', '-'])
}

fn split_priority(text: &str) -> (&str, Option<ChatPriority>) {
    let found = PRIORITY_AT_END.as_ref().and_then(|pattern| pattern.captures(text));
    let level = found.as_ref().and_then(|found| (1..=3).find_map(|nth| found.get(nth)));
    match (found.as_ref().and_then(|found| found.get(0)), level.and_then(|word| ChatPriority::read(word.as_str()))) {
        (Some(whole), Some(level)) => (text.get(..whole.start()).unwrap_or(text), Some(level)),
        _ => (text, None),
    }
}

/// Splits a title from its description: after "with", "including", ":" or a dash.
fn split_description(text: &str) -> (&str, Option<&str>) {
    let inside: Vec<_> = phrase::quoted(text).into_iter().map(|(place, _)| place).collect();
    let is_quoted = |at: usize| inside.iter().any(|place| place.contains(&at));
    let splits = text.char_indices().filter(|(at, _)| !is_quoted(*at)).find_map(|(at, c)| {
        let (before, after) = (text.get(..at)?, text.get(at + c.len_utf8()..)?);
        let is_split = match c {
            ':' => !is_between_digits(before, after) && after.starts_with(' '),
            '—' => true,
            '–' => before.ends_with(' ') && after.starts_with(' '),
            ' ' => return split_at_word(before, after),
            _ => false,
        };
        is_split.then_some((before, after))
    });
    match splits.map(|(title, description)| (title.trim(), description.trim())) {
        Some((title, description)) if !title.is_empty() && !description.is_empty() => (title, Some(description)),
        _ => (text, None),
    }
}

fn is_between_digits(before: &str, after: &str) -> bool {
    before.ends_with(|c: char| c.is_ascii_digit()) && after.starts_with(|c: char| c.is_ascii_digit())
}

/// Splits at "including", and at "with" before a thing. Before a person, and after words such as "meet", "with" belongs to
/// the title.
fn split_at_word<'a>(before: &'a str, after: &'a str) -> Option<(&'a str, &'a str)> {
    if let Some(rest) = PhraseList("including").strip_start(after) {
        return Some((before, rest));
    }
    let rest = after.strip_prefix("with ").or_else(|| after.strip_prefix("עם "))?;
    let noun = PhraseList("article").strip_start(rest).unwrap_or(rest);
    let word = phrase::words(noun).next()?;
    let is_thing = word.chars().next().is_some_and(|c| !c.is_uppercase()) && !PhraseList("person").is(word);
    let has_person = PhraseList("person").strip_start(rest).is_some();
    let needs_with = phrase::words(&fold(before)).any(|word| PhraseList("with_verb").is(word))
        || PhraseList("with_verb").strip_end(before).is_some();
    (is_thing && !has_person && !needs_with).then_some((before, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wanted_task_has_a_title_and_perhaps_a_description() {
        for (rest, title, description) in [
            ("buy groceries", "buy groceries", None),
            ("a task to buy milk", "buy milk", None),
            ("to call mom", "call mom", None),
            ("me to buy milk", "buy milk", None),
            ("'Call mom tonight'", "Call mom tonight", None),
            ("milk to my list", "milk", None),
            ("a task", "", None),
            ("new task: pay rent", "pay rent", None),
            ("report with executive summary", "report", Some("executive summary")),
            ("party supplies including balloons and cake", "party supplies", Some("balloons and cake")),
            ("groceries: milk, eggs", "groceries", Some("milk, eggs")),
            ("report — for the board", "report", Some("for the board")),
            ("meeting at 10:30", "meeting at 10:30", None),
            ("lunch with Sarah", "lunch with Sarah", None),
            ("lunch with sarah", "lunch with sarah", None),
            ("a call with the client", "a call with the client", None),
            ("go to the cinema with my mom", "go to the cinema with my mom", None),
            ("read https://example.org/x", "read https://example.org/x", None),
            ("משימה לקנות חלב", "לקנות חלב", None),
            ("דוח כולל תקציר", "דוח", Some("תקציר")),
        ] {
            let read = read_wanted_task(rest);
            assert_eq!((read.title.as_str(), read.description.as_deref()), (title, description), "{rest}");
        }
        assert_eq!(read_wanted_task("pay rent with high priority").priority, Some(ChatPriority::High));
    }
}
