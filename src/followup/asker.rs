//! What a later mail of the one who asked does to the open tasks of its conversation: a withdrawal or "solved" ends
//! them, a reminder or another date is put on them, and agreement to what the person proposed asks for nothing.

use super::{
    conversation::{FollowUpOutcome, Situation},
    is_safe_to_link,
    resemblance::Topic,
};
use crate::model::{
    ConversationEnd, ExtractedTask, FactsKind, MovedDeadline, RelatedTask, TaskKind, TaskUpdate, reading::NoTask,
};

/// A request of so few words beside an agreement is a figure of speech: "but then for real, please".
const LONGEST_FRAGMENT: usize = 5;

#[derive(Clone, Copy)]
pub(super) struct AskerTurn<'a>(Situation<'a>);

impl<'a> AskerTurn<'a> {
    pub(super) const fn new(situation: Situation<'a>) -> Self {
        Self(situation)
    }

    pub(super) fn decide(&self, decision: &mut FollowUpOutcome<'a>) {
        let turn = self.0.turn;
        if turn.is_automatic_or_forwarded {
            return;
        }
        self.accept_agreement(decision);
        let tasks = self.tasks_asked_for();
        if tasks.is_empty() {
            return;
        }
        let withdrawn = turn.withdraws.as_ref().map(|said| (said, ConversationEnd::Withdrawn));
        let settled = turn.settles.as_ref().map(|said| (said, ConversationEnd::Settled));
        if let Some((said, end)) = withdrawn.or(settled) {
            decision.take_fresh(|planned| turn.is_closing(&planned.evidence));
            self.end_tasks(&tasks, said, end, decision);
        } else {
            self.move_date(&tasks, decision);
        }
    }

    /// Gives the task that is meant the date which the mail only states. If it is not plain which of several is meant,
    /// all keep theirs.
    fn move_date(&self, tasks: &[&'a RelatedTask], decision: &mut FollowUpOutcome<'a>) {
        let words = self.0.content_words;
        let Some(named) = self.0.turn.new_date.as_ref() else { return };
        // What is a request of its own brings its date itself; a deadline that is only stated is this one.
        let is_said = |planned: &&ExtractedTask| planned.evidence == named.sentence;
        if decision.fresh.iter().copied().filter(is_said).any(|planned| planned.kind != TaskKind::Deadline) {
            return;
        }
        let topic = Topic::new(&[&named.sentence], words);
        let is_named = |task: &&&RelatedTask| Topic::of_task_and_subject(task, words).shared_with(&topic) > 0;
        let task = match tasks {
            [only] => only,
            _ => match tasks.iter().filter(is_named).collect::<Vec<_>>()[..] {
                [only] => only,
                _ => return,
            },
        };
        if self.0.may_move_deadline(task, named.due_at) {
            decision.take_fresh(|planned| planned.evidence == named.sentence);
            let (deadline, due_at) = (named.deadline.clone(), named.due_at);
            let moved = TaskUpdate {
                note: Some(self.0.note(&named.sentence)),
                deadline: Some(MovedDeadline { deadline, due_at }),
                ..TaskUpdate::default()
            };
            decision.link(task, format!("names another date: “{}”", named.sentence), moved);
        }
    }

    /// Returns the open tasks of the conversation that are for the writer of the mail.
    fn tasks_asked_for(&self) -> Vec<&'a RelatedTask> {
        self.0.tasks_of_conversation().filter(|task| self.is_asker_of(task)).collect()
    }

    /// Drops what is not a request when the mail agrees to what the person proposed.
    fn accept_agreement(&self, decision: &mut FollowUpOutcome<'a>) {
        let Some(agrees) = self.0.turn.agrees.as_ref().filter(|_| self.0.known.thread_mine) else { return };
        let is_part = |planned: &ExtractedTask| {
            let is_fragment = planned.evidence.split_whitespace().count() <= LONGEST_FRAGMENT;
            planned.evidence == *agrees || (is_fragment && !planned.evidence.contains('?'))
        };
        // A question that contains a word of agreement is still a question.
        let taken = decision.take_fresh(|planned| is_part(planned) && !planned.evidence.trim_end().ends_with('?'));
        if !taken.is_empty() {
            decision.quiet = Some((NoTask::Fyi, format!("agrees to what you wrote: “{agrees}”")));
        }
    }

