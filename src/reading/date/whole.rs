//! A text that is an expression of time and nothing else, as people type into a field or a chat.
//!
//! Every word must be understood, or the answer is none.

use chrono::{Datelike as _, Duration, NaiveDate, NaiveDateTime, NaiveTime, Weekday};

use super::{
    ReferenceTime, WeekdayOf as _, plus_days,
    span::{self, add_months},
    term::{Half, PartOfDay, Term, Unit, terms},
};

/// The start of what is named, by the clock on the wall.
pub(super) fn read(plain: &str, base: &ReferenceTime<'_>) -> Option<NaiveDateTime> {
    let mut terms = terms(plain)?;
    // A number alone may be anything; a month in Hebrew is a time during which, not a day.
    let hebrew = !plain.is_ascii();
    match terms.as_slice() {
        [Term::Number(1900..=2199)] => return None,
        [Term::Month(_)] | [Term::Month(_), Term::Number(1900..) | Term::Next | Term::This] if hebrew => return None,
        _ => {}
    }
    let part = take_part(&mut terms);
    if part.is_none()
        && let Some(day) = day(&terms, base)
    {
        return Some(day);
    }
    let alone = || time(&terms).and_then(|time| next(time, part, None, base));
    let split = |at: usize| {
        let (first, second) = terms.split_at_checked(at)?;
        let with = |day_terms: &[Term], time_terms: &[Term]| {
            // "14th April 15" may be a year.
            if matches!((day_terms.last(), time_terms), (Some(Term::Month(_)), [Term::Number(_)])) {
                return None;
            }
            let day = day(day_terms, base)?;
            next(time(time_terms)?, part, Some(day.date()), base)
        };
        with(first, second).or_else(|| with(second, first))
    };
    alone().or_else(|| (1..terms.len()).find_map(split))
}

/// "in the evening" belongs to the time, wherever it stands.
fn take_part(terms: &mut Vec<Term>) -> Option<PartOfDay> {
    let at = terms.iter().position(|term| matches!(term, Term::Part(_)))?;
    let Some(Term::Part(part)) = terms.get(at).copied() else { return None };
    let led = at.checked_sub(1).and_then(|at| terms.get(at));
    let from = if matches!(led, Some(Term::In | Term::This)) { at - 1 } else { at };
    terms.drain(from..=at);
    Some(part)
}

/// Hour, minute, second, and the half of the day when it was said.
type ClockTime = (u32, u32, u32, Option<Half>);

fn time(terms: &[Term]) -> Option<ClockTime> {
    use Term::{Clock, HalfOf, Midnight, Noon, Number, Oh, Past, Quarter, To};
    let (terms, half) = match terms {
        [rest @ .., Term::Half(half)] => (rest, Some(*half)),
        terms => (terms, None),
    };
    match terms {
        [Clock(hour, minute, second)] => Some((*hour, *minute, *second, half)),
        [Noon] => Some((12, 0, 0, Some(Half::After))),
        [Midnight] => Some((0, 0, 0, Some(Half::Before))),
        [Number(digits @ 100..=2359)] if digits % 100 < 60 => {
            Some((u32::try_from(digits / 100).ok()?, u32::try_from(digits % 100).ok()?, 0, half))
        }
        [Number(hour @ 0..=24)] => Some((u32::try_from(*hour).ok()?, 0, 0, half)),
        [HalfOf, Number(hour @ 1..=12)] => Some((u32::try_from(*hour).ok()?, 30, 0, half)),
        [Number(hour @ 1..=12), HalfOf] => Some((u32::try_from(*hour).ok()?, 30, 0, half)),
        [Number(hour @ 1..=12), Quarter] => Some((u32::try_from(*hour).ok()?, 15, 0, half)),
        [Number(hour @ 1..=12), Oh, Number(minute @ 1..=9)] | [Number(hour @ 1..=12), Number(minute @ 10..=59)] => {
            Some((u32::try_from(*hour).ok()?, u32::try_from(*minute).ok()?, 0, half))
        }
        [HalfOf, Past, rest @ ..] => past(rest, half, 30),
        [Quarter, Past, rest @ ..] => past(rest, half, 15),
        [Quarter, To, rest @ ..] => past(rest, half, -15),
        [Number(minutes @ 1..=59), Term::Unit(Unit::Minute), Past, rest @ ..]
        | [Number(minutes @ 1..=59), Past, rest @ ..] => past(rest, half, *minutes),
        [Number(minutes @ 1..=59), Term::Unit(Unit::Minute), To, rest @ ..]
        | [Number(minutes @ 1..=59), To, rest @ ..] => past(rest, half, -minutes),
        _ => None,
    }
}

