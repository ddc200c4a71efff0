//! What a preview knows of people and conversations: from the mail it has read itself, and from the store.

use std::collections::HashSet;

use crate::{
    app::App,
    followup::{self, Situation, fingerprint},
    model::{
        AccountId, Direction, ExtractedTask, FactsKind, Fingerprint, Instant, Mail, MailContext, Reading, RelatedTask,
        TaskContext, TaskId, TaskRelation, Turn,
    },
    reading::{self, ReadContext, Relation},
};

/// The mails of a preview before they are read for tasks, and what the person's own mail says about them.
#[derive(Default)]
pub(super) struct PreviewMails {
    /// The incoming mails, in the order in which they were found.
    pub(super) incoming: Vec<Mail>,
    /// The people to whom the person has written.
    contacts: HashSet<String>,
    /// The conversations in which the person has written.
    threads: HashSet<String>,
}

impl PreviewMails {
    /// Takes a mail of the person's own into account.
    pub(super) fn add_sent(&mut self, mail: &Mail) {
        self.contacts.extend(mail.to.iter().chain(&mail.cc).map(|to| to.addr.clone()));
        self.threads.extend(Some(mail.thread.clone()).filter(|thread| !thread.is_empty()));
    }

    /// Returns how the person stands to the sender and the conversation of a mail.
    pub(super) fn relation(&self, app: &App, account: Option<&AccountId>, mail: &Mail) -> anyhow::Result<Relation> {
        let is_stored = match account {
            Some(account) => app.store.read_blocking(|reader| reader.mails().is_contact(account, &mail.from.addr))?,
            None => false,
        };
        Ok(Relation {
            known_contact: is_stored || self.contacts.contains(&mail.from.addr),
            thread_mine: self.threads.contains(&mail.thread),
            addressed: None,
        })
    }
}

/// The tasks that the mails of a preview would have opened so far.
#[derive(Default)]
pub(super) struct PreviewTasks(Vec<PreviewTask>);

/// A task of a preview, as a later mail may be about it.
struct PreviewTask {
    thread: String,
    text: Option<Fingerprint>,
    related: RelatedTask,
}

impl PreviewTasks {
    /// Decides which requests of a mail are new, as the first sync would. The others are about a task that a mail
    /// before it has opened; then the reason says about which.
    pub(super) fn sort_out(&mut self, mail: &Mail, relation: Relation, app: &App, reading: &mut Reading) {
        let now = app.clock.now();
        let known = self.context_of(mail, relation, now);
        let context = ReadContext {
            me: &app.config.me,
            now: known.arrived_at,
            known_contact: relation.known_contact,
            thread_mine: relation.thread_mine,
            second_reading: &[],
            is_genuine: false,
        };
        let is_alone = known.tasks.is_empty() && !known.thread_mine;
        let turn = if is_alone { Turn::default() } else { reading::read_turn(mail, &context) };
        let situation = Situation {
            mail,
            known: &known,
            turn: &turn,
            now: known.arrived_at,
            content_words: reading::content_words,
        };
        let decision = followup::decide(situation, &reading.tasks);
        let fresh: Vec<ExtractedTask> = decision.fresh.iter().map(|task| (*task).clone()).collect();
        let linked = decision.links.first().map(|link| format!("a follow-up: {}", link.evidence));
        let quiet = decision.quiet.map(|(_, reason)| reason);
        if fresh.is_empty()
            && let Some(reason) = linked.or(quiet)
        {
            reading.reason = reason;
        }
        for (nth, task) in fresh.iter().enumerate() {
            self.add(mail, relation, task, now, nth);
        }
        reading.tasks = fresh;
    }

    /// Returns what is known about a mail beside its text.
    fn context_of(&self, mail: &Mail, relation: Relation, now: Instant) -> MailContext {
        let text = fingerprint::of_mail(mail);
        let tasks = self.0.iter().filter_map(|task| {
            let relation = if text.is_some() && task.text == text {
                TaskRelation::Text
            } else if !task.thread.is_empty() && task.thread == mail.thread {
                TaskRelation::Thread
            } else {
                return None;
            };
            Some(RelatedTask { relation, ..task.related.clone() })
        });
        MailContext {
            source_key: String::new(),
            kind: None,
            direction: Direction::In,
            arrived_at: mail.date.unwrap_or(now),
            alone: false,
            known_contact: relation.known_contact,
            thread_mine: relation.thread_mine,
            muted: false,
            tasks: tasks.collect(),
        }
    }

    fn add(&mut self, mail: &Mail, relation: Relation, task: &ExtractedTask, now: Instant, nth: usize) {
        let related = RelatedTask {
            task_id: TaskId::derive(now, &[&mail.content_sha256, &nth.to_string()]),
            objective: task.objective.clone(),
            kind: FactsKind::Task(task.kind),
            relation: TaskRelation::Thread,
            sender: mail.from.addr.clone(),
            sender_verified: mail.authentication.verified,
            known_contact: relation.known_contact,
            own: false,
            invoice_number: task.invoice_number.clone(),
            invite: mail.invite.clone(),
            answers: 0,
            has_sent: false,
            evidence: task.evidence.clone(),
            subject: mail.subject.clone(),
            asked_at: mail.date,
            due_at: task.due_at,
            has_begun: true,
            wants_answer: task.wants_answer,
            asked_times: task.asked_times.clone(),
            meeting_minutes: task.meeting_duration.as_deref().and_then(TaskContext::parse_minutes),
        };
        self.0.push(PreviewTask { thread: mail.thread.clone(), text: fingerprint::of_mail(mail), related });
    }
}
