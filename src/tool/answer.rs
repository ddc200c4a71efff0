//! What can be answered without a model, because it is certainly true: that the mail has arrived, and by when something
//! will be done.

use super::{
    ToolInput,
    letter::{LetterWording, Tone, begin_letter},
};
use crate::model::{Facts, Instant, Mail, Me, Task, TaskContext, reading::Asked};

/// An answer in the program's fixed words.
pub(super) struct KnownAnswer {
    pub(super) text: String,
    /// Whether it answers all that is asked. Otherwise the person has to add the rest, and it is only a draft.
    pub(super) is_whole: bool,
}

/// Returns what the mail asks that may be known.
fn asked(task: &Task) -> Option<Asked> {
    task.context.more.get(TaskContext::ASKED)?.as_str()?.parse().ok()
}

/// Returns whether the task alone tells that there is an answer.
pub(super) fn has_answer(task: &Task) -> bool {
    asked(task).is_some()
}

/// Returns the answer to what the mail asks; none where only the person knows it.
pub(super) fn find_answer(input: &ToolInput<'_>, mail: &Mail, tone: &Tone) -> Option<KnownAnswer> {
    let wording = LetterWording::of(&input.facts.language);
    let begin = |name: &str| begin_letter(tone, wording.phrase_for(name, tone.is_familiar));
    let asked = asked(input.task)?;
    let text = match list_attachments(mail, wording) {
        Some(files) => begin("receipt_files").replace("{files}", &files),
        None => begin("receipt"),
    };
    Some(KnownAnswer { text, is_whole: asked == Asked::Receipt })
}

/// Returns the names of the mail's attachments as a list in the words of the language.
fn list_attachments(mail: &Mail, wording: &LetterWording) -> Option<String> {
    /// More are not named one by one.
    const MOST: usize = 5;
    let is_file = |name: &&str| !name.trim().is_empty() && name.chars().all(|c| !c.is_control());
    let names: Vec<&str> = mail.attachments.iter().map(|file| file.name.as_str()).filter(is_file).collect();
    let (last, others) = names.split_last()?;
    if names.len() > MOST || names.len() != mail.attachments.len() {
        return None;
    }
    if others.is_empty() { Some((*last).to_owned()) } else { Some(join_names(others, last, wording.phrase("and"))) }
}

/// Joins a list with the word for "and". The Hebrew one is a prefix.
fn join_names(others: &[&str], last: &str, and: &str) -> String {
    let space = if and.ends_with(char::is_alphabetic) { " " } else { "" };
    format!("{} {and}{space}{last}", others.join(", "))
}

/// Returns a sentence that says by when the task will be done, in the language of its mail; none for a task without a
/// date to come.
pub fn say_when(task: &Task, facts: &Facts, me: &Me, now: Instant) -> Option<String> {
    let due = facts.due_at.filter(|due| *due > now)?;
    let wording = LetterWording::of(&facts.language);
    let has_hour = task.context.deadline.as_deref().is_some_and(|deadline| deadline.contains('T'));
    let form = wording.phrase(if has_hour { "date_and_time" } else { "date" });
    Some(wording.phrase("when").replace("{date}", &format_date(me, due, form)))
}

pub(super) fn format_date(me: &Me, at: Instant, form: &str) -> String {
    at.utc().with_timezone(&me.time_zone).format(form).to_string()
}
