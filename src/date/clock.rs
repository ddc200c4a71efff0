//! Times of day: "5pm", "17:30", "half past four", "halb drei", "בעשר בבוקר".

use chrono::{Duration, NaiveDate, NaiveDateTime, NaiveTime};

use super::{
    expression::Parser,
    language::Tongue,
    term::{Half, Lead, PartOfDay, Term, Unit, WrittenClock},
};

/// How a time of day bounds what it is said of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    /// "at 3", "from 3 to 4": it begins then.
    At,
    /// "between 2 and 4": it lies anywhere in between.
    Between,
    /// "after 2pm", "ab 14 Uhr".
    After,
    /// "before 11".
    Before,
}

/// A time of day with what was said around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClockRange {
    pub(super) from: ClockTime,
    /// The end of "2-4pm".
    pub(super) until: Option<ClockTime>,
    /// The other choice of "at 2 or 4pm".
    pub(super) or: Option<ClockTime>,
    pub(super) edge: Edge,
}

impl ClockRange {
    fn at(from: ClockTime) -> Self {
        Self { from, until: None, or: None, edge: Edge::At }
    }
}

/// A time of day as it was said, perhaps of either half of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClockTime {
    clock: WrittenClock,
    half: Option<Half>,
    /// The end of the day, which is the beginning of the next.
    pub(super) is_midnight: bool,
}

impl ClockTime {
    fn new(hour: i64, minute: i64, half: Option<Half>) -> Option<Self> {
        let (hour, minute) = (u32::try_from(hour).ok()?, u32::try_from(minute).ok()?);
        Some(Self { clock: WrittenClock { hour, minute, second: 0, is_24_hour: hour > 12 }, half, is_midnight: false })
    }

    /// Whether nothing but a colon says that it is a time: "1:50" may be a scale.
    pub(super) fn is_bare(self) -> bool {
        !self.clock.is_24_hour && self.half.is_none() && !self.is_midnight
    }

    /// The times that may be meant, the likeliest first.
    fn candidates(self, part: Option<PartOfDay>, day_is_named: bool) -> Vec<NaiveTime> {
        let hour = self.clock.hour;
        let half = self.half.or(match part {
            Some(PartOfDay::Morning) => Some(Half::Before),
            Some(PartOfDay::Afternoon | PartOfDay::Evening) => Some(Half::After),
            None => None,
        });
        let hours = match half {
            Some(_) if hour > 12 => vec![hour],
            Some(Half::Before) => vec![hour % 12],
            Some(Half::After) => vec![hour % 12 + 12],
            None if self.clock.is_24_hour || hour >= 12 => vec![hour % 24],
            // Of a working day one to six are in the afternoon.
            None if day_is_named && (1..=6).contains(&hour) => vec![hour + 12],
            None if day_is_named || hour > LATEST_EVENING_HOUR => vec![hour],
            None => vec![hour, hour + 12],
        };
        let time = |hour: u32| NaiveTime::from_hms_opt(hour, self.clock.minute, self.clock.second);
        hours.into_iter().filter_map(time).collect()
    }

    /// The time on that day or, without one, when it comes next.
    pub(super) fn resolve(
        self,
        part: Option<PartOfDay>,
        day: Option<NaiveDate>,
        now: NaiveDateTime,
    ) -> Option<NaiveDateTime> {
        let evening_twelve = self.clock.hour == 12 && self.half.is_none() && part == Some(PartOfDay::Evening);
        if self.is_midnight || evening_twelve {
            return day.unwrap_or(now.date()).succ_opt().map(|day| day.and_time(NaiveTime::MIN));
        }
        let is_other_day = day.is_some_and(|day| day != now.date());
        let on = day.unwrap_or(now.date());
        let times: Vec<NaiveDateTime> =
            self.candidates(part, is_other_day).into_iter().map(|time| on.and_time(time)).collect();
        if is_other_day {
            return times.first().copied();
        }
        let coming = times.iter().find(|time| **time >= now).copied();
        if day.is_some() {
            return coming.or(times.last().copied());
        }
        coming.or_else(|| times.first()?.checked_add_signed(Duration::days(1)))
    }
}

impl ClockTime {
    /// The first time of this clock behind a moment, at most half a day later: the end of "from 10 to 2".
    pub(super) fn next_after(self, start: NaiveDateTime) -> Option<NaiveDateTime> {
        let times = self.candidates(None, false);
        let on_day = times.into_iter().map(|time| start.date().and_time(time)).find(|end| *end > start);
        on_day.or_else(|| self.is_midnight.then(|| start.date().succ_opt())?.map(|day| day.and_time(NaiveTime::MIN)))
    }

