//! Deadlines in the form in which they are stored: a date, or a date with a time.

use chrono::{DateTime, NaiveDate, TimeZone as _};

use super::tool::Deadline;
use crate::model::{Instant, Me};

/// Returns a stored deadline with its point in time; none for what is no date from 1970 to 9998. A day ends with the
/// person's working day, as everywhere.
pub(super) fn from_stored(text: &str, me: &Me) -> Option<Deadline> {
    let at = match text.parse::<NaiveDate>() {
        Ok(day) => me.time_zone.from_local_datetime(&day.and_time(me.work_end)).earliest()?.to_utc(),
        Err(_) => DateTime::parse_from_rfc3339(text).ok()?.to_utc(),
    };
    Some(Deadline { text: text.to_owned(), at: Instant::new(at)? })
}

/// Returns a deadline that was typed as `YYYY-MM-DD` or `YYYY-MM-DDTHH:MM:SSZ`; none for anything else.
pub(super) fn from_iso(typed: &str, me: &Me) -> Option<Deadline> {
    let shape: String = typed.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let is_iso = ["0000-00-00", "0000-00-00T00:00:00Z"].contains(&shape.as_str());
    if is_iso { from_stored(typed, me) } else { None }
}
