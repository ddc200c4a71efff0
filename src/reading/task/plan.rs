//! From a sentence that asks to a planned task: kind, objective, person, deadline, amounts, steps.
//!
//! Owns how a task is filled. Whether there is one was decided before.

use crate::model::{ExtractedTask, Mail, TaskKind};
use crate::reading::{
    date::{self, DueDate, ReferenceTime},
    language::Language,
    lexicon::{Feature, Lexicon, WordList},
    mail::annotated_mail::AnnotatedMail,
    sentence::{
        clause::{Clause, ClauseKind, extract_clause},
        score::ScoredSentence,
        text::words,
    },
    task::{
        money,
        objective::{ObjectiveWriter, truncate_at_word},
        task_kind::{KindHints, choose_task_kind},
        template::{TemplateContext, choose_steps},
        wording::Template,
    },
};

pub(in crate::reading) fn plan_task(
    scored: &ScoredSentence<'_>,
    alone: bool,
    mail: &Mail,
    page: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
) -> ExtractedTask {
    let clause = extract_clause(scored);
    let due = date::find_due_date(&clause.text.to_lowercase(), base)
        .or_else(|| scored.due_date(base).cloned())
        .or_else(|| if alone { find_nearby_due_date(scored, page, base) } else { None });
    let money = money::find_largest_amount(&scored.sentence.normalised);
    let seen = KindHints { has_date: due.is_some(), has_amount: money.is_some() };
    let kind = choose_task_kind(scored, &clause, page, mail, &seen);
    let voice = objective_writer(mail, page).in_language(scored.sentence.language);
    let mut task = new_task(kind, mail, scored.sentence.raw);
    task.objective = match kind {
        TaskKind::Meeting => {
            let said = page.sentences.iter().map(|scored| scored.sentence.normalised.as_str());
            task.meeting_duration = said.chain([page.subject.as_str()]).find_map(money::find_meeting_duration);
            let described =
                if page.subject_has(Feature::Meeting) { &page.subject } else { &scored.sentence.normalised };
            let is_turned = voice.language == Language::German && clause.kind == ClauseKind::Act;
            if arranges_for_others(&clause) || is_turned {
                voice.write_request(&clause)
            } else {
                voice.write_meeting(
                    &format!("{} {described}", scored.sentence.normalised),
                    task.meeting_duration.as_deref(),
                )
            }
        }
        TaskKind::Deadline if voice.language == Language::German && clause.kind == ClauseKind::Act => {
            voice.write_request(&clause)
        }
        TaskKind::Deadline => voice.fill(Template::Deadline, &clause.text),
        _ => voice.write_request(&clause),
    };
    if let Some(about) = find_referent(&clause, scored, page) {
        task.objective = append_referent(&task.objective, about);
    }
    task.amount = money.as_ref().map(|money| money.amount);
    task.currency = money.map(|money| money.currency.to_owned());
    set_due_date_and_steps(&mut task, due, mail);
    task
}

/// "Book a room for the kick-off", "schedule a call with the client": the words say more than "a meeting with" the sender.
fn arranges_for_others(clause: &Clause) -> bool {
    const VERBS: &[&str] = &["book", "schedule", "arrange", "set", "organise", "organize", "plan", "reserve", "cancel"];
    let lower = format!(" {} ", clause.text.to_lowercase());
    let with_sender =
        [" with me ", " with us ", " with you ", " together ", " we "].iter().any(|with| lower.contains(with));
    let others = [" with ", " for ", " room", " agenda"].iter().any(|with| lower.contains(with));
    clause.kind == ClauseKind::Act && VERBS.contains(&clause.verb.as_str()) && others && !with_sender
}

/// "Can you get that from Julia?": what "that" is, when it was said just before.
fn find_referent<'a>(clause: &Clause, scored: &ScoredSentence<'a>, page: &AnnotatedMail<'a>) -> Option<&'a str> {
    let language = scored.sentence.language;
    let text = clause.text.to_lowercase();
    // The verb stands first, but not in German.
    let from = usize::from(language != Language::German);
    let mut near = text.split_whitespace().skip(from).take(3).map(|word| word.trim_matches([',', '.', '?']));
    let points = near.any(|word| Lexicon::of(language).has_word(WordList::PointingWords, word));
    if clause.kind != ClauseKind::Act || !points || words(&text).count() > 7 {
        return None;
    }
    let head = clause.text.split(' ').nth(from)?;
    let own = scored.sentence.raw.split([',', '–', '—', ';']).next().and_then(|part| part.split(" - ").next())?;
    let inside = !own.contains(head) && words(own).count() >= 3;
    let at = page.sentences.iter().position(|other| std::ptr::eq(other, scored))?;
    let before = at.checked_sub(1).and_then(|at| page.sentences.get(at)).map(|scored| scored.sentence.raw);
    if inside { Some(own) } else { before.filter(|before| words(before).count() >= 3) }
}

