//! The direct profile: a message is carried out at once, clause by clause, and can be undone.

pub(in crate::assistant) mod act;
pub(in crate::assistant) mod answer;
pub(in crate::assistant) mod create;
pub(in crate::assistant) mod list;
pub(in crate::assistant) mod phrases;
pub(in crate::assistant) mod plan;
pub(in crate::assistant) mod resolve;
pub(in crate::assistant) mod undo;

use super::{
    extract,
    intent::{self, ClauseReading, Evidence, Intent, IntentContext, IntentReading, PendingQuestion},
    memory::{ChatAction, Pending},
    phrase::fold,
    reference::Reference,
    reply::ReplySentence,
    tool::{ChatTask, TaskTools},
    turn::{ChatTurn, Step, Stopped},
    vocabulary::PhraseList,
    wanted_update::{self, BadValue, ChangedField},
};
use crate::assistant::direct::{
    act::{apply, ask_which, ask_which_of, confirm_many, confirm_work},
    answer::answer_pending,
    create::create_tasks,
    list::{say_no_task, say_no_title, show_list},
    phrases::answer_phrase,
    plan::offer_plan,
    resolve::resolve,
};
use crate::model::ListedStatus;

pub(super) use list::read_list_status;
use resolve::Resolved;

/// What one clause asks for.
enum ClauseWish {
    Create {
        wanted: extract::WantedTask,
        said: String,
    },
    List(ListedStatus),
    /// Something with tasks that exist already.
    Act(ChatAction, Reference),
    /// A change whose value cannot be understood.
    Misunderstood(ChangedField),
    Help,
    Greeting,
    Unclear,
}

/// Carries the message out.
pub(in crate::assistant) async fn answer_directly<T: TaskTools>(turn: &mut ChatTurn<'_, T>) {
    // A clause that stopped has said why.
    let _stopped: Step = try_answer_directly(turn).await;
}

async fn try_answer_directly<T: TaskTools>(turn: &mut ChatTurn<'_, T>) -> Step {
    if answer_phrase(turn).await? {
        return Ok(());
    }
    let reading = classify(turn);
    if let Some(pending) = turn.request.history.last().pending.clone()
        && answer_pending(turn, pending, &reading).await?
    {
        return Ok(());
    }
    if offer_plan(turn, &reading).await? {
        return Ok(());
    }
    turn.reply.intent = reading.intent;
    let wishes = read_wishes(turn, &reading);
    fulfil(turn, wishes).await
}

/// Returns what the message wants, clause by clause.
pub(in crate::assistant) fn classify<T: TaskTools>(turn: &ChatTurn<'_, T>) -> IntentReading {
    let last = turn.request.history.last();
    let pending = match &last.pending {
        None => PendingQuestion::Nothing,
        Some(Pending::WhichTask { .. }) => PendingQuestion::Selection,
        Some(Pending::OfferList | Pending::ConfirmMany { .. } | Pending::StartPlan { .. }) => {
            PendingQuestion::Confirmation
        }
        Some(Pending::WhatToChange { .. } | Pending::WhatTitle | Pending::UntilWhen { .. }) => PendingQuestion::Value,
    };
    let context = IntentContext { language: turn.language(), pending, list_was_shown: last.list.is_some() };
    intent::classify(&turn.message, &context)
}

/// Carries out several clauses. The first that fails or asks something stops the others.
async fn fulfil<T: TaskTools>(turn: &mut ChatTurn<'_, T>, wishes: Vec<ClauseWish>) -> Step {
    let changes = wishes.iter().filter(|wish| matches!(wish, ClauseWish::Act(action, _) if action.is_change())).count();
    if changes > 1 {
        return confirm_several_wishes(turn, wishes).await;
    }
    let is_chain = wishes.len() > 1;
    let mut wishes = wishes.into_iter().peekable();
    while let Some(wish) = wishes.next() {
        match wish {
            ClauseWish::Create { wanted, said } => {
                // New tasks do not depend on each other, so they are added together.
                let mut new = vec![(wanted, said)];
                while let Some(ClauseWish::Create { wanted, said }) =
                    wishes.next_if(|next| matches!(next, ClauseWish::Create { .. }))
                {
                    new.push((wanted, said));
                }
                create_tasks(turn, new, is_chain).await?;
            }
            ClauseWish::List(status) => show_list(turn, status, 0).await?,
            ClauseWish::Act(action, reference) => act_on(turn, action, reference, &[]).await?,
            ClauseWish::Misunderstood(field) => return Err(reject_value(turn, field)),
            ClauseWish::Help => turn.say(ReplySentence("help"), &[]),
            ClauseWish::Greeting => turn.say(ReplySentence("greeting"), &[]),
            ClauseWish::Unclear => return Err(say_unclear(turn)),
        }
    }
    Ok(())
}

