//! "By Friday", "23.6.", "מחר ב-10:00", "bis Monatsende": finds when something is wanted, counted from the mail's own date.
//!
//! Owns times in words and figures. There is one reader: mails, what a person types and the evaluation go through the same
//! parser (`expression`), and what a time means for a deadline is decided after it (`due`). The words of each language
//! are data (`words/`). Reads no clock. When a reading is not sure it is none: a wrong deadline is worse than no
//! deadline, because people trust it.

mod agreement;
mod annotate;
mod asked;
#[cfg(test)]
mod asked_tests;
mod calendar;
mod clock;
mod due;
mod expression;
mod figure;
mod language;
mod mention;
mod period;
mod resolve;
mod span;
mod term;
#[cfg(test)]
pub(crate) mod tests;
mod time_word;
mod token;
mod zone;

use chrono::{NaiveDate, NaiveDateTime, NaiveTime, TimeZone as _};

use crate::model::{Instant, Me, NamedMoment};

pub use agreement::{TimeAgreement, TimesInText, check_times_agree, follow_text, names_any_time, read_times_in_text};
pub use asked::AskedTimesReader;
pub use due::DueDate;
use expression::Parser;
use resolve::NamedTime;
use span::Grain;

/// A day said without a year that is gone for longer is meant for the next year.
const LONG_PAST_DAYS: i64 = 180;
/// A longer text that a person types is no expression of time.
const LONGEST_TYPED: usize = 80;

/// What relative words count from.
#[derive(Debug, Clone)]
pub struct ReferenceTime<'a> {
    at: Instant,
    local: NaiveDateTime,
    me: &'a Me,
    /// 6/7 is June 7 for people who write English in the Americas, and 6 July for everyone else.
    month_first: bool,
}

impl<'a> ReferenceTime<'a> {
    pub fn new(at: Instant, me: &'a Me) -> Self {
        let american = me.time_zone.name().starts_with("America/") || me.time_zone.name().starts_with("US/");
        let english = me.languages.first().is_none_or(|language| language.starts_with("en"));
        Self { at, local: at.utc().with_timezone(&me.time_zone).naive_local(), me, month_first: american && english }
    }

    /// From when the mail was written.
    pub fn hours_until(&self, at: Instant) -> f64 {
        self.at.hours_until(at)
    }

    /// The same person at the beginning of the next day.
    pub fn next_midnight(&self) -> Option<Self> {
        let day = self.today().succ_opt()?;
        let midnight = self.me.time_zone.from_local_datetime(&day.and_time(NaiveTime::MIN)).earliest()?;
        Some(Self { at: Instant::new(midnight.to_utc())?, local: day.and_time(NaiveTime::MIN), ..*self })
    }

    fn today(&self) -> NaiveDate {
        self.local.date()
    }

    /// The last working day of the week that holds `from` or, when that is over, of the next.
    fn end_of_week(&self, from: NaiveDate) -> Option<NaiveDate> {
        let works = |day: NaiveDate| self.me.work_days.contains(&chrono::Datelike::weekday(&day));
        from.iter_days().take(8).find(|day| works(*day) && day.succ_opt().is_some_and(|next| !works(next)))
    }
}

/// The time a sentence names that matters most to who is asked: a limit before a day, and either before a week.
pub fn find_due_date(plain: &str, base: &ReferenceTime<'_>) -> Option<DueDate> {
    if !time_word::may_name_a_time(plain) {
        return None;
    }
    let folded = language::fold(plain);
    let tokens = token::tokenise(&folded);
    due::choose(&Parser::new(&tokens, base, false).parse_all(), base)
}

/// The time that a person typed, as a deadline: the text as a whole, or else the time it names.
pub fn find_typed_due_date(plain: &str, base: &ReferenceTime<'_>) -> Option<DueDate> {
    match parse_alone(plain, base) {
        Some(found) => due::choose(&[found], base),
        None => find_due_date(plain, base),
    }
}

/// The start of the time that a text names which is an expression of time and nothing else.
pub fn find_start(plain: &str, base: &ReferenceTime<'_>) -> Option<NaiveDateTime> {
    parse_alone(plain, base).filter(|found| found.span.grain != Grain::Unsure).map(|found| found.span.start)
}

/// The day and the hour of an expression of time; none for a stretch that is longer than a day.
pub fn find_moment(plain: &str, base: &ReferenceTime<'_>) -> Option<NamedMoment> {
    let found = parse_alone(plain, base).filter(|found| found.part.is_none())?;
    let day = found.has_day.then(|| found.span.start.date());
    match found.span.grain {
        Grain::Moment => Some(NamedMoment { day, is_weekday: false, time: Some(found.span.start.time()) }),
        Grain::Day => Some(NamedMoment { day, is_weekday: false, time: None }),
        _ => None,
    }
}

fn parse_alone(plain: &str, base: &ReferenceTime<'_>) -> Option<NamedTime> {
    if plain.len() > LONGEST_TYPED {
        return None;
    }
    let folded = language::fold(plain);
    let tokens = token::tokenise(&folded);
    Parser::new(&tokens, base, true).parse_alone()
}
