//! What one sentence says about the time of a meeting: days, hours and zones, before they are put together.

use chrono::{Days, Duration, NaiveDate, NaiveDateTime, NaiveTime};

use super::{
    ReferenceTime,
    clock::{ClockRange, ClockTime, Edge},
    expression::{Expression, Parser},
    language::{Tongue, fold},
    resolve::Role,
    span::{Grain, SecondDay, Span, add_months, plus_days},
    term::{Lead, PartOfDay, Term, Unit},
    time_word::may_name_a_time,
    token::tokenise,
    zone::Zone,
};
use crate::model::NamedZone;

/// "From the 18th on" means so many days.
const DAYS_FROM: i64 = 11;
/// A part of the day stands so many words from its days: "next week, preferably in the morning".
const PART_REACH: usize = 4;
const NOON: u32 = 12;
const EVENING: u32 = 18;
const END_OF_EVENING: u32 = 21;
/// So long lies between a bound that is later than the working day and the end of the window.
const HOURS_BEHIND_BOUND: i64 = 3;

/// Days and hours that belong together.
#[derive(Debug, Clone)]
pub(super) struct Mention {
    pub(super) scope: Option<DayScope>,
    pub(super) hours: Hours,
    pub(super) zone: Option<NamedZone>,
    /// "Any day but Wednesday".
    pub(super) is_excluded: bool,
}

/// From a first day to a last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DayScope {
    pub(super) first: NaiveDate,
    pub(super) last: NaiveDate,
    /// Only the name of a day was said.
    pub(super) is_bare_weekday: bool,
}

/// What was said about the hours of a day.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hours {
    clock: Option<ClockRange>,
    part: Option<PartOfDay>,
    zone: Option<Zone>,
}

impl Mention {
    pub(super) fn of_days(scope: Option<DayScope>) -> Self {
        Self { scope, hours: Hours::default(), zone: None, is_excluded: false }
    }

    pub(super) fn take_hours_of(&mut self, other: &Self) {
        self.hours = other.hours;
        self.zone.clone_from(&other.zone);
    }
}

impl Hours {
    /// Whether a meeting begins at a named hour.
    pub(super) fn is_exact(&self) -> bool {
        self.clock.is_some_and(|range| range.edge == Edge::At)
    }

    pub(super) const fn is_clock(&self) -> bool {
        self.clock.is_some()
    }

    pub(super) const fn is_whole_day(&self) -> bool {
        self.clock.is_none() && self.part.is_none()
    }

    /// The beginnings on a day, with their ends, by the clock on the person's wall.
    pub(super) fn starts_on(
        &self,
        day: NaiveDate,
        base: &ReferenceTime<'_>,
    ) -> Vec<(NaiveDateTime, Option<NaiveDateTime>)> {
        self.starts(Some(day), base)
    }

    /// The next beginnings of hours that were said without a day.
    pub(super) fn next_starts(&self, base: &ReferenceTime<'_>) -> Vec<(NaiveDateTime, Option<NaiveDateTime>)> {
        self.starts(None, base)
    }

    fn starts(&self, day: Option<NaiveDate>, base: &ReferenceTime<'_>) -> Vec<(NaiveDateTime, Option<NaiveDateTime>)> {
        let Some(range) = self.clock else { return Vec::new() };
        let first = self.resolve(range.from, day, base).map(|(there, here)| {
            let end = range.until.and_then(|until| until.next_after(there)).and_then(|end| self.convert(end, base));
            (here, end)
        });
        let second = range.or.and_then(|or| self.resolve(or, day, base)).map(|(_, here)| (here, None));
        first.into_iter().chain(second).collect()
    }

    /// The time on the clock of the zone, and on the person's own.
    fn resolve(
        &self,
        time: ClockTime,
        day: Option<NaiveDate>,
        base: &ReferenceTime<'_>,
    ) -> Option<(NaiveDateTime, NaiveDateTime)> {
        let own = base.me.time_zone;
        let now = self.zone.map_or(Some(base.local), |zone| zone.convert_back(base.local, own))?;
        let there = time.resolve(self.part, day, now)?;
        Some((there, self.convert(there, base)?))
    }

