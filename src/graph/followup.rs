//! Whether a mail is about a task that is there already, and what says so.
//!
//! A mail that asks for something may be taken in by an open task only of somebody who cannot be an impostor to it:
//! anyone can forge an id, a reference or a quote, send a request before its real author does, and have the real one
//! filed under theirs. Where nothing would be lost (the mail asks for nothing), a conversation is enough.

use std::collections::HashSet;

use crate::{
    model::{ExtractedTask, Mail, TaskKind, fingerprint},
    store::{
        query_words,
        value::{Kinship, RelatedTask},
    },
};

/// What a task opened from this mail is recognised by.
pub(super) fn task_fingerprints(mail: &Mail, planned: &ExtractedTask) -> Vec<String> {
    let invoice = invoice_fingerprint(mail, planned);
    [fingerprint::of_mail(mail), fingerprint::of_sentence(&planned.evidence), invoice].into_iter().flatten().collect()
}

pub(super) fn invoice_fingerprints(mail: &Mail, planned: &[ExtractedTask]) -> Vec<String> {
    planned.iter().filter_map(|planned| invoice_fingerprint(mail, planned)).collect()
}

/// A number says something only about a sender the receiving server vouches for.
fn invoice_fingerprint(mail: &Mail, planned: &ExtractedTask) -> Option<String> {
    let number = planned.invoice_number.as_deref().filter(|_| mail.authentication.verified)?;
    fingerprint::of_invoice(&mail.from.addr, number)
}

/// Adds tasks found by another kinship; of one that is there already, the stronger counts.
pub(super) fn merge_tasks(tasks: &mut Vec<RelatedTask>, more: Vec<RelatedTask>) {
    for new in more {
        match tasks.iter_mut().find(|known| known.task_id == new.task_id) {
            Some(known) if known.kinship == Kinship::Text => {}
            Some(known) => known.kinship = new.kinship,
            None => tasks.push(new),
        }
    }
}

/// The task a mail that asks for nothing answers.
pub(super) fn find_answered_task<'a>(mail: &Mail, tasks: &'a [RelatedTask]) -> Option<&'a RelatedTask> {
    tasks.iter().find(|task| task.kinship != Kinship::Thread || !mail.references.is_empty())
}

pub(super) const fn reply_evidence(task: &RelatedTask) -> &'static str {
    match task.kinship {
        Kinship::Thread => "a reply in the conversation of this task",
        Kinship::Quote => "a reply that quotes the request of this task",
        Kinship::Text => SAME_TEXT,
        Kinship::Invoice => "about the invoice of this task",
    }
}

const SAME_TEXT: &str = "the same words, subject and attachments from the same sender";

/// The open task that is about the same, with the evidence.
pub(super) fn find_same_task<'a>(
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
    if task.own {
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
    match task.kinship {
        Kinship::Text => Some(SAME_TEXT.to_owned()),
        // A second invoice is another thing to pay, whatever conversation it comes in.
        _ if asked.is_some() && known.is_some() && asked != known => None,
        Kinship::Invoice if asked.is_some() && asked == known && mail.authentication.verified => Some(format!(
            "invoice {} of the same verified sender",
            planned.invoice_number.as_deref().unwrap_or_default()
        )),
        Kinship::Invoice => None,
        Kinship::Thread if is_same_request(planned, task) => {
            Some("asks again in the conversation of this task".to_owned())
        }
        Kinship::Quote if is_same_request(planned, task) => {
            Some("asks again and quotes the request of this task".to_owned())
        }
        Kinship::Thread | Kinship::Quote => None,
    }
}

/// The same meeting, invoice or alert, or half of the words.
fn is_same_request(planned: &ExtractedTask, task: &RelatedTask) -> bool {
    let words: HashSet<String> = query_words(&planned.objective).into_iter().collect();
    let shared = query_words(&task.objective).iter().filter(|word| words.contains(*word)).count();
    (is_one_per_conversation(planned.kind) && task.kind == planned.kind.as_str()) || shared * 2 >= words.len().max(1)
}

/// A conversation is about one of these; of requests and questions it may hold many.
const fn is_one_per_conversation(kind: TaskKind) -> bool {
    matches!(kind, TaskKind::Meeting | TaskKind::Invitation | TaskKind::Invoice | TaskKind::Alert)
}
