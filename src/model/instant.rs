//! A point in time with one text form: UTC, whole seconds, `2025-06-23T03:15:00Z`. Text order is time order.
//!
//! Only times from the start of 1970 to the end of 9998 exist as values. A header, file or calendar that names another
//! time is read as if it named none. So every value prints with a year of four digits in any time zone, and parses back
//! to itself.

use std::{fmt, str::FromStr, time::SystemTime};

use chrono::{DateTime, Datelike, Duration, SubsecRound, Timelike, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A point in time from 1970 to 9998, in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(DateTime<Utc>);

/// The last second of 9998, counted from the start of 1970. The year 9999 is left out, so that the year has four digits
/// in every time zone.
const LAST_SECOND: i64 = 253_370_764_799;

/// Why a text or a time is not an [`Instant`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadInstant {
    #[error("not a time: {0}")]
    Form(#[from] chrono::ParseError),
    #[error("not a time from 1970 to 9998")]
    Range,
}

impl Instant {
    /// The first time that is a value: the start of 1970.
    pub const EARLIEST: Self = Self(DateTime::UNIX_EPOCH);
    /// The last time that is a value: the end of 9998.
    pub const LATEST: Self = match DateTime::from_timestamp(LAST_SECOND, 0) {
        Some(at) => Self(at),
        None => Self::EARLIEST,
    };

    /// Returns the time without its fraction of a second; none outside 1970–9998.
    pub fn new(at: DateTime<Utc>) -> Option<Self> {
        let at = Self(at.trunc_subsecs(0));
        (Self::EARLIEST..=Self::LATEST).contains(&at).then_some(at)
    }

    /// Returns the time that is so many seconds after the start of 1970; none outside 1970–9998.
    pub fn from_unix(seconds: i64) -> Option<Self> {
        DateTime::from_timestamp(seconds, 0).and_then(Self::new)
    }

    /// Returns the time that is so many milliseconds after the start of 1970; none outside 1970–9998.
    pub fn from_unix_ms(milliseconds: i64) -> Option<Self> {
        DateTime::from_timestamp_millis(milliseconds).and_then(Self::new)
    }

    /// Returns the time of a file, which may be anything; none outside 1970–9998.
    pub fn from_file_time(at: SystemTime) -> Option<Self> {
        let since = at.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Self::from_unix(i64::try_from(since.as_secs()).ok()?)
    }

    /// Returns the nearest time that is a value. For clocks and sums, which have to yield some time.
    pub fn from_utc_clamped(at: DateTime<Utc>) -> Self {
        Self(at.trunc_subsecs(0)).clamp(Self::EARLIEST, Self::LATEST)
    }

    pub fn utc(self) -> DateTime<Utc> {
        self.0
    }

    pub fn unix_ms(self) -> u64 {
        u64::try_from(self.0.timestamp_millis()).unwrap_or(0)
    }

    /// Returns the calendar day in UTC, `2025-06-23`.
    pub fn day(self) -> String {
        self.0.format("%Y-%m-%d").to_string()
    }

    /// Returns the calendar day in the person's time zone.
    pub fn day_in(self, zone: chrono_tz::Tz) -> String {
        self.0.with_timezone(&zone).format("%Y-%m-%d").to_string()
    }

    /// Returns the sum, or [`EARLIEST`](Self::EARLIEST) or [`LATEST`](Self::LATEST) when it lies beyond.
    pub fn plus(self, duration: Duration) -> Self {
        let beyond = if duration < Duration::zero() { Self::EARLIEST } else { Self::LATEST };
        self.0.checked_add_signed(duration).map_or(beyond, Self::from_utc_clamped)
    }

    /// Returns the hours from `self` to `later`, negative when `later` is earlier.
    pub fn hours_until(self, later: Instant) -> f64 {
        (later.0 - self.0).num_seconds() as f64 / 3600.0
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, time) = (self.0.date_naive(), self.0.time());
        let (month, day) = (at.month(), at.day());
        let (hour, minute, second) = (time.hour(), time.minute(), time.second());
        let years = at.year().unsigned_abs();
        // Written by hand because it runs for every stored row, and the formatter of chrono takes many times as long.
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
    type Err = BadInstant;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(DateTime::parse_from_rfc3339(text)?.to_utc()).ok_or(BadInstant::Range)
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
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    #[test]
    fn one_text_form_whatever_the_offset_or_fraction() {
        for text in ["2025-06-23T03:15:00Z", "2025-06-23T05:15:00.9+02:00"] {
            assert_eq!(text.parse::<Instant>().unwrap().to_string(), "2025-06-23T03:15:00Z");
        }
        for text in ["1970-01-01T00:00:00Z", "9998-10-09T08:07:06Z", "9998-12-31T23:59:59Z"] {
            assert_eq!(text.parse::<Instant>().unwrap().to_string(), text);
        }
        assert_eq!(Instant::LATEST.to_string(), "9998-12-31T23:59:59Z");
    }

    #[test]
    fn times_beyond_the_ends_are_none() {
        for text in [
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:30:00+01:00",
            "9999-01-01T00:00:00Z",
            "9998-12-31T23:59:59-00:01",
            "0099-12-31T23:59:59Z",
            "99999-01-01T09:00:00Z",
            "-0001-01-01T00:00:00Z",
        ] {
            assert!(text.parse::<Instant>().is_err(), "{text}");
            assert!(serde_json::from_str::<Instant>(&format!("\"{text}\"")).is_err(), "{text}");
        }
        assert_eq!(Instant::from_file_time(SystemTime::UNIX_EPOCH - std::time::Duration::from_secs(1)), None);
        assert_eq!(Instant::EARLIEST.plus(Duration::days(-1)), Instant::EARLIEST);
        assert_eq!(Instant::LATEST.plus(Duration::MAX), Instant::LATEST);
        assert_eq!(Instant::LATEST.plus(Duration::MIN), Instant::EARLIEST);
    }

    proptest! {
        /// However a value is made, and from whatever it is made.
        #[test]
        fn any_that_exists_prints_and_is_read_back(seconds in any::<i64>(), near in 0..LAST_SECOND, more in any::<i64>()) {
            let sum = Instant::from_unix(near).unwrap().plus(Duration::seconds(more >> 12));
            for at in [Instant::from_unix(near), Instant::from_unix(seconds), Instant::from_unix_ms(seconds), Some(sum)]
                .into_iter()
                .flatten()
            {
                let text = at.to_string();
                prop_assert_eq!(text.len(), 20);
                prop_assert_eq!(text.parse::<Instant>().unwrap(), at);
                prop_assert_eq!(serde_json::from_str::<Instant>(&serde_json::to_string(&at).unwrap()).unwrap(), at);
                prop_assert!((Instant::EARLIEST..=Instant::LATEST).contains(&at));
            }
        }
    }
}
