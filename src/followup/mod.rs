//! Decides whether a mail is about a task that is open already, and by which evidence.
//!
//! A mail that asks for something is linked to an open task only when its author cannot lose by it. Anyone can forge a
//! Message-ID, a reference or a quote: an impostor could send a request before its real author does, and have the real
//! request filed under their own task. A mail that asks for nothing may be linked by its conversation alone, because
//! nothing is lost then.
//!
//! No I/O, and no link that files the request of a real author under the task of an impostor.

mod agreed_time;
mod asker;
mod conversation;
pub mod fingerprint;
mod own_answer;
mod resemblance;

pub use agreed_time::appointments_of;
pub use conversation::{FollowUpOutcome, Situation, TaskLink, decide};

use std::{cmp::Ordering, collections::HashSet};

use crate::{
    document::query_words,
    model::{
        Direction, EventChange, ExtractedTask, Facts, FactsKind, Fingerprint, Mail, RelatedTask, TaskKind, TaskRelation,
    },
};

/// Returns the fingerprints by which a task opened from this mail is recognised later.
pub fn task_fingerprints(mail: &Mail, planned: &ExtractedTask) -> Vec<Fingerprint> {
    let invoice = invoice_fingerprint(mail, planned);
    let event = fingerprint::of_invitation(mail).filter(|_| planned.kind == TaskKind::Invitation);
    let said = fingerprint::of_sentence(&planned.evidence);
    let subject = fingerprint::of_subject(&mail.from.addr, &mail.subject);
    let asked = request_fingerprint(mail, planned);
    [fingerprint::of_mail(mail), said, invoice, event, subject, asked].into_iter().flatten().collect()
}

/// Returns the fingerprints of all invoices that the mail asks to pay.
pub fn invoice_fingerprints(mail: &Mail, planned: &[ExtractedTask]) -> Vec<Fingerprint> {
    planned.iter().filter_map(|planned| invoice_fingerprint(mail, planned)).collect()
}

/// Returns the fingerprint of a request on its day. An event and an invoice have one of their own, an alert is about what
/// happened and not about what is asked, and what the person promises depends on whom they promise it.
fn request_fingerprint(mail: &Mail, planned: &ExtractedTask) -> Option<Fingerprint> {
    let counts = matches!(
        planned.kind,
        TaskKind::Question | TaskKind::Request | TaskKind::Review | TaskKind::Deadline | TaskKind::Meeting
    );
    counts.then(|| fingerprint::of_request(mail)).flatten()
}

/// Returns the fingerprint of the invoice. Returns none for an unverified sender: an invoice number identifies a
/// request only together with a sender that the receiving server vouches for.
fn invoice_fingerprint(mail: &Mail, planned: &ExtractedTask) -> Option<Fingerprint> {
    let number = planned.invoice_number.as_deref().filter(|_| mail.authentication.verified)?;
    fingerprint::of_invoice(&mail.from.addr, number)
}

/// Adds tasks that were found by another kinship. A task that is there already takes the new kinship, unless it was
/// found by its text, which is the strongest evidence.
pub fn merge_tasks(tasks: &mut Vec<RelatedTask>, more: Vec<RelatedTask>) {
    for new in more {
        match tasks.iter_mut().find(|known| known.task_id == new.task_id) {
            Some(known) if known.relation == TaskRelation::Text => {}
            Some(known) => known.relation = new.relation,
            None => tasks.push(new),
        }
    }
}

/// Returns whether a message was already sent because of the beginning of this mail, which was read while still
/// incomplete.
pub fn is_partly_answered(tasks: &[RelatedTask]) -> bool {
    tasks.iter().any(|task| task.relation == TaskRelation::Beginning && task.has_sent)
}

/// Returns the facts that a mail adds to the tasks it is linked to. The start of an event is left out: only
/// [`find_changed_event`] decides about it, so that an invitation that comes late or again moves nothing.
pub fn facts_for_link(mail: &Mail, direction: Direction, facts: &Facts) -> Facts {
    match direction {
        Direction::In => Facts { due_at: facts.due_at.filter(|_| mail.invite.is_none()), ..facts.clone() },
        // What the person writes themselves makes nothing more urgent.
        Direction::Out => Facts { due_at: None, amount: None, urgency: 0.0, ..facts.clone() },
    }
}

