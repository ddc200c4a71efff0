//! What the person's own mail does to the open tasks of its conversation.
//!
//! An answer completes what asks for an answer. What asks for more is completed only if the mail says that it is done or
//! brings it along, and what it promises becomes the date of the task it is promised for. In doubt the task stays open.

use super::{
    conversation::{FollowUpOutcome, Situation},
    resemblance::Topic,
};
use crate::model::{
    ConversationEnd, ExtractedTask, FactsKind, MovedDeadline, RelatedTask, TaskKind, TaskRelation, TaskUpdate,
};

/// The longest quotation of the person's own words in a reason.
const LONGEST_QUOTE: usize = 120;

pub(super) struct OwnTurn<'a>(Situation<'a>);

impl<'a> OwnTurn<'a> {
    pub(super) const fn new(situation: Situation<'a>) -> Self {
        Self(situation)
    }

    pub(super) fn decide(self, decision: &mut FollowUpOutcome<'a>) {
        let tasks: Vec<&RelatedTask> = self.0.tasks_of_conversation().filter(|task| self.is_answered(task)).collect();
        if tasks.is_empty() || self.0.turn.is_automatic_or_forwarded {
            return;
        }
        let acts = tasks.iter().filter(|task| !task.wants_answer && !task.own).count();
        let mut left = Vec::new();
        for task in &tasks {
            match self.completion(task, acts == 1, tasks.len() == 1) {
                Some(why) => {
                    let update = TaskUpdate { end: Some(ConversationEnd::Answered), ..TaskUpdate::default() };
                    decision.link(task, why, update);
                }
                None => left.push(*task),
            }
        }
        let is_only = left.iter().filter(|task| !task.own).count() == 1;
        for task in left {
            let update = if task.own { None } else { self.promise(task, is_only, decision) };
            let (why, update) = update.unwrap_or_else(|| {
                ("you wrote in the conversation of this task; it may not be done yet".into(), TaskUpdate::default())
            });
            decision.link(task, why, update);
        }
    }

    /// Returns whether the mail goes to the one who asked, and so may answer the task. Of the person's own promises only
    /// those in the conversation count.
    fn is_answered(&self, task: &RelatedTask) -> bool {
        let mut receivers = self.0.mail.to.iter().chain(&self.0.mail.cc);
        let to_asker = receivers.any(|address| address.addr == task.sender);
        match (task.own, task.relation) {
            (true, relation) => relation == TaskRelation::Thread && task.kind == FactsKind::Task(TaskKind::Commitment),
            (false, _) => to_asker,
        }
    }

    /// Returns why the mail completes the task; none when that is not certain.
    fn completion(&self, task: &RelatedTask, is_only_act: bool, is_only: bool) -> Option<String> {
        let Situation { mail, turn, .. } = self.0;
        let answers_event = mail.invite.as_ref().is_some_and(|invite| {
            invite.method == "REPLY" && task.invite.as_ref().is_some_and(|known| known.uid == invite.uid)
        });
        if answers_event {
            return Some("you answered the invitation".into());
        }
        if task.wants_answer {
            let statement = turn.statement.as_deref().filter(|_| turn.postpones.is_none())?;
            return Some(format!("you answered it: “{}”", truncate_chars(statement)));
        }
        let topic = Topic::of_task_and_subject(task, self.0.content_words);
        let is_about = |said: &&String| topic.shared_with(&Topic::new(&[said], self.0.content_words)) > 0;
        let done = turn.done.iter().find(is_about).or_else(|| turn.done.first().filter(|_| is_only_act && !task.own));
        if let Some(said) = done {
            return Some(format!("you wrote that it is done: “{}”", truncate_chars(said)));
        }
        let names: Vec<&str> = mail.attachments.iter().map(|attachment| attachment.name.as_str()).collect();
        let brings = !names.is_empty() && topic.shared_with(&Topic::new(&names, self.0.content_words)) > 0;
        (brings && (is_only || is_only_act)).then(|| format!("you sent it: {}", names.join(", ")))
    }

    /// Returns what a promise in the mail changes about the task that it is made for. The promise then opens no task of
    /// its own.
    fn promise(
        &self,
        task: &RelatedTask,
        is_only: bool,
        decision: &mut FollowUpOutcome<'a>,
    ) -> Option<(String, TaskUpdate)> {
        let words = self.0.content_words;
        let topic = Topic::of_task_and_subject(task, words);
        let is_same = |planned: &ExtractedTask| {
            let own = Topic::of_planned(planned, words);
            let puts_off = self.0.turn.postpones.as_ref() == Some(&planned.evidence);
            planned.kind == TaskKind::Commitment
                && (topic.shared_with(&own) > 0 || (is_only && (puts_off || self.points_back(planned))))
        };
        let taken = decision.take_fresh(is_same);
        let dated = taken.iter().find(|planned| planned.deadline.is_some()).or(taken.first());
        let from_task = dated.map(|planned| (planned.evidence.clone(), planned.deadline.clone().zip(planned.due_at)));
        // What is a task of its own says nothing about this one.
        let is_fresh = |said: &str| decision.fresh.iter().any(|planned| planned.evidence == said);
        let spoken = || {
            let promised = self.0.turn.promised.as_ref().filter(|promised| !is_fresh(&promised.sentence))?;
            let about = topic.shared_with(&Topic::new(&[&promised.sentence], words)) > 0;
            (is_only || about).then(|| (promised.sentence.clone(), Some((promised.deadline.clone(), promised.due_at))))
        };
        let (said, deadline) = from_task.or_else(spoken)?;
        let update = TaskUpdate {
            note: Some(self.0.note(&said)),
            deadline: deadline.map(|(deadline, due_at)| MovedDeadline { deadline, due_at }),
            ..TaskUpdate::default()
        };
        Some((format!("you promised it: “{}”", truncate_chars(&said)), update))
    }

    /// Returns whether a promise names nothing of its own: "will do", "I'll send it on Monday".
    fn points_back(&self, planned: &ExtractedTask) -> bool {
        const MOST_WORDS: usize = 2;
        let named = (self.0.content_words)(&planned.evidence);
        named.iter().filter(|word| word.chars().all(char::is_alphabetic)).count() <= MOST_WORDS
    }
}

fn truncate_chars(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST_QUOTE).collect()
}
