//! The flows that change and delete: which field, which value, and carrying it out.

use crate::{
    assistant::{
        command::{ChatPriority, ChatStatus, Command, CommandIntent},
        deadline,
        direct::act::priority_word,
        guided::create::{TypedDeadline, read_typed_deadline},
        marker::{FlowState, UpdateField},
        memory::MadeChange,
        phrase::MOST_TITLE_CHARS,
        reply::{Sentence, Value, format_deadline},
        tool::{TaskChanges, TaskTools, TaskView, ToolCall},
        turn::{Step, Stopped, Turn},
        vocabulary::WordList,
    },
    model::TaskStatus,
};

const FIELDS: [(WordList, UpdateField); 4] = [
    (WordList("field_title"), UpdateField::Title),
    (WordList("field_priority"), UpdateField::Priority),
    (WordList("field_deadline"), UpdateField::Deadline),
    (WordList("field_status"), UpdateField::Status),
];

impl<T: TaskTools> Turn<'_, T> {
    pub(super) fn take_field(&mut self, command: Command) {
        let Some((_, field)) = FIELDS.iter().find(|(list, _)| list.is(&self.message)) else {
            return self.wait_in(FlowState::UpdateWhichField, command, Sentence("guided_field_again"), &[]);
        };
        let question = match field {
            UpdateField::Title => Sentence("guided_value_title"),
            UpdateField::Priority => Sentence("guided_value_priority"),
            UpdateField::Deadline => Sentence("guided_value_deadline"),
            UpdateField::Status => Sentence("guided_value_status"),
        };
        let command = command.now_missing(&format!("{field}_value"));
        self.wait_in(FlowState::UpdateValue(*field), command, question, &[]);
    }

    pub(super) async fn take_value(&mut self, field: UpdateField, mut command: Command) -> Step {
        let state = FlowState::UpdateValue(field);
        let Some(task) = self.collected_task(&command).await? else { return Err(self.end_without_task(state)) };
        match field {
            UpdateField::Title => {
                let title = self.message.trim().to_owned();
                if title.is_empty() || title.chars().count() > MOST_TITLE_CHARS {
                    let most = [("count", Value::Text(MOST_TITLE_CHARS.to_string()))];
                    let again =
                        if title.is_empty() { Sentence("guided_title_again") } else { Sentence("title_too_long") };
                    self.wait_in(state, command, again, &most);
                    return Ok(());
                }
                command.fields.title = Some(title.clone());
                self.confirm_value(command, &task, field, &title);
            }
            UpdateField::Priority => match ChatPriority::read(&self.message) {
                Some(level) => {
                    command.fields.priority = Some(level);
                    let word = priority_word(level).plain(self.language());
                    self.confirm_value(command, &task, field, &word);
                }
                None => self.wait_in(state, command, Sentence("guided_priority_again"), &[]),
            },
            UpdateField::Deadline => match read_typed_deadline(&self.message, self.request.me) {
                TypedDeadline::None => {
                    command.fields.deadline = Some(None);
                    self.confirm_value(command, &task, field, "");
                }
                TypedDeadline::At(text) => {
                    let shown = format_deadline(self.language(), &text, self.request.me.time_zone);
                    command.fields.deadline = Some(Some(text));
                    self.confirm_value(command, &task, field, &shown);
                }
                TypedDeadline::Unclear => self.wait_in(state, command, Sentence("guided_deadline_again"), &[]),
            },
            UpdateField::Status => match ChatStatus::read(&self.message) {
                Some(status) => return self.confirm_status(command, &task, status),
                None => self.wait_in(state, command, Sentence("guided_status_again"), &[]),
            },
        }
        Ok(())
    }

    /// Confirms a new status, or refuses one that the life cycle does not allow here, with the reason.
    pub(super) fn confirm_status(&mut self, mut command: Command, task: &TaskView, status: ChatStatus) -> Step {
        let current = status_of(task.status);
        let language = self.language();
        let now = status_word(task.status).plain(language);
        if current == Some(status) || !is_allowed(task.status, status) {
            command.fields.status = None;
            let command = command.now_missing("status_value");
            let (title, now) = (Value::Title(&task.title), Value::Text(now));
            let wanted = Value::Text(chat_status_word(status).plain(language));
            let state = FlowState::UpdateValue(UpdateField::Status);
            if current == Some(status) {
                self.wait_in(state, command, Sentence("guided_status_same"), &[("title", title), ("status", now)]);
            } else {
                let values = [("title", title), ("status", now), ("wanted", wanted)];
                self.wait_in(state, command, Sentence("guided_status_forbidden"), &values);
            }
            return Ok(());
        }
        command.fields.status = Some(status);
        let word = chat_status_word(status).plain(language);
        self.confirm_value(command, task, UpdateField::Status, &word);
        Ok(())
    }

    /// Asks whether a field shall have this value; an empty one removes it.
    fn confirm_value(&mut self, command: Command, task: &TaskView, field: UpdateField, value: &str) {
        let name = match field {
            UpdateField::Title => Sentence("field_title"),
            UpdateField::Priority => Sentence("field_priority"),
            UpdateField::Deadline => Sentence("field_deadline"),
            UpdateField::Status => Sentence("field_status"),
        };
        let command = command.now_missing("confirmation");
        let field = Value::Text(name.plain(self.language()));
        let shown = if name == Sentence("field_title") { Value::Title(value) } else { Value::Text(value.to_owned()) };
        let question =
            if value.is_empty() { Sentence("guided_confirm_update_none") } else { Sentence("guided_confirm_update") };
        let values = [("field", field), ("title", Value::Title(&task.title)), ("value", shown)];
        self.wait_in(FlowState::UpdateConfirm, command, question, &values);
    }

    /// Returns the task that the command is about; none if it was deleted meanwhile.
    async fn collected_task(&mut self, command: &Command) -> Step<Option<TaskView>> {
        match command.target.as_ref().and_then(|target| target.task_id) {
            Some(task_id) => self.task_by_id(task_id).await,
            None => Ok(None),
        }
    }

    /// Ends a flow whose task has been deleted meanwhile.
    fn end_without_task(&mut self, state: FlowState) -> Stopped {
        self.say(Sentence("guided_which"), &[]);
        self.reply.memory.command = Some(super::reset(state).clarifying("task_selection"));
        Stopped
    }

    /// Deletes or changes what was confirmed.
    pub(super) async fn change_collected(&mut self, command: &Command) -> Step {
        let Some(target) = command.target.clone() else { return Err(Stopped) };
        let ids = if target.task_ids.is_empty() { target.task_id.into_iter().collect() } else { target.task_ids };
        let is_many = ids.len() > 1;
        let mut done = 0usize;
        for task_id in ids {
            let Some(task) = self.task_by_id(task_id).await? else {
                if is_many {
                    continue;
                }
                return Err(self.end_without_task(FlowState::UpdateConfirm));
            };
            let said = std::mem::take(&mut self.reply.text);
            let outcome = self.change_one(command, &task).await;
            if outcome.is_err() || !is_many {
                return outcome;
            }
            self.reply.text = said;
            done += 1;
        }
        let sentence = match command.intent {
            CommandIntent::DeleteTask => Sentence("deleted_many"),
            _ => Sentence("completed_many"),
        };
        self.say(sentence, &[("count", Value::Text(done.to_string()))]);
        Ok(())
    }

    async fn change_one(&mut self, command: &Command, task: &TaskView) -> Step {
        self.reply.mentioned = Some(task.task_id);
        let task_id = task.task_id;
        if command.intent == CommandIntent::DeleteTask {
            self.change(task, ToolCall::DeleteTask { task_id }).await?;
            self.reply.memory.changes.push(MadeChange::Ended(task_id));
            self.say(Sentence("guided_deleted"), &[("title", Value::Title(&task.title))]);
            return Ok(());
        }
        let fields = &command.fields;
        let changed = match fields.status {
            Some(ChatStatus::Done) => {
                let changed = self.change(task, ToolCall::CompleteTask { task_id }).await?;
                self.reply.memory.changes.push(MadeChange::Ended(task_id));
                changed
            }
            Some(ChatStatus::Open) => {
                let changed = self.change(task, ToolCall::ReopenTask { task_id }).await?;
                self.reply.mentioned = Some(changed.task_id);
                changed
            }
            _ => {
                let deadline = fields
                    .deadline
                    .clone()
                    .map(|typed| typed.and_then(|text| deadline::from_stored(&text, self.request.me)));
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
                let changed = self.change(task, ToolCall::UpdateTask { task_id, changes: changes.clone() }).await?;
                self.remember_update(task, &changes);
                changed
            }
        };
        self.say(Sentence("guided_updated"), &[("title", Value::Title(&changed.title))]);
        Ok(())
    }
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

const fn status_word(status: TaskStatus) -> Sentence {
    match status {
        TaskStatus::New | TaskStatus::Ready => Sentence("status_open"),
        TaskStatus::InProgress => Sentence("status_in_progress"),
        TaskStatus::WaitingHitl => Sentence("status_waiting"),
        TaskStatus::Done | TaskStatus::Cancelled => Sentence("status_done"),
    }
}

const fn chat_status_word(status: ChatStatus) -> Sentence {
    match status {
        ChatStatus::Open => Sentence("status_open"),
        ChatStatus::InProgress => Sentence("status_in_progress"),
        ChatStatus::Done => Sentence("status_done"),
    }
}
