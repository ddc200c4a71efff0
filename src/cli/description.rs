//! Times, effects and waits in words, the same in every command.

use chrono_tz::Tz;

use super::printer::escape_and_truncate;
use crate::model::{Instant, OutboxRow, OutboxState, RunRow};

/// Returns what became of an effect, and never claims more than is known: a message of unknown outcome is not called
/// sent.
pub(super) fn describe_effect(row: &OutboxRow, zone: Tz) -> String {
    let result = || escape_and_truncate(&row.result, 200);
    let and = |words: &str| if row.result.is_empty() { words.to_owned() } else { format!("{words}: {}", result()) };
    match row.state {
        OutboxState::Planned => "planned".into(),
        OutboxState::Parked => "waits for your approval".into(),
        OutboxState::Held => {
            let at =
                row.release_at.map_or_else(|| "soon".to_owned(), |at| format!("at {}", format_clock_time(at, zone)));
            format!("approved; leaves {at} unless you undo")
        }
        OutboxState::Ready => "about to be done".into(),
        OutboxState::Drafting | OutboxState::Drafted | OutboxState::Sending => "on its way".into(),
        OutboxState::Settling => "sent; what goes with it is still to be done".into(),
        OutboxState::Sent => "sent".into(),
        OutboxState::Unknown | OutboxState::Probe => "nobody knows yet whether it was sent; being looked for".into(),
        OutboxState::NeedsHuman => and("nobody knows whether it was sent; look, and say sent or retry"),
        OutboxState::Applied => and("done"),
        OutboxState::Saved => "saved in Sent, not transmitted".into(),
        OutboxState::Withheld => and("not done"),
        OutboxState::Void => and("void"),
        OutboxState::Failed => and("failed"),
    }
}

/// Returns what a run waits for; none when it does not wait any more.
pub(super) fn describe_wait(run: &RunRow, now: Instant, zone: Tz) -> Option<String> {
    let until = run.wait_until.filter(|until| *until > now)?;
    Some(format!("waits until {}: {}", format_clock_time(until, zone), escape_and_truncate(&run.waits_for, 160)))
}

/// Returns the local time of day.
pub(super) fn format_clock_time(at: Instant, zone: Tz) -> String {
    at.utc().with_timezone(&zone).format("%H:%M:%S").to_string()
}

/// Returns the local date and time, without the year.
pub(super) fn format_date_time(at: Instant, zone: Tz) -> String {
    at.utc().with_timezone(&zone).format("%a %d %b, %H:%M").to_string()
}
