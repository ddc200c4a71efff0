//! What is done with tasks, and what is said about it.

use super::resolve::MOST_AT_ONCE;
use crate::{
    assistant::{
        command::{ChatPriority, ChatStatus, Command, CommandFields, CommandIntent, TaskRef},
        deadline,
        memory::{Action, FieldsBefore, MadeChange, Pending},
        reply::{Sentence, Value, format_deadline, format_instant, number_options, shown_options},
        tool::{TaskChanges, TaskTools, TaskView, ToolCall, ToolFailure, ToolResult},
        turn::{Step, Stopped, Turn},
    },
    model::{Instant, TaskStatus},
};

impl<T: TaskTools> Turn<'_, T> {
    /// Does one thing with one task.
    pub(super) async fn apply(&mut self, action: Action, task: TaskView) -> Step {
        self.reply.mentioned = Some(task.task_id);
        self.reply.memory.command = Some(command_of(&action, &task));
        match action {
            Action::Complete => self.complete(task).await,
            Action::Delete => self.delete(task).await,
            Action::Update(changes) => self.update(task, changes).await,
            Action::Snooze(until) => self.snooze(task, until).await,
            Action::Explain => self.explain(task).await,
            Action::NotATask => self.mark_not_a_task(task).await,
        }
    }

    async fn complete(&mut self, task: TaskView) -> Step {
        if task.status == TaskStatus::Done {
            self.say(Sentence("already_complete"), &[("title", Value::Title(&task.title))]);
            return Ok(());
        }
        self.change(&task, ToolCall::CompleteTask { task_id: task.task_id }).await?;
        self.reply.memory.changes.push(MadeChange::Ended(task.task_id));
        let tally = &mut self.reply.memory.tally;
        let before = tally.completed;
        tally.completed += 1;
        tally.created_since_completion = 0;
        self.vary(Sentence("completed"), before, &[("title", Value::Title(&task.title))]);
        // Somebody who works through the list is told when nothing is left.
        if before > 0 && self.count_pending().await? == 0 {
            self.say(Sentence("all_done"), &[]);
        }
        Ok(())
    }

    async fn delete(&mut self, task: TaskView) -> Step {
        if task.status == TaskStatus::Done {
            self.say(Sentence("cannot_delete_completed"), &[("title", Value::Title(&task.title))]);
            return Ok(());
        }
        self.change(&task, ToolCall::DeleteTask { task_id: task.task_id }).await?;
        self.reply.memory.changes.push(MadeChange::Ended(task.task_id));
        let before = self.reply.memory.tally.deleted;
        self.reply.memory.tally.deleted += 1;
        self.vary(Sentence("deleted"), before, &[("title", Value::Title(&task.title))]);
        Ok(())
    }

    async fn update(&mut self, task: TaskView, changes: TaskChanges) -> Step {
        if changes.is_empty() {
            self.reply.memory.pending = Some(Pending::WhatToChange { task_id: task.task_id });
            self.reply.memory.command = Some(Command::asking(CommandIntent::Clarify, "fields").about(&task));
            self.say(Sentence("what_to_change"), &[("number", Value::Text(number_of(&task)))]);
            return Err(Stopped);
        }
        let call = ToolCall::UpdateTask { task_id: task.task_id, changes: changes.clone() };
        let changed = self.change(&task, call).await?;
        self.remember_update(&task, &changes);
        self.say_updated(&changed, &changes);
        Ok(())
    }

    /// Notes what an update has replaced, for an undo.
    pub(in crate::assistant) fn remember_update(&mut self, task: &TaskView, changes: &TaskChanges) {
        let before = TaskChanges {
            title: changes.title.as_ref().map(|_| task.title.clone()),
            description: changes.description.as_ref().map(|_| task.description.clone().unwrap_or_default()),
            priority: changes.priority.map(|_| ChatPriority::of(task.priority)),
            deadline: changes
                .deadline
                .as_ref()
                .map(|_| task.deadline.as_deref().and_then(|stored| deadline::from_stored(stored, self.request.me))),
            status: None,
        };
        if !before.is_empty() {
            let change = MadeChange::Updated { task_id: task.task_id, before: FieldsBefore(before) };
            self.reply.memory.changes.push(change);
        } else if changes.status == Some(ChatStatus::InProgress) {
            self.reply.memory.changes.push(MadeChange::Begun(task.task_id));
        }
    }

    fn say_updated(&mut self, task: &TaskView, changes: &TaskChanges) {
        let title = Value::Title(&task.title);
        let only = |other: TaskChanges| *changes == other;
        if only(TaskChanges { title: changes.title.clone(), ..TaskChanges::default() }) {
            return self.say(Sentence("updated"), &[("title", title)]);
        }
        if only(TaskChanges { status: Some(ChatStatus::InProgress), ..TaskChanges::default() }) {
            return self.say(Sentence("begun"), &[("title", title)]);
        }
        if only(TaskChanges { deadline: changes.deadline.clone(), ..TaskChanges::default() }) {
            return match &changes.deadline {
                Some(Some(deadline)) => {
                    let when = format_deadline(self.language(), &deadline.text, self.request.me.time_zone);
                    self.say(Sentence("updated_deadline"), &[("title", title), ("when", Value::Text(when))]);
                }
                _ => self.say(Sentence("removed_deadline"), &[("title", title)]),
            };
        }
        let fields = Value::Text(self.name_fields(changes));
        match task.number {
            Some(number) => {
                let number = Value::Text(number.to_string());
                self.say(Sentence("updated_fields"), &[("number", number), ("fields", fields)]);
            }
            None => self.say(Sentence("updated_fields_no_number"), &[("title", title), ("fields", fields)]),
        }
    }

    /// Returns the names of the changed fields: "title and description".
    fn name_fields(&self, changes: &TaskChanges) -> String {
        let language = self.language();
        let names = [
            (changes.title.is_some(), Sentence("field_title")),
            (changes.description.is_some(), Sentence("field_description")),
            (changes.priority.is_some(), Sentence("field_priority")),
            (changes.deadline.is_some(), Sentence("field_deadline")),
            (changes.status.is_some(), Sentence("field_status")),
        ];
        let names: Vec<String> =
            names.into_iter().filter(|(is_changed, _)| *is_changed).map(|(_, name)| name.plain(language)).collect();
        match names.split_last() {
            Some((last, first)) if !first.is_empty() => {
                let values = [("first", Value::Text(first.join(", "))), ("last", Value::Text(last.clone()))];
                Sentence("field_and").say(language, &values).plain().to_owned()
            }
            _ => names.concat(),
        }
    }

    async fn snooze(&mut self, task: TaskView, until: Option<Instant>) -> Step {
        let title = Value::Title(&task.title);
        let Some(until) = until else {
            self.reply.memory.pending = Some(Pending::UntilWhen { task_id: task.task_id });
            self.say(Sentence("until_when"), &[("title", title)]);
            return Err(Stopped);
        };
        if task.status.is_terminal() {
            self.say(Sentence("already_complete"), &[("title", title)]);
            return Ok(());
        }
        self.change(&task, ToolCall::SnoozeTask { task_id: task.task_id, until: Some(until) }).await?;
        self.reply.memory.changes.push(MadeChange::Snoozed { task_id: task.task_id, before: task.snooze_until });
        let when = format_instant(self.language(), until, self.request.me.time_zone);
        self.say(Sentence("snoozed"), &[("title", Value::Title(&task.title)), ("when", Value::Text(when))]);
        Ok(())
    }

    async fn explain(&mut self, task: TaskView) -> Step {
        let reason = match self.call(ToolCall::ExplainPriority { task_id: task.task_id }).await {
            Ok(ToolResult::Reason(reason)) => reason,
            _ => return Err(self.give_up()),
        };
        let (title, level) =
            (Value::Title(&task.title), Value::Text(priority_word(reason.level).plain(self.language())));
        match reason.rule {
            _ if reason.set_by_hand => self.say(Sentence("explain_hand"), &[("title", title), ("level", level)]),
            Some((rule, why)) => {
                let values =
                    [("title", title), ("level", level), ("rule", Value::Text(rule)), ("why", Value::Text(why))];
                self.say(Sentence("explain_rule"), &values);
            }
            None => self.say(Sentence("explain_default"), &[("title", title), ("level", level)]),
        }
        self.say(Sentence("explain_more"), &[("number", Value::Text(number_of(&task)))]);
        Ok(())
    }

    async fn mark_not_a_task(&mut self, task: TaskView) -> Step {
        if !task.is_from_mail || task.status.is_terminal() {
            return self.delete(task).await;
        }
        self.change(&task, ToolCall::MarkNotATask { task_id: task.task_id }).await?;
        self.reply.memory.changes.push(MadeChange::Ended(task.task_id));
        self.say(Sentence("marked_not_a_task"), &[("title", Value::Title(&task.title))]);
        Ok(())
    }

    /// Makes a call that changes a task. Returns the task after it; where it was refused, says so.
    pub(in crate::assistant) async fn change(&mut self, task: &TaskView, call: ToolCall) -> Step<TaskView> {
        match self.call(call).await {
            Ok(ToolResult::Changed { task, .. }) => Ok(task),
            Err(ToolFailure::NotFound | ToolFailure::Refused) => {
                self.say(Sentence("changed_meanwhile"), &[("title", Value::Title(&task.title))]);
                Err(Stopped)
            }
            Ok(_) | Err(ToolFailure::Unavailable) => Err(self.give_up()),
        }
    }

    /// Asks which task is meant.
    pub(super) fn ask_which(&mut self, action: Action) -> Stopped {
        let (question, _, _) = sentences_of(&action);
        self.say(question, &[]);
        self.ask(Pending::WhichTask { action, query: String::new(), options: Vec::new() }, "task_id");
        Stopped
    }

    /// Asks which of several tasks is meant.
    pub(super) fn ask_which_of(&mut self, action: Action, query: &str, tasks: &[TaskView]) -> Stopped {
        let (_, question, _) = sentences_of(&action);
        let options = shown_options(tasks);
        self.say(Sentence("several"), &[("query", Value::Text(safe_query(query)))]);
        self.say_lines(&number_options(options, number_of));
        if tasks.len() > options.len() {
            let more = (tasks.len() - options.len()).to_string();
            self.say_below(Sentence("several_more"), &[("count", Value::Text(more))]);
        }
        self.say_below(question, &[]);
        let options = options.iter().map(|task| task.task_id).collect();
        self.ask(Pending::WhichTask { action, query: query.to_owned(), options }, "task_selection");
        Stopped
    }

    /// Asks whether to do it with all of these tasks.
    pub(super) fn confirm_many(&mut self, action: Action, tasks: &[TaskView]) -> Stopped {
        self.confirm_work(tasks.iter().map(|task| (action.clone(), task.clone())).collect())
    }

    pub(super) fn confirm_work(&mut self, mut work: Vec<(Action, TaskView)>) -> Stopped {
        let is_cut = work.len() >= MOST_AT_ONCE;
        work.truncate(MOST_AT_ONCE);
        let first = work.first().map_or(Action::Explain, |(action, _)| action.clone());
        let is_same = work.iter().all(|(action, _)| *action == first);
        let (_, _, question) =
            if is_same { sentences_of(&first) } else { sentences_of(&Action::Update(TaskChanges::default())) };
        self.say(question, &[("count", Value::Text(work.len().to_string()))]);
        if is_cut {
            self.say(Sentence("at_most"), &[("count", Value::Text(MOST_AT_ONCE.to_string()))]);
        }
        let work = work.into_iter().map(|(action, task)| (action, task.task_id)).collect();
        self.ask(Pending::ConfirmMany { work }, "confirmation");
        Stopped
    }

    /// Does what was confirmed, and reports it as one.
    pub(super) async fn do_confirmed(&mut self, work: Vec<(Action, crate::model::TaskId)>) -> Step {
        let (mut done, mut last) = (0usize, None);
        for (action, task_id) in work {
            let Some(task) = self.task_by_id(task_id).await?.filter(|task| !task.status.is_terminal()) else {
                continue;
            };
            let said = std::mem::take(&mut self.reply.text);
            let tally = self.reply.memory.tally;
            let outcome = self.apply(action.clone(), task).await;
            if outcome.is_err() {
                // What was done until then stays done, and is said before the reason.
                let reason = std::mem::replace(&mut self.reply.text, said);
                self.say_done_many(&action, done);
                self.reply.text.join(" ", &reason);
                return Err(Stopped);
            }
            self.reply.text = said;
            self.reply.memory.tally = tally;
            done += 1;
            last = Some(action);
        }
        if let Some(action) = last {
            self.say_done_many(&action, done);
            let tally = &mut self.reply.memory.tally;
            if action == Action::Complete {
                (tally.completed, tally.created_since_completion) = (tally.completed + 1, 0);
            }
        }
        if done == 0 {
            self.say(Sentence("left_alone"), &[]);
        }
        Ok(())
    }

    fn say_done_many(&mut self, action: &Action, done: usize) {
        if done == 0 {
            return;
        }
        let sentence = match action {
            Action::Complete => Sentence("completed_many"),
            Action::Delete | Action::NotATask => Sentence("deleted_many"),
            Action::Update(_) | Action::Snooze(_) | Action::Explain => Sentence("updated_many"),
        };
        self.say(sentence, &[("count", Value::Text(done.to_string()))]);
    }

    /// Remembers the question that the reply asks.
    pub(super) fn ask(&mut self, pending: Pending, missing: &str) {
        self.reply.memory.command = Some(Command::asking(CommandIntent::Clarify, missing));
        self.reply.memory.pending = Some(pending);
    }
}

