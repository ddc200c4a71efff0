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
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
) -> ExtractedTask {
    let clause = extract_clause(scored);
    let due = find_own_due_date(&clause, scored, alone, annotated, base);
    let money = money::find_largest_amount(&scored.sentence.normalised);
    let seen = KindHints { has_date: due.is_some(), has_amount: money.is_some() };
    let kind = choose_task_kind(scored, &clause, annotated, mail, &seen);
    let writer = objective_writer(mail, annotated).in_language(scored.sentence.language);
    let mut task = new_task(kind, mail, scored.sentence.raw);
    task.objective = match kind {
        TaskKind::Meeting => {
            let said = annotated.sentences.iter().map(|scored| scored.sentence.normalised.as_str());
            task.meeting_duration = said.chain([annotated.subject.as_str()]).find_map(money::find_meeting_duration);
            let described =
                if annotated.subject_has(Feature::Meeting) { &annotated.subject } else { &scored.sentence.normalised };
            let is_turned = writer.language == Language::German && clause.kind == ClauseKind::Act;
            if arranges_for_others(&clause) || is_turned {
                writer.write_request(&clause)
            } else {
                writer.write_meeting(
                    &format!("{} {described}", scored.sentence.normalised),
                    task.meeting_duration.as_deref(),
                )
            }
        }
        TaskKind::Deadline if writer.language == Language::German && clause.kind == ClauseKind::Act => {
            writer.write_request(&clause)
        }
        TaskKind::Deadline => writer.fill(Template::Deadline, &clause.text),
        _ => writer.write_request(&clause),
    };
    if let Some(about) = find_referent(&clause, scored, annotated) {
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
fn find_referent<'a>(clause: &Clause, scored: &ScoredSentence<'a>, annotated: &AnnotatedMail<'a>) -> Option<&'a str> {
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
    let at = annotated.sentences.iter().position(|other| std::ptr::eq(other, scored))?;
    let before = at.checked_sub(1).and_then(|at| annotated.sentences.get(at)).map(|scored| scored.sentence.raw);
    if inside { Some(own) } else { before.filter(|before| words(before).count() >= 3) }
}

fn append_referent(objective: &str, about: &str) -> String {
    let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{} ({})", objective.trim_end_matches('.'), truncate_at_word(about.trim_end_matches(['.', '!', ':']), 60))
}

/// The time that the request names, or its sentence, or the mail around it: a vague one ("next week", "who is coming on
/// the 5th") only when nothing else in the mail is clearer.
fn find_own_due_date(
    clause: &Clause,
    scored: &ScoredSentence<'_>,
    alone: bool,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
) -> Option<DueDate> {
    let in_clause = date::find_due_date(&clause.text.to_lowercase(), base);
    let in_sentence = scored.due_date(base).cloned();
    // A clause may end within a date: "am Montag, den 22. Juni um 14 Uhr".
    let is_cut = in_clause.as_ref().zip(in_sentence.as_ref()).is_some_and(|(clause, sentence)| {
        clause.day() == sentence.day() && clause.deadline.len() < sentence.deadline.len()
    });
    let (first, second) = if is_cut { (in_sentence, in_clause) } else { (in_clause, in_sentence) };
    let own = first.into_iter().chain(second).reduce(DueDate::clearer);
    if own.as_ref().is_some_and(|due| due.is_limit || due.is_clear) {
        return own;
    }
    let nearby = if alone { find_nearby_due_date(scored, annotated, base) } else { find_day_of_mail(annotated, base) };
    own.into_iter().chain(nearby).reduce(DueDate::clearer)
}

/// A longer mail is no short note about one day.
const MOST_DATED_SENTENCES: usize = 12;
/// So many sentences before and after a request may name its time.
const NEARBY: usize = 3;

/// A limit said in a sentence of its own ("I need it by Friday"), the day of the subject, or the one day that the sentences
/// around the request name.
fn find_nearby_due_date(
    scored: &ScoredSentence<'_>,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
) -> Option<DueDate> {
    let at = annotated.sentences.iter().position(|other| std::ptr::eq(other, scored)).unwrap_or(0);
    let close = |(other, scored): &(usize, &ScoredSentence<'_>)| {
        *other != at && (scored.has(Feature::Due) || other.abs_diff(at) <= NEARBY)
    };
    let others = annotated.sentences.iter().enumerate().filter(close).map(|(_, other)| other);
    // What the writer promises by a day is no limit for the reader.
    let asked = others.take(MOST_DATED_SENTENCES).filter(|other| !other.has(Feature::Commits));
    let dues: Vec<&DueDate> = asked.filter_map(|other| other.due_date(base)).collect();
    let limit = dues.iter().find(|due| due.is_limit);
    let meeting = || if scored.has(Feature::Meeting) { dues.first() } else { None };
    let subject = || date::find_due_date(&annotated.subject, base);
    limit.or_else(meeting).map(|due| (*due).clone()).or_else(subject).or_else(|| find_only_day(&dues))
}

/// The one day that a mail names beside the things it asks, for each of them.
fn find_day_of_mail(annotated: &AnnotatedMail<'_>, base: &ReferenceTime<'_>) -> Option<DueDate> {
    let told = annotated.sentences.iter().take(MOST_DATED_SENTENCES);
    let told = told.filter(|other| !other.has(Feature::Commits) && !other.asks());
    find_only_day(&told.filter_map(|other| other.due_date(base)).collect::<Vec<_>>())
}

/// The clearest of the times when all of them are on one day.
fn find_only_day(dues: &[&DueDate]) -> Option<DueDate> {
    let clear = || dues.iter().filter(|due| due.is_clear);
    let first = clear().next()?;
    let is_only = clear().all(|due| due.is_only_day && due.day() == first.day());
    is_only.then(|| clear().map(|due| (*due).clone()).max_by_key(|due| due.deadline.len()))?
}

/// An invoice is a task whether or not it says please: a number, a sum or a day, and nothing that says it is paid.
pub(in crate::reading) fn plan_invoice_task(
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
) -> Option<ExtractedTask> {
    if !annotated.has(Feature::Invoice) || annotated.has(Feature::Receipt) {
        return None;
    }
    let speaks = annotated.sentences.iter().filter(|scored| scored.has(Feature::Invoice));
    let money = annotated
        .sentences
        .iter()
        .filter_map(|scored| money::find_largest_amount(&scored.sentence.normalised))
        .max_by(|a, b| a.amount.total_cmp(&b.amount))?;
    let number = std::iter::once(mail.subject.as_str())
        .chain(annotated.sentences.iter().map(|scored| scored.sentence.raw))
        .find_map(money::find_invoice_number);
    let wanted = annotated.has(Feature::Due) || annotated.count(Feature::Invoice) >= 2;
    let others = annotated.sentences.iter().any(|s| s.has(Feature::AsksYou) && !s.has(Feature::Invoice));
    if !wanted || (number.is_none() && !annotated.subject_has(Feature::Invoice)) || others {
        return None;
    }
    let evidence = speaks
        .max_by(|a, b| a.logit_in_mail.total_cmp(&b.logit_in_mail))
        .map_or(mail.subject.as_str(), |scored| scored.sentence.raw);
    let dues = annotated.sentences.iter().filter_map(|scored| scored.due_date(base));
    let due = dues.max_by_key(|due| due.is_limit).cloned();
    let mut task = new_task(TaskKind::Invoice, mail, evidence);
    task.objective = objective_writer(mail, annotated).write_invoice(number.as_deref(), Some(&money));
    task.amount = Some(money.amount);
    task.currency = Some(money.currency.to_owned());
    task.invoice_number = number;
    set_due_date_and_steps(&mut task, due, mail);
    Some(task)
}

pub(in crate::reading) fn objective_writer<'a>(mail: &'a Mail, annotated: &AnnotatedMail<'_>) -> ObjectiveWriter<'a> {
    ObjectiveWriter { person: mail.from.label(), subject: mail.subject.trim(), language: annotated.language }
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
