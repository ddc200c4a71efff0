//! The cues of a whole mail: which phrases stand in it, what its sentences ask, how near its days are.

use super::{
    envelope::{emit_envelope_cues, emit_layout_cues},
    signal::{Signal, tokenise},
    weights::{SignalWeights, weight_table},
};
use crate::date::{self, DueDate, ReferenceTime};
use crate::{
    model::{Mail, Me},
    reading::{lexicon::Feature, mail::annotated_mail::AnnotatedMail, sentence::score::ScoredSentence},
};

/// So many sentences are asked for their days.
const MAX_DATED_SENTENCES: usize = 40;
/// Words beyond this say nothing new about the sort of mail.
const MAX_WORDS: usize = 1_500;

/// Every cue of a mail. One may come more than once; it counts once.
pub(in crate::reading) fn emit_mail_cues<'a>(
    mail: &'a Mail,
    annotated: &'a AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
    me: &Me,
    mut take: impl FnMut(Signal<'a>),
) {
    emit_envelope_cues(mail, me, &mut take);
    emit_layout_cues(mail, &mut take);
    emit_phrase_cues(annotated, &mut take);
    emit_request_cues(annotated, &mut take);
    let near = annotated.sentences.iter().take(MAX_DATED_SENTENCES);
    let dated: DatedSentences<'_> = near.map(|scored| (scored, scored.due_date(base))).collect();
    emit_date_cues(annotated, &dated, base, &mut take);
    emit_urgency_cues(annotated, &dated, base, &mut take);
    emit_salutation_cues(annotated, &mut take);
}

fn emit_phrase_cues<'a>(annotated: &AnnotatedMail<'_>, take: &mut impl FnMut(Signal<'a>)) {
    for feature in annotated.features().iter().filter(|feature| *feature != Feature::Always) {
        take(Signal::Cue(feature.as_str()));
        if annotated.count(feature) >= 2 {
            take(Signal::Again(feature.as_str()));
        }
        if annotated.subject_has(feature) {
            take(Signal::SubjectCue(feature.as_str()));
        }
    }
}

fn emit_request_cues<'a>(annotated: &AnnotatedMail<'_>, take: &mut impl FnMut(Signal<'a>)) {
    let best = annotated.sentences.iter().filter(|s| !s.is_courtesy()).map(|s| s.score).fold(0.0, f64::max);
    let asks = annotated.sentences.iter().filter(|scored| scored.asks()).count();
    let outright = annotated.sentences.iter().filter(|scored| scored.asks_outright()).count();
    let to_you = |scored: &ScoredSentence<'_>| scored.has(Feature::QuestionToYou) || scored.has(Feature::AsksYou);
    for (holds, name) in [
        (best >= 0.3, "asks_a_little"),
        (best >= 0.5, "asks"),
        (best >= 0.75, "asks_clearly"),
        (best >= 0.9, "asks_surely"),
        (asks >= 2, "asks_twice"),
        (asks >= 4, "asks_often"),
        (outright >= 1, "asks_outright"),
        (outright >= 2, "asks_outright_twice"),
        (annotated.sentences.iter().any(to_you), "asks_you_something"),
        (annotated.sentences.last().is_some_and(ScoredSentence::asks), "asks_at_the_end"),
    ] {
        if holds {
            take(Signal::Cue(name));
        }
    }
}

/// Sentences with the time each names.
type DatedSentences<'p> = Vec<(&'p ScoredSentence<'p>, Option<&'p DueDate>)>;

fn emit_date_cues<'a>(
    annotated: &AnnotatedMail<'_>,
    dated: &DatedSentences<'_>,
    base: &ReferenceTime<'_>,
    take: &mut impl FnMut(Signal<'a>),
) {
    // What the writer promises by a day is no limit for the reader.
    let others = dated.iter().filter(|(scored, _)| !scored.has(Feature::Commits));
    let dues: Vec<&DueDate> = others.filter_map(|(_, due)| *due).collect();
    let subject = date::find_due_date(&annotated.subject, base);
    let soonest = |limit: bool| {
        let hours = dues
            .iter()
            .copied()
            .chain(&subject)
            .filter(|due| due.is_limit || !limit)
            .map(|due| base.hours_until(due.at));
        hours.fold(f64::INFINITY, f64::min)
    };
    let (any, limit) = (soonest(false), soonest(true));
    for (holds, name) in [
        (any <= 14.0, "day_is_today"),
        (any <= 40.0, "day_is_near"),
        (limit <= 5.0, "limit_in_hours"),
        (limit <= 14.0, "limit_today"),
        (limit <= 80.0, "limit_in_days"),
        (limit.is_finite(), "limit"),
        (subject.is_some(), "subject_has_day"),
    ] {
        if holds {
            take(Signal::Cue(name));
        }
    }
}

