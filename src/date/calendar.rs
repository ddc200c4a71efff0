//! Days: names of days, calendar dates, and days counted within a month or a year.

use chrono::{Datelike as _, NaiveDate, Weekday};

use super::{
    LONG_PAST_DAYS,
    expression::Parser,
    language::Tongue,
    period::{parse_counted, parse_named},
    span::{
        Grain, SecondDay, Span, add_months, coming_month, days_until, monday_of, month_of, plus_days, unit_after, which,
    },
    term::{Lead, Term, Unit},
};

/// A day or longer that starts at a term, and how many terms it took.
pub(super) fn parse_day(parser: &Parser<'_>, at: usize) -> Option<(Span, usize)> {
    parse_relative_day(parser, at)
        .or_else(|| parse_nth(parser, at))
        .or_else(|| parse_weekday(parser, at))
        .or_else(|| parse_date(parser, at, None))
        .or_else(|| parse_counted(parser, at))
        .or_else(|| parse_named(parser, at))
}

fn parse_relative_day(parser: &Parser<'_>, at: usize) -> Option<(Span, usize)> {
    use Term::{After, Before, BeforeYesterday, Now, Overmorrow, Today, Tomorrow, Unit as U, Yesterday};
    let today = parser.today();
    let (days, used) = match parser.terms(at) {
        [Now, ..] if parser.alone => return Some((Span::moment(parser.base.local), 1)),
        [Today, ..] => (0, 1),
        [Tomorrow, ..] => (1, 1),
        [Overmorrow, ..] => (2, 1),
        [U(Unit::Day), After, Tomorrow, ..] => (2, 3),
        [Yesterday, ..] => (-1, 1),
        [BeforeYesterday, ..] => (-2, 1),
        [U(Unit::Day), Before, Yesterday, ..] => (-2, 3),
        _ => return None,
    };
    let (weeks, more) = parse_weeks_later(parser, at + used);
    Some((Span::day(plus_days(today, days + weeks * 7)?), used + more))
}

/// "Friday in a week", "heute in zwei Wochen".
fn parse_weeks_later(parser: &Parser<'_>, at: usize) -> (i64, usize) {
    match parser.terms(at) {
        [Term::In, Term::Number(weeks @ 1..=52), Term::Unit(Unit::Week), ..] => (*weeks, 3),
        [Term::In, Term::Unit(Unit::Week), ..] => (1, 2),
        _ => (0, 0),
    }
}

/// The day that a term names, when its neighbours leave no doubt that it is one.
pub(super) fn weekday_at(parser: &Parser<'_>, at: usize) -> Option<Weekday> {
    match parser.terms(at) {
        [Term::Day(day), ..] => Some(*day),
        [Term::MaybeDay(day), rest @ ..] => {
            let before = at.checked_sub(1).and_then(|at| parser.term(at));
            let led = parser.lead(at).has_any(&[Lead::ON, Lead::LIMIT])
                || before.is_some_and(|term| which(term).is_some())
                || (before == Some(Term::And) && at >= 2 && weekday_at_or_before(parser, at - 2));
            let dated = match rest {
                [Term::Date(..) | Term::Dotted(..) | Term::Slashed(..), ..]
                | [Term::Month(_), Term::Number(_) | Term::Ordinal(_), ..]
                | [Term::Number(_) | Term::Ordinal(_), Term::Month(_), ..] => true,
                [next, ..] => parser.tongue == Tongue::Hebrew && which(*next).is_some(),
                [] => false,
            };
            (parser.alone || led || dated).then_some(*day)
        }
        _ => None,
    }
}

/// This one, the next or the last of what follows directly: "I need this by Monday" does not mean "this Monday".
/// In Hebrew such a word stands behind.
pub(super) fn which_at(parser: &Parser<'_>, at: usize) -> Option<i64> {
    let is_apart = parser.lead(at + 1).has_any(&[Lead::LIMIT, Lead::ON, Lead::AT, Lead::FROM]);
    parser.term(at).and_then(which).filter(|_| !is_apart && parser.tongue != Tongue::Hebrew)
}

fn weekday_at_or_before(parser: &Parser<'_>, at: usize) -> bool {
    matches!(parser.term(at), Some(Term::Day(_) | Term::MaybeDay(_)))
}

