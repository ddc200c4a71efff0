//! Pages of lists of tasks. A page begins behind the last task of the page before it (keyset paging), so that a late page
//! costs what the first one costs, and a task that is added meanwhile moves none to another page.

use std::{fmt, str::FromStr};

use crate::model::{Instant, Priority, TaskId, TaskRow, UserId, text_enum::text_enum};

text_enum! {
    /// Which tasks a page lists.
    TaskView {
        /// Every task that has not ended and is not snoozed, the most urgent first.
        Open = "open",
        /// The tasks that nobody has begun.
        Ready = "ready",
        InProgress = "in_progress",
        /// The tasks that wait for the person's decision.
        Waiting = "waiting",
        /// The tasks that are hidden until a time, the next one first.
        Snoozed = "snoozed",
        /// The tasks that are done, the newest first.
        Done = "done",
        Cancelled = "cancelled",
    }
}

/// A request for one page of a list of tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskPageQuery {
    pub user: UserId,
    pub view: TaskView,
    /// Only tasks of this priority. Lists by time have none.
    pub priority: Option<Priority>,
    /// The place behind which the page begins; none for the first page.
    pub after: Option<TaskPosition>,
    pub limit: usize,
}

/// A page of a list of tasks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskPage {
    pub rows: Vec<TaskRow>,
    /// Where the next page begins; none on the last one.
    pub next: Option<TaskPosition>,
}

/// The place of a task in a list. Its text form stands in the address of the next page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskPosition {
    /// The priority in a list by urgency; none in a list by time.
    pub priority: Option<Priority>,
    /// The deadline in a list by urgency, the time of the list otherwise.
    pub at: Option<Instant>,
    pub task_id: TaskId,
}

/// A text that is not the place of a task in a list.
#[derive(Debug, thiserror::Error)]
#[error("'{0}' is not a place in a list of tasks")]
pub struct BadTaskPosition(String);

/// Between the parts of the text form. No part can contain it.
const SEPARATOR: char = '~';

impl fmt::Display for TaskPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let priority = self.priority.map_or("", Priority::as_str);
        let at = self.at.map(|at| at.to_string()).unwrap_or_default();
        write!(f, "{priority}{SEPARATOR}{at}{SEPARATOR}{}", self.task_id)
    }
}

impl FromStr for TaskPosition {
    type Err = BadTaskPosition;

    fn from_str(text: &str) -> Result<Self, BadTaskPosition> {
        let bad = || BadTaskPosition(text.to_owned());
        let mut parts = text.split(SEPARATOR);
        let (Some(priority), Some(at), Some(id), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(bad());
        };
        Ok(Self {
            priority: (!priority.is_empty()).then(|| priority.parse()).transpose().map_err(|_| bad())?,
            at: (!at.is_empty()).then(|| at.parse()).transpose().map_err(|_| bad())?,
            task_id: id.parse().map_err(|_| bad())?,
        })
    }
}

/// How many tasks a person has at each stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct TaskCounts {
    pub ready: u64,
    pub in_progress: u64,
    pub waiting: u64,
    /// Those of the above that are hidden until a time.
    pub snoozed: u64,
    pub done: u64,
    pub cancelled: u64,
}

impl TaskCounts {
    /// Returns how many tasks a list has. The snoozed ones still count at their stage.
    pub const fn of(&self, view: TaskView) -> u64 {
        match view {
            TaskView::Open => (self.ready + self.in_progress + self.waiting).saturating_sub(self.snoozed),
            TaskView::Ready => self.ready,
            TaskView::InProgress => self.in_progress,
            TaskView::Waiting => self.waiting,
            TaskView::Snoozed => self.snoozed,
            TaskView::Done => self.done,
            TaskView::Cancelled => self.cancelled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_prints_and_parses_back() {
        let task_id: TaskId = "01JYD3A8P0WQ5M4T6R2P0N1M4K".parse().unwrap();
        for (priority, at, text) in [
            (Some(Priority::High), None, "high~~01JYD3A8P0WQ5M4T6R2P0N1M4K"),
            (None, Some("2026-11-16T08:00:00Z".parse().unwrap()), "~2026-11-16T08:00:00Z~01JYD3A8P0WQ5M4T6R2P0N1M4K"),
        ] {
            let place = TaskPosition { priority, at, task_id };
            assert_eq!(place.to_string(), text);
            assert_eq!(text.parse::<TaskPosition>().unwrap(), place);
        }
        for text in ["", "~", "~~", "huge~~01JYD3A8P0WQ5M4T6R2P0N1M4K", "~soon~01JYD3A8P0WQ5M4T6R2P0N1M4K", "~~~~"] {
            assert!(text.parse::<TaskPosition>().is_err(), "{text}");
        }
    }
}
