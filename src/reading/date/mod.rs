//! "By Friday", "23.6.", "מחר ב-10:00": finds when something is wanted, counted from the mail's own date.
//!
//! Owns dates in English and Hebrew. Reads no clock. When a reading is not sure it is none: a wrong deadline is worse
//! than no deadline, because people trust it.

mod day;
mod span;
mod term;
mod time_of_day;
mod time_word;
mod whole;

use chrono::{DateTime, Duration, NaiveDate, NaiveDateTime, NaiveTime, TimeZone as _, Weekday};
use chrono_tz::Tz;

use crate::model::{Instant, Me};

/// Nobody plans a mail's deadline further ahead.
const FARTHEST_DAYS: i64 = 730;

/// What relative words count from.
#[derive(Debug, Clone)]
pub(super) struct ReferenceTime<'a> {
    at: Instant,
    local: NaiveDateTime,
    me: &'a Me,
    /// 6/7 is June 7 for people who write English in the Americas, and 6 July for everyone else.
    month_first: bool,
}

/// A deadline as precise as the mail was, and the instant it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DueDate {
    pub(super) deadline: String,
    pub(super) at: Instant,
    /// Said with "by", "until", "due": a limit rather than just a day.
    pub(super) is_limit: bool,
}

/// A day or a moment, before it is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParsedDate {
    Day(NaiveDate),
    /// A part of a day: "tonight", "tomorrow morning".
    Hour(NaiveDate, NaiveTime),
    Moment(NaiveDateTime),
}

impl<'a> ReferenceTime<'a> {
    pub(super) fn new(at: Instant, me: &'a Me) -> Self {
        let american = me.time_zone.name().starts_with("America/") || me.time_zone.name().starts_with("US/");
        let english = me.languages.first().is_none_or(|language| language.starts_with("en"));
        Self { at, local: at.utc().with_timezone(&me.time_zone).naive_local(), me, month_first: american && english }
    }

    /// From when the mail was written.
    pub(super) fn hours_until(&self, at: Instant) -> f64 {
        self.at.hours_until(at)
    }

    /// The same person at the beginning of the next day.
    pub(super) fn next_midnight(&self) -> Option<Self> {
        let day = self.today().succ_opt()?;
        let midnight = self.me.time_zone.from_local_datetime(&day.and_time(NaiveTime::MIN)).earliest()?;
        Some(Self { at: Instant::new(midnight.to_utc())?, local: day.and_time(NaiveTime::MIN), ..*self })
    }

    fn today(&self) -> NaiveDate {
        self.local.date()
    }

    /// The last working day of the week that holds `from` or, when that is over, of the next.
    fn end_of_week(&self, from: NaiveDate) -> Option<NaiveDate> {
        let works = |day: NaiveDate| self.me.work_days.contains(&day.weekday_of());
        from.iter_days().take(8).find(|day| works(*day) && day.succ_opt().is_some_and(|next| !works(next)))
    }
}

/// Chrono's `weekday` needs the Datelike trait in scope everywhere; this keeps it to one place.
trait WeekdayOf {
    fn weekday_of(&self) -> Weekday;
}

impl WeekdayOf for NaiveDate {
    fn weekday_of(&self) -> Weekday {
        chrono::Datelike::weekday(self)
    }
}

/// What a text names that is an expression of time and nothing else.
pub(super) fn whole(plain: &str, base: &ReferenceTime<'_>) -> Option<NaiveDateTime> {
    whole::read(plain, base)
}

/// The time a sentence names, preferring one said as a limit.
pub(super) fn find_due_date(plain: &str, base: &ReferenceTime<'_>) -> Option<DueDate> {
    if !time_word::may_name_a_time(plain) {
        return None;
    }
    let tokens = tokenise(plain);
    let mut best: Option<DueDate> = None;
    let mut skip = 0;
    for at in 0..tokens.len() {
        if at < skip {
            continue;
        }
        let Some((when, used)) = day::parse_day(&tokens, at, base) else { continue };
        skip = at + used;
        let limit = is_limit(&tokens, at);
        if let Some(due) = resolve_due_date(when, time_of_day::near(&tokens, at, used), limit, base)
            && (best.is_none() || (limit && best.as_ref().is_some_and(|due| !due.is_limit)))
        {
            best = Some(due);
        }
    }
    best.or_else(|| find_time_today(&tokens, base))
}

/// "By 5pm" with no day is today, if that is still to come.
fn find_time_today(tokens: &[&str], base: &ReferenceTime<'_>) -> Option<DueDate> {
    let (at, time) =
        (0..tokens.len()).find_map(|at| time_of_day::parse_time_of_day(tokens, at).map(|(time, _)| (at, time)))?;
    let limit = is_limit(tokens, at);
    resolve_due_date(ParsedDate::Hour(base.today(), time), None, limit, base)
}

