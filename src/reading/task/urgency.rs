//! The built-in estimate of urgency, 0..=1, for rules to use when no model gives one.
//!
//! Owns the number. What a seller calls urgent is not: mail without a task scores next to nothing.

use crate::model::{ExtractedTask, Mail, TaskKind};
use crate::reading::{
    learned::MailScores,
    lexicon::Feature,
    mail::{
        annotated_mail::AnnotatedMail,
        stakes::{Stakes, find_stakes},
    },
    read::ReadContext,
    sentence::score::{ScoredSentence, logistic},
};

/// A sum of nought is as urgent as `rules/priority.yml` asks of a task that is high.
const HIGH_URGENCY_LOGIT: f64 = 1.386_294;

/// The urgency of a mail that says what is lost. `rules/priority.yml` keeps such a task high after its day.
const AT_STAKE: f64 = 0.95;
/// The most that a service's words amount to without an alarm: it has no day of its own to save.
const HIGHEST_OF_SERVICES: f64 = 0.49;
/// The most that urgent words alone amount to.
const HIGHEST_WITHOUT_STAKES: f64 = 0.89;
/// The least urgency of work on which somebody waits: it is high on its day, and only then.
const DELAYS: f64 = 0.6;
/// What an act that a person wants at once counts for.
const AT_ONCE: f64 = 1.0;

pub(in crate::reading) fn estimate_urgency(
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
    scores: &MailScores<'_>,
    tasks: &[ExtractedTask],
    pretends: bool,
    context: &ReadContext<'_>,
) -> f64 {
    if tasks.is_empty() {
        return 0.0;
    }
    let alert = tasks.iter().any(|task| task.kind == TaskKind::Alert);
    // "This is urgent!": said, not sold.
    let says = |scored: &ScoredSentence<'_>| scored.has(Feature::Urgent) && scored.sentence.words().count() <= 6;
    let said = annotated.sentences.iter().any(says) && !annotated.has(Feature::Advert);
    let parts = [
        (said, 1.5),
        (pretends, -3.0),
        (wants_at_once(annotated), AT_ONCE),
        (true, scores.urgency_margin() + HIGH_URGENCY_LOGIT),
        (annotated.has(Feature::Calm), -1.5),
        (alert && annotated.has(Feature::Urgent), 1.5),
        (context.known_contact, 0.2),
        (context.thread_mine, 0.2),
    ];
    let sum: f64 = parts.iter().filter(|(holds, _)| *holds).map(|(_, weight)| weight).sum();
    let stakes = find_stakes(annotated).filter(|_| !pretends && !is_selling(annotated));
    if stakes == Some(Stakes::Harm) {
        return AT_STAKE;
    }
    let advertises = annotated.has(Feature::Advert);
    let highest =
        if is_service(annotated) && (!alert || advertises) { HIGHEST_OF_SERVICES } else { HIGHEST_WITHOUT_STAKES };
    let is_pressing = stakes == Some(Stakes::Delay) || (!pretends && is_due_today(mail, annotated, tasks, context));
    let least = if is_pressing { DELAYS } else { 0.0 };
    // Four digits tell all there is to tell, and are the same on every machine.
    (logistic(sum).max(least).min(highest) * 1e4).round() / 1e4
}

/// Whether nobody in particular writes.
fn is_service(annotated: &AnnotatedMail<'_>) -> bool {
    annotated.is_from_service() || annotated.has(Feature::Machine)
}

/// Whether a person, and no service, wants work done on the day of the mail.
fn is_due_today(
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
    tasks: &[ExtractedTask],
    context: &ReadContext<'_>,
) -> bool {
    const REST_OF_DAY: f64 = 16.0;
    let written = mail.date.unwrap_or(context.now);
    let is_due = |task: &ExtractedTask| {
        matches!(task.kind, TaskKind::Request | TaskKind::Review | TaskKind::Deadline)
            && task.due_at.is_some_and(|due| (0.0..=REST_OF_DAY).contains(&written.hours_until(due)))
    };
    !is_service(annotated)
        && !annotated.features().has_any(&[Feature::Advert, Feature::Calm])
        && tasks.iter().any(is_due)
}

/// Whether a person, and no service, asks outright for something at once.
fn wants_at_once(annotated: &AnnotatedMail<'_>) -> bool {
    let is_wanted = |scored: &ScoredSentence<'_>| {
        scored.asks_outright() && scored.features.has_any(&[Feature::SameDay, Feature::Urgent])
    };
    !is_service(annotated)
        && !annotated.features().has_any(&[Feature::Advert, Feature::Calm])
        && annotated.sentences.iter().any(is_wanted)
}

/// Whether the mail sells something. Sellers say what is lost too, and a service that sells in the same mail loses more
/// by it than its reader.
fn is_selling(annotated: &AnnotatedMail<'_>) -> bool {
    let adverts = annotated.count(Feature::Advert);
    adverts >= 2 || annotated.has(Feature::Pressure) || (adverts == 1 && is_service(annotated))
}