fn parse_weekday(parser: &Parser<'_>, at: usize) -> Option<(Span, usize)> {
    use Term::{After, Ago, Hence, Next, Now, Number, Of, PluralDay, Today, Unit as U};
    let today = parser.today();
    let ahead = |day: Weekday| days_until(day, today);
    let coming = |day: Weekday| if ahead(day) == 0 { 7 } else { ahead(day) };
    let of_week = |day: Weekday, weeks: i64| {
        plus_days(monday_of(today)?, weeks * 7 + i64::from(day.num_days_from_monday())).map(Span::day)
    };
    let later = |days: i64| plus_days(today, days).map(Span::day);
    match parser.terms(at) {
        [Number(count @ 1..=20), PluralDay(day), Hence, Now | Today, ..] => {
            return Some((later(coming(*day) + (count - 1) * 7)?, 4));
        }
        [Number(count @ 1..=20), PluralDay(day), Ago, ..] => return Some((later(ahead(*day) - count * 7)?, 3)),
        [_, U(Unit::Week), ..] if let (Some(weeks), Some(day)) = (which_at(parser, at), weekday_at(parser, at + 2)) => {
            return Some((of_week(day, weeks)?, 3));
        }
        [one, ..] if let (Some(weeks), Some(day)) = (which_at(parser, at), weekday_at(parser, at + 1)) => {
            if let Some((span, used)) = parse_dated_weekday(parser, at + 1, day) {
                return Some((span, used + 1));
            }
            return Some((which_weekday(parser, *one, weeks, day)?, 2));
        }
        _ => {}
    }
    let day = weekday_at(parser, at)?;
    if let Some(found) = parse_dated_weekday(parser, at, day) {
        return Some(found);
    }
    let (weeks, more) = parse_weeks_later(parser, at + 1);
    if more > 0 {
        return Some((later(coming(day) + weeks * 7)?, 1 + more));
    }
    match parser.terms(at + 1) {
        [After, Next, ..] => Some((later(coming(day) + 7)?, 3)),
        [Of, one, U(Unit::Week), ..] if let Some(weeks) = which(*one) => Some((of_week(day, weeks)?, 4)),
        [one, U(Unit::Week), ..] | [U(Unit::Week), one, ..] if let Some(weeks) = which(*one) => {
            Some((of_week(day, weeks)?, 3))
        }
        [one, ..] if let Some(weeks) = which(*one).filter(|_| parser.alone || parser.tongue == Tongue::Hebrew) => {
            // "יום שישי הבא, 12.6": the date says which.
            let dated = parse_date(parser, at + 2, Some(day)).map(|(span, used)| (span, used + 2));
            dated.or_else(|| Some((which_weekday(parser, *one, weeks, day)?, 2)))
        }
        _ => Some((later(coming(day))?, 1)),
    }
}

fn which_weekday(parser: &Parser<'_>, one: Term, weeks: i64, day: Weekday) -> Option<Span> {
    let today = parser.today();
    let ahead = days_until(day, today);
    let coming = if ahead == 0 { 7 } else { ahead };
    let date = match one {
        Term::Last => plus_days(today, ahead - 7)?,
        Term::This | Term::Upcoming => plus_days(today, coming)?,
        _ => plus_days(monday_of(today)?, weeks * 7 + i64::from(day.num_days_from_monday()))?,
    };
    Some(Span::day(date))
}

/// "Thursday 12 March", "Friday 13th", "Mo., 16.3.", "יום חמישי ה-4".
fn parse_dated_weekday(parser: &Parser<'_>, at: usize, day: Weekday) -> Option<(Span, usize)> {
    if let Some((span, used)) = parse_date(parser, at + 1, Some(day)) {
        return Some((span, used + 1));
    }
    let number = match parser.terms(at + 1) {
        [Term::Ordinal(number), ..] => *number,
        [Term::Number(number), rest @ ..] => {
            let led = parser.lead(at + 1).has_any(&[Lead::THE]);
            let is_hour = parser.lead(at + 1).has_any(&[Lead::AT]);
            let plain = !is_hour && (13..=31).contains(number) && (parser.alone || parser.closes(at + 1));
            let is_count = matches!(rest, [Term::Half(_) | Term::OClock | Term::Unit(_), ..]);
            if (!led && !plain) || is_count {
                return None;
            }
            *number
        }
        _ => return None,
    };
    Some((Span::day(day_of_month(parser, number, Some(day))?), 2))
}

/// A day of a month in words or figures, perhaps with a year. Of a range it is the first day, with the second beside it.
fn parse_date(parser: &Parser<'_>, at: usize, name: Option<Weekday>) -> Option<(Span, usize)> {
    let (span, used) = parse_first_date(parser, at, name)?;
    Some((Span { second: second_day(parser, at, span.start.date()), ..span }, used))
}

