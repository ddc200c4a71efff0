//! The times that a mail names for the meeting it asks for.
//!
//! Owns which sentences speak of them. What the sentences say is read by [`AskedTimesReader`].

use crate::date::{AskedTimesReader, ReferenceTime};
use crate::model::AskedTimes;
use crate::reading::{
    conversation::says,
    lexicon::{Feature, Lexicon, WordList},
    mail::annotated_mail::AnnotatedMail,
    sentence::score::ScoredSentence,
};

/// So many sentences before and behind the request may name its time.
const NEARBY: usize = 4;
/// A question of so few words is about what was said before it.
const LONGEST_SHORT_QUESTION: usize = 5;

/// Returns the times that the mail names for a meeting that this sentence asks for; none if it names none.
pub(super) fn find_asked_times(
    scored: &ScoredSentence<'_>,
    subject: &str,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
) -> Option<AskedTimes> {
    let at = annotated.sentences.iter().position(|other| std::ptr::eq(other, scored)).unwrap_or(0);
    let near = annotated.sentences.iter().enumerate().filter(|(nth, other)| {
        nth.abs_diff(at) <= NEARBY && !other.is_for_program && (*nth == at || may_offer_time(other))
    });
    let near: Vec<&ScoredSentence<'_>> = near.map(|(_, other)| other).collect();
    let (about, others): (Vec<_>, Vec<_>) =
        near.into_iter().partition(|other| std::ptr::eq(*other, scored) || speaks_of_time(other));
    let first = read_all(&about, base);
    // "Could we meet next week? … Tuesday afternoon is quiet here.": what is less exact is made exact nearby.
    let found = match first {
        Some(found) if found.is_exact() => Some(found),
        found => {
            let all: Vec<_> = annotated
                .sentences
                .iter()
                .filter(|one| about.iter().chain(&others).any(|other| std::ptr::eq(*other, *one)))
                .collect();
            let wider = read_all(&all, base);
            wider.filter(|wider| found.is_none() || wider.is_exact()).or(found)
        }
    };
    found.or_else(|| {
        let mut reader = AskedTimesReader::new(base);
        reader.read(subject);
        reader.finish()
    })
}

/// Returns whether a sentence asks if the reader can be somewhere, or has time, at a time that it may name. One that asks
/// for work or for a thing does not.
pub(super) fn asks_about_time(scored: &ScoredSentence<'_>) -> bool {
    let about_time = [WordList::Suiting, WordList::Visits, WordList::OpenTimes];
    asks_for_presence(scored) && about_time.into_iter().any(|list| says(scored, list))
}

/// Returns whether a sentence asks to meet or to talk, whatever the meeting is called.
pub(super) fn asks_to_meet(scored: &ScoredSentence<'_>) -> bool {
    let meets = scored.has(Feature::Meeting) && says(scored, WordList::Suiting);
    asks_for_presence(scored) && (meets || says(scored, WordList::Talks))
}

fn asks_for_presence(scored: &ScoredSentence<'_>) -> bool {
    let asks = scored.sentence.raw.contains('?')
        || scored.features.has_any(&[Feature::AsksYou, Feature::LetMeKnow, Feature::Proposes, Feature::Please]);
    (asks || says(scored, WordList::Talks)) && !asks_for_thing(scored)
}

/// Returns whether hours to come are offered in the sentence of a request or beside it, and the request is not for work or
/// for a thing: "Need half an hour with you. I can do Tuesday at 11." Whoever names an hour and asks about it wants to know
/// whether it suits.
pub(super) fn offers_time_beside(
    scored: &ScoredSentence<'_>,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
) -> bool {
    let Some(at) = annotated.sentences.iter().position(|other| std::ptr::eq(other, scored)) else { return false };
    let near = annotated.sentences.iter().enumerate().filter(|(nth, _)| nth.abs_diff(at) <= NEARBY);
    let is_short = says(scored, WordList::Joining) && scored.sentence.words().count() <= LONGEST_SHORT_QUESTION;
    let asks_back = is_short && scored.sentence.raw.contains('?');
    let is_named = |other: &ScoredSentence<'_>| {
        asks_back && may_offer_time(other) && !asks_for_thing(other) && names_coming_time(other, base, true)
    };
    !asks_for_thing(scored)
        && (near.into_iter().any(|(_, other)| offers_hour(other, base) || is_named(other))
            || leaves_time_open(scored, base))
}

