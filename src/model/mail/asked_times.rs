//! The times that a mail names for a meeting, as points in time.

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

impl AskedTime {
    /// Returns the earliest begin of a meeting at this time.
    pub const fn earliest(&self) -> Instant {
        match self {
            Self::Start { start, .. } => *start,
            Self::Window { from, .. } => *from,
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
