//! What is done with tasks, and what is said about it.

use super::resolve::MOST_AT_ONCE;
use crate::{
    assistant::{
        command::{ChatCommand, ChatPriority, ChatStatus, CommandFields, CommandIntent, TaskRef},
        deadline,
        memory::{ChatAction, FieldsBefore, MadeChange, Pending},
        reply::{ReplySentence, Value, format_deadline, format_instant, number_options, shown_options},
        tool::{ChatTask, TaskCall, TaskChanges, TaskTools, ToolFailure, ToolResult},
        turn::{ChatTurn, Step, Stopped},
    },
    model::{Instant, TaskStatus},
};

/// Does one thing with one task.
pub(in crate::assistant) async fn apply<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    action: ChatAction,
    task: ChatTask,
) -> Step {
    turn.reply.mentioned = Some(task.task_id);
    turn.reply.memory.command = Some(command_of(&action, &task));
    match action {
        ChatAction::Complete => complete(turn, task).await,
        ChatAction::Delete => delete(turn, task).await,
        ChatAction::Update(changes) => update(turn, task, changes).await,
        ChatAction::Snooze(until) => snooze(turn, task, until).await,
        ChatAction::Explain => explain(turn, task).await,
        ChatAction::NotATask => mark_not_a_task(turn, task).await,
    }
}

async fn complete<T: TaskTools>(turn: &mut ChatTurn<'_, T>, task: ChatTask) -> Step {
    if task.status == TaskStatus::Done {
        turn.say(ReplySentence("already_complete"), &[("title", Value::Title(&task.title))]);
        return Ok(());
    }
    change(turn, &task, TaskCall::CompleteTask { task_id: task.task_id }).await?;
    turn.reply.memory.changes.push(MadeChange::Ended(task.task_id));
    let tally = &mut turn.reply.memory.tally;
    let before = tally.completed;
    tally.completed += 1;
    tally.created_since_completion = 0;
    turn.vary(ReplySentence("completed"), before, &[("title", Value::Title(&task.title))]);
    // Somebody who works through the list is told when nothing is left.
    if before > 0 && turn.count_pending().await? == 0 {
        turn.say(ReplySentence("all_done"), &[]);
    }
    Ok(())
}

async fn delete<T: TaskTools>(turn: &mut ChatTurn<'_, T>, task: ChatTask) -> Step {
    if task.status == TaskStatus::Done {
        turn.say(ReplySentence("cannot_delete_completed"), &[("title", Value::Title(&task.title))]);
        return Ok(());
    }
    change(turn, &task, TaskCall::DeleteTask { task_id: task.task_id }).await?;
    turn.reply.memory.changes.push(MadeChange::Ended(task.task_id));
    let before = turn.reply.memory.tally.deleted;
    turn.reply.memory.tally.deleted += 1;
    turn.vary(ReplySentence("deleted"), before, &[("title", Value::Title(&task.title))]);
    Ok(())
}

async fn update<T: TaskTools>(turn: &mut ChatTurn<'_, T>, task: ChatTask, changes: TaskChanges) -> Step {
    if changes.is_empty() {
        turn.reply.memory.pending = Some(Pending::WhatToChange { task_id: task.task_id });
        turn.reply.memory.command = Some(ChatCommand::asking(CommandIntent::Clarify, "fields").about(&task));
        turn.say(ReplySentence("what_to_change"), &[("number", Value::Text(number_of(&task)))]);
        return Err(Stopped);
    }
    let call = TaskCall::UpdateTask { task_id: task.task_id, changes: changes.clone() };
    let changed = change(turn, &task, call).await?;
    remember_update(turn, &task, &changes);
    say_updated(turn, &changed, &changes);
    Ok(())
}

/// Notes what an update has replaced, for an undo.
pub(in crate::assistant) fn remember_update<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    task: &ChatTask,
    changes: &TaskChanges,
) {
    let before = TaskChanges {
        title: changes.title.as_ref().map(|_| task.title.clone()),
        description: changes.description.as_ref().map(|_| task.description.clone().unwrap_or_default()),
        priority: changes.priority.map(|_| ChatPriority::of(task.priority)),
        deadline: changes
            .deadline
            .as_ref()
            .map(|_| task.deadline.as_deref().and_then(|stored| deadline::from_stored(stored, turn.request.me))),
        status: None,
    };
    if !before.is_empty() {
        let change = MadeChange::Updated { task_id: task.task_id, before: FieldsBefore(before) };
        turn.reply.memory.changes.push(change);
    } else if changes.status == Some(ChatStatus::InProgress) {
        turn.reply.memory.changes.push(MadeChange::Begun(task.task_id));
    }
}

