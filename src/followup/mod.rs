//! Whether a mail is about a task that is there already, and what says so.
//!
//! A mail that asks for something may be taken in by an open task only of somebody who cannot be an impostor to it:
//! anyone can forge an id, a reference or a quote, send a request before its real author does, and have the real one
//! filed under theirs. Where nothing would be lost (the mail asks for nothing), a conversation is enough.

pub mod fingerprint;

use std::{cmp::Ordering, collections::HashSet};

use crate::{
    document::query_words,
    model::{EventChange, ExtractedTask, Facts, FactsKind, Fingerprint, Mail, RelatedTask, TaskKind, TaskRelation},
};

/// What a task opened from this mail is recognised by.
pub fn task_fingerprints(mail: &Mail, planned: &ExtractedTask) -> Vec<Fingerprint> {
    let invoice = invoice_fingerprint(mail, planned);
    let event = fingerprint::of_invitation(mail).filter(|_| planned.kind == TaskKind::Invitation);
    let said = fingerprint::of_sentence(&planned.evidence);
    [fingerprint::of_mail(mail), said, invoice, event].into_iter().flatten().collect()
}

pub fn invoice_fingerprints(mail: &Mail, planned: &[ExtractedTask]) -> Vec<Fingerprint> {
    planned.iter().filter_map(|planned| invoice_fingerprint(mail, planned)).collect()
}

/// A number says something only about a sender the receiving server vouches for.
fn invoice_fingerprint(mail: &Mail, planned: &ExtractedTask) -> Option<Fingerprint> {
    let number = planned.invoice_number.as_deref().filter(|_| mail.authentication.verified)?;
    fingerprint::of_invoice(&mail.from.addr, number)
}

/// Adds tasks found by another relation; of one that is there already, the stronger counts.
pub fn merge_tasks(tasks: &mut Vec<RelatedTask>, more: Vec<RelatedTask>) {
    for new in more {
        match tasks.iter_mut().find(|known| known.task_id == new.task_id) {
            Some(known) if known.relation == TaskRelation::Text => {}
            Some(known) => known.relation = new.relation,
            None => tasks.push(new),
        }
    }
}

/// Returns whether something was sent already because of the beginning of the mail.
pub fn is_partly_answered(tasks: &[RelatedTask]) -> bool {
    tasks.iter().any(|task| task.relation == TaskRelation::Beginning && task.has_sent)
}

/// Returns what a mail tells the tasks it is linked to. When an event begins is for [`find_changed_event`] to say: an
/// invitation that comes late or again moves nothing.
pub fn facts_for_link(mail: &Mail, facts: &Facts) -> Facts {
    Facts { due_at: facts.due_at.filter(|_| mail.invite.is_none()), ..facts.clone() }
}

/// The task a mail that asks for nothing answers.
pub fn find_answered_task<'a>(mail: &Mail, tasks: &'a [RelatedTask]) -> Option<&'a RelatedTask> {
    tasks.iter().find(|task| task.relation != TaskRelation::Thread || !mail.references.is_empty())
}

pub const fn reply_evidence(task: &RelatedTask) -> &'static str {
    match task.relation {
        TaskRelation::Thread => "a reply in the conversation of this task",
        TaskRelation::Quote => "a reply that quotes the request of this task",
        TaskRelation::Text => SAME_TEXT,
        TaskRelation::Invoice => "about the invoice of this task",
        TaskRelation::Invitation => {
            "a notice about the event of this task; it is outdated, or nobody vouches for its sender"
        }
        TaskRelation::Beginning => WHOLE,
    }
}

const SAME_TEXT: &str = "the same words, subject and attachments from the same sender";
const WHOLE: &str = "the whole of the mail that opened this task";

/// What a mail's invitation is to the one that a task came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EventRelation {
    /// One of them invites to nothing.
    None,
    /// Another event.
    Other,
    /// The same, or what it was before.
    Known,
    /// What it is now.
    Newer,
}

fn event_relation(mail: &Mail, task: &RelatedTask) -> EventRelation {
    let (Some(new), Some(known)) = (&mail.invite, &task.invite) else { return EventRelation::None };
    if new.uid != known.uid || new.recurrence_id != known.recurrence_id {
        return EventRelation::Other;
    }
    let is_same =
        (&new.method, new.start, new.end, &new.summary) == (&known.method, known.start, known.end, &known.summary);
    match new.sequence.cmp(&known.sequence) {
        Ordering::Less => EventRelation::Known,
        Ordering::Equal if is_same => EventRelation::Known,
        _ => EventRelation::Newer,
    }
}

