//! Which way a mail leans: one number per question, the sort it most resembles, and which signals carried that.

use super::{
    cue::{emit_mail_cues, emit_weighted_signals},
    signal::Signal,
    weights::{Head, HeadWeights, SignalWeights, value_for_head, weight_table},
};
use crate::{
    model::{Mail, Me},
    reading::{annotated_mail::AnnotatedMail, date::ReferenceTime},
};

/// The sums of a mail's signals, per head, above or below nought.
#[derive(Debug, Clone)]
pub(in crate::reading) struct Bearing<'a> {
    sums: HeadWeights,
    seen: Vec<(Signal<'a>, &'static SignalWeights)>,
}

/// What a mail is most like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::reading) enum Leaning {
    Urgent,
    Wants,
    Informs,
    Promotes,
    Personal,
}

const BETWEEN_FRIENDS: f64 = 1.0;
/// How far below nought something may still press.
const LITTLE: f64 = 0.4;
/// So many signals a mail of a page has.
const USUAL: usize = 256;
/// So many signals make a reason; more make a list.
const NAMED: usize = 4;

impl Bearing<'_> {
    pub(in crate::reading) fn of(&self, head: Head) -> f64 {
        value_for_head(&self.sums, head)
    }

    pub(in crate::reading) fn holds(&self, head: Head) -> bool {
        self.of(head) > 0.0
    }

    /// Something is wanted, soon or at leisure: by how much more than that something is only told.
    pub(in crate::reading) fn wanting(&self) -> f64 {
        self.of(Head::Wants).max(self.of(Head::Urgent)) - self.of(Head::Informs)
    }

    /// By how much more it presses than anything else it could be at work.
    pub(in crate::reading) fn pressing(&self) -> f64 {
        let others = [Head::Wants, Head::Informs, Head::Promotes].map(|head| self.of(head));
        // That nothing else fits a mail does not make it press.
        let urgent = self.of(Head::Urgent);
        (urgent - others.into_iter().fold(f64::NEG_INFINITY, f64::max)).min(urgent + LITTLE)
    }

    /// Family may be in a hurry too: a hurry has to be clear to outweigh what is between friends.
    pub(in crate::reading) fn leaning(&self) -> Leaning {
        let private = self.of(Head::Personal);
        if private + BETWEEN_FRIENDS > self.of(Head::Urgent)
            && [Head::Informs, Head::Promotes, Head::Wants].iter().all(|head| private > self.of(*head))
        {
            return Leaning::Personal;
        }
        let all = [
            (Leaning::Informs, Head::Informs),
            (Leaning::Promotes, Head::Promotes),
            (Leaning::Wants, Head::Wants),
            (Leaning::Urgent, Head::Urgent),
        ];
        let best = all.iter().max_by(|a, b| self.of(a.1).total_cmp(&self.of(b.1)));
        best.map_or(Leaning::Informs, |(leaning, _)| *leaning)
    }

    /// The signals that spoke loudest for an answer, for people.
    pub(in crate::reading) fn because(&self, head: Head) -> String {
        let mut loud: Vec<_> = self.seen.iter().filter(|(_, row)| value_for_head(&row.weights, head) > 0.0).collect();
        loud.sort_by(|a, b| value_for_head(&b.1.weights, head).total_cmp(&value_for_head(&a.1.weights, head)));
        loud.iter().take(NAMED).map(|(signal, _)| signal.describe()).collect::<Vec<_>>().join(", ")
    }
}

pub(in crate::reading) fn bearing<'a>(
    mail: &'a Mail,
    page: &'a AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
    me: &Me,
) -> Bearing<'a> {
    let table = weight_table();
    let mut sums: HeadWeights = [0.0; Head::ALL.len()];
    for (slot, head) in sums.iter_mut().zip(Head::ALL) {
        *slot = table.bias(*head) as f32;
    }
    let mut counted = vec![0_u64; table.len().div_ceil(64)];
    let mut seen = Vec::with_capacity(USUAL);
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
    emit_mail_cues(mail, page, base, me, |signal: Signal<'a>| {
        if let Some(row) = table.row(&signal) {
            count(signal, row);
        }
    });
    emit_weighted_signals(page, count);
    Bearing { sums, seen }
}
