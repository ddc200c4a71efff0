//! Days and times in the words of a language, by the clock on the person's wall.

use chrono::{DateTime, Datelike as _, NaiveDate};
use chrono_tz::Tz;

use crate::{assistant::ChatLanguage, model::Instant};

const HEBREW_DAYS: [&str; 7] = ["יום שני", "יום שלישי", "יום רביעי", "יום חמישי", "יום שישי", "שבת", "יום ראשון"];

/// Returns a stored deadline for a person: a day, or a day with a time. What is no date is returned as it is.
pub(in crate::assistant) fn format_deadline(language: ChatLanguage, stored: &str, zone: Tz) -> String {
    if let Ok(day) = stored.parse::<NaiveDate>() {
        return format_day(language, day);
    }
    match DateTime::parse_from_rfc3339(stored) {
        Ok(at) => format_local(language, at.with_timezone(&zone)),
        Err(_) => stored.to_owned(),
    }
}

/// Returns a point in time for a person.
pub(in crate::assistant) fn format_instant(language: ChatLanguage, at: Instant, zone: Tz) -> String {
    format_local(language, at.utc().with_timezone(&zone))
}

fn format_local(language: ChatLanguage, at: DateTime<Tz>) -> String {
    let (day, time) = (format_day(language, at.date_naive()), at.format("%H:%M"));
    match language {
        ChatLanguage::English => format!("{day} at {time}"),
        ChatLanguage::Hebrew => format!("{day} בשעה {time}"),
    }
}

fn format_day(language: ChatLanguage, day: NaiveDate) -> String {
    match language {
        ChatLanguage::English => day.format("%a %-d %b %Y").to_string(),
        ChatLanguage::Hebrew => {
            let name = HEBREW_DAYS.get(day.weekday().num_days_from_monday() as usize).copied().unwrap_or_default();
            format!("{name} {}", day.format("%-d.%-m.%Y"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_said_as_precisely_as_it_is_known() {
        let berlin = chrono_tz::Europe::Berlin;
        for (language, stored, expected) in [
            (ChatLanguage::English, "2026-11-20", "Fri 20 Nov 2026"),
            (ChatLanguage::English, "2026-11-20T16:00:00Z", "Fri 20 Nov 2026 at 17:00"),
            (ChatLanguage::Hebrew, "2026-11-20", "יום שישי 20.11.2026"),
            (ChatLanguage::Hebrew, "2026-11-22T17:00:00+01:00", "יום ראשון 22.11.2026 בשעה 17:00"),
            (ChatLanguage::English, "soon", "soon"),
        ] {
            assert_eq!(format_deadline(language, stored, berlin), expected);
        }
    }
}
