//! Calendar events, as far as one meeting must be told from another. The UID alone does not tell: whoever writes an
//! invitation chooses it, and may choose the UID of somebody else's meeting.

use serde::{Deserialize, Serialize};

use crate::model::Instant;

/// The fields by which an event in a calendar is compared with an invitation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalendarEvent {
    pub summary: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Instant>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Instant>,
    /// The organizer's address in lower case; empty when nobody is named.
    pub organizer: String,
    /// SEQUENCE of RFC 5545: the number of changes the organizer has made.
    #[serde(default)]
    pub sequence: u32,
}

impl CalendarEvent {
    /// Returns why this is not the event that `invited` describes; none when it is. A lower sequence number is no
    /// difference, because the calendar may not have the newest version yet.
    pub fn difference(&self, invited: &Self) -> Option<&'static str> {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        if self.organizer.is_empty() || !self.organizer.eq_ignore_ascii_case(&invited.organizer) {
            Some("another organizer")
        } else if words(&self.summary) != words(&invited.summary) {
            Some("another title")
        } else if self.start != invited.start || self.end != invited.end {
            Some("another time")
        } else if self.sequence > invited.sequence {
            Some("a later version")
        } else {
            None
        }
    }
}

/// The result of looking up the UID of an invitation in the calendar.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "calendar", rename_all = "snake_case")]
pub enum CalendarLookup {
    /// The account has no calendar.
    #[default]
    NoCalendar,
    /// The account has a calendar, but it could not be asked.
    Silent { why: String },
    /// The events that the calendar holds under the UID; possibly none.
    Known { events: Vec<CalendarEvent> },
}

#[cfg(test)]
mod tests {
    use super::CalendarEvent;

    #[test]
    fn the_same_event_says_the_same() {
        let at = |text: &str| Some(text.parse().unwrap());
        let lunch = CalendarEvent {
            summary: "Lunch?".into(),
            start: at("2026-11-18T12:00:00Z"),
            end: at("2026-11-18T13:00:00Z"),
            organizer: "eve@evil.example".into(),
            sequence: 1,
        };
        let spaced =
            CalendarEvent { summary: " Lunch? ".into(), organizer: "Eve@Evil.example".into(), ..lunch.clone() };
        assert_eq!(lunch.difference(&spaced), None);
        assert_eq!(
            CalendarEvent { sequence: 0, ..lunch.clone() }.difference(&lunch),
            None,
            "not yet brought up to date"
        );
        for (other, expected) in [
            (CalendarEvent { organizer: "boss@work.example".into(), ..lunch.clone() }, "another organizer"),
            (CalendarEvent { organizer: String::new(), ..lunch.clone() }, "another organizer"),
            (CalendarEvent { summary: "Board meeting".into(), ..lunch.clone() }, "another title"),
            (CalendarEvent { start: at("2026-11-18T11:00:00Z"), ..lunch.clone() }, "another time"),
            (CalendarEvent { end: None, ..lunch.clone() }, "another time"),
            (CalendarEvent { sequence: 2, ..lunch.clone() }, "a later version"),
        ] {
            assert_eq!(other.difference(&lunch), Some(expected), "{other:?}");
        }
    }
}
