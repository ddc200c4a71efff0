//! The times that a mail allows for a meeting: hours, choices, windows, and days that are left out.
//!
//! Owns how what several sentences say is put together: "Next week? Tuesday would be best, in the afternoon". Limits are
//! no times of a meeting; they belong to [`super::due`].

use chrono::{Datelike as _, NaiveDate, NaiveDateTime, TimeZone as _};

use super::{
    ReferenceTime,
    mention::{DayScope, Hours, Mention, read_mentions},
    span::{days_until, plus_days},
};
use crate::{
    model::{AskedTime, AskedTimes, Instant, NamedZone},
    plain_text::normalise,
};

/// "Any day but Wednesday" means the coming days up to this many.
const DAYS_OF_ANY: i64 = 14;
/// A longer stretch of the calendar is no time for a meeting.
const MOST_DAYS: i64 = 45;
/// More times are not told apart by anyone.
const MOST_TIMES: usize = 60;
/// The longest quotation of the words that named the times, in characters.
const LONGEST_WORDS: usize = 200;

/// Collects what the sentences of a mail say about the time of a meeting.
pub struct AskedTimesReader<'a> {
    base: &'a ReferenceTime<'a>,
    mentions: Vec<Mention>,
    words: String,
}

/// A time as it was put together, with what it is part of.
#[derive(Debug, Clone, Copy)]
struct FoundTime {
    time: AskedTime,
    precision: Precision,
    /// The first and the last day that were named for it.
    days: (NaiveDate, NaiveDate),
}

/// How exactly a time was named. A more exact one inside a less exact one takes its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Precision {
    Days,
    Day,
    HoursOfDay,
    Hour,
}

impl<'a> AskedTimesReader<'a> {
    pub const fn new(base: &'a ReferenceTime<'a>) -> Self {
        Self { base, mentions: Vec::new(), words: String::new() }
    }

    /// Reads one more sentence of the mail. Returns whether it names a time.
    pub fn read(&mut self, raw: &str) -> bool {
        let mentions = read_mentions(&normalise(raw), self.base);
        if mentions.is_empty() {
            return false;
        }
        self.mentions.extend(mentions);
        let room = LONGEST_WORDS.saturating_sub(self.words.chars().count());
        if room > 0 {
            let space = if self.words.is_empty() { "" } else { " " };
            let said = raw.split_whitespace().collect::<Vec<_>>().join(" ");
            self.words.extend(space.chars().chain(said.chars().take(room)));
        }
        true
    }

    /// Reads one more sentence, which says when there is no time to meet.
    pub fn read_excluded(&mut self, raw: &str) {
        let mut mentions = read_mentions(&normalise(raw), self.base);
        mentions.retain(|mention| mention.scope.is_some());
        mentions.iter_mut().for_each(|mention| mention.is_excluded = true);
        self.mentions.extend(mentions);
    }

    /// Returns the times that all sentences together allow; none if they name none.
    pub fn finish(mut self) -> Option<AskedTimes> {
        self.place_weekdays();
        self.place_hours();
        let mut found: Vec<FoundTime> = self
            .mentions
            .iter()
            .filter(|mention| !mention.is_excluded)
            .flat_map(|mention| self.times_of(mention))
            .collect();
        if found.is_empty() && self.mentions.iter().any(|mention| mention.is_excluded) {
            found = self.any_day();
        }
        drop_less_exact(&mut found);
        found.retain(|found| !self.is_excluded(found.days.0, found.days.1));
        let mut times: Vec<AskedTime> = Vec::new();
        for found in found {
            if !times.contains(&found.time) && !is_same_start(&times, &found.time) {
                times.push(found.time);
            }
        }
        times.truncate(MOST_TIMES);
        let zone = self.named_zone(&times);
        (!times.is_empty()).then_some(AskedTimes { times, words: self.words, zone, is_by_acquaintance: false })
    }

    /// "Next week? Tuesday would be best": a bare name of a day is one of the week that was named before it.
    fn place_weekdays(&mut self) {
        let mut week: Option<(NaiveDate, NaiveDate)> = None;
        for mention in &mut self.mentions {
            let Some(scope) = &mut mention.scope else { continue };
            match week {
                Some((first, last)) if scope.is_bare_weekday && scope.first < first => {
                    let days = days_until(scope.first.weekday(), first);
                    if let Some(moved) = plus_days(first, days).filter(|moved| *moved <= last) {
                        (scope.first, scope.last) = (moved, moved);
                    }
                }
                _ if scope.last > scope.first && !mention.is_excluded => week = Some((scope.first, scope.last)),
                _ => {}
            }
        }
    }

    /// An hour without a day belongs to the day before it; a bound or a part of the day to every day without hours.
    fn place_hours(&mut self) {
        let mut placed: Vec<Mention> = Vec::new();
        let mut bounds: Vec<Hours> = Vec::new();
        for mention in std::mem::take(&mut self.mentions) {
            if mention.scope.is_some() {
                placed.push(mention);
            } else if mention.hours.is_exact() {
                let day = placed.iter().rev().find(|before| !before.is_excluded).and_then(|before| before.scope);
                let day = day.filter(|day| day.first == day.last);
                let is_open = |before: &&mut Mention| before.scope == day && before.hours.is_whole_day();
                match placed.last_mut().filter(|before| day.is_some() && is_open(before)) {
                    Some(before) => before.take_hours_of(&mention),
                    None => placed.push(Mention { scope: day, ..mention }),
                }
            } else {
                bounds.push(mention.hours);
            }
        }
        let is_open = |mention: &&mut Mention| !mention.is_excluded && mention.hours.is_whole_day();
        if let Some(hours) = bounds.first().copied() {
            let mut taken = false;
            for mention in placed.iter_mut().filter(is_open) {
                mention.hours = hours;
                taken = true;
            }
            let has_times = placed.iter().any(|mention| !mention.is_excluded);
            if !taken && !has_times && (hours.is_clock() || !placed.is_empty()) {
                placed.push(Mention { hours, ..Mention::of_days(self.any_scope()) });
            }
        }
        self.mentions = placed;
    }

