//! Mail the person wrote: notes to themselves, and promises to others.
//!
//! Owns what may be taken from the person's own words. Orders to the agent count only in mail to oneself: what is
//! written to someone else is for them.

use crate::model::{ExtractedTask, Instant, Mail, Me, TaskKind};
use crate::reading::{
    date::{self, DueDate, ReferenceTime},
    language::Language,
    lexicon::Feature,
    mail::annotated_mail::AnnotatedMail,
    read::ReadContext,
    sentence::{score::ScoredSentence, text::normalise_spaces_and_quotes},
    task::{
        objective::ObjectiveWriter,
        template::{TemplateContext, choose_steps},
    },
};

pub(in crate::reading) fn plan_own_tasks(
    mail: &Mail,
    page: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
    context: &ReadContext<'_>,
) -> Vec<ExtractedTask> {
    let mut receivers = mail.to.iter().chain(&mail.cc);
    let to_self = receivers.all(|address| context.me.is_me(address));
    let read = |scored: &ScoredSentence<'_>| {
        let (kind, objective) =
            if to_self { read_note_to_self(scored, page)? } else { read_promise(scored, mail, page)? };
        let due = find_due_date_of(kind, scored, base);
        let person = if to_self { None } else { mail.to.first().map(|address| address.label().to_owned()) };
        let situation = TemplateContext { has_due_date: due.is_some(), in_thread: !mail.references.is_empty() };
        Some(ExtractedTask {
            kind,
            objective,
            person,
            deadline: due.as_ref().map(|due| due.deadline.clone()),
            due_at: due.map(|due| due.at),
            meeting_duration: None,
            amount: None,
            currency: None,
            invoice_number: None,
            evidence: scored.sentence.raw.to_owned(),
            steps: choose_steps(kind, situation),
        })
    };
    page.sentences.iter().filter_map(read).take(crate::reading::mail::requests::MAX_TASKS_PER_MAIL).collect()
}

/// What "remind me …" asks for, typed by the person; none when it is no such sentence.
pub fn parse_reminder_request(typed: &str, me: &Me, now: Instant) -> Option<ExtractedTask> {
    let mail = Mail { text: typed.to_owned(), ..Mail::default() };
    let page = AnnotatedMail::new(&mail, me);
    let base = ReferenceTime::new(now, me);
    let scored = page.sentences.iter().find(|scored| scored.has(Feature::Remind))?;
    let (kind, objective) = read_note_to_self(scored, &page)?;
    let due = find_due_date_of(kind, scored, &base);
    Some(ExtractedTask {
        kind,
        objective,
        person: None,
        deadline: due.as_ref().map(|due| due.deadline.clone()),
        due_at: due.map(|due| due.at),
        meeting_duration: None,
        amount: None,
        currency: None,
        invoice_number: None,
        evidence: scored.sentence.raw.to_owned(),
        steps: choose_steps(kind, TemplateContext::default()),
    })
}

/// Returns the time that a sentence names. For a reminder, an hour that has passed today is meant for tomorrow.
fn find_due_date_of(kind: TaskKind, scored: &ScoredSentence<'_>, base: &ReferenceTime<'_>) -> Option<DueDate> {
    let tomorrow = || date::find_due_date(&scored.sentence.normalised, &base.next_midnight()?);
    scored.due_date(base).cloned().or_else(|| if kind == TaskKind::Reminder { tomorrow() } else { None })
}

fn read_note_to_self(scored: &ScoredSentence<'_>, page: &AnnotatedMail<'_>) -> Option<(TaskKind, String)> {
    let voice = ObjectiveWriter { person: "yourself", subject: "", language: page.language };
    let said = normalise_spaces_and_quotes(scored.sentence.raw);
    let after = |feature: Feature| {
        let hit = scored.phrase_matches.iter().find(|hit| hit.feature == feature)?;
        let rest = said.get(hit.end..)?.trim_start_matches([' ', ':', ',', '-']);
        Some(rest.strip_prefix("to ").unwrap_or(rest).trim_end_matches(['.', '!', ' ']).to_owned())
    };
    if let Some(what) = after(Feature::Remind) {
        return Some((TaskKind::Reminder, voice.write_verbatim(if what.is_empty() { &said } else { &what })));
    }
    if scored.has(Feature::Folder) {
        return Some((TaskKind::Folder, voice.write_verbatim(&said)));
    }
    if scored.has(Feature::Summary) {
        return Some((TaskKind::Summary, voice.write_verbatim(&said)));
    }
    (scored.asks_outright() || scored.has(Feature::Imperative))
        .then(|| (TaskKind::Reminder, voice.write_verbatim(&said)))
}

/// "I'll send you the plan by Friday" is the person's to keep.
fn read_promise(scored: &ScoredSentence<'_>, mail: &Mail, page: &AnnotatedMail<'_>) -> Option<(TaskKind, String)> {
    let hit = scored.phrase_matches.iter().find(|hit| hit.feature == Feature::Commits)?;
    let said = normalise_spaces_and_quotes(scored.sentence.raw);
    let what = said.get(hit.end..)?.trim();
    let acts = !what.is_ascii() || crate::reading::sentence::clause::starts_with_known_verb(what);
    if !acts || scored.has(Feature::Conditional) {
        return None;
    }
    let other = mail.to.first().map_or("them", |address| address.label());
    let hebrew = page.language == Language::Hebrew;
    let text = if hebrew { said.clone() } else { replace_you_with_name(what, other) };
    let voice = ObjectiveWriter { person: other, subject: "", language: page.language };
    Some((TaskKind::Commitment, voice.write_verbatim(&text)))
}

/// In the person's own mail "you" is the receiver.
fn replace_you_with_name(text: &str, other: &str) -> String {
    let swap = |word: &str| match word {
        "you" => other.to_owned(),
        "your" => format!("{other}'s"),
        word => word.to_owned(),
    };
    text.split(' ').map(swap).collect::<Vec<_>>().join(" ")
}
