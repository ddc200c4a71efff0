//! What becomes of a mail within its conversation: which open tasks it is linked to and what it changes about them,
//! which of its requests are new, or why nothing is left to do.

use super::{
    asker::AskerTurn, find_answered_task, find_same_task, fingerprint, is_safe_to_link, own_answer::OwnTurn,
    reply_evidence, resemblance::Topic,
};
use crate::model::{
    AskedTimes, Direction, ExtractedTask, FactsKind, Instant, Mail, MailContext, MovedDeadline, RelatedTask, TaskKind,
    TaskNote, TaskRelation, TaskUpdate, Turn, reading::NoTask,
};

/// A link of a mail to an open task, with the evidence and what it changes about the task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskLink<'a> {
    pub task: &'a RelatedTask,
    /// Why the mail is about the task, for a person.
    pub evidence: String,
    pub update: TaskUpdate,
}

/// What becomes of a mail.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FollowUpOutcome<'a> {
    pub links: Vec<TaskLink<'a>>,
    /// The requests that open a task.
    pub fresh: Vec<&'a ExtractedTask>,
    /// Why a request of the mail opens no task, when that is so; it is shown if the mail becomes nothing else.
    pub quiet: Option<(NoTask, String)>,
}

/// What is known about the mail when its conversation is judged.
#[derive(Clone, Copy)]
pub struct Situation<'a> {
    pub mail: &'a Mail,
    pub known: &'a MailContext,
    pub turn: &'a Turn,
    pub now: Instant,
    pub content_words: fn(&str) -> Vec<String>,
}

/// Decides what becomes of a mail with these requests.
pub fn decide<'a>(situation: Situation<'a>, planned: &'a [ExtractedTask]) -> FollowUpOutcome<'a> {
    let mut decision = FollowUpOutcome { fresh: planned.iter().collect(), ..FollowUpOutcome::default() };
    drop_past_meetings(&mut decision, situation.mail.date, situation.now);
    match situation.known.direction {
        Direction::Out => {
            OwnTurn::new(situation).decide(&mut decision);
            situation.link_requests(&mut decision, |planned| situation.find_same_task(planned));
        }
        Direction::In => {
            let asker = AskerTurn::new(situation);
            asker.decide(&mut decision);
            situation.link_requests(&mut decision, |planned| situation.find_same_task(planned));
            situation.link_requests(&mut decision, |planned| asker.find_reminded_task(planned));
        }
    }
    if decision.links.is_empty() && decision.fresh.is_empty() {
        // A mail that asks for nothing, or for nothing any more, is shown on the task that it belongs to.
        if let Some(task) = find_answered_task(situation.mail, &situation.known.tasks) {
            decision.link(task, reply_evidence(task).to_owned(), TaskUpdate::default());
        }
    }
    decision
}

/// Drops requests to meet at a time that has passed.
fn drop_past_meetings(decision: &mut FollowUpOutcome<'_>, written: Option<Instant>, now: Instant) {
    let over = decision.fresh.iter().filter_map(|planned| planned.happens_at).filter(|at| *at < now).max();
    // A time that had passed when the mail was written is answered, by asking for a new one.
    let is_over = |planned: &&ExtractedTask| {
        let asked = planned.asked_times.as_ref().filter(|asked| !asked.times.is_empty());
        let was_ahead = |asked: &AskedTimes| written.is_some_and(|at| asked.times.iter().any(|time| !time.is_past(at)));
        asked.is_some_and(|asked| asked.times.iter().all(|time| time.is_past(now)) && was_ahead(asked))
    };
    if decision.fresh.iter().any(&is_over) {
        decision.fresh.retain(|planned| !is_over(planned));
        decision.quiet = Some((NoTask::Old, "over: the times that it asks about have passed".into()));
    }
    if let Some(at) = over {
        decision.fresh.retain(|planned| planned.happens_at.is_none_or(|at| at >= now));
        decision.quiet = Some((NoTask::Old, format!("over: it asks about {at}, which has passed")));
    }
}

impl<'a> FollowUpOutcome<'a> {
    /// Links the mail to a task. A task that is linked already keeps its first evidence and takes what is new.
    pub(super) fn link(&mut self, task: &'a RelatedTask, evidence: String, update: TaskUpdate) {
        match self.links.iter_mut().find(|link| link.task.task_id == task.task_id) {
            Some(link) => {
                link.update.note = link.update.note.take().or(update.note);
                link.update.deadline = link.update.deadline.take().or(update.deadline);
                link.update.asked_times = link.update.asked_times.take().or(update.asked_times);
                link.update.end = link.update.end.or(update.end);
            }
            None => self.links.push(TaskLink { task, evidence, update }),
        }
    }

