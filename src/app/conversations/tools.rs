//! The tasks of one user as the assistant reads and changes them, through the same use cases as every other interface.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::Poll,
};

use crate::{
    app::{App, BadInput, LOCAL_ACCOUNT, NewTask, NotFound, tasks::ChatOrigin},
    assistant::{
        ChatPriority, ChatStatus, ChatTask, OfferedPlan, PAGE, PriorityReason, TaskCall, TaskChanges, TaskTools,
        ToolFailure, ToolResult, WaitingItem,
    },
    model::{ConversationId, PlannedStep, TaskEditKind, TaskId, TaskRow, UserId},
    store::StoreError,
};

/// How many tasks a search by title returns at most.
const MOST_FOUND: usize = 50;
/// How many tasks are compared with a new one.
const MOST_RELATED: usize = 20;
/// The reason in the history of a task for what was said in a conversation.
const WHY: &str = "said in a conversation";

/// The tasks of one user.
pub(super) struct AppTools {
    /// The app of that user.
    app: App,
    conversation: ConversationId,
}

impl AppTools {
    pub(super) fn new(app: &App, user: UserId, conversation: ConversationId) -> Self {
        Self { app: App { user, ..app.clone() }, conversation }
    }

    async fn call(&self, call: TaskCall) -> Result<ToolResult, ToolFailure> {
        let outcome = match call {
            TaskCall::AddTask { .. }
            | TaskCall::CompleteTask { .. }
            | TaskCall::DeleteTask { .. }
            | TaskCall::UpdateTask { .. }
            | TaskCall::ReopenTask { .. }
            | TaskCall::SnoozeTask { .. }
            | TaskCall::MarkNotATask { .. }
            | TaskCall::OpenPlan { .. } => self.change(call).await,
            reading => self.read(reading).await,
        };
        outcome.map_err(|error| classify_failure(&error))
    }

    /// Makes a call that changes a task.
    async fn change(&self, call: TaskCall) -> anyhow::Result<ToolResult> {
        let tasks = self.app.tasks();
        let edit = async |task_id: TaskId, kind| tasks.edit(&task_id.to_string(), kind, WHY).await;
        let row = match call {
            TaskCall::AddTask { title, description, priority, deadline, remind } => {
                let new = NewTask {
                    objective: title,
                    priority: priority.map(ChatPriority::level),
                    deadline: deadline.map(|deadline| (deadline.text, deadline.at)),
                    description,
                };
                let origin = ChatOrigin { conversation: self.conversation.clone(), remind };
                tasks.add_to(new, LOCAL_ACCOUNT.into(), &["do_the_work"], Some(origin)).await?
            }
            TaskCall::CompleteTask { task_id } => edit(task_id, TaskEditKind::Done).await?,
            TaskCall::DeleteTask { task_id } => edit(task_id, TaskEditKind::Cancel).await?,
            TaskCall::ReopenTask { task_id } => edit(task_id, TaskEditKind::Reopen).await?,
            TaskCall::SnoozeTask { task_id, until } => edit(task_id, TaskEditKind::Snooze(until)).await?,
            TaskCall::UpdateTask { task_id, changes } => {
                tasks.edit_all(&task_id.to_string(), edits_of(changes), WHY).await?
            }
            TaskCall::MarkNotATask { task_id } => {
                let row = tasks.find(&task_id.to_string()).await?;
                match row.mail_id {
                    Some(mail_id) => self.app.mail().mark_not_a_task(mail_id, WHY).await?,
                    None => drop(edit(task_id, TaskEditKind::Cancel).await?),
                }
                tasks.find(&task_id.to_string()).await?
            }
            TaskCall::OpenPlan { plan } => {
                let task_id = self.app.plans().open(serde_json::from_value(plan.prepared)?).await?;
                tasks.find(&task_id.to_string()).await?
            }
            other => anyhow::bail!("not a change: {other:?}"),
        };
        let id = row.task.task_id;
        let mut history = self.app.store.read(move |reader| reader.tasks().history(id)).await?;
        Ok(ToolResult::Changed { task: view(row), recorded: history.pop() })
    }

    /// Makes a call that only reads.
    async fn read(&self, call: TaskCall) -> anyhow::Result<ToolResult> {
        let (user, now) = (self.app.user.clone(), self.app.clock.now());
        let store = &self.app.store;
        Ok(match call {
            TaskCall::ListTasks { status, page } => {
                let place = (page.saturating_mul(PAGE), PAGE);
                let listed =
                    store.read(move |reader| reader.task_lists().listed(&user, status, Some(now), place)).await?;
                ToolResult::Listed { total: listed.total, tasks: listed.rows.into_iter().map(view).collect() }
            }
            TaskCall::FindTasks { status, title } => {
                let found = store
                    .read(move |reader| reader.task_lists().find_by_title(&user, &title, status, MOST_FOUND))
                    .await?;
                let tasks: Vec<ChatTask> = found.into_iter().map(|(row, _)| view(row)).collect();
                ToolResult::Listed { total: tasks.len() as u64, tasks }
            }
            TaskCall::FindRelated { words, .. } => {
                let found =
                    store.read(move |reader| reader.task_lists().with_any_word(&user, &words, MOST_RELATED)).await?;
                let tasks: Vec<ChatTask> = found.into_iter().map(view).collect();
                ToolResult::Listed { total: tasks.len() as u64, tasks }
            }
            TaskCall::GetTask { number } => {
                let row = store.read(move |reader| reader.task_lists().of_user_by_number(&user, number)).await?;
                ToolResult::Found { task: row.map(view) }
            }
            TaskCall::GetTaskById { task_id } => {
                let row = store.read(move |reader| reader.tasks().get(task_id)).await?;
                ToolResult::Found { task: row.filter(|row| row.user == user && row.number.is_some()).map(view) }
            }
            TaskCall::ExplainPriority { task_id } => ToolResult::Reason(self.explain(task_id).await?),
            TaskCall::ListApprovals => {
                let mut items = self.app.approvals().list().await?;
                items.retain(|item| item.user == user);
                let item = |item: crate::model::ItemRow| WaitingItem { number: item.number, summary: item.title };
                ToolResult::Waiting { items: items.into_iter().map(item).collect() }
            }
            TaskCall::PreparePlan { request } => ToolResult::Plan(self.prepare_plan(&request).await?),
            other => anyhow::bail!("not a question: {other:?}"),
        })
    }

