//! From a sentence that asks to a planned task: kind, objective, person, deadline, amounts, steps.
//!
//! Owns how a task is filled. Whether there is one was decided before.

use crate::date::{self, DueDate, ReferenceTime};
use crate::model::{ExtractedTask, Mail, TaskKind};
use crate::reading::{
    conversation::says,
    language::Language,
    lexicon::{Feature, Lexicon, WordList},
    mail::annotated_mail::AnnotatedMail,
    sentence::{
        clause::{Clause, ClauseKind, extract_clause},
        score::ScoredSentence,
        text::{normalise, normalise_spaces_and_quotes, words},
    },
    task::{
        asked::{find_asked, kind_for_asked},
        meeting_times::{asks_about_time, asks_to_come, asks_to_meet},
        money,
        objective::ObjectiveWriter,
        referent::{append_referent, find_referent},
        request_time::{find_meeting_time, find_times_of_request, is_answerable},
        task_kind::{KindHints, choose_task_kind},
        template::{TemplateContext, choose_steps},
        topic::clean_subject,
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
    let clause = complete_clause(extract_clause(scored), scored, annotated);
    let due = find_own_due_date(&clause, scored, alone, annotated, base);
    let money = money::find_largest_amount(&scored.sentence.normalised);
    let seen = KindHints { has_date: due.is_some(), has_amount: money.is_some() };
    let asked = find_asked(scored, !mail.attachments.is_empty());
    let kind = kind_for_asked(choose_task_kind(scored, &clause, annotated, mail, &seen), asked, &clause, scored);
    let asked_times = find_times_of_request(kind, scored, mail, annotated, base);
    // "Does Thursday at ten suit you?" is a meeting, whatever it is called.
    let is_meeting = asked_times.is_some()
        && is_answerable(kind)
        && (asks_to_meet(scored)
            || kind == TaskKind::Question && !asks_to_come(scored)
            || kind == TaskKind::Request && !asks_about_time(scored) && !asks_to_come(scored));
    let kind = if is_meeting { TaskKind::Meeting } else { kind };
    let mut task = new_task(kind, mail, scored.sentence.raw);
    if kind == TaskKind::Meeting {
        let said = annotated.sentences.iter().map(|scored| scored.sentence.normalised.as_str());
        task.meeting_duration = said.chain([annotated.subject.as_str()]).find_map(money::find_meeting_duration);
    }
    task.objective = write_objective(&task, &clause, scored, mail, annotated);
    task.amount = money.as_ref().map(|money| money.amount);
    task.currency = money.map(|money| money.currency.to_owned());
    task.asked = asked;
    task.asks_for_file = is_answerable(kind) && says(scored, WordList::FileWishes);
    if asked_times.is_some() && task.meeting_duration.is_none() {
        let said = annotated.sentences.iter().map(|scored| scored.sentence.normalised.as_str());
        task.meeting_duration = said.into_iter().find_map(money::find_meeting_duration);
    }
    task.wants_answer = wants_answer(kind, &clause, scored);
    task.asked_times = asked_times;
    task.happens_at = find_meeting_time(&task, scored, base);
    set_due_date_and_steps(&mut task, due, mail);
    task
}

/// The line of a task, with what it is about.
fn write_objective(
    task: &ExtractedTask,
    clause: &Clause,
    scored: &ScoredSentence<'_>,
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
) -> String {
    let mut writer = objective_writer(mail, annotated).in_language(scored.sentence.language);
    let lacks_subject = writer.subject.is_empty();
    let mut referent = find_referent(clause, scored, annotated, lacks_subject);
    if referent.is_some() {
        writer.subject = "";
    }
    let is_turned = clause.kind == ClauseKind::Act
        && (writer.language == Language::German
            || matches!(clause.verb.as_str(), "come" | "join" | "attend" | "meet")
            || has_somebody_act(clause))
        || clause.kind == ClauseKind::Tell && words(&clause.text).count() > 2;
    let objective = match task.kind {
        TaskKind::Meeting if !arranges_for_others(clause) && !is_turned => {
            let described =
                if annotated.subject_has(Feature::Meeting) { &annotated.subject } else { &scored.sentence.normalised };
            let plain = format!("{} {described}", scored.sentence.normalised);
            let says_topic = clause.whole.chars().count() <= LONGEST_TOPIC && !annotated.is_one_sentence();
            // Without a subject the sentence says what is to be talked about.
            if lacks_subject && says_topic {
                referent = Some(clause.whole.clone());
            }
            writer.write_meeting(&plain, task.meeting_duration.as_deref())
        }
        TaskKind::Deadline if clause.kind == ClauseKind::Whole => writer.fill(Template::Deadline, &clause.whole),
        TaskKind::Question if clause.kind == ClauseKind::Answer => {
            let more = annotated.count_other_questions(scored, &clause.whole);
            writer.count_questions(writer.write_request(clause), more)
        }
        _ => writer.write_request(clause),
    };
    match referent {
        Some(about) => append_referent(&objective, &about, writer.language),
        None => objective,
    }
}

/// A longer sentence names no topic of a meeting.
const LONGEST_TOPIC: usize = 100;

/// Whether an answer is all that is asked for. A question that asks to bring or to pay wants more.
fn wants_answer(kind: TaskKind, clause: &Clause, scored: &ScoredSentence<'_>) -> bool {
    let lexicon = Lexicon::of(scored.sentence.language);
    let asks_for_act = || {
        let is_ordered = scored.features.has_any(&[Feature::AsksYou, Feature::Please, Feature::Imperative]);
        scored.sentence.words().any(|word| lexicon.has_word(WordList::ActVerbs, word))
            && (is_ordered || !says(scored, WordList::InfoQuestions))
    };
    match kind {
        TaskKind::Meeting | TaskKind::Invitation => true,
        TaskKind::Question => !asks_for_act(),
        TaskKind::Request | TaskKind::Deadline | TaskKind::Review => {
            lexicon.has_word(WordList::AnswerVerbs, &clause.verb) || says(scored, WordList::ByReply)
        }
        _ => false,
    }
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

/// "Have somebody call me": no meeting of the reader's.
fn has_somebody_act(clause: &Clause) -> bool {
    const WHOM: &[&str] = &["somebody", "someone", "anybody", "anyone", "your", "the", "him", "her", "them"];
    clause.verb == "have" && words(&clause.text).nth(1).is_some_and(|whom| WHOM.contains(&whom))
}

/// "Is anyone free for lunch? Let me know.": what is to be answered is the question before. A short question gets the
/// sentence that it points at.
fn complete_clause(clause: Clause, scored: &ScoredSentence<'_>, annotated: &AnnotatedMail<'_>) -> Clause {
    const NEARBY: usize = 4;
    const LONGEST_QUOTE: usize = 120;
    const SHORT_SENTENCE: usize = 8;
    let Some(at) = annotated.sentences.iter().position(|other| std::ptr::eq(other, scored)) else { return clause };
    let before = annotated.sentences.get(at.saturating_sub(NEARBY)..at).unwrap_or_default();
    let language = scored.sentence.language;
    let is_bare_tell =
        clause.kind == ClauseKind::Tell && (words(&clause.text).next().is_none() || clause.is_only_time());
    if is_bare_tell || (language == Language::Hebrew && is_bare_hebrew_tell(&clause)) {
        let question = before.iter().rev().find(|other| other.sentence.raw.trim_end().ends_with('?'));
        // "יובל בא?": two words of Hebrew ask a whole question.
        let least = if language == Language::Hebrew { 2 } else { 3 };
        let asked = question.map(extract_clause).filter(|asked| words(&asked.whole).count() >= least);
        let said = clause.whole.split([',', ';']).next().unwrap_or_default();
        let is_long = is_bare_tell && words(said).count() > SHORT_SENTENCE;
        let kind = if is_long { ClauseKind::Whole } else { clause.kind };
        return asked.map_or(Clause { kind, ..clause }, |asked| Clause { kind: ClauseKind::Answer, ..asked });
    }
    let lexicon = Lexicon::of(language);
    let wishes = lexicon.words(WordList::AnswerWishes).iter();
    let wishes_answer = wishes.into_iter().any(|wish| normalise(&clause.whole).contains(wish.as_str()));
    let points = |word: &str| wishes_answer || lexicon.has_word(WordList::PointingQuestions, word);
    let is_quoted = wishes_answer || matches!(clause.kind, ClauseKind::Answer | ClauseKind::Whole);
    let is_short = words(&clause.whole).count() <= SHORT_SENTENCE;
    if !is_quoted || !is_short || !words(&normalise(&clause.whole)).any(points) {
        return clause;
    }
    let named = before.last().map(|other| other.sentence.raw.trim()).filter(|raw| words(raw).count() >= 4);
    let widened = named.map(|raw| format!("{raw} {}", clause.whole));
    match widened.filter(|text| text.chars().count() <= LONGEST_QUOTE) {
        Some(whole) => Clause { whole: normalise_spaces_and_quotes(&whole), ..clause },
        None => clause,
    }
}

/// "תגידי לי עד מחר": says when, and not what.
fn is_bare_hebrew_tell(clause: &Clause) -> bool {
    const MOST_WORDS: usize = 5;
    let lexicon = Lexicon::of(Language::Hebrew);
    let told = |word: &str| {
        matches!(word, "אם" | "האם" | "מה" | "מתי" | "כמה" | "איפה" | "איזה" | "איזו" | "מי" | "את")
            || word.starts_with('ש')
    };
    let text = clause.text.split(" כי ").next().unwrap_or_default();
    lexicon.has_word(WordList::AnswerVerbs, &clause.verb) && words(text).count() <= MOST_WORDS && !words(text).any(told)
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
    // Or before it: "bis Donnerstag, den 30. April".
    let is_cut = is_cut
        || in_clause.as_ref().zip(in_sentence.as_ref()).is_some_and(|(clause, sentence)| {
            sentence.is_limit >= clause.is_limit
                && clause.day() < sentence.day()
                && clause.weekday() == sentence.weekday()
        });
    let (first, second) = if is_cut { (in_sentence, in_clause) } else { (in_clause, in_sentence) };
    let own = first.into_iter().chain(second).reduce(DueDate::clearer);
    if own.as_ref().is_some_and(|due| due.is_limit) {
        return own;
    }
    // "May we have it on the 9th? Let me know by the weekend.": the answer is due before the day itself.
    let answer_by = || find_answer_limit(scored, annotated, base).filter(|_| alone);
    if own.as_ref().is_some_and(|due| due.is_clear) {
        return answer_by().filter(|limit| own.as_ref().is_some_and(|own| limit.at < own.at)).or(own);
    }
    if own.is_none()
        && let Some(pointed) = find_pointed_date(scored, annotated, base)
    {
        return Some(pointed);
    }
    let nearby = if alone { find_nearby_due_date(scored, annotated, base) } else { find_day_of_mail(annotated, base) };
    own.into_iter().chain(nearby).reduce(DueDate::clearer)
}

/// The limit that the next sentence sets for the answer.
fn find_answer_limit(
    scored: &ScoredSentence<'_>,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
) -> Option<DueDate> {
    let at = annotated.sentences.iter().position(|other| std::ptr::eq(other, scored))?;
    let after = annotated.sentences.iter().skip(at + 1).take(2);
    let said = after.filter(|other| other.features.has_any(&[Feature::LetMeKnow, Feature::AsksYou, Feature::Please]));
    said.filter_map(|other| other.due_date(base)).find(|due| due.is_limit).cloned()
}

/// "He is free on Thursday at 10. Would that work?": the day that the sentence before names.
fn find_pointed_date(
    scored: &ScoredSentence<'_>,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
) -> Option<DueDate> {
    let points = |word: &str| Lexicon::of(scored.sentence.language).has_word(WordList::PointingTimes, word);
    if scored.sentence.words().count() > SHORT_QUESTION || !scored.sentence.words().any(points) {
        return None;
    }
    let at = annotated.sentences.iter().position(|other| std::ptr::eq(other, scored))?;
    let before = annotated.sentences.get(at.saturating_sub(2)..at)?;
    before.iter().rev().find_map(|other| other.due_date(base).filter(|due| due.is_clear)).cloned()
}

/// The most words of a question that only points at what was said before it.
const SHORT_QUESTION: usize = 9;

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
    let asked =
        others.take(MOST_DATED_SENTENCES).filter(|other| !other.has(Feature::Commits) && !tells_of_writer(other));
    let dues: Vec<&DueDate> = asked.filter_map(|other| other.due_date(base)).collect();
    let pointed = || find_pointed_limit(at, annotated, base);
    let limit = dues.iter().copied().find(|due| due.is_limit).or_else(pointed);
    let meeting = || if scored.has(Feature::Meeting) { dues.first().copied() } else { None };
    let subject = || date::find_due_date(&annotated.subject, base);
    limit.or_else(meeting).cloned().or_else(subject).or_else(|| find_only_day(&dues))
}

/// "I am in Kassel until Saturday": where the writer is sets no limit for the reader.
fn tells_of_writer(scored: &ScoredSentence<'_>) -> bool {
    use Feature::{Deadline, Hopes, LetMeKnow, Needs};
    let lexicon = Lexicon::of(scored.sentence.language);
    let mut said = scored.sentence.words();
    let is_writer = said.next().is_some_and(|word| lexicon.has_word(WordList::WriterSubjects, word));
    let is_there = said.next().is_some_and(|word| lexicon.has_word(WordList::Presence, word));
    let is_short = || matches!(scored.sentence.words().next(), Some("i'm" | "we're"));
    is_writer
        && (is_there || is_short())
        && !scored.asks()
        && !scored.features.has_any(&[Deadline, Hopes, LetMeKnow, Needs])
}

/// "We marry on July 9. Is it possible until then? What would it cost?": the day before a sentence near the request that
/// makes it the limit.
fn find_pointed_limit<'p>(
    at: usize,
    annotated: &'p AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
) -> Option<&'p DueDate> {
    let near = annotated.sentences.get(at.saturating_sub(NEARBY)..annotated.sentences.len().min(at + NEARBY + 1))?;
    let pointing = at.saturating_sub(NEARBY) + near.iter().position(|near| says(near, WordList::PointingLimits))?;
    let before = annotated.sentences.get(pointing.saturating_sub(NEARBY)..pointing)?;
    before.iter().rev().find_map(|before| before.due_date(base))
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
    let own = || annotated.sentences.iter().filter(|scored| !scored.is_for_program);
    let money = own()
        .filter_map(|scored| money::find_largest_amount(&scored.sentence.normalised))
        .max_by(|a, b| a.amount.total_cmp(&b.amount))?;
    let number = std::iter::once(mail.subject.as_str())
        .chain(own().map(|scored| scored.sentence.raw))
        .find_map(money::find_invoice_number);
    let wanted = annotated.has(Feature::Due) || annotated.count(Feature::Invoice) >= 2;
    let others = annotated.sentences.iter().any(|s| s.has(Feature::AsksYou) && !s.has(Feature::Invoice));
    let is_answer = own().any(|scored| scored.has(Feature::Invoice) && acknowledges_invoice(scored));
    if !wanted || (number.is_none() && !annotated.subject_has(Feature::Invoice)) || others || is_answer {
        return None;
    }
    let evidence = own()
        .filter(|scored| scored.has(Feature::Invoice))
        .max_by(|a, b| a.logit_in_mail.total_cmp(&b.logit_in_mail))
        .map_or(mail.subject.as_str(), |scored| scored.sentence.raw);
    let due = own().filter_map(|scored| scored.due_date(base)).max_by_key(|due| due.is_limit).cloned();
    let mut task = new_task(TaskKind::Invoice, mail, evidence);
    task.objective = objective_writer(mail, annotated).write_invoice(number.as_deref(), Some(&money));
    task.amount = Some(money.amount);
    task.currency = Some(money.currency.to_owned());
    task.invoice_number = number;
    set_due_date_and_steps(&mut task, due, mail);
    Some(task)
}

