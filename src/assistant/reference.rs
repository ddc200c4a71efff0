//! How a person refers to a task: by its number, its place in a list, a pronoun, or its title.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    phrase::{self, fold, trim_punctuation, unquote},
    vocabulary::PhraseList,
};
use crate::model::{ListedStatus, TaskId};

/// What a person says of the task that they mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reference {
    /// Nothing was said.
    Nothing,
    /// "it", "that one".
    Pronoun,
    /// "task 3", "#3", "id 3": always the number of a task.
    Number(i64),
    /// The whole id of a task.
    Id(TaskId),
    /// "3", "number 3": a place in the list that was just shown, or else the number of a task.
    Bare(i64),
    /// "the first one": the place in the list that was just shown, counted from 1.
    Ordinal(usize),
    /// "the last one".
    Last,
    /// "both", "all of them": everything in the list that was just shown, or else every task of a list.
    Every(ListedStatus),
    Both,
    /// "tasks 1, 2 and 5".
    Several(Vec<Reference>),
    /// A title or a part of one.
    Title(String),
}

/// Matches "task 3", "#3", "id 3" and "task #3", in English and Hebrew.
static EXPLICIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:^|[^\p{L}\p{N}#])(?:(?:tasks?|todos?|items?|id|ids|המשימות|משימות|המשימה|משימה|מטלה|המטלה|מזהה)\s*(?:number|no\.?|nr\.?|id|מספר|מס')?\s*[#:]?\s*|#\s*)([0-9]{1,9})\b").ok()
});
/// Matches numbers that follow the first of a list: ", 2 and 5".
static FURTHER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\s*(?:,|and|&|or|,\s*and|ו-?|וגם)\s*(?:(?:task|משימה)\s*)?#?([0-9]{1,9})\b").ok()
});
/// Matches a reference that is nothing but a number: "3", "number 3", "option 3".
static BARE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:the\s+|את\s+)?(?:number|no\.?|nr\.?|option|position|entry|אפשרות|מספר|מס')?\s*([0-9]{1,9})(?:\s*(?:,|and|&|ו-?)\s*([0-9]{1,9}))*$").ok()
});
/// Matches the id of a task, 26 letters and digits.
static TASK_ID: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i)\b[0-9A-HJKMNP-TV-Z]{26}\b").ok());

/// Returns the numbers of tasks that a text names with "task", "#" or "id", in their order, each once.
pub(super) fn explicit_numbers(text: &str) -> Vec<i64> {
    let mut numbers = Vec::new();
    let (Some(explicit), Some(further)) = (EXPLICIT.as_ref(), FURTHER.as_ref()) else { return numbers };
    let mut add = |number: &str| match number.parse() {
        Ok(number) if !numbers.contains(&number) => numbers.push(number),
        _ => {}
    };
    for found in explicit.captures_iter(text) {
        let Some(number) = found.get(1) else { continue };
        add(number.as_str());
        let mut rest = text.get(number.end()..).unwrap_or_default();
        while let Some(more) = further.captures(rest).and_then(|found| found.get(1)) {
            add(more.as_str());
            rest = rest.get(more.end()..).unwrap_or_default();
        }
    }
    numbers
}

/// Returns the places of the text where "task 3", "#3" or "id 3" stands, in bytes.
pub(super) fn explicit_place(text: &str) -> Option<std::ops::Range<usize>> {
    let found = EXPLICIT.as_ref()?.captures(text)?;
    let (whole, number) = (found.get(0)?, found.get(1)?);
    let start = whole.start() + whole.as_str().len() - whole.as_str().trim_start_matches([' ', ',', ':', '(']).len();
    Some(start..number.end())
}

/// Returns the whole id of a task that stands in the text.
pub(super) fn explicit_id(text: &str) -> Option<TaskId> {
    TASK_ID.as_ref()?.find(text)?.as_str().to_uppercase().parse().ok()
}

/// Returns the numbers of a text that is nothing but numbers: "3", "number 3", "1 and 3".
fn bare_numbers(folded: &str) -> Vec<i64> {
    if !BARE.as_ref().is_some_and(|bare| bare.is_match(folded)) {
        return (1..=5).find(|n| number_word(*n, folded)).into_iter().collect();
    }
    let digits = folded.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    digits.filter_map(|digits| digits.parse().ok()).collect()
}

fn number_word(number: i64, folded: &str) -> bool {
    let list = match number {
        1 => PhraseList("number_1"),
        2 => PhraseList("number_2"),
        3 => PhraseList("number_3"),
        4 => PhraseList("number_4"),
        _ => PhraseList("number_5"),
    };
    list.is(PhraseList("position_word").strip_start(folded).unwrap_or(folded))
}

/// The lists of ordinals, from the first on.
const ORDINALS: [PhraseList; 10] = [
    PhraseList("ordinal_1"),
    PhraseList("ordinal_2"),
    PhraseList("ordinal_3"),
    PhraseList("ordinal_4"),
    PhraseList("ordinal_5"),
    PhraseList("ordinal_6"),
    PhraseList("ordinal_7"),
    PhraseList("ordinal_8"),
    PhraseList("ordinal_9"),
    PhraseList("ordinal_10"),
];

