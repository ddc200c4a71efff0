//! When the person is taken because of a mail in its conversation: "works for me" is about the time that was asked for.

use chrono::Duration;

use super::{FollowUpOutcome, Situation};
use crate::model::{Appointment, AskedTime, ConversationEnd, Direction, HeldKind, Instant, Reading, RelatedTask};

/// How long a meeting takes of which nobody says it, in minutes.
const DEFAULT_MINUTES: i64 = 60;
/// A longer time is a day on which the person is away.
const LONGEST_MEETING_HOURS: f64 = 4.0;

/// Returns when the person is taken because of the mail: what it says itself, and the one time of a meeting that the
/// person agrees to without naming it again.
pub fn appointments_of(
    situation: &Situation<'_>,
    reading: &Reading,
    decision: &FollowUpOutcome<'_>,
) -> Vec<Appointment> {
    let named = &reading.appointments;
    let own = situation.known.direction == Direction::Out;
    let Some(said) = situation.turn.agrees.as_ref().filter(|_| own && !named.iter().any(is_exact)) else {
        return named.clone();
    };
    let answered = decision.links.iter().filter(|link| link.update.end == Some(ConversationEnd::Answered));
    let agreed = answered.filter_map(|link| only_time(link.task)).map(|(from, to)| Appointment {
        from,
        to,
        kind: HeldKind::Written,
        words: said.clone(),
    });
    named.iter().cloned().chain(agreed).collect()
}

/// Whether an hour is named, and not a day on which the person is away.
fn is_exact(appointment: &Appointment) -> bool {
    appointment.from.hours_until(appointment.to) < LONGEST_MEETING_HOURS
}

/// Returns the time that the mail of a task asks for, if it is one.
fn only_time(task: &RelatedTask) -> Option<(Instant, Instant)> {
    let length = Duration::minutes(task.meeting_minutes.unwrap_or(DEFAULT_MINUTES));
    match task.asked_times.as_ref()?.times.as_slice() {
        [AskedTime::Start { start, end }] => Some((*start, end.unwrap_or_else(|| start.plus(length)))),
        _ => None,
    }
}
