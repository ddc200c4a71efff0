//! Looks for free times: inside the working hours, beside the calendar, and beside what is held for others.

use chrono::{DateTime, Datelike as _, Days, Duration, NaiveDate, NaiveTime, TimeZone as _, Timelike as _};
use chrono_tz::Tz;

use super::{BusyTimes, ToolInput, meeting_time::MeetingSpan};
use crate::model::{AskedTimes, HeldTime, Instant, Me};

/// How many times are proposed.
const SLOTS: usize = 3;
/// How many days ahead free times are looked for.
const DAYS_AHEAD: u64 = 21;
/// How many days before and behind a time that is taken others are looked for.
const DAYS_AROUND: u64 = 7;
/// A time is not proposed sooner than this.
const NOTICE: Duration = Duration::minutes(60);
/// Nobody is asked to meet later, unless they say so themselves.
const END_OF_EVENING: Duration = Duration::hours(21);
/// Meetings begin at a half hour, unless somebody names another minute.
const STEP_MINUTES: i64 = 30;
/// An hour of the same day is as near as this many hours on the next day.
const HOURS_OF_NEXT_DAY: i64 = 4;

/// Why a time is not free.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SlotConflict {
    /// The calendar has something then.
    Calendar,
    /// It is held for another task.
    Held(HeldTime),
    OutsideHours,
    Past,
    /// Nothing is free in the stretch that was offered.
    Full,
}

impl SlotConflict {
    pub(super) const fn as_str(&self) -> &'static str {
        match self {
            Self::Calendar => "calendar",
            Self::Held(_) => "held",
            Self::OutsideHours => "outside_hours",
            Self::Past => "past",
            Self::Full => "full",
        }
    }

    /// Returns the reason for the person.
    pub(super) fn explain(&self) -> String {
        match self {
            Self::Calendar => "your calendar has something at that time".into(),
            Self::Held(held) => format!("that time is held for “{}” ({})", held.objective, held.kind.describe()),
            Self::OutsideHours => "that time is outside your working hours ([me])".into(),
            Self::Past => "that time has passed".into(),
            Self::Full => "nothing is free in that time".into(),
        }
    }
}

/// A search for times of one length.
pub(super) struct SlotSearch<'a> {
    me: &'a Me,
    now: Instant,
    length: Duration,
    busy: Vec<(Instant, Instant)>,
    held: &'a [HeldTime],
    /// The address of who asks.
    asker: &'a str,
    /// The times come from somebody whom the person knows: they need not lie in the working hours.
    is_by_acquaintance: bool,
}

impl<'a> SlotSearch<'a> {
    pub(super) fn new(input: &ToolInput<'a>, length: Duration, asked: Option<&AskedTimes>) -> Self {
        let busy = match input.busy_times {
            BusyTimes::Known { busy } => busy.iter().map(|busy| (busy.from, busy.to)).collect(),
            BusyTimes::None | BusyTimes::Silent { .. } => Vec::new(),
        };
        let is_by_acquaintance = asked.is_some_and(|asked| asked.is_by_acquaintance);
        let asker = input.mail.map_or("", |mail| mail.from.addr.as_str());
        Self { me: input.me, now: input.now, length, busy, held: input.held_times, asker, is_by_acquaintance }
    }

    pub(super) fn has_taken_times(&self) -> bool {
        !self.busy.is_empty() || !self.held.is_empty()
    }

    /// Returns the time if it is free, else why it is not.
    pub(super) fn check(&self, start: Instant, end: Option<Instant>) -> Result<MeetingSpan, SlotConflict> {
        let span = MeetingSpan { start, end: end.unwrap_or_else(|| start.plus(self.length)) };
        if start <= self.now {
            return Err(SlotConflict::Past);
        }
        if !self.is_by_acquaintance && !self.may_be_named(span.start) {
            return Err(SlotConflict::OutsideHours);
        }
        self.find_conflict(span).map_or(Ok(span), Err)
    }

    fn find_conflict(&self, span: MeetingSpan) -> Option<SlotConflict> {
        let overlaps = |from: Instant, to: Instant| from < span.end && span.start < to;
        if let Some(held) =
            self.held.iter().find(|held| overlaps(held.from, held.to) && !held.is_same_meeting(self.asker, span.start))
        {
            return Some(SlotConflict::Held(held.clone()));
        }
        self.busy.iter().any(|(from, to)| overlaps(*from, *to)).then_some(SlotConflict::Calendar)
    }

