//! What a named time means as a deadline: it lies ahead, a limit comes first, and a day ends with the working day.

use chrono::{DateTime, Datelike as _, Duration, NaiveDate, NaiveDateTime, NaiveTime, TimeZone as _, Weekday};
use chrono_tz::Tz;

use super::{
    ReferenceTime,
    resolve::{NamedTime, Role},
    span::Grain,
    term::PartOfDay,
};
use crate::model::Instant;

/// Nobody plans a mail's deadline further ahead.
const FARTHEST_DAYS: i64 = 730;
const END_OF_MORNING: u32 = 12;
const END_OF_EVENING: u32 = 21;

/// A deadline as precise as the mail was, and the instant it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueDate {
    pub deadline: String,
    pub at: Instant,
    /// Said with "by", "until", "due": a limit rather than just a day.
    pub is_limit: bool,
    /// A day or an hour that is not the day of something else; a week or month is vague.
    pub is_clear: bool,
    /// The sentence names no other day.
    pub is_only_day: bool,
}

impl DueDate {
    /// The one that tells more about when something is wanted, the first of equals.
    pub fn clearer(self, other: Self) -> Self {
        let rank = |due: &Self| (due.is_limit, due.is_clear);
        if rank(&other) > rank(&self) { other } else { self }
    }

    pub fn weekday(&self) -> Option<Weekday> {
        self.day().parse::<NaiveDate>().ok().map(|day| day.weekday())
    }

    pub fn day(&self) -> &str {
        self.deadline.split('T').next().unwrap_or_default()
    }
}

/// The deadline of the most telling of the times, the first of equals.
pub(super) fn choose(times: &[NamedTime], base: &ReferenceTime<'_>) -> Option<DueDate> {
    let dues: Vec<DueDate> = times.iter().filter_map(|time| resolve(time, base)).collect();
    let is_only_day = dues.windows(2).all(|pair| matches!(pair, [first, second] if first.day() == second.day()));
    dues.into_iter().reduce(DueDate::clearer).map(|due| DueDate { is_only_day, ..due })
}

fn resolve(time: &NamedTime, base: &ReferenceTime<'_>) -> Option<DueDate> {
    if time.span.is_just_past || matches!(time.role, Role::NotAhead | Role::Excluded) {
        return None;
    }
    let (moment, is_exact) = moment_of(time, base)?;
    let days = (moment.date() - base.today()).num_days();
    if !(0..=FARTHEST_DAYS).contains(&days) || (is_exact && moment < base.local) {
        return None;
    }
    let at: DateTime<Tz> = base.me.time_zone.from_local_datetime(&moment).earliest()?;
    let deadline = if is_exact { at.format("%Y-%m-%dT%H:%M:%S%:z") } else { at.format("%Y-%m-%d") }.to_string();
    let is_limit = matches!(time.role, Role::Limit | Role::Before) || time.span.is_end;
    let is_clear = matches!(time.span.grain, Grain::Moment | Grain::Day) && time.role != Role::OfOther;
    Some(DueDate { deadline, at: Instant::new(at.to_utc())?, is_limit, is_clear, is_only_day: true })
}

/// The moment meant, and whether it was said to the hour.
fn moment_of(time: &NamedTime, base: &ReferenceTime<'_>) -> Option<(NaiveDateTime, bool)> {
    let span = time.span;
    if span.grain == Grain::Moment {
        // An hour without a day is today's, if that is still to come.
        let is_today = time.has_day || time.is_midnight || span.start.date() == base.today();
        // Midnight ends the day that was named.
        let moment = if time.is_midnight { span.start - Duration::minutes(1) } else { span.start };
        return is_today.then_some((moment, true));
    }
    let day = last_day_meant(time, base)?;
    let hour = |hour: u32| NaiveTime::from_hms_opt(hour, 0, 0).map(|hour| (day.and_time(hour), true));
    match time.part.filter(|_| span.grain == Grain::Day) {
        Some(PartOfDay::Morning) => hour(END_OF_MORNING),
        Some(PartOfDay::Evening) => hour(END_OF_EVENING),
        Some(PartOfDay::Afternoon) | None => Some((day.and_time(base.me.work_end), false)),
    }
}

/// The last day on which something is in time.
fn last_day_meant(time: &NamedTime, base: &ReferenceTime<'_>) -> Option<NaiveDate> {
    let span = time.span;
    let first = span.start.date();
    let is_ahead_only = time.role == Role::Before && !span.is_end;
    match span.grain {
        Grain::Unsure => None,
        Grain::Moment | Grain::Day => Some(first),
        // "Before the weekend" is Friday, "by the weekend" is when it starts.
        _ if is_ahead_only => first.pred_opt(),
        Grain::Weekend if time.role == Role::Limit => Some(first),
        Grain::Weekend => span.last_day(),
        Grain::Week => base.end_of_week(first.max(base.today())).filter(|_| span.last_day() >= Some(base.today())),
        // "By March" may be its first day or its last.
        _ if time.role == Role::Limit && !span.is_end => None,
        Grain::Month => span.last_day(),
        Grain::Quarter | Grain::Year => span.last_day().filter(|_| span.is_end),
    }
}
