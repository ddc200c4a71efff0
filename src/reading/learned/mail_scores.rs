//! Which way a mail leans: one number per question, the sort it most resembles, and which signals carried that.

use super::{
    cue::{emit_mail_cues, emit_weighted_signals},
    signal::Signal,
    weights::{Head, HeadWeights, SignalWeights, value_for_head, weight_table},
};
use crate::date::ReferenceTime;
use crate::{
    model::{Mail, Me},
    reading::mail::annotated_mail::AnnotatedMail,
};

/// The sums of a mail's signals, per head, above or below nought.
#[derive(Debug, Clone)]
pub(in crate::reading) struct MailScores<'a> {
    logits: HeadWeights,
    signals: Vec<(Signal<'a>, &'static SignalWeights)>,
}

/// What a mail is most like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::reading) enum PredictedClass {
    Urgent,
    Wants,
    Informs,
    Promotes,
    Personal,
}

const PERSONAL_MARGIN: f64 = 1.0;
/// How far below nought something may still press.
const URGENCY_SLACK: f64 = 0.4;
/// So many signals a mail of a page has.
const USUAL_SIGNALS: usize = 256;
/// So many signals make a reason; more make a list.
const SIGNALS_IN_REASON: usize = 4;

impl MailScores<'_> {
    pub(in crate::reading) fn logit(&self, head: Head) -> f64 {
        value_for_head(&self.logits, head)
    }

    pub(in crate::reading) fn is_positive(&self, head: Head) -> bool {
        self.logit(head) > 0.0
    }

    /// Something is wanted, soon or at leisure: by how much more than that something is only told.
    pub(in crate::reading) fn request_margin(&self) -> f64 {
        self.logit(Head::Wants).max(self.logit(Head::Urgent)) - self.logit(Head::Informs)
    }

    /// By how much more it presses than anything else it could be at work.
    pub(in crate::reading) fn urgency_margin(&self) -> f64 {
        let others = [Head::Wants, Head::Informs, Head::Promotes].map(|head| self.logit(head));
        // That nothing else fits a mail does not make it press.
        let urgent = self.logit(Head::Urgent);
        (urgent - others.into_iter().fold(f64::NEG_INFINITY, f64::max)).min(urgent + URGENCY_SLACK)
    }

    /// Family may be in a hurry too: a hurry has to be clear to outweigh what is between friends.
    pub(in crate::reading) fn predicted_class(&self) -> PredictedClass {
        let private = self.logit(Head::Personal);
        if private + PERSONAL_MARGIN > self.logit(Head::Urgent)
            && [Head::Informs, Head::Promotes, Head::Wants].iter().all(|head| private > self.logit(*head))
        {
            return PredictedClass::Personal;
        }
        let all = [
            (PredictedClass::Informs, Head::Informs),
            (PredictedClass::Promotes, Head::Promotes),
            (PredictedClass::Wants, Head::Wants),
            (PredictedClass::Urgent, Head::Urgent),
        ];
        let best = all.iter().max_by(|a, b| self.logit(a.1).total_cmp(&self.logit(b.1)));
        best.map_or(PredictedClass::Informs, |(leaning, _)| *leaning)
    }

    /// The signals that spoke loudest for an answer, for people.
    pub(in crate::reading) fn explain(&self, head: Head) -> String {
        let mut loud: Vec<_> =
            self.signals.iter().filter(|(_, row)| value_for_head(&row.weights, head) > 0.0).collect();
        loud.sort_by(|a, b| value_for_head(&b.1.weights, head).total_cmp(&value_for_head(&a.1.weights, head)));
        loud.iter().take(SIGNALS_IN_REASON).map(|(signal, _)| signal.describe()).collect::<Vec<_>>().join(", ")
    }
}

pub(in crate::reading) fn score_mail<'a>(
    mail: &'a Mail,
    annotated: &'a AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
    me: &Me,
) -> MailScores<'a> {
    let table = weight_table();
    let mut sums: HeadWeights = [0.0; Head::ALL.len()];
    for (slot, head) in sums.iter_mut().zip(Head::ALL) {
        *slot = table.bias(*head) as f32;
    }
    let mut counted = vec![0_u64; table.len().div_ceil(64)];
    let mut seen = Vec::with_capacity(USUAL_SIGNALS);
    let mut count = |signal: Signal<'a>, row: &'static SignalWeights| {
        let (bits, bit) = (counted.get_mut(row.index / 64), 1 << (row.index % 64));
        if let Some(bits) = bits
            && *bits & bit == 0
        {
            *bits |= bit;
            seen.push((signal, row));
            for (sum, weight) in sums.iter_mut().zip(&row.weights) {
                *sum += *weight;
            }
        }
    };
    emit_mail_cues(mail, annotated, base, me, |signal: Signal<'a>| {
        if let Some(row) = table.row(&signal) {
            count(signal, row);
        }
    });
    emit_weighted_signals(annotated, count);
    MailScores { logits: sums, signals: seen }
}