/// Returns whether the sentence says that any of the days that it names suits: "any day next week would do".
pub(super) fn leaves_time_open(scored: &ScoredSentence<'_>, base: &ReferenceTime<'_>) -> bool {
    says(scored, WordList::OpenTimes) && says(scored, WordList::Suiting) && names_coming_time(scored, base, false)
}

/// Returns the sentence of the mail that asks about a time to come, and of nothing else.
pub(in crate::reading) fn find_offered_time<'a>(
    annotated: &'a AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
) -> Option<&'a ScoredSentence<'a>> {
    let asks = |scored: &&ScoredSentence<'_>| {
        scored.sentence.raw.contains('?') && !asks_for_thing(scored) && annotated.may_ask_person(scored)
    };
    annotated.sentences.iter().filter(asks).find(|scored| names_coming_time(scored, base, false))
}

/// Returns whether the mail tells of an appointment that stands, and the sentence names no time itself: "Please be on time."
pub(super) fn is_of_confirmed_appointment(
    scored: &ScoredSentence<'_>,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
) -> bool {
    let tells = |other: &ScoredSentence<'_>| {
        says(other, WordList::Bookings) && !other.sentence.raw.contains('?') && names_coming_time(other, base, true)
    };
    let mut others = annotated.sentences.iter().filter(|other| !std::ptr::eq(*other, scored));
    read_all(&[scored], base).is_none() && others.any(tells)
}

fn offers_hour(scored: &ScoredSentence<'_>, base: &ReferenceTime<'_>) -> bool {
    let is_offer =
        scored.sentence.raw.contains('?') || says(scored, WordList::Suiting) || says(scored, WordList::Talks);
    is_offer && may_offer_time(scored) && !asks_for_thing(scored) && names_coming_time(scored, base, true)
}

fn names_coming_time(scored: &ScoredSentence<'_>, base: &ReferenceTime<'_>, is_exact: bool) -> bool {
    let found = read_all(&[scored], base);
    found.is_some_and(|found| {
        (found.is_exact() || !is_exact) && found.times.iter().any(|time| base.hours_until(time.latest()) > 0.0)
    })
}

fn asks_for_thing(scored: &ScoredSentence<'_>) -> bool {
    let lexicon = Lexicon::of(scored.sentence.language);
    scored.sentence.words().any(|word| lexicon.has_word(WordList::ActVerbs, word))
}

/// Returns whether the request is to be somewhere, so that a time is confirmed and nobody is invited.
pub(super) fn asks_to_come(scored: &ScoredSentence<'_>) -> bool {
    says(scored, WordList::Visits)
}

fn read_all(sentences: &[&ScoredSentence<'_>], base: &ReferenceTime<'_>) -> Option<AskedTimes> {
    let mut reader = AskedTimesReader::new(base);
    for scored in sentences {
        if excludes_time(scored) {
            reader.read_excluded(scored.sentence.raw);
        } else {
            reader.read(scored.sentence.raw);
        }
    }
    reader.finish()
}

/// "Let me know by Thursday" and "I shall send it on Monday" name no time to meet.
fn may_offer_time(scored: &ScoredSentence<'_>) -> bool {
    !scored.has(Feature::Due) && !scored.has(Feature::Commits) || scored.sentence.is_list_item || speaks_of_time(scored)
}

/// Whether a sentence is about the time itself: an item of a list, a proposal, or what suits somebody.
fn speaks_of_time(scored: &ScoredSentence<'_>) -> bool {
    scored.sentence.is_list_item
        || scored.features.has_any(&[Feature::Proposes, Feature::Meeting])
        || says(scored, WordList::Suiting)
        || excludes_time(scored)
}

/// "I am away on Thursday": no question, and nothing that suits.
fn excludes_time(scored: &ScoredSentence<'_>) -> bool {
    !scored.sentence.raw.trim_end().ends_with('?') && says(scored, WordList::Unavailable)
}
