//! Whether a text and the time of an event say the same.
//!
//! A person reads the text, a calendar reads the event. Where the two could differ, it is found here before anybody is
//! asked to approve both.

use super::{AskedTimesReader, ReferenceTime, mention::find_unread_clocks};
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
    /// Figures that look like an hour and were not understood as one.
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

/// Returns the times that a text names, with relative ones counted from `now`.
pub fn read_times_in_text(text: &str, me: &Me, now: Instant) -> TimesInText {
    let base = ReferenceTime::new(now, me);
    let mut reader = AskedTimesReader::new(&base);
    let mut found = TimesInText::default();
    for sentence in text.lines().flat_map(split_plainly) {
        reader.read(sentence);
        found.unread.extend(find_unread_clocks(&normalise(sentence), &base));
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
