//! Whether a text and the time of an event say the same.
//!
//! A person reads the text, a calendar reads the event. Where the two could differ, it is found here before anybody is
//! asked to approve both.

use chrono::{Duration, TimeZone as _};
use chrono_tz::Tz;

use super::{AskedTimesReader, ReferenceTime, mention::find_unread_times};
use crate::{
    model::{AskedTime, Instant, Me},
    plain_text::normalise,
};

/// The hours and days that a text names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimesInText {
    /// Each hour that is named with its day, and its end where one is named.
    pub starts: Vec<(Instant, Option<Instant>)>,
    /// Each day or window that is named without an hour.
    pub windows: Vec<(Instant, Instant)>,
    /// Words that name a time for a person and were not understood.
    pub unread: Vec<String>,
}

/// How a text relates to an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeAgreement {
    /// It names no other time.
    Agrees,
    /// It names one other time: the event could be moved there.
    Names { start: Instant, end: Option<Instant> },
    /// It names another day and no hour.
    NamesDay { from: Instant, to: Instant },
    /// It names several times, or one that cannot be read; the sentence is for a person.
    InDoubt(String),
}

/// Returns whether a text names any time, be it one that can be read or not.
pub fn names_any_time(text: &str, zone: Tz, now: Instant) -> bool {
    read_times_in_text(text, zone, now) != TimesInText::default()
}

/// Checks that a text names no other time than that of an event. The error is a sentence for a person.
pub fn check_times_agree(text: &str, zone: Tz, now: Instant, event: (Instant, Instant)) -> Result<(), String> {
    let local = |at: Instant| at.utc().with_timezone(&zone).format("%A %-d %B %Y, %H:%M");
    match read_times_in_text(text, zone, now).agreement_with(event.0, event.1) {
        TimeAgreement::Agrees => Ok(()),
        TimeAgreement::Names { start, .. } => {
            Err(format!("it names {}, and the event is on {}", local(start), local(event.0)))
        }
        TimeAgreement::NamesDay { .. } => {
            Err(format!("it names another day than that of the event, {}", local(event.0)))
        }
        TimeAgreement::InDoubt(why) => Err(why),
    }
}

/// Returns where an event moves to so that it agrees with an edited text and subject; none where it agrees already. The
/// error is a sentence for a person: nothing is moved on a guess.
pub fn follow_text(
    subject: &str,
    text: &str,
    zone: Tz,
    now: Instant,
    event: (Instant, Instant),
) -> Result<Option<(Instant, Instant)>, String> {
    let length = event.1.utc() - event.0.utc();
    let found = read_times_in_text(text, zone, now);
    let found = if found == TimesInText::default() { read_times_in_text(subject, zone, now) } else { found };
    let moved = match found.agreement_with(event.0, event.1) {
        TimeAgreement::Agrees => None,
        TimeAgreement::Names { start, end } => Some((start, end.unwrap_or_else(|| start.plus(length)))),
        TimeAgreement::NamesDay { from, .. } => {
            Some(same_hour(event, zone, from, length).ok_or("that hour does not exist")?)
        }
        TimeAgreement::InDoubt(why) => {
            return Err(format!(
                "nothing was changed: {why}; name the one time that is meant, such as “18 November 2026, 15:00”"
            ));
        }
    };
    let now_at = moved.unwrap_or(event);
    if moved.is_some() && now_at.0 <= now {
        return Err("nothing was changed: the time in the text has passed".into());
    }
    check_times_agree(subject, zone, now, now_at)
        .map_err(|why| format!("nothing was changed: the subject disagrees with the text: {why}"))?;
    Ok(moved)
}

/// The hour of the event on another day.
fn same_hour(event: (Instant, Instant), zone: Tz, day: Instant, length: Duration) -> Option<(Instant, Instant)> {
    let hour = event.0.utc().with_timezone(&zone).time();
    let day = day.utc().with_timezone(&zone).date_naive();
    let start = Instant::new(zone.from_local_datetime(&day.and_time(hour)).earliest()?.to_utc())?;
    Some((start, start.plus(length)))
}

/// Returns the times that a text names, by the clock of a zone, with relative ones counted from `now`.
pub fn read_times_in_text(text: &str, zone: Tz, now: Instant) -> TimesInText {
    let me = Me::in_zone(zone);
    let base = ReferenceTime::new(now, &me);
    let mut reader = AskedTimesReader::new(&base);
    let mut found = TimesInText::default();
    for sentence in text.lines().flat_map(split_plainly) {
        reader.read(sentence);
        found.unread.extend(find_unread_times(&normalise(sentence), &base));
    }
    for time in reader.finish().map(|asked| asked.times).unwrap_or_default() {
        match time {
            AskedTime::Start { start, end } => found.starts.push((start, end)),
            AskedTime::Window { from, to } => found.windows.push((from, to)),
        }
    }
    found
}

impl TimesInText {
    /// Compares the times of a text with those of an event.
    pub fn agreement_with(&self, start: Instant, end: Instant) -> TimeAgreement {
        if let Some(unread) = self.unread.first() {
            return TimeAgreement::InDoubt(format!("the time “{unread}” in the text cannot be read for certain"));
        }
        let mut others =
            self.starts.iter().filter(|(named, until)| *named != start || until.is_some_and(|until| until != end));
        let names_event = self.starts.iter().any(|(named, _)| *named == start);
        match (others.next(), others.next()) {
            (Some((start, end)), None) if !names_event || self.starts.len() == 1 => {
                TimeAgreement::Names { start: *start, end: *end }
            }
            (Some(_), _) => TimeAgreement::InDoubt("the text names more than one time".into()),
            (None, _) if names_event => TimeAgreement::Agrees,
            (None, _) => self.days_agreement(start, end),
        }
    }

    fn days_agreement(&self, start: Instant, end: Instant) -> TimeAgreement {
        let holds = |(from, to): &&(Instant, Instant)| *from <= start && end <= *to;
        match self.windows.as_slice() {
            [] => TimeAgreement::Agrees,
            windows if windows.iter().any(|window| holds(&window)) => TimeAgreement::Agrees,
            [(from, to)] => TimeAgreement::NamesDay { from: *from, to: *to },
            _ => TimeAgreement::InDoubt("the text names other days".into()),
        }
    }
}

/// Cuts a line at the ends of its sentences. A number before a full stop is part of a date.
fn split_plainly(line: &str) -> impl Iterator<Item = &str> {
    let ends = |(at, mark): &(usize, &str)| {
        let word = line.get(..*at).unwrap_or_default().rsplit(' ').next().unwrap_or_default();
        mark.starts_with(['!', '?']) || word.chars().filter(|c| c.is_alphabetic()).count() >= 3
    };
    let mut cuts: Vec<usize> = [". ", "! ", "? "]
        .iter()
        .flat_map(|mark| line.match_indices(mark))
        .filter(ends)
        .map(|(at, mark)| at + mark.len())
        .collect();
    cuts.sort_unstable();
    let from = std::iter::once(0).chain(cuts.clone());
    let to: Vec<usize> = cuts.into_iter().chain([line.len()]).collect();
    from.zip(to).filter_map(|(from, to)| line.get(from..to)).collect::<Vec<_>>().into_iter()
}