    /// "2 or 4pm", "2-4pm": the first borrows the half of the day that only the second says.
    fn borrow_half(self, second: Self) -> Self {
        let half = if self.clock.hour <= second.clock.hour || second.clock.hour == 12 { second.half } else { None };
        Self { half: self.half.or(half), ..self }
    }
}

fn names_day(term: Term) -> bool {
    matches!(term, Term::Day(_) | Term::MaybeDay(_) | Term::Today | Term::Tomorrow | Term::Overmorrow)
}

/// Said without its half of the day, nine is in the morning.
const LATEST_EVENING_HOUR: u32 = 8;

/// A time that starts at a term, and how many terms it took.
pub(super) fn parse_clock(parser: &Parser<'_>, at: usize) -> Option<(ClockRange, usize)> {
    if let Some(window) = parse_window(parser, at) {
        return Some(window);
    }
    // "between 08:00 and 12:00".
    if let (Some(Term::Between), Some((range, used))) = (parser.term(at), parse_clock_or_range(parser, at + 1)) {
        let until = range.until.or(range.or);
        let edge = if until.is_some() { Edge::Between } else { Edge::At };
        return Some((ClockRange { until, or: None, edge, ..range }, used + 1));
    }
    parse_clock_or_range(parser, at)
}

/// "Thursday after 3pm", "Freitag vor 11": a bound behind the day that it is said of.
pub(super) fn parse_bound(parser: &Parser<'_>, at: usize) -> Option<(ClockRange, usize)> {
    let edge = match parser.terms(at) {
        [Term::After | Term::Past, ..] => Edge::After,
        [Term::Before, ..] => Edge::Before,
        _ => return None,
    };
    let (from, used) = parse_one_clock(parser, at + 1).or_else(|| match parser.terms(at + 1) {
        [Term::Number(hour @ 1..=24), ..] if parser.closes(at + 1) => Some((ClockTime::new(*hour, 0, None)?, 1)),
        _ => None,
    })?;
    Some((ClockRange { edge, ..ClockRange::at(from) }, used + 1))
}

fn parse_clock_or_range(parser: &Parser<'_>, at: usize) -> Option<(ClockRange, usize)> {
    let (from, used) = parse_one_clock(parser, at)?;
    let opens = parser.lead(at).has_any(&[Lead::FROM]);
    let (until, is_choice) = match parser.terms(at + used) {
        [Term::Dash | Term::To, ..] => (Some(at + used + 1), false),
        [Term::And, ..] => (Some(at + used + 1), true),
        _ if opens && parser.lead(at + used).has_any(&[Lead::LIMIT]) => (Some(at + used), false),
        _ => (None, false),
    };
    let end = until.and_then(|until| Some((until, parse_one_clock(parser, until)?)));
    if let Some((until, (end, more))) = end {
        let from = from.borrow_half(end);
        let range = if is_choice {
            ClockRange { or: Some(end), ..ClockRange::at(from) }
        } else {
            ClockRange { until: Some(end), ..ClockRange::at(from) }
        };
        return Some((range, until + more - at));
    }
    let onwards = usize::from(parser.term(at + used) == Some(Term::Onwards));
    let edge = if opens || onwards > 0 { Edge::After } else { Edge::At };
    Some((ClockRange { edge, ..ClockRange::at(from) }, used + onwards))
}

/// "2-4pm", "from 10 to 11:30", "zwischen 9 und 11 Uhr": the first hour borrows what only the second says.
fn parse_window(parser: &Parser<'_>, at: usize) -> Option<(ClockRange, usize)> {
    let (from, [Term::Number(hour @ 0..=24), rest @ ..]) = (match parser.terms(at) {
        [Term::Between, rest @ ..] => (at + 1, rest),
        terms => (at, terms),
    }) else {
        return None;
    };
    let is_between = from > at;
    let opens = is_between || parser.lead(at).has_any(&[Lead::FROM]);
    let until = match rest {
        [Term::Dash, ..] => from + 2,
        [Term::And, ..] if is_between => from + 2,
        [Term::To, ..] if opens => from + 2,
        [Term::To, Term::Clock(_), ..] => from + 2,
        // "Tuesday 24 November, 10 to 12".
        [Term::To, ..] if follows_day(parser, at) => from + 2,
        // "at 2 or 4pm".
        [Term::And, ..] if parser.lead(at).has_any(&[Lead::AT]) => from + 2,
        _ if opens && parser.lead(from + 1).has_any(&[Lead::LIMIT]) => from + 1,
        _ => return None,
    };
    let (end, used) = parse_one_clock(parser, until).or_else(|| match parser.terms(until) {
        // "from 9 to 11 on Friday", and not "rate it from 0 to 10".
        [Term::Number(hour @ 0..=24), next, ..] if opens && names_day(*next) => {
            Some((ClockTime::new(*hour, 0, None)?, 1))
        }
        // "on Tuesday from 10 to 12", "Tuesday 10-12".
        [Term::Number(hour @ 1..=24), rest @ ..]
            if follows_day(parser, at) && !is_counted(rest) && (opens || parser.closes(until)) =>
        {
            Some((ClockTime::new(*hour, 0, None)?, 1))
        }
        _ => None,
    })?;
    // "11-1pm" starts in the morning.
    let time = ClockTime::new(*hour, 0, None)?.borrow_half(end);
    let is_24_hour = time.clock.is_24_hour || (end.clock.is_24_hour && time.half.is_none());
    let begin = ClockTime { clock: WrittenClock { is_24_hour, ..time.clock }, ..time };
    let is_choice = !is_between && matches!(rest, [Term::And, ..]);
    let range = if is_choice {
        ClockRange { or: Some(end), ..ClockRange::at(begin) }
    } else {
        let edge = if is_between { Edge::Between } else { Edge::At };
        ClockRange { until: Some(end), edge, ..ClockRange::at(begin) }
    };
    Some((range, until + used - at))
}

