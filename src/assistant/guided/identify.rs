//! Which task a flow is about: its id, "#n" or its exact title; or a choice from a list of up to five.

use crate::{
    assistant::{
        command::{ChatCommand, ChatStatus, CommandIntent, TaskRef},
        guided::{modify::confirm_status, wait_in},
        marker::FlowState,
        phrase::{fold, trim_punctuation, unquote},
        reference::{self, Reference},
        reply::{ReplySentence, Value, number_options},
        tool::{ChatTask, TaskCall, TaskTools},
        turn::{ChatTurn, Step},
        vocabulary::PhraseList,
    },
    document::title::title_key,
    model::{ListedStatus, TaskId, TaskStatus},
};

/// How many tasks a person chooses from.
const MOST_OPTIONS: usize = 5;
/// How many tasks one confirmation covers.
const MOST_AT_ONCE: usize = 100;

/// Finds the task that the text after the keyword names, and goes on with it.
pub(in crate::assistant) async fn identify<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    command: ChatCommand,
    text: &str,
) -> Step {
    let text = PhraseList("courtesy").strip_end(text).unwrap_or(text).to_owned();
    if let Some(tasks) = several_named(turn, &text, &command).await? {
        return confirm_several(turn, command, tasks);
    }
    let mut found = named_task(turn, &text).await?.into_iter().collect::<Vec<_>>();
    for title in title_readings(&text) {
        if found.is_empty() {
            found = exactly_titled(turn, &title).await?;
        }
    }
    found.retain(|task| can_be_meant(task, &command));
    match found.as_slice() {
        [] => {
            let typed = fold(&text);
            let question =
                if typed.is_empty() { ReplySentence("guided_which") } else { ReplySentence("guided_which_again") };
            let query = crate::assistant::reply::shown_title(&typed);
            // Nothing has begun yet, so there is no marker.
            turn.say(question, &[("query", Value::Text(query))]);
            turn.reply.memory.command = Some(command.clarifying("task_selection"));
            Ok(())
        }
        [only] => go_on_with(turn, command, only),
        several => {
            let options: Vec<ChatTask> = several.iter().take(MOST_OPTIONS).cloned().collect();
            ask_to_select(turn, command, &options, ReplySentence("guided_several"));
            Ok(())
        }
    }
}

/// Returns the tasks if the text names more than one: "#1 and #2", "all tasks".
async fn several_named<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    text: &str,
    command: &ChatCommand,
) -> Step<Option<Vec<ChatTask>>> {
    let numbers = reference::explicit_numbers(text);
    let mut tasks = Vec::new();
    if numbers.len() > 1 {
        for number in numbers {
            tasks.extend(turn.task_by_number(number).await?);
        }
    } else if let Reference::Every(_) = Reference::parse(text) {
        for page in 0.. {
            let (more, total) = turn.listed(TaskCall::ListTasks { status: ListedStatus::Pending, page }).await?;
            let is_empty = more.is_empty();
            tasks.extend(more);
            if is_empty || tasks.len() as u64 >= total || tasks.len() >= MOST_AT_ONCE {
                break;
            }
        }
    }
    tasks.retain(|task| can_be_meant(task, command));
    tasks.truncate(MOST_AT_ONCE);
    let can_be_many = command.intent == CommandIntent::DeleteTask || command.fields.status == Some(ChatStatus::Done);
    Ok((tasks.len() > 1 && can_be_many).then_some(tasks))
}

/// Asks once about several tasks.
fn confirm_several<T: TaskTools>(turn: &mut ChatTurn<'_, T>, mut command: ChatCommand, tasks: Vec<ChatTask>) -> Step {
    let is_delete = command.intent == CommandIntent::DeleteTask;
    let (state, question) = if is_delete {
        (FlowState::DeleteConfirm, ReplySentence("guided_confirm_delete_many"))
    } else {
        (FlowState::UpdateConfirm, ReplySentence("guided_confirm_complete_many"))
    };
    let count = Value::Text(tasks.len().to_string());
    let task_ids = tasks.iter().map(|task| task.task_id).collect();
    command.target = Some(TaskRef { task_ids, ..TaskRef::default() });
    wait_in(turn, state, command.now_missing("confirmation"), question, &[("count", count)]);
    Ok(())
}

/// Returns the task that the text names by its id or number.
async fn named_task<T: TaskTools>(turn: &mut ChatTurn<'_, T>, text: &str) -> Step<Option<ChatTask>> {
    if let Some(task_id) = reference::explicit_id(text) {
        return turn.task_by_id(task_id).await;
    }
    match reference::explicit_numbers(text).first() {
        Some(number) => turn.task_by_number(*number).await,
        None => Ok(None),
    }
}

/// Returns the tasks with exactly this title, apart from case and blanks.
async fn exactly_titled<T: TaskTools>(turn: &mut ChatTurn<'_, T>, title: &str) -> Step<Vec<ChatTask>> {
    let key = title_key(title);
    if key.is_empty() {
        return Ok(Vec::new());
    }
    let mut tasks = turn.find_by_title(title, ListedStatus::All).await?;
    tasks.retain(|task| title_key(&task.title) == key);
    tasks.sort_by_key(|task| task.number);
    Ok(tasks)
}