/// The second day of "22-24 June", "22. bis 24. Juni", "22 or 24 June".
fn second_day(parser: &Parser<'_>, at: usize, first: NaiveDate) -> Option<SecondDay> {
    use Term::{And, Dash, Dotted, Month, Number, Ordinal};
    let on = |day: &i64| first.with_day(u32::try_from(*day).ok()?).filter(|second| *second > first);
    let is_between = at.checked_sub(1).and_then(|at| parser.term(at)) == Some(Term::Between);
    match parser.terms(at) {
        [Month(_), Number(_) | Ordinal(_), Dash, Number(day) | Ordinal(day), ..]
        | [Number(_) | Ordinal(_), Dash, Number(day) | Ordinal(day), Month(_), ..]
        | [Ordinal(_), Ordinal(day), Month(_), ..] => on(day).map(SecondDay::Until),
        [Number(_) | Ordinal(_), Dash, Dotted(day, _), ..] => on(&i64::from(*day)).map(SecondDay::Until),
        [Number(_) | Ordinal(_), And, Number(day) | Ordinal(day), Month(_), ..] if is_between => {
            on(day).map(SecondDay::Until)
        }
        [Number(_) | Ordinal(_), And, Number(day) | Ordinal(day), Month(_), ..] => on(day).map(SecondDay::Or),
        _ => None,
    }
}

fn parse_first_date(parser: &Parser<'_>, at: usize, name: Option<Weekday>) -> Option<(Span, usize)> {
    use Term::{And, Dash, Date, Month, Number, Of, OfMonth, Ordinal, Unit as U};
    let led = parser.alone || name.is_some() || parser.lead(at).has_any(&[Lead::ON, Lead::LIMIT, Lead::FROM, Lead::TO]);
    let (month, day, used) = match parser.terms(at) {
        [Date(year, month, day), ..] => {
            let date = NaiveDate::from_ymd_opt(*year, *month, *day);
            return Some((fitting(parser, date, name), 1));
        }
        [Number(first @ 1..=31) | Ordinal(first), Dash, Term::Dotted(_, month), ..] => (*month, *first, 3),
        [Term::Dotted(first, second), rest @ ..]
            if (led || is_written_date(parser, at)) && !is_dotted_hour(parser, at, rest) =>
        {
            return month_and_day(parser, at, *second, i64::from(*first), name, 1);
        }
        [Term::Slashed(first, second), ..] if led => {
            let month_first = *second > 12 || (parser.base.month_first && *first <= 12);
            let (day, month) = if month_first { (*second, *first) } else { (*first, *second) };
            (month, i64::from(day), 1)
        }
        [Month(month), Number(day) | Ordinal(day), Dash, Number(_) | Ordinal(_), ..] => (*month, *day, 4),
        [Month(month), Number(day @ 1..=31) | Ordinal(day), ..] => (*month, *day, 2),
        [Number(day) | Ordinal(day), Dash | And, Number(_) | Ordinal(_), Month(month), ..] => (*month, *day, 4),
        [Ordinal(day), Ordinal(_), Month(month), ..] if parser.lead(at + 1).has_any(&[Lead::LIMIT]) => {
            (*month, *day, 3)
        }
        [Number(day) | Ordinal(day), Month(month), ..] if is_month(parser, at + 1) => (*month, *day, 2),
        [Number(day) | Ordinal(day), Of, Month(month), ..] => (*month, *day, 3),
        [Ordinal(day), U(Unit::Day), Of, Month(month), ..] => (*month, *day, 4),
        [Number(day) | Ordinal(day), OfMonth, ..] => return Some((Span::day(day_of_month(parser, *day, name)?), 2)),
        [Number(day) | Ordinal(day), Of, one, U(Unit::Month), ..] => {
            return Some((day_of_which_month(parser, *day, *one)?, 4));
        }
        [Ordinal(day), U(Unit::Day), Of, one, U(Unit::Month), ..] => {
            return Some((day_of_which_month(parser, *day, *one)?, 5));
        }
        [Ordinal(day), ..] if name.is_none() && is_ordinal_day(parser, at) => {
            return Some((Span::day(day_of_month(parser, *day, None)?), 1));
        }
        _ => return None,
    };
    month_and_day(parser, at, month, day, name, used)
}

fn month_and_day(
    parser: &Parser<'_>,
    at: usize,
    month: u32,
    day: i64,
    name: Option<Weekday>,
    used: usize,
) -> Option<(Span, usize)> {
    let day = u32::try_from(day).ok()?;
    let year = match parser.terms(at + used) {
        [Term::Number(year @ 1900..=2199), ..] => Some(*year),
        // "14th April 15".
        [Term::Number(year @ 13..=49)] if parser.alone && used >= 2 => Some(year + 2000),
        _ => None,
    };
    if let Some(year) = year {
        let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day);
        return Some((fitting(parser, date, name), used + 1));
    }
    Some((coming_date(parser, month, day, name)?, used))
}