/// Whether the name or the date of a day stands before a word, perhaps with "from" in between.
fn follows_day(parser: &Parser<'_>, at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| parser.term(at));
    let back = if before(1) == Some(Term::Hence) { 2 } else { 1 };
    match before(back) {
        Some(Term::Number(1..=31)) => matches!(before(back + 1), Some(Term::Month(_))),
        Some(Term::Month(_)) => matches!(before(back + 1), Some(Term::Number(_) | Term::Ordinal(_))),
        Some(Term::Ordinal(_) | Term::Date(..) | Term::Dotted(..) | Term::Slashed(..)) => true,
        Some(term) => names_day(term),
        None => false,
    }
}

/// Whether what follows a number says that it counts something else than hours.
fn is_counted(rest: &[Term]) -> bool {
    matches!(rest, [Term::Unit(_) | Term::Month(_) | Term::PluralDay(_) | Term::Of, ..])
}

fn parse_one_clock(parser: &Parser<'_>, at: usize) -> Option<(ClockTime, usize)> {
    let (time, used) = parse_spoken_clock(parser, at).or_else(|| Some((plain_clock(parser, at)?, 1)))?;
    Some(with_half(parser, time, at, used))
}

/// A time that is one term.
fn plain_clock(parser: &Parser<'_>, at: usize) -> Option<ClockTime> {
    use Term::{Clock, Midnight, Noon, Number};
    match parser.terms(at) {
        [Clock(clock), ..] => Some(ClockTime { clock: *clock, half: None, is_midnight: false }),
        [Noon, ..] => ClockTime::new(12, 0, Some(Half::After)),
        [Midnight, ..] => Some(ClockTime { is_midnight: true, ..ClockTime::new(12, 0, Some(Half::Before))? }),
        [Term::Dotted(hour @ 0..=24, minute @ 0..=59), rest @ ..] if is_dotted_clock(parser, at, rest) => {
            ClockTime::new(i64::from(*hour), i64::from(*minute), None)
        }
        [Number(digits @ 100..=2359), rest @ ..] if digits % 100 < 60 && is_digits_clock(parser, at, rest) => {
            ClockTime::new(digits / 100, digits % 100, None)
        }
        [Number(hour @ 0..=24), rest @ ..] if is_hour(parser, at, rest) => ClockTime::new(*hour, 0, None),
        _ => None,
    }
}

/// "o'clock" and the half of the day behind a time belong to it.
fn with_half(parser: &Parser<'_>, time: ClockTime, at: usize, used: usize) -> (ClockTime, usize) {
    match parser.terms(at + used) {
        // Whoever writes "6:30 Uhr" counts to twenty-four.
        [Term::OClock, Term::Half(half), ..] => (ClockTime { half: Some(*half), ..time }, used + 2),
        [Term::OClock, ..] => {
            let counts = matches!(parser.terms(at), [Term::Clock(_) | Term::Dotted(..), ..]);
            let clock = WrittenClock { is_24_hour: time.clock.is_24_hour || counts, ..time.clock };
            // "12 Uhr mittags" says noon twice.
            let noon = usize::from(matches!(parser.terms(at + used + 1), [Term::Noon, ..]));
            (ClockTime { clock, ..time }, used + 1 + noon)
        }
        [Term::Half(half), ..] if time.clock.hour <= 12 => (ClockTime { half: Some(*half), ..time }, used + 1),
        _ => (time, used),
    }
}