/// "We've got your September invoice": the reader wrote it, and others pay.
fn acknowledges_invoice(scored: &ScoredSentence<'_>) -> bool {
    const REACH: usize = 4;
    let lexicon = Lexicon::of(scored.sentence.language);
    let said: Vec<&str> = scored.sentence.words().collect();
    let is_invoice = |word: &&str| lexicon.has_word(WordList::InvoiceWords, word);
    said.iter().enumerate().any(|(at, word)| {
        let near = |from: usize| said.get(from..said.len().min(from + REACH)).unwrap_or_default();
        lexicon.has_word(WordList::ReaderPossessives, word)
            && near(at + 1).iter().any(is_invoice)
            && near(at.saturating_sub(REACH)).iter().any(|before| lexicon.has_word(WordList::InvoiceReceipts, before))
    })
}

pub(in crate::reading) fn objective_writer<'a>(mail: &'a Mail, annotated: &AnnotatedMail<'_>) -> ObjectiveWriter<'a> {
    ObjectiveWriter { person: mail.from.label(), subject: clean_subject(&mail.subject), language: annotated.language }
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
        steps: choose_steps(
            kind,
            TemplateContext { in_thread: !mail.references.is_empty(), ..TemplateContext::default() },
        ),
        wants_answer: kind == TaskKind::Invitation,
        happens_at: None,
        asked_times: None,
        asked: None,
        asks_for_file: false,
        file: None,
    }
}

pub(in crate::reading) fn set_due_date_and_steps(task: &mut ExtractedTask, due: Option<DueDate>, mail: &Mail) {
    task.steps = choose_steps(
        task.kind,
        TemplateContext {
            has_due_date: due.is_some(),
            in_thread: !mail.references.is_empty(),
            asks_for_time: task.asked_times.is_some(),
        },
    );
    if let Some(due) = due {
        task.deadline = Some(due.deadline);
        task.due_at = Some(due.at);
    }
}
