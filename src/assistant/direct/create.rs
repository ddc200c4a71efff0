//! New tasks, with the remarks that go with them.

use crate::{
    assistant::{
        command::{Command, CommandFields, CommandIntent},
        extract::{self, WantedTask},
        memory::{MadeChange, Pending},
        phrase::{MOST_TITLE_CHARS, fold, words},
        reply::{Sentence, Value, format_deadline, shown_title},
        tool::{Deadline, TaskTools, TaskView, ToolCall, ToolResult},
        turn::{Step, Stopped, Turn},
        vocabulary::WordList,
    },
    document::query_words,
    model::{ListedStatus, Recurrence},
};

/// After how many new tasks without a completed one the person is reminded of what is pending.
const NUDGE_AFTER: usize = 3;

impl<T: TaskTools> Turn<'_, T> {
    /// Adds tasks, each with the words in which it was asked for. A message with other clauses gets no remarks.
    pub(super) async fn create_tasks(&mut self, new: Vec<(WantedTask, String)>, is_chain: bool) -> Step {
        let mut calls = Vec::new();
        for (wanted, said) in &new {
            if wanted.title.is_empty() {
                self.say(Sentence("ask_title"), &[]);
                self.ask(Pending::WhatTitle, "title");
                return Err(Stopped);
            }
            if wanted.title.chars().count() > MOST_TITLE_CHARS {
                self.say(Sentence("title_too_long"), &[("count", Value::Text(MOST_TITLE_CHARS.to_string()))]);
                return Err(Stopped);
            }
            calls.push(self.add_call(wanted, said));
        }
        let outcomes = self.call_all(calls.clone()).await;
        let mut added = Vec::new();
        for outcome in outcomes {
            let Ok(ToolResult::Changed { task, .. }) = outcome else { return Err(self.give_up()) };
            self.reply.memory.changes.push(MadeChange::Added(task.task_id));
            self.reply.mentioned = Some(task.task_id);
            added.push(task);
        }
        let tally = &mut self.reply.memory.tally;
        tally.created_since_completion += added.len();
        self.say_added(&calls, &added, new.first().map_or("", |(_, said)| said));
        if let ([task], false) = (added.as_slice(), is_chain) {
            self.remark_on(task).await?;
        }
        self.reply.memory.tally.created += 1;
        Ok(())
    }

    /// Returns the call for a task, with the date that its title names.
    fn add_call(&self, wanted: &WantedTask, said: &str) -> ToolCall {
        let deadline = extract::read_deadline(&wanted.title, self.request.me, self.request.now);
        let is_reminder = WordList("remind_lead").is_in(&fold(said))
            && (deadline.is_some() || Recurrence::find_in_text(said).is_some());
        ToolCall::AddTask {
            title: wanted.title.clone(),
            description: wanted.description.clone(),
            priority: wanted.priority,
            deadline,
            remind: is_reminder.then(|| said.to_owned()),
        }
    }

    fn say_added(&mut self, calls: &[ToolCall], added: &[TaskView], said: &str) {
        let (Some(ToolCall::AddTask { description, priority, deadline, remind, .. }), Some(task)) =
            (calls.first(), added.first())
        else {
            return;
        };
        let fields = CommandFields {
            title: Some(task.title.clone()),
            description: description.clone(),
            priority: *priority,
            deadline: deadline.as_ref().map(|deadline| Some(deadline.text.clone())),
            status: None,
        };
        self.reply.memory.command = Some(Command::complete(CommandIntent::AddTask, fields, None));
        if added.len() > 1 {
            let titles: Vec<String> = added.iter().map(|task| format!("'{}'", shown_title(&task.title))).collect();
            let values = [("count", Value::Text(added.len().to_string())), ("titles", Value::Text(titles.join(", ")))];
            return self.say(Sentence("created_many"), &values);
        }
        let title = Value::Title(&task.title);
        if let Some(Deadline { text, .. }) = deadline {
            let when = Value::Text(format_deadline(self.language(), text, self.request.me.time_zone));
            let sentence = if remind.is_some() { Sentence("created_reminder") } else { Sentence("created_due") };
            return self.say(sentence, &[("title", title), ("when", when)]);
        }
        // "Remember to call mom" is answered with "Got it!".
        const GOT_IT: usize = 2;
        let remembers = words(&fold(said)).next().is_some_and(|word| word == "remember" || word == "תזכור");
        let variation = if remembers { GOT_IT } else { self.reply.memory.tally.created };
        self.vary(Sentence("created"), variation, &[("title", title)]);
    }

    /// Adds at most one remark: how much is pending after several new tasks, or a similar task.
    async fn remark_on(&mut self, task: &TaskView) -> Step {
        if self.reply.memory.tally.created_since_completion >= NUDGE_AFTER {
            let count = self.count_pending().await?;
            self.say(Sentence("nudge"), &[("count", Value::Text(count.to_string()))]);
            return Ok(());
        }
        let mut wanted = query_words(&task.title);
        let first = first_word(&task.title);
        wanted.extend(first.clone().filter(|first| !wanted.contains(first)));
        if wanted.is_empty() {
            return Ok(());
        }
        let call = ToolCall::FindRelated { status: ListedStatus::Pending, words: wanted.clone() };
        let (related, _) = self.listed(call).await?;
        let shared = |other: &TaskView| {
            let there = query_words(&other.title);
            let words = wanted.iter().filter(|word| there.contains(word)).count();
            words + usize::from(first.is_some() && first_word(&other.title) == first)
        };
        let others = related.iter().filter(|other| other.task_id != task.task_id && shared(other) > 0);
        // Of equally similar ones, the oldest.
        let nearest = others.rev().max_by_key(|other| shared(other)).cloned();
        if let Some(other) = nearest {
            self.say(Sentence("similar"), &[("title", Value::Title(&other.title))]);
        }
        Ok(())
    }
}

/// Returns the first word of a title, which is mostly its verb.
fn first_word(title: &str) -> Option<String> {
    crate::document::title::title_words(title).into_iter().next()
}
