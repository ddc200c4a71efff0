//! Answers to what the assistant has asked. A message that clearly asks for something else is no answer.

use crate::{
    assistant::{
        extract::{self, BadValue, ChangedField},
        intent::{Evidence, Intent, IntentReading},
        memory::{Action, Pending},
        phrase::{self, fold},
        reference::Reference,
        reply::Sentence,
        tool::TaskTools,
        turn::{Step, Stopped, Turn},
        vocabulary::WordList,
    },
    model::{ListedStatus, TaskId},
};

impl<T: TaskTools> Turn<'_, T> {
    /// Takes the message as the answer to the pending question. Returns whether it was one.
    pub(super) async fn answer_pending(&mut self, pending: Pending, reading: &IntentReading) -> Step<bool> {
        match pending {
            Pending::WhichTask { action, query, options } => {
                self.answer_which_task(action, query, options, reading).await
            }
            Pending::WhatToChange { task_id } => self.answer_what_to_change(task_id, reading).await,
            Pending::WhatTitle => self.answer_title(reading).await,
            Pending::UntilWhen { task_id } => self.answer_until_when(task_id, reading).await,
            Pending::OfferList => self.answer_offer().await,
            Pending::ConfirmMany { work } => self.answer_confirmation(work, reading).await,
        }
    }

    /// Returns whether the message asks for something by a keyword, so that it is no answer.
    fn asks_anew(reading: &IntentReading) -> bool {
        let is_anew = |intent, evidence| evidence == Evidence::Keyword && intent != Intent::Unclear;
        reading.clauses.iter().any(|clause| is_anew(clause.intent, clause.evidence))
    }

    async fn answer_which_task(
        &mut self,
        action: Action,
        query: String,
        options: Vec<TaskId>,
        reading: &IntentReading,
    ) -> Step<bool> {
        let reference = Reference::parse(&self.message);
        let is_place = !matches!(reference, Reference::Title(_) | Reference::Nothing);
        if !is_place && Self::asks_anew(reading) {
            return Ok(false);
        }
        self.reply.intent = intent_of(&action);
        if is_place {
            return self.act_on(action, reference, &options).await.map(|()| true);
        }
        let Reference::Title(title) = &reference else { return self.ask_again(action, query, options).await };
        // Something that names no task is no answer either, unless there is nothing else that it could be.
        if self.find_by_title(title, ListedStatus::Pending).await?.is_empty() {
            let is_new = reading.clauses.iter().any(|clause| clause.intent == Intent::Create);
            if is_new && options.is_empty() {
                return Ok(false);
            }
            return self.ask_again(action, query, options).await;
        }
        self.act_on(action, reference, &options).await.map(|()| true)
    }

    /// Repeats the question which task is meant.
    async fn ask_again(&mut self, action: Action, query: String, options: Vec<TaskId>) -> Step<bool> {
        let mut tasks = Vec::new();
        for task_id in options {
            tasks.extend(self.task_by_id(task_id).await?);
        }
        if tasks.is_empty() {
            return Err(self.ask_which(action));
        }
        Err(self.ask_which_of(action, &query, &tasks))
    }

    async fn answer_what_to_change(&mut self, task_id: TaskId, reading: &IntentReading) -> Step<bool> {
        let is_update = reading.clauses.iter().any(|clause| clause.intent == Intent::Update);
        if Self::asks_anew(reading) && !is_update {
            return Ok(false);
        }
        let clause = reading.clauses.first().filter(|_| is_update);
        let rest = clause.and_then(|clause| self.message.get(clause.rest.clone())).unwrap_or(&self.message).to_owned();
        let mut wanted = extract::read_wanted_update(&rest);
        if !matches!(wanted.reference, Reference::Nothing | Reference::Pronoun)
            && !wanted.values.is_empty()
            && is_update
        {
            // Another task was named.
            return Ok(false);
        }
        if wanted.values.is_empty() {
            let title = phrase::unquote(rest.trim()).trim_end_matches(['.', '!']).to_owned();
            wanted.values.push((ChangedField::Title, title));
        }
        self.reply.intent = Intent::Update;
        let changes = match extract::to_changes(&wanted.values, false, self.request.me, self.request.now) {
            Ok(changes) => changes,
            Err(BadValue(field)) => {
                let stopped = self.reject_value(field);
                self.reply.memory.pending = Some(Pending::WhatToChange { task_id });
                return Err(stopped);
            }
        };
        self.act_on(Action::Update(changes), Reference::Id(task_id), &[]).await.map(|()| true)
    }

    async fn answer_title(&mut self, reading: &IntentReading) -> Step<bool> {
        if Self::asks_anew(reading) {
            return Ok(false);
        }
        self.reply.intent = Intent::Create;
        let message = self.message.clone();
        self.create_tasks(vec![(extract::read_wanted_task(&message), message)], false).await.map(|()| true)
    }

    async fn answer_until_when(&mut self, task_id: TaskId, reading: &IntentReading) -> Step<bool> {
        let until = extract::read_time(&self.message, self.request.me, self.request.now);
        if until.is_none() && Self::asks_anew(reading) {
            return Ok(false);
        }
        self.reply.intent = Intent::Update;
        if until.is_none() {
            self.say(Sentence("bad_time"), &[]);
            self.reply.memory.pending = Some(Pending::UntilWhen { task_id });
            return Err(Stopped);
        }
        self.act_on(Action::Snooze(until), Reference::Id(task_id), &[]).await.map(|()| true)
    }

    async fn answer_offer(&mut self) -> Step<bool> {
        if super::is_agreement(&self.message) {
            self.reply.intent = Intent::List;
            return self.show_list(ListedStatus::Pending, 0).await.map(|()| true);
        }
        if WordList("no").is(&self.message) || is_refusal(&self.message) {
            self.say(Sentence("left_alone"), &[]);
            return Ok(true);
        }
        Ok(false)
    }

    async fn answer_confirmation(&mut self, work: Vec<(Action, TaskId)>, reading: &IntentReading) -> Step<bool> {
        let intent = work.first().map_or(Intent::Unclear, |(action, _)| intent_of(action));
        if super::is_agreement(&self.message) {
            self.reply.intent = intent;
            return self.do_confirmed(work).await.map(|()| true);
        }
        if is_refusal(&self.message) {
            self.reply.intent = intent;
            self.say(Sentence("left_alone"), &[]);
            return Ok(true);
        }
        if Self::asks_anew(reading) {
            return Ok(false);
        }
        self.reply.intent = intent;
        self.say(Sentence("guided_confirm_again"), &[]);
        self.ask(Pending::ConfirmMany { work }, "confirmation");
        Ok(true)
    }

    /// Says that the pending question is dropped, or that there is none.
    pub(super) fn cancel_pending(&mut self) {
        let had_question = self.request.history.last().pending.is_some();
        self.say(if had_question { Sentence("cancelled") } else { Sentence("nothing_to_cancel") }, &[]);
    }
}

/// Returns whether a message is nothing but a no.
fn is_refusal(message: &str) -> bool {
    let folded = fold(message);
    let is_no = WordList("no").is(&folded) || WordList("negation").is(&folded);
    is_no || ["no thanks", "no thank you", "nope", "לא תודה"].contains(&folded.as_str())
}

/// Returns the intent that an action carries out.
pub(super) const fn intent_of(action: &Action) -> Intent {
    match action {
        Action::Complete => Intent::Complete,
        Action::Delete | Action::NotATask => Intent::Delete,
        Action::Update(_) | Action::Snooze(_) => Intent::Update,
        Action::Explain => Intent::List,
    }
}
