//! Parses the times of a calendar: in UTC, in a named zone, or as a whole day.

use chrono::{DateTime, Duration, NaiveDate, NaiveDateTime, TimeZone, Utc};
use chrono_tz::Tz;

use crate::model::Instant;

/// Returns the time that a value names. A time or day without a zone is read as UTC. Returns none for an unknown zone
/// and for a time that [`Instant`] does not represent.
pub(super) fn parse_instant(value: &str, zone: Option<&str>) -> Option<Instant> {
    let (value, is_utc) = value.strip_suffix(['Z', 'z']).map_or((value, false), |value| (value, true));
    let local = NaiveDateTime::parse_from_str(value, "%Y%m%dT%H%M%S")
        .ok()
        .or_else(|| NaiveDate::parse_from_str(value, "%Y%m%d").ok()?.and_hms_opt(0, 0, 0))?;
    let at = match zone.filter(|_| !is_utc) {
        Some(zone) => resolve_in_zone(local, parse_zone(zone)?)?,
        None => local.and_utc(),
    };
    Instant::new(at)
}

/// Returns the time in UTC. A local time that happens twice is the first of the two; one that a change of clocks skips
/// is moved an hour ahead.
fn resolve_in_zone(local: NaiveDateTime, zone: Tz) -> Option<DateTime<Utc>> {
    let earliest = |local: &NaiveDateTime| zone.from_local_datetime(local).earliest();
    let at = match earliest(&local) {
        Some(at) => at,
        None => earliest(&local.checked_add_signed(Duration::hours(1))?)?,
    };
    Some(at.with_timezone(&Utc))
}

/// Returns the zone for an IANA name, an IANA name behind a path, or a name that Outlook uses.
fn parse_zone(name: &str) -> Option<Tz> {
    let name = name.trim();
    // Some programs put a path before the name: `/example.org/2025/Europe/Berlin`.
    let tail = name.rmatch_indices('/').nth(1).and_then(|(at, _)| name.get(at + 1..));
    let windows = WINDOWS_ZONES.iter().find(|(windows, _)| windows.eq_ignore_ascii_case(name)).map(|(_, iana)| *iana);
    name.parse().ok().or_else(|| tail?.parse().ok()).or_else(|| windows?.parse().ok())
}

/// The zone names of Outlook that a user is likely to meet, with their IANA names.
const WINDOWS_ZONES: &[(&str, &str)] = &[
    ("Israel Standard Time", "Asia/Jerusalem"),
    ("GMT Standard Time", "Europe/London"),
    ("Greenwich Standard Time", "Africa/Abidjan"),
    ("W. Europe Standard Time", "Europe/Berlin"),
    ("Central Europe Standard Time", "Europe/Budapest"),
    ("Central European Standard Time", "Europe/Warsaw"),
    ("Romance Standard Time", "Europe/Paris"),
    ("E. Europe Standard Time", "Europe/Chisinau"),
    ("FLE Standard Time", "Europe/Kiev"),
    ("GTB Standard Time", "Europe/Bucharest"),
    ("Turkey Standard Time", "Europe/Istanbul"),
    ("Russian Standard Time", "Europe/Moscow"),
    ("Eastern Standard Time", "America/New_York"),
    ("Central Standard Time", "America/Chicago"),
    ("Mountain Standard Time", "America/Denver"),
    ("Pacific Standard Time", "America/Los_Angeles"),
    ("Arabian Standard Time", "Asia/Dubai"),
    ("India Standard Time", "Asia/Kolkata"),
    ("China Standard Time", "Asia/Shanghai"),
    ("Singapore Standard Time", "Asia/Singapore"),
    ("Tokyo Standard Time", "Asia/Tokyo"),
    ("AUS Eastern Standard Time", "Australia/Sydney"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_a_time() {
        for (value, zone, expected) in [
            ("20260301T100000Z", None, Some("2026-03-01T10:00:00Z")),
            ("20260301T100000", None, Some("2026-03-01T10:00:00Z")),
            ("20260301", None, Some("2026-03-01T00:00:00Z")),
            ("20260301T100000Z", Some("Nowhere"), Some("2026-03-01T10:00:00Z")),
            ("20260701T090000", Some("America/New_York"), Some("2026-07-01T13:00:00Z")),
            ("20260301T110000", Some("israel standard time"), Some("2026-03-01T09:00:00Z")),
            ("20260101T090000", Some("/x.example/1/Europe/Berlin"), Some("2026-01-01T08:00:00Z")),
            ("20260329T023000", Some("Europe/Berlin"), Some("2026-03-29T01:30:00Z")),
            ("20261025T023000", Some("Europe/Berlin"), Some("2026-10-25T00:30:00Z")),
            ("20260301T100000", Some("Nowhere"), None),
            ("20261301T100000", None, None),
            ("19691231T235959Z", None, None),
            ("", None, None),
        ] {
            let read = parse_instant(value, zone).map(|at| at.to_string());
            assert_eq!(read.as_deref(), expected, "{value} in {zone:?}");
        }
    }
}