    /// Returns whether the mail is by the one for whom the task is: who asked, or to whom the person promised it.
    fn is_asker_of(&self, task: &RelatedTask) -> bool {
        let by_asker = task.sender == self.0.mail.from.addr;
        let promised = task.own && task.kind == FactsKind::Task(TaskKind::Commitment);
        (by_asker || promised) && is_safe_to_link(task, self.0.mail)
    }

    /// Ends the tasks that the mail takes back or calls solved. If it is not plain which of several is meant, or if
    /// nobody vouches for the sender of a task whose asker was verified, the tasks are only flagged.
    fn end_tasks(
        &self,
        tasks: &[&'a RelatedTask],
        said: &str,
        end: ConversationEnd,
        decision: &mut FollowUpOutcome<'a>,
    ) {
        let words = self.0.content_words;
        let closing = Topic::new(&[said], words);
        let is_named = |task: &&&RelatedTask| Topic::of_task_and_subject(task, words).shared_with(&closing) > 0;
        let named: Vec<&&RelatedTask> = tasks.iter().filter(is_named).collect();
        let meant: Vec<&&RelatedTask> = match (tasks, named.len()) {
            ([only], _) => vec![only],
            (_, 0) => tasks.iter().collect(),
            _ => named.clone(),
        };
        let is_plain = tasks.len() == 1 || !named.is_empty();
        let is_other = Topic::differs_in_numbers_from;
        for task in meant {
            let is_doubtful = !is_plain
                || is_other(&closing, &Topic::of_task_and_subject(task, words))
                || (task.sender_verified && !self.0.mail.authentication.verified)
                || (!decision.fresh.is_empty() && named.is_empty());
            let note = Some(self.0.note(said));
            let (why, end) = match (is_doubtful, end) {
                (true, _) => ("may be over".to_owned(), None),
                (false, ConversationEnd::Withdrawn) => ("they need it no longer".to_owned(), Some(end)),
                (false, _) => ("they say that it is solved".to_owned(), Some(end)),
            };
            decision.link(task, format!("{why}: “{said}”"), TaskUpdate { note, end, ..TaskUpdate::default() });
        }
    }

    /// Returns the open task that a request reminds of, or that is about the same in other words, with the evidence.
    pub(super) fn find_reminded_task(&self, planned: &ExtractedTask) -> Option<(&'a RelatedTask, String)> {
        let (turn, words) = (self.0.turn, self.0.content_words);
        if turn.is_automatic_or_forwarded {
            return None;
        }
        let tasks = self.tasks_asked_for();
        // An invitation or an invoice is recognised by its own number.
        if turn.is_new_matter(&planned.evidence) || matches!(planned.kind, TaskKind::Invitation | TaskKind::Invoice) {
            return None;
        }
        let topic = Topic::of_planned(planned, words);
        let is_other = |task: &&RelatedTask| topic.differs_in_numbers_from(&Topic::of_task(task, words));
        let same: Vec<&'a RelatedTask> = tasks.into_iter().filter(|task| !is_other(task)).collect();
        let with_number = same.iter().find(|task| topic.shares_number_with(&Topic::of_task(task, words)));
        if let Some(task) = with_number {
            return Some((task, "asks again and names the same number".into()));
        }
        if let Some(task) = same.iter().find(|task| topic.resembles(&Topic::of_task(task, words))) {
            return Some((task, "asks again for the same in the conversation of this task".into()));
        }
        if !turn.is_reminder(&planned.evidence) {
            return None;
        }
        let shared = |task: &RelatedTask| Topic::of_task_and_subject(task, words).shared_with(&topic);
        let best = same.iter().max_by_key(|task| shared(task))?;
        (same.len() == 1 || shared(best) > 0).then(|| (*best, "a reminder in the conversation of this task".into()))
    }
}
