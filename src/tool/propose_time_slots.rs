//! `propose_time_slots`: free times in the person's working hours and calendar, from the next working day on.

use chrono::{DateTime, Datelike, Days, Duration, NaiveDate, NaiveTime, TimeZone};
use chrono_tz::Tz;
use serde_json::json;

use super::{BusyTimes, Tool, ToolError, ToolInput, ToolOutcome};
use crate::{
    model::{Instant, Me},
    source::Busy,
};

/// How many times are proposed.
const SLOTS: usize = 3;
/// How many days ahead free times are looked for.
const DAYS_AHEAD: u64 = 21;
/// The length of a meeting whose length nobody named.
const DEFAULT_MINUTES: i64 = 30;
/// The field of an output which says that a calendar was asked.
pub(super) const CALENDAR: &str = "calendar";

/// Finds times for a meeting. The output is used by the steps that write the reply or the invitation.
pub(super) struct ProposeTimeSlots;

impl Tool for ProposeTimeSlots {
    fn name(&self) -> &'static str {
        "propose_time_slots"
    }

    fn busy_days_ahead(&self) -> Option<i64> {
        i64::try_from(DAYS_AHEAD + 1).ok()
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        let minutes = parse_minutes(input.task.context.meeting_duration.as_deref());
        let busy = match input.busy_times {
            BusyTimes::Known { busy } => busy.as_slice(),
            BusyTimes::None | BusyTimes::Silent { .. } => &[],
        };
        let slots = find_free_slots(input.me, input.now, minutes, busy);
        if slots.is_empty() {
            let full = if busy.is_empty() { "" } else { " and the calendar" };
            return Err(ToolError(format!("the working hours in [me]{full} leave no room for a meeting")));
        }
        let slots: Vec<_> = slots
            .iter()
            .map(|start| json!({ "start": start.to_rfc3339(), "end": (*start + Duration::minutes(minutes)).to_rfc3339() }))
            .collect();
        Ok(ToolOutcome::Output(match input.busy_times {
            BusyTimes::None => json!({ "minutes": minutes, "slots": slots }),
            BusyTimes::Known { .. } => json!({ "minutes": minutes, "slots": slots, CALENDAR: true }),
            BusyTimes::Silent { why } => json!({ "minutes": minutes, "slots": slots, "not_asked": why }),
        }))
    }
}

/// Returns the length of a meeting in minutes, from `30m` or `1h`; the default for anything else or out of range.
fn parse_minutes(duration: Option<&str>) -> i64 {
    let parse = |text: &str| {
        let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let number: i64 = number.parse().ok()?;
        match unit {
            "m" => Some(number),
            "h" => Some(number * 60),
            _ => None,
        }
    };
    duration.and_then(parse).filter(|minutes| (5..=480).contains(minutes)).unwrap_or(DEFAULT_MINUTES)
}

/// Returns one time per working day, alternating between mid-morning and early afternoon, or the next half hour that is
/// free.
fn find_free_slots(me: &Me, now: Instant, minutes: i64, busy: &[Busy]) -> Vec<DateTime<Tz>> {
    let today = now.utc().with_timezone(&me.time_zone).date_naive();
    let span = me.work_end - me.work_start;
    (1..=DAYS_AHEAD)
        .filter_map(|ahead| today.checked_add_days(Days::new(ahead)))
        .filter(|day| me.work_days.contains(&day.weekday()))
        .enumerate()
        .filter_map(|(nth, day)| {
            let offset = if nth % 2 == 0 { span / 8 } else { span * 5 / 8 };
            let preferred = round_to_half_hour(me.work_start.overflowing_add_signed(offset).0);
            let mut starts = half_hours(preferred, me.work_end).chain(half_hours(me.work_start, preferred));
            starts.find_map(|start| {
                let fits = start + Duration::minutes(minutes) <= me.work_end && start >= me.work_start;
                let start = fits.then(|| to_local_time(me.time_zone, day, start)).flatten()?;
                is_free(start, minutes, busy).then_some(start)
            })
        })
        .take(SLOTS)
        .collect()
}

/// Returns every half hour from one time up to another, which is left out.
fn half_hours(from: NaiveTime, to: NaiveTime) -> impl Iterator<Item = NaiveTime> {
    let steps = ((to - from).num_minutes() + 29) / 30;
    (0..steps).map(move |step| from + Duration::minutes(30 * step))
}

fn is_free(start: DateTime<Tz>, minutes: i64, busy: &[Busy]) -> bool {
    let (start, end) = (start.to_utc(), start.to_utc() + Duration::minutes(minutes));
    !busy.iter().any(|busy| busy.from.utc() < end && start < busy.to.utc())
}

fn round_to_half_hour(time: NaiveTime) -> NaiveTime {
    use chrono::Timelike;
    let minutes = (time.hour() * 60 + time.minute()).div_ceil(30) * 30;
    NaiveTime::from_hms_opt((minutes / 60).min(23), minutes % 60, 0).unwrap_or(time)
}

/// Returns the local time; none inside the hour that a clock change skips.
fn to_local_time(zone: Tz, day: NaiveDate, time: NaiveTime) -> Option<DateTime<Tz>> {
    zone.from_local_datetime(&day.and_time(time)).earliest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_bounded() {
        for (text, expected) in
            [(Some("30m"), 30), (Some("1h"), 60), (Some("99h"), 30), (Some("é"), 30), (Some(""), 30), (None, 30)]
        {
            assert_eq!(parse_minutes(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_busy_hour_is_not_proposed_and_its_day_still_is() {
        let (me, now): (Me, Instant) = (crate::tool::tests::me(), "2026-11-16T08:00:00Z".parse().unwrap());
        let free = find_free_slots(&me, now, 30, &[]);
        let first = Instant::new(free[0].to_utc()).unwrap();
        let busy = Busy { from: first.plus(Duration::minutes(-15)), to: first.plus(Duration::minutes(15)) };
        let around = find_free_slots(&me, now, 30, &[busy]);
        assert_eq!(around[0], free[0] + Duration::minutes(30));
        assert_eq!(around[1..], free[1..]);
        let day = Busy { from: first.plus(Duration::hours(-12)), to: first.plus(Duration::hours(12)) };
        assert_eq!(
            find_free_slots(&me, now, 30, &[day])[0].date_naive(),
            free[1].date_naive(),
            "a full day is passed over"
        );
        let always = Busy { from: now, to: now.plus(Duration::days(40)) };
        assert!(find_free_slots(&me, now, 30, &[always]).is_empty());
    }
}
