//! What a machine wants of the reader: a parcel to collect, a payment that failed, a document that expires, a review.
//!
//! Owns when mail that nobody wrote by hand opens a task all the same: it is sent to the reader, it names an act of theirs
//! with its day or passes on that somebody waits for them, and it neither sells nor lures.

use crate::date::ReferenceTime;
use crate::model::Mail;
use crate::reading::{
    learned::{Head, MailScores},
    lexicon::Feature,
    mail::{
        annotated_mail::AnnotatedMail,
        category::is_auto_submitted,
        stakes::{Stakes, stakes_of},
    },
    read::ReadContext,
    sentence::score::ScoredSentence,
};

/// What a day in the same sentence counts for when the deciding sentence is chosen.
const DAY_BONUS: f64 = 1.5;

/// Whether an automatic mail wants an act of the reader.
pub(in crate::reading) fn wants_act(
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
    scores: &MailScores<'_>,
    context: &ReadContext<'_>,
) -> bool {
    use Feature::{Credentials, Debit, Lure, Mentions, NoAction, Scam, Spam, Survey};
    let is_direct = mail.to.iter().any(|address| context.me.is_me(address));
    let is_suspect = annotated.features().has_any(&[Credentials, Lure, Scam, Spam])
        || scores.is_positive(Head::Spam)
        || scores.is_positive(Head::Phishing);
    let sells = annotated.count(Feature::Advert) >= 2 || annotated.has(Feature::Sells);
    if !is_direct || is_suspect || sells || annotated.features().has_any(&[Debit, NoAction, Survey]) {
        return false;
    }
    let is_bulk =
        mail.list_id.is_some() || mail.bulk_header.as_deref().is_some_and(|header| !is_auto_submitted(header));
    let is_act = |scored: &ScoredSentence<'_>| {
        // What is sent to many must speak to this reader, of a duty.
        is_dated_act(scored, annotated, base)
            && (!is_bulk || (annotated.has(Feature::NamesYou) && annotated.has(Feature::Obliges)))
    };
    annotated.sentences.iter().any(|scored| scored.has(Mentions) || is_act(scored))
}

/// Returns the sentence of such a mail that says what to do.
pub(in crate::reading) fn find_act<'p, 'a>(
    annotated: &'p AnnotatedMail<'a>,
    base: &ReferenceTime<'_>,
) -> Option<&'p ScoredSentence<'a>> {
    let names_act = |scored: &&ScoredSentence<'_>| {
        let is_meant = scored.asks()
            || scored.features.has_any(&[Feature::Mentions, Feature::Obliges, Feature::Deadline])
            || stakes_of(scored).is_some();
        is_meant && !scored.features.has_any(&[Feature::Machine, Feature::Boilerplate, Feature::Injection])
    };
    let strength = |scored: &ScoredSentence<'_>| {
        scored.logit_in_mail + if scored.due_date(base).is_some() { DAY_BONUS } else { 0.0 }
    };
    annotated.sentences.iter().filter(names_act).max_by(|a, b| strength(a).total_cmp(&strength(b)))
}

/// An act with the day it is due on: in the sentence itself, or beside one that says what the reader is obliged to.
fn is_dated_act(scored: &ScoredSentence<'_>, annotated: &AnnotatedMail<'_>, base: &ReferenceTime<'_>) -> bool {
    let obliges = |scored: &ScoredSentence<'_>| {
        scored.features.has_any(&[Feature::Obliges, Feature::Deadline]) || stakes_of(scored) == Some(Stakes::Harm)
    };
    if scored.features.has_any(&[Feature::Meeting, Feature::Gathers]) {
        return false;
    }
    let is_dated = scored.due_date(base).is_some();
    (is_dated && (scored.asks() || obliges(scored)))
        || (scored.asks_outright()
            && annotated.sentences.iter().any(|other| obliges(other) && other.due_date(base).is_some()))
}