/// "half past four", "quarter to nine", "fünf vor zwölf", "halb drei", "שלוש וחצי".
fn parse_spoken_clock(parser: &Parser<'_>, at: usize) -> Option<(ClockTime, usize)> {
    use Term::{After, Before, HalfOf, Number, Oh, Past, Quarter, ThreeQuarters, To, Unit as U};
    let german = parser.tongue == Tongue::German;
    let led = parser.alone || parser.lead(at).has_any(&[Lead::AT, Lead::LIMIT]);
    let whole = |hour: i64, minute: i64, used: usize| Some((ClockTime::new(hour, minute, None)?, used));
    match parser.terms(at) {
        [HalfOf, Past | After, ..] => parse_past(parser, at + 2, 30, 2),
        [Quarter, Past | After, ..] => parse_past(parser, at + 2, 15, 2),
        [Quarter, To | Before, ..] => parse_past(parser, at + 2, -15, 2),
        [Number(minutes @ 1..=59), U(Unit::Minute), Past | After, ..] => parse_past(parser, at + 3, *minutes, 3),
        [Number(minutes @ 1..=59), U(Unit::Minute), To | Before, ..] => parse_past(parser, at + 3, -minutes, 3),
        [Number(minutes @ 1..=59), Past | After, ..] if led || german => parse_past(parser, at + 2, *minutes, 2),
        // "grades 5 to 9" are no time.
        [Number(minutes @ 1..=59), To | Before, ..] if led || german => parse_past(parser, at + 2, -minutes, 2),
        [HalfOf, Number(hour @ 1..=12), ..] if german => whole((hour + 10) % 12 + 1, 30, 2),
        [ThreeQuarters, Number(hour @ 1..=12), ..] if german => whole((hour + 10) % 12 + 1, 45, 2),
        [HalfOf, Number(hour @ 1..=12), ..] if led => whole(*hour, 30, 2),
        [Number(hour @ 1..=12), HalfOf, ..] if led => whole(*hour, 30, 2),
        [Number(hour @ 1..=12), Quarter, ..] if led => whole(*hour, 15, 2),
        [Number(hour @ 1..=12), Oh | Number(0), Number(minute @ 1..=9), ..] if led => whole(*hour, *minute, 3),
        [Number(hour @ 1..=12), Number(minute @ 10..=59), ..] if led => whole(*hour, *minute, 2),
        _ => None,
    }
}

/// So many minutes after the hour at a term, or before it.
fn parse_past(parser: &Parser<'_>, at: usize, minutes: i64, used: usize) -> Option<(ClockTime, usize)> {
    let hour = match parser.terms(at) {
        [Term::Number(hour @ 0..=24), ..] => ClockTime::new(*hour, 0, None)?,
        _ => plain_clock(parser, at).filter(|time| time.clock.minute == 0)?,
    };
    let total = i64::from(hour.clock.hour) * 60 + minutes;
    let total = if total < 0 { total + 720 } else { total };
    // "A quarter to noon" is in the morning.
    let is_before_noon = hour.clock.hour == 12 && minutes < 0 && hour.half == Some(Half::After);
    let half = if is_before_noon { Some(Half::Before) } else { hour.half };
    let time = ClockTime::new(total / 60, total % 60, half)?;
    Some((time, used + 1))
}

/// A bare number is an hour when it is said to be one, or when something must be a time.
fn is_hour(parser: &Parser<'_>, at: usize, rest: &[Term]) -> bool {
    if let [_, Term::OClock | Term::Half(_) | Term::Onwards, ..] = parser.terms(at) {
        return true;
    }
    // "9 tomorrow", "3 in the morning", "8 Uhr" have neighbours; "at 5" has its lead.
    let parted = matches!(rest, [Term::In | Term::This, Term::Part(_), ..] | [Term::Part(_), ..]);
    let is_count = is_counted(rest);
    // "ein Vormittag" is any morning.
    if is_article(parser, at) {
        return false;
    }
    let led = parser.lead(at).has_any(&[Lead::AT]) && parser.closes(at);
    parser.alone && !is_count || parted || led && !is_count
}

/// Whether a number is spelled like the German article.
fn is_article(parser: &Parser<'_>, at: usize) -> bool {
    let text = parser.words.get(at).and_then(|word| parser.tokens.get(word.token)).map_or("", |token| token.text);
    parser.tongue == Tongue::German && text.starts_with("ein") && text != "eins" && text.len() <= "einem".len()
}

/// "1030" is half past ten where a time must stand.
fn is_digits_clock(parser: &Parser<'_>, at: usize, rest: &[Term]) -> bool {
    let is_half = matches!(rest, [Term::Half(_), ..]);
    let is_year = matches!(parser.terms(at), [Term::Number(1900..=2199), ..]);
    is_half || (!is_year && (parser.alone || (parser.lead(at).has_any(&[Lead::AT]) && parser.closes(at))))
}

fn is_dotted_clock(parser: &Parser<'_>, at: usize, rest: &[Term]) -> bool {
    matches!(rest, [Term::OClock | Term::Half(_), ..])
        || (parser.lead(at).has_any(&[Lead::AT]) && !parser.lead(at).has_any(&[Lead::ON]))
}
