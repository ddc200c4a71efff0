//! The built-in estimate of urgency, 0..=1, for rules to use when no model gives one.
//!
//! Owns the number. What a seller calls urgent is not: mail without a task scores next to nothing.

use super::{lexicon::Feature, page::Page, read::ReadContext};
use crate::model::{Instant, Mail, PlannedTask, TaskKind};

pub(super) fn urgency(
    mail: &Mail,
    page: &Page<'_>,
    tasks: &[PlannedTask],
    sent: Instant,
    context: &ReadContext<'_>,
) -> f64 {
    if tasks.is_empty() {
        return 0.0;
    }
    let due = tasks.iter().filter_map(|task| task.due_at).min();
    let direct = mail.to.iter().any(|address| context.me.is_me(address));
    let parts = [
        0.15,
        words(page),
        due.map_or(0.0, |due| nearness(sent.hours_until(due))),
        if tasks.iter().any(|task| task.kind == TaskKind::Alert) { 0.15 } else { 0.0 },
        if context.known_contact { 0.05 } else { 0.0 },
        if context.thread_mine { 0.05 } else { 0.0 },
        if direct { 0.05 } else { 0.0 },
    ];
    parts.iter().sum::<f64>().clamp(0.0, 1.0)
}

/// Urgent words, the subject counting most; "nothing urgent" takes them back.
fn words(page: &Page<'_>) -> f64 {
    if page.has(Feature::Calm) {
        return -0.1;
    }
    let in_subject = if page.subject_has(Feature::Urgent) { 0.15 } else { 0.0 };
    match page.count(Feature::Urgent) {
        0 => 0.0,
        1 => 0.3 + in_subject,
        2 => 0.4 + in_subject,
        _ => 0.5 + in_subject,
    }
}

fn nearness(hours: f64) -> f64 {
    match hours {
        hours if hours <= 4.0 => 0.35,
        hours if hours <= 24.0 => 0.25,
        hours if hours <= 72.0 => 0.12,
        hours if hours <= 168.0 => 0.05,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearer_is_never_less_urgent() {
        let hours = [-5.0, 1.0, 10.0, 30.0, 100.0, 1000.0];
        assert!(hours.windows(2).all(|pair| nearness(pair[0]) >= nearness(pair[1])));
    }
}
