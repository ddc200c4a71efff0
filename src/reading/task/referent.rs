//! What an objective points at: the words of the mail that name its "it".
//!
//! Owns the words in brackets behind an objective whose mail has no subject that could stand there. They are the mail's
//! own; where nothing near the request names its matter, there are none.

use crate::reading::{
    conversation::content_words,
    language::Language,
    lexicon::Feature,
    mail::annotated_mail::AnnotatedMail,
    sentence::{
        clause::{Clause, ClauseKind, strip_salutation},
        score::ScoredSentence,
        text::{normalise_spaces_and_quotes, words},
    },
    task::{objective::MAX_OBJECTIVE_CHARS, shorten::shorten, topic::points_at_matter},
};

/// An act of so few words says nothing of its matter.
const MOST_BARE_WORDS: usize = 2;
/// A request with fewer words of its own says too little of its matter.
const LEAST_CONTENT_WORDS: usize = 2;
/// So many sentences before a request may name its matter.
const NEARBY: usize = 4;
/// More words of its own make a sentence no better as a name of the matter.
const ENOUGH_WORDS: usize = 8;
/// What a pronoun at the beginning takes from the worth of a sentence, in words.
const VAGUE: f64 = 2.0;
/// A longer act names its matter itself.
const MOST_POINTING_WORDS: usize = 7;
/// Fewer characters of it name nothing.
const LEAST_CHARS: usize = 28;
const MOST_CHARS: usize = 84;

/// "Can you get that from Julia?": what "that" is, when its sentence says so, or when a sentence before does and no
/// subject stands there instead.
pub(super) fn find_referent(
    clause: &Clause,
    scored: &ScoredSentence<'_>,
    annotated: &AnnotatedMail<'_>,
    lacks_subject: bool,
) -> Option<String> {
    let language = scored.sentence.language;
    // "Please look over.": names nothing at all.
    let is_bare = clause.kind == ClauseKind::Act && lacks_subject && words(&clause.text).count() <= MOST_BARE_WORDS;
    let is_short = words(&clause.text).count() <= MOST_POINTING_WORDS;
    if (clause.points_back(language) || is_bare)
        && is_short
        && let Some(own) = find_within(clause, scored)
    {
        return Some(own);
    }
    // "Ramona, the accrual still shows last quarter's rate. Please correct it.": said to the reader, it names the matter
    // better than the subject of a mail to several.
    let at = annotated.sentences.iter().position(|other| std::ptr::eq(other, scored))?;
    let called = at
        .checked_sub(1)
        .and_then(|at| annotated.sentences.get(at))
        .filter(|before| before.has(Feature::NamesYou) && before.sentence.words().count() > MOST_POINTING_WORDS);
    if clause.points_back(language)
        && is_short
        && let Some(before) = called
    {
        return Some(name_of_matter(before));
    }
    let is_bare_reply =
        clause.kind == ClauseKind::Tell && (words(&clause.text).next().is_none() || clause.is_only_time());
    let text = if matches!(clause.kind, ClauseKind::Answer | ClauseKind::Whole) { &clause.whole } else { &clause.text };
    let is_vague = || {
        is_bare
            || points_at_matter(text, language)
            || wants_opinion(text)
            || content_words(text).len() < LEAST_CONTENT_WORDS
    };
    if !(is_bare_reply || (lacks_subject && is_vague())) {
        return None;
    }
    let before = annotated.sentences.get(at.saturating_sub(NEARBY)..at)?;
    find_best_name(before).or_else(|| find_within(clause, scored))
}

/// "Send your thoughts to Julie": an opinion, and not on what.
fn wants_opinion(text: &str) -> bool {
    const OPINIONS: &[&str] = &["thoughts", "comments", "feedback", "input", "opinion", "view", "views"];
    let lower = text.to_lowercase();
    let said = || words(&lower);
    let names_matter = || said().any(|word| matches!(word, "on" | "about" | "regarding"));
    said().any(|word| word == "your") && said().any(|word| OPINIONS.contains(&word)) && !names_matter()
}

