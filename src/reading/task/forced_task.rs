//! When a person says it is a task: one is made, whatever the reading says. And dates typed by hand.

use crate::date::{self, ReferenceTime};
use crate::model::{ExtractedTask, Instant, Mail, Me, TaskKind};
use crate::reading::{
    lexicon::Feature,
    mail::annotated_mail::AnnotatedMail,
    read::ReadContext,
    sentence::text,
    task::{
        money,
        objective::MAX_OBJECTIVE_CHARS,
        plan::{new_task, plan_invoice_task, plan_task, set_due_date_and_steps},
        shorten::truncate_at_word,
    },
};

/// The task of a mail that a person calls one: the invoice, or else the sentence that asks most, or else the subject as
/// a request, with the date and the amount that the mail names.
pub fn plan_forced_task(mail: &Mail, context: &ReadContext<'_>) -> ExtractedTask {
    let annotated = AnnotatedMail::new(mail, context.me, &[]);
    let base = ReferenceTime::new(mail.date.unwrap_or(context.now), context.me);
    if let Some(invoice) = plan_invoice_task(mail, &annotated, &base) {
        return invoice;
    }
    let asking = annotated.sentences.iter().filter(|scored| scored.asks() && !scored.is_for_program);
    if let Some(scored) = asking.max_by(|a, b| a.logit_in_mail.total_cmp(&b.logit_in_mail)) {
        return plan_task(scored, true, mail, &annotated, &base);
    }
    plan_named_task(mail, &annotated, &base)
}

/// The subject, or the first sentence, as a request. A bill is one to pay, whatever its words are.
fn plan_named_task(mail: &Mail, annotated: &AnnotatedMail<'_>, base: &ReferenceTime<'_>) -> ExtractedTask {
    let sentences = text::split_sentences(&mail.text);
    let first = sentences.first().map_or("", |sentence| sentence.raw);
    let subject = mail.subject.trim();
    let amounts = sentences.iter().filter_map(|sentence| money::find_largest_amount(&sentence.normalised));
    let money = amounts.max_by(|a, b| a.amount.total_cmp(&b.amount));
    let is_bill = money.is_some() && annotated.has(Feature::Invoice);
    let kind = if is_bill { TaskKind::Invoice } else { TaskKind::Request };
    let mut task = new_task(kind, mail, if first.is_empty() { subject } else { first });
    let about = if subject.is_empty() { first } else { subject };
    task.objective = truncate_at_word(if about.is_empty() { "Look at this mail" } else { about }, MAX_OBJECTIVE_CHARS);
    task.amount = money.as_ref().map(|money| money.amount);
    task.currency = money.map(|money| money.currency.to_owned());
    let due = sentences.iter().find_map(|sentence| date::find_due_date(&sentence.normalised, base));
    set_due_date_and_steps(&mut task, due, mail);
    task
}

/// The task to archive a mail, which a person asked for.
pub fn plan_archive_task(mail: &Mail) -> ExtractedTask {
    let subject = mail.subject.trim();
    let mut task = new_task(TaskKind::Request, mail, subject);
    let about = if subject.is_empty() { mail.from.label() } else { subject };
    task.objective = format!("Archive “{}”", truncate_at_word(about, 100));
    task.steps = vec!["archive".into()];
    task
}

/// A date or time as a person types it: as precise as it was said, and the instant it means.
pub fn parse_typed_date(typed: &str, me: &Me, now: Instant) -> Option<(String, Instant)> {
    date::find_typed_due_date(&text::normalise(typed.trim()), &ReferenceTime::new(now, me))
        .map(|due| (due.deadline, due.at))
}

/// The start of what an expression of time names, by the clock on the person's wall.
pub fn moment(typed: &str, me: &Me, now: Instant) -> Option<chrono::NaiveDateTime> {
    date::find_start(&text::normalise(typed.trim()), &ReferenceTime::new(now, me))
}