/// Returns the open task that a mail answers which asks for nothing. A shared conversation counts only if the mail
/// refers to an earlier one: otherwise it shares the conversation by a Message-ID that was used twice.
fn find_answered_task<'a>(mail: &Mail, tasks: &'a [RelatedTask]) -> Option<&'a RelatedTask> {
    tasks.iter().find(|task| match task.relation {
        TaskRelation::Thread => !mail.references.is_empty(),
        TaskRelation::Subject => mail.invite.is_none() && fingerprint::is_reply_subject(&mail.subject),
        TaskRelation::Request => false,
        _ => true,
    })
}

/// Returns the evidence for linking a mail that asks for nothing, as text for the history of the task.
pub const fn reply_evidence(task: &RelatedTask) -> &'static str {
    match task.relation {
        TaskRelation::Thread => "a reply in the conversation of this task",
        TaskRelation::Quote => "a reply that quotes the request of this task",
        TaskRelation::Text => SAME_TEXT,
        TaskRelation::Invoice => "about the invoice of this task",
        TaskRelation::Subject => "under the subject of this task, from the same sender",
        TaskRelation::Request => SAME_REQUEST,
        TaskRelation::Invitation => {
            "a notice about the event of this task; it is outdated, or nobody vouches for its sender"
        }
        TaskRelation::Beginning => WHOLE,
    }
}

const SAME_TEXT: &str = "the same words, subject and attachments from the same sender";
const SAME_REQUEST: &str = "the same request of the same sender on the same day";
const WHOLE: &str = "the whole of the mail that opened this task";

/// How the invitation of a mail relates to the invitation that a task came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EventRelation {
    /// The mail or the task has no invitation.
    None,
    /// They are different events.
    Other,
    /// The mail repeats the known invitation or an older version of it.
    Known,
    /// The mail brings a newer version of the event.
    Newer,
}

/// Compares UID and recurrence first, then the sequence number, then what the invitation says.
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

/// Returns the open task whose event this mail changes or cancels, with the evidence. Only the sender of the invitation
/// may do so, and only if the receiving server vouched for both the invitation and this mail.
pub fn find_changed_event<'a>(mail: &Mail, tasks: &'a [RelatedTask]) -> Option<(&'a RelatedTask, String)> {
    let invite = mail.invite.as_ref()?;
    let is_organizer = |task: &RelatedTask| match task.relation {
        TaskRelation::Beginning => !task.has_sent,
        // The mail begins with the bytes of the task's own mail, so its author is the same. An event that was answered
        // is not answered again.
        _ => mail.authentication.verified && task.sender_verified && task.sender == mail.from.addr,
    };
    let task = tasks.iter().find(|task| is_organizer(task) && event_relation(mail, task) == EventRelation::Newer)?;
    match invite.method.as_str() {
        "REQUEST" => Some((task, "the organizer has changed the event of this task".to_owned())),
        "CANCEL" => Some((task, "the organizer has cancelled the event of this task".to_owned())),
        _ => None,
    }
}

/// Returns what the change of an event does to its task. Without a planned task there is nothing left to do, and the
/// task is cancelled.
pub fn event_change(planned: Option<&ExtractedTask>) -> EventChange {
    planned.map_or(EventChange::Cancelled, |planned| EventChange::Updated {
        objective: planned.objective.clone(),
        deadline: planned.deadline.clone(),
        due_at: planned.due_at,
        duration: planned.meeting_duration.clone(),
    })
}

/// Returns the open task that asks for the same as `planned`, with the evidence.
fn find_same_task<'a>(
    planned: &ExtractedTask,
    mail: &Mail,
    tasks: &'a [RelatedTask],
) -> Option<(&'a RelatedTask, String)> {
    tasks
        .iter()
        .filter(|task| is_safe_to_link(task, mail))
        .find_map(|task| Some((task, same_task_evidence(planned, mail, task)?)))
}