    /// Returns the request divided into steps. What is wrong with its files is said in the notes.
    async fn prepare_plan(&self, request: &str) -> anyhow::Result<OfferedPlan> {
        let prepared = match self.app.plans().prepare(request, None).await {
            Ok(prepared) => prepared,
            Err(error) => {
                let BadInput(why) = error.downcast::<BadInput>()?;
                return Ok(OfferedPlan { notes: vec![why], ..OfferedPlan::default() });
            }
        };
        if !prepared.wants_plan {
            return Ok(OfferedPlan::default());
        }
        Ok(OfferedPlan {
            steps: prepared.plan.steps.iter().map(|step| step.description.clone()).collect(),
            has_calls: prepared.plan.steps.iter().any(PlannedStep::is_agents),
            notes: prepared.notes.clone(),
            prepared: serde_json::to_value(&prepared)?,
        })
    }

    async fn explain(&self, task_id: TaskId) -> anyhow::Result<PriorityReason> {
        let why = self.app.tasks().explain_priority(&task_id.to_string()).await?;
        let has_rule = why.trace.rules.iter().any(|rule| rule.name == why.trace.rule);
        Ok(PriorityReason {
            level: ChatPriority::of(why.level),
            set_by_hand: why.set_by_hand,
            rule: has_rule.then_some((why.trace.rule, why.trace.why)),
        })
    }
}

impl TaskTools for AppTools {
    fn call_all(&mut self, calls: Vec<TaskCall>) -> impl Future<Output = Vec<Result<ToolResult, ToolFailure>>> + Send {
        let this = &*self;
        async move { complete_all(calls.into_iter().map(|call| this.call(call)).collect()).await }
    }
}

/// Completes several futures at once, begun in their order, so that their writes share a commit. Returns their outputs in
/// that order.
async fn complete_all<F: Future + Send>(futures: Vec<F>) -> Vec<F::Output>
where
    F::Output: Send,
{
    let mut waiting: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = waiting.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (future, output) in waiting.iter_mut().zip(&mut outputs).filter(|(_, output)| output.is_none()) {
            if let Poll::Ready(value) = future.as_mut().poll(context) {
                *output = Some(value);
            }
        }
        if outputs.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

/// Returns the edits that change these fields.
fn edits_of(changes: TaskChanges) -> Vec<TaskEditKind> {
    let mut edits = Vec::new();
    edits.extend(changes.title.map(TaskEditKind::Objective));
    edits.extend(
        changes.description.map(|text| TaskEditKind::Description(Some(text).filter(|text| !text.trim().is_empty()))),
    );
    edits.extend(changes.priority.map(|level| TaskEditKind::Priority(level.level())));
    edits.extend(changes.deadline.map(|deadline| match deadline {
        Some(deadline) => TaskEditKind::Deadline(Some(deadline.text), Some(deadline.at)),
        None => TaskEditKind::Deadline(None, None),
    }));
    edits.extend(changes.status.map(|status| match status {
        ChatStatus::Done => TaskEditKind::Done,
        ChatStatus::InProgress => TaskEditKind::Begin,
        ChatStatus::Open => TaskEditKind::Reopen,
    }));
    edits
}

fn view(row: TaskRow) -> ChatTask {
    ChatTask {
        task_id: row.task.task_id,
        number: row.number,
        title: row.task.objective,
        description: row.task.context.description,
        status: row.task.status,
        priority: row.task.priority,
        deadline: row.task.context.deadline,
        snooze_until: row.snooze_until,
        is_from_mail: row.mail_id.is_some(),
    }
}

/// Returns what the assistant says of a failure. The cause of one that nobody can do anything about is logged.
fn classify_failure(error: &anyhow::Error) -> ToolFailure {
    let store = error.chain().find_map(|cause| cause.downcast_ref::<StoreError>());
    match store {
        Some(StoreError::Refused(_) | StoreError::Conflict(_)) => ToolFailure::Refused,
        Some(StoreError::NotFound(_)) => ToolFailure::NotFound,
        None if error.chain().any(|cause| cause.is::<NotFound>()) => ToolFailure::NotFound,
        _ => {
            tracing::error!(error = format!("{error:#}"), "a call of the assistant failed");
            ToolFailure::Unavailable
        }
    }
}
