//! Which times belong to a request: those at which it asks to meet or to come, and when it is over.

use crate::date::ReferenceTime;
use crate::model::{AskedTime, AskedTimes, ExtractedTask, Instant, Mail, TaskKind};
use crate::reading::{
    conversation::says,
    lexicon::{Lexicon, WordList},
    mail::annotated_mail::AnnotatedMail,
    sentence::score::ScoredSentence,
    task::meeting_times::{
        asks_about_time, asks_to_meet, find_asked_times, is_of_confirmed_appointment, leaves_time_open,
        offers_time_beside,
    },
};

/// A request of no more certain kind may turn out to be about a time.
pub(super) const fn is_answerable(kind: TaskKind) -> bool {
    matches!(kind, TaskKind::Question | TaskKind::Request | TaskKind::Deadline)
}

/// The times that the mail names, where a meeting is asked for, or whether the reader has time or comes.
pub(super) fn find_times_of_request(
    kind: TaskKind,
    scored: &ScoredSentence<'_>,
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
) -> Option<AskedTimes> {
    match kind {
        TaskKind::Meeting => find_asked_times(scored, &mail.subject, annotated, base),
        kind if is_answerable(kind) && asks_to_meet(scored) => find_asked_times(scored, &mail.subject, annotated, base),
        _ if is_of_confirmed_appointment(scored, annotated, base) => None,
        kind if is_answerable(kind) && asks_about_time(scored) => {
            let found = find_asked_times(scored, "", annotated, base)?;
            let is_ahead = found.times.iter().any(|time| base.hours_until(time.earliest()) > 0.0);
            ((found.is_exact() || says(scored, WordList::OpenTimes)) && is_ahead).then_some(found)
        }
        kind if is_answerable(kind) && offers_time_beside(scored, annotated, base) => {
            let found = find_asked_times(scored, "", annotated, base)?;
            (found.is_exact() || leaves_time_open(scored, base)).then_some(found)
        }
        _ => None,
    }
}

/// The hour at which the reader is asked to be somewhere or to meet. A limit is none: work that is late is still to be
/// done.
pub(super) fn find_meeting_time(
    task: &ExtractedTask,
    scored: &ScoredSentence<'_>,
    base: &ReferenceTime<'_>,
) -> Option<Instant> {
    // Of several times the last one counts: until then there is something to answer. A time that had passed when the mail
    // was written is answered too.
    if let Some(asked) = &task.asked_times {
        let last = asked.times.iter().map(AskedTime::latest).max().filter(|_| asked.is_exact());
        return last.filter(|last| base.hours_until(*last) > 0.0);
    }
    let lexicon = Lexicon::of(scored.sentence.language);
    let due = scored.due_date(base).filter(|due| !due.is_limit && due.deadline.contains('T'))?;
    let is_visit = scored.sentence.raw.contains('?')
        && (task.kind == TaskKind::Question || scored.logit_meets > 0.0 || says(scored, WordList::Visits))
        && !scored.sentence.words().any(|word| lexicon.has_word(WordList::HandingVerbs, word));
    (task.kind == TaskKind::Meeting || is_visit).then_some(due.at)
}
