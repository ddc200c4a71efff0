//! Lengths of time counted from now, and weeks, months, quarters and years by name.

use chrono::{Duration, NaiveDate, NaiveTime, Timelike as _};

use super::{
    calendar::which_at,
    expression::Parser,
    language::Tongue,
    span::{Grain, Span, add_months, coming_month, month_of, numbered_week, plus_days, quarter_of, unit_after, which},
    term::{Lead, Term, Unit},
};

/// A longer count is no time that anybody plans.
const MOST_UNITS: i64 = 10_000;

/// "in two weeks", "within the next seven days", "3 days ago", "half an hour from now".
pub(super) fn parse_counted(parser: &Parser<'_>, at: usize) -> Option<(Span, usize)> {
    use Term::{Ago, Before, Hence, In, Next, Now, Today, Upcoming};
    match parser.terms(at) {
        [In, Next | Upcoming, ..] => {
            let (count, unit, used) = parse_length(parser, at + 2)?;
            Some((later(parser, count, unit)?, used + 2))
        }
        [In, ..] => {
            let (count, unit, used) = parse_length(parser, at + 1).filter(|_| is_counted_unit(parser, at + 1))?;
            Some((later(parser, count, unit)?, used + 1))
        }
        // "vor zwei Wochen" and "לפני שבועיים" are gone; "before two weeks" nobody says.
        [Before, ..] => {
            let (count, unit, used) = parse_length(parser, at + 1)?;
            Some((later(parser, -count, unit)?, used + 1))
        }
        _ => {
            let (count, unit, used) = parse_length(parser, at)?;
            match parser.terms(at + used) {
                [Ago, ..] => Some((later(parser, -count, unit)?, used + 1)),
                [Hence, Now, ..] if unit == Unit::Day => {
                    let at = parser.base.local.checked_add_signed(Duration::try_days(count)?)?;
                    Some((Span::moment(at), used + 2))
                }
                [Hence, Now | Today, ..] => Some((later(parser, count, unit)?, used + 2)),
                [Hence] => Some((later(parser, count, unit)?, used + 1)),
                _ => None,
            }
        }
    }
}

/// "In a week" and "תוך שבוע" are lengths; "in week five", "in the week of 18 May" and "in der Woche nach den Ferien" are none.
fn is_counted_unit(parser: &Parser<'_>, at: usize) -> bool {
    if parser.lead(at).has_any(&[Lead::THE]) && parser.tongue == Tongue::English && !parser.alone {
        return false;
    }
    let before = parser.words.get(at).and_then(|word| parser.tokens.get(word.token.checked_sub(1)?));
    let is_definite = before.is_some_and(|token| matches!(token.text, "der" | "dem" | "den"));
    if is_definite && parser.tongue == Tongue::German && !parser.alone {
        return false;
    }
    let is_bare = matches!(parser.term(at), Some(Term::Unit(_)));
    let token = |at: usize| parser.words.get(at).map(|word| word.token);
    let has_article = token(at) > token(at - 1).map(|token| token + 1);
    !is_bare || has_article || parser.alone || parser.tongue == Tongue::Hebrew
}

/// How many of which unit, and how many terms say so.
fn parse_length(parser: &Parser<'_>, at: usize) -> Option<(i64, Unit, usize)> {
    use Term::{And, Dotted, HalfOf, Number, Of, Quarter, Slashed, Unit as U};
    let (count, unit, used) = match parser.terms(at) {
        [U(unit), ..] => (1, *unit, 1),
        [Number(1), HalfOf, U(Unit::Hour), ..] => (30, Unit::Minute, 3),
        [Number(count), And, HalfOf, U(Unit::Hour), ..] => (count * 60 + 30, Unit::Minute, 4),
        [Number(count), U(unit), ..] => (*count, *unit, 2),
        [Number(count), Of, U(unit), ..] => (*count, *unit, 3),
        [HalfOf, U(Unit::Hour), ..] => (30, Unit::Minute, 2),
        [Quarter, U(Unit::Hour), ..] => (15, Unit::Minute, 2),
        [Quarter, Of, U(Unit::Hour), ..] => (15, Unit::Minute, 3),
        [Slashed(parts @ 1..=3, of @ (2 | 4)), U(Unit::Hour), ..] => (i64::from(parts * 60 / of), Unit::Minute, 2),
        [Dotted(hours, 5), U(Unit::Hour), ..] => (i64::from(*hours) * 60 + 30, Unit::Minute, 2),
        _ => return None,
    };
    (0..=MOST_UNITS).contains(&count).then_some((count, unit, used))
}

