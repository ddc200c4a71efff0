//! Makes a sentence fit into one line: by what can be left out, before it is cut.
//!
//! Owns where a sentence may end early. A reason and what the writer adds about themselves say nothing of the act.

use crate::reading::{
    language::Language,
    lexicon::{Lexicon, WordList},
    sentence::text::{normalise, words},
};

/// What is left of a text that is too long has at least so many characters, so that it still says what it is about.
const LEAST_CHARS: usize = 32;

/// No beginning of a reason is longer, in bytes.
const LONGEST_START: usize = 48;

/// Where a text may end early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Boundary {
    /// A dash, a semicolon, a bracket, or the end of a sentence.
    Break,
    Comma,
    /// The first word of a clause that hangs on what stands before it.
    Clause,
}

/// Leaves out the reason ("because …", "so that …") and the clause in which the writer goes on about themselves.
/// At least `least_words` are left.
pub(in crate::reading) fn drop_reasons(text: &str, least_words: usize, language: Language) -> &str {
    let lexicon = Lexicon::of(language);
    let is_dropped = |at: &usize| {
        let head = text.get(..*at).unwrap_or_default();
        let tail = text.get(*at..).unwrap_or_default().trim_start_matches(BREAKS);
        let tail = normalise(tail.get(..tail.floor_char_boundary(LONGEST_START)).unwrap_or_default());
        let starts = |list| lexicon.words(list).iter().any(|start| starts_with_phrase(&tail, start));
        let is_parted = || head.ends_with([',', ';', '-', '–', '—', '.', '!', '…']);
        starts(WordList::Reasons) || (is_parted() && starts(WordList::WriterSubjects))
    };
    let spaces = text.match_indices(' ').map(|(at, _)| at);
    let end = spaces.skip(least_words.saturating_sub(1)).find(is_dropped);
    end.and_then(|at| text.get(..at)).map_or(text, |head| head.trim_end_matches(BREAKS))
}

/// At most `longest` characters: up to the last clause that fits, else cut between words.
pub(in crate::reading) fn shorten(text: &str, longest: usize, language: Language) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= longest {
        return text;
    }
    shorten_by_clauses(&text, longest, language).unwrap_or_else(|| truncate_at_word(&text, longest))
}

/// The longest beginning that fits and ends with a clause.
pub(in crate::reading) fn shorten_by_clauses(text: &str, longest: usize, language: Language) -> Option<String> {
    let lexicon = Lexicon::of(language);
    let limit = text.char_indices().nth(longest).map_or(text.len(), |(at, _)| at);
    let fits = |(at, _): &(usize, Boundary)| {
        let head = text.get(..*at).unwrap_or_default().trim_end_matches(BREAKS);
        let last = head.rsplit(' ').next().map(normalise).unwrap_or_default();
        head.chars().count() >= LEAST_CHARS
            && is_balanced(head)
            && !lexicon.has_word(WordList::DanglingWords, last.trim_matches(|c: char| !c.is_alphanumeric()))
    };
    let parts = |(at, boundary): &(usize, Boundary)| *boundary != Boundary::Comma || !is_within_list(text, *at);
    let ends: Vec<(usize, Boundary)> =
        boundaries(text, language).take_while(|(at, _)| *at <= limit).filter(fits).filter(parts).collect();
    let last = |wanted: Boundary| ends.iter().rev().find(|(_, boundary)| *boundary == wanted);
    let (at, _) = last(Boundary::Break).or_else(|| last(Boundary::Comma)).or_else(|| last(Boundary::Clause))?;
    // "… whether you would tell us": what is to be told is not cut off.
    let first = words(text.get(*at..).unwrap_or_default()).next().map(normalise).unwrap_or_default();
    if lexicon.has_word(WordList::ObjectStarts, &first) {
        return None;
    }
    text.get(..*at).map(|head| head.trim_end_matches(BREAKS).to_owned())
}

/// "medical, dental and flexible choices": a comma between things that are named together.
fn is_within_list(text: &str, at: usize) -> bool {
    const MOST_WORDS: usize = 3;
    let after = || text.get(at..).unwrap_or_default().trim_start().split(' ').take(MOST_WORDS + 1);
    let joins = |word: &str| matches!(word, "and" | "or" | "und" | "oder" | "&");
    after().position(joins).is_some_and(|place| place > 0)
}

const BREAKS: [char; 8] = [' ', ',', ';', '-', '–', '—', '(', ':'];

/// The places at which a text may end, from its start.
fn boundaries(text: &str, language: Language) -> impl Iterator<Item = (usize, Boundary)> {
    let lexicon = Lexicon::of(language);
    let mut before = "";
    let mut at = 0;
    let mut joins = false;
    text.split(' ').filter_map(move |word| {
        let start = at;
        at += word.len() + 1;
        let previous = std::mem::replace(&mut before, word);
        // "Sign it | and send it", but not "sales and | marketing".
        if std::mem::replace(&mut joins, false) && lexicon.is_verb(&normalise(word)) {
            return Some((start - previous.len() - 2, Boundary::Clause));
        }
        let boundary = if previous.ends_with([';', '.', '!', '?', '…']) && previous.len() > 3
            || matches!(previous, "-" | "–" | "—")
            || matches!(word, "-" | "–" | "—")
            || word.starts_with(['(', '—'])
        {
            Boundary::Break
        } else if previous.ends_with(',') {
            Boundary::Comma
        } else if lexicon.has_word(WordList::ClauseStarts, &normalise(word)) {
            joins = matches!(word, "and" | "or" | "und");
            if joins {
                return None;
            }
            Boundary::Clause
        } else {
            return None;
        };
        (start > 0).then(|| (start - 1, boundary))
    })
}

/// Whether a text starts with a phrase, or its first word ends as a phrase like "*ing" says.
fn starts_with_phrase(text: &str, phrase: &str) -> bool {
    match phrase.strip_prefix('*') {
        Some(ending) => text.split([' ', ',', '.']).next().is_some_and(|word| word.ends_with(ending) && word != ending),
        None => {
            text.strip_prefix(phrase).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '\''))
        }
    }
}

/// No bracket or quotation mark was opened and not closed.
fn is_balanced(head: &str) -> bool {
    head.matches('(').count() <= head.matches(')').count() && head.matches('"').count().is_multiple_of(2)
}

/// At most `longest` characters, cut between words.
pub(in crate::reading) fn truncate_at_word(text: &str, longest: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= longest {
        return text;
    }
    let cut: String = text.chars().take(longest.saturating_sub(1)).collect();
    let whole = cut.rsplit_once(' ').map_or(cut.as_str(), |(whole, _)| whole);
    format!("{}…", whole.trim_end_matches([',', ';', ':', '.']))
}