/// The first day of the week of a day, for people who work on Sundays a Sunday.
fn first_of_week(parser: &Parser<'_>, day: NaiveDate) -> Option<NaiveDate> {
    if parser.base.me.work_days.contains(&Weekday::Sun) {
        return plus_days(day, -i64::from(day.weekday().num_days_from_sunday()));
    }
    monday_of(day)
}

/// The day, unless its name or the calendar says that it is none.
fn fitting(parser: &Parser<'_>, date: Option<NaiveDate>, name: Option<Weekday>) -> Span {
    let fits = |date: &NaiveDate| name.is_none_or(|name| date.weekday() == name);
    date.filter(fits).map_or_else(|| unsure(parser), Span::day)
}

fn unsure(parser: &Parser<'_>) -> Span {
    Span::from(parser.today(), Grain::Unsure)
}

/// Without a year it is the coming one. With the name of its day, it is the year in which they fit.
fn coming_date(parser: &Parser<'_>, month: u32, day: u32, name: Option<Weekday>) -> Option<Span> {
    let today = parser.today();
    let on = |year: i32| NaiveDate::from_ymd_opt(year, month, day);
    let fits = |date: &NaiveDate| name.is_none_or(|name| date.weekday() == name);
    let this = on(today.year());
    let passed = this.map_or(0, |this| (today - this).num_days());
    if let Some(date) = this.filter(fits).filter(|_| passed <= 0 || (name.is_some() && passed <= LONG_PAST_DAYS)) {
        return Some(Span::day(date));
    }
    if name.is_some() {
        // A name that fits no date near is a slip of the pen, unless the text is nothing but the two.
        let years = if parser.alone { 1..=6 } else { 1..=i32::from(passed > LONG_PAST_DAYS) };
        let found = years.filter_map(|years| on(today.year() + years)).find(fits);
        return Some(found.map_or_else(|| unsure(parser), Span::day));
    }
    let next = (1..=4).find_map(|years| on(today.year() + years))?;
    let span = Span::day(next);
    Some(Span { is_just_past: this.is_some() && (1..=LONG_PAST_DAYS).contains(&passed), ..span })
}

/// "The 24th": of this month, or of the first one to come that fits the name of the day.
fn day_of_month(parser: &Parser<'_>, day: i64, name: Option<Weekday>) -> Option<NaiveDate> {
    let (day, today) = (u32::try_from(day).ok()?, parser.today());
    let months = (0..36).filter_map(|months| add_months(today.with_day(1)?, months)?.with_day(day));
    months.filter(|date| *date >= today).find(|date| name.is_none_or(|name| date.weekday() == name))
}

fn day_of_which_month(parser: &Parser<'_>, day: i64, one: Term) -> Option<Span> {
    let month = add_months(parser.today().with_day(1)?, which(one)?)?;
    month.with_day(u32::try_from(day).ok()?).map(Span::day)
}

/// "Mittwoch um 14.30 Uhr".
fn is_dotted_hour(parser: &Parser<'_>, at: usize, rest: &[Term]) -> bool {
    let lead = parser.lead(at);
    matches!(rest, [Term::OClock | Term::Half(_), ..]) || (lead.has_any(&[Lead::AT]) && !lead.has_any(&[Lead::ON]))
}

/// "16.3." with its second full stop is a date; "2.5" is a number.
fn is_written_date(parser: &Parser<'_>, at: usize) -> bool {
    let Some(word) = parser.words.get(at) else { return false };
    let stop = parser.tokens.get(word.token).is_some_and(|token| token.has_stop);
    stop && (parser.tongue == Tongue::German || word.token + 1 < parser.tokens.len())
        || matches!(parser.terms(at + 1), [Term::Dash, Term::Dotted(..), ..])
}

/// "The 3rd draft" counts drafts, "on the 3rd" is a day.
fn is_ordinal_day(parser: &Parser<'_>, at: usize) -> bool {
    let Some(text) = parser.words.get(at).and_then(|word| parser.tokens.get(word.token)).map(|token| token.text) else {
        return false;
    };
    let in_digits = text.contains(|c: char| c.is_ascii_digit());
    let strong = parser.lead(at).has_any(&[Lead::ON, Lead::LIMIT, Lead::FROM]);
    let led = strong || (parser.tongue == Tongue::English && parser.lead(at).has_any(&[Lead::THE]));
    let token = |at: usize| parser.words.get(at).map(|word| word.token);
    let is_direct = token(at + 1) == token(at).map(|token| token + 1);
    let is_counted = matches!(parser.term(at + 1), Some(Term::WeekNumber | Term::Unit(_) | Term::Quarter | Term::Of));
    let counts = is_direct && is_counted;
    (parser.alone && !counts) || (led && !counts && (in_digits || parser.tongue == Tongue::German) && parser.closes(at))
}

