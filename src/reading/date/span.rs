//! Lengths of time counted from now, and weeks, months, quarters and years by name.

use chrono::{Datelike as _, Duration, Months, NaiveDate, NaiveDateTime, NaiveTime, Timelike as _};

use super::{
    ReferenceTime, WeekdayOf as _, plus_days,
    term::{Term, Unit},
    whole::which,
};

pub(super) fn read(terms: &[Term], base: &ReferenceTime<'_>) -> Option<NaiveDateTime> {
    counted(terms, base).or_else(|| named(terms, base.today()).map(|date| date.and_time(NaiveTime::MIN)))
}

/// "in two weeks", "3 days ago", "half an hour from now".
fn counted(terms: &[Term], base: &ReferenceTime<'_>) -> Option<NaiveDateTime> {
    use Term::{Ago, Before, Hence, In, Now};
    match terms {
        [In, length @ ..] | [length @ .., Hence] => after(length, 1, base),
        [length @ .., Hence, Now] => {
            let days = match length {
                [Term::Unit(Unit::Day)] => 1,
                [Term::Number(count), Term::Unit(Unit::Day)] => *count,
                _ => return after(length, 1, base),
            };
            base.local.checked_add_signed(Duration::try_days(days)?)
        }
        [length @ .., Ago] | [Before, length @ ..] => after(length, -1, base),
        _ => None,
    }
}

fn after(length: &[Term], sign: i64, base: &ReferenceTime<'_>) -> Option<NaiveDateTime> {
    use Term::{Fraction, HalfOf, Number, Of, Quarter, Unit as U};
    let (count, unit) = match length {
        [U(unit)] => (1, *unit),
        [Number(count), U(unit)] | [Number(count), Of, U(unit)] => (*count, *unit),
        [HalfOf, U(Unit::Hour)] => (30, Unit::Minute),
        [Quarter, U(Unit::Hour)] | [Quarter, Of, U(Unit::Hour)] => (15, Unit::Minute),
        [Fraction(minutes), U(Unit::Hour)] => (*minutes, Unit::Minute),
        _ => return None,
    };
    if !(0..=10_000).contains(&count) {
        return None;
    }
    let local = base.local;
    let count = count * sign;
    let day = |date: NaiveDate| date.and_time(NaiveTime::MIN);
    match unit {
        Unit::Second => local.checked_add_signed(Duration::try_seconds(count)?),
        Unit::Minute => local.checked_add_signed(Duration::try_minutes(count)?),
        Unit::Hour => local.checked_add_signed(Duration::try_hours(count)?),
        // A number of days is not more exact than an hour.
        Unit::Day => local.checked_add_signed(Duration::try_days(count)?)?.with_minute(0)?.with_second(0),
        Unit::Week => plus_days(local.date(), count * 7).map(day),
        Unit::Month => add_months(local.date(), count).map(day),
        Unit::Quarter => add_months(local.date(), count * 3).map(day),
        Unit::Year => add_months(local.date(), count * 12)?.with_day(1).map(day),
    }
}

/// "next week", "this quarter", "March", "October 2014", "two upcoming months": the first day.
fn named(terms: &[Term], today: NaiveDate) -> Option<NaiveDate> {
    use Term::{In, Last, Month, Next, Number, Ordinal, Past, Quarter, This, Unit as U, Upcoming};
    match terms {
        [In, rest @ (Month(_) | Number(1900..=2199)), more @ ..] => {
            let whole: Vec<Term> = std::iter::once(*rest).chain(more.iter().copied()).collect();
            named(&whole, today)
        }
        [Past, U(unit)] => first(*unit, -1, today),
        [one @ (This | Next | Last | Upcoming), U(unit)] => first(*unit, which(*one)?, today),
        [one @ (This | Next | Last | Upcoming), Quarter] => first(Unit::Quarter, which(*one)?, today),
        // Months and years by their Hebrew names are no days, and a day is what is asked for.
        [U(Unit::Week), one @ (This | Next | Last | Upcoming)] => first(Unit::Week, which(*one)?, today),
        [Upcoming, Number(count @ 1..=50), U(unit)] | [Number(count @ 1..=50), Upcoming, U(unit)] => {
            first(*unit, *count, today)
        }
        [Upcoming, Number(count @ 1..=50), Quarter] | [Number(count @ 1..=50), Upcoming, Quarter] => {
            first(Unit::Quarter, *count, today)
        }
        [Ordinal(quarter @ 1..=4), Quarter] => quarter_of(today.year(), *quarter),
        [Ordinal(quarter @ 1..=4), Quarter, Number(year @ 1900..=2199)] => {
            quarter_of(i32::try_from(*year).ok()?, *quarter)
        }
        [Number(year @ 1900..=2199)] => NaiveDate::from_ymd_opt(i32::try_from(*year).ok()?, 1, 1),
        [Month(month)] | [This | Next, Month(month)] => {
            let this = NaiveDate::from_ymd_opt(today.year(), *month, 1)?;
            if *month < today.month() { add_months(this, 12) } else { Some(this) }
        }
        [Month(month), Number(year @ 1900..=2199)] => NaiveDate::from_ymd_opt(i32::try_from(*year).ok()?, *month, 1),
        [Month(month), In, Number(years @ 1..=50), U(Unit::Year)] => {
            NaiveDate::from_ymd_opt(today.year() + i32::try_from(*years).ok()?, *month, 1)
        }
        _ => None,
    }
}

fn quarter_of(year: i32, quarter: i64) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(year, u32::try_from(quarter * 3 - 2).ok()?, 1)
}

/// The first day of the unit so many after this one.
fn first(unit: Unit, count: i64, today: NaiveDate) -> Option<NaiveDate> {
    let month = today.with_day(1)?;
    match unit {
        Unit::Day => plus_days(today, count),
        Unit::Week => plus_days(today, count * 7 - i64::from(today.weekday_of().num_days_from_monday())),
        Unit::Month => add_months(month, count),
        Unit::Quarter => add_months(quarter_of(today.year(), i64::from((today.month() - 1) / 3) + 1)?, count * 3),
        Unit::Year => add_months(month.with_month(1)?, count * 12),
        Unit::Second | Unit::Minute | Unit::Hour => None,
    }
}

pub(super) fn add_months(date: NaiveDate, months: i64) -> Option<NaiveDate> {
    let count = Months::new(u32::try_from(months.unsigned_abs()).ok()?);
    if months < 0 { date.checked_sub_months(count) } else { date.checked_add_months(count) }
}
