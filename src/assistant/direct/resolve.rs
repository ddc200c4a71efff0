//! Which task a reference means: number before exact title before similar title, and a question in doubt.

use crate::{
    assistant::{
        direct::ListedStatus,
        memory::ChatAction,
        reference::Reference,
        tool::{ChatTask, TaskCall, TaskTools},
        turn::{ChatTurn, Step},
    },
    model::TaskId,
};

/// How many tasks one message changes at most.
pub(super) const MOST_AT_ONCE: usize = 100;

/// What a reference means.
pub(in crate::assistant) enum Resolved {
    One(ChatTask),
    /// All of these, because the person said so.
    Many(Vec<ChatTask>),
    /// One of these, and nobody knows which.
    Several {
        query: String,
        tasks: Vec<ChatTask>,
    },
    Unspecified,
    NoNumber(i64),
    NoTitle(String),
}

/// Finds what is meant. Places in a list count in `options` if there are any, or else in the list that was just shown.
pub(in crate::assistant) async fn resolve<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    reference: &Reference,
    options: &[TaskId],
    action: &ChatAction,
) -> Step<Resolved> {
    match reference {
        Reference::Nothing => Ok(Resolved::Unspecified),
        Reference::Pronoun => match turn.reply.mentioned.or_else(|| turn.request.history.last_mentioned()) {
            Some(task_id) => resolve_id(turn, task_id).await,
            None => Ok(Resolved::Unspecified),
        },
        Reference::Number(number) => resolve_number(turn, *number).await,
        Reference::Id(task_id) => resolve_id(turn, *task_id).await,
        Reference::Bare(number) => match listed_at(turn, *number, options) {
            ListPlace::Task(task_id) => resolve_id(turn, task_id).await,
            // A number beyond the list can only be the number of one of its tasks.
            ListPlace::Beyond(tasks) => resolve_number_among(turn, *number, &tasks).await,
            ListPlace::NoList => resolve_number(turn, *number).await,
        },
        Reference::Ordinal(nth) => match listed_at(turn, i64::try_from(*nth).unwrap_or(i64::MAX), options) {
            ListPlace::Task(task_id) => resolve_id(turn, task_id).await,
            ListPlace::Beyond(_) | ListPlace::NoList => Ok(Resolved::Unspecified),
        },
        Reference::Last => match shown_tasks(turn, options).last() {
            Some(task_id) => resolve_id(turn, *task_id).await,
            None => Ok(Resolved::Unspecified),
        },
        Reference::Both => {
            let shown = shown_tasks(turn, options);
            if shown.is_empty() { Ok(Resolved::Unspecified) } else { resolve_ids(turn, &shown).await }
        }
        Reference::Every(status) => resolve_every(turn, *status, options, action).await,
        Reference::Several(references) => resolve_several(turn, references, options).await,
        Reference::Title(title) => resolve_title(turn, title, options).await,
    }
}

async fn resolve_number<T: TaskTools>(turn: &mut ChatTurn<'_, T>, number: i64) -> Step<Resolved> {
    Ok(turn.task_by_number(number).await?.map_or(Resolved::NoNumber(number), Resolved::One))
}

async fn resolve_number_among<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    number: i64,
    tasks: &[TaskId],
) -> Step<Resolved> {
    let found = turn.task_by_number(number).await?.filter(|task| tasks.contains(&task.task_id));
    Ok(found.map_or(Resolved::NoNumber(number), Resolved::One))
}

async fn resolve_id<T: TaskTools>(turn: &mut ChatTurn<'_, T>, task_id: TaskId) -> Step<Resolved> {
    Ok(turn.task_by_id(task_id).await?.map_or(Resolved::Unspecified, Resolved::One))
}

async fn resolve_ids<T: TaskTools>(turn: &mut ChatTurn<'_, T>, ids: &[TaskId]) -> Step<Resolved> {
    let mut tasks = Vec::new();
    for task_id in ids {
        tasks.extend(turn.task_by_id(*task_id).await?);
    }
    Ok(Resolved::Many(tasks))
}

/// Returns every task of a list; with options, all of them. To complete or delete everything means what is pending.
async fn resolve_every<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    status: ListedStatus,
    options: &[TaskId],
    action: &ChatAction,
) -> Step<Resolved> {
    if !options.is_empty() {
        return resolve_ids(turn, options).await;
    }
    let ends = matches!(action, ChatAction::Complete | ChatAction::Delete | ChatAction::NotATask);
    let status = if ends && status == ListedStatus::All { ListedStatus::Pending } else { status };
    let mut tasks = Vec::new();
    for page in 0.. {
        let (more, total) = turn.listed(TaskCall::ListTasks { status, page }).await?;
        let is_empty = more.is_empty();
        tasks.extend(more);
        if is_empty || tasks.len() as u64 >= total || tasks.len() >= MOST_AT_ONCE {
            break;
        }
    }
    tasks.truncate(MOST_AT_ONCE);
    Ok(Resolved::Many(tasks))
}

async fn resolve_several<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    references: &[Reference],
    options: &[TaskId],
) -> Step<Resolved> {
    let mut tasks: Vec<ChatTask> = Vec::new();
    for reference in references {
        let (number, place) = match reference {
            Reference::Number(number) => (*number, ListPlace::NoList),
            Reference::Bare(number) => (*number, listed_at(turn, *number, options)),
            _ => continue,
        };
        let found = match place {
            ListPlace::Task(task_id) => turn.task_by_id(task_id).await?,
            _ => turn.task_by_number(number).await?,
        };
        let Some(task) = found else { return Ok(Resolved::NoNumber(number)) };
        if !tasks.iter().any(|known| known.task_id == task.task_id) {
            tasks.push(task);
        }
    }
    Ok(Resolved::Many(tasks))
}

/// Finds a task by its title: pending ones first, and completed ones only if there is no pending one.
async fn resolve_title<T: TaskTools>(turn: &mut ChatTurn<'_, T>, title: &str, options: &[TaskId]) -> Step<Resolved> {
    let mut tasks = turn.find_by_title(title, ListedStatus::Pending).await?;
    if tasks.is_empty() {
        tasks = turn.find_by_title(title, ListedStatus::Completed).await?;
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
fn shown_tasks<T: TaskTools>(turn: &ChatTurn<'_, T>, options: &[TaskId]) -> Vec<TaskId> {
    match &turn.request.history.last().list {
        _ if !options.is_empty() => options.to_vec(),
        Some(list) => list.tasks.clone(),
        None => Vec::new(),
    }
}

/// Returns what is at a place, counted from 1 on the first page of the list.
fn listed_at<T: TaskTools>(turn: &ChatTurn<'_, T>, place: i64, options: &[TaskId]) -> ListPlace {
    let shown = shown_tasks(turn, options);
    if shown.is_empty() {
        return ListPlace::NoList;
    }
    let first = match &turn.request.history.last().list {
        Some(list) if options.is_empty() => list.page * crate::assistant::tool::PAGE,
        _ => 0,
    };
    let index = usize::try_from(place).ok().and_then(|place| place.checked_sub(first + 1));
    index.and_then(|index| shown.get(index).copied()).map_or_else(|| ListPlace::Beyond(shown.clone()), ListPlace::Task)
}

/// What is at a place of the list that was just shown.
enum ListPlace {
    Task(TaskId),
    /// The list is not that long.
    Beyond(Vec<TaskId>),
    /// No list was just shown.
    NoList,
}
