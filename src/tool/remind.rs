//! `remind`: a notice in every door at the time, and again where it comes back.

use chrono::{Duration, NaiveDate, TimeZone};
use serde_json::json;

use super::{Tool, ToolError, ToolInput, ToolOutcome};
use crate::model::{Effect, FactsKind, Instant, Me, Recurrence, TaskKind, action::Origin};

/// A task without a deadline is brought up again after this long.
const WITHOUT_DEADLINE: Duration = Duration::days(3);
/// The usual head start.
const LEAD_TIME: Duration = Duration::hours(24);
/// When the deadline is nearer than that.
const SHORT_LEAD_TIME: Duration = Duration::hours(2);

pub(super) struct Remind;

impl Tool for Remind {
    fn name(&self) -> &'static str {
        "remind"
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        let at = reminder_time(&ReminderRequest {
            kind: input.facts.kind,
            due: input.facts.due_at,
            deadline: input.task.context.deadline.as_deref(),
            me: input.me,
            now: input.now,
        });
        let said = input.task.context.more.get("evidence").and_then(|text| text.as_str());
        let every = said.filter(|_| is_reminder(input.facts.kind)).and_then(Recurrence::find_in_text);
        let effect = Effect::Remind { at, text: input.task.objective.clone(), every };
        let output = match every {
            Some(every) => json!({ "remind_at": at, "every": every }),
            None => json!({ "remind_at": at }),
        };
        Ok(ToolOutcome::request_effect(effect, output, &[("text", Origin::Mail)]))
    }
}

/// What the time of a reminder depends on.
pub struct ReminderRequest<'a> {
    /// Of the task.
    pub kind: FactsKind,
    pub due: Option<Instant>,
    /// As it was said: a day, or a day with its hour.
    pub deadline: Option<&'a str>,
    pub me: &'a Me,
    pub now: Instant,
}

/// Whether a task of this kind is nothing but a reminder, which is done when it was shown.
pub fn is_reminder(kind: FactsKind) -> bool {
    kind == FactsKind::Task(TaskKind::Reminder)
}

/// A reminder the person asked for comes at its time, or on the morning of its day; one before a deadline comes ahead of
/// it, and never in the past.
pub fn reminder_time(asked: &ReminderRequest<'_>) -> Instant {
    let Some(due) = asked.due else { return asked.now.plus(WITHOUT_DEADLINE) };
    if is_reminder(asked.kind) {
        return work_start_on_deadline(asked).unwrap_or(due).max(asked.now);
    }
    let early = due.plus(-LEAD_TIME);
    let late = due.plus(-SHORT_LEAD_TIME);
    if early > asked.now { early } else { late.max(asked.now) }
}

/// When work begins on the day of a deadline that names no hour.
fn work_start_on_deadline(asked: &ReminderRequest<'_>) -> Option<Instant> {
    let day: NaiveDate = asked.deadline?.parse().ok()?;
    let start = asked.me.time_zone.from_local_datetime(&day.and_time(asked.me.work_start)).earliest()?;
    Instant::new(start.to_utc())
}
