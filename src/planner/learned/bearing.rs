//! Which way a mail leans: one number per question, and the sort it most resembles.

use std::collections::HashSet;

use super::{
    cue::cues,
    signal::Signal,
    weights::{Head, Row, at, table},
};
use crate::{
    model::{Mail, Me},
    planner::{date::Base, page::Page},
};

/// The sums of the mail's signals, per head, above or below nought.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::planner) struct Bearing {
    sums: Row,
}

/// Who a mail is most like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::planner) enum Sender {
    Urgent,
    Wants,
    Informs,
    Promotes,
    Personal,
}

impl Bearing {
    pub(in crate::planner) fn of(&self, head: Head) -> f64 {
        at(&self.sums, head)
    }

    pub(in crate::planner) fn holds(&self, head: Head) -> bool {
        self.of(head) > 0.0
    }

    pub(in crate::planner) fn sender(&self) -> Sender {
        let best = |of: &[(Sender, Head)]| {
            of.iter().copied().max_by(|a, b| self.of(a.1).total_cmp(&self.of(b.1))).map(|(sender, _)| sender)
        };
        let all = [
            (Sender::Informs, Head::Informs),
            (Sender::Promotes, Head::Promotes),
            (Sender::Personal, Head::Personal),
            (Sender::Wants, Head::Wants),
            (Sender::Urgent, Head::Urgent),
        ];
        best(&all).unwrap_or(Sender::Informs)
    }
}

pub(in crate::planner) fn bearing(mail: &Mail, page: &Page<'_>, base: &Base<'_>, me: &Me) -> Bearing {
    let table = table();
    let mut sums: Row = [0.0; Head::ALL.len()];
    for (slot, head) in sums.iter_mut().zip(Head::ALL) {
        *slot = table.bias(*head) as f32;
    }
    let mut counted = HashSet::new();
    cues(mail, page, base, me, |signal: Signal<'_>| {
        if let Some(row) = table.row(&signal)
            && counted.insert(std::ptr::from_ref(row))
        {
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum += *weight;
            }
        }
    });
    Bearing { sums }
}
