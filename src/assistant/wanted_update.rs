//! What a clause wants changed in a task, and in which: title, description, priority, deadline, status.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    command::{ChatPriority, ChatStatus},
    phrase::{self, fold, trim_punctuation, unquote},
    reference::{self, Reference},
    tool::{Deadline, TaskChanges},
    vocabulary::PhraseList,
};
use crate::{
    model::{Instant, Me},
    reading,
};

/// A field that the direct profile can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangedField {
    Title,
    Description,
    Priority,
    Deadline,
    Status,
}

const FIELDS: [(PhraseList, ChangedField); 5] = [
    (PhraseList("field_title"), ChangedField::Title),
    (PhraseList("field_description"), ChangedField::Description),
    (PhraseList("field_priority"), ChangedField::Priority),
    (PhraseList("field_deadline"), ChangedField::Deadline),
    (PhraseList("field_status"), ChangedField::Status),
];

/// What a clause wants changed, and in which task. A value is as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WantedUpdate {
    pub(super) reference: Reference,
    pub(super) values: Vec<(ChangedField, String)>,
}

/// Matches where a second change begins: "and add description …", "and set the priority to …".
static FURTHER_CHANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:,\s*|\s+)(?:and|ו-?)\s*(?:(?:also|add|set|change|make|update|give it|put|תוסיף|תוסיפי|הוסף|שנה|תשנה|קבע)\s+)?(?:(?:a|the|its|את)\s+)?(?:new\s+)?(title|name|description|notes?|details|priority|deadline|due date|status|כותרת|תיאור|עדיפות|תאריך יעד|סטטוס|הכותרת|התיאור|העדיפות)\b").ok()
});
/// Matches the word between a reference and its new value.
static TO: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)(?:^|\s)(?:to be|to|into|as|=|->|→)\s+|\s*[:=]\s+|\s+(?:ל-|ל(?:['\x22“]))").ok());

/// Reads a clause that changes a task, without the words that say so.
pub(super) fn read_wanted_update(rest: &str) -> WantedUpdate {
    let rest = rest.trim();
    let inside: Vec<_> = phrase::quoted(rest).into_iter().map(|(place, _)| place).collect();
    let splits = FURTHER_CHANGE.as_ref().into_iter().flat_map(|pattern| pattern.captures_iter(rest));
    let mut parts = Vec::new();
    let mut at = 0;
    for found in splits {
        let (Some(whole), Some(field)) = (found.get(0), found.get(1)) else { continue };
        if whole.start() > at && !inside.iter().any(|place| place.contains(&whole.start())) {
            parts.push(rest.get(at..whole.start()).unwrap_or_default());
            at = field.start();
        }
    }
    parts.push(rest.get(at..).unwrap_or_default());
    let mut update = WantedUpdate { reference: Reference::Nothing, values: Vec::new() };
    for part in parts {
        let (reference, value) = read_change(part);
        if update.reference == Reference::Nothing {
            update.reference = reference;
        }
        update.values.extend(value);
    }
    update
}

/// Returns whether a clause names a field of a task, so that it is a change and no new task: "add description '…'".
pub(super) fn names_field(rest: &str) -> bool {
    let rest = PhraseList("article").strip_start(rest.trim()).unwrap_or(rest.trim());
    let named =
        FIELDS.iter().filter(|(_, field)| *field != ChangedField::Title).find_map(|(list, _)| list.strip_start(rest));
    named.is_some_and(|value| {
        let has_target = reference::explicit_place(value).is_some() || names_pronoun(value);
        has_target || !phrase::quoted(value).is_empty()
    })
}

fn names_pronoun(text: &str) -> bool {
    ["to it", "for it", "to that", "for that"].iter().any(|known| fold(text).contains(known))
}

/// Reads one change: the reference, and the field with its value.
fn read_change(part: &str) -> (Reference, Option<(ChangedField, String)>) {
    let part = trim_punctuation(part);
    if let Some(place) = reference::explicit_place(part) {
        let numbers = reference::explicit_numbers(part.get(place.clone()).unwrap_or_default());
        let reference = numbers.first().map_or(Reference::Nothing, |number| Reference::Number(*number));
        let before = part.get(..place.start).unwrap_or_default();
        let after = part.get(place.end..).unwrap_or_default();
        let before = trim_connecting(before);
        let text = if before.is_empty() { after.trim().to_owned() } else { format!("{before} {}", after.trim()) };
        return (reference, read_field_and_value(&text));
    }
    if let Some(id) = reference::explicit_id(part) {
        let text = part.replace(&id.to_string(), " ");
        return (Reference::Id(id), read_field_and_value(text.trim()));
    }
    if let Some(after) = PhraseList("pronoun").strip_start(part) {
        return (Reference::Pronoun, read_field_and_value(after));
    }
    let Some((left, value)) = split_at_to(part) else { return read_without_value(part) };
    let (field, reference) = read_field_of(left);
    let reference = Reference::parse(reference);
    let value = match field {
        Some(field) => Some((field, clean_value(value))),
        None => read_field_and_value(&format!("to {value}")),
    };
    (reference, value)
}

/// Reads a change without a "to": a reference, a field, a field with its value in quotation marks, or both.
fn read_without_value(part: &str) -> (Reference, Option<(ChangedField, String)>) {
    if let Some((place, value)) = phrase::quoted(part).first()
        && let (Some(field), reference) = read_field_of(part.get(..place.start).unwrap_or_default())
    {
        return (Reference::parse(reference), Some((field, (*value).to_owned())));
    }
    if let Some((field, value)) = strip_field(part) {
        let value = value.trim();
        let is_value = match field {
            ChangedField::Priority => ChatPriority::read(value).is_some(),
            ChangedField::Status => ChatStatus::read(value).is_some(),
            _ => false,
        };
        if is_value {
            return (Reference::Nothing, Some((field, value.to_owned())));
        }
        let target = ["of ", "for ", "on ", "של "].iter().find_map(|of| value.strip_prefix(of)).unwrap_or("");
        return (if target.is_empty() { Reference::Nothing } else { Reference::parse(target) }, None);
    }
    // "make buy milk urgent"
    for (at, _) in part.match_indices(' ') {
        let (target, level) = (part.get(..at).unwrap_or_default(), part.get(at + 1..).unwrap_or_default());
        if ChatPriority::read(level).is_some() {
            return (Reference::parse(target), Some((ChangedField::Priority, level.to_owned())));
        }
    }
    (Reference::parse(part), None)
}

/// Splits at the first "to" outside quotation marks. In Hebrew the word is written together with what follows.
fn split_at_to(part: &str) -> Option<(&str, &str)> {
    let inside: Vec<_> = phrase::quoted(part).into_iter().map(|(place, _)| place).collect();
    let english = TO.as_ref().into_iter().flat_map(|to| to.find_iter(part));
    for found in english {
        if !inside.iter().any(|place| place.contains(&found.start()) && place.contains(&found.end()))
            && found.start() > 0
        {
            let end = if found.as_str().ends_with(['\'', '"', '“']) {
                found.end() - last_char_len(found.as_str())
            } else {
                found.end()
            };
            return Some((part.get(..found.start())?, part.get(end..)?));
        }
    }
    let at = part
        .match_indices(" ל")
        .map(|(at, _)| at)
        .find(|at| *at > 0 && !inside.iter().any(|place| place.contains(at)))?;
    Some((part.get(..at)?, part.get(at + " ל".len()..)?))
}

fn last_char_len(text: &str) -> usize {
    text.chars().next_back().map_or(0, char::len_utf8)
}

/// Returns the field that a text names, and the reference in it: "the priority of buy milk", "buy milk's priority".
fn read_field_of(left: &str) -> (Option<ChangedField>, &str) {
    let left = left.trim();
    if let Some((field, rest)) = strip_field(left) {
        let of = ["of ", "for ", "on ", "in ", "של "];
        return (Some(field), of.iter().find_map(|of| rest.strip_prefix(of)).unwrap_or(rest));
    }
    for (list, field) in FIELDS {
        if let Some(before) = list.strip_end(left) {
            let before = before.trim_end_matches("'s").trim_end_matches("’s");
            if !before.is_empty() {
                return (Some(field), before);
            }
        }
    }
    (None, left)
}

fn strip_field(text: &str) -> Option<(ChangedField, &str)> {
    let text = PhraseList("article").strip_start(text).unwrap_or(text);
    let text = text.strip_prefix("new ").unwrap_or(text);
    FIELDS.iter().find_map(|(list, field)| Some((*field, list.strip_start(text)?)))
}

/// Removes a connecting word at the end: "description for", "the priority of".
fn trim_connecting(text: &str) -> &str {
    let text = text.trim();
    let ends = [" for", " of", " on", " in", " to", " של", " את", " ל"];
    let trimmed = ends.iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text);
    if ["for", "of", "on", "in", "to", "של", "את", "the", "my"].contains(&trimmed) { "" } else { trimmed }
}

/// Reads what remains of a change once its reference is known: "title to 'x'", "to call mom", "priority high", "urgent".
fn read_field_and_value(text: &str) -> Option<(ChangedField, String)> {
    let text = trim_punctuation(text.trim().trim_start_matches("'s").trim_start_matches("’s"));
    if text.is_empty() {
        return None;
    }
    if let Some((field, rest)) = strip_field(text) {
        let value = clean_value(strip_to(rest));
        return (!value.is_empty()).then_some((field, value));
    }
    let value = clean_value(strip_to(text));
    if value.is_empty() {
        return None;
    }
    let field = if ChatPriority::read(&value).is_some() {
        ChangedField::Priority
    } else if ChatStatus::read(&value).is_some() {
        ChangedField::Status
    } else {
        ChangedField::Title
    };
    Some((field, value))
}

fn strip_to(text: &str) -> &str {
    let text = text.trim();
    let starts = [
        "should be ",
        "must be ",
        "to be ",
        "to ",
        "into ",
        "as ",
        "is now ",
        "is ",
        "= ",
        ": ",
        "ל-",
        "ל '",
        "להיות ",
    ];
    let rest = starts.iter().find_map(|start| text.strip_prefix(start)).unwrap_or(text).trim();
    let quoted = rest.strip_prefix('ל').filter(|rest| rest.starts_with(['\'', '"', '“']) || rest.starts_with('ל'));
    let word =
        rest.strip_prefix('ל').filter(|rest| ChatPriority::read(rest).is_some() || ChatStatus::read(rest).is_some());
    quoted.or(word).unwrap_or(rest).trim_start_matches(':').trim()
}

fn clean_value(value: &str) -> String {
    let value = PhraseList("courtesy").strip_end(value.trim()).unwrap_or(value.trim());
    unquote(value.trim_end_matches(['.', '!', ',', ';', ' '])).to_owned()
}

/// A value that cannot be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadValue(pub(super) ChangedField);

/// Turns typed values into changes of a task.
pub(super) fn to_changes(
    values: &[(ChangedField, String)],
    moves_deadline: bool,
    me: &Me,
    now: Instant,
) -> Result<TaskChanges, BadValue> {
    let mut changes = TaskChanges::default();
    for (field, value) in values {
        // "Move task 3 to Friday" names no field, and a day is rarely a title.
        let is_day = || *field == ChangedField::Title && reading::moment(value, me, now).is_some();
        let field =
            if (moves_deadline && *field == ChangedField::Title) || is_day() { ChangedField::Deadline } else { *field };
        match field {
            ChangedField::Title => changes.title = Some(value.clone()),
            ChangedField::Description => {
                changes.description =
                    Some(if PhraseList("no_value").is(value) { String::new() } else { value.clone() });
            }
            ChangedField::Priority => changes.priority = Some(ChatPriority::read(value).ok_or(BadValue(field))?),
            ChangedField::Status => changes.status = Some(ChatStatus::read(value).ok_or(BadValue(field))?),
            ChangedField::Deadline if PhraseList("no_value").is(value) => changes.deadline = Some(None),
            ChangedField::Deadline => {
                changes.deadline = Some(Some(read_deadline(value, me, now).ok_or(BadValue(field))?));
            }
        }
    }
    Ok(changes)
}

/// Returns the time to come that a text names.
pub(super) fn read_deadline(text: &str, me: &Me, now: Instant) -> Option<Deadline> {
    reading::parse_typed_date(text, me, now).map(|(text, at)| Deadline { text, at })
}

/// Returns a time to come, or a span from now such as "2h" or "3 days".
pub(super) fn read_time(text: &str, me: &Me, now: Instant) -> Option<Instant> {
    let text = trim_punctuation(text);
    if let Some(deadline) = read_deadline(text, me, now) {
        return Some(deadline.at);
    }
    let span = format!("in {}", text.strip_prefix("for ").or_else(|| text.strip_prefix("in ")).unwrap_or(text));
    let span = span.replace("2h", "2 hours");
    read_deadline(&span, me, now).map(|deadline| deadline.at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wanted_update_names_task_field_and_value() {
        use ChangedField::{Deadline, Description, Priority, Status, Title};
        use Reference::{Nothing, Number, Pronoun};
        let title = |text: &str| Reference::Title(text.to_owned());
        for (rest, reference, values) in [
            ("task 1 to call mom", Number(1), vec![(Title, "call mom")]),
            (
                "task 3 title to 'Call mom tonight' and add description 'Ask about weekend plans'",
                Number(3),
                vec![(Title, "Call mom tonight"), (Description, "Ask about weekend plans")],
            ),
            ("task 3", Number(3), vec![]),
            ("the title", Nothing, vec![]),
            ("title to call mom", Nothing, vec![(Title, "call mom")]),
            ("description for task 3", Number(3), vec![]),
            ("the description of task 3 to buy oat milk", Number(3), vec![(Description, "buy oat milk")]),
            ("buy milk", title("buy milk"), vec![]),
            ("buy milk to buy oat milk", title("buy milk"), vec![(Title, "buy oat milk")]),
            ("'go to work' to 'stay home'", title("go to work"), vec![(Title, "stay home")]),
            ("it to buy bread", Pronoun, vec![(Title, "buy bread")]),
            ("it urgent", Pronoun, vec![(Priority, "urgent")]),
            ("task 3 urgent", Number(3), vec![(Priority, "urgent")]),
            ("priority of task 3 to high", Number(3), vec![(Priority, "high")]),
            ("the priority of buy milk to high", title("buy milk"), vec![(Priority, "high")]),
            ("task 3's deadline to friday", Number(3), vec![(Deadline, "friday")]),
            ("task 2 as in progress", Number(2), vec![(Status, "in progress")]),
            ("את משימה 2 לגבוהה", Number(2), vec![(Priority, "גבוהה")]),
            ("את העדיפות של משימה 2 לגבוהה", Number(2), vec![(Priority, "גבוהה")]),
            ("את משימה 1 ל'להתקשר לאמא'", Number(1), vec![(Title, "להתקשר לאמא")]),
        ] {
            let read = read_wanted_update(rest);
            let found: Vec<(ChangedField, &str)> =
                read.values.iter().map(|(field, value)| (*field, value.as_str())).collect();
            assert_eq!((read.reference, found), (reference, values), "{rest}");
        }
    }
}
