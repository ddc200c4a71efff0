//! Small changes to a finished letter that leave its greeting, closing and signature where they are.

use super::{CLOSING_LINES, LetterWording, is_closing, is_greeting, tone::has_title};

/// Returns the letter with words before its closing, or at its end where it has none.
pub(in crate::tool) fn insert_before_ending(letter: &str, words: &str, separator: &str) -> String {
    let lines: Vec<&str> = letter.lines().collect();
    let filled = lines.iter().enumerate().rev().filter(|(_, line)| !line.trim().is_empty());
    let closing = filled.take(CLOSING_LINES).filter(|(at, line)| *at > 0 && is_closing(line)).map(|(at, _)| at).last();
    let (text, ending) = lines.split_at(closing.unwrap_or(lines.len()));
    let text = text.join("\n");
    let ending = if ending.is_empty() { String::new() } else { format!("\n{}\n", ending.join("\n")) };
    format!("{}{separator}{}\n{ending}", text.trim_end(), words.trim())
}

/// Returns the letter with a greeting for somebody else: their name in place of the old one, or none where that is not
/// certain. A letter without a greeting stays as it is.
pub(in crate::tool) fn readdress_greeting(
    letter: &str,
    old: Option<&str>,
    new: Option<&str>,
    wording: &LetterWording,
) -> String {
    let (first, rest) = letter.split_once('\n').unwrap_or((letter, ""));
    if !is_greeting(first) {
        return letter.to_owned();
    }
    let first_name = |name: &'_ str| name.split_whitespace().next().unwrap_or_default().to_owned();
    let readdressed = old.zip(new).filter(|_| !has_title(first, wording)).and_then(|(old, new)| {
        let names = [(old.to_owned(), new.to_owned()), (first_name(old), first_name(new))];
        let is_named = |name: &str| {
            let words = |text: &str| text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>();
            let (line, name) = (words(first), words(name));
            !name.concat().is_empty() && line.windows(name.len()).any(|part| part == name)
        };
        names.into_iter().find(|(old, _)| is_named(old)).map(|(old, new)| first.replacen(&old, &new, 1))
    });
    format!("{}\n{rest}", readdressed.unwrap_or_else(|| wording.phrase("hello").to_owned()))
}

/// Returns the letter without phrases of courtesy at the beginning of its sentences. What would leave nothing to read
/// stays.
pub(in crate::tool) fn remove_courtesies(letter: &str, wording: &LetterWording) -> String {
    let mut is_first = true;
    let mut after_comma = false;
    let mut left = 0;
    let lines = letter.lines().map(|line| {
        if line.trim().is_empty() {
            return Some(line.to_owned());
        }
        let begins_text = is_first && !is_greeting(line);
        if is_greeting(line) {
            after_comma = line.trim_end().ends_with(',');
            return Some(line.to_owned());
        }
        is_first = false;
        let Some(rest) = strip_courtesy(line, wording) else {
            left += usize::from(!is_closing(line));
            return Some(line.to_owned());
        };
        if rest.is_empty() {
            return None;
        }
        left += 1;
        let continues = begins_text && after_comma && line.starts_with(char::is_lowercase);
        Some(if continues { rest.to_owned() } else { capitalise(rest) })
    });
    let lines: Vec<String> = lines.collect::<Vec<_>>().into_iter().flatten().collect();
    let end = if letter.ends_with('\n') { "\n" } else { "" };
    let shorter = format!("{}{end}", lines.join("\n")).replace("\n\n\n", "\n\n");
    if left > 0 && has_words_left(&shorter) { shorter } else { letter.to_owned() }
}

/// Returns whether a letter says something between its greeting and its closing.
fn has_words_left(letter: &str) -> bool {
    let mut lines = letter.lines().filter(|line| !line.trim().is_empty() && !is_greeting(line));
    lines.next().is_some_and(|line| !is_closing(line))
}

/// Returns what stands behind a phrase of courtesy at the beginning of a line; none if there is none.
fn strip_courtesy<'a>(line: &'a str, wording: &LetterWording) -> Option<&'a str> {
    let trimmed = line.trim_start();
    wording.list("courtesies").find_map(|phrase| {
        let begin = trimmed.get(..phrase.len()).filter(|begin| begin.to_lowercase() == phrase)?;
        let rest = trimmed.get(begin.len()..)?;
        rest.is_empty().then_some("").or_else(|| rest.strip_prefix([',', '.', '!']).map(str::trim_start))
    })
}

fn capitalise(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}
