//! The flow that creates a task: title, priority, deadline.

use crate::{
    assistant::{
        command::{ChatCommand, ChatPriority, CommandIntent},
        deadline,
        guided::{execute, wait_in},
        marker::FlowState,
        memory::MadeChange,
        phrase::{MOST_TITLE_CHARS, fold},
        reply::{ReplySentence, Value},
        tool::{TaskCall, TaskTools, ToolResult},
        turn::{ChatTurn, Step, Stopped},
        vocabulary::PhraseList,
    },
    model::Me,
};

/// What was typed as a deadline.
pub(super) enum TypedDeadline {
    None,
    At(String),
    Unclear,
}

/// Reads a deadline: an ISO date, or an explicit none. A date in words is neither.
pub(super) fn read_typed_deadline(message: &str, me: &Me) -> TypedDeadline {
    let folded = fold(message);
    if PhraseList("no_deadline").is(&folded) {
        return TypedDeadline::None;
    }
    match deadline::from_iso(&folded.to_uppercase(), me) {
        Some(deadline) => TypedDeadline::At(deadline.text),
        None => TypedDeadline::Unclear,
    }
}

/// Begins the flow.
pub(in crate::assistant) fn begin_create<T: TaskTools>(turn: &mut ChatTurn<'_, T>) {
    let command = ChatCommand::asking(CommandIntent::AddTask, "title");
    wait_in(turn, FlowState::CreateTitle, command, ReplySentence("guided_title"), &[]);
}

/// Takes the whole message as the title.
pub(in crate::assistant) fn take_title<T: TaskTools>(turn: &mut ChatTurn<'_, T>, mut command: ChatCommand) {
    let title = turn.message.trim().to_owned();
    if title.is_empty() {
        return wait_in(turn, FlowState::CreateTitle, command, ReplySentence("guided_title_again"), &[]);
    }
    if title.chars().count() > MOST_TITLE_CHARS {
        let most = [("count", Value::Text(MOST_TITLE_CHARS.to_string()))];
        return wait_in(turn, FlowState::CreateTitle, command, ReplySentence("title_too_long"), &most);
    }
    command.fields.title = Some(title);
    wait_in(turn, FlowState::CreatePriority, command.now_missing("priority"), ReplySentence("guided_priority"), &[]);
}

pub(in crate::assistant) fn take_priority<T: TaskTools>(turn: &mut ChatTurn<'_, T>, mut command: ChatCommand) {
    let Some(level) = ChatPriority::read(&turn.message) else {
        return wait_in(turn, FlowState::CreatePriority, command, ReplySentence("guided_priority_again"), &[]);
    };
    command.fields.priority = Some(level);
    wait_in(turn, FlowState::CreateDeadline, command.now_missing("deadline"), ReplySentence("guided_deadline"), &[]);
}

pub(in crate::assistant) async fn take_deadline<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    mut command: ChatCommand,
) -> Step {
    command.fields.deadline = match read_typed_deadline(&turn.message, turn.request.me) {
        TypedDeadline::None => Some(None),
        TypedDeadline::At(deadline) => Some(Some(deadline)),
        TypedDeadline::Unclear => {
            wait_in(turn, FlowState::CreateDeadline, command, ReplySentence("guided_deadline_again"), &[]);
            return Ok(());
        }
    };
    let command = command.into_ready(CommandIntent::AddTask);
    turn.reply.memory.command = Some(command.clone());
    execute(turn, &command).await
}

/// Adds the task that was collected.
pub(in crate::assistant) async fn add_collected<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    command: &ChatCommand,
) -> Step {
    let fields = &command.fields;
    let (Some(title), Some(_)) = (&fields.title, fields.priority) else { return Err(Stopped) };
    let deadline = fields.deadline.clone().flatten();
    let call = TaskCall::AddTask {
        title: title.clone(),
        description: None,
        priority: fields.priority,
        deadline: deadline.and_then(|text| deadline::from_stored(&text, turn.request.me)),
        remind: None,
    };
    let Ok(ToolResult::Changed { task, .. }) = turn.call(call).await else { return Err(turn.give_up()) };
    turn.reply.mentioned = Some(task.task_id);
    turn.reply.memory.changes.push(MadeChange::Added(task.task_id));
    turn.say(ReplySentence("guided_created"), &[("title", Value::Title(&task.title))]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_a_numeric_date_or_an_explicit_none() {
        let me = crate::assistant::tests::me();
        for (typed, expected) in [
            ("2026-11-20", Some("2026-11-20")),
            ("2026-11-20T10:00:00Z", Some("2026-11-20T10:00:00Z")),
            ("2020-01-01", Some("2020-01-01")),
            ("2026-02-30", None),
            ("2026-13-01", None),
            ("0000-01-01", None),
            ("tomorrow", None),
            ("next week", None),
            ("יום רביעי", None),
            ("20.11.2026", None),
            ("2026-11-20 or so", None),
            ("", None),
        ] {
            let read = match read_typed_deadline(typed, &me) {
                TypedDeadline::At(text) => Some(text),
                TypedDeadline::None => panic!("{typed} is not a none"),
                TypedDeadline::Unclear => None,
            };
            assert_eq!(read.as_deref(), expected, "{typed}");
        }
        for typed in ["no", "none", "SKIP", "no deadline", "לא", "אין", "בלי", "דלג"] {
            assert!(matches!(read_typed_deadline(typed, &me), TypedDeadline::None), "{typed}");
        }
    }
}
