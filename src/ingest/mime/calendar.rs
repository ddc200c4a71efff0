//! Reads the invitation in a calendar part.

use crate::{
    icalendar::{FirstEvent, Property, UnfoldedCalendar},
    ingest::{
        limits::{SHORT_CHARS, truncate_chars},
        text::{collapse_whitespace, strip_hidden_chars},
    },
    model::mail::Invite,
};

/// Returns the first event of a calendar as an invitation. `content_type_method` is the method that the Content-Type of
/// the part names; it is used when the calendar names none.
pub(crate) fn parse_invite(calendar: &UnfoldedCalendar, content_type_method: Option<&str>) -> Option<Invite> {
    let event = calendar.first_event()?;
    let method = event.method.or(content_type_method).unwrap_or_default().trim().to_ascii_uppercase();
    Some(Invite {
        method,
        uid: event.property("UID").map(|uid| to_short_line(&uid.text())).unwrap_or_default(),
        summary: event.property("SUMMARY").map(|summary| to_short_line(&summary.text())).unwrap_or_default(),
        start: event.property("DTSTART").and_then(Property::instant),
        end: event.property("DTEND").and_then(Property::instant),
        organizer: organizer(&event),
        sequence: event.property("SEQUENCE").and_then(|number| number.raw_value().parse().ok()).unwrap_or_default(),
        recurrence_id: event.property("RECURRENCE-ID").map(|id| to_short_line(id.raw_value())),
        recurs: event.property("RRULE").is_some() || event.property("RDATE").is_some(),
    })
}

/// Returns the organizer's address, or the name when there is no address.
fn organizer(event: &FirstEvent<'_>) -> Option<String> {
    let organizer = event.property("ORGANIZER")?;
    let address = organizer.mail_address().map(str::to_ascii_lowercase);
    address
        .map(|address| truncate_chars(address, SHORT_CHARS).0)
        .or_else(|| organizer.parameter("CN").map(to_short_line))
}

/// Returns a text as one line without hidden characters, cut to a bounded length.
fn to_short_line(text: &str) -> String {
    truncate_chars(collapse_whitespace(&strip_hidden_chars(text).text), SHORT_CHARS).0
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "BEGIN:VCALENDAR\r\nMETHOD:request\r\nBEGIN:VTIMEZONE\r\nTZID:x\r\nDTSTART:19700101T000000\r\nEND:VTIMEZONE\r\n\
        BEGIN:VEVENT\r\nUID:u-1@x\r\nSEQUENCE:3\r\nSUMMARY;LANGUAGE=en:Budget\\, 2026\r\n  review\r\nDTSTART;TZID=Asia/Jerusalem:20260301T100000\r\n\
        DTEND;TZID=\"Israel Standard Time\":20260301T110000\r\nORGANIZER;CN=\"Dana: PM\":MAILTO:Dana@X.example\r\n\
        BEGIN:VALARM\r\nSUMMARY:alarm\r\nEND:VALARM\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nUID:second\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

    fn read(text: &str, method: Option<&str>) -> Option<Invite> {
        parse_invite(&UnfoldedCalendar::unfold(text), method)
    }

    #[test]
    fn a_whole_invitation() {
        assert_eq!(
            read(WHOLE, Some("CANCEL")).unwrap(),
            Invite {
                method: "REQUEST".into(),
                uid: "u-1@x".into(),
                summary: "Budget, 2026 review".into(),
                start: Some("2026-03-01T08:00:00Z".parse().unwrap()),
                end: Some("2026-03-01T09:00:00Z".parse().unwrap()),
                organizer: Some("dana@x.example".into()),
                sequence: 3,
                recurrence_id: None,
                recurs: false,
            }
        );
    }

    #[test]
    fn every_property_is_read_as_it_should_be() {
        let event = |lines: &str| read(&format!("BEGIN:VCALENDAR\nBEGIN:VEVENT\n{lines}\nEND:VEVENT\n"), None).unwrap();
        assert_eq!(event("SUMMARY:C:\\\\new\\nplans").summary, "C:\\new plans");
        assert_eq!(event("UID:a\\,b").uid, "a,b");
        assert_eq!(
            event("RECURRENCE-ID;TZID=Europe/Berlin: 20260301T100000 ").recurrence_id.unwrap(),
            "20260301T100000"
        );
        assert_eq!(event("ORGANIZER;CN=Dana  Cohen:invalid:nomail").organizer.unwrap(), "Dana Cohen");
        assert_eq!(event("ORGANIZER:mailto:kar\\en@work.example").organizer.unwrap(), "kar\\en@work.example");
        assert_eq!(event("ORGANIZER:mailto:a@x.example\nORGANIZER:nobody").organizer, None, "the last one counts");
        assert_eq!(event("SEQUENCE:many").sequence, 0);
        assert_eq!(event("DTSTART;TZID=Nowhere:20260301T100000").start, None);
    }

    #[test]
    fn no_event_is_no_invitation() {
        assert_eq!(read("", None), None);
        assert_eq!(read("BEGIN:VCALENDAR\nBEGIN:VTODO\nUID:a\nEND:VTODO\nEND:VCALENDAR", None), None);
        assert_eq!(read("BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:cut", Some("request")).unwrap().method, "REQUEST");
    }
}
