//! When the event of one of our own calendars takes place, and the zone in which its text speaks of it.

use chrono_tz::Tz;

use super::UnfoldedCalendar;
use crate::model::Instant;

/// The times of an event, and what the message does about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventTimes {
    pub start: Instant,
    pub end: Instant,
    /// The zone of the person who wrote the message.
    pub zone: Tz,
    /// The message answers somebody else's invitation.
    pub is_answer: bool,
    /// The title of an event that somebody else has named; empty for one of our own.
    others_title: String,
    is_declined: bool,
}

impl EventTimes {
    /// The property that holds the zone.
    pub const ZONE: &'static str = "X-ADJUTANT-TIMEZONE";

    /// Reads the first event of a calendar; none without a beginning and an end.
    pub fn read(calendar: &str) -> Option<Self> {
        let calendar = UnfoldedCalendar::unfold(calendar);
        let event = calendar.first_event()?;
        let time = |name: &str| event.property(name)?.instant();
        let zone = event.property(Self::ZONE).and_then(|zone| zone.raw_value().parse().ok());
        let is_answer = event.method.is_some_and(|method| method.eq_ignore_ascii_case("REPLY"));
        let title = event.property("SUMMARY").filter(|_| is_answer).map(|title| title.text());
        let attendee = event.property("ATTENDEE").and_then(|attendee| attendee.parameter("PARTSTAT"));
        Some(Self {
            start: time("DTSTART")?,
            end: time("DTEND")?,
            zone: zone.unwrap_or(Tz::UTC),
            is_answer,
            others_title: title.unwrap_or_default(),
            is_declined: attendee.is_some_and(|status| status.eq_ignore_ascii_case("DECLINED")),
        })
    }

    /// Returns a text without the title that somebody else gave to the event: a time in it is no word of ours.
    pub fn own_words(&self, text: &str) -> String {
        if self.others_title.is_empty() { text.to_owned() } else { text.replace(&self.others_title, " ") }
    }

    /// Returns whether the message says no to the event, so that its text may well name another time.
    pub const fn is_declining(&self) -> bool {
        self.is_answer && self.is_declined
    }
}
