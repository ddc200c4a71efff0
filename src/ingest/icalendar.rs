//! The first event of a calendar part (RFC 5545, 5546), as far as an invitation needs it.
//!
//! A time or day without a zone is read as UTC; one in a zone nobody knows is left out, for a wrong hour is worse than none.

use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeZone, Utc};
use chrono_tz::Tz;

use super::{
    address::collapse_whitespace,
    hidden_chars::strip_hidden_chars,
    limits::{CALENDAR_BYTES, SHORT_CHARS, truncate_chars},
};
use crate::model::{Instant, mail::Invite};

/// `method` is the one of the Content-Type, used when the text names none.
pub(super) fn parse_invite(text: &str, method: Option<&str>) -> Option<Invite> {
    let mut invite = Invite { method: method.unwrap_or_default().trim().to_ascii_uppercase(), ..Invite::default() };
    let mut inside: Vec<String> = Vec::new();
    let mut found = false;
    for line in unfold_lines(text) {
        let Some(property) = CalendarProperty::parse(&line) else { continue };
        match (property.name.as_str(), inside.as_slice()) {
            ("BEGIN", _) => {
                // Real calendars nest three deep.
                if inside.len() > 8 {
                    return None;
                }
                inside.push(property.value.trim().to_ascii_uppercase());
            }
            ("END", _) => {
                let ended = inside.pop();
                found |= ended.as_deref() == Some("VEVENT");
                if found {
                    break;
                }
            }
            ("METHOD", [calendar]) if calendar == "VCALENDAR" => {
                invite.method = property.value.trim().to_ascii_uppercase()
            }
            (_, [.., event]) if event == "VEVENT" => property.apply_to(&mut invite),
            _ => {}
        }
    }
    // A calendar cut off inside its event is still an invitation.
    let started = inside.iter().any(|name| name == "VEVENT");
    (found || started).then_some(invite)
}

/// Returns what a calendar part says, without the lines that are others each time it is sent.
pub(super) fn without_timestamps(text: &str) -> String {
    let is_timestamp = |line: &String| {
        let name = line.split([':', ';']).next().unwrap_or_default();
        ["DTSTAMP", "CREATED", "LAST-MODIFIED"].iter().any(|stamp| name.trim().eq_ignore_ascii_case(stamp))
    };
    unfold_lines(text).into_iter().filter(|line| !is_timestamp(line)).collect::<Vec<_>>().join("\n")
}

/// Lines joined where the next begins with white space.
fn unfold_lines(text: &str) -> Vec<String> {
    let end = (0..=CALENDAR_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let mut lines: Vec<String> = Vec::new();
    for line in text.get(..end).unwrap_or_default().lines() {
        match (line.strip_prefix([' ', '\t']), lines.last_mut()) {
            (Some(more), Some(last)) => last.push_str(more),
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

struct CalendarProperty {
    name: String,
    zone: Option<String>,
    common_name: Option<String>,
    value: String,
}

impl CalendarProperty {
    fn parse(line: &str) -> Option<CalendarProperty> {
        let mut quoted = false;
        let colon = line.char_indices().find_map(|(at, c)| {
            quoted ^= c == '"';
            (c == ':' && !quoted).then_some(at)
        })?;
        let (head, value) = (line.get(..colon)?, line.get(colon + 1..)?);
        let mut parts = head.split(';');
        let mut property = CalendarProperty {
            name: parts.next()?.trim().to_ascii_uppercase(),
            zone: None,
            common_name: None,
            value: value.to_owned(),
        };
        for (key, value) in parts.filter_map(|part| part.split_once('=')) {
            let value = Some(value.trim_matches('"').to_owned());
            match key {
                _ if key.eq_ignore_ascii_case("TZID") => property.zone = value,
                _ if key.eq_ignore_ascii_case("CN") => property.common_name = value,
                _ => {}
            }
        }
        Some(property)
    }

    fn apply_to(self, invite: &mut Invite) {
        match self.name.as_str() {
            "UID" => invite.uid = to_short_line(self.value.trim()),
            "SUMMARY" => invite.summary = to_short_line(&unescape_text(&self.value)),
            "DTSTART" => invite.start = self.parse_instant(),
            "DTEND" => invite.end = self.parse_instant(),
            "RECURRENCE-ID" => invite.recurrence_id = Some(to_short_line(self.value.trim())),
            "SEQUENCE" => invite.sequence = self.value.trim().parse().unwrap_or_default(),
            "ORGANIZER" => {
                let address = self.value.trim();
                let mail = address.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("mailto:"));
                // Kept as it is: one that is not plain must not become another that is.
                let address =
                    if mail { address.get(7..).unwrap_or_default().to_ascii_lowercase() } else { String::new() };
                invite.organizer = Some(truncate_chars(address, SHORT_CHARS).0)
                    .filter(|address| !address.is_empty())
                    .or(self.common_name.map(|name| to_short_line(&name)));
            }
            _ => {}
        }
    }

    fn parse_instant(&self) -> Option<Instant> {
        let value = self.value.trim();
        let (value, utc) = value.strip_suffix(['Z', 'z']).map_or((value, false), |value| (value, true));
        let local = NaiveDateTime::parse_from_str(value, "%Y%m%dT%H%M%S")
            .ok()
            .or_else(|| NaiveDate::parse_from_str(value, "%Y%m%d").ok()?.and_hms_opt(0, 0, 0))?;
        let at: DateTime<Utc> = match self.zone.as_deref().filter(|_| !utc).map(parse_zone) {
            Some(None) => return None,
            // The hour that a change of clocks skips is read as the one after it.
            Some(Some(zone)) => match zone.from_local_datetime(&local).earliest() {
                Some(at) => at.with_timezone(&Utc),
                None => zone
                    .from_local_datetime(&local.checked_add_signed(chrono::Duration::hours(1))?)
                    .earliest()?
                    .with_timezone(&Utc),
            },
            None => local.and_utc(),
        };
        Instant::new(at)
    }
}

fn to_short_line(text: &str) -> String {
    truncate_chars(collapse_whitespace(&strip_hidden_chars(text).text), SHORT_CHARS).0
}

fn unescape_text(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n' | 'N') | None => out.push(' '),
                Some(c) => out.push(c),
            },
            c => out.push(c),
        }
    }
    out
}

