//! Times, effects and waits in words, the same in every interface.

use std::sync::LazyLock;

use chrono::{DateTime, NaiveDate};
use chrono_tz::Tz;
use regex::{Captures, Regex};

use super::escape_and_truncate;
use crate::model::{Instant, OutboxRow, OutboxState, RunRow};

/// A single time as a person reads it.
const MOMENT: &str = "%a %d %b %Y, %H:%M";

/// A time as it is stored, in the middle of a sentence.
static STORED_TIME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})").ok());

/// Returns what became of an effect, and never claims more than is known: a message of unknown outcome is not called
/// sent.
pub fn describe_effect(row: &OutboxRow, zone: Tz) -> String {
    let result = || escape_and_truncate(&localise_times(&row.result, zone), 200);
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
pub fn describe_wait(run: &RunRow, now: Instant, zone: Tz) -> Option<String> {
    let until = run.wait_until.filter(|until| *until > now)?;
    Some(format!("waits until {}: {}", format_clock_time(until, zone), escape_and_truncate(&run.waits_for, 160)))
}

/// Returns how long ago something was, in the largest fitting unit.
pub fn describe_age(from: Instant, now: Instant) -> String {
    let minutes = (now.utc() - from.utc()).num_minutes().max(0);
    match minutes {
        0 => "since just now".to_owned(),
        1..60 => format!("for {minutes} min"),
        60..2880 => format!("for {} h", minutes / 60),
        _ => format!("for {} days", minutes / 1440),
    }
}

/// Returns the local time of day.
pub fn format_clock_time(at: Instant, zone: Tz) -> String {
    at.utc().with_timezone(&zone).format("%H:%M:%S").to_string()
}

/// Returns the local date and time, without the year.
pub fn format_date_time(at: Instant, zone: Tz) -> String {
    at.utc().with_timezone(&zone).format("%a %d %b, %H:%M").to_string()
}

/// Returns the local date and time with weekday and year, for a single time that may be far away.
pub fn format_moment(at: Instant, zone: Tz) -> String {
    at.utc().with_timezone(&zone).format(MOMENT).to_string()
}

/// Returns the local date and time with the year, for lists that reach far back.
pub fn format_timestamp(at: Instant, zone: Tz) -> String {
    at.utc().with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string()
}

/// Returns a deadline as it is stored (a date, or a date and time with its offset) as a local date; anything else as it
/// is.
pub fn format_deadline(stored: &str, zone: Tz) -> String {
    if let Ok(at) = DateTime::parse_from_rfc3339(stored) {
        return at.with_timezone(&zone).format(MOMENT).to_string();
    }
    match NaiveDate::parse_from_str(stored, "%Y-%m-%d") {
        Ok(date) => date.format("%a %d %b %Y").to_string(),
        Err(_) => stored.to_owned(),
    }
}

/// Returns a sentence with every stored time in it as local date and time.
pub fn localise_times(text: &str, zone: Tz) -> String {
    let local = |found: &Captures<'_>| {
        let stored = found.get(0).map_or("", |found| found.as_str());
        let at = DateTime::parse_from_rfc3339(stored).ok();
        at.map_or_else(|| stored.to_owned(), |at| at.with_timezone(&zone).format(MOMENT).to_string())
    };
    STORED_TIME.as_ref().map_or_else(|| text.to_owned(), |times| times.replace_all(text, local).into_owned())
}

#[cfg(test)]
mod tests {
    use chrono_tz::Europe::Berlin;

    use super::*;

    #[test]
    fn stored_times_are_shown_as_local_ones() {
        for (stored, expected) in [
            ("2026-11-18T12:00:00+00:00", "Wed 18 Nov 2026, 13:00"),
            ("2026-11-20T10:00:00Z", "Fri 20 Nov 2026, 11:00"),
            ("2026-11-27", "Fri 27 Nov 2026"),
            ("soon", "soon"),
        ] {
            assert_eq!(format_deadline(stored, Berlin), expected);
        }
        let told = localise_times("reminds at 2026-11-18T17:00:00Z, then 2026-99-99T00:00:00Z", Berlin);
        assert_eq!(told, "reminds at Wed 18 Nov 2026, 18:00, then 2026-99-99T00:00:00Z");
    }
}
