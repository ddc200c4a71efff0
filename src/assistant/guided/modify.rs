//! The flows that change and delete: which field, which value, and carrying it out.

use crate::{
    assistant::{
        command::{ChatCommand, ChatPriority, ChatStatus, CommandIntent},
        deadline,
        direct::act::priority_word,
        direct::act::{change, remember_update},
        guided::create::{TypedDeadline, read_typed_deadline},
        guided::wait_in,
        marker::{FlowState, UpdateField},
        memory::MadeChange,
        phrase::MOST_TITLE_CHARS,
        reply::{ReplySentence, Value, format_deadline},
        tool::{ChatTask, TaskCall, TaskChanges, TaskTools},
        turn::{ChatTurn, Step, Stopped},
        vocabulary::PhraseList,
    },
    model::TaskStatus,
};

const FIELDS: [(PhraseList, UpdateField); 4] = [
    (PhraseList("field_title"), UpdateField::Title),
    (PhraseList("field_priority"), UpdateField::Priority),
    (PhraseList("field_deadline"), UpdateField::Deadline),
    (PhraseList("field_status"), UpdateField::Status),
];

pub(in crate::assistant) fn take_field<T: TaskTools>(turn: &mut ChatTurn<'_, T>, command: ChatCommand) {
    let Some((_, field)) = FIELDS.iter().find(|(list, _)| list.is(&turn.message)) else {
        return wait_in(turn, FlowState::UpdateWhichField, command, ReplySentence("guided_field_again"), &[]);
    };
    let question = match field {
        UpdateField::Title => ReplySentence("guided_value_title"),
        UpdateField::Priority => ReplySentence("guided_value_priority"),
        UpdateField::Deadline => ReplySentence("guided_value_deadline"),
        UpdateField::Status => ReplySentence("guided_value_status"),
    };
    let command = command.now_missing(&format!("{field}_value"));
    wait_in(turn, FlowState::UpdateValue(*field), command, question, &[]);
}

pub(in crate::assistant) async fn take_value<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    field: UpdateField,
    mut command: ChatCommand,
) -> Step {
    let state = FlowState::UpdateValue(field);
    let Some(task) = collected_task(turn, &command).await? else { return Err(end_without_task(turn, state)) };
    match field {
        UpdateField::Title => {
            let title = turn.message.trim().to_owned();
            if title.is_empty() || title.chars().count() > MOST_TITLE_CHARS {
                let most = [("count", Value::Text(MOST_TITLE_CHARS.to_string()))];
                let again = if title.is_empty() {
                    ReplySentence("guided_title_again")
                } else {
                    ReplySentence("title_too_long")
                };
                wait_in(turn, state, command, again, &most);
                return Ok(());
            }
            command.fields.title = Some(title.clone());
            confirm_value(turn, command, &task, field, &title);
        }
        UpdateField::Priority => match ChatPriority::read(&turn.message) {
            Some(level) => {
                command.fields.priority = Some(level);
                let word = priority_word(level).plain(turn.language());
                confirm_value(turn, command, &task, field, &word);
            }
            None => wait_in(turn, state, command, ReplySentence("guided_priority_again"), &[]),
        },
        UpdateField::Deadline => match read_typed_deadline(&turn.message, turn.request.me) {
            TypedDeadline::None => {
                command.fields.deadline = Some(None);
                confirm_value(turn, command, &task, field, "");
            }
            TypedDeadline::At(text) => {
                let shown = format_deadline(turn.language(), &text, turn.request.me.time_zone);
                command.fields.deadline = Some(Some(text));
                confirm_value(turn, command, &task, field, &shown);
            }
            TypedDeadline::Unclear => wait_in(turn, state, command, ReplySentence("guided_deadline_again"), &[]),
        },
        UpdateField::Status => match ChatStatus::read(&turn.message) {
            Some(status) => return confirm_status(turn, command, &task, status),
            None => wait_in(turn, state, command, ReplySentence("guided_status_again"), &[]),
        },
    }
    Ok(())
}

/// Confirms a new status, or refuses one that the life cycle does not allow here, with the reason.
pub(in crate::assistant) fn confirm_status<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    mut command: ChatCommand,
    task: &ChatTask,
    status: ChatStatus,
) -> Step {
    let current = status_of(task.status);
    let language = turn.language();
    let now = status_word(task.status).plain(language);
    if current == Some(status) || !is_allowed(task.status, status) {
        command.fields.status = None;
        let command = command.now_missing("status_value");
        let (title, now) = (Value::Title(&task.title), Value::Text(now));
        let wanted = Value::Text(chat_status_word(status).plain(language));
        let state = FlowState::UpdateValue(UpdateField::Status);
        if current == Some(status) {
            wait_in(turn, state, command, ReplySentence("guided_status_same"), &[("title", title), ("status", now)]);
        } else {
            let values = [("title", title), ("status", now), ("wanted", wanted)];
            wait_in(turn, state, command, ReplySentence("guided_status_forbidden"), &values);
        }
        return Ok(());
    }
    command.fields.status = Some(status);
    let word = chat_status_word(status).plain(language);
    confirm_value(turn, command, task, UpdateField::Status, &word);
    Ok(())
}

