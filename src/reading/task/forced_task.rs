//! When a person says it is a task: one is made, whatever the reading says. And dates typed by hand.

use crate::model::{ExtractedTask, Instant, Mail, Me, TaskKind};
use crate::reading::{
    date::{self, ReferenceTime},
    read::ReadContext,
    sentence::text,
    task::{
        objective::truncate_at_word,
        plan::{new_task, set_due_date_and_steps},
    },
};

/// The subject, or the first sentence, as a request.
pub fn plan_forced_task(mail: &Mail, context: &ReadContext<'_>) -> ExtractedTask {
    let sentences = text::split_sentences(&mail.text);
    let first = sentences.first().map_or("", |sentence| sentence.raw);
    let subject = mail.subject.trim();
    let mut task = new_task(TaskKind::Request, mail, if first.is_empty() { subject } else { first });
    let about = if subject.is_empty() { first } else { subject };
    task.objective = truncate_at_word(if about.is_empty() { "Look at this mail" } else { about }, 120);
    let base = ReferenceTime::new(mail.date.unwrap_or(context.now), context.me);
    let due = sentences.iter().find_map(|sentence| date::find_due_date(&sentence.normalised, &base));
    set_due_date_and_steps(&mut task, due, mail);
    task
}

/// A date or time as a person types it: as precise as it was said, and the instant it means.
pub fn parse_typed_date(typed: &str, me: &Me, now: Instant) -> Option<(String, Instant)> {
    date::find_typed_due_date(&text::normalise(typed.trim()), &ReferenceTime::new(now, me))
        .map(|due| (due.deadline, due.at))
}

/// The start of what an expression of time names, by the clock on the person's wall.
pub fn moment(typed: &str, me: &Me, now: Instant) -> Option<chrono::NaiveDateTime> {
    date::find_start(&text::normalise(typed.trim()), &ReferenceTime::new(now, me))
}
