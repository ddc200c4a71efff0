//! The built-in estimate of urgency, 0..=1, for rules to use when no model gives one.
//!
//! Owns the number. What a seller calls urgent is not: mail without a task scores next to nothing.

use crate::model::{ExtractedTask, TaskKind};
use crate::reading::{
    learned::MailScores,
    lexicon::Feature,
    mail::annotated_mail::AnnotatedMail,
    read::ReadContext,
    sentence::score::{ScoredSentence, logistic},
};

/// A sum of nought is as urgent as `rules/priority.yml` asks of a task that is high.
const HIGH_URGENCY_LOGIT: f64 = 1.386_294;

pub(in crate::reading) fn estimate_urgency(
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
        (true, scores.urgency_margin() + HIGH_URGENCY_LOGIT),
        (annotated.has(Feature::Calm), -1.5),
        (alert && annotated.has(Feature::Urgent), 1.5),
        (context.known_contact, 0.2),
        (context.thread_mine, 0.2),
    ];
    let sum: f64 = parts.iter().filter(|(holds, _)| *holds).map(|(_, weight)| weight).sum();
    // Four digits tell all there is to tell, and are the same on every machine.
    (logistic(sum) * 1e4).round() / 1e4
}