    pub(super) fn is_in_working_hours(&self, span: MeetingSpan) -> bool {
        let (start, end) = (self.local(span.start), self.local(span.end));
        start.date_naive() == end.date_naive()
            && self.me.work_days.contains(&start.weekday())
            && self.me.work_start <= start.time()
            && end.time() <= self.me.work_end
    }

    /// Clubs, schools and families meet after work: somebody may name an evening of a working day. The person is told
    /// that it is outside their working hours, and no such time is ever proposed.
    fn may_be_named(&self, start: Instant) -> bool {
        let start = self.local(start);
        let evening_ends = NaiveTime::MIN + END_OF_EVENING;
        self.me.work_days.contains(&start.weekday())
            && self.me.work_start <= start.time()
            && start.time() < evening_ends.max(self.me.work_end)
    }

    fn local(&self, at: Instant) -> DateTime<Tz> {
        at.utc().with_timezone(&self.me.time_zone)
    }

    /// Returns the first free time of a stretch. Of a whole working day it is mid-morning, if that is free.
    pub(super) fn first_free_in(&self, from: Instant, to: Instant) -> Option<MeetingSpan> {
        let day = self.local(from).date_naive();
        let is_whole_day = self.local(from).time() <= self.me.work_start && self.local(to).time() >= self.me.work_end;
        let preferred = if is_whole_day { self.preferred_start(0) } else { self.me.work_start };
        let starts = self.starts_of(day).filter(|start| from <= *start && start.plus(self.length) <= to);
        let (early, late): (Vec<Instant>, Vec<Instant>) =
            starts.partition(|start| self.local(*start).time() < preferred);
        late.into_iter().chain(early).find_map(|start| self.check_with_notice(start))
    }

    /// Returns a time of each of the next working days, alternating between mid-morning and early afternoon, or the next
    /// half hour that is free.
    pub(super) fn next_working_days(&self) -> Vec<MeetingSpan> {
        let today = self.local(self.now).date_naive();
        (1..=DAYS_AHEAD)
            .filter_map(|ahead| today.checked_add_days(Days::new(ahead)))
            .filter(|day| self.me.work_days.contains(&day.weekday()))
            .enumerate()
            .filter_map(|(nth, day)| {
                let preferred = self.preferred_start(nth);
                let (early, late): (Vec<Instant>, Vec<Instant>) =
                    self.starts_of(day).partition(|start| self.local(*start).time() < preferred);
                late.into_iter().chain(early).find_map(|start| self.check_bounded(start))
            })
            .take(SLOTS)
            .collect()
    }

    /// Returns free times near one that is taken: of the same day, and at about the same hour of the days around it.
    pub(super) fn near(&self, asked: Instant) -> Vec<MeetingSpan> {
        let at = self.local(asked);
        let Some(first) = at.date_naive().checked_sub_days(Days::new(DAYS_AROUND)) else { return Vec::new() };
        let days = first.iter_days().take(2 * DAYS_AROUND as usize + 1);
        let mut free: Vec<(i64, MeetingSpan)> = days
            .filter(|day| self.me.work_days.contains(&day.weekday()))
            .flat_map(|day| self.starts_of(day).collect::<Vec<_>>())
            .filter(|start| *start != asked)
            .filter_map(|start| {
                let span = self.check_with_notice(start).filter(|span| self.is_in_working_hours(*span))?;
                let there = self.local(start);
                let days = (there.date_naive() - at.date_naive()).num_days();
                let hours = (there.time() - at.time()).num_minutes().abs();
                // Of two days that are as near, the later is easier to plan.
                let cost = days.abs() * HOURS_OF_NEXT_DAY * 60 + hours + i64::from(days < 0) * STEP_MINUTES;
                Some((cost, span))
            })
            .collect();
        free.sort_by_key(|(cost, span)| (*cost, span.start));
        let mut chosen: Vec<MeetingSpan> = Vec::new();
        for (_, span) in free {
            let is_new_day =
                |known: &MeetingSpan| self.local(known.start).date_naive() != self.local(span.start).date_naive();
            if chosen.iter().all(is_new_day) {
                chosen.push(span);
            }
            if chosen.len() == SLOTS {
                break;
            }
        }
        chosen.sort_by_key(|span| span.start);
        if chosen.is_empty() { self.next_working_days() } else { chosen }
    }

