//! The direct profile: a message is carried out at once, clause by clause, and can be undone.

pub(super) mod act;
mod answer;
mod create;
mod list;
mod phrases;
mod resolve;
mod undo;

use super::{
    extract::{self, BadValue, ChangedField},
    intent::{self, ClauseReading, Evidence, Intent, IntentContext, IntentReading, PendingQuestion},
    memory::{Action, Pending},
    phrase::fold,
    reference::Reference,
    reply::Sentence,
    tool::{TaskTools, TaskView},
    turn::{Step, Stopped, Turn},
    vocabulary::WordList,
};
use crate::model::ListedStatus;

pub(super) use list::read_list_status;
pub(super) use phrases::say_too_long;
use resolve::Resolved;

/// What one clause asks for.
enum Wish {
    Create {
        wanted: extract::WantedTask,
        said: String,
    },
    List(ListedStatus),
    /// Something with tasks that exist already.
    Act(Action, Reference),
    /// A change whose value cannot be understood.
    Misunderstood(ChangedField),
    Help,
    Greeting,
    Unclear,
}

impl<T: TaskTools> Turn<'_, T> {
    /// Carries the message out.
    pub(super) async fn answer_directly(&mut self) {
        // A clause that stopped has said why.
        let _stopped: Step = self.try_answer_directly().await;
    }

    async fn try_answer_directly(&mut self) -> Step {
        if self.answer_phrase().await? {
            return Ok(());
        }
        let reading = self.classify();
        if let Some(pending) = self.request.history.last().pending.clone()
            && self.answer_pending(pending, &reading).await?
        {
            return Ok(());
        }
        self.reply.intent = reading.intent;
        let wishes = self.read_wishes(&reading);
        self.fulfil(wishes).await
    }

    /// Returns what the message wants, clause by clause.
    pub(super) fn classify(&self) -> IntentReading {
        let last = self.request.history.last();
        let pending = match &last.pending {
            None => PendingQuestion::Nothing,
            Some(Pending::WhichTask { .. }) => PendingQuestion::Selection,
            Some(Pending::OfferList | Pending::ConfirmMany { .. }) => PendingQuestion::Confirmation,
            Some(Pending::WhatToChange { .. } | Pending::WhatTitle | Pending::UntilWhen { .. }) => {
                PendingQuestion::Value
            }
        };
        let context = IntentContext { language: self.language(), pending, list_was_shown: last.list.is_some() };
        intent::classify(&self.message, &context)
    }

    /// Carries out several clauses. The first that fails or asks something stops the others.
    async fn fulfil(&mut self, wishes: Vec<Wish>) -> Step {
        let changes = wishes.iter().filter(|wish| matches!(wish, Wish::Act(action, _) if action.is_change())).count();
        if changes > 1 {
            return self.confirm_several_wishes(wishes).await;
        }
        let is_chain = wishes.len() > 1;
        let mut wishes = wishes.into_iter().peekable();
        while let Some(wish) = wishes.next() {
            match wish {
                Wish::Create { wanted, said } => {
                    // New tasks do not depend on each other, so they are added together.
                    let mut new = vec![(wanted, said)];
                    while let Some(Wish::Create { wanted, said }) =
                        wishes.next_if(|next| matches!(next, Wish::Create { .. }))
                    {
                        new.push((wanted, said));
                    }
                    self.create_tasks(new, is_chain).await?;
                }
                Wish::List(status) => self.show_list(status, 0).await?,
                Wish::Act(action, reference) => self.act_on(action, reference, &[]).await?,
                Wish::Misunderstood(field) => return Err(self.reject_value(field)),
                Wish::Help => self.say(Sentence("help"), &[]),
                Wish::Greeting => self.say(Sentence("greeting"), &[]),
                Wish::Unclear => return Err(self.say_unclear()),
            }
        }
        Ok(())
    }

    /// Says that the message was not understood, with examples the first time.
    pub(super) fn say_unclear(&mut self) -> Stopped {
        self.reply.intent = Intent::Unclear;
        self.say(Sentence("unclear"), &[]);
        if self.reply.memory.tally.unclear == 0 {
            self.say(Sentence("unclear_examples"), &[]);
        }
        self.reply.memory.tally.unclear += 1;
        Stopped
    }

    /// Says which values are understood instead.
    fn reject_value(&mut self, field: ChangedField) -> Stopped {
        match field {
            ChangedField::Priority => self.say(Sentence("guided_priority_again"), &[]),
            ChangedField::Status => self.say(Sentence("guided_status_again"), &[]),
            _ => self.say(Sentence("bad_time"), &[]),
        }
        Stopped
    }

    /// Returns what the clauses of the message ask for.
    fn read_wishes(&self, reading: &IntentReading) -> Vec<Wish> {
        let mut wishes = Vec::new();
        for clause in &reading.clauses {
            let wish = self.read_wish(clause);
            match wish {
                // A further change of the same task: "change task 3 to x and add description y".
                Wish::Act(Action::Update(more), Reference::Nothing)
                    if matches!(wishes.last(), Some(Wish::Act(Action::Update(_), _))) =>
                {
                    if let Some(Wish::Act(Action::Update(changes), _)) = wishes.last_mut() {
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
        if wishes.iter().any(|wish| !matches!(wish, Wish::Unclear | Wish::Greeting)) {
            wishes.retain(|wish| !matches!(wish, Wish::Unclear | Wish::Greeting));
        }
        wishes
    }

    fn read_wish(&self, clause: &ClauseReading) -> Wish {
        let part = |place: &std::ops::Range<usize>| self.message.get(place.clone()).unwrap_or_default();
        let (whole, trigger, rest) = (part(&clause.span), part(&clause.trigger), part(&clause.rest));
        match clause.intent {
            Intent::Create if extract::names_field(rest) => self.read_update(trigger, rest),
            Intent::Create => {
                let title = if clause.evidence == Evidence::Imperative { whole } else { rest };
                Wish::Create { wanted: extract::read_wanted_task(title), said: whole.to_owned() }
            }
            Intent::List => Wish::List(read_list_status(whole)),
            Intent::Complete => Wish::Act(Action::Complete, Reference::parse(rest)),
            Intent::Delete => Wish::Act(Action::Delete, Reference::parse(rest)),
            Intent::Update => self.read_update(trigger, rest),
            Intent::Help => Wish::Help,
            Intent::Greeting => Wish::Greeting,
            Intent::Unclear => Wish::Unclear,
        }
    }

    fn read_update(&self, trigger: &str, rest: &str) -> Wish {
        /// Words that move a task to another day, in folded form.
        const MOVING: [&str; 6] = ["move", "reschedule", "postpone", "delay", "העבר", "תעביר"];
        let wanted = extract::read_wanted_update(rest);
        let moves_deadline = MOVING.iter().any(|word| fold(trigger).contains(word));
        match extract::to_changes(&wanted.values, moves_deadline, self.request.me, self.request.now) {
            Err(BadValue(field)) => Wish::Misunderstood(field),
            Ok(changes) if changes.status == Some(super::command::ChatStatus::Done) => {
                Wish::Act(Action::Complete, wanted.reference)
            }
            Ok(changes) => Wish::Act(Action::Update(changes), wanted.reference),
        }
    }

    /// Finds the tasks that are meant and does it, or says why not.
    pub(super) async fn act_on(
        &mut self,
        action: Action,
        reference: Reference,
        options: &[crate::model::TaskId],
    ) -> Step {
        match self.resolve(&reference, options, &action).await? {
            Resolved::One(task) => self.apply(action, task).await,
            Resolved::Many(tasks) => {
                let mut tasks = tasks;
                match (tasks.pop(), tasks.is_empty()) {
                    (Some(only), true) => self.apply(action, only).await,
                    (Some(last), false) => {
                        tasks.push(last);
                        Err(self.confirm_many(action, &tasks))
                    }
                    (None, _) => self.show_list(ListedStatus::Pending, 0).await,
                }
            }
            Resolved::Several { query, tasks } => Err(self.ask_which_of(action, &query, &tasks)),
            Resolved::Unspecified => Err(self.ask_which(action)),
            Resolved::NoNumber(number) => Err(self.say_no_task(number)),
            Resolved::NoTitle(title) => {
                self.say_no_title(&title).await?;
                Err(Stopped)
            }
        }
    }

    /// Resolves the tasks of several clauses that each change something, and asks once for all of them.
    async fn confirm_several_wishes(&mut self, wishes: Vec<Wish>) -> Step {
        let mut work: Vec<(Action, TaskView)> = Vec::new();
        for wish in wishes {
            let Wish::Act(action, reference) = wish else { continue };
            match self.resolve(&reference, &[], &action).await? {
                Resolved::One(task) => work.push((action, task)),
                Resolved::Many(tasks) => work.extend(tasks.into_iter().map(|task| (action.clone(), task))),
                Resolved::Several { query, tasks } => return Err(self.ask_which_of(action, &query, &tasks)),
                Resolved::Unspecified => return Err(self.ask_which(action)),
                Resolved::NoNumber(number) => return Err(self.say_no_task(number)),
                Resolved::NoTitle(title) => return self.say_no_title(&title).await,
            }
        }
        Err(self.confirm_work(work))
    }
}

impl Action {
    /// Returns whether it changes a task.
    pub(super) const fn is_change(&self) -> bool {
        !matches!(self, Self::Explain)
    }
}

/// Returns whether a folded text is nothing but agreement.
pub(super) fn is_agreement(message: &str) -> bool {
    let folded = fold(message);
    let has_yes = WordList("yes_more").is_in(&folded) && !WordList("negation").is_in(&folded);
    let rest_is_filler = super::phrase::words(&folded)
        .all(|word| WordList("yes_more").is(word) || WordList("yes_filler").is(word) || WordList("courtesy").is(word));
    has_yes && rest_is_filler && !message.contains('?')
}
