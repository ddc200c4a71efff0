//! How often a reminder comes back: "every Monday", "daily", "every two weeks", "each month".

use std::{fmt, str::FromStr};

use chrono::{DateTime, Datelike, Days, LocalResult, Months, NaiveDateTime, TimeZone, Utc, Weekday};
use chrono_tz::Tz;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Instant;

/// The step from one time of a series to the next, on the person's calendar: a reminder keeps its hour on their clock,
/// also when the clocks change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recurrence {
    Days(u32),
    Months(u32),
    /// Monday to Friday.
    WorkDays,
}

/// The longest step that is accepted; a longer one is a date or a mistake.
const MAX_INTERVAL: u32 = 1_000;
const WEEK: u32 = 7;

impl Recurrence {
    /// Returns the recurrence that a sentence names, in English or Hebrew; none when it names none.
    pub fn find_in_text(text: &str) -> Option<Self> {
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let alone = |word: &&str| match *word {
            "daily" | "nightly" => Some(Self::Days(1)),
            "weekly" => Some(Self::Days(WEEK)),
            "fortnightly" => Some(Self::Days(2 * WEEK)),
            "monthly" => Some(Self::Months(1)),
            "quarterly" => Some(Self::Months(3)),
            "yearly" | "annually" => Some(Self::Months(12)),
            _ => None,
        };
        let after = words.iter().enumerate().filter(|(_, word)| matches!(**word, "every" | "each" | "כל"));
        let said = after.filter_map(|(at, _)| words.get(at + 1..)).find_map(parse_interval);
        said.or_else(|| words.iter().find_map(alone))
    }

    /// Returns the first time after `now` of the series that begins at `first`.
    pub fn next(self, first: Instant, now: Instant, zone: Tz) -> Option<Instant> {
        let start = first.utc().with_timezone(&zone).naive_local();
        // A bound against endless counting: no real series has so many times before now.
        (1..100_000u32).find_map(|nth| {
            let local = self.nth_occurrence(start, nth)?;
            let at = Instant::new(resolve_local_time(zone, local)?)?;
            let counts = self != Self::WorkDays || !matches!(local.weekday(), Weekday::Sat | Weekday::Sun);
            (at > now && counts).then_some(at)
        })
    }

    fn nth_occurrence(self, start: NaiveDateTime, nth: u32) -> Option<NaiveDateTime> {
        match self {
            Self::Days(days) => start.checked_add_days(Days::new(u64::from(days) * u64::from(nth))),
            // Counted from the first time, so that a 31st is a 31st again after a short month.
            Self::Months(months) => start.checked_add_months(Months::new(months.checked_mul(nth)?)),
            Self::WorkDays => start.checked_add_days(Days::new(u64::from(nth))),
        }
    }
}

/// Reads the words that follow "every".
fn parse_interval(words: &[&str]) -> Option<Recurrence> {
    let (number, unit) = match words {
        ["other" | "second", unit, ..] => (2, *unit),
        [number, unit, ..] if parse_count(number).is_some() => (parse_count(number)?, *unit),
        // "כל יום שני": a day of the week, not every day.
        ["יום", day, ..] if is_weekday(day) => (1, *day),
        [unit, ..] => (1, *unit),
        [] => return None,
    };
    let days = |step: u32| Some(Recurrence::Days(number * step)).filter(|_| number * step <= MAX_INTERVAL);
    let months = |step: u32| Some(Recurrence::Months(number * step)).filter(|_| number * step <= MAX_INTERVAL);
    match unit {
        "day" | "days" | "morning" | "evening" | "night" | "afternoon" | "noon" | "יום" | "ימים" | "בוקר" | "ערב" => {
            days(1)
        }
        "weekday" | "workday" | "weekdays" | "workdays" => Some(Recurrence::WorkDays),
        "week" | "weeks" | "שבוע" | "שבועות" => days(WEEK),
        "month" | "months" | "חודש" | "חודשים" => months(1),
        "quarter" | "quarters" => months(3),
        "year" | "years" | "שנה" | "שנים" => months(12),
        day if is_weekday(day) => days(WEEK),
        _ => None,
    }
}

fn parse_count(word: &str) -> Option<u32> {
    let spelled = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let number = spelled.iter().position(|known| *known == word).and_then(|at| u32::try_from(at).ok());
    number.or_else(|| word.parse().ok()).filter(|number| (1..=MAX_INTERVAL).contains(number))
}

