//! Which task a reference means: number before exact title before similar title, and a question in doubt.

use crate::{
    assistant::{
        direct::ListedStatus,
        memory::Action,
        reference::Reference,
        tool::{TaskTools, TaskView, ToolCall},
        turn::{Step, Turn},
    },
    model::TaskId,
};

/// How many tasks one message changes at most.
pub(super) const MOST_AT_ONCE: usize = 100;

/// What a reference means.
pub(super) enum Resolved {
    One(TaskView),
    /// All of these, because the person said so.
    Many(Vec<TaskView>),
    /// One of these, and nobody knows which.
    Several {
        query: String,
        tasks: Vec<TaskView>,
    },
    Unspecified,
    NoNumber(i64),
    NoTitle(String),
}

impl<T: TaskTools> Turn<'_, T> {
    /// Finds what is meant. Places in a list count in `options` if there are any, or else in the list that was just shown.
    pub(super) async fn resolve(
        &mut self,
        reference: &Reference,
        options: &[TaskId],
        action: &Action,
    ) -> Step<Resolved> {
        match reference {
            Reference::Nothing => Ok(Resolved::Unspecified),
            Reference::Pronoun => match self.reply.mentioned.or_else(|| self.request.history.last_mentioned()) {
                Some(task_id) => self.resolve_id(task_id).await,
                None => Ok(Resolved::Unspecified),
            },
            Reference::Number(number) => self.resolve_number(*number).await,
            Reference::Id(task_id) => self.resolve_id(*task_id).await,
            Reference::Bare(number) => match self.listed_at(*number, options) {
                Place::Task(task_id) => self.resolve_id(task_id).await,
                // A number beyond the list can only be the number of one of its tasks.
                Place::Beyond(tasks) => self.resolve_number_among(*number, &tasks).await,
                Place::NoList => self.resolve_number(*number).await,
            },
            Reference::Ordinal(nth) => match self.listed_at(i64::try_from(*nth).unwrap_or(i64::MAX), options) {
                Place::Task(task_id) => self.resolve_id(task_id).await,
                Place::Beyond(_) | Place::NoList => Ok(Resolved::Unspecified),
            },
            Reference::Last => match self.shown_tasks(options).last() {
                Some(task_id) => self.resolve_id(*task_id).await,
                None => Ok(Resolved::Unspecified),
            },
            Reference::Both => {
                let shown = self.shown_tasks(options);
                if shown.is_empty() { Ok(Resolved::Unspecified) } else { self.resolve_ids(&shown).await }
            }
            Reference::Every(status) => self.resolve_every(*status, options, action).await,
            Reference::Several(references) => self.resolve_several(references, options).await,
            Reference::Title(title) => self.resolve_title(title, options).await,
        }
    }

    async fn resolve_number(&mut self, number: i64) -> Step<Resolved> {
        Ok(self.task_by_number(number).await?.map_or(Resolved::NoNumber(number), Resolved::One))
    }

    async fn resolve_number_among(&mut self, number: i64, tasks: &[TaskId]) -> Step<Resolved> {
        let found = self.task_by_number(number).await?.filter(|task| tasks.contains(&task.task_id));
        Ok(found.map_or(Resolved::NoNumber(number), Resolved::One))
    }

    async fn resolve_id(&mut self, task_id: TaskId) -> Step<Resolved> {
        Ok(self.task_by_id(task_id).await?.map_or(Resolved::Unspecified, Resolved::One))
    }

    async fn resolve_ids(&mut self, ids: &[TaskId]) -> Step<Resolved> {
        let mut tasks = Vec::new();
        for task_id in ids {
            tasks.extend(self.task_by_id(*task_id).await?);
        }
        Ok(Resolved::Many(tasks))
    }

    /// Returns every task of a list; with options, all of them. To complete or delete everything means what is pending.
    async fn resolve_every(&mut self, status: ListedStatus, options: &[TaskId], action: &Action) -> Step<Resolved> {
        if !options.is_empty() {
            return self.resolve_ids(options).await;
        }
        let ends = matches!(action, Action::Complete | Action::Delete | Action::NotATask);
        let status = if ends && status == ListedStatus::All { ListedStatus::Pending } else { status };
        let mut tasks = Vec::new();
        for page in 0.. {
            let (more, total) = self.listed(ToolCall::ListTasks { status, page }).await?;
            let is_empty = more.is_empty();
            tasks.extend(more);
            if is_empty || tasks.len() as u64 >= total || tasks.len() >= MOST_AT_ONCE {
                break;
            }
        }
        tasks.truncate(MOST_AT_ONCE);
        Ok(Resolved::Many(tasks))
    }

    async fn resolve_several(&mut self, references: &[Reference], options: &[TaskId]) -> Step<Resolved> {
        let mut tasks: Vec<TaskView> = Vec::new();
        for reference in references {
            let (number, place) = match reference {
                Reference::Number(number) => (*number, Place::NoList),
                Reference::Bare(number) => (*number, self.listed_at(*number, options)),
                _ => continue,
            };
            let found = match place {
                Place::Task(task_id) => self.task_by_id(task_id).await?,
                _ => self.task_by_number(number).await?,
            };
            let Some(task) = found else { return Ok(Resolved::NoNumber(number)) };
            if !tasks.iter().any(|known| known.task_id == task.task_id) {
                tasks.push(task);
            }
        }
        Ok(Resolved::Many(tasks))
    }

    /// Finds a task by its title: pending ones first, and completed ones only if there is no pending one.
    async fn resolve_title(&mut self, title: &str, options: &[TaskId]) -> Step<Resolved> {
        let mut tasks = self.find_by_title(title, ListedStatus::Pending).await?;
        if tasks.is_empty() {
            tasks = self.find_by_title(title, ListedStatus::Completed).await?;
        }
        if !options.is_empty() && tasks.iter().any(|task| options.contains(&task.task_id)) {
            tasks.retain(|task| options.contains(&task.task_id));
        }
        match tasks.pop() {
            None => Ok(Resolved::NoTitle(title.to_owned())),
            Some(only) if tasks.is_empty() => Ok(Resolved::One(only)),
            Some(last) => {
                tasks.push(last);
                tasks.sort_by_key(|task| task.number);
                Ok(Resolved::Several { query: title.to_owned(), tasks })
            }
        }
    }

    /// Returns the tasks that places count in.
    fn shown_tasks(&self, options: &[TaskId]) -> Vec<TaskId> {
        match &self.request.history.last().list {
            _ if !options.is_empty() => options.to_vec(),
            Some(list) => list.tasks.clone(),
            None => Vec::new(),
        }
    }

    /// Returns what is at a place, counted from 1 on the first page of the list.
    fn listed_at(&self, place: i64, options: &[TaskId]) -> Place {
        let shown = self.shown_tasks(options);
        if shown.is_empty() {
            return Place::NoList;
        }
        let first = match &self.request.history.last().list {
            Some(list) if options.is_empty() => list.page * crate::assistant::tool::PAGE,
            _ => 0,
        };
        let index = usize::try_from(place).ok().and_then(|place| place.checked_sub(first + 1));
        index.and_then(|index| shown.get(index).copied()).map_or_else(|| Place::Beyond(shown.clone()), Place::Task)
    }
}

/// What is at a place of the list that was just shown.
enum Place {
    Task(TaskId),
    /// The list is not that long.
    Beyond(Vec<TaskId>),
    /// No list was just shown.
    NoList,
}
