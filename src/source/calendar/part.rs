//! The calendar part of a message of ours: what [`crate::tool`] wrote into it, read back from the bytes that were approved.

use chrono::{DateTime, NaiveDateTime, Utc};
use mail_parser::{MessageParser, MimeHeaders as _};

use crate::{
    model::{Instant, action::ComposedMessage},
    source::CalendarEvent,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) uid: String,
    pub(super) summary: String,
    pub(super) start: DateTime<Utc>,
    pub(super) end: DateTime<Utc>,
    pub(super) organizer: String,
    pub(super) sequence: u32,
    /// Address and PARTSTAT.
    pub(super) attendees: Vec<(String, String)>,
}

impl Part {
    pub(super) fn of(message: &ComposedMessage) -> Option<Self> {
        let parsed = MessageParser::default().parse(message.mime.as_bytes())?;
        let is_calendar = |kind: &mail_parser::ContentType<'_>| kind.subtype() == Some("calendar");
        let part = parsed.attachments().find(|part| part.content_type().is_some_and(is_calendar))?;
        Self::parse(&String::from_utf8_lossy(part.contents()))
    }

    fn parse(text: &str) -> Option<Self> {
        let whole = text.replace("\r\n", "\n").replace("\n ", "");
        let lines: Vec<(&str, &str)> = whole.lines().filter_map(split).collect();
        let first = |name: &str| lines.iter().find(|(head, _)| is_property(head, name)).map(|(_, value)| *value);
        let time = |name: &str| {
            let stamp = NaiveDateTime::parse_from_str(first(name)?, "%Y%m%dT%H%M%SZ").ok()?;
            Some(stamp.and_utc())
        };
        let attendees = lines.iter().filter(|(head, _)| is_property(head, "ATTENDEE"));
        let attendees =
            attendees.map(|(head, value)| (value.trim_start_matches("mailto:").to_owned(), participation_status(head)));
        Some(Self {
            uid: unescape_text(first("UID")?),
            summary: unescape_text(first("SUMMARY").unwrap_or_default()),
            start: time("DTSTART")?,
            end: time("DTEND")?,
            organizer: first("ORGANIZER").unwrap_or_default().trim_start_matches("mailto:").to_lowercase(),
            sequence: first("SEQUENCE").and_then(|number| number.parse().ok()).unwrap_or_default(),
            attendees: attendees.collect(),
        })
    }
}

impl Part {
    /// The event it speaks of.
    pub(super) fn event(&self) -> CalendarEvent {
        CalendarEvent {
            summary: self.summary.clone(),
            start: Instant::new(self.start),
            end: Instant::new(self.end),
            organizer: self.organizer.clone(),
            sequence: self.sequence,
        }
    }
}

/// Name with parameters, and value: at the first colon outside quotes.
fn split(line: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    let at = line.find(|c| {
        quoted ^= c == '"';
        c == ':' && !quoted
    })?;
    Some((line.get(..at)?, line.get(at + 1..)?))
}

fn is_property(head: &str, name: &str) -> bool {
    head.split(';').next() == Some(name)
}

fn participation_status(head: &str) -> String {
    head.split(';').find_map(|part| part.strip_prefix("PARTSTAT=")).unwrap_or_default().to_owned()
}

fn unescape_text(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\,", ",").replace("\\;", ";").replace("\\\\", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invitation_is_read_as_it_was_written() {
        let text = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:01@home.example\r\nDTSTART:20261117T100000Z\r\nDTEND:20261117T103000Z\r\nSUMMARY:Tea\\, and a\r\n  talk\r\nATTENDEE;PARTSTAT=NEEDS-ACTION;CN=\"Tom: Baker\":mailto:tom@bakerand.example\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        let part = Part::parse(text).unwrap();
        assert_eq!((part.uid.as_str(), part.summary.as_str()), ("01@home.example", "Tea, and a talk"));
        assert_eq!((part.end - part.start).num_minutes(), 30);
        assert_eq!(part.attendees, [("tom@bakerand.example".to_owned(), "NEEDS-ACTION".to_owned())]);
    }

    #[test]
    fn half_an_event_is_none() {
        assert_eq!(Part::parse("BEGIN:VEVENT\r\nUID:1\r\nDTSTART:20261117T100000Z\r\nEND:VEVENT\r\n"), None);
        assert_eq!(Part::parse(""), None);
    }
}