fn past(hour: &[Term], half: Option<Half>, minutes: i64) -> Option<ClockTime> {
    let (hour, 0, 0, named) = time(hour)? else { return None };
    let total = i64::from(hour) * 60 + minutes;
    let total = if total < 0 { total + 720 } else { total };
    let before_noon = hour == 12 && total < 720 && named == Some(Half::After);
    let (hour, minute) = (u32::try_from(total / 60).ok()?, u32::try_from(total % 60).ok()?);
    Some((hour, minute, 0, if before_noon { Some(Half::Before) } else { half.or(named) }))
}

/// The time on that day or, without one, when it comes next.
fn next(
    time: ClockTime,
    part: Option<PartOfDay>,
    day: Option<NaiveDate>,
    base: &ReferenceTime<'_>,
) -> Option<NaiveDateTime> {
    let (hour, minute, second, half) = time;
    let at = |hour: u32| NaiveTime::from_hms_opt(hour, minute, second);
    let half = half.or(match part {
        Some(PartOfDay::Morning) => Some(Half::Before),
        Some(PartOfDay::Afternoon | PartOfDay::Evening) => Some(Half::After),
        None => None,
    });
    let midnight = hour == 12 && part == Some(PartOfDay::Evening);
    let hours = match half {
        _ if midnight => vec![0],
        Some(_) if hour > 12 => vec![hour],
        Some(Half::Before) => vec![hour % 12],
        Some(Half::After) => vec![hour % 12 + 12],
        None if (1..12).contains(&hour) => vec![hour, hour + 12],
        None => vec![hour % 24],
    };
    let today = day.unwrap_or_else(|| base.today());
    let today = if midnight && day.is_some() { today.succ_opt()? } else { today };
    let times: Vec<NaiveDateTime> =
        hours.iter().filter_map(|hour| at(*hour)).map(|time| today.and_time(time)).collect();
    if day.is_some_and(|day| day != base.today()) {
        return times.first().copied();
    }
    let coming = times.iter().find(|time| **time >= base.local).copied();
    if day.is_some() {
        coming.or(times.last().copied())
    } else {
        coming.or_else(|| Some(*times.first()? + Duration::days(1)))
    }
}

/// Everything that names a day or longer, and moments counted from now.
fn day(terms: &[Term], base: &ReferenceTime<'_>) -> Option<NaiveDateTime> {
    let start = |date: Option<NaiveDate>| date.map(|date| date.and_time(NaiveTime::MIN));
    let today = base.today();
    match terms {
        [Term::Now] => Some(base.local),
        [Term::Today] => start(Some(today)),
        [Term::Tomorrow] => start(today.succ_opt()),
        [Term::Overmorrow] | [Term::Unit(Unit::Day), Term::After, Term::Tomorrow] => start(plus_days(today, 2)),
        [Term::Yesterday] => start(today.pred_opt()),
        [Term::Unit(Unit::Day), Term::Before, Term::Yesterday] => start(plus_days(today, -2)),
        _ => start(weekday(terms, today).or_else(|| calendar(terms, base)).or_else(|| nth(terms, today)))
            .or_else(|| span::read(terms, base)),
    }
}

fn weekday(terms: &[Term], today: NaiveDate) -> Option<NaiveDate> {
    use Term::{After, Day, Last, Next, Of, This, Unit as U, Upcoming};
    let ahead =
        |day: Weekday| i64::from((day.num_days_from_monday() + 7 - today.weekday_of().num_days_from_monday()) % 7);
    let coming = |day: Weekday| if ahead(day) == 0 { 7 } else { ahead(day) };
    let monday = plus_days(today, -i64::from(today.weekday_of().num_days_from_monday()))?;
    let of_week = |day: Weekday, weeks: i64| plus_days(monday, weeks * 7 + i64::from(day.num_days_from_monday()));
    match terms {
        [Day(day)] | [This | Upcoming, Day(day)] | [Day(day), This | Upcoming] => plus_days(today, coming(*day)),
        [Next, Day(day)] | [Day(day), Next] => of_week(*day, 1).filter(|date| *date > today),
        [Last, Day(day)] | [Day(day), Last] => plus_days(today, ahead(*day) - 7),
        [Day(day), After, Next] => plus_days(today, coming(*day) + 7),
        [Day(day), Of, week, U(Unit::Week)]
        | [week, U(Unit::Week), Day(day)]
        | [Day(day), U(Unit::Week), week]
        | [Day(day), week, U(Unit::Week)] => of_week(*day, which(*week)?),
        _ => None,
    }
}