fn is_weekday(word: &str) -> bool {
    let hebrew = ["ראשון", "שני", "שלישי", "רביעי", "חמישי", "שישי", "שבת"];
    let singular = word.strip_suffix('s').unwrap_or(word);
    hebrew.contains(&word) || (singular.len() > 2 && singular.parse::<Weekday>().is_ok())
}

/// Returns the point in time of a local time. One that the clocks skip comes an hour later; of one that they repeat,
/// the first counts.
fn resolve_local_time(zone: Tz, local: NaiveDateTime) -> Option<DateTime<Utc>> {
    match zone.from_local_datetime(&local) {
        LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => Some(at.to_utc()),
        LocalResult::None => {
            zone.from_local_datetime(&(local + chrono::Duration::hours(1))).earliest().map(|at| at.to_utc())
        }
    }
}

impl fmt::Display for Recurrence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Days(days) => write!(f, "{days}d"),
            Self::Months(months) => write!(f, "{months}m"),
            Self::WorkDays => f.write_str("workdays"),
        }
    }
}

/// A stored recurrence that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no recurrence; expected such as 7d, 1m or workdays")]
pub struct BadRecurrence(String);

impl FromStr for Recurrence {
    type Err = BadRecurrence;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |digits: &str| digits.parse().ok().filter(|number| (1..=MAX_INTERVAL).contains(number));
        let read = match text {
            "workdays" => Some(Self::WorkDays),
            _ => text
                .strip_suffix('d')
                .and_then(number)
                .map(Self::Days)
                .or_else(|| text.strip_suffix('m').and_then(number).map(Self::Months)),
        };
        read.ok_or_else(|| BadRecurrence(text.to_owned()))
    }
}

impl Serialize for Recurrence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Recurrence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_say_how_often() {
        for (text, expected) in [
            ("Remind me every Monday at 9am to water the plants", Some("7d")),
            ("every mondays", Some("7d")),
            ("remind me each day", Some("1d")),
            ("Remind me every other week to call home", Some("14d")),
            ("every 3 days", Some("3d")),
            ("every two months", Some("2m")),
            ("Remind me monthly to pay the rent", Some("1m")),
            ("every year on 1 May", Some("12m")),
            ("every weekday at 8", Some("workdays")),
            ("every morning", Some("1d")),
            ("להזכיר לי כל יום שני", Some("7d")),
            ("להזכיר לי כל יום", Some("1d")),
            ("Remind me to call the plumber at 14:30", None),
            ("Remind me to thank everyone", None),
            ("Remind me that every cloud has a silver lining", None),
            ("every 5000 days", None),
        ] {
            assert_eq!(Recurrence::find_in_text(text).map(|every| every.to_string()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn the_next_time_keeps_the_hour_on_the_wall_and_the_day_of_the_month() {
        let next = |every: &str, first: &str, now: &str, zone: Tz| {
            let every: Recurrence = every.parse().unwrap();
            every.next(first.parse().unwrap(), now.parse().unwrap(), zone).unwrap().to_string()
        };
        let berlin = chrono_tz::Europe::Berlin;
        // The clocks go back on 25 October 2026.
        assert_eq!(next("7d", "2026-10-19T07:00:00Z", "2026-10-19T07:00:00Z", berlin), "2026-10-26T08:00:00Z");
        assert_eq!(next("1m", "2026-01-31T09:00:00Z", "2026-02-01T00:00:00Z", Tz::UTC), "2026-02-28T09:00:00Z");
        assert_eq!(next("1m", "2026-01-31T09:00:00Z", "2026-03-01T00:00:00Z", Tz::UTC), "2026-03-31T09:00:00Z");
        // After a long sleep: once, and then the next to come.
        assert_eq!(next("1d", "2026-01-01T09:00:00Z", "2026-11-16T08:00:00Z", Tz::UTC), "2026-11-16T09:00:00Z");
        // Friday, then Monday.
        assert_eq!(next("workdays", "2026-11-13T09:00:00Z", "2026-11-13T09:00:00Z", Tz::UTC), "2026-11-16T09:00:00Z");
        // 02:30 does not exist on 29 March 2026.
        assert_eq!(next("1d", "2026-03-28T01:30:00Z", "2026-03-28T01:30:00Z", berlin), "2026-03-29T01:30:00Z");
    }

    #[test]
    fn the_stored_form_reads_back() {
        for every in [Recurrence::Days(7), Recurrence::Months(12), Recurrence::WorkDays] {
            assert_eq!(every.to_string().parse(), Ok(every));
        }
        for text in ["", "d", "0d", "7", "-1m", "2000m", "fortnight"] {
            assert!(text.parse::<Recurrence>().is_err(), "{text}");
        }
    }
}