fn say_updated<T: TaskTools>(turn: &mut ChatTurn<'_, T>, task: &ChatTask, changes: &TaskChanges) {
    let title = Value::Title(&task.title);
    let only = |other: TaskChanges| *changes == other;
    if only(TaskChanges { title: changes.title.clone(), ..TaskChanges::default() }) {
        return turn.say(ReplySentence("updated"), &[("title", title)]);
    }
    if only(TaskChanges { status: Some(ChatStatus::InProgress), ..TaskChanges::default() }) {
        return turn.say(ReplySentence("begun"), &[("title", title)]);
    }
    if only(TaskChanges { deadline: changes.deadline.clone(), ..TaskChanges::default() }) {
        return match &changes.deadline {
            Some(Some(deadline)) => {
                let when = format_deadline(turn.language(), &deadline.text, turn.request.me.time_zone);
                turn.say(ReplySentence("updated_deadline"), &[("title", title), ("when", Value::Text(when))]);
            }
            _ => turn.say(ReplySentence("removed_deadline"), &[("title", title)]),
        };
    }
    let fields = Value::Text(name_fields(turn, changes));
    match task.number {
        Some(number) => {
            let number = Value::Text(number.to_string());
            turn.say(ReplySentence("updated_fields"), &[("number", number), ("fields", fields)]);
        }
        None => turn.say(ReplySentence("updated_fields_no_number"), &[("title", title), ("fields", fields)]),
    }
}

/// Returns the names of the changed fields: "title and description".
fn name_fields<T: TaskTools>(turn: &ChatTurn<'_, T>, changes: &TaskChanges) -> String {
    let language = turn.language();
    let names = [
        (changes.title.is_some(), ReplySentence("field_title")),
        (changes.description.is_some(), ReplySentence("field_description")),
        (changes.priority.is_some(), ReplySentence("field_priority")),
        (changes.deadline.is_some(), ReplySentence("field_deadline")),
        (changes.status.is_some(), ReplySentence("field_status")),
    ];
    let names: Vec<String> =
        names.into_iter().filter(|(is_changed, _)| *is_changed).map(|(_, name)| name.plain(language)).collect();
    match names.split_last() {
        Some((last, first)) if !first.is_empty() => {
            let values = [("first", Value::Text(first.join(", "))), ("last", Value::Text(last.clone()))];
            ReplySentence("field_and").say(language, &values).plain().to_owned()
        }
        _ => names.concat(),
    }
}

async fn snooze<T: TaskTools>(turn: &mut ChatTurn<'_, T>, task: ChatTask, until: Option<Instant>) -> Step {
    let title = Value::Title(&task.title);
    let Some(until) = until else {
        turn.reply.memory.pending = Some(Pending::UntilWhen { task_id: task.task_id });
        turn.say(ReplySentence("until_when"), &[("title", title)]);
        return Err(Stopped);
    };
    if task.status.is_terminal() {
        turn.say(ReplySentence("already_complete"), &[("title", title)]);
        return Ok(());
    }
    change(turn, &task, TaskCall::SnoozeTask { task_id: task.task_id, until: Some(until) }).await?;
    turn.reply.memory.changes.push(MadeChange::Snoozed { task_id: task.task_id, before: task.snooze_until });
    let when = format_instant(turn.language(), until, turn.request.me.time_zone);
    turn.say(ReplySentence("snoozed"), &[("title", Value::Title(&task.title)), ("when", Value::Text(when))]);
    Ok(())
}

async fn explain<T: TaskTools>(turn: &mut ChatTurn<'_, T>, task: ChatTask) -> Step {
    let reason = match turn.call(TaskCall::ExplainPriority { task_id: task.task_id }).await {
        Ok(ToolResult::Reason(reason)) => reason,
        _ => return Err(turn.give_up()),
    };
    let (title, level) = (Value::Title(&task.title), Value::Text(priority_word(reason.level).plain(turn.language())));
    match reason.rule {
        _ if reason.set_by_hand => turn.say(ReplySentence("explain_hand"), &[("title", title), ("level", level)]),
        Some((rule, why)) => {
            let values = [("title", title), ("level", level), ("rule", Value::Text(rule)), ("why", Value::Text(why))];
            turn.say(ReplySentence("explain_rule"), &values);
        }
        None => turn.say(ReplySentence("explain_default"), &[("title", title), ("level", level)]),
    }
    turn.say(ReplySentence("explain_more"), &[("number", Value::Text(number_of(&task)))]);
    Ok(())
}

