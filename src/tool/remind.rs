//! `remind`: a reminder that every interface shows at its time, and again where it recurs.

use chrono::{Duration, NaiveDate, TimeZone};
use serde_json::json;

use super::{Tool, ToolError, ToolInput, ToolOutcome, ToolParameter};
use crate::model::{Effect, FactsKind, Instant, Me, Recurrence, TaskKind, action::Origin};

/// When a task without a deadline is brought up again.
const WITHOUT_DEADLINE: Duration = Duration::days(3);
/// How long before a deadline the reminder comes.
const LEAD_TIME: Duration = Duration::hours(24);
/// How long before a deadline that is nearer than [`LEAD_TIME`].
const SHORT_LEAD_TIME: Duration = Duration::hours(2);

/// Requests a reminder of the task's objective.
pub(super) struct Remind;

impl Tool for Remind {
    fn name(&self) -> &'static str {
        "remind"
    }

    fn purpose(&self) -> &'static str {
        "set a reminder for the person"
    }

    fn parameters(&self) -> &'static [ToolParameter] {
        const {
            &[ToolParameter::target(
                "text",
                "what to be reminded of and when, in one sentence, such as \"remind me on Friday at 9 to call Ann\"",
            )]
        }
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
    /// The kind of the task.
    pub kind: FactsKind,
    pub due: Option<Instant>,
    /// The deadline as it was said: a day, or a day with its hour.
    pub deadline: Option<&'a str>,
    pub me: &'a Me,
    pub now: Instant,
}

/// Returns whether a task of this kind is nothing but a reminder, which is done once it was shown.
pub fn is_reminder(kind: FactsKind) -> bool {
    kind == FactsKind::Task(TaskKind::Reminder)
}

/// Returns when the reminder comes. One that the person asked for comes at its time, or on the morning of its day; one
/// of a deadline comes ahead of it. None comes in the past.
pub fn reminder_time(asked: &ReminderRequest<'_>) -> Instant {
    let Some(due) = asked.due else { return asked.now.plus(WITHOUT_DEADLINE) };
    if is_reminder(asked.kind) {
        return work_start_on_deadline(asked).unwrap_or(due).max(asked.now);
    }
    let early = due.plus(-LEAD_TIME);
    let late = due.plus(-SHORT_LEAD_TIME);
    if early > asked.now { early } else { late.max(asked.now) }
}

/// Returns when work begins on the day of a deadline that names no hour.
fn work_start_on_deadline(asked: &ReminderRequest<'_>) -> Option<Instant> {
    let day: NaiveDate = asked.deadline?.parse().ok()?;
    let start = asked.me.time_zone.from_local_datetime(&day.and_time(asked.me.work_start)).earliest()?;
    Instant::new(start.to_utc())
}
