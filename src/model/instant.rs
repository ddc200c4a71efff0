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
        // Written for every row; the general formatter takes several times as long.
        let (at, time) = (self.0.date_naive(), self.0.time());
        let (year, month, day) = (at.year(), at.month(), at.day());
        write!(f, "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", time.hour(), time.minute(), time.second())
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
    }
}