    fn convert(&self, there: NaiveDateTime, base: &ReferenceTime<'_>) -> Option<NaiveDateTime> {
        self.zone.map_or(Some(there), |zone| zone.convert(there, base.me.time_zone))
    }

    /// The window on a day, by the clock on the person's wall.
    pub(super) fn window_on(&self, day: NaiveDate, base: &ReferenceTime<'_>) -> Option<(NaiveDateTime, NaiveDateTime)> {
        let (opens, closes) = (day.and_time(base.me.work_start), day.and_time(base.me.work_end));
        let Some(range) = self.clock else {
            return Some(match self.part {
                None => (opens, closes),
                Some(PartOfDay::Morning) => (opens, day.and_time(clock(NOON))),
                Some(PartOfDay::Afternoon) => (day.and_time(clock(NOON)), closes.max(day.and_time(clock(EVENING - 1)))),
                Some(PartOfDay::Evening) => (day.and_time(clock(EVENING)), day.and_time(clock(END_OF_EVENING))),
            });
        };
        let (there, from) = self.resolve(range.from, Some(day), base)?;
        let until = range.until.and_then(|until| until.next_after(there)).and_then(|end| self.convert(end, base));
        Some(match (range.edge, until) {
            (Edge::Before, _) if opens < from => (opens, from),
            (Edge::Before, _) => (from.checked_sub_signed(Duration::hours(HOURS_BEHIND_BOUND))?, from),
            (_, Some(until)) => (from, until),
            (_, None) if from < closes => (from, closes),
            (_, None) => (from, from.checked_add_signed(Duration::hours(HOURS_BEHIND_BOUND))?),
        })
    }
}

/// Returns the times that a sentence in its plain form names for a meeting, in their order.
pub(super) fn read_mentions(plain: &str, base: &ReferenceTime<'_>) -> Vec<Mention> {
    if !may_name_a_time(plain) {
        return Vec::new();
    }
    let folded = fold(plain);
    let tokens = tokenise(&folded);
    let parser = Parser::new(&tokens, base, false);
    let expressions = parser.find_expressions();
    let mut mentions: Vec<Mention> = Vec::new();
    let mut excluded_until = None;
    for found in &expressions {
        let role = parser.role_of(found.from, found.to);
        let is_joined = excluded_until.is_some_and(|to| to + 1 == found.from)
            && found.from.checked_sub(1).and_then(|at| parser.term(at)) == Some(Term::And)
            && found.pieces.clock.is_none();
        let is_excluded = role == Role::Excluded || is_joined;
        excluded_until = is_excluded.then_some(found.to);
        mentions.extend(mention_of(&parser, found, role, is_excluded));
    }
    mentions
        .extend(find_lone_part(&parser, &expressions).filter(|_| mentions.iter().all(|one| one.hours.is_whole_day())));
    share_zone(&mut mentions);
    mentions
}

/// Returns the words of a sentence in its plain form that name an hour or a day for a person and belong to no expression
/// that was read: a strange figure, a month in another language than the sentence.
pub(super) fn find_unread_times(plain: &str, base: &ReferenceTime<'_>) -> Vec<String> {
    let folded = fold(plain);
    let tokens = tokenise(&folded);
    let parser = Parser::new(&tokens, base, false);
    let expressions = parser.find_expressions();
    let is_read = |at: usize| expressions.iter().any(|found| (found.from..found.to).contains(&at));
    let unread = parser.words.iter().enumerate().filter(|(at, _)| !is_read(*at));
    let texts = unread.filter_map(|(_, word)| parser.tokens.get(word.token)).map(|token| token.text);
    let is_foreign = |text: &str| names_day_elsewhere(text, parser.tongue);
    texts.filter(|text| looks_like_clock(text) || is_foreign(text)).map(str::to_owned).collect()
}

