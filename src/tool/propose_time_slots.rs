//! `propose_time_slots`: free places in the person's working hours, from the next working day on.

use chrono::{DateTime, Datelike, Days, Duration, NaiveDate, NaiveTime, TimeZone};
use chrono_tz::Tz;
use serde_json::json;

use super::{CannotDo, Outcome, Tool, ToolInput};
use crate::model::{Instant, Me};

const SLOTS: usize = 3;
/// Looks no further ahead than this for working days.
const DAYS_AHEAD: u64 = 21;
const DEFAULT_MINUTES: i64 = 30;

pub(super) struct ProposeTimeSlots;

impl Tool for ProposeTimeSlots {
    fn name(&self) -> &'static str {
        "propose_time_slots"
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<Outcome, CannotDo> {
        let minutes = minutes(input.task.context.meeting_duration.as_deref());
        let slots = slots(input.me, input.now, minutes);
        if slots.is_empty() {
            return Err(CannotDo("the working hours in [me] leave no room for a meeting".into()));
        }
        let slots: Vec<_> = slots
            .iter()
            .map(|start| json!({ "start": start.to_rfc3339(), "end": (*start + Duration::minutes(minutes)).to_rfc3339() }))
            .collect();
        Ok(Outcome::Output(json!({ "minutes": minutes, "slots": slots })))
    }
}

fn minutes(duration: Option<&str>) -> i64 {
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

/// One slot per working day: mid-morning, early afternoon, mid-morning …, where it fits.
fn slots(me: &Me, now: Instant, minutes: i64) -> Vec<DateTime<Tz>> {
    let today = now.utc().with_timezone(&me.time_zone).date_naive();
    let span = me.work_end - me.work_start;
    (1..=DAYS_AHEAD)
        .filter_map(|ahead| today.checked_add_days(Days::new(ahead)))
        .filter(|day| me.work_days.contains(&day.weekday()))
        .enumerate()
        .filter_map(|(nth, day)| {
            let offset = if nth % 2 == 0 { span / 8 } else { span * 5 / 8 };
            let start = round_to_half_hour(me.work_start.overflowing_add_signed(offset).0);
            let fits = start + Duration::minutes(minutes) <= me.work_end && start >= me.work_start;
            fits.then(|| local(me.time_zone, day, start)).flatten()
        })
        .take(SLOTS)
        .collect()
}

fn round_to_half_hour(time: NaiveTime) -> NaiveTime {
    use chrono::Timelike;
    let minutes = (time.hour() * 60 + time.minute()).div_ceil(30) * 30;
    NaiveTime::from_hms_opt((minutes / 60).min(23), minutes % 60, 0).unwrap_or(time)
}

/// None inside the hour a clock change skips.
fn local(zone: Tz, day: NaiveDate, time: NaiveTime) -> Option<DateTime<Tz>> {
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
            assert_eq!(minutes(text), expected, "{text:?}");
        }
    }
}