/// Returns whether linking the mail to this task can do no harm to the author of the mail.
fn is_safe_to_link(task: &RelatedTask, mail: &Mail) -> bool {
    // The person wrote the mail of the task, or the mail begins with the bytes of the task's own mail.
    if task.own || task.relation == TaskRelation::Beginning {
        return true;
    }
    // The unverified mail that opened the task may have been an impostor who came first.
    if mail.authentication.verified && !task.sender_verified {
        return false;
    }
    task.sender == mail.from.addr || (task.sender_verified && task.known_contact)
}

/// Returns the evidence that the task asks for the same; none when it does not.
fn same_task_evidence(planned: &ExtractedTask, mail: &Mail, task: &RelatedTask) -> Option<String> {
    let number = |number: &Option<String>| number.as_deref().and_then(|number| fingerprint::of_invoice("same", number));
    let (asked, known) = (number(&planned.invoice_number), number(&task.invoice_number));
    let event = event_relation(mail, task);
    match task.relation {
        TaskRelation::Beginning if event != EventRelation::Other && is_same_request(planned, task) => {
            Some(WHOLE.to_owned())
        }
        TaskRelation::Beginning => None,
        // Another event, or a newer version of the same one, needs an answer of its own.
        _ if matches!(event, EventRelation::Other | EventRelation::Newer) => None,
        TaskRelation::Invitation => Some("the same invitation again".to_owned()),
        TaskRelation::Text => Some(SAME_TEXT.to_owned()),
        // A second invoice must be paid too, whatever conversation it comes in.
        _ if asked.is_some() && known.is_some() && asked != known => None,
        TaskRelation::Invoice if asked.is_some() && asked == known && mail.authentication.verified => Some(format!(
            "invoice {} of the same verified sender",
            planned.invoice_number.as_deref().unwrap_or_default()
        )),
        TaskRelation::Invoice => None,
        TaskRelation::Request => {
            let objective = fingerprint::normalise_words;
            (objective(&planned.objective) == objective(&task.objective)).then(|| SAME_REQUEST.to_owned())
        }
        TaskRelation::Subject if fingerprint::is_reply_subject(&mail.subject) && is_same_request(planned, task) => {
            Some("asks again under the subject of this task".to_owned())
        }
        TaskRelation::Subject => None,
        TaskRelation::Thread if mail.references.is_empty() => None,
        TaskRelation::Thread if is_same_request(planned, task) => {
            // A mail without references shares the conversation only by a Message-ID that was used twice.
            Some("asks again in the conversation of this task".to_owned())
        }
        TaskRelation::Quote if is_same_request(planned, task) => {
            Some("asks again and quotes the request of this task".to_owned())
        }
        TaskRelation::Thread | TaskRelation::Quote => None,
    }
}

/// Returns whether both are the one meeting, invoice or alert of a conversation, or share half of the words of the
/// objective.
fn is_same_request(planned: &ExtractedTask, task: &RelatedTask) -> bool {
    let words: HashSet<String> = query_words(without_subject(&planned.objective)).into_iter().collect();
    let shared = query_words(without_subject(&task.objective)).iter().filter(|word| words.contains(*word)).count();
    // Two mails of one conversation that name times to meet are about one meeting, whatever each calls it.
    (is_one_per_conversation(planned.kind) && task.kind == FactsKind::Task(planned.kind))
        || (planned.asked_times.is_some() && task.asked_times.is_some())
        || shared * 2 >= words.len().max(1)
}

/// Returns an objective without the subject in brackets behind it, which all requests of a conversation share.
fn without_subject(objective: &str) -> &str {
    let bracket = objective.strip_suffix(')').and_then(|open| open.rfind(" ("));
    bracket.and_then(|at| objective.get(..at)).unwrap_or(objective)
}

/// Returns whether a conversation is about one task of this kind. Of requests and questions it may hold many.
const fn is_one_per_conversation(kind: TaskKind) -> bool {
    matches!(kind, TaskKind::Meeting | TaskKind::Invitation | TaskKind::Invoice | TaskKind::Alert)
}
