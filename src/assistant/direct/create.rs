//! New tasks, with the remarks that go with them.

use crate::{
    assistant::{
        command::{ChatCommand, CommandFields, CommandIntent},
        direct::act::ask,
        extract::WantedTask,
        memory::{MadeChange, Pending},
        phrase::{MOST_TITLE_CHARS, fold, words},
        reply::{ReplySentence, Value, format_deadline, shown_title},
        tool::{ChatTask, Deadline, TaskCall, TaskTools, ToolResult},
        turn::{ChatTurn, Step, Stopped},
        vocabulary::PhraseList,
        wanted_update,
    },
    document::query_words,
    model::{ListedStatus, Recurrence},
};

/// After how many new tasks without a completed one the person is reminded of what is pending.
const NUDGE_AFTER: usize = 3;

/// Adds tasks, each with the words in which it was asked for. A message with other clauses gets no remarks.
pub(in crate::assistant) async fn create_tasks<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    new: Vec<(WantedTask, String)>,
    is_chain: bool,
) -> Step {
    let mut calls = Vec::new();
    for (wanted, said) in &new {
        if wanted.title.is_empty() {
            turn.say(ReplySentence("ask_title"), &[]);
            ask(turn, Pending::WhatTitle, "title");
            return Err(Stopped);
        }
        if wanted.title.chars().count() > MOST_TITLE_CHARS {
            turn.say(ReplySentence("title_too_long"), &[("count", Value::Text(MOST_TITLE_CHARS.to_string()))]);
            return Err(Stopped);
        }
        calls.push(add_call(turn, wanted, said));
    }
    let outcomes = turn.call_all(calls.clone()).await;
    let mut added = Vec::new();
    for outcome in outcomes {
        let Ok(ToolResult::Changed { task, .. }) = outcome else { return Err(turn.give_up()) };
        turn.reply.memory.changes.push(MadeChange::Added(task.task_id));
        turn.reply.mentioned = Some(task.task_id);
        added.push(task);
    }
    let tally = &mut turn.reply.memory.tally;
    tally.created_since_completion += added.len();
    say_added(turn, &calls, &added, new.first().map_or("", |(_, said)| said));
    if let ([task], false) = (added.as_slice(), is_chain) {
        remark_on(turn, task).await?;
    }
    turn.reply.memory.tally.created += 1;
    Ok(())
}

/// Returns the call for a task, with the date that its title names.
fn add_call<T: TaskTools>(turn: &ChatTurn<'_, T>, wanted: &WantedTask, said: &str) -> TaskCall {
    let deadline = wanted_update::read_deadline(&wanted.title, turn.request.me, turn.request.now);
    let is_reminder = PhraseList("remind_lead").is_in(&fold(said))
        && (deadline.is_some() || Recurrence::find_in_text(said).is_some());
    TaskCall::AddTask {
        title: wanted.title.clone(),
        description: wanted.description.clone(),
        priority: wanted.priority,
        deadline,
        remind: is_reminder.then(|| said.to_owned()),
    }
}

fn say_added<T: TaskTools>(turn: &mut ChatTurn<'_, T>, calls: &[TaskCall], added: &[ChatTask], said: &str) {
    let (Some(TaskCall::AddTask { description, priority, deadline, remind, .. }), Some(task)) =
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
    turn.reply.memory.command = Some(ChatCommand::complete(CommandIntent::AddTask, fields, None));
    if added.len() > 1 {
        let titles: Vec<String> = added.iter().map(|task| format!("'{}'", shown_title(&task.title))).collect();
        let values = [("count", Value::Text(added.len().to_string())), ("titles", Value::Text(titles.join(", ")))];
        return turn.say(ReplySentence("created_many"), &values);
    }
    let title = Value::Title(&task.title);
    if let Some(Deadline { text, .. }) = deadline {
        let when = Value::Text(format_deadline(turn.language(), text, turn.request.me.time_zone));
        let sentence = if remind.is_some() { ReplySentence("created_reminder") } else { ReplySentence("created_due") };
        return turn.say(sentence, &[("title", title), ("when", when)]);
    }
    // "Remember to call mom" is answered with "Got it!".
    const GOT_IT: usize = 2;
    let remembers = words(&fold(said)).next().is_some_and(|word| word == "remember" || word == "תזכור");
    let variation = if remembers { GOT_IT } else { turn.reply.memory.tally.created };
    turn.vary(ReplySentence("created"), variation, &[("title", title)]);
}

/// Adds at most one remark: how much is pending after several new tasks, or a similar task.
async fn remark_on<T: TaskTools>(turn: &mut ChatTurn<'_, T>, task: &ChatTask) -> Step {
    if turn.reply.memory.tally.created_since_completion >= NUDGE_AFTER {
        let count = turn.count_pending().await?;
        turn.say(ReplySentence("nudge"), &[("count", Value::Text(count.to_string()))]);
        return Ok(());
    }
    let mut wanted = query_words(&task.title);
    let first = first_word(&task.title);
    wanted.extend(first.clone().filter(|first| !wanted.contains(first)));
    if wanted.is_empty() {
        return Ok(());
    }
    let call = TaskCall::FindRelated { status: ListedStatus::Pending, words: wanted.clone() };
    let (related, _) = turn.listed(call).await?;
    let shared = |other: &ChatTask| {
        let there = query_words(&other.title);
        let words = wanted.iter().filter(|word| there.contains(word)).count();
        words + usize::from(first.is_some() && first_word(&other.title) == first)
    };
    let others = related.iter().filter(|other| other.task_id != task.task_id && shared(other) > 0);
    // Of equally similar ones, the oldest.
    let nearest = others.rev().max_by_key(|other| shared(other)).cloned();
    if let Some(other) = nearest {
        turn.say(ReplySentence("similar"), &[("title", Value::Title(&other.title))]);
    }
    Ok(())
}

/// Returns the first word of a title, which is mostly its verb.
fn first_word(title: &str) -> Option<String> {
    crate::document::title::title_words(title).into_iter().next()
}