impl Reference {
    /// Reads what a person says of a task.
    pub(super) fn parse(text: &str) -> Self {
        let text = PhraseList("from_list").strip_end(text).unwrap_or(text);
        if let Some((_, title)) = phrase::quoted(text).first()
            && explicit_numbers(text).is_empty()
        {
            return Self::Title((*title).to_owned());
        }
        if let Some(id) = explicit_id(text) {
            return Self::Id(id);
        }
        match explicit_numbers(text).as_slice() {
            [] => {}
            [number] => return Self::Number(*number),
            several => return Self::Several(several.iter().map(|number| Self::Number(*number)).collect()),
        }
        let folded = fold(text);
        Self::parse_folded(&folded).unwrap_or_else(|| Self::title(text))
    }

    /// Reads everything but a title.
    fn parse_folded(folded: &str) -> Option<Self> {
        let folded = PhraseList("as_done").strip_end(folded).unwrap_or(folded);
        if folded.is_empty() || PhraseList("task_word").is(folded) && !PhraseList("pronoun").is(folded) {
            return Some(Self::Nothing);
        }
        for (list, status) in [
            (PhraseList("every_completed"), ListedStatus::Completed),
            (PhraseList("every_pending"), ListedStatus::Pending),
            (PhraseList("every"), ListedStatus::All),
        ] {
            if list.is(folded) {
                return Some(Self::Every(status));
            }
        }
        if PhraseList("both").is(folded) {
            return Some(Self::Both);
        }
        if PhraseList("pronoun").is(folded) {
            return Some(Self::Pronoun);
        }
        if PhraseList("ordinal_last").is(folded) {
            return Some(Self::Last);
        }
        if let Some(nth) = ORDINALS.iter().position(|list| list.is(folded)) {
            return Some(Self::Ordinal(nth + 1));
        }
        match bare_numbers(folded).as_slice() {
            [] => None,
            [number] => Some(Self::Bare(*number)),
            several => Some(Self::Several(several.iter().map(|number| Self::Bare(*number)).collect())),
        }
    }

    /// Reads a title: without articles, "the task", "called" and quotation marks.
    fn title(text: &str) -> Self {
        let mut rest = trim_punctuation(text);
        loop {
            let lists = [PhraseList("courtesy"), PhraseList("article"), PhraseList("task_word"), PhraseList("named")];
            let shorter = lists.iter().find_map(|list| list.strip_start(rest)).map(trim_punctuation);
            match shorter.filter(|shorter| !shorter.is_empty()) {
                Some(shorter) => rest = shorter,
                None => break,
            }
        }
        for list in [PhraseList("courtesy"), PhraseList("as_done"), PhraseList("task_word")] {
            rest = list.strip_end(rest).map(trim_punctuation).filter(|rest| !rest.is_empty()).unwrap_or(rest);
        }
        match unquote(rest) {
            "" => Self::Nothing,
            title => Self::Title(title.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_places_pronouns_and_titles_are_told_apart() {
        use Reference::{Bare, Both, Every, Last, Nothing, Number, Ordinal, Pronoun, Several, Title};
        let title = |text: &str| Title(text.to_owned());
        for (text, expected) in [
            ("task 3", Number(3)),
            ("#5", Number(5)),
            ("id 12", Number(12)),
            ("task #7 please", Number(7)),
            ("task 3 groceries", Number(3)),
            ("task 3 as done", Number(3)),
            ("משימה 4", Number(4)),
            ("את משימה מספר 4", Number(4)),
            ("number 2", Bare(2)),
            ("3", Bare(3)),
            ("3 as complete", Bare(3)),
            ("two", Bare(2)),
            ("tasks 1, 2 and 5", Several(vec![Number(1), Number(2), Number(5)])),
            ("#1 and #2", Several(vec![Number(1), Number(2)])),
            ("task 1 and task 2", Several(vec![Number(1), Number(2)])),
            ("1 and 3", Several(vec![Bare(1), Bare(3)])),
            ("the first one", Ordinal(1)),
            ("The second one.", Ordinal(2)),
            ("השנייה", Ordinal(2)),
            ("the last one", Last),
            ("it", Pronoun),
            ("it as done", Pronoun),
            ("that one", Pronoun),
            ("אותה", Pronoun),
            ("all completed tasks", Every(ListedStatus::Completed)),
            ("everything", Every(ListedStatus::All)),
            ("both", Both),
            ("", Nothing),
            ("the groceries task", title("groceries")),
            ("the report", title("report")),
            ("buy groceries from my list", title("buy groceries")),
            ("the task called 'Call mom'", title("Call mom")),
            ("'the first one'", title("the first one")),
            ("the report as done", title("report")),
            ("את הדוח", title("הדוח")),
            ("המשימה קניית חלב", title("קניית חלב")),
        ] {
            assert_eq!(Reference::parse(text), expected, "{text}");
        }
    }
}