fn append_referent(objective: &str, about: &str) -> String {
    let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{} ({})", objective.trim_end_matches('.'), truncate_at_word(about.trim_end_matches(['.', '!', ':']), 60))
}

/// A limit said in a sentence of its own ("I need it by Friday"), or the day of the subject.
fn find_nearby_due_date(
    scored: &ScoredSentence<'_>,
    page: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
) -> Option<DueDate> {
    let at = page.sentences.iter().position(|other| std::ptr::eq(other, scored)).unwrap_or(0);
    let close = |(other, scored): &(usize, &ScoredSentence<'_>)| {
        *other != at && (scored.has(Feature::Due) || other.abs_diff(at) <= 3)
    };
    let others = page.sentences.iter().enumerate().filter(close).map(|(_, other)| other);
    let dues: Vec<&DueDate> = others.take(12).filter_map(|other| other.due_date(base)).collect();
    let limit = dues.iter().find(|due| due.is_limit);
    let only = || if scored.has(Feature::Meeting) { dues.first() } else { None };
    limit.or_else(only).map(|due| (*due).clone()).or_else(|| date::find_due_date(&page.subject, base))
}

/// An invoice is a task whether or not it says please: a number, a sum or a day, and nothing that says it is paid.
pub(in crate::reading) fn plan_invoice_task(
    mail: &Mail,
    page: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
) -> Option<ExtractedTask> {
    if !page.has(Feature::Invoice) || page.has(Feature::Receipt) {
        return None;
    }
    let speaks = page.sentences.iter().filter(|scored| scored.has(Feature::Invoice));
    let money = page
        .sentences
        .iter()
        .filter_map(|scored| money::find_largest_amount(&scored.sentence.normalised))
        .max_by(|a, b| a.amount.total_cmp(&b.amount))?;
    let number = std::iter::once(mail.subject.as_str())
        .chain(page.sentences.iter().map(|scored| scored.sentence.raw))
        .find_map(money::find_invoice_number);
    let wanted = page.has(Feature::Due) || page.count(Feature::Invoice) >= 2;
    let others = page.sentences.iter().any(|s| s.has(Feature::AsksYou) && !s.has(Feature::Invoice));
    if !wanted || (number.is_none() && !page.subject_has(Feature::Invoice)) || others {
        return None;
    }
    let evidence = speaks
        .max_by(|a, b| a.logit_in_mail.total_cmp(&b.logit_in_mail))
        .map_or(mail.subject.as_str(), |scored| scored.sentence.raw);
    let dues = page.sentences.iter().filter_map(|scored| scored.due_date(base));
    let due = dues.max_by_key(|due| due.is_limit).cloned();
    let mut task = new_task(TaskKind::Invoice, mail, evidence);
    task.objective = objective_writer(mail, page).write_invoice(number.as_deref(), Some(&money));
    task.amount = Some(money.amount);
    task.currency = Some(money.currency.to_owned());
    task.invoice_number = number;
    set_due_date_and_steps(&mut task, due, mail);
    Some(task)
}

pub(in crate::reading) fn objective_writer<'a>(mail: &'a Mail, page: &AnnotatedMail<'_>) -> ObjectiveWriter<'a> {
    ObjectiveWriter { person: mail.from.label(), subject: mail.subject.trim(), language: page.language }
}

pub(in crate::reading) fn new_task(kind: TaskKind, mail: &Mail, evidence: &str) -> ExtractedTask {
    let person = Some(mail.from.label()).filter(|label| !label.is_empty()).map(str::to_owned);
    ExtractedTask {
        kind,
        objective: String::new(),
        person,
        deadline: None,
        due_at: None,
        meeting_duration: None,
        amount: None,
        currency: None,
        invoice_number: None,
        evidence: evidence.to_owned(),
        steps: choose_steps(kind, TemplateContext { has_due_date: false, in_thread: !mail.references.is_empty() }),
    }
}

pub(in crate::reading) fn set_due_date_and_steps(task: &mut ExtractedTask, due: Option<DueDate>, mail: &Mail) {
    task.steps = choose_steps(
        task.kind,
        TemplateContext { has_due_date: due.is_some(), in_thread: !mail.references.is_empty() },
    );
    if let Some(due) = due {
        task.deadline = Some(due.deadline);
        task.due_at = Some(due.at);
    }
}