/// Says that the message was not understood, with examples the first time.
pub(in crate::assistant) fn say_unclear<T: TaskTools>(turn: &mut ChatTurn<'_, T>) -> Stopped {
    turn.reply.intent = Intent::Unclear;
    turn.say(ReplySentence("unclear"), &[]);
    if turn.reply.memory.tally.unclear == 0 {
        turn.say(ReplySentence("unclear_examples"), &[]);
    }
    turn.reply.memory.tally.unclear += 1;
    Stopped
}

/// Says which values are understood instead.
pub(in crate::assistant) fn reject_value<T: TaskTools>(turn: &mut ChatTurn<'_, T>, field: ChangedField) -> Stopped {
    match field {
        ChangedField::Priority => turn.say(ReplySentence("guided_priority_again"), &[]),
        ChangedField::Status => turn.say(ReplySentence("guided_status_again"), &[]),
        _ => turn.say(ReplySentence("bad_time"), &[]),
    }
    Stopped
}

/// Returns what the clauses of the message ask for.
fn read_wishes<T: TaskTools>(turn: &ChatTurn<'_, T>, reading: &IntentReading) -> Vec<ClauseWish> {
    let mut wishes = Vec::new();
    for clause in &reading.clauses {
        let wish = read_wish(turn, clause);
        match wish {
            // A further change of the same task: "change task 3 to x and add description y".
            ClauseWish::Act(ChatAction::Update(more), Reference::Nothing)
                if matches!(wishes.last(), Some(ClauseWish::Act(ChatAction::Update(_), _))) =>
            {
                if let Some(ClauseWish::Act(ChatAction::Update(changes), _)) = wishes.last_mut() {
                    changes.title = changes.title.take().or(more.title);
                    changes.description = changes.description.take().or(more.description);
                    changes.priority = changes.priority.take().or(more.priority);
                    changes.deadline = changes.deadline.take().or(more.deadline);
                    changes.status = changes.status.take().or(more.status);
                }
            }
            wish => wishes.push(wish),
        }
    }
    // What was not understood beside what was is no reason to do nothing.
    if wishes.iter().any(|wish| !matches!(wish, ClauseWish::Unclear | ClauseWish::Greeting)) {
        wishes.retain(|wish| !matches!(wish, ClauseWish::Unclear | ClauseWish::Greeting));
    }
    wishes
}

fn read_wish<T: TaskTools>(turn: &ChatTurn<'_, T>, clause: &ClauseReading) -> ClauseWish {
    let part = |place: &std::ops::Range<usize>| turn.message.get(place.clone()).unwrap_or_default();
    let (whole, trigger, rest) = (part(&clause.span), part(&clause.trigger), part(&clause.rest));
    match clause.intent {
        Intent::Create if wanted_update::names_field(rest) => read_update(turn, trigger, rest),
        // The new value may stand behind what is changed, or before the word that says so.
        Intent::Update => {
            let is_behind = !trigger.is_empty() && clause.trigger.end <= clause.rest.start;
            let start = if is_behind { clause.trigger.end } else { clause.span.start };
            read_update(turn, trigger, part(&(start..clause.span.end)))
        }
        Intent::Create => {
            let title = if clause.evidence == Evidence::Imperative { whole } else { rest };
            ClauseWish::Create { wanted: extract::read_wanted_task(title), said: whole.to_owned() }
        }
        Intent::List => ClauseWish::List(read_list_status(whole)),
        Intent::Complete => ClauseWish::Act(ChatAction::Complete, Reference::parse(rest)),
        Intent::Delete => ClauseWish::Act(ChatAction::Delete, Reference::parse(rest)),
        Intent::Help => ClauseWish::Help,
        Intent::Greeting => ClauseWish::Greeting,
        Intent::Unclear => ClauseWish::Unclear,
    }
}

