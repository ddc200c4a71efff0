//! The second opinion on sentences that the linear model is in doubt about.
//!
//! Owns which sentences are in doubt and what the encoder's numbers count for beside the others. The decision stays with
//! the same rules. The scores are given from outside, so that a run can record them and a replay need not ask again.

use super::{
    language::Language,
    learned::{MailScores, score_mail},
    mail::{
        annotated_mail::AnnotatedMail,
        category::{MailCategory, categorise_mail},
    },
    read::{ReadContext, annotate_mail, read, read_annotated},
    sentence::score::ScoredSentence,
};
use crate::date::ReferenceTime;
use crate::model::{Mail, Reading, SentenceScores};

/// Within this distance of the decision a sentence is in doubt.
const DOUBT: f64 = 1.5;
/// The most sentences of a mail that are asked about: those nearest to the decision.
const MOST_SENTENCES: usize = 8;
/// What the encoder's logit counts for in the sum of both.
const ENCODER_SHARE: f64 = 0.7;

/// How far the reading of a mail is without the second reader.
pub enum FirstReading {
    /// The second reader has nothing to add.
    Done(Reading),
    /// It is to be asked about these sentences; its scores are to be given in their order.
    InDoubt(Vec<String>),
}

/// Reads a mail, unless there are sentences to ask the second reader about. The mail is laid out once for both.
pub fn read_unless_in_doubt(mail: &Mail, context: &ReadContext<'_>) -> FirstReading {
    let annotated = annotate_mail(mail, context);
    let base = ReferenceTime::new(mail.date.unwrap_or(context.now), context.me);
    let scores = score_mail(mail, &annotated, &base, context.me);
    let sentences = find_doubtful_sentences(mail, &annotated, &base, &scores, context);
    if sentences.is_empty() {
        FirstReading::Done(read_annotated(mail, &annotated, &base, &scores, context))
    } else {
        FirstReading::InDoubt(sentences)
    }
}

/// Returns the sentences that are in doubt in a mail whose sentences decide.
fn find_doubtful_sentences(
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
    scores: &MailScores<'_>,
    context: &ReadContext<'_>,
) -> Vec<String> {
    if context.me.is_me(&mail.from) || mail.invite.is_some() {
        return Vec::new();
    }
    let doubtful = doubtful_indexes(&annotated.sentences);
    if doubtful.is_empty() {
        return Vec::new();
    }
    match categorise_mail(mail, annotated, base, scores, context) {
        MailCategory::Ordinary | MailCategory::Service => {
            let texts = doubtful.into_iter().filter_map(|at| annotated.sentences.get(at));
            texts.map(|scored| scored.sentence.raw.to_owned()).collect()
        }
        MailCategory::WithoutTask(..) | MailCategory::Alert => Vec::new(),
    }
}

/// Returns what the second reader says about each sentence.
pub fn score_sentences(sentences: &[String]) -> Vec<SentenceScores> {
    let texts: Vec<&str> = sentences.iter().map(String::as_str).collect();
    sentence_encoder::score_sentences(&texts)
}

/// Reads a mail with the second opinion of the encoder, for callers that record nothing.
pub fn read_twice(mail: &Mail, context: &ReadContext<'_>) -> Reading {
    match read_unless_in_doubt(mail, context) {
        FirstReading::Done(reading) => reading,
        FirstReading::InDoubt(sentences) => {
            let scores = score_sentences(&sentences);
            read(mail, &ReadContext { second_reading: &scores, ..*context })
        }
    }
}

/// Adds the given scores to the sentences in doubt. Scores for another number of sentences belong to another reading of
/// the mail and count for nothing.
pub(super) fn apply_scores(sentences: &mut [ScoredSentence<'_>], scores: &[SentenceScores]) {
    if scores.is_empty() {
        return;
    }
    let doubtful = doubtful_indexes(sentences);
    if doubtful.len() != scores.len() {
        return;
    }
    for (at, scores) in doubtful.into_iter().zip(scores) {
        if let Some(scored) = sentences.get_mut(at) {
            scored.hear_second_reader(*scores, ENCODER_SHARE);
        }
    }
}

/// The indexes of the English sentences in doubt, in the order of the mail.
fn doubtful_indexes(sentences: &[ScoredSentence<'_>]) -> Vec<usize> {
    let distance = |scored: &ScoredSentence<'_>| {
        let logit = if sentences.len() == 1 { scored.logit_alone } else { scored.logit_in_mail };
        logit.abs().min(scored.logit_meets.abs())
    };
    let in_doubt = |scored: &ScoredSentence<'_>| {
        scored.sentence.language == Language::English
            && scored.sentence.normalised.is_ascii()
            && distance(scored) < DOUBT
    };
    let mut found: Vec<usize> =
        sentences.iter().enumerate().filter(|(_, scored)| in_doubt(scored)).map(|(at, _)| at).collect();
    if found.len() > MOST_SENTENCES {
        let far = |at: &usize| sentences.get(*at).map_or(f64::MAX, distance);
        found.sort_by(|a, b| far(a).total_cmp(&far(b)));
        found.truncate(MOST_SENTENCES);
        found.sort_unstable();
    }
    found
}
