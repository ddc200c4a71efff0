//! Whether a request is complex enough for a plan, by the words of the request alone.
//!
//! Questions are filtered first. Then a request counts as complex when it begins with an imperative verb and names
//! something large, is a numbered list, is long, or joins several tasks. English and Hebrew are equals.

mod numbered;
mod words;

pub(super) use numbered::split_numbered_list;
pub(super) use words::{RequestWord, WORDS, split_words};

use crate::model::plan::{Complexity, ComplexityReason};

/// A request with more characters than this is long, together with what is attached to it.
const LONG_REQUEST: usize = 250;
/// How much of a request is read, in bytes. A longer one is complex for its length alone.
const MOST_READ: usize = 1_024;

/// A request whose complexity is asked for.
#[derive(Debug, Clone, Copy)]
pub struct PlannerRequest<'a> {
    /// What the person typed, or the sentences of a mail that ask for something.
    pub text: &'a str,
    /// The number of characters of the files that are attached to it.
    pub attached_chars: usize,
    /// Whether the text is what a mail asks for. Then a polite question ("Could you …?") is a request.
    pub from_mail: bool,
}

impl<'a> PlannerRequest<'a> {
    pub const fn typed(text: &'a str) -> Self {
        Self { text, attached_chars: 0, from_mail: false }
    }

    pub const fn from_mail(text: &'a str) -> Self {
        Self { text, attached_chars: 0, from_mail: true }
    }
}

/// Returns how complex a request is. A question has no complexity: it is answered without a plan.
pub fn detect_complexity(request: PlannerRequest<'_>) -> Complexity {
    let text = read_beginning(request.text.trim());
    let words = split_words(text);
    if is_question(request.text.trim(), &words, request.from_mail) {
        return Complexity::default();
    }
    let begun = skip_politeness(&words);
    let mut found = Complexity::default();
    let mut add = |reason, points: usize| {
        found.reasons.push(reason);
        found.score = found.score.saturating_add(u8::try_from(points.min(100)).unwrap_or(100)).min(100);
    };
    if starts_scoped_imperative(begun) {
        add(ComplexityReason::ScopedImperative, 40);
    }
    let items = split_numbered_list(text).len();
    if items >= 2 {
        add(ComplexityReason::NumberedList, 10 + 10 * items.min(8));
    }
    let chars = request.text.trim().chars().count() + request.attached_chars;
    if chars > LONG_REQUEST {
        add(ComplexityReason::LongRequest, 15 + (chars / 200).min(25));
    }
    let tasks = count_joined_tasks(begun);
    if tasks >= 2 {
        add(ComplexityReason::JoinedTasks, 10 + 10 * tasks.min(6));
    }
    found
}

/// Returns the beginning of a text, cut at a character.
fn read_beginning(text: &str) -> &str {
    let mut end = text.len().min(MOST_READ);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

/// Returns whether the text is a question. In a mail, a polite question is a request.
fn is_question(text: &str, words: &[RequestWord<'_>], from_mail: bool) -> bool {
    let is_polite = from_mail && WORDS.polite.starts(words).is_some();
    let asks = WORDS.question.starts(words).is_some();
    asks || (text.ends_with(['?', '؟', '？']) && !is_polite)
}

/// Returns the words behind "please", "could you" and the like.
pub(super) fn skip_politeness<'a, 'b>(mut words: &'a [RequestWord<'b>]) -> &'a [RequestWord<'b>] {
    while let Some(rest) = WORDS.polite.starts(words).and_then(|polite| words.get(polite..)) {
        words = rest;
    }
    words
}

fn starts_scoped_imperative(words: &[RequestWord<'_>]) -> bool {
    let Some(verb) = WORDS.imperative.starts(words) else { return false };
    let rest = words.get(verb..).unwrap_or_default();
    rest.iter().enumerate().any(|(at, word)| {
        rest.get(at..).is_some_and(|from| WORDS.scope.starts(from).is_some())
            || singular_forms(&word.text)
                .any(|singular| WORDS.scope.starts(&[RequestWord { text: singular.into(), ..*word }]).is_some())
    })
}

/// Returns the forms that a word of a list may have been made from: English plurals, parts of a compound, and Hebrew
/// prefixes.
fn singular_forms(word: &str) -> impl Iterator<Item = String> + '_ {
    let plurals = [("ies", "y"), ("es", ""), ("s", "")];
    let singular =
        plurals.into_iter().filter_map(|(ending, other)| Some(format!("{}{other}", word.strip_suffix(ending)?)));
    let part = word.rsplit_once('-').map(|(_, last)| last.to_owned());
    let prefixes = ["ה", "ל", "ב", "מ", "ש", "כ"];
    let bare = prefixes.into_iter().filter_map(|prefix| word.strip_prefix(prefix).map(str::to_owned));
    singular.chain(part).chain(bare)
}

/// Returns how many tasks are joined: those that begin with a verb, at the start and behind "and" or "also".
fn count_joined_tasks(words: &[RequestWord<'_>]) -> usize {
    if !starts_task(words) {
        return 0;
    }
    let joined = (1..words.len()).filter(|at| {
        let (Some(before), Some(here)) = (words.get(at - 1), words.get(*at..)) else { return false };
        let follows_joint = matches!(before.text.as_ref(), "and" | "also" | "then" | "גם" | "וגם" | "ואז");
        follows_joint && starts_joined_task(skip_politeness(here)) || has_joining_prefix(here)
    });
    1 + joined.count()
}

/// Returns whether words begin with the verb of a task.
fn starts_task(words: &[RequestWord<'_>]) -> bool {
    task_verb(words).is_some()
}

/// Returns how many words the verb of a task has that the words begin with.
fn task_verb(words: &[RequestWord<'_>]) -> Option<usize> {
    WORDS.imperative.starts(words).or_else(|| WORDS.task.starts(words))
}

/// Returns whether words go on with another task. A verb that nothing follows, or "of" or "and", is rather a noun: "the
/// offer, order and invoice", "the report and list of names".
pub(super) fn starts_joined_task(words: &[RequestWord<'_>]) -> bool {
    let Some(verb) = task_verb(words) else { return false };
    words.get(verb).is_some_and(|next| !matches!(next.text.as_ref(), "of" | "and" | "or"))
}

/// Returns whether the first word is a Hebrew verb with the prefix that means "and".
pub(super) fn has_joining_prefix(words: &[RequestWord<'_>]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    let Some(bare) = first.text.strip_prefix('ו') else { return false };
    let mut bare = vec![RequestWord { text: bare.into(), start: first.start, end: first.end }];
    bare.extend(rest.first().cloned());
    starts_joined_task(&bare)
}

#[cfg(test)]
mod tests;
