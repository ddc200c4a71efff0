//! What an expression names: a moment, a day, a week, a month; and the arithmetic of such spans.

use chrono::{Datelike as _, Duration, Months, NaiveDate, NaiveDateTime, NaiveTime, Weekday};

use super::term::{Term, Unit};

/// How much time is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grain {
    Moment,
    Day,
    Weekend,
    Week,
    Month,
    Quarter,
    Year,
    /// Said, but nobody can tell when it is: "early next week", a date that has another name than its day.
    Unsure,
}

/// A stretch of the calendar, by the clock on the wall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: NaiveDateTime,
    pub(super) grain: Grain,
    /// Its end is meant: "the end of June".
    pub(super) is_end: bool,
    /// Said without a year, and its day of this year has just gone.
    pub(super) is_just_past: bool,
    /// The other day of "22-24 June" and "22 or 24 June".
    pub(super) second: Option<SecondDay>,
}

/// A second day of the same month that is named beside a first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecondDay {
    /// The last day of a range.
    Until(NaiveDate),
    /// Another day.
    Or(NaiveDate),
}

impl Span {
    pub(super) fn day(date: NaiveDate) -> Self {
        Self::from(date, Grain::Day)
    }

    pub(super) fn from(date: NaiveDate, grain: Grain) -> Self {
        Self { start: date.and_time(NaiveTime::MIN), grain, is_end: false, is_just_past: false, second: None }
    }

    pub(super) fn moment(start: NaiveDateTime) -> Self {
        Self { start, grain: Grain::Moment, is_end: false, is_just_past: false, second: None }
    }

    pub(super) fn end(self) -> Self {
        Self { is_end: true, ..self }
    }

    /// The last day of it.
    pub(super) fn last_day(self) -> Option<NaiveDate> {
        let first = self.start.date();
        match self.grain {
            Grain::Moment | Grain::Day | Grain::Unsure => Some(first),
            Grain::Weekend => first.succ_opt(),
            Grain::Week => plus_days(first, 6),
            Grain::Month => add_months(first, 1)?.pred_opt(),
            Grain::Quarter => add_months(first, 3)?.pred_opt(),
            Grain::Year => add_months(first, 12)?.pred_opt(),
        }
    }
}

/// The unit so many after the one that holds the day: this week, the next month.
pub(super) fn unit_after(unit: Unit, count: i64, today: NaiveDate) -> Option<Span> {
    let month = today.with_day(1)?;
    Some(match unit {
        Unit::Day => Span::day(plus_days(today, count)?),
        Unit::Week => Span::from(plus_days(monday_of(today)?, count * 7)?, Grain::Week),
        Unit::Month => Span::from(add_months(month, count)?, Grain::Month),
        Unit::Quarter => {
            let this = quarter_of(today.year(), i64::from((today.month() - 1) / 3) + 1)?;
            Span::from(add_months(this.start.date(), count * 3)?, Grain::Quarter)
        }
        Unit::Year => Span::from(add_months(month.with_month(1)?, count * 12)?, Grain::Year),
        Unit::Second | Unit::Minute | Unit::Hour => return None,
    })
}

pub(super) fn quarter_of(year: i32, quarter: i64) -> Option<Span> {
    let first = NaiveDate::from_ymd_opt(year, u32::try_from(quarter * 3 - 2).ok()?, 1)?;
    Some(Span::from(first, Grain::Quarter))
}

pub(super) fn month_of(year: i32, month: u32) -> Option<Span> {
    Some(Span::from(NaiveDate::from_ymd_opt(year, month, 1)?, Grain::Month))
}

/// A month gone for longer is meant for the next year.
const JUST_PAST_MONTHS: u32 = 5;

/// The month by that name that is now or comes next.
pub(super) fn coming_month(month: u32, today: NaiveDate) -> Option<Span> {
    if month >= today.month() {
        return month_of(today.year(), month);
    }
    let is_just_past = today.month() - month <= JUST_PAST_MONTHS;
    month_of(today.year() + 1, month).map(|span| Span { is_just_past, ..span })
}

/// The coming week of that number; one just gone is of this year.
pub(super) fn numbered_week(number: i64, today: NaiveDate) -> Option<Span> {
    let number = u32::try_from(number).ok()?;
    let monday = |year: i32| NaiveDate::from_isoywd_opt(year, number, Weekday::Mon);
    let year = today.iso_week().year();
    let this = monday(year)?;
    let week = if (today - this).num_days() > super::LONG_PAST_DAYS { monday(year + 1)? } else { this };
    Some(Span::from(week, Grain::Week))
}

/// This one, the next or the last.
pub(super) fn which(term: Term) -> Option<i64> {
    match term {
        Term::This => Some(0),
        Term::Next | Term::Upcoming => Some(1),
        Term::AfterNext => Some(2),
        Term::Last => Some(-1),
        _ => None,
    }
}

pub(super) fn monday_of(day: NaiveDate) -> Option<NaiveDate> {
    plus_days(day, -i64::from(day.weekday().num_days_from_monday()))
}

/// How many days after `from` the next day of that name comes, today included.
pub(super) fn days_until(day: Weekday, from: NaiveDate) -> i64 {
    i64::from((day.num_days_from_monday() + 7 - from.weekday().num_days_from_monday()) % 7)
}

pub(super) fn plus_days(day: NaiveDate, days: i64) -> Option<NaiveDate> {
    day.checked_add_signed(Duration::try_days(days)?)
}

pub(super) fn add_months(date: NaiveDate, months: i64) -> Option<NaiveDate> {
    let count = Months::new(u32::try_from(months.unsigned_abs()).ok()?);
    if months < 0 { date.checked_sub_months(count) } else { date.checked_add_months(count) }
}
