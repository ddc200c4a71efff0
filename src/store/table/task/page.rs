//! Pages of the lists of a person's tasks, and how many there are at each stage. The time of each query depends on the
//! size of the page only: every part of a list is a range of an index that begins at the place of the page.

use super::listing::TaskListReader;
use crate::{
    model::{Instant, Priority, TaskCounts, TaskPage, TaskPageQuery, TaskPosition, TaskView, UserId},
    store::{
        error::Result,
        table::{parse_column, parse_optional_column, query_optional, query_readable},
    },
};

/// The last text of any time or id, behind which nothing comes.
const END: &str = "~";

impl TaskListReader<'_> {
    /// Returns a page of a list of tasks.
    pub fn page(self, query: &TaskPageQuery, now: Instant) -> Result<TaskPage> {
        // One more than asked for tells whether there is a next page.
        let wanted = query.limit.saturating_add(1);
        let mut places = match query.view {
            TaskView::Open => self.by_urgency(query, "l.state = 'pending'", now, wanted)?,
            TaskView::Ready => self.by_urgency(query, "l.stage = 'ready'", now, wanted)?,
            TaskView::InProgress => self.by_urgency(query, "l.stage = 'in_progress'", now, wanted)?,
            TaskView::Waiting => self.by_urgency(query, "l.stage = 'waiting'", now, wanted)?,
            TaskView::Snoozed => self.snoozed(query, now, wanted)?,
            TaskView::Done | TaskView::Cancelled => self.ended(query, wanted)?,
        };
        let more = places.len() > query.limit;
        places.truncate(query.limit);
        let ids: Vec<String> = places.iter().map(|place| place.task_id.to_string()).collect();
        Ok(TaskPage { rows: self.rows(&ids)?, next: places.last().copied().filter(|_| more) })
    }

    /// Returns the places of tasks behind the query's: the most urgent level first, in it those with a deadline, the
    /// earliest first, and then the others, the oldest first.
    fn by_urgency(self, query: &TaskPageQuery, stage: &str, now: Instant, wanted: usize) -> Result<Vec<TaskPosition>> {
        let after = query.after.filter(|place| place.priority.is_some());
        let from = after.and_then(|place| place.priority).unwrap_or(Priority::Critical);
        let levels = Priority::ALL.iter().rev().copied().filter(|level| query.priority.unwrap_or(*level) == *level);
        let mut places = Vec::new();
        for level in levels.filter(|level| *level <= from) {
            let begun = after.filter(|place| place.priority == Some(level));
            if begun.is_none_or(|place| place.at.is_some()) {
                self.add_dated(&mut places, query, stage, (level, begun), now, wanted)?;
            }
            let begun = begun.filter(|place| place.at.is_none());
            self.add_undated(&mut places, query, stage, (level, begun), now, wanted)?;
        }
        Ok(places)
    }

    /// Adds the next tasks of a level that have a deadline, up to `wanted` in all.
    fn add_dated(
        self,
        places: &mut Vec<TaskPosition>,
        query: &TaskPageQuery,
        stage: &str,
        (level, after): (Priority, Option<TaskPosition>),
        now: Instant,
        wanted: usize,
    ) -> Result<()> {
        let sql = format!(
            "SELECT l.task_id, l.due_at FROM task_listing l
             WHERE l.user_id = ?1 AND {stage} AND l.rank = (SELECT rank FROM priority WHERE level = ?2) AND l.no_due = 0
             AND (l.due_at, l.task_id) > (?3, ?4) AND (l.snooze_until IS NULL OR l.snooze_until <= ?5)
             ORDER BY l.due_at, l.task_id LIMIT ?6"
        );
        let at = after.and_then(|place| place.at).map(|at| at.to_string()).unwrap_or_default();
        let id = after.map(|place| place.task_id.to_string()).unwrap_or_default();
        let values = (query.user.as_str(), level.as_str(), at, id, now.to_string(), room(places, wanted));
        places.extend(query_readable(self.0, &sql, values, "listing tasks", |row| {
            Ok(TaskPosition { priority: Some(level), task_id: parse_column(row, 0)?, at: Some(parse_column(row, 1)?) })
        })?);
        Ok(())
    }

    /// Adds the next tasks of a level that have no deadline, up to `wanted` in all.
    fn add_undated(
        self,
        places: &mut Vec<TaskPosition>,
        query: &TaskPageQuery,
        stage: &str,
        (level, after): (Priority, Option<TaskPosition>),
        now: Instant,
        wanted: usize,
    ) -> Result<()> {
        let sql = format!(
            "SELECT l.task_id FROM task_listing l
             WHERE l.user_id = ?1 AND {stage} AND l.rank = (SELECT rank FROM priority WHERE level = ?2) AND l.no_due = 1
             AND l.due_at IS NULL AND l.task_id > ?3 AND (l.snooze_until IS NULL OR l.snooze_until <= ?4)
             ORDER BY l.task_id LIMIT ?5"
        );
        let id = after.map(|place| place.task_id.to_string()).unwrap_or_default();
        let values = (query.user.as_str(), level.as_str(), id, now.to_string(), room(places, wanted));
        places.extend(query_readable(self.0, &sql, values, "listing tasks", |row| {
            Ok(TaskPosition { priority: Some(level), task_id: parse_column(row, 0)?, at: None })
        })?);
        Ok(())
    }

    /// Returns the places of snoozed tasks, the one that is shown again first at the front.
    fn snoozed(self, query: &TaskPageQuery, now: Instant, wanted: usize) -> Result<Vec<TaskPosition>> {
        let sql = "SELECT task_id, snooze_until FROM task_listing
                   WHERE user_id = ?1 AND snooze_until IS NOT NULL AND (snooze_until, task_id) > (?2, ?3) AND state = 'pending'
                   ORDER BY snooze_until, task_id LIMIT ?4";
        let at = query.after.and_then(|place| place.at).unwrap_or(now);
        // Those that are shown again at this moment are not snoozed any more.
        let id = query.after.map_or_else(|| END.to_owned(), |place| place.task_id.to_string());
        let values = (query.user.as_str(), at.to_string(), id, room(&[], wanted));
        query_readable(self.0, sql, values, "listing snoozed tasks", |row| {
            Ok(TaskPosition { priority: None, task_id: parse_column(row, 0)?, at: Some(parse_column(row, 1)?) })
        })
    }

    /// Returns the places of tasks that are done or cancelled, the last one first.
    fn ended(self, query: &TaskPageQuery, wanted: usize) -> Result<Vec<TaskPosition>> {
        let sql = "SELECT task_id, ended_at FROM task_ended WHERE user_id = ?1 AND stage = ?2 AND (ended_at, task_id) < (?3, ?4)
                   ORDER BY ended_at DESC, task_id DESC LIMIT ?5";
        let at = query.after.and_then(|place| place.at).map_or_else(|| END.to_owned(), |at| at.to_string());
        let id = query.after.map_or_else(|| END.to_owned(), |place| place.task_id.to_string());
        let values = (query.user.as_str(), query.view.as_str(), at, id, room(&[], wanted));
        query_readable(self.0, sql, values, "listing ended tasks", |row| {
            Ok(TaskPosition { priority: None, task_id: parse_column(row, 0)?, at: parse_optional_column(row, 1)? })
        })
    }

    /// Returns how many tasks a person has at each stage.
    pub fn counts(self, user: &UserId, now: Instant) -> Result<TaskCounts> {
        let sql = "SELECT stage, tasks FROM task_count WHERE user_id = ?1";
        let stages: Vec<(String, i64)> =
            query_readable(self.0, sql, [user.as_str()], "counting tasks", |row| Ok((row.get(0)?, row.get(1)?)))?;
        let sql = "SELECT count(*) FROM task_listing WHERE user_id = ?1 AND snooze_until > ?2 AND state = 'pending'";
        let values = (user.as_str(), now.to_string());
        let snoozed: Option<i64> = query_optional(self.0, sql, values, "counting snoozed tasks", |row| row.get(0))?;
        let mut counts = TaskCounts { snoozed: snoozed.unwrap_or_default().unsigned_abs(), ..TaskCounts::default() };
        for (stage, tasks) in stages {
            let tasks = u64::try_from(tasks).unwrap_or_default();
            match stage.as_str() {
                "ready" => counts.ready = tasks,
                "in_progress" => counts.in_progress = tasks,
                "waiting" => counts.waiting = tasks,
                "done" => counts.done = tasks,
                "cancelled" => counts.cancelled = tasks,
                _ => {}
            }
        }
        Ok(counts)
    }

    /// Returns how many of a person's open tasks were opened from one time to another, in whole hours.
    pub fn count_opened_between(self, user: &UserId, from: Instant, to: Instant) -> Result<u64> {
        let sql = "SELECT coalesce(sum(tasks), 0) FROM task_opened WHERE user_id = ?1 AND hour >= ?2 AND hour < ?3";
        let hour = |at: Instant| at.utc().format("%Y-%m-%dT%H").to_string();
        let values = (user.as_str(), hour(from), hour(to));
        let found: Option<i64> = query_optional(self.0, sql, values, "counting open tasks by age", |row| row.get(0))?;
        Ok(found.and_then(|tasks| u64::try_from(tasks).ok()).unwrap_or_default())
    }
}

/// Returns how many more places are wanted, as SQLite counts.
fn room(places: &[TaskPosition], wanted: usize) -> i64 {
    i64::try_from(wanted.saturating_sub(places.len())).unwrap_or(i64::MAX)
}
