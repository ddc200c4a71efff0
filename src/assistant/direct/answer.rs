//! Answers to what the assistant has asked. A message that clearly asks for something else is no answer.

use crate::{
    assistant::{
        direct::{
            act::{ask, ask_which, ask_which_of, do_confirmed},
            act_on,
            create::create_tasks,
            list::show_list,
            plan::open_plan,
            reject_value,
        },
        extract,
        intent::{Evidence, Intent, IntentReading},
        memory::{ChatAction, Pending},
        phrase::{self, fold},
        reference::Reference,
        reply::ReplySentence,
        tool::{OfferedPlan, TaskTools},
        turn::{ChatTurn, Step, Stopped},
        vocabulary::PhraseList,
        wanted_update::{self, BadValue, ChangedField},
    },
    model::{ListedStatus, TaskId},
};

/// Takes the message as the answer to the pending question. Returns whether it was one.
pub(in crate::assistant) async fn answer_pending<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    pending: Pending,
    reading: &IntentReading,
) -> Step<bool> {
    match pending {
        Pending::WhichTask { action, query, options } => answer_which_task(turn, action, query, options, reading).await,
        Pending::WhatToChange { task_id } => answer_what_to_change(turn, task_id, reading).await,
        Pending::WhatTitle => answer_title(turn, reading).await,
        Pending::UntilWhen { task_id } => answer_until_when(turn, task_id, reading).await,
        Pending::OfferList => answer_offer(turn).await,
        Pending::ConfirmMany { work } => answer_confirmation(turn, work, reading).await,
        Pending::StartPlan { plan } => answer_plan(turn, plan, reading).await,
    }
}

/// Returns whether the message asks for something by a keyword, so that it is no answer.
fn asks_anew(reading: &IntentReading) -> bool {
    let is_anew = |intent, evidence| evidence == Evidence::Keyword && intent != Intent::Unclear;
    reading.clauses.iter().any(|clause| is_anew(clause.intent, clause.evidence))
}

async fn answer_which_task<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    action: ChatAction,
    query: String,
    options: Vec<TaskId>,
    reading: &IntentReading,
) -> Step<bool> {
    let reference = Reference::parse(&turn.message);
    let is_place = !matches!(reference, Reference::Title(_) | Reference::Nothing);
    if !is_place && asks_anew(reading) {
        return Ok(false);
    }
    turn.reply.intent = intent_of(&action);
    if is_place {
        return act_on(turn, action, reference, &options).await.map(|()| true);
    }
    let Reference::Title(title) = &reference else { return ask_again(turn, action, query, options).await };
    // Something that names no task is no answer either, unless there is nothing else that it could be.
    if turn.find_by_title(title, ListedStatus::Pending).await?.is_empty() {
        let is_new = reading.clauses.iter().any(|clause| clause.intent == Intent::Create);
        if is_new && options.is_empty() {
            return Ok(false);
        }
        return ask_again(turn, action, query, options).await;
    }
    act_on(turn, action, reference, &options).await.map(|()| true)
}

/// Repeats the question which task is meant.
async fn ask_again<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    action: ChatAction,
    query: String,
    options: Vec<TaskId>,
) -> Step<bool> {
    let mut tasks = Vec::new();
    for task_id in options {
        tasks.extend(turn.task_by_id(task_id).await?);
    }
    if tasks.is_empty() {
        return Err(ask_which(turn, action));
    }
    Err(ask_which_of(turn, action, &query, &tasks))
}

async fn answer_what_to_change<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    task_id: TaskId,
    reading: &IntentReading,
) -> Step<bool> {
    let is_update = reading.clauses.iter().any(|clause| clause.intent == Intent::Update);
    if asks_anew(reading) && !is_update {
        return Ok(false);
    }
    let clause = reading.clauses.first().filter(|clause| is_update && clause.trigger.end <= clause.rest.start);
    let rest = clause.and_then(|clause| turn.message.get(clause.trigger.end..clause.span.end));
    let rest = rest.unwrap_or(&turn.message).to_owned();
    let mut wanted = wanted_update::read_wanted_update(&rest);
    if !matches!(wanted.reference, Reference::Nothing | Reference::Pronoun) && !wanted.values.is_empty() && is_update {
        // Another task was named.
        return Ok(false);
    }
    if wanted.values.is_empty() {
        let title = phrase::unquote(rest.trim()).trim_end_matches(['.', '!']).to_owned();
        wanted.values.push((ChangedField::Title, title));
    }
    turn.reply.intent = Intent::Update;
    let changes = match wanted_update::to_changes(&wanted.values, false, turn.request.me, turn.request.now) {
        Ok(changes) => changes,
        Err(BadValue(field)) => {
            let stopped = reject_value(turn, field);
            turn.reply.memory.pending = Some(Pending::WhatToChange { task_id });
            return Err(stopped);
        }
    };
    act_on(turn, ChatAction::Update(changes), Reference::Id(task_id), &[]).await.map(|()| true)
}

