//! Notes to oneself: an order to the agent, the points of a list, or what the subject says.
//!
//! Owns what of a note is a thing to do. A note needs no verb: who writes "milk" to themselves means to buy some.

use crate::model::{Mail, TaskKind};
use crate::reading::{
    lexicon::{Feature, Lexicon},
    mail::annotated_mail::AnnotatedMail,
    sentence::{
        score::{ScoredSentence, score_sentence},
        text::{normalise, normalise_spaces_and_quotes, split_sentences, strip_bullet, words},
    },
    task::{objective::ObjectiveWriter, topic::clean_subject},
};

/// A longer list is kept for something else.
const MOST_POINTS: usize = 20;
/// Lines that are looked at: more are no list.
const MOST_LINES: usize = 200;
/// A line this long is a sentence and no point of a list.
const LONGEST_POINT: usize = 64;
/// The same for a line of a list whose other lines are short.
const LONGEST_MIXED_POINT: usize = 96;
/// A text this long was written to be kept, not to be done.
const MOST_WORDS: usize = 80;

/// Something to do, with the words of the note that say so.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) kind: TaskKind,
    pub(super) objective: String,
    pub(super) evidence: String,
}

pub(super) fn read_notes(mail: &Mail, annotated: &AnnotatedMail<'_>) -> Vec<Note> {
    let points = find_points(&mail.text);
    if !points.is_empty() && points.iter().all(|point| is_fact(point)) {
        return Vec::new();
    }
    // Beside things to do, what is written down to be known is none.
    let points: Vec<&str> = points.into_iter().filter(|point| !is_fact(point)).collect();
    let is_point = |raw: &str| points.iter().any(|point| point.contains(raw) || raw.contains(point));
    let commands = annotated.sentences.iter().filter(|scored| !is_point(scored.sentence.raw)).filter_map(read_command);
    let mut notes: Vec<Note> = points.iter().map(|point| read_point(point, annotated)).chain(commands).collect();
    if notes.is_empty() {
        notes.extend(read_subject(mail, annotated));
    }
    notes.truncate(MOST_POINTS);
    notes
}

/// A sentence that tells the agent or the person what to do.
pub(super) fn read_command(scored: &ScoredSentence<'_>) -> Option<Note> {
    let said = normalise_spaces_and_quotes(scored.sentence.raw);
    let writer = ObjectiveWriter { person: "yourself", subject: "", language: scored.sentence.language };
    let note = |kind, text: &str| {
        Some(Note { kind, objective: writer.write_verbatim(text), evidence: scored.sentence.raw.to_owned() })
    };
    if let Some(what) = find_after(scored, Feature::Remind, &said) {
        return note(TaskKind::Reminder, if what.is_empty() { &said } else { &what });
    }
    if scored.has(Feature::Folder) {
        return note(TaskKind::Folder, &said);
    }
    if scored.has(Feature::Summary) {
        return note(TaskKind::Summary, &said);
    }
    if scored.asks_outright() || scored.has(Feature::Imperative) { note(TaskKind::Reminder, &said) } else { None }
}

/// What follows the phrase of a feature.
fn find_after(scored: &ScoredSentence<'_>, feature: Feature, said: &str) -> Option<String> {
    let hit = scored.phrase_matches.iter().find(|hit| hit.feature == feature)?;
    let rest = said.get(hit.end..)?.trim_start_matches([' ', ':', ',', '-']);
    Some(rest.strip_prefix("to ").unwrap_or(rest).trim_end_matches(['.', '!', ' ']).to_owned())
}

/// Whether a point of a list is written down to be known: "PIN of the gate: 2207", "the paint was Oyster Shell 3".
fn is_fact(point: &str) -> bool {
    /// A longer head before a colon is a sentence.
    const LONGEST_HEAD: usize = 5;
    const DIGITS_OF_PHONE: usize = 7;
    const TELLS: &[&str] = &["was", "were", "is", "war", "ist", "steht", "liegt", "היה", "הייתה"];
    let scored = split_sentences(point).into_iter().next().map(|sentence| score_sentence(sentence, &[]));
    let Some(scored) = scored else { return true };
    let lexicon = Lexicon::of(scored.sentence.language);
    let tells = |word: &str| TELLS.contains(&word);
    // "Paint was Oyster Shell 3" begins with no verb.
    let tells_early = scored.sentence.words().nth(1).is_some_and(tells);
    // English and Hebrew have the verb first, German last.
    let has_verb = scored.sentence.words().next().is_some_and(|first| lexicon.is_verb(first))
        || scored.sentence.words().last().is_some_and(|last| lexicon.german_verbs().is_infinitive(last));
    if !tells_early && (has_verb || scored.has_request_words() || point.ends_with('?')) {
        return false;
    }
    let named = point.split_once(": ").filter(|(head, _)| words(head).count() <= LONGEST_HEAD);
    let is_kept = |(_, value): (&str, &str)| words(value).any(is_code);
    let digits = point.chars().filter(char::is_ascii_digit).count();
    scored.sentence.words().any(tells) || named.is_some_and(is_kept) || digits >= DIGITS_OF_PHONE
}

