//! Writes a calendar with one event.
//!
//! No text that is passed through [`escape_text`] or [`quote_parameter`] can begin a line or a parameter of its own.

use chrono::{DateTime, Utc};

/// The longest line before it is folded, below the 75 bytes of RFC 5545 §3.1.
const MAX_LINE_BYTES: usize = 74;

/// Returns a calendar with one event that consists of these lines. Long lines are folded; nothing is escaped here, that
/// is up to the caller.
pub fn render_calendar(method: &str, lines: &[String]) -> String {
    let head = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Adjutant//EN"].map(str::to_owned);
    let method = [format!("METHOD:{method}"), "BEGIN:VEVENT".to_owned()];
    let tail = ["END:VEVENT", "END:VCALENDAR"].map(str::to_owned);
    head.iter().chain(&method).chain(lines).chain(&tail).map(|line| fold_line(line)).collect()
}

/// Folds a line so that no part is longer than the limit. A character is never split.
pub(super) fn fold_line(line: &str) -> String {
    let mut out = String::new();
    let mut width = 0;
    for c in line.chars() {
        if width + c.len_utf8() > MAX_LINE_BYTES {
            out.push_str("\r\n ");
            width = 1;
        }
        width += c.len_utf8();
        out.push(c);
    }
    out + "\r\n"
}

/// Escapes a value of type TEXT. Control characters are dropped, so that no text can break out of its line.
pub fn escape_text(text: &str) -> String {
    let text: String = text.chars().filter(|c| *c == '\n' || !c.is_control()).collect();
    text.replace('\\', "\\\\").replace(';', "\\;").replace(',', "\\,").replace('\n', "\\n")
}

/// Returns the value of a parameter in quotes. Quotes and control characters are dropped, because a quoted value cannot
/// hold them.
pub fn quote_parameter(text: &str) -> String {
    format!("\"{}\"", text.chars().filter(|c| *c != '"' && !c.is_control()).collect::<String>())
}

/// Formats a time as a value of type DATE-TIME in UTC.
pub fn format_utc(at: DateTime<Utc>) -> String {
    at.format("%Y%m%dT%H%M%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;
    use crate::icalendar::UnfoldedCalendar;

    #[test]
    fn lines_are_folded_inside_the_limit_and_unfold_to_themselves() {
        for text in ["short", &"x".repeat(300), &"שלום ".repeat(60)] {
            let folded = fold_line(text);
            assert!(folded.split("\r\n").all(|line| line.len() <= 75), "{folded:?}");
            assert_eq!(folded.replace("\r\n ", "").trim_end_matches("\r\n"), text);
        }
    }

    #[test]
    fn text_cannot_break_out_of_its_line() {
        assert_eq!(escape_text("a;b,c\\d\nEND:VEVENT\r"), "a\\;b\\,c\\\\d\\nEND:VEVENT");
        assert_eq!(quote_parameter("a\":mailto:eve\r\n"), "\"a:mailto:eve\"");
    }

    fn written_and_read(title: &str) -> String {
        let text = render_calendar("REQUEST", &[format!("SUMMARY:{}", escape_text(title))]);
        let calendar = UnfoldedCalendar::unfold(&text);
        let event = calendar.first_event().unwrap();
        assert_eq!(event.method, Some("REQUEST"));
        event.property("SUMMARY").unwrap().text()
    }

    #[test]
    fn a_backslash_before_an_n_is_read_as_it_was_written() {
        for title in ["C:\\new", "\\n", "\\\\n", "a\nb", "Tea, and; \\, more", "ends with \\"] {
            assert_eq!(written_and_read(title), title);
        }
    }

    proptest! {
        #[test]
        fn every_title_is_read_as_it_was_written(title in "([a-zA-Z ,;:\"\\\\]|\\PC|\n){0,200}") {
            let kept: String = title.chars().filter(|c| *c == '\n' || !c.is_control()).collect();
            prop_assert_eq!(written_and_read(&title), kept);
        }
    }
}