fn later(parser: &Parser<'_>, count: i64, unit: Unit) -> Option<Span> {
    let local = parser.base.local;
    let moment = |length: Option<Duration>| local.checked_add_signed(length?).map(Span::moment);
    match unit {
        Unit::Second => moment(Duration::try_seconds(count)),
        Unit::Minute => moment(Duration::try_minutes(count)),
        Unit::Hour => moment(Duration::try_hours(count)),
        // A number of days is not more exact than an hour.
        Unit::Day => {
            let start = local.checked_add_signed(Duration::try_days(count)?)?.with_minute(0)?.with_second(0)?;
            Some(Span { start, ..Span::day(start.date()) })
        }
        Unit::Week => plus_days(local.date(), count * 7).map(Span::day),
        Unit::Month => add_months(local.date(), count).map(Span::day),
        Unit::Quarter => add_months(local.date(), count * 3).map(Span::day),
        Unit::Year => {
            let first = add_months(local.date(), count * 12)?;
            Some(if parser.alone {
                Span::from(chrono::Datelike::with_day(&first, 1)?, Grain::Month)
            } else {
                Span::day(first)
            })
        }
    }
}

/// "next week", "the end of June", "Mitte der Woche", "KW 12", "October 2014".
pub(super) fn parse_named(parser: &Parser<'_>, at: usize) -> Option<(Span, usize)> {
    match parser.terms(at) {
        [Term::EndOf, ..] => {
            let (span, used) = parse_period_of(parser, at + 1)?;
            Some((span.end(), used + 1))
        }
        [Term::MiddleOf, ..] => {
            let (span, used) = parse_period_of(parser, at + 1)?;
            Some((middle_of(span)?, used + 1))
        }
        // Nobody knows when "early next week" ends.
        [Term::StartOf, ..] => {
            let (span, used) = parse_period_of(parser, at + 1)?;
            Some((Span { grain: Grain::Unsure, ..span }, used + 1))
        }
        _ => parse_plain_period(parser, at),
    }
}

/// What "the end of" may stand before: also "the week" and "June", which alone are no time to do something by.
fn parse_period_of(parser: &Parser<'_>, at: usize) -> Option<(Span, usize)> {
    use Term::{Month, Number, Unit as U};
    let today = parser.base.today();
    match parser.terms(at) {
        [U(unit @ (Unit::Week | Unit::Month | Unit::Quarter | Unit::Year)), ..] => {
            Some((unit_after(*unit, 0, today)?, 1))
        }
        [Term::Quarter, ..] => Some((unit_after(Unit::Quarter, 0, today)?, 1)),
        [Month(month), Number(year @ 1900..=2199), ..] => Some((month_of(i32::try_from(*year).ok()?, *month)?, 2)),
        [Month(month), ..] => Some((coming_month(*month, today)?, 1)),
        [Number(year @ 1900..=2199), ..] => Some((year_of(*year)?, 1)),
        _ => parse_plain_period(parser, at),
    }
}

