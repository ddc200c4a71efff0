//! Mail the person wrote: notes to themselves, and promises to others.
//!
//! Owns what may be taken from the person's own words. Orders to the agent count only in mail to oneself: what is
//! written to someone else is for them.

use crate::date::{self, DueDate, ReferenceTime};
use crate::model::{ExtractedTask, Instant, Mail, Me, TaskKind};
use crate::reading::{
    lexicon::Feature,
    mail::{annotated_mail::AnnotatedMail, requests::MAX_TASKS_PER_MAIL},
    read::ReadContext,
    sentence::{score::ScoredSentence, text::normalise},
    task::{
        note::{Note, read_command, read_notes},
        objective::ObjectiveWriter,
        promise::read_promise,
        template::{TemplateContext, choose_steps},
        topic::clean_subject,
    },
};

pub(in crate::reading) fn plan_own_tasks(
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
    context: &ReadContext<'_>,
) -> Vec<ExtractedTask> {
    let in_thread = !mail.references.is_empty();
    let mut receivers = mail.to.iter().chain(&mail.cc);
    if receivers.all(|address| context.me.is_me(address)) {
        let notes = read_notes(mail, annotated);
        // What the subject of a list names is the time of no point of it.
        let subject = if notes.len() == 1 { annotated.subject.as_str() } else { "" };
        let plan = |note: Note| {
            let due = find_due_date_of_note(&note, subject, base);
            new_own_task(note, due, None, in_thread)
        };
        return notes.into_iter().map(plan).collect();
    }
    let other = mail.to.first().map(|address| address.label());
    let promise = |scored: &ScoredSentence<'_>| {
        let language = scored.sentence.language;
        let writer =
            ObjectiveWriter { person: other.unwrap_or("them"), subject: clean_subject(&mail.subject), language };
        let objective = read_promise(scored, writer)?;
        let note = Note { kind: TaskKind::Commitment, objective, evidence: scored.sentence.raw.to_owned() };
        Some(new_own_task(note, scored.due_date(base).cloned(), other.map(str::to_owned), in_thread))
    };
    annotated.sentences.iter().filter_map(promise).take(MAX_TASKS_PER_MAIL).collect()
}

/// What "remind me …" asks for, typed by the person; none when it is no such sentence.
pub fn parse_reminder_request(typed: &str, me: &Me, now: Instant) -> Option<ExtractedTask> {
    let mail = Mail { text: typed.to_owned(), ..Mail::default() };
    let annotated = AnnotatedMail::new(&mail, me, &[]);
    let base = ReferenceTime::new(now, me);
    let scored = annotated.sentences.iter().find(|scored| scored.has(Feature::Remind))?;
    let note = read_command(scored)?;
    let due = find_due_date_of_note(&note, "", &base);
    Some(new_own_task(note, due, None, false))
}

fn new_own_task(note: Note, due: Option<DueDate>, person: Option<String>, in_thread: bool) -> ExtractedTask {
    let steps =
        choose_steps(note.kind, TemplateContext { has_due_date: due.is_some(), in_thread, asks_for_time: false });
    ExtractedTask {
        kind: note.kind,
        objective: note.objective,
        person,
        deadline: due.as_ref().map(|due| due.deadline.clone()),
        due_at: due.map(|due| due.at),
        meeting_duration: None,
        amount: None,
        currency: None,
        invoice_number: None,
        evidence: note.evidence,
        steps,
        wants_answer: false,
        asked: None,
        happens_at: None,
        asked_times: None,
        asks_for_file: false,
        file: None,
    }
}

/// Returns the time that a note names, in its words or in its subject. For a reminder, an hour that has passed today is
/// meant for tomorrow.
fn find_due_date_of_note(note: &Note, subject: &str, base: &ReferenceTime<'_>) -> Option<DueDate> {
    let evidence = normalise(&note.evidence);
    let find = |base: &ReferenceTime<'_>| date::find_due_date(&evidence, base);
    let tomorrow = || if note.kind == TaskKind::Reminder { find(&base.next_midnight()?) } else { None };
    find(base).or_else(tomorrow).or_else(|| date::find_due_date(subject, base))
}
