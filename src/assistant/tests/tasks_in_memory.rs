//! Tasks in memory, found by the same functions as in the database.

use std::future::{Future, ready};

use crate::{
    assistant::{
        PAGE, PriorityReason,
        command::{ChatPriority, ChatStatus},
        tool::{ChatTask, OfferedPlan, TaskCall, TaskTools, ToolFailure, ToolResult},
    },
    document::title::{TitleQuery, title_key, title_words},
    model::{Instant, ListedStatus, Priority, TaskId, TaskStatus},
    planner::{
        PlannerRequest, detect_complexity,
        request_split::{choose_call, split_request},
    },
};

/// The tasks of one person.
#[derive(Debug, Clone, Default)]
pub(super) struct TasksInMemory {
    pub(super) tasks: Vec<ChatTask>,
    /// Whether every call fails, as with a broken database.
    pub(super) is_broken: bool,
}

fn now() -> Instant {
    "2026-11-16T08:00:00Z".parse().unwrap()
}

impl TasksInMemory {
    /// Returns tasks with these titles, numbered from 1.
    pub(super) fn titled(titles: &[&str]) -> Self {
        let mut tasks = Self::default();
        for title in titles {
            tasks.add(title);
        }
        tasks
    }

    pub(super) fn add(&mut self, title: &str) -> TaskId {
        let number = self.tasks.len() + 1;
        let task_id = TaskId::derive(now(), &[&number.to_string()]);
        // Ids of one second are random, and the list must be in the order of the numbers.
        let task_id = TaskId(ulid::Ulid::from_parts(now().unix_ms() + number as u64, task_id.0.random()));
        self.tasks.push(ChatTask {
            task_id,
            number: i64::try_from(number).ok(),
            title: title.to_owned(),
            description: None,
            status: TaskStatus::Ready,
            priority: Priority::Low,
            deadline: None,
            snooze_until: None,
            is_from_mail: false,
        });
        task_id
    }

    /// Returns the task with this number.
    pub(super) fn number(&self, number: usize) -> &ChatTask {
        &self.tasks[number - 1]
    }

    pub(super) fn status(&self, number: usize) -> TaskStatus {
        self.number(number).status
    }

    fn listed(&self, status: ListedStatus) -> Vec<ChatTask> {
        let is_in = |task: &&ChatTask| match status {
            ListedStatus::Pending => !task.status.is_terminal(),
            ListedStatus::Completed => task.status == TaskStatus::Done,
            ListedStatus::All => task.status != TaskStatus::Cancelled,
        };
        let mut tasks: Vec<ChatTask> = self.tasks.iter().filter(is_in).cloned().collect();
        tasks.sort_by_key(|task| (task.status == TaskStatus::Done, std::cmp::Reverse(task.priority), task.task_id));
        tasks
    }