async fn answer_title<T: TaskTools>(turn: &mut ChatTurn<'_, T>, reading: &IntentReading) -> Step<bool> {
    if asks_anew(reading) {
        return Ok(false);
    }
    turn.reply.intent = Intent::Create;
    let message = turn.message.clone();
    create_tasks(turn, vec![(extract::read_wanted_task(&message), message)], false).await.map(|()| true)
}

async fn answer_until_when<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    task_id: TaskId,
    reading: &IntentReading,
) -> Step<bool> {
    let until = wanted_update::read_time(&turn.message, turn.request.me, turn.request.now);
    if until.is_none() && asks_anew(reading) {
        return Ok(false);
    }
    turn.reply.intent = Intent::Update;
    if until.is_none() {
        turn.say(ReplySentence("bad_time"), &[]);
        turn.reply.memory.pending = Some(Pending::UntilWhen { task_id });
        return Err(Stopped);
    }
    act_on(turn, ChatAction::Snooze(until), Reference::Id(task_id), &[]).await.map(|()| true)
}

async fn answer_offer<T: TaskTools>(turn: &mut ChatTurn<'_, T>) -> Step<bool> {
    if super::is_agreement(&turn.message) {
        turn.reply.intent = Intent::List;
        return show_list(turn, ListedStatus::Pending, 0).await.map(|()| true);
    }
    if PhraseList("no").is(&turn.message) || is_refusal(&turn.message) {
        turn.say(ReplySentence("left_alone"), &[]);
        return Ok(true);
    }
    Ok(false)
}

async fn answer_confirmation<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    work: Vec<(ChatAction, TaskId)>,
    reading: &IntentReading,
) -> Step<bool> {
    let intent = work.first().map_or(Intent::Unclear, |(action, _)| intent_of(action));
    if super::is_agreement(&turn.message) {
        turn.reply.intent = intent;
        return do_confirmed(turn, work).await.map(|()| true);
    }
    if is_refusal(&turn.message) {
        turn.reply.intent = intent;
        turn.say(ReplySentence("left_alone"), &[]);
        return Ok(true);
    }
    if asks_anew(reading) {
        return Ok(false);
    }
    turn.reply.intent = intent;
    turn.say(ReplySentence("guided_confirm_again"), &[]);
    ask(turn, Pending::ConfirmMany { work }, "confirmation");
    Ok(true)
}

async fn answer_plan<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    plan: OfferedPlan,
    reading: &IntentReading,
) -> Step<bool> {
    if super::is_agreement(&turn.message) {
        open_plan(turn, plan).await?;
    } else if is_refusal(&turn.message) {
        turn.say(ReplySentence("left_alone"), &[]);
    } else if asks_anew(reading) {
        return Ok(false);
    } else {
        turn.say(ReplySentence("guided_confirm_again"), &[]);
        ask(turn, Pending::StartPlan { plan }, "confirmation");
    }
    Ok(true)
}

/// Says that the pending question is dropped, or that there is none.
pub(in crate::assistant) fn cancel_pending<T: TaskTools>(turn: &mut ChatTurn<'_, T>) {
    let had_question = turn.request.history.last().pending.is_some();
    turn.say(if had_question { ReplySentence("cancelled") } else { ReplySentence("nothing_to_cancel") }, &[]);
}

/// Returns whether a message is nothing but a no.
fn is_refusal(message: &str) -> bool {
    let folded = fold(message);
    let is_no = PhraseList("no").is(&folded) || PhraseList("negation").is(&folded);
    is_no || ["no thanks", "no thank you", "nope", "לא תודה"].contains(&folded.as_str())
}

/// Returns the intent that an action carries out.
pub(super) const fn intent_of(action: &ChatAction) -> Intent {
    match action {
        ChatAction::Complete => Intent::Complete,
        ChatAction::Delete | ChatAction::NotATask => Intent::Delete,
        ChatAction::Update(_) | ChatAction::Snooze(_) => Intent::Update,
        ChatAction::Explain => Intent::List,
    }
}