/// Asks whether a field shall have this value; an empty one removes it.
fn confirm_value<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    command: ChatCommand,
    task: &ChatTask,
    field: UpdateField,
    value: &str,
) {
    let name = match field {
        UpdateField::Title => ReplySentence("field_title"),
        UpdateField::Priority => ReplySentence("field_priority"),
        UpdateField::Deadline => ReplySentence("field_deadline"),
        UpdateField::Status => ReplySentence("field_status"),
    };
    let command = command.now_missing("confirmation");
    let field = Value::Text(name.plain(turn.language()));
    let shown = if name == ReplySentence("field_title") { Value::Title(value) } else { Value::Text(value.to_owned()) };
    let question = if value.is_empty() {
        ReplySentence("guided_confirm_update_none")
    } else {
        ReplySentence("guided_confirm_update")
    };
    let values = [("field", field), ("title", Value::Title(&task.title)), ("value", shown)];
    wait_in(turn, FlowState::UpdateConfirm, command, question, &values);
}

/// Returns the task that the command is about; none if it was deleted meanwhile.
async fn collected_task<T: TaskTools>(turn: &mut ChatTurn<'_, T>, command: &ChatCommand) -> Step<Option<ChatTask>> {
    match command.target.as_ref().and_then(|target| target.task_id) {
        Some(task_id) => turn.task_by_id(task_id).await,
        None => Ok(None),
    }
}

/// Ends a flow whose task has been deleted meanwhile.
fn end_without_task<T: TaskTools>(turn: &mut ChatTurn<'_, T>, state: FlowState) -> Stopped {
    turn.say(ReplySentence("guided_which"), &[]);
    turn.reply.memory.command = Some(super::reset(state).clarifying("task_selection"));
    Stopped
}

/// Deletes or changes what was confirmed.
pub(in crate::assistant) async fn change_collected<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    command: &ChatCommand,
) -> Step {
    let Some(target) = command.target.clone() else { return Err(Stopped) };
    let ids = if target.task_ids.is_empty() { target.task_id.into_iter().collect() } else { target.task_ids };
    let is_many = ids.len() > 1;
    let mut done = 0usize;
    for task_id in ids {
        let Some(task) = turn.task_by_id(task_id).await? else {
            if is_many {
                continue;
            }
            return Err(end_without_task(turn, FlowState::UpdateConfirm));
        };
        let said = std::mem::take(&mut turn.reply.text);
        let outcome = change_one(turn, command, &task).await;
        if outcome.is_err() || !is_many {
            return outcome;
        }
        turn.reply.text = said;
        done += 1;
    }
    let sentence = match command.intent {
        CommandIntent::DeleteTask => ReplySentence("deleted_many"),
        _ => ReplySentence("completed_many"),
    };
    turn.say(sentence, &[("count", Value::Text(done.to_string()))]);
    Ok(())
}

async fn change_one<T: TaskTools>(turn: &mut ChatTurn<'_, T>, command: &ChatCommand, task: &ChatTask) -> Step {
    turn.reply.mentioned = Some(task.task_id);
    let task_id = task.task_id;
    if command.intent == CommandIntent::DeleteTask {
        change(turn, task, TaskCall::DeleteTask { task_id }).await?;
        turn.reply.memory.changes.push(MadeChange::Ended(task_id));
        turn.say(ReplySentence("guided_deleted"), &[("title", Value::Title(&task.title))]);
        return Ok(());
    }
    let fields = &command.fields;
    let changed = match fields.status {
        Some(ChatStatus::Done) => {
            let changed = change(turn, task, TaskCall::CompleteTask { task_id }).await?;
            turn.reply.memory.changes.push(MadeChange::Ended(task_id));
            changed
        }
        Some(ChatStatus::Open) => {
            let changed = change(turn, task, TaskCall::ReopenTask { task_id }).await?;
            turn.reply.mentioned = Some(changed.task_id);
            changed
        }
        _ => {
            let deadline = fields
                .deadline
                .clone()
                .map(|typed| typed.and_then(|text| deadline::from_stored(&text, turn.request.me)));
            let changes = TaskChanges {
                title: fields.title.clone(),
                description: None,
                priority: fields.priority,
                deadline,
                status: fields.status,
            };
            if changes.is_empty() {
                return Err(Stopped);
            }
            let changed = change(turn, task, TaskCall::UpdateTask { task_id, changes: changes.clone() }).await?;
            remember_update(turn, task, &changes);
            changed
        }
    };
    turn.say(ReplySentence("guided_updated"), &[("title", Value::Title(&changed.title))]);
    Ok(())
}

/// Returns the status in the words of the chat; none while it waits for a decision.
const fn status_of(status: TaskStatus) -> Option<ChatStatus> {
    match status {
        TaskStatus::New | TaskStatus::Ready => Some(ChatStatus::Open),
        TaskStatus::InProgress => Some(ChatStatus::InProgress),
        TaskStatus::Done => Some(ChatStatus::Done),
        TaskStatus::WaitingHitl | TaskStatus::Cancelled => None,
    }
}

/// Returns whether the life cycle has a way from one status to the other.
const fn is_allowed(from: TaskStatus, to: ChatStatus) -> bool {
    match to {
        ChatStatus::Done => !from.is_terminal(),
        ChatStatus::Open => matches!(from, TaskStatus::Done),
        ChatStatus::InProgress => matches!(from, TaskStatus::Ready),
    }
}

const fn status_word(status: TaskStatus) -> ReplySentence {
    match status {
        TaskStatus::New | TaskStatus::Ready => ReplySentence("status_open"),
        TaskStatus::InProgress => ReplySentence("status_in_progress"),
        TaskStatus::WaitingHitl => ReplySentence("status_waiting"),
        TaskStatus::Done | TaskStatus::Cancelled => ReplySentence("status_done"),
    }
}

const fn chat_status_word(status: ChatStatus) -> ReplySentence {
    match status {
        ChatStatus::Open => ReplySentence("status_open"),
        ChatStatus::InProgress => ReplySentence("status_in_progress"),
        ChatStatus::Done => ReplySentence("status_done"),
    }
}