async fn mark_not_a_task<T: TaskTools>(turn: &mut ChatTurn<'_, T>, task: ChatTask) -> Step {
    if !task.is_from_mail || task.status.is_terminal() {
        return delete(turn, task).await;
    }
    change(turn, &task, TaskCall::MarkNotATask { task_id: task.task_id }).await?;
    turn.reply.memory.changes.push(MadeChange::Ended(task.task_id));
    turn.say(ReplySentence("marked_not_a_task"), &[("title", Value::Title(&task.title))]);
    Ok(())
}

/// Makes a call that changes a task. Returns the task after it; where it was refused, says so.
pub(in crate::assistant) async fn change<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    task: &ChatTask,
    call: TaskCall,
) -> Step<ChatTask> {
    match turn.call(call).await {
        Ok(ToolResult::Changed { task, .. }) => Ok(task),
        Err(ToolFailure::NotFound | ToolFailure::Refused) => {
            turn.say(ReplySentence("changed_meanwhile"), &[("title", Value::Title(&task.title))]);
            Err(Stopped)
        }
        Ok(_) | Err(ToolFailure::Unavailable) => Err(turn.give_up()),
    }
}

/// Asks which task is meant.
pub(in crate::assistant) fn ask_which<T: TaskTools>(turn: &mut ChatTurn<'_, T>, action: ChatAction) -> Stopped {
    let (question, _, _) = sentences_of(&action);
    turn.say(question, &[]);
    ask(turn, Pending::WhichTask { action, query: String::new(), options: Vec::new() }, "task_id");
    Stopped
}

/// Asks which of several tasks is meant.
pub(in crate::assistant) fn ask_which_of<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    action: ChatAction,
    query: &str,
    tasks: &[ChatTask],
) -> Stopped {
    let (_, question, _) = sentences_of(&action);
    let options = shown_options(tasks);
    turn.say(ReplySentence("several"), &[("query", Value::Text(safe_query(query)))]);
    turn.say_lines(&number_options(options, number_of));
    if tasks.len() > options.len() {
        let more = (tasks.len() - options.len()).to_string();
        turn.say_below(ReplySentence("several_more"), &[("count", Value::Text(more))]);
    }
    turn.say_below(question, &[]);
    let options = options.iter().map(|task| task.task_id).collect();
    ask(turn, Pending::WhichTask { action, query: query.to_owned(), options }, "task_selection");
    Stopped
}

/// Asks whether to do it with all of these tasks.
pub(in crate::assistant) fn confirm_many<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    action: ChatAction,
    tasks: &[ChatTask],
) -> Stopped {
    confirm_work(turn, tasks.iter().map(|task| (action.clone(), task.clone())).collect())
}

pub(in crate::assistant) fn confirm_work<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    mut work: Vec<(ChatAction, ChatTask)>,
) -> Stopped {
    let is_cut = work.len() >= MOST_AT_ONCE;
    work.truncate(MOST_AT_ONCE);
    let first = work.first().map_or(ChatAction::Explain, |(action, _)| action.clone());
    let is_same = work.iter().all(|(action, _)| *action == first);
    let (_, _, question) =
        if is_same { sentences_of(&first) } else { sentences_of(&ChatAction::Update(TaskChanges::default())) };
    turn.say(question, &[("count", Value::Text(work.len().to_string()))]);
    if is_cut {
        turn.say(ReplySentence("at_most"), &[("count", Value::Text(MOST_AT_ONCE.to_string()))]);
    }
    let work = work.into_iter().map(|(action, task)| (action, task.task_id)).collect();
    ask(turn, Pending::ConfirmMany { work }, "confirmation");
    Stopped
}

/// Does what was confirmed, and reports it as one.
pub(in crate::assistant) async fn do_confirmed<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    work: Vec<(ChatAction, crate::model::TaskId)>,
) -> Step {
    let (mut done, mut last) = (0usize, None);
    for (action, task_id) in work {
        let Some(task) = turn.task_by_id(task_id).await?.filter(|task| !task.status.is_terminal()) else {
            continue;
        };
        let said = std::mem::take(&mut turn.reply.text);
        let tally = turn.reply.memory.tally;
        let outcome = apply(turn, action.clone(), task).await;
        if outcome.is_err() {
            // What was done until then stays done, and is said before the reason.
            let reason = std::mem::replace(&mut turn.reply.text, said);
            say_done_many(turn, &action, done);
            turn.reply.text.join(" ", &reason);
            return Err(Stopped);
        }
        turn.reply.text = said;
        turn.reply.memory.tally = tally;
        done += 1;
        last = Some(action);
    }
    if let Some(action) = last {
        say_done_many(turn, &action, done);
        let tally = &mut turn.reply.memory.tally;
        if action == ChatAction::Complete {
            (tally.completed, tally.created_since_completion) = (tally.completed + 1, 0);
        }
    }
    if done == 0 {
        turn.say(ReplySentence("left_alone"), &[]);
    }
    Ok(())
}