    fn any_scope(&self) -> Option<DayScope> {
        let tomorrow = plus_days(self.base.today(), 1)?;
        Some(DayScope { first: tomorrow, last: plus_days(tomorrow, DAYS_OF_ANY - 1)?, is_bare_weekday: false })
    }

    fn any_day(&self) -> Vec<FoundTime> {
        self.times_of(&Mention::of_days(self.any_scope()))
    }

    fn is_excluded(&self, first: NaiveDate, last: NaiveDate) -> bool {
        first == last
            && self.mentions.iter().filter(|mention| mention.is_excluded).filter_map(|mention| mention.scope).any(
                |scope| {
                    (scope.first..=scope.last).contains(&first)
                        || (scope.is_bare_weekday && scope.first.weekday() == first.weekday())
                },
            )
    }

    fn times_of(&self, mention: &Mention) -> Vec<FoundTime> {
        let Some(scope) = mention.scope else {
            let starts = mention.hours.next_starts(self.base);
            let found = starts.into_iter().filter_map(|(start, end)| {
                let time = self.start(start, end)?;
                Some(FoundTime { time, precision: Precision::Hour, days: (start.date(), start.date()) })
            });
            return found.collect();
        };
        let is_single = scope.first == scope.last;
        let works = |day: &NaiveDate| is_single || self.base.me.work_days.contains(&day.weekday());
        let from = if is_single { scope.first } else { scope.first.max(self.base.today()) };
        if (scope.last - from).num_days() > MOST_DAYS {
            return Vec::new();
        }
        let days = from.iter_days().take_while(|day| *day <= scope.last);
        // A weekend has no working day: all of its days count then.
        let has_working_day = days.clone().any(|day| works(&day));
        days.filter(|day| works(day) || !has_working_day)
            .flat_map(|day| self.times_on(day, mention, is_single))
            .collect()
    }

    fn times_on(&self, day: NaiveDate, mention: &Mention, is_single: bool) -> Vec<FoundTime> {
        let found = |time: AskedTime, precision: Precision| FoundTime { time, precision, days: (day, day) };
        if mention.hours.is_exact() {
            let starts = mention.hours.starts_on(day, self.base);
            let times = starts.into_iter().filter_map(|(start, end)| self.start(start, end));
            return times.map(|time| found(time, Precision::Hour)).collect();
        }
        let Some((from, to)) = mention.hours.window_on(day, self.base) else { return Vec::new() };
        let Some((from, to)) = self.instant(from).zip(self.instant(to)).filter(|(from, to)| from < to) else {
            return Vec::new();
        };
        let precision = match (is_single, mention.hours.is_whole_day()) {
            (true, false) => Precision::HoursOfDay,
            (true, true) => Precision::Day,
            (false, _) => Precision::Days,
        };
        vec![found(AskedTime::Window { from, to }, precision)]
    }

    fn start(&self, start: NaiveDateTime, end: Option<NaiveDateTime>) -> Option<AskedTime> {
        let end = end.filter(|end| *end > start).and_then(|end| self.instant(end));
        Some(AskedTime::Start { start: self.instant(start)?, end })
    }

    fn instant(&self, local: NaiveDateTime) -> Option<Instant> {
        Instant::new(self.base.me.time_zone.from_local_datetime(&local).earliest()?.to_utc())
    }

    /// The zone that was named, unless its clock shows the same as the person's.
    fn named_zone(&self, times: &[AskedTime]) -> Option<NamedZone> {
        let at = times.first()?.earliest();
        let own = at.utc().with_timezone(&self.base.me.time_zone).naive_local();
        let mut zones = self.mentions.iter().filter_map(|mention| mention.zone.as_ref());
        zones.find(|zone| zone.local(at).is_some_and(|there| there.naive_local() != own)).cloned()
    }
}

/// Drops the times in whose days a more exact one lies.
fn drop_less_exact(found: &mut Vec<FoundTime>) {
    let all = found.clone();
    let wide = all.iter().filter(|found| found.precision == Precision::Days);
    let week = wide.clone().map(|found| found.days.0).min().zip(wide.map(|found| found.days.0).max());
    let is_inside = |found: &FoundTime, (first, last): (NaiveDate, NaiveDate)| (first..=last).contains(&found.days.0);
    found.retain(|one| match one.precision {
        Precision::Hour => true,
        Precision::Days => !all
            .iter()
            .any(|other| other.precision > Precision::Days && week.is_some_and(|week| is_inside(other, week))),
        precision => !all.iter().any(|other| other.precision > precision && other.days == one.days),
    });
}

/// "2pm London, 15:00 for you": the same hour said twice.
fn is_same_start(times: &[AskedTime], time: &AskedTime) -> bool {
    let AskedTime::Start { start, end: None } = time else { return false };
    times.iter().any(|other| matches!(other, AskedTime::Start { start: known, .. } if known == start))
}
