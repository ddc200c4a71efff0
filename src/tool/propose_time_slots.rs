//! `propose_time_slots`: the time that the mail asks for if it is free, else the best of those it offers, else others near
//! it, in the person's working hours and beside what is in their calendar and already proposed to others.

use chrono::{Duration, TimeZone as _};
use serde_json::{Value, json};

use super::{
    BusyTimes, Tool, ToolError, ToolInput, ToolOutcome,
    meeting_time::{MeetingSpan, asked_times},
    slot_search::{SlotConflict, SlotSearch},
};
use crate::model::{AskedTime, AskedTimes, Instant, MeetingAnswer, Task, task::PROPOSE_TIME_SLOTS};

/// How many days ahead free times are looked for, where none was asked for.
const DAYS_AHEAD: i64 = 21;
/// So many days before and behind the times asked for, others are looked for.
const DAYS_AROUND: i64 = 8;
/// A calendar is not asked about a longer time.
const MOST_DAYS: i64 = 60;
/// The length of a meeting whose length nobody named.
const DEFAULT_MINUTES: i64 = 30;
/// The field of an output which says that a calendar was asked.
pub(super) const CALENDAR: &str = "calendar";

/// Finds times for a meeting. The output is used by the steps that write the reply or the invitation.
pub(super) struct ProposeTimeSlots;

impl Tool for ProposeTimeSlots {
    fn name(&self) -> &'static str {
        PROPOSE_TIME_SLOTS
    }

    fn needs_free_times(&self, task: &Task, now: Instant) -> Option<(Instant, Instant)> {
        let days = Duration::days;
        let Some(asked) = asked_times(task) else { return Some((now, now.plus(days(DAYS_AHEAD + 1)))) };
        let first = asked.times.iter().map(|time| time.earliest()).min().unwrap_or(now);
        let last = asked.times.iter().map(AskedTime::latest).max().unwrap_or(now);
        let from = first.plus(-days(DAYS_AROUND)).max(now);
        let to = last.plus(days(DAYS_AROUND)).max(now.plus(days(DAYS_AHEAD + 1)));
        Some((from, to.min(from.plus(days(MOST_DAYS)))))
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        let minutes = input.task.context.meeting_minutes().unwrap_or(DEFAULT_MINUTES);
        let asked = asked_times(input.task);
        let search = SlotSearch::new(input, Duration::minutes(minutes), asked.as_ref());
        let found = find_times(&search, asked.as_ref(), input.now);
        if found.spans.is_empty() {
            let full = if search.has_taken_times() { " and the calendar" } else { "" };
            return Err(ToolError(format!("the working hours in [me]{full} leave no room for a meeting")));
        }
        Ok(ToolOutcome::Output(found.output(input, minutes, asked.as_ref())))
    }
}

/// The times of an answer, and why they are not those that were asked for.
struct FoundTimes {
    answer: MeetingAnswer,
    spans: Vec<MeetingSpan>,
    why: Option<SlotConflict>,
}

/// Returns the times that the answer to the mail names.
fn find_times(search: &SlotSearch<'_>, asked: Option<&AskedTimes>, now: Instant) -> FoundTimes {
    let Some(asked) = asked else {
        return FoundTimes { answer: MeetingAnswer::Offer, spans: search.next_working_days(), why: None };
    };
    let coming: Vec<AskedTime> = asked.times.iter().copied().filter(|time| !time.is_past(now)).collect();
    let Some(first) = coming.first() else {
        return FoundTimes {
            answer: MeetingAnswer::AskAgain,
            spans: search.next_working_days(),
            why: Some(SlotConflict::Past),
        };
    };
    let mut why = None;
    for time in &coming {
        match time {
            AskedTime::Start { start, end } => match search.check(*start, *end) {
                Ok(span) => {
                    let answer = if asked.times.len() == 1 { MeetingAnswer::Accept } else { MeetingAnswer::Choose };
                    let why = (!search.is_in_working_hours(span)).then_some(SlotConflict::OutsideHours);
                    return FoundTimes { answer, spans: vec![span], why };
                }
                Err(taken) => why = why.or(Some(taken)),
            },
            AskedTime::Window { from, to } => match search.first_free_in(*from, *to) {
                Some(span) => return FoundTimes { answer: MeetingAnswer::Suggest, spans: vec![span], why: None },
                None => why = why.or(Some(SlotConflict::Full)),
            },
        }
    }
    FoundTimes { answer: MeetingAnswer::Propose, spans: search.near(first.earliest()), why }
}

impl FoundTimes {
    fn output(&self, input: &ToolInput<'_>, minutes: i64, asked: Option<&AskedTimes>) -> Value {
        let local = |at: Instant| input.me.time_zone.from_utc_datetime(&at.utc().naive_utc()).to_rfc3339();
        let slots: Vec<Value> =
            self.spans.iter().map(|span| json!({ "start": local(span.start), "end": local(span.end) })).collect();
        let mut output = json!({ "minutes": minutes, "answer": self.answer, "slots": slots });
        let mut add = |name: &str, value: Option<Value>| {
            if let (Value::Object(fields), Some(value)) = (&mut output, value) {
                fields.insert(name.into(), value);
            }
        };
        add("asked", asked.map(|asked| Value::from(asked.words.clone())));
        add("their_zone", asked.and_then(|asked| Some(Value::from(asked.zone.as_ref()?.name.clone()))));
        add("why", self.why.as_ref().map(|why| Value::from(why.explain())));
        add("reason", self.why.as_ref().map(|why| Value::from(why.as_str())));
        match input.busy_times {
            BusyTimes::None => {}
            BusyTimes::Known { .. } => add(CALENDAR, Some(Value::Bool(true))),
            BusyTimes::Silent { why } => add("not_asked", Some(Value::from(why.clone()))),
        }
        output
    }
}
