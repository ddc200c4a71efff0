//! Reads the first event of a calendar.
//!
//! A malformed line is skipped and a missing end is tolerated, because calendars in mail are often cut off. What nests
//! too deep is refused.

use super::{MAX_BYTES, line::Property, writer::fold_line};

/// The deepest nesting that is read. Real calendars nest three components deep.
const MAX_DEPTH: usize = 9;

/// The lines of a calendar, with folded lines joined (RFC 5545 §3.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfoldedCalendar {
    lines: Vec<String>,
}

/// The first event of a calendar. It borrows from the [`UnfoldedCalendar`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FirstEvent<'a> {
    /// The METHOD of the calendar, as it was written.
    pub method: Option<&'a str>,
    /// The properties of the event itself, in the order they were written. Those of its alarms are left out.
    pub properties: Vec<Property<'a>>,
}

impl UnfoldedCalendar {
    /// Joins every line that begins with white space to the line before it. Reads [`MAX_BYTES`] at most.
    pub fn unfold(text: &str) -> Self {
        let end = (0..=MAX_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        let mut lines: Vec<String> = Vec::new();
        for line in text.get(..end).unwrap_or_default().lines() {
            match (line.strip_prefix([' ', '\t']), lines.last_mut()) {
                (Some(more), Some(last)) => last.push_str(more),
                _ => lines.push(line.to_owned()),
            }
        }
        Self { lines }
    }

    /// Returns the lines of the calendar without the timestamps, which differ each time the same calendar is sent.
    pub fn without_timestamps(&self) -> String {
        let is_timestamp = |line: &&str| {
            let name = line.split([':', ';']).next().unwrap_or_default();
            ["DTSTAMP", "CREATED", "LAST-MODIFIED"].iter().any(|stamp| name.trim().eq_ignore_ascii_case(stamp))
        };
        self.lines.iter().map(String::as_str).filter(|line| !is_timestamp(line)).collect::<Vec<_>>().join("\n")
    }

    /// Returns the calendar with these lines in place of a property of its first event; at the end of the event, where it
    /// has no such property. Only for a calendar that this program wrote: what is not understood is kept as it is.
    #[must_use]
    pub fn with_property(&self, name: &str, new: &[String]) -> Self {
        let is_same = |line: &String| Property::parse(line).is_some_and(|property| property.is_named(name));
        let is_edge = |line: &String, edge: &str| line.trim().eq_ignore_ascii_case(edge);
        let start =
            self.lines.iter().position(|line| is_edge(line, "BEGIN:VEVENT")).map_or(self.lines.len(), |at| at + 1);
        let length = self.lines.iter().skip(start).position(|line| is_edge(line, "END:VEVENT"));
        let (head, rest) = self.lines.split_at(start.min(self.lines.len()));
        let (event, tail) = rest.split_at(length.unwrap_or(rest.len()));
        let place = event.iter().position(is_same).unwrap_or(event.len());
        let (before, after) = event.split_at(place);
        let after = after.iter().filter(|line| !is_same(line));
        Self { lines: head.iter().chain(before).chain(new).chain(after).chain(tail).cloned().collect() }
    }

    /// Returns the calendar as text, with long lines folded.
    pub fn render(&self) -> String {
        self.lines.iter().map(|line| fold_line(line)).collect()
    }

    /// Returns the calendar with other values of these properties, which stand in it without parameters.
    pub fn with_values(&self, values: &[(&str, String)]) -> String {
        let replaced = |line: &String| {
            let name = line.split([':', ';']).next().unwrap_or_default();
            let value = values.iter().find(|(known, _)| name.trim().eq_ignore_ascii_case(known));
            value.map_or_else(|| line.clone(), |(known, value)| format!("{known}:{value}"))
        };
        self.lines.iter().map(|line| fold_line(&replaced(line))).collect()
    }

    /// Returns the first event, even if its end was cut off. Returns none when there is no event, or when components
    /// nest deeper than the limit before the event ends.
    pub fn first_event(&self) -> Option<FirstEvent<'_>> {
        let mut event = FirstEvent::default();
        let mut open: Vec<&str> = Vec::new();
        let is = |component: &&str, name: &str| component.eq_ignore_ascii_case(name);
        for property in self.lines.iter().filter_map(|line| Property::parse(line)) {
            if property.is_named("BEGIN") {
                if open.len() >= MAX_DEPTH {
                    return None;
                }
                open.push(property.raw_value());
            } else if property.is_named("END") {
                if open.pop().is_some_and(|ended| is(&ended, "VEVENT")) {
                    return Some(event);
                }
            } else if open.last().is_some_and(|innermost| is(innermost, "VEVENT")) {
                event.properties.push(property);
            } else if property.is_named("METHOD") && matches!(open.as_slice(), [only] if is(only, "VCALENDAR")) {
                event.method = Some(property.raw_value());
            }
        }
        open.iter().any(|component| is(component, "VEVENT")).then_some(event)
    }
}