fn resolve_due_date(
    when: ParsedDate,
    hour: Option<NaiveTime>,
    limit: bool,
    base: &ReferenceTime<'_>,
) -> Option<DueDate> {
    let (moment, exact) = match (when, hour) {
        (ParsedDate::Moment(moment), _) => (moment, true),
        (ParsedDate::Day(day) | ParsedDate::Hour(day, _), Some(hour)) => (day.and_time(hour), true),
        (ParsedDate::Hour(day, hour), None) => (day.and_time(hour), true),
        (ParsedDate::Day(day), None) => (day.and_time(base.me.work_end), false),
    };
    let days = (moment.date() - base.today()).num_days();
    if !(0..=FARTHEST_DAYS).contains(&days) || (exact && moment < base.local) {
        return None;
    }
    let at: DateTime<Tz> = base.me.time_zone.from_local_datetime(&moment).earliest()?;
    let deadline = if exact { at.format("%Y-%m-%dT%H:%M:%S%:z") } else { at.format("%Y-%m-%d") }.to_string();
    Some(DueDate { deadline, at: Instant::new(at.to_utc())?, is_limit: limit })
}

const LIMIT_WORDS: &[&str] =
    &["by", "before", "until", "till", "due", "than", "deadline", "within", "עד", "לפני", "יאוחר", "תוך"];

/// A word of limit up to three words before.
fn is_limit(tokens: &[&str], at: usize) -> bool {
    tokens.get(at.saturating_sub(3)..=at).unwrap_or_default().iter().any(|word| LIMIT_WORDS.contains(word))
}

/// With the space after it: room for tokens as short is room enough for most sentences.
const SHORT_TOKEN: usize = 5;

/// Chunks between spaces without the punctuation around them: "23/6/2026", "10:00", "p.m".
fn tokenise(plain: &str) -> Vec<&str> {
    let edge = |c: char| !(c.is_alphanumeric());
    let bare = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let mut tokens = Vec::with_capacity(plain.len() / SHORT_TOKEN);
    for chunk in plain.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '—' | '–')) {
        let trimmed = if bare(chunk.as_bytes().first()) && bare(chunk.as_bytes().last()) {
            chunk
        } else {
            chunk.trim_start_matches(edge).trim_end_matches(|c: char| edge(c) && c != '\'')
        };
        tokens.extend(Some(trimmed).filter(|token| !token.is_empty()));
    }
    tokens
}

/// The word itself and, for Hebrew, the word without one prefix letter ("ביוני" is "יוני").
fn with_and_without_prefix(word: &str) -> impl Iterator<Item = &str> {
    let stripped = word.strip_prefix(['ב', 'ל', 'ה', 'מ', 'ו', 'ש']).map(|rest| rest.trim_start_matches('-'));
    std::iter::once(word).chain(stripped)
}

fn parse_number(word: &str) -> Option<u32> {
    const NAMES: &[(&str, u32)] = &[
        ("a", 1),
        ("an", 1),
        ("one", 1),
        ("two", 2),
        ("three", 3),
        ("four", 4),
        ("five", 5),
        ("six", 6),
        ("seven", 7),
        ("eight", 8),
        ("nine", 9),
        ("ten", 10),
        ("אחד", 1),
        ("אחת", 1),
        ("שני", 2),
        ("שתי", 2),
        ("שלושה", 3),
        ("שלוש", 3),
        ("ארבעה", 4),
        ("ארבע", 4),
        ("חמישה", 5),
        ("חמש", 5),
        ("שישה", 6),
        ("שש", 6),
        ("שבעה", 7),
        ("שבע", 7),
        ("שמונה", 8),
        ("תשעה", 9),
        ("תשע", 9),
        ("עשרה", 10),
        ("עשר", 10),
        ("אחת-עשרה", 11),
        ("שתים-עשרה", 12),
    ];
    let named = || NAMES.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    word.parse().ok().or_else(named)
}

