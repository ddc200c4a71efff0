//! When the person is taken, as far as a mail says so: what they wrote from their own program, and what somebody confirms.
//!
//! A calendar is often known only from such mails. Nothing here decides what is answered: a time that is taken is only a
//! reason to offer another one, and the person is shown the sentence.

use chrono::Duration;

use super::{
    conversation::says,
    lexicon::{Feature, WordList},
    mail::annotated_mail::AnnotatedMail,
    read::ReadContext,
    sentence::score::ScoredSentence,
    task::{money, objective::truncate_at_word},
};
use crate::date::{AskedTimesReader, ReferenceTime};
use crate::model::{Appointment, AskedTime, HeldKind, Instant, Mail};

/// How long an appointment takes where nobody says it.
const DEFAULT_LENGTH: Duration = Duration::hours(1);
/// More times in one mail are a programme, not appointments of the reader.
const MOST_APPOINTMENTS: usize = 12;
/// The longest sentence that is kept, in characters.
const LONGEST_WORDS: usize = 120;

/// Returns when the person is taken because of the mail. What a list sends to everybody is not about the reader.
pub(super) fn find_appointments(
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
    context: &ReadContext<'_>,
) -> Vec<Appointment> {
    if mail.list_id.is_some() || annotated.has_forwarded_part() {
        return Vec::new();
    }
    let finder = AppointmentFinder { annotated, base };
    let mut found = if context.me.is_me(&mail.from) {
        annotated.sentences.iter().flat_map(|scored| finder.own_times(scored)).collect()
    } else {
        finder.confirmed_times(mail, context)
    };
    found.retain(|appointment| base.hours_until(appointment.to) > 0.0);
    if found.len() > MOST_APPOINTMENTS { Vec::new() } else { found }
}

struct AppointmentFinder<'a> {
    annotated: &'a AnnotatedMail<'a>,
    base: &'a ReferenceTime<'a>,
}

/// A time as sentences name it, with the first of them.
struct NamedSpan {
    from: Instant,
    to: Instant,
    /// Whether an hour is named, and not only days.
    is_exact: bool,
    words: String,
}

impl NamedSpan {
    fn held_as(self, kind: HeldKind) -> Appointment {
        Appointment { from: self.from, to: self.to, kind, words: self.words }
    }
}

impl AppointmentFinder<'_> {
    /// Returns what a sentence of the person's own says: an hour, or days on which they are away.
    fn own_times(&self, scored: &ScoredSentence<'_>) -> Vec<Appointment> {
        let spans = self.read(&[scored]);
        if spans.is_empty() || scored.has(Feature::Conditional) {
            return Vec::new();
        }
        let kind = match scored {
            _ if says(scored, WordList::Calloffs) => HeldKind::Released,
            _ if is_question(scored) => HeldKind::Proposed,
            _ => HeldKind::Written,
        };
        let tells_days = says(scored, WordList::Stretches) || says(scored, WordList::Unavailable);
        let is_away = kind == HeldKind::Written && tells_days;
        spans.into_iter().filter(|span| is_away || span.is_exact).map(|span| span.held_as(kind)).collect()
    }

    /// Returns what somebody confirms to the person. Where only the mail as a whole tells that it is a confirmation, it has
    /// to name one time.
    fn confirmed_times(&self, mail: &Mail, context: &ReadContext<'_>) -> Vec<Appointment> {
        let confirms = |scored: &ScoredSentence<'_>| {
            says(scored, WordList::Bookings) || (context.thread_mine && says(scored, WordList::Agreements))
        };
        let is_off = |scored: &ScoredSentence<'_>| says(scored, WordList::Calloffs);
        let told = self.annotated.sentences.iter().filter(|scored| !asks(scored) && !scored.is_for_program);
        let told: Vec<&ScoredSentence<'_>> = told.collect();
        // Most mail names no hour, and is asked no more.
        let all: Vec<NamedSpan> = self.read(&told).into_iter().filter(|span| span.is_exact).collect();
        if all.is_empty() {
            return Vec::new();
        }
        let of_sentence = |scored: &&ScoredSentence<'_>| {
            let mut spans = self.read(&[*scored]);
            spans.retain(|span| span.is_exact);
            let kind = match scored {
                _ if spans.is_empty() => return Vec::new(),
                _ if is_off(scored) => HeldKind::Released,
                _ if confirms(scored) => HeldKind::Booked,
                _ => return Vec::new(),
            };
            spans.into_iter().map(|span| span.held_as(kind)).collect()
        };
        let found: Vec<Appointment> = told.iter().flat_map(of_sentence).collect();
        let is_confirmation = || {
            mail.invite.is_none()
                && told.iter().any(|scored| confirms(scored))
                && !told.iter().any(|scored| is_off(scored))
        };
        if !found.is_empty() || all.len() > 1 || !is_confirmation() {
            return found;
        }
        all.into_iter().map(|span| span.held_as(HeldKind::Booked)).collect()
    }

    /// Returns how long an appointment of the mail takes.
    fn length(&self) -> Duration {
        let mut said = self.annotated.sentences.iter().map(|scored| scored.sentence.normalised.as_str());
        said.find_map(money::find_meeting_minutes).map_or(DEFAULT_LENGTH, |minutes| Duration::minutes(minutes.into()))
    }

    fn read(&self, sentences: &[&ScoredSentence<'_>]) -> Vec<NamedSpan> {
        let mut reader = AskedTimesReader::new(self.base);
        let mut words = "";
        for scored in sentences {
            if reader.read(scored.sentence.raw) && words.is_empty() {
                words = scored.sentence.raw;
            }
        }
        let words = truncate_at_word(words, LONGEST_WORDS);
        let span = |time: AskedTime| {
            let (from, to, is_exact) = match time {
                AskedTime::Start { start, end } => (start, end.unwrap_or_else(|| start.plus(self.length())), true),
                AskedTime::Window { from, to } => (from, to, false),
            };
            NamedSpan { from, to, is_exact, words: words.clone() }
        };
        reader.finish().map(|asked| asked.times).unwrap_or_default().into_iter().map(span).collect()
    }
}

fn is_question(scored: &ScoredSentence<'_>) -> bool {
    scored.sentence.raw.trim_end_matches(['"', ')', ' ', '!']).ends_with('?')
}

fn asks(scored: &ScoredSentence<'_>) -> bool {
    scored.asks_outright() || is_question(scored) || scored.features.has_any(&[Feature::Proposes, Feature::LetMeKnow])
}