impl<'a> FirstEvent<'a> {
    /// Returns the last property of that name, which is the one that counts when a name is repeated.
    pub fn property(&self, name: &str) -> Option<&Property<'a>> {
        self.properties.iter().rev().find(|property| property.is_named(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Option<Vec<String>> {
        let calendar = UnfoldedCalendar::unfold(text);
        calendar.first_event().map(|event| event.properties.iter().map(|one| one.raw_value().to_owned()).collect())
    }

    #[test]
    fn only_the_first_event_itself_is_read() {
        let alarm = "BEGIN:VALARM\nUID:alarm\nEND:VALARM\n";
        let text = format!(
            "BEGIN:VCALENDAR\r\nUID:none\r\nBEGIN:VEVENT\r\nUID:a\r\n b\r\n{alarm}X-OTHER;Y=1:c\nEND:VEVENT\nBEGIN:VEVENT\nUID:second\nEND:VEVENT\n"
        );
        assert_eq!(values(&text), Some(vec!["ab".to_owned(), "c".to_owned()]));
        assert_eq!(values("BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:cut"), Some(vec!["cut".to_owned()]));
        assert_eq!(values("BEGIN:VCALENDAR\nBEGIN:VTODO\nUID:a\nEND:VTODO\nEND:VCALENDAR"), None);
        assert_eq!(values(""), None);
    }

    #[test]
    fn a_property_of_the_event_is_replaced_and_nothing_else() {
        let text = "BEGIN:VCALENDAR\r\nUID:none\r\nBEGIN:VEVENT\r\nUID:a\r\nATTENDEE:mailto:b@x.example\r\nATTENDEE:mailto:c@x.example\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        let new = UnfoldedCalendar::unfold(text).with_property("attendee", &["ATTENDEE:mailto:d@x.example".into()]);
        let new = new.with_property("LOCATION", &[format!("LOCATION:{}", "x".repeat(100))]).render();
        let long = format!("LOCATION:{}\r\n {}\r\n", "x".repeat(65), "x".repeat(35));
        let expected = text
            .replace("ATTENDEE:mailto:b@x.example\r\nATTENDEE:mailto:c", "ATTENDEE:mailto:d")
            .replace("END:VEVENT", &format!("{long}END:VEVENT"));
        assert_eq!(new, expected);
        let same = UnfoldedCalendar::unfold("no calendar").with_property("UID", &["UID:a".into()]);
        assert_eq!(same.render(), "no calendar\r\nUID:a\r\n");
    }

    #[test]
    fn depth_and_length_are_bounded() {
        assert_eq!(values(&"BEGIN:VEVENT\n".repeat(100)), None);
        let long = format!("BEGIN:VEVENT\nSUMMARY:{}\nUID:beyond\n", "\u{5e9}".repeat(MAX_BYTES));
        let read = values(&long).unwrap();
        assert_eq!(read.len(), 1);
        assert!(read.iter().all(|value| value.len() <= MAX_BYTES));
    }

    #[test]
    fn the_method_of_the_calendar_counts_and_no_other() {
        let calendar = UnfoldedCalendar::unfold("METHOD:A\nBEGIN:VCALENDAR\nMETHOD:b\nBEGIN:VEVENT\nMETHOD:C\n");
        assert_eq!(calendar.first_event().unwrap().method, Some("b"));
    }

    #[test]
    fn timestamps_are_left_out_whatever_their_case() {
        let text = "BEGIN:VEVENT\nDTSTAMP:1\ncreated;X=1:2\nLast-Modified:3\nUID:a\n b\n";
        assert_eq!(UnfoldedCalendar::unfold(text).without_timestamps(), "BEGIN:VEVENT\nUID:ab");
    }
}
