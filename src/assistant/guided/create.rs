//! The flow that creates a task: title, priority, deadline.

use crate::{
    assistant::{
        command::{ChatPriority, Command, CommandIntent},
        deadline,
        marker::FlowState,
        memory::MadeChange,
        phrase::{MOST_TITLE_CHARS, fold},
        reply::{Sentence, Value},
        tool::{TaskTools, ToolCall, ToolResult},
        turn::{Step, Stopped, Turn},
        vocabulary::WordList,
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
    if WordList("no_deadline").is(&folded) {
        return TypedDeadline::None;
    }
    match deadline::from_iso(&folded.to_uppercase(), me) {
        Some(deadline) => TypedDeadline::At(deadline.text),
        None => TypedDeadline::Unclear,
    }
}

impl<T: TaskTools> Turn<'_, T> {
    /// Begins the flow.
    pub(super) fn begin_create(&mut self) {
        let command = Command::asking(CommandIntent::AddTask, "title");
        self.wait_in(FlowState::CreateTitle, command, Sentence("guided_title"), &[]);
    }

    /// Takes the whole message as the title.
    pub(super) fn take_title(&mut self, mut command: Command) {
        let title = self.message.trim().to_owned();
        if title.is_empty() {
            return self.wait_in(FlowState::CreateTitle, command, Sentence("guided_title_again"), &[]);
        }
        if title.chars().count() > MOST_TITLE_CHARS {
            let most = [("count", Value::Text(MOST_TITLE_CHARS.to_string()))];
            return self.wait_in(FlowState::CreateTitle, command, Sentence("title_too_long"), &most);
        }
        command.fields.title = Some(title);
        self.wait_in(FlowState::CreatePriority, command.now_missing("priority"), Sentence("guided_priority"), &[]);
    }

    pub(super) fn take_priority(&mut self, mut command: Command) {
        let Some(level) = ChatPriority::read(&self.message) else {
            return self.wait_in(FlowState::CreatePriority, command, Sentence("guided_priority_again"), &[]);
        };
        command.fields.priority = Some(level);
        self.wait_in(FlowState::CreateDeadline, command.now_missing("deadline"), Sentence("guided_deadline"), &[]);
    }

    pub(super) async fn take_deadline(&mut self, mut command: Command) -> Step {
        command.fields.deadline = match read_typed_deadline(&self.message, self.request.me) {
            TypedDeadline::None => Some(None),
            TypedDeadline::At(deadline) => Some(Some(deadline)),
            TypedDeadline::Unclear => {
                self.wait_in(FlowState::CreateDeadline, command, Sentence("guided_deadline_again"), &[]);
                return Ok(());
            }
        };
        let command = command.into_ready(CommandIntent::AddTask);
        self.reply.memory.command = Some(command.clone());
        self.execute(&command).await
    }

    /// Adds the task that was collected.
    pub(super) async fn add_collected(&mut self, command: &Command) -> Step {
        let fields = &command.fields;
        let (Some(title), Some(_)) = (&fields.title, fields.priority) else { return Err(Stopped) };
        let deadline = fields.deadline.clone().flatten();
        let call = ToolCall::AddTask {
            title: title.clone(),
            description: None,
            priority: fields.priority,
            deadline: deadline.and_then(|text| deadline::from_stored(&text, self.request.me)),
            remind: None,
        };
        let Ok(ToolResult::Changed { task, .. }) = self.call(call).await else { return Err(self.give_up()) };
        self.reply.mentioned = Some(task.task_id);
        self.reply.memory.changes.push(MadeChange::Added(task.task_id));
        self.say(Sentence("guided_created"), &[("title", Value::Title(&task.title))]);
        Ok(())
    }
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