/// Lists tasks to choose from.
fn ask_to_select<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    command: ChatCommand,
    options: &[ChatTask],
    question: ReplySentence,
) {
    let state = if command.intent == CommandIntent::DeleteTask || is_deleting(turn) {
        FlowState::DeleteSelect
    } else {
        FlowState::UpdateSelect
    };
    wait_in(turn, state, command.clarifying("task_selection"), question, &[]);
    let lines = number_options(options, |task| match task.number {
        Some(number) => format!("{}, #{number}", task.task_id),
        None => task.task_id.to_string(),
    });
    turn.say_lines(&lines);
    turn.reply.memory.options = options.iter().map(|task| task.task_id).collect();
}

/// Returns whether the flow that is continued deletes.
fn is_deleting<T: TaskTools>(turn: &ChatTurn<'_, T>) -> bool {
    FlowState::of_history(turn.request.history.messages()) == Some(FlowState::DeleteSelect)
}

/// Takes the message as a choice: a number from the list, or the id, number or exact title of an option.
pub(in crate::assistant) async fn take_selection<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    state: FlowState,
    command: ChatCommand,
) -> Step {
    let mut options = Vec::new();
    for task_id in turn.request.history.last().options.clone() {
        options.extend(turn.task_by_id(task_id).await?);
    }
    let intent = if state == FlowState::DeleteSelect { CommandIntent::DeleteTask } else { CommandIntent::UpdateTask };
    match choose(&turn.message, &options) {
        Some(task) => go_on_with(turn, ChatCommand { intent, ..command }, &task),
        None => {
            ask_to_select(turn, command, &options, ReplySentence("guided_several_again"));
            Ok(())
        }
    }
}

/// Goes on with the task that was identified: confirms a deletion, or asks what to change.
fn go_on_with<T: TaskTools>(turn: &mut ChatTurn<'_, T>, command: ChatCommand, task: &ChatTask) -> Step {
    let mut command = command.about(task);
    turn.reply.mentioned = Some(task.task_id);
    let title = Value::Title(&task.title);
    if command.intent == CommandIntent::DeleteTask {
        let command = command.now_missing("confirmation");
        wait_in(turn, FlowState::DeleteConfirm, command, ReplySentence("guided_confirm_delete"), &[("title", title)]);
        return Ok(());
    }
    command.intent = CommandIntent::UpdateTask;
    if let Some(status) = command.fields.status {
        return confirm_status(turn, command, task, status);
    }
    let command = command.now_missing("field_selection");
    wait_in(turn, FlowState::UpdateWhichField, command, ReplySentence("guided_field"), &[("title", title)]);
    Ok(())
}

/// Returns whether a task can be what a command is about: a completed one can be reopened, and not be deleted or completed.
fn can_be_meant(task: &ChatTask, command: &ChatCommand) -> bool {
    let needs_open = command.intent == CommandIntent::DeleteTask || command.fields.status == Some(ChatStatus::Done);
    task.status != TaskStatus::Cancelled && !(needs_open && task.status == TaskStatus::Done)
}

/// Returns what could be the title in a text: the text, and the text without "the task" and quotation marks.
fn title_readings(text: &str) -> Vec<String> {
    let text = text.trim();
    let mut readings = vec![text.to_owned(), unquote(trim_punctuation(text)).to_owned()];
    let mut rest = trim_punctuation(text);
    while let Some(shorter) = [PhraseList("article"), PhraseList("task_word"), PhraseList("named")]
        .iter()
        .find_map(|list| list.strip_start(rest))
    {
        rest = shorter;
        readings.push(unquote(rest).to_owned());
    }
    for list in [PhraseList("as_done"), PhraseList("from_list"), PhraseList("task_word")] {
        if let Some(shorter) = list.strip_end(rest) {
            readings.push(unquote(shorter).to_owned());
        }
    }
    readings.retain(|reading| !reading.is_empty());
    readings.dedup();
    readings
}

/// Returns the option that a message chooses; none for anything else than a choice.
fn choose(message: &str, options: &[ChatTask]) -> Option<ChatTask> {
    let typed = trim_punctuation(message);
    let by = |is_meant: &dyn Fn(&ChatTask) -> bool| options.iter().find(|task| is_meant(task)).cloned();
    if let Ok(position) = typed.parse::<usize>() {
        return options.get(position.checked_sub(1)?).cloned();
    }
    if let Ok(task_id) = typed.to_uppercase().parse::<TaskId>() {
        return by(&|task| task.task_id == task_id);
    }
    if let Some(number) = typed.strip_prefix('#').and_then(|number| number.parse::<i64>().ok()) {
        return by(&|task| task.number == Some(number));
    }
    let key = title_key(unquote(message));
    let mut same = options.iter().filter(|task| title_key(&task.title) == key);
    match (same.next(), same.next()) {
        (Some(only), None) => Some(only.clone()),
        _ => None,
    }
}