/// This one, the next or the last.
pub(super) fn which(term: Term) -> Option<i64> {
    match term {
        Term::This => Some(0),
        Term::Next | Term::Upcoming => Some(1),
        Term::Last => Some(-1),
        _ => None,
    }
}

/// A day of a month, perhaps with the name of the day, perhaps with a year.
fn calendar(terms: &[Term], base: &ReferenceTime<'_>) -> Option<NaiveDate> {
    use Term::{Date, Month, Number, Of, Ordinal, Short};
    let (terms, name) = match terms {
        [Term::Day(name), rest @ ..] if !rest.is_empty() => (rest, Some(*name)),
        terms => (terms, None),
    };
    let (terms, year) = match terms {
        [rest @ .., Number(year @ 1900..=2199)] if rest.len() >= 2 => (rest, i32::try_from(*year).ok()),
        terms => (terms, None),
    };
    let today = base.today();
    let (month, day) = match terms {
        [Date(year, month, day)] => return NaiveDate::from_ymd_opt(*year, *month, *day),
        [Short(month, day)] => (*month, i64::from(*day)),
        [Month(month), Number(day) | Ordinal(day)]
        | [Number(day) | Ordinal(day), Month(month)]
        | [Number(day) | Ordinal(day), Of, Month(month)]
        | [Ordinal(day), Term::Unit(Unit::Day), Of, Month(month)] => (*month, *day),
        [Ordinal(day)] => return of_month(*day, name, today),
        [Number(day)] if name.is_some() && (13..=31).contains(day) => return of_month(*day, name, today),
        [Number(day) | Ordinal(day), Of, which_one, Term::Unit(Unit::Month)] => {
            let month = add_months(today.with_day(1)?, which(*which_one)?)?;
            return month.with_day(u32::try_from(*day).ok()?);
        }
        _ => return None,
    };
    let on = |year: i32| NaiveDate::from_ymd_opt(year, month, u32::try_from(day).ok()?);
    let fits = |date: &NaiveDate| name.is_none_or(|name| date.weekday_of() == name);
    if let Some(year) = year {
        return on(year).filter(fits);
    }
    if let Some(found) = on(today.year()).filter(fits).filter(|date| name.is_some() || *date >= today) {
        return Some(found);
    }
    (today.year() + 1..=today.year() + 6).filter_map(on).find(fits)
}

/// "the 24th": of this month, or of the first one to come that fits the name of the day.
fn of_month(day: i64, name: Option<Weekday>, today: NaiveDate) -> Option<NaiveDate> {
    let day = u32::try_from(day).ok()?;
    let months = (0..36).filter_map(|months| add_months(today.with_day(1)?, months)?.with_day(day));
    months.filter(|date| *date >= today).find(|date| name.is_none_or(|name| date.weekday_of() == name))
}

/// "the first Tuesday of October", "last day of May", "the 3rd last week of 2018".
fn nth(terms: &[Term], today: NaiveDate) -> Option<NaiveDate> {
    use Term::{Day, In, Last, Of, Ordinal, Unit as U};
    let (head, rest) = terms.split_at_checked(terms.iter().position(|term| matches!(term, Of | In))?)?;
    let (first, end) = period(rest.get(1..)?, today)?;
    let days = (end - first).num_days();
    let from_start = |day: Weekday, nth: i64| {
        let ahead = i64::from((day.num_days_from_monday() + 7 - first.weekday_of().num_days_from_monday()) % 7);
        plus_days(first, ahead + (nth - 1) * 7)
    };
    let last_of = |day: Weekday| {
        let last = end.pred_opt()?;
        let back = i64::from((last.weekday_of().num_days_from_monday() + 7 - day.num_days_from_monday()) % 7);
        plus_days(last, -back)
    };
    let found = match head {
        [Ordinal(nth), Day(day)] => from_start(*day, *nth),
        [Last, Day(day)] | [Day(day), Last] => last_of(*day),
        [Ordinal(nth), U(Unit::Day)] => plus_days(first, nth - 1),
        [Last, U(Unit::Day)] => end.pred_opt(),
        [Ordinal(nth), Last, U(Unit::Day)] => plus_days(end, -nth),
        [Ordinal(nth), U(Unit::Week)] => from_start(Weekday::Mon, *nth),
        [Last, U(Unit::Week)] => plus_days(last_of(Weekday::Sun)?, -6),
        [Ordinal(nth), Last, U(Unit::Week)] => plus_days(last_of(Weekday::Sun)?, -6 - (nth - 1) * 7),
        _ => None,
    };
    found.filter(|date| (0..days).contains(&(*date - first).num_days()))
}