fn read_update<T: TaskTools>(turn: &ChatTurn<'_, T>, trigger: &str, rest: &str) -> ClauseWish {
    /// Words that move a task to another day, in folded form.
    const MOVING: [&str; 6] = ["move", "reschedule", "postpone", "delay", "העבר", "תעביר"];
    let wanted = wanted_update::read_wanted_update(rest);
    let moves_deadline = MOVING.iter().any(|word| fold(trigger).contains(word));
    match wanted_update::to_changes(&wanted.values, moves_deadline, turn.request.me, turn.request.now) {
        Err(BadValue(field)) => ClauseWish::Misunderstood(field),
        Ok(changes) if changes.status == Some(super::command::ChatStatus::Done) => {
            ClauseWish::Act(ChatAction::Complete, wanted.reference)
        }
        Ok(changes) => ClauseWish::Act(ChatAction::Update(changes), wanted.reference),
    }
}

/// Finds the tasks that are meant and does it, or says why not.
pub(in crate::assistant) async fn act_on<T: TaskTools>(
    turn: &mut ChatTurn<'_, T>,
    action: ChatAction,
    reference: Reference,
    options: &[crate::model::TaskId],
) -> Step {
    match resolve(turn, &reference, options, &action).await? {
        Resolved::One(task) => apply(turn, action, task).await,
        Resolved::Many(tasks) => {
            let mut tasks = tasks;
            match (tasks.pop(), tasks.is_empty()) {
                (Some(only), true) => apply(turn, action, only).await,
                (Some(last), false) => {
                    tasks.push(last);
                    Err(confirm_many(turn, action, &tasks))
                }
                (None, _) => show_list(turn, ListedStatus::Pending, 0).await,
            }
        }
        Resolved::Several { query, tasks } => Err(ask_which_of(turn, action, &query, &tasks)),
        Resolved::Unspecified => Err(ask_which(turn, action)),
        Resolved::NoNumber(number) => Err(say_no_task(turn, number)),
        Resolved::NoTitle(title) => {
            say_no_title(turn, &title).await?;
            Err(Stopped)
        }
    }
}

/// Resolves the tasks of several clauses that each change something, and asks once for all of them.
async fn confirm_several_wishes<T: TaskTools>(turn: &mut ChatTurn<'_, T>, wishes: Vec<ClauseWish>) -> Step {
    let mut work: Vec<(ChatAction, ChatTask)> = Vec::new();
    for wish in wishes {
        let ClauseWish::Act(action, reference) = wish else { continue };
        match resolve(turn, &reference, &[], &action).await? {
            Resolved::One(task) => work.push((action, task)),
            Resolved::Many(tasks) => work.extend(tasks.into_iter().map(|task| (action.clone(), task))),
            Resolved::Several { query, tasks } => return Err(ask_which_of(turn, action, &query, &tasks)),
            Resolved::Unspecified => return Err(ask_which(turn, action)),
            Resolved::NoNumber(number) => return Err(say_no_task(turn, number)),
            Resolved::NoTitle(title) => return say_no_title(turn, &title).await,
        }
    }
    Err(confirm_work(turn, work))
}

impl ChatAction {
    /// Returns whether it changes a task.
    pub(super) const fn is_change(&self) -> bool {
        !matches!(self, Self::Explain)
    }
}

/// Returns whether a folded text is nothing but agreement.
pub(super) fn is_agreement(message: &str) -> bool {
    let folded = fold(message);
    let has_yes = PhraseList("yes_more").is_in(&folded) && !PhraseList("negation").is_in(&folded);
    let rest_is_filler = super::phrase::words(&folded).all(|word| {
        PhraseList("yes_more").is(word) || PhraseList("yes_filler").is(word) || PhraseList("courtesy").is(word)
    });
    has_yes && rest_is_filler && !message.contains('?')
}