    fn check_with_notice(&self, start: Instant) -> Option<MeetingSpan> {
        (start >= self.now.plus(NOTICE)).then(|| self.check(start, None).ok()).flatten()
    }

    /// The time if it is free and lies in the working hours, whatever the mail is.
    fn check_bounded(&self, start: Instant) -> Option<MeetingSpan> {
        self.check(start, None).ok().filter(|span| self.is_in_working_hours(*span))
    }

    /// Every half hour of a day, as far as the clock has it.
    fn starts_of(&self, day: NaiveDate) -> impl Iterator<Item = Instant> + '_ {
        let steps = i64::from(24 * 60) / STEP_MINUTES;
        (0..steps).filter_map(move |step| {
            let time = NaiveTime::MIN + Duration::minutes(step * STEP_MINUTES);
            // None inside the hour that a clock change skips.
            Instant::new(self.me.time_zone.from_local_datetime(&day.and_time(time)).earliest()?.to_utc())
        })
    }

    /// Mid-morning for one day, early afternoon for the next.
    fn preferred_start(&self, nth: usize) -> NaiveTime {
        let span = self.me.work_end - self.me.work_start;
        let offset = if nth.is_multiple_of(2) { span / 8 } else { span * 5 / 8 };
        let time = self.me.work_start.overflowing_add_signed(offset).0;
        let minutes = (time.hour() * 60 + time.minute()).div_ceil(30) * 30;
        NaiveTime::from_hms_opt((minutes / 60).min(23), minutes % 60, 0).unwrap_or(time)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::{
        model::TaskKind,
        source::{Busy, CalendarLookup},
        tool::tests::{facts, me, task},
    };

    fn search_beside(busy: Vec<Busy>, check: impl Fn(&SlotSearch<'_>)) {
        let (me, task, facts) = (me(), task("Meet", Value::Null), facts(TaskKind::Meeting, None));
        let agenda = BusyTimes::Known { busy };
        let input = ToolInput {
            invoices: &[],
            documents: &[],
            material: None,
            arguments: None,
            task: &task,
            facts: &facts,
            mail: None,
            thread: &[],
            busy_times: &agenda,
            held_times: &[],
            in_calendar: &CalendarLookup::NoCalendar,
            letters: &[],
            wording: None,
            me: &me,
            own: "you@home.example",
            // A Monday, 9:00 in Berlin.
            now: "2026-11-16T08:00:00Z".parse().unwrap(),
            idempotency_key: "01TOKEN",
        };
        check(&SlotSearch::new(&input, Duration::minutes(30), None));
    }

    fn at(text: &str) -> Instant {
        text.parse().unwrap()
    }

    #[test]
    fn a_busy_hour_is_not_proposed_and_its_day_still_is() {
        let mut free = Vec::new();
        search_beside(Vec::new(), |search| assert_eq!(search.next_working_days().len(), SLOTS));
        let first = at("2026-11-17T09:00:00Z");
        search_beside(Vec::new(), |search| assert_eq!(search.next_working_days()[0].start, first));
        free.push(Busy { from: first.plus(Duration::minutes(-15)), to: first.plus(Duration::minutes(15)) });
        search_beside(free, |search| {
            assert_eq!(search.next_working_days()[0].start, first.plus(Duration::minutes(30)));
        });
        let day = Busy { from: first.plus(Duration::hours(-12)), to: first.plus(Duration::hours(12)) };
        search_beside(vec![day], |search| {
            assert_eq!(search.next_working_days()[0].start, at("2026-11-18T13:00:00Z"));
        });
        let always = Busy { from: at("2026-11-16T00:00:00Z"), to: at("2027-01-16T00:00:00Z") };
        search_beside(vec![always], |search| assert!(search.next_working_days().is_empty()));
    }

    #[test]
    fn near_a_taken_hour_lie_one_of_its_day_and_the_same_of_others() {
        let asked = at("2026-11-18T14:00:00Z");
        let busy = Busy { from: asked, to: asked.plus(Duration::hours(1)) };
        search_beside(vec![busy], |search| {
            assert_eq!(search.check(asked, None), Err(SlotConflict::Calendar));
            let starts: Vec<String> = search.near(asked).iter().map(|span| span.start.to_string()).collect();
            assert_eq!(starts, ["2026-11-17T14:00:00Z", "2026-11-18T13:30:00Z", "2026-11-19T14:00:00Z"]);
        });
    }
}