/// "May" is a month beside a number unless a verb is more likely: "the first 5 may go".
fn is_month(parser: &Parser<'_>, at: usize) -> bool {
    let is_may = parser.words.get(at).and_then(|word| parser.tokens.get(word.token)).is_some_and(|t| t.text == "may");
    let before = at.saturating_sub(1);
    !is_may
        || parser.alone
        || parser.closes(at)
        || parser.lead(before).has_any(&[Lead::ON, Lead::LIMIT, Lead::THE, Lead::FROM])
        || matches!(parser.terms(at + 1), [Term::Number(1900..=2199), ..])
        || matches!(parser.term(before), Some(Term::Ordinal(_)))
}

/// "The first Tuesday of October", "last day of May", "the 3rd last week of 2018", "the week of October 7th".
fn parse_nth(parser: &Parser<'_>, at: usize) -> Option<(Span, usize)> {
    use Term::{In, Last, Of, Ordinal, Unit as U};
    if let [U(Unit::Week), Of, ..] = parser.terms(at) {
        let (day, used) = parse_date(parser, at + 2, None).or_else(|| match parser.terms(at + 2) {
            // "בשבוע של ה-22".
            [Term::Number(day @ 1..=31), ..] if parser.lead(at + 2).has_any(&[Lead::THE]) => {
                Some((Span::day(day_of_month(parser, *day, None)?), 1))
            }
            _ => None,
        })?;
        return Some((Span::from(first_of_week(parser, day.start.date())?, Grain::Week), used + 2));
    }
    let head =
        parser.terms(at).get(..4.min(parser.terms(at).len()))?.iter().position(|term| matches!(term, Of | In))?;
    let (first, end, used) = parse_period(parser, at + head + 1)?;
    let from_start = |day: Weekday, nth: i64| plus_days(first, days_until(day, first) + (nth - 1) * 7);
    let last_of = |day: Weekday| {
        let last = end.pred_opt()?;
        plus_days(last, days_until(day, last) - if last.weekday() == day { 0 } else { 7 })
    };
    let weekday = |at: usize| match parser.term(at) {
        Some(Term::Day(day) | Term::MaybeDay(day)) => Some(day),
        _ => None,
    };
    let found = match parser.terms(at).get(..head)? {
        [Ordinal(nth), _] if let Some(day) = weekday(at + 1) => from_start(day, *nth),
        [Last, _] if let Some(day) = weekday(at + 1) => last_of(day),
        [_, Last] if let Some(day) = weekday(at) => last_of(day),
        [Ordinal(nth), U(Unit::Day)] => plus_days(first, nth - 1),
        [Last, U(Unit::Day)] => end.pred_opt(),
        [Ordinal(nth), Last, U(Unit::Day)] => plus_days(end, -nth),
        [Ordinal(nth), U(Unit::Week)] => from_start(Weekday::Mon, *nth),
        [Last, U(Unit::Week)] => plus_days(last_of(Weekday::Sun)?, -6),
        [Ordinal(nth), Last, U(Unit::Week)] => plus_days(last_of(Weekday::Sun)?, -6 - (nth - 1) * 7),
        _ => None,
    }?;
    let grain = if matches!(parser.term(at + head - 1), Some(U(Unit::Week))) { Grain::Week } else { Grain::Day };
    (first <= found && found < end).then_some((Span::from(found, grain), head + 1 + used))
}

/// A month or a year, from its first day to the day after its last, and how many terms it took.
fn parse_period(parser: &Parser<'_>, at: usize) -> Option<(NaiveDate, NaiveDate, usize)> {
    let today = parser.today();
    let (span, used) = match parser.terms(at) {
        [Term::Month(month), Term::Number(year @ 1900..=2199), ..] => {
            (month_of(i32::try_from(*year).ok()?, *month)?, 2)
        }
        [Term::Month(month), ..] => (coming_month(*month, today)?, 1),
        [one, Term::Unit(Unit::Month), ..] => (unit_after(Unit::Month, which(*one)?, today)?, 2),
        [Term::Number(year @ 1900..=2199), ..] => {
            let first = NaiveDate::from_ymd_opt(i32::try_from(*year).ok()?, 1, 1)?;
            (Span::from(first, Grain::Year), 1)
        }
        _ => return None,
    };
    Some((span.start.date(), span.last_day()?.succ_opt()?, used))
}