    fn call(&mut self, call: TaskCall) -> Result<ToolResult, ToolFailure> {
        if self.is_broken {
            return Err(ToolFailure::Unavailable);
        }
        match call {
            TaskCall::AddTask { title, description, priority, deadline, .. } => {
                let task_id = self.add(&title);
                self.change(task_id, |task| {
                    task.description = description;
                    task.priority = priority.map_or(Priority::Low, ChatPriority::level);
                    task.deadline = deadline.map(|deadline| deadline.text);
                    true
                })
            }
            TaskCall::ListTasks { status, page } => {
                let all = self.listed(status);
                let total = all.len() as u64;
                Ok(ToolResult::Listed { tasks: all.into_iter().skip(page * PAGE).take(PAGE).collect(), total })
            }
            TaskCall::FindTasks { status, title } => Ok(found(best_titles(self.listed(status), &title))),
            TaskCall::FindRelated { words, .. } => {
                let mut tasks = self.listed(ListedStatus::Pending);
                tasks.retain(|task| title_words(&task.title).iter().any(|word| words.contains(word)));
                Ok(found(tasks))
            }
            TaskCall::GetTask { number } => {
                let task = self.tasks.iter().find(|task| task.number == Some(number)).cloned();
                Ok(ToolResult::Found { task })
            }
            TaskCall::GetTaskById { task_id } => {
                Ok(ToolResult::Found { task: self.tasks.iter().find(|task| task.task_id == task_id).cloned() })
            }
            TaskCall::CompleteTask { task_id } => self.end(task_id, TaskStatus::Done),
            TaskCall::DeleteTask { task_id } | TaskCall::MarkNotATask { task_id } => {
                self.end(task_id, TaskStatus::Cancelled)
            }
            TaskCall::ReopenTask { task_id } => self.change(task_id, |task| {
                let was_ended = task.status.is_terminal();
                task.status = TaskStatus::Ready;
                was_ended
            }),
            TaskCall::SnoozeTask { task_id, until } => self.change(task_id, |task| {
                task.snooze_until = until;
                true
            }),
            TaskCall::UpdateTask { task_id, changes } => self.change(task_id, |task| {
                task.title = changes.title.unwrap_or_else(|| task.title.clone());
                task.description = changes.description.or(task.description.take());
                task.priority = changes.priority.map_or(task.priority, ChatPriority::level);
                if let Some(deadline) = changes.deadline {
                    task.deadline = deadline.map(|deadline| deadline.text);
                }
                if changes.status == Some(ChatStatus::InProgress) {
                    task.status = TaskStatus::InProgress;
                }
                true
            }),
            TaskCall::ExplainPriority { task_id } => {
                let task = self.tasks.iter().find(|task| task.task_id == task_id).ok_or(ToolFailure::NotFound)?;
                let level = ChatPriority::of(task.priority);
                Ok(ToolResult::Reason(PriorityReason { level, set_by_hand: false, rule: None }))
            }
            TaskCall::PreparePlan { request } => Ok(ToolResult::Plan(plan_of(&request))),
            TaskCall::OpenPlan { plan } => {
                let task_id = self.add(&plan.prepared.to_string());
                self.change(task_id, |_| true)
            }
            TaskCall::ListApprovals => Ok(ToolResult::Waiting { items: Vec::new() }),
        }
    }

    fn end(&mut self, task_id: TaskId, to: TaskStatus) -> Result<ToolResult, ToolFailure> {
        self.change(task_id, |task| {
            let can_end = !task.status.is_terminal();
            task.status = if can_end { to } else { task.status };
            can_end
        })
    }

    fn change(&mut self, id: TaskId, change: impl FnOnce(&mut ChatTask) -> bool) -> Result<ToolResult, ToolFailure> {
        let task = self.tasks.iter_mut().find(|task| task.task_id == id).ok_or(ToolFailure::NotFound)?;
        if !change(task) {
            return Err(ToolFailure::Refused);
        }
        Ok(ToolResult::Changed { task: task.clone(), recorded: None })
    }
}

/// Returns the steps of a complex request, as the task planner divides it.
fn plan_of(request: &str) -> OfferedPlan {
    if !detect_complexity(PlannerRequest::typed(request)).is_complex() {
        return OfferedPlan::default();
    }
    let steps = split_request(request, choose_call, |_| false);
    OfferedPlan {
        has_calls: steps.iter().any(|step| step.call.is_some()),
        steps: steps.into_iter().map(|step| step.description).collect(),
        prepared: request.into(),
        ..OfferedPlan::default()
    }
}

fn found(tasks: Vec<ChatTask>) -> ToolResult {
    ToolResult::Listed { total: tasks.len() as u64, tasks }
}

fn best_titles(tasks: Vec<ChatTask>, title: &str) -> Vec<ChatTask> {
    let query = TitleQuery::new(title);
    let matched = tasks.into_iter().filter_map(|task| Some((query.match_title(&title_key(&task.title))?, task)));
    let mut matched: Vec<_> = matched.collect();
    matched.sort_by(|(one, _), (other, _)| other.compare(*one));
    let best = matched.first().map(|(how, _)| *how);
    matched
        .into_iter()
        .filter(|(how, _)| best.is_some_and(|best| how.is_same_kind(best)))
        .map(|(_, task)| task)
        .collect()
}

impl TaskTools for TasksInMemory {
    fn call_all(&mut self, calls: Vec<TaskCall>) -> impl Future<Output = Vec<Result<ToolResult, ToolFailure>>> + Send {
        ready(calls.into_iter().map(|call| self.call(call)).collect())
    }
}