/// Returns a query for a sentence, on one line and without anything like a marker.
pub(super) fn safe_query(query: &str) -> String {
    let shown = crate::assistant::reply::shown_title(query);
    let lower: String = query.trim().chars().take(1).collect();
    lower + &shown.chars().skip(1).collect::<String>()
}

/// Returns the number of a task; its id for a task without one.
pub(in crate::assistant) fn number_of(task: &TaskView) -> String {
    task.number.map_or_else(|| task.task_id.to_string(), |number| number.to_string())
}

/// Returns the word for a priority.
pub(in crate::assistant) const fn priority_word(level: ChatPriority) -> Sentence {
    match level {
        ChatPriority::Low => Sentence("priority_low"),
        ChatPriority::Medium => Sentence("priority_medium"),
        ChatPriority::High => Sentence("priority_high"),
        ChatPriority::Urgent => Sentence("priority_urgent"),
    }
}

/// Returns how to ask which task, which of several, and whether all.
const fn sentences_of(action: &Action) -> (Sentence, Sentence, Sentence) {
    match action {
        Action::Complete => {
            (Sentence("which_complete"), Sentence("several_complete"), Sentence("confirm_many_complete"))
        }
        Action::Delete | Action::NotATask => {
            (Sentence("which_delete"), Sentence("several_delete"), Sentence("confirm_many_delete"))
        }
        Action::Update(_) => (Sentence("which_update"), Sentence("several_update"), Sentence("confirm_many_update")),
        Action::Snooze(_) => (Sentence("which_snooze"), Sentence("several_snooze"), Sentence("confirm_many_snooze")),
        Action::Explain => (Sentence("which_explain"), Sentence("several_explain"), Sentence("confirm_many_update")),
    }
}

/// Returns the command that an action amounts to.
fn command_of(action: &Action, task: &TaskView) -> Command {
    let target = TaskRef { task_id: Some(task.task_id), title: Some(task.title.clone()), task_ids: Vec::new() };
    let (intent, fields) = match action {
        Action::Complete => (CommandIntent::CompleteTask, CommandFields::default()),
        Action::Delete | Action::NotATask => (CommandIntent::DeleteTask, CommandFields::default()),
        Action::Update(changes) => (CommandIntent::UpdateTask, fields_of(changes)),
        Action::Snooze(_) => (CommandIntent::UpdateTask, CommandFields::default()),
        Action::Explain => (CommandIntent::ListTasks, CommandFields::default()),
    };
    Command::complete(intent, fields, Some(target))
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

impl Command {
    /// Returns the same command about a task.
    pub(in crate::assistant) fn about(self, task: &TaskView) -> Self {
        let target = TaskRef { task_id: Some(task.task_id), title: Some(task.title.clone()), task_ids: Vec::new() };
        Self { target: Some(target), ..self }
    }
}