fn say_done_many<T: TaskTools>(turn: &mut ChatTurn<'_, T>, action: &ChatAction, done: usize) {
    if done == 0 {
        return;
    }
    let sentence = match action {
        ChatAction::Complete => ReplySentence("completed_many"),
        ChatAction::Delete | ChatAction::NotATask => ReplySentence("deleted_many"),
        ChatAction::Update(_) | ChatAction::Snooze(_) | ChatAction::Explain => ReplySentence("updated_many"),
    };
    turn.say(sentence, &[("count", Value::Text(done.to_string()))]);
}

/// Remembers the question that the reply asks.
pub(in crate::assistant) fn ask<T: TaskTools>(turn: &mut ChatTurn<'_, T>, pending: Pending, missing: &str) {
    turn.reply.memory.command = Some(ChatCommand::asking(CommandIntent::Clarify, missing));
    turn.reply.memory.pending = Some(pending);
}

/// Returns a query for a sentence, on one line and without anything like a marker.
pub(super) fn safe_query(query: &str) -> String {
    let shown = crate::assistant::reply::shown_title(query);
    let lower: String = query.trim().chars().take(1).collect();
    lower + &shown.chars().skip(1).collect::<String>()
}

/// Returns the number of a task; its id for a task without one.
pub(in crate::assistant) fn number_of(task: &ChatTask) -> String {
    task.number.map_or_else(|| task.task_id.to_string(), |number| number.to_string())
}

/// Returns the word for a priority.
pub(in crate::assistant) const fn priority_word(level: ChatPriority) -> ReplySentence {
    match level {
        ChatPriority::Low => ReplySentence("priority_low"),
        ChatPriority::Medium => ReplySentence("priority_medium"),
        ChatPriority::High => ReplySentence("priority_high"),
        ChatPriority::Urgent => ReplySentence("priority_urgent"),
    }
}

/// Returns how to ask which task, which of several, and whether all.
const fn sentences_of(action: &ChatAction) -> (ReplySentence, ReplySentence, ReplySentence) {
    match action {
        ChatAction::Complete => {
            (ReplySentence("which_complete"), ReplySentence("several_complete"), ReplySentence("confirm_many_complete"))
        }
        ChatAction::Delete | ChatAction::NotATask => {
            (ReplySentence("which_delete"), ReplySentence("several_delete"), ReplySentence("confirm_many_delete"))
        }
        ChatAction::Update(_) => {
            (ReplySentence("which_update"), ReplySentence("several_update"), ReplySentence("confirm_many_update"))
        }
        ChatAction::Snooze(_) => {
            (ReplySentence("which_snooze"), ReplySentence("several_snooze"), ReplySentence("confirm_many_snooze"))
        }
        ChatAction::Explain => {
            (ReplySentence("which_explain"), ReplySentence("several_explain"), ReplySentence("confirm_many_update"))
        }
    }
}

/// Returns the command that an action amounts to.
fn command_of(action: &ChatAction, task: &ChatTask) -> ChatCommand {
    let target = TaskRef { task_id: Some(task.task_id), title: Some(task.title.clone()), task_ids: Vec::new() };
    let (intent, fields) = match action {
        ChatAction::Complete => (CommandIntent::CompleteTask, CommandFields::default()),
        ChatAction::Delete | ChatAction::NotATask => (CommandIntent::DeleteTask, CommandFields::default()),
        ChatAction::Update(changes) => (CommandIntent::UpdateTask, fields_of(changes)),
        ChatAction::Snooze(_) => (CommandIntent::UpdateTask, CommandFields::default()),
        ChatAction::Explain => (CommandIntent::ListTasks, CommandFields::default()),
    };
    ChatCommand::complete(intent, fields, Some(target))
}

fn fields_of(changes: &TaskChanges) -> CommandFields {
    CommandFields {
        title: changes.title.clone(),
        description: changes.description.clone(),
        priority: changes.priority,
        deadline: changes.deadline.as_ref().map(|deadline| deadline.as_ref().map(|deadline| deadline.text.clone())),
        status: changes.status,
    }
}

impl ChatCommand {
    /// Returns the same command about a task.
    pub(in crate::assistant) fn about(self, task: &ChatTask) -> Self {
        let target = TaskRef { task_id: Some(task.task_id), title: Some(task.title.clone()), task_ids: Vec::new() };
        Self { target: Some(target), ..self }
    }
}
