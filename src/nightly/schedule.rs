//! When the nightly job is due: by a cron line in the person's time zone, once per date, whatever the clock did
//! meanwhile.

use chrono::Duration;
use chrono_tz::Tz;
use croner::Cron;

use crate::model::Instant;

/// The most missed dates that are recorded one by one.
const MAX_MISSED: usize = 400;

/// The schedule of the nightly job.
#[derive(Debug, Clone)]
pub struct NightlySchedule {
    cron: Cron,
    zone: Tz,
}

/// Whether the nightly job is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NightlyDue {
    /// The job is not due before this time.
    At(Instant),
    /// The job is due now.
    Now {
        /// The local date, which has one run.
        date: String,
        scheduled_at: Instant,
        /// Earlier dates that were missed. This run stands for them too.
        missed: Vec<(String, Instant)>,
    },
}

impl NightlySchedule {
    /// Returns the schedule; none for a line that is not a cron line, which the configuration refuses.
    pub fn new(line: &str, zone: Tz) -> Option<Self> {
        Some(Self { cron: line.parse().ok()?, zone })
    }

    /// Returns what is due at `now`, when everything up to `last` was dealt with; none when the line never matches
    /// again.
    pub fn due(&self, last: Instant, now: Instant) -> Option<NightlyDue> {
        let mut dates: Vec<(String, Instant)> = Vec::new();
        // A date has one run, however often the line matches in it.
        let seen = self.local_date(last);
        let mut at = last;
        loop {
            let next = self.next_occurrence(at)?;
            if next > now {
                break;
            }
            let date = self.local_date(next);
            if date != seen && dates.last().is_none_or(|(known, _)| *known != date) {
                dates.push((date, next));
            }
            at = next;
            if dates.len() > MAX_MISSED {
                dates.remove(0);
            }
        }
        let Some((date, scheduled_at)) = dates.pop() else {
            return self.next_occurrence_on_other_date(at, &seen).map(NightlyDue::At);
        };
        Some(NightlyDue::Now { date, scheduled_at, missed: dates })
    }

    /// Returns the local date of an instant.
    pub fn local_date(&self, at: Instant) -> String {
        at.utc().with_timezone(&self.zone).format("%Y-%m-%d").to_string()
    }

    /// Returns the next time that the line matches, always later than `after`.
    fn next_occurrence(&self, after: Instant) -> Option<Instant> {
        let local = after.utc().with_timezone(&self.zone);
        let next = self.cron.find_next_occurrence(&local, false).ok()?;
        let next = Instant::new(next.to_utc())?;
        // Instants are whole seconds: an occurrence within the same second would be found again for ever.
        Some(if next > after { next } else { after.plus(Duration::seconds(1)) })
    }

    /// Returns the first occurrence on another date than `seen`.
    fn next_occurrence_on_other_date(&self, after: Instant, seen: &str) -> Option<Instant> {
        let mut at = after;
        for _ in 0..MAX_MISSED * 4 {
            at = self.next_occurrence(at)?;
            if self.local_date(at) != seen {
                return Some(at);
            }
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Instant {
        text.parse().unwrap()
    }

    fn check(line: &str, zone: Tz, last: &str, now: &str, expected: &NightlyDue) {
        let schedule = NightlySchedule::new(line, zone).unwrap();
        assert_eq!(schedule.due(at(last), at(now)).as_ref(), Some(expected), "{line} {zone} {last} {now}");
    }

    #[test]
    fn a_night_is_due_at_its_time_and_not_before() {
        let line = "15 3 * * *";
        check(
            line,
            Tz::UTC,
            "2026-11-16T08:00:00Z",
            "2026-11-17T03:14:59Z",
            &NightlyDue::At(at("2026-11-17T03:15:00Z")),
        );
        let due =
            NightlyDue::Now { date: "2026-11-17".into(), scheduled_at: at("2026-11-17T03:15:00Z"), missed: vec![] };
        check(line, Tz::UTC, "2026-11-16T08:00:00Z", "2026-11-17T03:15:00Z", &due);
        check(line, Tz::UTC, "2026-11-16T08:00:00Z", "2026-11-17T20:00:00Z", &due);
    }

    #[test]
    fn missed_nights_are_made_up_for_by_one() {
        let due = NightlyDue::Now {
            date: "2026-11-19".into(),
            scheduled_at: at("2026-11-19T03:15:00Z"),
            missed: vec![
                ("2026-11-17".into(), at("2026-11-17T03:15:00Z")),
                ("2026-11-18".into(), at("2026-11-18T03:15:00Z")),
            ],
        };
        check("15 3 * * *", Tz::UTC, "2026-11-16T03:15:00Z", "2026-11-19T12:00:00Z", &due);
    }

    #[test]
    fn a_line_that_matches_often_still_means_one_night_a_date() {
        let due =
            NightlyDue::Now { date: "2026-11-17".into(), scheduled_at: at("2026-11-17T00:00:00Z"), missed: vec![] };
        check("0 * * * *", Tz::UTC, "2026-11-16T05:00:00Z", "2026-11-17T06:30:00Z", &due);
        check(
            "0 * * * *",
            Tz::UTC,
            "2026-11-17T00:00:00Z",
            "2026-11-17T06:30:00Z",
            &NightlyDue::At(at("2026-11-18T00:00:00Z")),
        );
    }

    #[test]
    fn a_time_that_the_clocks_skip_or_repeat_has_one_night() {
        let zone = chrono_tz::Europe::Berlin;
        for (line, day) in [("30 2 * * *", "2026-03-29"), ("30 2 * * *", "2026-10-25"), ("15 3 * * *", "2026-03-29")] {
            let schedule = NightlySchedule::new(line, zone).unwrap();
            let mut last = at(&format!("{day}T00:00:00Z")).plus(Duration::hours(-12));
            let mut dates = Vec::new();
            let mut now = last;
            while now < at(&format!("{day}T20:00:00Z")) {
                now = now.plus(Duration::minutes(10));
                if let Some(NightlyDue::Now { date, scheduled_at, missed }) = schedule.due(last, now) {
                    assert!(missed.is_empty());
                    dates.push(date);
                    last = scheduled_at;
                }
            }
            assert_eq!(dates, [day], "{line}");
        }
    }
}
