//! Letters: greeting, words, closing and signature. What the person wrote already is not written a second time.

mod revised;
mod tone;
mod wording;

pub(super) use revised::{insert_before_ending, readdress_greeting, remove_courtesies};
pub(super) use tone::{Tone, find_tone, is_familiar_text};
pub(super) use wording::LetterWording;

use super::ToolInput;

/// The longest line that can be a greeting or a closing, in words.
const MOST_WORDS: usize = 8;
/// How many lines at the end of a text are looked at for a closing.
const CLOSING_LINES: usize = 5;

/// Returns the words with a greeting above, and a closing and signature below, as far as they have none.
pub(super) fn add_greeting_and_closing(input: &ToolInput<'_>, name: Option<&str>, words: &str) -> String {
    complete_letter(input, &find_tone(input, name), words)
}

/// Returns the words as a letter in this tone.
pub(super) fn complete_letter(input: &ToolInput<'_>, tone: &Tone, words: &str) -> String {
    let words = words.trim();
    let signature = signature(input, tone.signed.as_deref());
    let first = words.lines().next().unwrap_or_default();
    let greeting = if is_greeting(first) { String::new() } else { format!("{}\n\n", tone.greeting) };
    let ending = match find_ending(input, words, signature) {
        Ending::Signed => String::new(),
        Ending::Closed => format!("\n{signature}"),
        Ending::Open => format!("\n\n{}\n{signature}", tone.closing),
    };
    format!("{greeting}{words}{ending}\n")
}

/// How far a text is a finished letter.
enum Ending {
    /// It has neither a closing nor a signature.
    Open,
    /// It ends with a closing.
    Closed,
    /// It is signed.
    Signed,
}

fn find_ending(input: &ToolInput<'_>, words: &str, signature: &str) -> Ending {
    let mut lines = words.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let Some(last) = lines.next() else { return Ending::Open };
    let is_name = |line: &str| {
        let line = line.trim_end_matches(['.', ',', '!']);
        input.me.names.iter().any(|name| line == name || name.split_whitespace().next() == Some(line))
            || signature.lines().any(|own| !own.trim().is_empty() && own.trim() == line)
    };
    let has_several = words.lines().filter(|line| !line.trim().is_empty()).nth(1).is_some();
    // "Yes, on Thursday. Alex" is signed too.
    let ends_with_name =
        last.trim_end_matches('.').rsplit_once(['.', ',', '!', '?']).is_some_and(|(_, end)| is_name(end.trim()));
    if ends_with_name || has_several && (is_name(last) || lines.take(CLOSING_LINES - 1).any(is_closing)) {
        Ending::Signed
    } else if has_several && is_closing(last) {
        Ending::Closed
    } else {
        Ending::Open
    }
}

/// Returns whether a line greets somebody, in any language: it begins with a greeting, is short, and says no more.
pub(super) fn is_greeting(line: &str) -> bool {
    let line = line.trim();
    let begins = LetterWording::all().iter().any(|wording| begins_with_any(line, wording.list("greetings")));
    begins && line.split_whitespace().count() <= MOST_WORDS && !line.ends_with(['.', '?'])
}

/// Returns whether a line is the closing of a letter, in any language.
pub(super) fn is_closing(line: &str) -> bool {
    let line = line.trim();
    let begins = LetterWording::all().iter().any(|wording| begins_with_any(line, wording.list("closings")));
    begins && line.split_whitespace().count() <= MOST_WORDS && !line.ends_with(['.', '?'])
}

/// Returns whether a line begins with one of the phrases and a word ends there.
fn begins_with_any(line: &str, mut phrases: impl Iterator<Item = &'static str>) -> bool {
    let line = line.to_lowercase();
    phrases.any(|phrase| line.strip_prefix(phrase).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric())))
}

/// Returns one of our phrases as the first sentence of a letter. Behind a greeting that ends with a comma, German goes on
/// with a small letter.
pub(super) fn begin_letter(tone: &Tone, phrase: &str) -> String {
    if tone.greeting.ends_with(',') {
        return phrase.to_owned();
    }
    let mut letters = phrase.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns the configured signature, else the name as the person signed before, else their name or address.
pub(super) fn signature<'a>(input: &ToolInput<'a>, signed: Option<&'a str>) -> &'a str {
    let me = input.me;
    if !me.signature.is_empty() {
        return &me.signature;
    }
    signed.unwrap_or_else(|| me.default_signature(input.own))
}

#[cfg(test)]
mod tests;