/// Things that press when they stand in one sentence, and say little apart.
fn emit_urgency_cues<'a>(
    annotated: &AnnotatedMail<'_>,
    dated: &DatedSentences<'_>,
    base: &ReferenceTime<'_>,
    take: &mut impl FnMut(Signal<'a>),
) {
    use Feature::{AsksYou, Commits, Consequence, Deadline, Due, Grave, Imperative, ImperativeLater, Needs, Please};
    let soonest = |dated: &mut dyn Iterator<Item = &(&ScoredSentence<'_>, Option<&date::DueDate>)>| {
        let limits = dated.filter_map(|(_, due)| *due).filter(|due| due.is_limit);
        limits.map(|due| base.hours_until(due.at)).fold(f64::INFINITY, f64::min)
    };
    let wants =
        |scored: &ScoredSentence<'_>| scored.features.has_any(&[AsksYou, Needs, Please, Imperative, ImperativeLater]);
    let any = |holds: &dyn Fn(&ScoredSentence<'_>) -> bool| dated.iter().any(|(scored, _)| holds(scored));
    let due =
        |scored: &ScoredSentence<'_>| scored.features.has_any(&[Due, Deadline, Needs, AsksYou]) && !scored.has(Commits);
    let wanted_in = soonest(&mut dated.iter().filter(|(scored, _)| due(scored)));
    for (holds, name) in [
        (any(&|s| s.has(Grave) && s.has(Feature::Trouble)), "grave_trouble"),
        (any(&|s| s.has(Grave) && wants(s)), "grave_and_wanted"),
        (any(&|s| s.has(Feature::SameDay) && wants(s)), "wanted_now"),
        (wanted_in <= 14.0, "wanted_today"),
        (wanted_in <= 80.0, "wanted_in_days"),
        (any(&|s| s.has(Consequence)) && soonest(&mut dated.iter()) <= 14.0, "today_or_else"),
        (any(&|s| s.has(Consequence) && s.has(Feature::Trouble)), "trouble_or_else"),
        (annotated.subject_has(Feature::Trouble) && annotated.subject_has(Grave), "grave_subject"),
        (annotated.has(Feature::Intrusion) && any(&|s| wants(s) || s.has(Feature::Question)), "intrusion_and_wanted"),
        (annotated.has(Feature::Pressure) && any(&|s| wants(s)), "pressure_and_wanted"),
        (
            annotated.subject_has(Needs) && annotated.features().has_any(&[Feature::Advert, Feature::Pressure]),
            "sales_alarm",
        ),
    ] {
        if holds {
            take(Signal::Cue(name));
        }
    }
}

/// "Daniel," on a line of its own, "Hi Priya,": someone is called by name.
fn emit_salutation_cues<'a>(annotated: &AnnotatedMail<'_>, take: &mut impl FnMut(Signal<'a>)) {
    let Some(first) = annotated.sentences.first() else { return };
    let raw = first.sentence.raw;
    let head = raw.split([',', '–', '—', ':']).next().unwrap_or_default();
    let ends = head.len() < raw.len();
    let words = head.split_whitespace().count();
    let hail = head.split_whitespace().next().unwrap_or_default().to_lowercase();
    let named = head.split_whitespace().last().is_some_and(|word| word.starts_with(char::is_uppercase));
    let hails = matches!(hail.as_str(), "hi" | "hello" | "hey" | "dear" | "שלום" | "היי" | "הי" | "אהלן");
    for (holds, name) in [
        (ends && words == 1 && named && !hails, "called_by_name"),
        (ends && words <= 3 && hails && named, "greeted_by_name"),
        (hail == "dear", "dear"),
        (hail == "hey", "hey"),
        (annotated.sentences.iter().any(|scored| scored.has(Feature::NamesYou)), "names_you_somewhere"),
    ] {
        if holds {
            take(Signal::Cue(name));
        }
    }
}

/// Every word and pair of a mail.
pub(in crate::reading) fn emit_word_signals<'a>(annotated: &'a AnnotatedMail<'_>, mut take: impl FnMut(Signal<'a>)) {
    for scored in sentences_within_word_limit(annotated) {
        let mut last = "^";
        for word in tokenise(&scored.sentence.normalised) {
            take(Signal::Word(word));
            take(Signal::Pair(last, word));
            last = word;
        }
    }
    emit_subject_words(annotated, take);
}

/// Those of them that have weights, from the walk that scored the sentences.
pub(super) fn emit_weighted_signals<'a>(
    annotated: &'a AnnotatedMail<'_>,
    mut take: impl FnMut(Signal<'a>, &'static SignalWeights),
) {
    for scored in sentences_within_word_limit(annotated) {
        for (signal, row) in scored.weights.weighted_signals(&scored.sentence.normalised) {
            take(signal, row);
        }
    }
    emit_subject_words(annotated, |signal| {
        if let Some(row) = weight_table().row(&signal) {
            take(signal, row);
        }
    });
}

fn emit_subject_words<'a>(annotated: &'a AnnotatedMail<'_>, mut take: impl FnMut(Signal<'a>)) {
    for word in tokenise(&annotated.subject) {
        take(Signal::Word(word));
        take(Signal::Subject(word));
    }
}

/// The sentences up to the one in which the words that count are reached.
fn sentences_within_word_limit<'p, 'a>(
    annotated: &'p AnnotatedMail<'a>,
) -> impl Iterator<Item = &'p ScoredSentence<'a>> {
    let mut words = 0;
    annotated.sentences.iter().take_while(move |scored| {
        let more = words < MAX_WORDS;
        words += scored.weights.word_count();
        more
    })
}
