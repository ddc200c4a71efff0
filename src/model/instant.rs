//! A point in time with one text form: UTC, whole seconds, `2025-06-23T03:15:00Z`. Text order is time order.

use std::{fmt, str::FromStr};

use chrono::{DateTime, Datelike, Duration, SubsecRound, Timelike, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(DateTime<Utc>);

impl Instant {
    pub fn utc(self) -> DateTime<Utc> {
        self.0
    }

    pub fn unix_ms(self) -> u64 {
        u64::try_from(self.0.timestamp_millis()).unwrap_or(0)
    }

    /// The calendar day in UTC, `2025-06-23`.
    pub fn day(self) -> String {
        self.0.format("%Y-%m-%d").to_string()
    }

    /// The calendar day where the person is.
    pub fn day_in(self, zone: chrono_tz::Tz) -> String {
        self.0.with_timezone(&zone).format("%Y-%m-%d").to_string()
    }

    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.checked_add_signed(duration).unwrap_or(self.0))
    }

    /// Hours from `self` to `later`, negative when `later` is earlier.
    pub fn hours_until(self, later: Instant) -> f64 {
        (later.0 - self.0).num_seconds() as f64 / 3600.0
    }
}

impl From<DateTime<Utc>> for Instant {
    fn from(at: DateTime<Utc>) -> Self {
        Self(at.trunc_subsecs(0))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, time) = (self.0.date_naive(), self.0.time());
        let (year, month, day) = (at.year(), at.month(), at.day());
        let (hour, minute, second) = (time.hour(), time.minute(), time.second());
        let Some(years) = u32::try_from(year).ok().filter(|year| *year <= 9999) else {
            return write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z");
        };
        // Written for every row; any formatter takes many times as long.
        let mut text = *b"0000-00-00T00:00:00Z";
        let parts = [(0, years / 100), (2, years % 100), (5, month), (8, day), (11, hour), (14, minute), (17, second)];
        for (at, number) in parts {
            if let Some([tens, ones]) = text.get_mut(at..at + 2) {
                *tens += (number / 10) as u8;
                *ones += (number % 10) as u8;
            }
        }
        f.pad(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for Instant {
    type Err = chrono::ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        DateTime::parse_from_rfc3339(text).map(|at| at.with_timezone(&Utc).into())
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_text_form_whatever_the_offset_or_fraction() {
        for text in ["2025-06-23T03:15:00Z", "2025-06-23T05:15:00.9+02:00"] {
            assert_eq!(text.parse::<Instant>().unwrap().to_string(), "2025-06-23T03:15:00Z");
        }
        for text in ["0099-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "9999-10-09T08:07:06Z"] {
            assert_eq!(text.parse::<Instant>().unwrap().to_string(), text);
        }
    }
}
