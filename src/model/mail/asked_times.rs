//! The times that a mail names for a meeting, as points in time.

use chrono::{DateTime, FixedOffset};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use crate::model::Instant;

/// The times that a mail proposes or allows for a meeting, resolved to points in time when the mail was read.
///
/// "Tuesday at 3 or Thursday at 10" is two exact starts. "Any day but Wednesday, after 2pm" is one window per day.
/// A mail that names no time has an empty list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedTimes {
    /// In the order in which the mail names them; windows of one expression in the order of time.
    pub times: Vec<AskedTime>,
    /// The words of the mail that named them, for a person.
    pub words: String,
    /// The zone in which the mail names them, where it is not the person's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<NamedZone>,
    /// Somebody whom the person knows names them: an hour outside the working hours is taken as it is meant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_by_acquaintance: bool,
}

/// A zone as a mail names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedZone {
    /// Its name for a person: "EST", "London".
    pub name: String,
    /// An IANA name, or an offset such as `+02:00`.
    pub zone: String,
}

impl NamedZone {
    /// Returns what the clock of the zone shows at that time; none if the zone is unknown.
    pub fn local(&self, at: Instant) -> Option<DateTime<FixedOffset>> {
        if let Ok(offset) = self.zone.parse::<FixedOffset>() {
            return Some(at.utc().with_timezone(&offset));
        }
        Some(at.utc().with_timezone(&self.zone.parse::<Tz>().ok()?).fixed_offset())
    }
}

/// One time that a meeting may take place at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AskedTime {
    /// The meeting begins at a named hour. The end is there only if the mail names it.
    Start {
        start: Instant,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end: Option<Instant>,
    },
    /// The meeting lies anywhere between two points in time: a day, an afternoon, a part of a week.
    Window { from: Instant, to: Instant },
}

impl AskedTimes {
    /// Returns whether the mail names the hour of each time.
    pub fn is_exact(&self) -> bool {
        self.times.iter().all(|time| matches!(time, AskedTime::Start { .. }))
    }
}

impl AskedTime {
    /// Returns the earliest begin of a meeting at this time.
    pub const fn earliest(&self) -> Instant {
        match self {
            Self::Start { start, .. } => *start,
            Self::Window { from, .. } => *from,
        }
    }

    /// Returns the latest end of a meeting at this time, as far as the mail names one.
    pub const fn latest(&self) -> Instant {
        match self {
            Self::Start { end: Some(at), .. } | Self::Start { start: at, end: None } | Self::Window { to: at, .. } => {
                *at
            }
        }
    }

    /// Returns whether no meeting can begin at this time any more.
    pub fn is_past(&self, now: Instant) -> bool {
        match self {
            Self::Start { start, .. } => *start <= now,
            Self::Window { to, .. } => *to <= now,
        }
    }
}
