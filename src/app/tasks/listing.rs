//! The use cases of lists of tasks: pages, and figures about what is open.

use chrono::Duration;
use serde::Serialize;

use crate::{
    app::App,
    model::{Instant, ListedStatus, Priority, TaskCounts, TaskPage, TaskPageQuery, TaskPosition, TaskRow, TaskView},
};

/// The ages by which open tasks are counted: a name, and the age in days at which the next one begins.
const AGES: [(&str, Option<i64>); 5] =
    [("< 1 day", Some(1)), ("1–3 days", Some(3)), ("3–7 days", Some(7)), ("1–4 weeks", Some(28)), ("> 4 weeks", None)];

/// How many open tasks were opened so long ago. Ages are counted in whole hours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenAge {
    pub age: &'static str,
    pub tasks: u64,
}

/// The use cases of lists of tasks.
#[derive(Clone, Copy)]
pub struct TaskListUseCases<'a> {
    pub(in crate::app) app: &'a App,
}

impl TaskListUseCases<'_> {
    /// Returns a page of a list of the person's tasks. It begins behind `after`.
    pub async fn page(
        self,
        view: TaskView,
        priority: Option<Priority>,
        after: Option<TaskPosition>,
        limit: usize,
    ) -> anyhow::Result<TaskPage> {
        let (user, now) = (self.app.user.clone(), self.app.clock.now());
        let query = TaskPageQuery { user, view, priority, after, limit };
        Ok(self.app.store.read(move |reader| reader.task_lists().page(&query, now)).await?)
    }

    /// Returns how many tasks the person has at each stage.
    pub async fn counts(self) -> anyhow::Result<TaskCounts> {
        let (user, now) = (self.app.user.clone(), self.app.clock.now());
        Ok(self.app.store.read(move |reader| reader.task_lists().counts(&user, now)).await?)
    }

    /// Returns the first tasks of several lists.
    pub async fn board(self, views: &[TaskView], limit: usize) -> anyhow::Result<Vec<(TaskView, TaskPage)>> {
        let (user, now) = (self.app.user.clone(), self.app.clock.now());
        let query = |view| TaskPageQuery { user: user.clone(), view, priority: None, after: None, limit };
        let queries: Vec<TaskPageQuery> = views.iter().copied().map(query).collect();
        let pages = self.app.store.read(move |reader| {
            queries.iter().map(|query| Ok((query.view, reader.task_lists().page(query, now)?))).collect()
        });
        Ok(pages.await?)
    }

    /// Returns the tasks of a status without the first `skipped`, and how many there are: first what is pending, the
    /// most urgent first. Snoozed ones are among them.
    pub async fn from_offset(
        self,
        status: ListedStatus,
        skipped: usize,
        limit: usize,
    ) -> anyhow::Result<(Vec<TaskRow>, u64)> {
        let user = self.app.user.clone();
        let listed = self
            .app
            .store
            .read(move |reader| reader.task_lists().listed(&user, status, None, (skipped, limit)))
            .await?;
        Ok((listed.rows, listed.total))
    }

    /// Returns how many open tasks there are of each age, the youngest first.
    pub async fn open_ages(self) -> anyhow::Result<Vec<OpenAge>> {
        let (user, now) = (self.app.user.clone(), self.app.clock.now());
        // The present hour belongs to the first age, so every age ends with the hour after it.
        let hour = now.plus(Duration::hours(1));
        let ages = self.app.store.read(move |reader| {
            let counts = reader.task_lists().counts(&user, now)?;
            let open = counts.ready + counts.in_progress + counts.waiting;
            let (mut ages, mut counted, mut to) = (Vec::new(), 0, Instant::LATEST);
            for (age, days) in AGES {
                let tasks = match days {
                    Some(days) => {
                        let from = hour.plus(-Duration::days(days));
                        let tasks = reader.task_lists().count_opened_between(&user, from, to)?;
                        to = from;
                        tasks
                    }
                    None => open.saturating_sub(counted),
                };
                counted += tasks;
                ages.push(OpenAge { age, tasks });
            }
            Ok(ages)
        });
        Ok(ages.await?)
    }
}