fn parse_plain_period(parser: &Parser<'_>, at: usize) -> Option<(Span, usize)> {
    use Term::{In, Month, Next, Number, Ordinal, Past, Quarter, QuarterOf, This, Unit as U, Upcoming, Weekend};
    let today = parser.base.today();
    let saturday = |weeks: i64| {
        let saturday = plus_days(super::span::monday_of(today)?, 5 + weeks * 7)?;
        Some(Span::from(saturday, Grain::Weekend))
    };
    let count = |count: i64, unit: Unit, used: usize| Some((unit_after(unit, count, today)?, used));
    match parser.terms(at) {
        [Weekend, ..] if is_weekend_meant(parser, at) => Some((saturday(0)?, 1)),
        [one, Weekend, ..] if let Some(weeks) = which_at(parser, at) => {
            Some((saturday(if *one == Upcoming { 0 } else { weeks })?, 2))
        }
        [Term::WeekNumber, Number(number @ 1..=53) | Ordinal(number @ 1..=53), ..]
        | [Number(number @ 1..=53) | Ordinal(number @ 1..=53), Term::WeekNumber, ..] => {
            Some((numbered_week(*number, today)?, 2))
        }
        [U(Unit::Week), one, ..] if parser.tongue == Tongue::Hebrew => count(which(*one)?, Unit::Week, 2),
        // "השבוע" is this week, and "סוף החודש" the end of this month.
        [Term::This, U(unit), one, ..] if is_one_word(parser, at) && which(*one).is_some() => {
            count(which(*one)?, *unit, 3)
        }
        [Term::This, U(unit), ..] if is_one_word(parser, at) => count(0, *unit, 2),
        [_, U(unit), ..] if let Some(which) = which_at(parser, at).filter(|_| parser.alone || *unit != Unit::Day) => {
            count(which, *unit, 2)
        }
        [_, Quarter, ..] if let Some(which) = which_at(parser, at) => count(which, Unit::Quarter, 2),
        [Past, U(unit), ..] if parser.alone => count(-1, *unit, 2),
        [Upcoming | Next, Number(number @ 1..=50), U(unit), ..] | [Number(number @ 1..=50), Upcoming, U(unit), ..] => {
            count(*number, *unit, 3)
        }
        [Upcoming, Number(number @ 1..=50), Quarter, ..] | [Number(number @ 1..=50), Upcoming, Quarter, ..] => {
            count(*number, Unit::Quarter, 3)
        }
        [Ordinal(quarter @ 1..=4), Quarter, Number(year @ 1900..=2199), ..] => {
            Some((quarter_of(i32::try_from(*year).ok()?, *quarter)?, 3))
        }
        [Ordinal(quarter @ 1..=4), Quarter, ..] => Some((quarter_of(chrono::Datelike::year(&today), *quarter)?, 2)),
        [QuarterOf(year, quarter), ..] => Some((quarter_of(*year, *quarter)?, 1)),
        [This | Next, Month(month), ..] => Some((coming_month(*month, today)?, 2)),
        [Month(month), In, Number(years @ 1..=50), U(Unit::Year), ..] if parser.alone => {
            let year = chrono::Datelike::year(&today) + i32::try_from(*years).ok()?;
            Some((month_of(year, *month)?, 4))
        }
        [In, Month(_), ..] => parse_period_of(parser, at + 1).map(|(span, used)| (span, used + 1)),
        [In, Number(year @ 1900..=2199), ..] if parser.alone => Some((year_of(*year)?, 2)),
        [Month(_), ..] if is_month_meant(parser, at) => parse_period_of(parser, at),
        _ => None,
    }
}

/// "Over the weekend" is one, "a good weekend" is a wish.
fn is_weekend_meant(parser: &Parser<'_>, at: usize) -> bool {
    parser.alone || parser.lead(at).has_any(&[Lead::THE, Lead::ON, Lead::LIMIT, Lead::FROM])
}

fn is_one_word(parser: &Parser<'_>, at: usize) -> bool {
    let token = |at: usize| parser.words.get(at).map(|word| word.token);
    token(at) == token(at + 1)
}

/// A month alone counts after a word that leads to it. In Hebrew it is a time during which, and no day.
fn is_month_meant(parser: &Parser<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| parser.term(at));
    let led = before == Some(Term::Before) || parser.lead(at).has_any(&[Lead::LIMIT]);
    led || (parser.alone && parser.tongue != Tongue::Hebrew)
}
fn year_of(year: i64) -> Option<Span> {
    Some(Span::from(NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, 1, 1)?, Grain::Year))
}

fn middle_of(span: Span) -> Option<Span> {
    let first = span.start.date();
    match span.grain {
        Grain::Week => plus_days(first, 2).map(Span::day),
        Grain::Month => plus_days(first, 14).map(Span::day),
        _ => Some(Span { grain: Grain::Unsure, start: first.and_time(NaiveTime::MIN), ..span }),
    }
}