fn plus_days(day: NaiveDate, days: i64) -> Option<NaiveDate> {
    day.checked_add_signed(Duration::try_days(days)?)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn me(zone: Tz) -> Me {
        let time = |hour| NaiveTime::from_hms_opt(hour, 0, 0).unwrap();
        Me {
            names: vec!["Alex Green".into()],
            addresses: vec!["you@home.example".into()],
            time_zone: zone,
            work_start: time(9),
            work_end: time(18),
            work_days: vec![Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri],
            signature: String::new(),
            senders: std::collections::HashMap::new(),
            languages: vec!["en".into(), "he".into()],
        }
    }

    /// The mail is of Tuesday 16 June 2026, 10:30 in Berlin.
    fn check(text: &str, expected: Option<&str>) {
        let me = me(Tz::Europe__Berlin);
        let base = ReferenceTime::new("2026-06-16T08:30:00Z".parse().unwrap(), &me);
        let found = find_due_date(&crate::reading::sentence::text::normalise(text), &base);
        assert_eq!(found.as_ref().map(|due| due.deadline.as_str()), expected, "{text}");
    }

    #[test]
    fn english() {
        for (text, expected) in [
            ("send it by 2026-06-23", Some("2026-06-23")),
            ("by 23 June", Some("2026-06-23")),
            ("by June 23rd, 2026", Some("2026-06-23")),
            ("on the 23rd of June at 5pm", Some("2026-06-23T17:00:00+02:00")),
            ("until 23.6.2026", Some("2026-06-23")),
            ("due 23/6", Some("2026-06-23")),
            ("by 6/7/2026", Some("2026-07-06")),
            ("by Friday", Some("2026-06-19")),
            ("by Friday 5pm", Some("2026-06-19T17:00:00+02:00")),
            ("by 5:30 pm on Friday", Some("2026-06-19T17:30:00+02:00")),
            ("on Tuesday", Some("2026-06-23")),
            ("next Friday", Some("2026-06-26")),
            ("this Friday", Some("2026-06-19")),
            ("today", Some("2026-06-16")),
            ("by EOD", Some("2026-06-16")),
            ("by EOD Thursday", Some("2026-06-18")),
            ("tomorrow at 14:00", Some("2026-06-17T14:00:00+02:00")),
            ("tomorrow morning", Some("2026-06-17T12:00:00+02:00")),
            ("tonight", Some("2026-06-16T21:00:00+02:00")),
            ("by the end of the week", Some("2026-06-19")),
            ("by end of next week", Some("2026-06-26")),
            ("next week", Some("2026-06-26")),
            ("by the end of the month", Some("2026-06-30")),
            ("in 3 days", Some("2026-06-19")),
            ("within two weeks", Some("2026-06-30")),
            ("within the next 2 hours", Some("2026-06-16T12:30:00+02:00")),
            ("by 5pm", Some("2026-06-16T17:00:00+02:00")),
            ("by noon", Some("2026-06-16T12:00:00+02:00")),
            ("we spoke on Monday, send it by Thursday", Some("2026-06-18")),
            ("on 3 May 2027", Some("2027-05-03")),
            ("Friday 26 June 2026 at 10:00", Some("2026-06-26T10:00:00+02:00")),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn hebrew() {
        for (text, expected) in [
            ("עד היום בשעה 17:00", Some("2026-06-16T17:00:00+02:00")),
            ("עד מחר", Some("2026-06-17")),
            ("מחרתיים", Some("2026-06-18")),
            ("עד יום חמישי", Some("2026-06-18")),
            ("ביום ראשון ב-10:00", Some("2026-06-21T10:00:00+02:00")),
            ("ביום ה' בעשר", Some("2026-06-18T10:00:00+02:00")),
            ("בשבוע הבא", Some("2026-06-26")),
            ("עד סוף השבוע", Some("2026-06-19")),
            ("ב-23 ביוני", Some("2026-06-23")),
            ("עד 23.6", Some("2026-06-23")),
            ("בעוד 3 ימים", Some("2026-06-19")),
            ("בעוד יומיים", Some("2026-06-18")),
            ("תוך שבוע", Some("2026-06-23")),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn refuses_when_unsure() {
        for text in [
            "yesterday",
            "last Friday",
            "on 3 May",
            "by 9am",
            "version 2.5",
            "I ate 1/2 of it",
            "about 5",
            "the second one",
            "32 June",
            "2026-13-40",
            "May I ask",
            "the 5 of us",
            "25:99",
            "שני דברים",
            "may 99",
            "since Monday",
            "every Friday",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn americans_write_the_month_first() {
        let me = me(Tz::America__New_York);
        let base = ReferenceTime::new("2026-06-01T12:00:00Z".parse().unwrap(), &me);
        assert_eq!(find_due_date("due 6/7/2026", &base).unwrap().deadline, "2026-06-07");
        assert_eq!(find_due_date("due 23/6/2026", &base).unwrap().deadline, "2026-06-23");
    }

    #[test]
    fn a_date_means_the_end_of_the_working_day() {
        let me = me(Tz::Europe__Berlin);
        let base = ReferenceTime::new("2026-06-16T08:30:00Z".parse().unwrap(), &me);
        assert_eq!(find_due_date("by friday", &base).unwrap().at.to_string(), "2026-06-19T16:00:00Z");
    }
}
