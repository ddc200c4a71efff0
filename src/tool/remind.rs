//! `remind`: a notice in every door at the time.

use chrono::{Duration, NaiveDate, TimeZone};
use serde_json::json;

use super::{CannotDo, Outcome, Tool, ToolInput};
use crate::model::{Effect, Instant, action::Origin};

/// A task without a deadline is brought up again after this long.
const WITHOUT_DEADLINE: Duration = Duration::days(3);
/// The usual head start.
const AHEAD: Duration = Duration::hours(24);
/// When the deadline is nearer than that.
const AHEAD_LATE: Duration = Duration::hours(2);

pub(super) struct Remind;

impl Tool for Remind {
    fn name(&self) -> &'static str {
        "remind"
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<Outcome, CannotDo> {
        let at = time_for(input);
        let effect = Effect::Remind { at, text: input.task.objective.clone() };
        Ok(Outcome::wish(effect, json!({ "remind_at": at }), &[("text", Origin::Mail)]))
    }
}

/// A reminder the person asked for comes at its time, or on the morning of its day; one before a deadline comes ahead of
/// it, and never in the past.
fn time_for(input: &ToolInput<'_>) -> Instant {
    let Some(due) = input.facts.due_at else { return input.now.plus(WITHOUT_DEADLINE) };
    if input.facts.kind == "reminder" {
        return morning(input).unwrap_or(due).max(input.now);
    }
    let early = due.plus(-AHEAD);
    let late = due.plus(-AHEAD_LATE);
    if early > input.now { early } else { late.max(input.now) }
}

/// When work begins on the day of a deadline that names no hour.
fn morning(input: &ToolInput<'_>) -> Option<Instant> {
    let day: NaiveDate = input.task.context.deadline.as_deref()?.parse().ok()?;
    let start = input.me.time_zone.from_local_datetime(&day.and_time(input.me.work_start)).earliest()?;
    Some(Instant::from(start.to_utc()))
}