/// "2207", "kestrel99", "84x32": nothing that one counts or buys.
fn is_code(word: &str) -> bool {
    const DIGITS_OF_CODE: usize = 4;
    let digits = word.chars().filter(char::is_ascii_digit).count();
    digits >= DIGITS_OF_CODE || (digits > 0 && word.chars().any(char::is_alphabetic))
}

fn read_point(point: &str, annotated: &AnnotatedMail<'_>) -> Note {
    let command = annotated.sentences.iter().find(|scored| scored.sentence.raw == point).and_then(read_command);
    let writer = ObjectiveWriter { person: "yourself", subject: "", language: annotated.language };
    command.unwrap_or_else(|| Note {
        kind: TaskKind::Reminder,
        objective: writer.write_verbatim(point),
        evidence: point.to_owned(),
    })
}

/// The points of the list that a note is: lines with bullets, or short lines that end no sentence.
fn find_points(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim).take_while(|line| *line != "--" && !line.starts_with('>'));
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).take(MOST_LINES).collect();
    let bulleted: Vec<&str> = lines.iter().filter_map(|line| strip_point_mark(line)).take(MOST_POINTS).collect();
    if !bulleted.is_empty() {
        return bulleted;
    }
    let is_open = |line: &&str| line.chars().count() <= LONGEST_MIXED_POINT && !line.ends_with(['.', '!', ',', ';']);
    let is_short = |line: &&&str| line.chars().count() <= LONGEST_POINT && !line.ends_with('?');
    // Wrapped lines go on with a small letter.
    let begins = |line: &&str| !line.starts_with(|c: char| c.is_ascii_lowercase());
    let (titles, points): (Vec<&str>, Vec<&str>) = lines.iter().copied().partition(|line| line.ends_with(':'));
    let short = points.iter().filter(is_short).count();
    let is_mixed = || points.len() >= 3 && short > 0 && points.iter().all(begins);
    let is_list =
        points.len() >= 2 && titles.len() <= 1 && points.iter().all(is_open) && (short == points.len() || is_mixed());
    if is_list { points } else { Vec::new() }
}

/// The point behind its bullet, number or box; none when it has none, or is ticked off.
fn strip_point_mark(line: &str) -> Option<&str> {
    let (rest, is_marked) = strip_bullet(line);
    let boxes = ["[ ]", "[]", "☐", "□", "○"];
    let unboxed = boxes.iter().find_map(|mark| rest.strip_prefix(mark)).map(str::trim_start);
    let is_done = ["[x]", "[X]", "☑", "✓", "✔"].iter().any(|mark| rest.starts_with(mark));
    let point = unboxed.or_else(|| is_marked.then_some(rest))?;
    (!is_done && words(point).next().is_some()).then_some(point)
}

/// The subject of a note whose text asks for nothing, or the text when it has no subject.
fn read_subject(mail: &Mail, annotated: &AnnotatedMail<'_>) -> Option<Note> {
    const HANDED_ON: &[&str] = &["fw:", "fwd:", "wg:", "הועבר:"];
    let subject = mail.subject.trim();
    let plain = normalise(subject);
    let handed_on = HANDED_ON.iter().any(|mark| plain.starts_with(mark)) || annotated.has_forwarded_part();
    let only_file = !mail.attachments.is_empty() && annotated.sentences.is_empty();
    let length: usize = annotated.sentences.iter().map(|scored| scored.sentence.words().count()).sum();
    let addressed = !mail.to.is_empty() || !mail.cc.is_empty();
    if handed_on || only_file || length > MOST_WORDS || !addressed {
        return None;
    }
    let first = annotated.sentences.first().map_or(subject, |scored| scored.sentence.raw);
    let about = if clean_subject(subject).is_empty() { first } else { subject };
    words(about).next()?;
    let writer = ObjectiveWriter { person: "yourself", subject: "", language: annotated.language };
    Some(Note { kind: TaskKind::Reminder, objective: writer.write_verbatim(about), evidence: first.to_owned() })
}