/// The objective with what it points at, if there is room for it.
pub(super) fn append_referent(objective: &str, about: &str, language: Language) -> String {
    let objective = objective.trim_end_matches('.');
    let room = MAX_OBJECTIVE_CHARS.saturating_sub(objective.chars().count() + " ()".len()).min(MOST_CHARS);
    if room < LEAST_CHARS {
        return objective.to_owned();
    }
    format!("{objective} ({})", shorten(about.trim_end_matches(['.', '!', ':', '?', ' ']), room, language))
}

/// What the sentence of the request says before it: "The MOT runs out on the 18th, can you book it in?", "If you want to
/// present the plan please go ahead".
fn find_within(clause: &Clause, scored: &ScoredSentence<'_>) -> Option<String> {
    let language = scored.sentence.language;
    let head = clause.text.split(' ').nth(usize::from(language != Language::German)).unwrap_or(&clause.text);
    let own = scored.sentence.raw.split([',', '–', '—', ';']).next().and_then(|part| part.split(" - ").next())?;
    let is_apart = !own.contains(head) && words(own).count() >= 3;
    is_apart.then(|| own.to_owned())
}

/// The sentence that best names what the next one is about: it has many words of its own, stands near, and does not begin
/// with a pronoun itself.
fn find_best_name(before: &[ScoredSentence<'_>]) -> Option<String> {
    let candidates = before.iter().rev().enumerate().filter_map(|(distance, other)| {
        let is_courtesy = other.features.has_any(&[Feature::Thanks, Feature::Boilerplate, Feature::Machine]);
        let text = name_of_matter(other);
        let own = content_words(&text).len();
        let is_name = !other.is_for_program && !is_courtesy && own >= LEAST_CONTENT_WORDS;
        let vague = if begins_with_pronoun(&other.sentence.normalised) { VAGUE } else { 0.0 };
        let worth = own.min(ENOUGH_WORDS) as f64 - vague - distance as f64;
        is_name.then_some((worth, text))
    });
    candidates.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, text)| text)
}

fn begins_with_pronoun(text: &str) -> bool {
    let first = words(text).next().unwrap_or_default().to_ascii_lowercase();
    matches!(first.as_str(), "he" | "she" | "they" | "it" | "this" | "that" | "these" | "er" | "es" | "das")
}

/// How something is handed over, before its name.
const HANDED: &[&str] = &[
    "attached is ",
    "attached are ",
    "attached please find ",
    "attached ",
    "enclosed is ",
    "enclosed are ",
    "enclosed ",
    "here is ",
    "here are ",
    "here's ",
    "this is ",
];

/// The sentence without what only calls somebody or hands something over: "Attached is a draft" names a draft.
fn name_of_matter(scored: &ScoredSentence<'_>) -> String {
    let tidy = normalise_spaces_and_quotes(scored.sentence.raw);
    let handed = scored.phrase_matches.iter().find(|hit| hit.feature == Feature::HandsOver && hit.start == 0);
    let rest = handed.and_then(|hit| tidy.get(hit.end..)).filter(|rest| words(rest).count() >= 2);
    let rest = rest.unwrap_or_else(|| strip_salutation(&tidy));
    // "It was great, but the printer is slow": what is the matter stands behind.
    let turn = rest.find(" but ").and_then(|at| rest.get(at + " but ".len()..));
    let names = |turn: &&str| content_words(turn).len() > LEAST_CONTENT_WORDS && !begins_with_pronoun(turn);
    let rest = turn.filter(names).unwrap_or(rest).trim_start_matches([' ', ',', ':', '-']);
    let lower = rest.to_ascii_lowercase();
    let handed = HANDED.iter().find(|handed| lower.starts_with(*handed)).map_or(0, |handed| handed.len());
    rest.get(handed..).unwrap_or(rest).to_owned()
}
