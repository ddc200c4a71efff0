//! How a letter greets and ends: as the person wrote to the same address before, else as the other one wrote.

use super::{LetterWording, begins_with_any, is_closing, is_greeting};
use crate::{
    model::Mail,
    tool::{OwnLetter, ToolInput},
};

/// The longest line that is taken over as a greeting or a closing, in characters.
const LONGEST_LINE: usize = 60;
/// How many lines at the end of a mail can be its signature.
const SIGNATURE_LINES: usize = 6;

/// How a letter is to sound.
pub(in crate::tool) struct Tone {
    pub(super) greeting: String,
    pub(super) closing: String,
    /// The name that the person signed with, where they wrote before.
    pub(super) signed: Option<String>,
    pub(in crate::tool) is_familiar: bool,
}

/// Returns the tone of a letter to the person of this name.
pub(in crate::tool) fn find_tone(input: &ToolInput<'_>, name: Option<&str>) -> Tone {
    let wording = LetterWording::of(&input.facts.language);
    let is_familiar = is_familiar(input, wording);
    let earlier = input.letters.iter().find_map(|letter| own_greeting(letter, wording));
    let ending = input.letters.iter().find_map(|letter| own_closing(letter, wording));
    let (closing, signed) = ending.unwrap_or_else(|| (wording.phrase_for("closing", is_familiar).to_owned(), None));
    let greeting = earlier.unwrap_or_else(|| new_greeting(input, wording, name, is_familiar));
    Tone { greeting, closing, signed, is_familiar }
}

/// Returns whether the two call each other by first names, in a language that has two forms by the form they use.
fn is_familiar(input: &ToolInput<'_>, wording: &LetterWording) -> bool {
    let own = input.letters.iter().find_map(|letter| familiarity(&letter.text, wording));
    let theirs = || input.mail.and_then(|mail| familiarity(&mail.text, wording));
    own.or_else(theirs).unwrap_or_else(|| input.mail.is_some_and(|mail| calls_by_first_name(input, mail, wording)))
}

/// Returns whether a text calls its reader by the familiar form, in a language that has two.
pub(in crate::tool) fn is_familiar_text(text: &str, wording: &LetterWording) -> bool {
    familiarity(text, wording).unwrap_or(false)
}

/// Returns whether a text is familiar or formal, by the pronouns of its language; none where they do not tell.
fn familiarity(text: &str, wording: &LetterWording) -> Option<bool> {
    let words = || text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let familiar = words().any(|word| wording.list("familiar_words").any(|known| known == word.to_lowercase()));
    let formal = words().any(|word| wording.list("formal_words").any(|known| known == word));
    let is_titled = || text.lines().next().is_some_and(|line| has_title(line, wording));
    (familiar || formal).then(|| familiar && !is_titled())
}

pub(super) fn has_title(line: &str, wording: &LetterWording) -> bool {
    let words = line.split(|c: char| c.is_whitespace() || matches!(c, '.' | ',')).map(str::to_lowercase);
    words.into_iter().any(|word| wording.list("titles").any(|title| title == word))
}

/// Returns whether the mail greets the person by their first name alone.
fn calls_by_first_name(input: &ToolInput<'_>, mail: &Mail, wording: &LetterWording) -> bool {
    let first = input.me.names.iter().filter_map(|name| name.split_whitespace().next());
    let Some(line) = mail.text.lines().find(|line| !line.trim().is_empty()) else { return false };
    let said = line.to_lowercase();
    !has_title(line, wording) && first.into_iter().any(|name| said.contains(&name.to_lowercase()))
}

/// Returns the greeting of an earlier letter, if it is one in this language.
fn own_greeting(letter: &OwnLetter, wording: &LetterWording) -> Option<String> {
    let line = letter.text.lines().find(|line| !line.trim().is_empty())?.trim();
    let fits = line.chars().count() <= LONGEST_LINE && begins_with_any(line, wording.list("greetings"));
    (fits && is_greeting(line)).then(|| line.to_owned())
}

/// Returns the closing of an earlier letter in this language, and the name below it.
fn own_closing(letter: &OwnLetter, wording: &LetterWording) -> Option<(String, Option<String>)> {
    let mut lines = letter.ending.lines().map(str::trim).filter(|line| !line.is_empty());
    let closing = lines.next()?;
    let fits = closing.chars().count() <= LONGEST_LINE && begins_with_any(closing, wording.list("closings"));
    if !fits || !is_closing(closing) {
        return None;
    }
    // "Gruß, Jonas": the name stands beside the closing.
    if let Some((words, name)) = closing.split_once(", ") {
        return Some((format!("{words},"), Some(name.to_owned())));
    }
    let name = lines.next().filter(|line| line.chars().count() <= LONGEST_LINE && !line.starts_with("--"));
    Some((closing.to_owned(), name.map(str::to_owned)))
}

/// Returns a greeting for somebody whom the person has not written to yet. A name is used only if the mail is signed
/// with it: that of a department or a shop is nobody's.
fn new_greeting(input: &ToolInput<'_>, wording: &LetterWording, name: Option<&str>, is_familiar: bool) -> String {
    let name = name.map(in_spoken_order).unwrap_or_default();
    let first = name.split_whitespace().next().unwrap_or_default();
    let is_signed = input.mail.is_some_and(|mail| is_signed_with(mail, first));
    if first.is_empty() || !is_signed {
        return wording.phrase("hello").to_owned();
    }
    let (form, name) = if is_familiar { ("hello_familiar", first) } else { ("hello_name", name.as_str()) };
    wording.phrase(form).replace("{name}", name)
}

/// Returns "Beth Lomax" for "Lomax, Beth".
fn in_spoken_order(name: &str) -> String {
    match name.split_once(", ") {
        Some((last, first)) if !first.contains(',') => format!("{} {}", first.trim(), last.trim()),
        _ => name.trim().to_owned(),
    }
}

fn is_signed_with(mail: &Mail, first: &str) -> bool {
    let names = |line: &str| {
        line.split(|c: char| !c.is_alphanumeric() && c != '-').any(|word| word.eq_ignore_ascii_case(first))
    };
    let in_signature = mail.signature.as_deref().unwrap_or_default().lines().take(SIGNATURE_LINES).any(names);
    in_signature || mail.text.lines().rev().filter(|line| !line.trim().is_empty()).take(SIGNATURE_LINES).any(names)
}
