//! How far back the first poll of a mailbox goes.

use super::Instant;

/// The period of old mail that the first poll reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// The mail of the current day in the person's time zone.
    Today(chrono_tz::Tz),
    /// The mail of the last days.
    Days(u32),
}

impl Since {
    /// Returns the start of the period in seconds since 1970.
    pub fn start_unix(self, now: Instant) -> i64 {
        match self {
            Self::Days(days) => now.plus(-chrono::Duration::days(days.into())).utc().timestamp(),
            Self::Today(zone) => {
                let local = now.utc().with_timezone(&zone);
                let midnight = local.date_naive().and_time(chrono::NaiveTime::MIN).and_local_timezone(zone);
                midnight.earliest().map_or_else(|| now.utc().timestamp(), |start| start.timestamp())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn today_begins_where_the_person_lives() {
        let now: Instant = "2026-11-16T23:30:00Z".parse().unwrap();
        let start = |since: Since| chrono::DateTime::from_timestamp(since.start_unix(now), 0).unwrap().to_rfc3339();
        assert_eq!(start(Since::Today(chrono_tz::UTC)), "2026-11-16T00:00:00+00:00");
        assert_eq!(start(Since::Today(chrono_tz::Asia::Jerusalem)), "2026-11-16T22:00:00+00:00");
        assert_eq!(start(Since::Days(7)), "2026-11-09T23:30:00+00:00");
    }
}
