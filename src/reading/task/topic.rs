//! What a mail is about, as its subject says, and whether an objective says so already.
//!
//! Owns the words in brackets behind an objective. A line of a list stands far from its mail, so it names its matter.

use crate::reading::{
    conversation::content_words,
    language::Language,
    lexicon::{Lexicon, WordList},
    sentence::text::{normalise, words},
    task::shorten::truncate_at_word,
};

/// The length of a subject beside an objective, in characters.
const MAX_SUBJECT_CHARS: usize = 56;
/// A beginning of a subject that is shorter names nothing.
pub(in crate::reading) const LEAST_SUBJECT_CHARS: usize = 12;
/// Marks before a subject that are looked at.
const MOST_MARKS: usize = 6;
/// Words that begin with the same letters, so many of them, are one word.
const SAME_START: usize = 5;

/// The subject without "Re:", the tag of a list, and cries; empty when it says nothing.
pub(in crate::reading) fn clean_subject(subject: &str) -> &str {
    let mut rest = subject.trim();
    for _ in 0..MOST_MARKS {
        let Some(shorter) = strip_mark(rest) else { break };
        rest = shorter.trim_start();
    }
    let rest = rest.trim_end_matches(['.', '!', ' ', ':', ',', '-']);
    let plain = normalise(rest);
    let plain = plain.trim_end_matches('?');
    let says_nothing = lexicons().any(|lexicon| {
        lexicon.has_word(WordList::EmptySubjects, plain) || lexicon.has_word(WordList::SubjectMarks, plain)
    });
    if says_nothing || words(rest).next().is_none() { "" } else { rest }
}

/// "Re: …", "\[list\] …", "URGENT: …".
fn strip_mark(subject: &str) -> Option<&str> {
    if let Some((_, rest)) = subject.strip_prefix('[').and_then(|tagged| tagged.split_once(']')) {
        return Some(rest).filter(|rest| words(rest).next().is_some());
    }
    let (mark, rest) = subject.split_once(':')?;
    let plain = normalise(mark.trim());
    let is_mark = lexicons().any(|lexicon| lexicon.has_word(WordList::SubjectMarks, &plain));
    (is_mark && words(rest).next().is_some()).then_some(rest)
}

/// Whoever answers, their program may speak another language.
fn lexicons() -> impl Iterator<Item = &'static Lexicon> {
    [Language::English, Language::German].into_iter().map(Lexicon::of)
}

/// The subject, as short as it fits into brackets.
pub(in crate::reading) fn shorten_subject(subject: &str) -> String {
    if subject.chars().count() <= MAX_SUBJECT_CHARS {
        return subject.to_owned();
    }
    let limit = subject.char_indices().nth(MAX_SUBJECT_CHARS).map_or(subject.len(), |(at, _)| at);
    let head = subject.get(..limit).unwrap_or_default();
    let ends = [" - ", " – ", " — ", ": ", ", ", " (", " | ", "; ", "? "];
    let end = ends.iter().filter_map(|end| head.rfind(end)).filter(|at| *at >= LEAST_SUBJECT_CHARS).max();
    end.and_then(|at| head.get(..at)).map_or_else(|| truncate_at_word(subject, MAX_SUBJECT_CHARS), str::to_owned)
}

/// Whether a text says "it" or "these" of something that other words name. "This week" is a time.
pub(in crate::reading) fn points_at_matter(text: &str, language: Language) -> bool {
    let lexicon = Lexicon::of(language);
    let plain = normalise(text);
    let mut said = words(&plain).peekable();
    std::iter::from_fn(|| said.next().map(|word| (word, said.peek().copied()))).any(|(word, next)| {
        // "Confirm that you come": what follows is what is meant.
        let is_conjunction = word == "that" && next.is_some();
        let is_time = next.is_some_and(|next| lexicon.has_word(WordList::PointedTimes, next));
        lexicon.has_word(WordList::PointingWords, word) && !is_conjunction && !is_time
    })
}

/// Whether a text speaks of what a subject names: it shares a third of its words.
pub(in crate::reading) fn speaks_of(text: &str, subject: &str, person: &str) -> bool {
    if normalise(text).contains(&normalise(subject)) {
        return true;
    }
    let of_person = content_words(person);
    let named: Vec<String> = content_words(subject).into_iter().filter(|word| !of_person.contains(word)).collect();
    let said = content_words(text);
    let shared = named.iter().filter(|word| said.iter().any(|other| is_same_word(word, other))).count();
    !named.is_empty() && shared * 3 >= named.len()
}

fn is_same_word(word: &str, other: &str) -> bool {
    let start = |word: &str| word.chars().take(SAME_START).collect::<String>();
    word == other || (word.chars().count() >= SAME_START && start(word) == start(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_without_its_marks() {
        for (subject, expected) in [
            ("Re: FW: [members] Rates survey 2026", "Rates survey 2026"),
            ("AW: WG: Sommerfest", "Sommerfest"),
            ("URGENT: sponsorship", "sponsorship"),
            ("[homer/theme] Review requested", "Review requested"),
            ("Minutes: March", "Minutes: March"),
            ("Re: Hello", ""),
            ("Re:", ""),
            ("[]", ""),
            ("(no subject)", ""),
        ] {
            assert_eq!(clean_subject(subject), expected, "{subject}");
        }
        assert_eq!(
            shorten_subject("Grade 7 overnight trip to Lübeck - consent form and the list of medicines"),
            "Grade 7 overnight trip to Lübeck"
        );
    }

    #[test]
    fn an_objective_that_names_its_matter_needs_no_subject() {
        for (text, subject, expected) in [
            ("Send an updated list of vacation days to Tom", "Vacation days", true),
            ("Order 6 more before the set goes out", "plotter paper", false),
            ("Have a new picture made", "Badge pictures", true),
            ("Die Tonnen an den Straßenrand stellen", "Abfuhrerinnerung: morgen Biotonne und Papier", false),
            ("Reply to Jo", "", true),
        ] {
            assert_eq!(speaks_of(text, subject, "Jo"), expected, "{text}");
        }
    }
}
