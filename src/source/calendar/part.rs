//! Reads the calendar part of a message that [`crate::tool`] wrote, from the bytes that were approved. What is entered
//! into the calendar therefore is what the person saw.

use chrono::{DateTime, Utc};
use mail_parser::{MessageParser, MimeHeaders as _};

use crate::{
    icalendar::{Property, UnfoldedCalendar},
    model::{Instant, action::ComposedMessage},
    source::CalendarEvent,
};

/// The event that an approved message invites to or answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CalendarPart {
    pub(super) uid: String,
    pub(super) summary: String,
    pub(super) start: DateTime<Utc>,
    pub(super) end: DateTime<Utc>,
    /// The organizer's address in lower case; empty when nobody is named.
    pub(super) organizer: String,
    pub(super) sequence: u32,
    /// The address and the participation status (PARTSTAT) of each attendee.
    pub(super) attendees: Vec<(String, String)>,
}

impl CalendarPart {
    /// Returns the event of a message; none when the message has no calendar part or the part holds no whole event.
    pub(super) fn from_message(message: &ComposedMessage) -> Option<Self> {
        let parsed = MessageParser::default().parse(message.mime.as_bytes())?;
        let is_calendar = |kind: &mail_parser::ContentType<'_>| kind.subtype() == Some("calendar");
        let part = parsed.attachments().find(|part| part.content_type().is_some_and(is_calendar))?;
        Self::parse(&String::from_utf8_lossy(part.contents()))
    }

    /// Parses the first event of an iCalendar text; none unless it has a UID, a start and an end.
    fn parse(text: &str) -> Option<Self> {
        let calendar = UnfoldedCalendar::unfold(text);
        let event = calendar.first_event()?;
        let time = |name: &str| event.property(name).and_then(Property::instant).map(Instant::utc);
        let attendees = event.properties.iter().filter(|property| property.is_named("ATTENDEE"));
        let status = |attendee: &Property<'_>| attendee.parameter("PARTSTAT").unwrap_or_default().to_owned();
        Some(Self {
            uid: event.property("UID")?.text(),
            summary: event.property("SUMMARY").map(Property::text).unwrap_or_default(),
            start: time("DTSTART")?,
            end: time("DTEND")?,
            organizer: event.property("ORGANIZER").map(|one| address(one).to_lowercase()).unwrap_or_default(),
            sequence: event.property("SEQUENCE").and_then(|number| number.raw_value().parse().ok()).unwrap_or_default(),
            attendees: attendees.map(|attendee| (address(attendee).to_owned(), status(attendee))).collect(),
        })
    }

    /// Returns the event for comparison with one in a calendar.
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

/// Returns the mail address of an attendee or organizer; the raw value when it is not a `mailto:` address.
fn address<'a>(property: &Property<'a>) -> &'a str {
    property.mail_address().unwrap_or(property.raw_value())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invitation_is_read_as_it_was_written() {
        let text = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:01@home.example\r\nDTSTART:20261117T100000Z\r\nDTEND:20261117T103000Z\r\nSUMMARY:Tea\\, and a\r\n  talk of C:\\\\new\r\nATTENDEE;PARTSTAT=NEEDS-ACTION;CN=\"Tom: Baker\":mailto:tom@bakerand.example\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        let part = CalendarPart::parse(text).unwrap();
        assert_eq!((part.uid.as_str(), part.summary.as_str()), ("01@home.example", "Tea, and a talk of C:\\new"));
        assert_eq!((part.end - part.start).num_minutes(), 30);
        assert_eq!(part.attendees, [("tom@bakerand.example".to_owned(), "NEEDS-ACTION".to_owned())]);
    }

    #[test]
    fn half_an_event_is_none() {
        assert_eq!(CalendarPart::parse("BEGIN:VEVENT\r\nUID:1\r\nDTSTART:20261117T100000Z\r\nEND:VEVENT\r\n"), None);
        assert_eq!(CalendarPart::parse(""), None);
    }
}