/// A month or a year, from its first day to the day after its last.
fn period(terms: &[Term], today: NaiveDate) -> Option<(NaiveDate, NaiveDate)> {
    let month = |first: NaiveDate| Some((first, add_months(first, 1)?));
    match terms {
        [Term::Month(number)] => {
            let this = NaiveDate::from_ymd_opt(today.year(), *number, 1)?;
            month(if *number < today.month() { add_months(this, 12)? } else { this })
        }
        [Term::Month(number), Term::Number(year @ 1900..=2199)] => {
            month(NaiveDate::from_ymd_opt(i32::try_from(*year).ok()?, *number, 1)?)
        }
        [which_one, Term::Unit(Unit::Month)] => month(add_months(today.with_day(1)?, which(*which_one)?)?),
        [Term::Number(year @ 1900..=2199)] => {
            let first = NaiveDate::from_ymd_opt(i32::try_from(*year).ok()?, 1, 1)?;
            Some((first, add_months(first, 12)?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{date::ReferenceTime, sentence::text::normalise};

    /// Now is Tuesday 16 June 2026, 10:30.
    fn check(text: &str, expected: Option<&str>) {
        let me = crate::reading::date::tests::me(chrono_tz::Tz::UTC);
        let base = ReferenceTime::new("2026-06-16T10:30:00Z".parse().unwrap(), &me);
        let found = read(&normalise(text), &base).map(|at| at.format("%Y-%m-%dT%H:%M").to_string());
        assert_eq!(found.as_deref(), expected, "{text}");
    }

    #[test]
    fn english() {
        for (text, expected) in [
            ("now", Some("2026-06-16T10:30")),
            ("tomorrow at 9", Some("2026-06-17T09:00")),
            ("9 tomorrow evening", Some("2026-06-17T21:00")),
            ("quarter past 3", Some("2026-06-16T15:15")),
            ("ten to noon", Some("2026-06-16T11:50")),
            ("8 am", Some("2026-06-17T08:00")),
            ("Friday at 17h30", Some("2026-06-19T17:30")),
            ("next Monday", Some("2026-06-22T00:00")),
            ("Wednesday of next week", Some("2026-06-24T00:00")),
            ("the first Monday of September", Some("2026-09-07T00:00")),
            ("last day of February 2028", Some("2028-02-29T00:00")),
            ("the third last week of 2026", Some("2026-12-07T00:00")),
            ("in three months", Some("2026-09-16T00:00")),
            ("two weeks ago", Some("2026-06-02T00:00")),
            ("in half an hour", Some("2026-06-16T11:00")),
            ("this quarter", Some("2026-04-01T00:00")),
            ("Fri, 26 June 2026 10:00", Some("2026-06-26T10:00")),
            ("the 24th", Some("2026-06-24T00:00")),
            ("1974", None),
            ("14th April 15", None),
            ("32 June", None),
            ("the closest Monday to June", None),
            ("fourty-two sheep", None),
            ("", None),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn hebrew() {
        for (text, expected) in [
            ("מחר בעשר", Some("2026-06-17T10:00")),
            ("ביום רביעי הבא", Some("2026-06-24T00:00")),
            ("יום שני", Some("2026-06-22T00:00")),
            ("ביום ראשון בשמונה בבוקר", Some("2026-06-21T08:00")),
            ("השלישי באוקטובר", Some("2026-10-03T00:00")),
            ("23 ביולי 2026", Some("2026-07-23T00:00")),
            ("בעוד שבועיים", Some("2026-06-30T00:00")),
            ("בעוד רבע שעה", Some("2026-06-16T10:45")),
            ("רבע ל-12", Some("2026-06-16T11:45")),
            ("אתמול", Some("2026-06-15T00:00")),
            ("ראשון האחרון של יולי", Some("2026-07-26T00:00")),
            ("אוקטובר", None),
            ("שלום לכולם", None),
        ] {
            check(text, expected);
        }
    }
}