/// Whether a word names a day or a month in another language than that of its sentence.
fn names_day_elsewhere(text: &str, tongue: Tongue) -> bool {
    let others = [Tongue::English, Tongue::German, Tongue::Hebrew].into_iter().filter(|other| *other != tongue);
    let is_named = |term: &Term| matches!(term, Term::Month(_) | Term::Day(_));
    tongue.find_word(text).is_none()
        && others.filter_map(|other| other.find_word(text)).any(|meaning| meaning.terms.iter().any(is_named))
}

/// "15:30", "25:00", "3pm", "15h30".
fn looks_like_clock(text: &str) -> bool {
    let figure = |text: &str| (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = |mark: &str| text.split_once(mark).is_some_and(|(hour, minute)| figure(hour) && figure(minute));
    parts(":") || parts("h") || ["am", "pm"].iter().any(|half| text.strip_suffix(half).is_some_and(figure))
}

fn mention_of(parser: &Parser<'_>, found: &Expression, role: Role, is_excluded: bool) -> Option<Mention> {
    let pieces = &found.pieces;
    let range = parser.with_outer_edge(found);
    let is_bound = range.is_some_and(|range| range.edge != Edge::At);
    let is_said =
        matches!(role, Role::Named) || is_excluded || (is_bound && matches!(role, Role::OfOther | Role::Before));
    if !is_said {
        return None;
    }
    // "In two hours" is a moment of its own and has no day.
    let day = pieces.day.filter(|day| day.grain != Grain::Moment);
    if pieces.day.is_some() && day.is_none() {
        return None;
    }
    let scope = match day {
        Some(day) => Some(scope_of(parser, found, day)?),
        None => None,
    };
    if scope.is_none() && range.is_none() && pieces.part.is_none() {
        return None;
    }
    let hours = Hours { clock: range, part: pieces.part, zone: pieces.zone };
    // "Tonight" and "this afternoon" are today's.
    let today = || DayScope { first: parser.today(), last: parser.today(), is_bare_weekday: false };
    let scope = scope.or_else(|| (range.is_none()).then(today));
    Some(Mention { scope, hours, zone: zone_name(parser, found), is_excluded })
}

fn scope_of(parser: &Parser<'_>, found: &Expression, day: Span) -> Option<DayScope> {
    let mut first = day.start.date();
    if day.is_just_past {
        // The year that was meant is this one.
        first = add_months(first, -12)?;
    }
    let (first, mut last) = match day.grain {
        Grain::Moment | Grain::Quarter | Grain::Year => return None,
        Grain::Day => (first, first),
        // "Early next week" has an end that nobody knows, but its beginning counts.
        Grain::Unsure if found_is_start_of_week(parser, found) => (first, plus_days(first, 1)?),
        Grain::Unsure => return None,
        Grain::Week if day.is_end => (plus_days(first, 3)?, plus_days(first, 4)?),
        Grain::Week => (first, plus_days(first, 4)?),
        Grain::Weekend | Grain::Month => (first, day.last_day()?),
    };
    if let Some(SecondDay::Until(second)) = day.second {
        last = second;
    }
    if let Some(end) = found.pieces.last_day {
        last = end.start.date();
        while last < first {
            last = last.checked_add_days(Days::new(7))?;
        }
    }
    // "From the 18th on, any day but Wednesday".
    let is_open = first == last && found.pieces.clock.is_none() && parser.lead(found.from).has_any(&[Lead::FROM]);
    if is_open && day.grain == Grain::Day && first > parser.today() {
        last = plus_days(first, DAYS_FROM)?;
    }
    Some(DayScope { first, last, is_bare_weekday: first == last && is_bare_weekday(parser, found) })
}

fn found_is_start_of_week(parser: &Parser<'_>, found: &Expression) -> bool {
    let terms = parser.terms(found.from);
    matches!(terms, [Term::StartOf, ..])
        && terms.iter().take(found.to - found.from).any(|term| *term == Term::Unit(Unit::Week))
}

fn is_bare_weekday(parser: &Parser<'_>, found: &Expression) -> bool {
    let mut named = false;
    for term in parser.terms(found.from).iter().take(found.to - found.from) {
        match term {
            Term::Day(_) | Term::MaybeDay(_) => named = true,
            Term::Date(..)
            | Term::Dotted(..)
            | Term::Slashed(..)
            | Term::Month(_)
            | Term::Ordinal(_)
            | Term::This
            | Term::Next
            | Term::Upcoming
            | Term::AfterNext
            | Term::Last
            | Term::OfMonth
            | Term::Unit(Unit::Week | Unit::Month) => return false,
            _ => {}
        }
    }
    named
}

/// A part of the day that no expression took: "next week, preferably in the morning", "mornings next week".
fn find_lone_part(parser: &Parser<'_>, expressions: &[Expression]) -> Option<Mention> {
    let is_taken = |at: usize| expressions.iter().any(|found| (found.from..found.to).contains(&at));
    let is_near = |at: usize| {
        expressions.is_empty()
            || expressions.iter().any(|found| {
                at < found.from && found.from - at <= PART_REACH || at >= found.to && at - found.to < PART_REACH
            })
    };
    let lone = parser.terms(0).iter().enumerate().find_map(|(at, term)| match term {
        Term::Part(part) if !is_taken(at) && is_near(at) => Some(*part),
        _ => None,
    });
    lone.map(|part| Mention { hours: Hours { part: Some(part), ..Hours::default() }, ..Mention::of_days(None) })
}

/// "Tue 10:00 or Wed 11:00 (London time)", "Tue 10:00 UK time or Wed at 11": the one zone of a sentence holds for all of it. Behind
/// it only for other days: "2pm London, 15:00 for you" is the same hour twice.
fn share_zone(mentions: &mut [Mention]) {
    let has_zone = |mention: &Mention| mention.hours.zone.is_some();
    let Some(at) =
        mentions.iter().position(has_zone).filter(|_| mentions.iter().filter(|one| has_zone(one)).count() == 1)
    else {
        return;
    };
    let Some((zone, name)) = mentions.get(at).map(|one| (one.hours.zone, one.zone.clone())) else { return };
    let (before, behind) = mentions.split_at_mut(at);
    let others = before.iter_mut().chain(behind.iter_mut().skip(1).filter(|mention| mention.scope.is_some()));
    for mention in others.filter(|mention| mention.hours.is_clock()) {
        mention.hours.zone = zone;
        mention.zone.clone_from(&name);
    }
}

/// The zone with its name for a person: "EST", "New York".
fn zone_name(parser: &Parser<'_>, found: &Expression) -> Option<NamedZone> {
    let zone = found.pieces.zone?;
    let (from, to) = found.pieces.zone_words;
    let first = parser.words.get(from)?.token;
    let last = parser.words.get(to.checked_sub(1)?)?.last_token;
    const NO_NAME: &[&str] = &["our", "my", "local", "time", "zeit", "ortszeit", "clock", "שעון"];
    let words = parser.tokens.get(first..=last)?.iter().map(|token| token.text).filter(|word| !NO_NAME.contains(word));
    let name: Vec<String> = words.map(spell_zone).collect();
    Some(NamedZone { name: name.join(" "), zone: zone.to_string() })
}

/// An abbreviation in capitals, a place with a capital letter.
fn spell_zone(word: &str) -> String {
    const LONGEST_ABBREVIATION: usize = 4;
    if word.len() <= LONGEST_ABBREVIATION || word.starts_with("utc") || word.starts_with("gmt") {
        return word.to_uppercase();
    }
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn clock(hour: u32) -> NaiveTime {
    NaiveTime::from_hms_opt(hour, 0, 0).unwrap_or(NaiveTime::MIN)
}