/// Returns the open task whose event this mail changes or cancels, with the evidence. Only who has invited may do so, and
/// only where the receiving server vouches for them, then and now.
pub fn find_changed_event<'a>(mail: &Mail, tasks: &'a [RelatedTask]) -> Option<(&'a RelatedTask, String)> {
    let invite = mail.invite.as_ref()?;
    let is_organizer = |task: &RelatedTask| match task.relation {
        // Its first bytes are those of the task's own mail. What was answered is not answered again.
        TaskRelation::Beginning => !task.has_sent,
        _ => mail.authentication.verified && task.sender_verified && task.sender == mail.from.addr,
    };
    let task = tasks.iter().find(|task| is_organizer(task) && event_relation(mail, task) == EventRelation::Newer)?;
    match invite.method.as_str() {
        "REQUEST" => Some((task, "the organizer has changed the event of this task".to_owned())),
        "CANCEL" => Some((task, "the organizer has cancelled the event of this task".to_owned())),
        _ => None,
    }
}

/// Returns what the change of an event makes of its task. Without anything to do, it is cancelled.
pub fn event_change(planned: Option<&ExtractedTask>) -> EventChange {
    planned.map_or(EventChange::Cancelled, |planned| EventChange::Updated {
        objective: planned.objective.clone(),
        deadline: planned.deadline.clone(),
        due_at: planned.due_at,
        duration: planned.meeting_duration.clone(),
    })
}

/// The open task that is about the same, with the evidence.
pub fn find_same_task<'a>(
    planned: &ExtractedTask,
    mail: &Mail,
    tasks: &'a [RelatedTask],
) -> Option<(&'a RelatedTask, String)> {
    tasks
        .iter()
        .filter(|task| is_safe_to_link(task, mail))
        .find_map(|task| Some((task, same_task_evidence(planned, mail, task)?)))
}

/// Whether filing the mail under this task can do its author no harm.
fn is_safe_to_link(task: &RelatedTask, mail: &Mail) -> bool {
    // Its first bytes are those of the task's own mail.
    if task.own || task.relation == TaskRelation::Beginning {
        return true;
    }
    // The impostor came first.
    if mail.authentication.verified && !task.sender_verified {
        return false;
    }
    task.sender == mail.from.addr || (task.sender_verified && task.known_contact)
}

fn same_task_evidence(planned: &ExtractedTask, mail: &Mail, task: &RelatedTask) -> Option<String> {
    let number = |number: &Option<String>| number.as_deref().and_then(|number| fingerprint::of_invoice("same", number));
    let (asked, known) = (number(&planned.invoice_number), number(&task.invoice_number));
    let event = event_relation(mail, task);
    match task.relation {
        TaskRelation::Beginning if event != EventRelation::Other && is_same_request(planned, task) => {
            Some(WHOLE.to_owned())
        }
        TaskRelation::Beginning => None,
        // Another event, or the same at another time, is another thing to answer.
        _ if matches!(event, EventRelation::Other | EventRelation::Newer) => None,
        TaskRelation::Invitation => Some("the same invitation again".to_owned()),
        TaskRelation::Text => Some(SAME_TEXT.to_owned()),
        // A second invoice is another thing to pay, whatever conversation it comes in.
        _ if asked.is_some() && known.is_some() && asked != known => None,
        TaskRelation::Invoice if asked.is_some() && asked == known && mail.authentication.verified => Some(format!(
            "invoice {} of the same verified sender",
            planned.invoice_number.as_deref().unwrap_or_default()
        )),
        TaskRelation::Invoice => None,
        // One that answers nothing is in the conversation by an id that somebody has used twice.
        TaskRelation::Thread if mail.references.is_empty() => None,
        TaskRelation::Thread if is_same_request(planned, task) => {
            Some("asks again in the conversation of this task".to_owned())
        }
        TaskRelation::Quote if is_same_request(planned, task) => {
            Some("asks again and quotes the request of this task".to_owned())
        }
        TaskRelation::Thread | TaskRelation::Quote => None,
    }
}

/// The same meeting, invoice or alert, or half of the words.
fn is_same_request(planned: &ExtractedTask, task: &RelatedTask) -> bool {
    let words: HashSet<String> = query_words(&planned.objective).into_iter().collect();
    let shared = query_words(&task.objective).iter().filter(|word| words.contains(*word)).count();
    (is_one_per_conversation(planned.kind) && task.kind == FactsKind::Task(planned.kind))
        || shared * 2 >= words.len().max(1)
}

/// A conversation is about one of these; of requests and questions it may hold many.
const fn is_one_per_conversation(kind: TaskKind) -> bool {
    matches!(kind, TaskKind::Meeting | TaskKind::Invitation | TaskKind::Invoice | TaskKind::Alert)
}