fn parse_zone(name: &str) -> Option<Tz> {
    let name = name.trim();
    // Some programs put a path before the name: `/example.org/2025/Europe/Berlin`.
    let tail = name.rmatch_indices('/').nth(1).and_then(|(at, _)| name.get(at + 1..));
    let windows = WINDOWS_ZONES.iter().find(|(windows, _)| windows.eq_ignore_ascii_case(name)).map(|(_, iana)| *iana);
    name.parse().ok().or_else(|| tail?.parse().ok()).or_else(|| windows?.parse().ok())
}

/// Outlook's names for the zones people here are likely to meet.
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

    const WHOLE: &str = "BEGIN:VCALENDAR\r\nMETHOD:request\r\nBEGIN:VTIMEZONE\r\nTZID:x\r\nDTSTART:19700101T000000\r\nEND:VTIMEZONE\r\n\
        BEGIN:VEVENT\r\nUID:u-1@x\r\nSEQUENCE:3\r\nSUMMARY;LANGUAGE=en:Budget\\, 2026\r\n  review\r\nDTSTART;TZID=Asia/Jerusalem:20260301T100000\r\n\
        DTEND;TZID=\"Israel Standard Time\":20260301T110000\r\nORGANIZER;CN=\"Dana: PM\":MAILTO:Dana@X.example\r\n\
        BEGIN:VALARM\r\nSUMMARY:alarm\r\nEND:VALARM\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nUID:second\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

    #[test]
    fn a_whole_invitation() {
        let invite = parse_invite(WHOLE, Some("CANCEL")).unwrap();
        assert_eq!(
            invite,
            Invite {
                method: "REQUEST".into(),
                uid: "u-1@x".into(),
                summary: "Budget, 2026 review".into(),
                start: Some("2026-03-01T08:00:00Z".parse().unwrap()),
                end: Some("2026-03-01T09:00:00Z".parse().unwrap()),
                organizer: Some("dana@x.example".into()),
                sequence: 3,
                recurrence_id: None,
            }
        );
    }

    #[test]
    fn the_forms_of_a_time() {
        for (line, expected) in [
            ("DTSTART:20260301T100000Z", Some("2026-03-01T10:00:00Z")),
            ("DTSTART:20260301T100000", Some("2026-03-01T10:00:00Z")),
            ("DTSTART;VALUE=DATE:20260301", Some("2026-03-01T00:00:00Z")),
            ("DTSTART;TZID=America/New_York:20260701T090000", Some("2026-07-01T13:00:00Z")),
            ("DTSTART;TZID=/x.example/1/Europe/Berlin:20260101T090000", Some("2026-01-01T08:00:00Z")),
            ("DTSTART;TZID=Europe/Berlin:20260329T023000", Some("2026-03-29T01:30:00Z")),
            ("DTSTART;TZID=Nowhere:20260301T100000", None),
            ("DTSTART:20261301T100000", None),
            ("DTSTART:", None),
        ] {
            let text = format!("BEGIN:VCALENDAR\nBEGIN:VEVENT\n{line}\nEND:VEVENT\n");
            let start = parse_invite(&text, None).unwrap().start.map(|at| at.to_string());
            assert_eq!(start.as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn no_event_is_no_invitation() {
        assert_eq!(parse_invite("", None), None);
        assert_eq!(parse_invite("BEGIN:VCALENDAR\nBEGIN:VTODO\nUID:a\nEND:VTODO\nEND:VCALENDAR", None), None);
        assert_eq!(parse_invite(&"BEGIN:VEVENT\n".repeat(100), None), None);
        assert_eq!(parse_invite("BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:cut", Some("request")).unwrap().method, "REQUEST");
    }
}