    /// Drops the requests for which `is_same` holds, and returns them.
    pub(super) fn take_fresh(&mut self, is_same: impl Fn(&ExtractedTask) -> bool) -> Vec<&'a ExtractedTask> {
        let (taken, left) = std::mem::take(&mut self.fresh).into_iter().partition(|planned| is_same(planned));
        self.fresh = left;
        taken
    }
}

impl<'a> Situation<'a> {
    /// Returns the open tasks of the conversation, found by its headers, its subject or a quote, that were asked before
    /// this mail was written.
    pub(super) fn tasks_of_conversation(&self) -> impl Iterator<Item = &'a RelatedTask> {
        let (written, has_references) = (self.mail.date, !self.mail.references.is_empty());
        // The subject alone says little: the mail must answer, remind, or end something.
        let is_same_matter = fingerprint::is_reply_subject(&self.mail.subject)
            || !self.turn.reminds.is_empty()
            || self.turn.withdraws.is_some()
            || self.turn.settles.is_some();
        self.known
            .tasks
            .iter()
            .filter(move |task| match task.relation {
                TaskRelation::Thread => has_references,
                TaskRelation::Quote | TaskRelation::Invoice => true,
                TaskRelation::Subject | TaskRelation::Request => is_same_matter,
                TaskRelation::Text | TaskRelation::Invitation | TaskRelation::Beginning => false,
            })
            .filter(move |task| task.asked_at.zip(written).is_none_or(|(asked, written)| asked <= written))
    }

    /// Links the requests for which a task is found, and leaves the others.
    fn link_requests(
        &self,
        decision: &mut FollowUpOutcome<'a>,
        find_task: impl Fn(&ExtractedTask) -> Option<(&'a RelatedTask, String)>,
    ) {
        for planned in std::mem::take(&mut decision.fresh) {
            match find_task(planned) {
                Some((task, evidence)) => decision.link(task, evidence, self.update_from_request(task, planned)),
                None => decision.fresh.push(planned),
            }
        }
    }

    /// Returns the open task that asks for the same, with the evidence.
    fn find_same_task(&self, planned: &ExtractedTask) -> Option<(&'a RelatedTask, String)> {
        let (task, evidence) = find_same_task(planned, self.mail, &self.known.tasks)?;
        let by_words = matches!(task.relation, TaskRelation::Thread | TaskRelation::Quote | TaskRelation::Subject);
        let topic = Topic::of_planned(planned, self.content_words);
        let is_other = by_words && topic.differs_in_numbers_from(&Topic::of_task(task, self.content_words));
        (!is_other).then_some((task, evidence))
    }

    /// Returns what the writer of the mail said, as a note for a task.
    pub(super) fn note(&self, text: &str) -> TaskNote {
        let at = self.mail.date.unwrap_or(self.known.arrived_at);
        TaskNote { who: self.mail.from.label().to_owned(), at, text: text.to_owned() }
    }

    /// Returns what a request that is asked again changes about its task: what was said, and a new date.
    fn update_from_request(&self, task: &RelatedTask, planned: &ExtractedTask) -> TaskUpdate {
        if matches!(task.relation, TaskRelation::Text | TaskRelation::Beginning | TaskRelation::Invitation) {
            return TaskUpdate::default();
        }
        let deadline = planned.deadline.clone().zip(planned.due_at);
        let moved = deadline.filter(|(_, due_at)| self.may_move_deadline(task, *due_at));
        TaskUpdate {
            note: Some(self.note(&planned.evidence)),
            deadline: moved.map(|(deadline, due_at)| MovedDeadline { deadline, due_at }),
            asked_times: planned.asked_times.clone().filter(|_| self.may_change_times(task)),
            end: None,
        }
    }

    /// Returns whether other times in the mail take the place of those that the task asks about: nothing was sent about
    /// them yet, and it is certain that the same person writes who asked.
    fn may_change_times(&self, task: &RelatedTask) -> bool {
        let is_meeting = task.kind == FactsKind::Task(TaskKind::Meeting) || task.asked_times.is_some();
        is_meeting && !task.has_sent && self.is_certainly_by_asker(task)
    }

    fn is_certainly_by_asker(&self, task: &RelatedTask) -> bool {
        let by_asker = task.sender == self.mail.from.addr && is_safe_to_link(task, self.mail);
        by_asker && (self.mail.authentication.verified || !task.sender_verified)
    }

    /// Returns whether the mail may give the task this date. To put it off, it must be certain that the same person
    /// writes who asked.
    pub(super) fn may_move_deadline(&self, task: &RelatedTask, due_at: Instant) -> bool {
        let is_earlier = task.due_at.is_none_or(|known| due_at < known);
        let is_other = task.due_at != Some(due_at);
        self.mail.invite.is_none() && is_other && (is_earlier || self.is_certainly_by_asker(task))
    }
}
