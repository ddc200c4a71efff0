//! The reading of one mail, from envelope to planned tasks.
//!
//! Owns the order of questions: whose mail, what sort, which sentences ask, which of them are one request. No question
//! here reaches a clock, a file or a model.

use super::{
    appointment::find_appointments,
    language::Language,
    learned::{Head, MailScores, PredictedClass, score_mail},
    lexicon::Feature,
};
use crate::date::ReferenceTime;
use crate::model::{ExtractedTask, Instant, Mail, Me, Reading, SentenceScores, TaskKind, WarningKind, reading::NoTask};
use crate::reading::{
    mail::{
        annotated_mail::AnnotatedMail,
        category::{MailCategory, categorise_by_envelope, categorise_mail},
        requests::{find_distinct_requests, is_table},
        service,
        warnings::{self, FoundWarnings},
    },
    sentence::{
        score::{ScoredSentence, THRESHOLD, logistic},
        text::words,
    },
    task::{
        asked::join_receipt_with_question,
        meeting_times::find_offered_time,
        money,
        objective::truncate_at_word,
        own_mail,
        plan::{new_task, objective_writer, plan_invoice_task, plan_task, set_due_date_and_steps},
        urgency::estimate_urgency,
        wording::Template,
    },
};

/// What the caller knows that the mail does not say.
#[derive(Debug, Clone, Copy)]
pub struct ReadContext<'a> {
    pub me: &'a Me,
    /// When the mail arrived; counts when it has no Date.
    pub now: Instant,
    /// The person has written to the sender before.
    pub known_contact: bool,
    /// The person has written in this thread.
    pub thread_mine: bool,
    /// What the second reader says about the sentences in doubt; empty without one.
    pub second_reading: &'a [SentenceScores],
    /// The person has said that the mail is genuine: it is read without suspicion.
    pub is_genuine: bool,
}

/// Is there a task, which, for whom, by when.
pub fn read(mail: &Mail, context: &ReadContext<'_>) -> Reading {
    let annotated = annotate_mail(mail, context);
    let base = ReferenceTime::new(mail.date.unwrap_or(context.now), context.me);
    let scores = score_mail(mail, &annotated, &base, context.me);
    read_annotated(mail, &annotated, &base, &scores, context)
}

/// Lays out the mail for reading.
pub(super) fn annotate_mail<'a>(mail: &'a Mail, context: &ReadContext<'_>) -> AnnotatedMail<'a> {
    let mut annotated = AnnotatedMail::new(mail, context.me, context.second_reading);
    if context.is_genuine {
        annotated.take_as_genuine();
    }
    annotated
}

/// Reads a mail that is laid out and scored.
pub(super) fn read_annotated(
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
    scores: &MailScores<'_>,
    context: &ReadContext<'_>,
) -> Reading {
    let found = warnings::find_warnings(mail, annotated, scores, context);
    let verdict = decide_outcome(mail, annotated, base, scores, context).heed(&found);
    let personal = scores.predicted_class() == PredictedClass::Personal;
    let meeting = annotated.sentences.iter().any(|scored| scored.logit_meets > 0.0) || mail.invite.is_some();
    let appointments = if found.list.is_empty() && !scores.is_positive(Head::Spam) {
        find_appointments(mail, annotated, base, context)
    } else {
        Vec::new()
    };
    Reading {
        appointments,
        urgency: estimate_urgency(mail, annotated, scores, &verdict.tasks, found.is_impersonation, context),
        warnings: found.list,
        no_task: verdict.no_task,
        reason: verdict.reason,
        score: verdict.score,
        tasks: with_acquaintance(verdict.tasks, personal || context.known_contact || context.thread_mine),
        meeting,
        personal,
        spam: scores.is_positive(Head::Spam),
        language: annotated.language.to_string(),
    }
}

/// Notes on the times of a meeting whether they come from somebody whom the person knows.
fn with_acquaintance(mut tasks: Vec<ExtractedTask>, is_known: bool) -> Vec<ExtractedTask> {
    tasks.iter_mut().filter_map(|task| task.asked_times.as_mut()).for_each(|asked| asked.is_by_acquaintance = is_known);
    tasks
}

struct ReadingOutcome {
    tasks: Vec<ExtractedTask>,
    no_task: Option<NoTask>,
    reason: String,
    score: f64,
}

impl ReadingOutcome {
    fn without_task(no_task: NoTask, reason: impl Into<String>, score: f64) -> Self {
        Self { tasks: Vec::new(), no_task: Some(no_task), reason: reason.into(), score: score.min(THRESHOLD - 0.01) }
    }

    fn with_tasks(tasks: Vec<ExtractedTask>, reason: impl Into<String>, score: f64) -> Self {
        Self { tasks, no_task: None, reason: reason.into(), score: score.max(THRESHOLD) }
    }
}

impl ReadingOutcome {
    /// A mail that deceives opens no task, whatever it asks. One that only speaks to a program says so.
    fn heed(self, found: &FoundWarnings) -> Self {
        let (no_task, kind) = if found.is_deceit && self.no_task != Some(NoTask::Sent) {
            (NoTask::Phishing, WarningKind::Phishing)
        } else if self.no_task.is_some_and(|no_task| no_task != NoTask::Sent) {
            (NoTask::Injection, WarningKind::Injection)
        } else {
            return self;
        };
        match found.text(kind) {
            Some(text) => Self::without_task(no_task, text, self.score),
            None => self,
        }
    }
}

fn decide_outcome(
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
    scores: &MailScores<'_>,
    context: &ReadContext<'_>,
) -> ReadingOutcome {
    // Anyone can write the person's own address into From, and sellers do.
    let forged = !mail.authentication.verified && scores.is_positive(Head::Spam);
    if context.me.is_me(&mail.from) && !forged {
        let tasks = own_mail::plan_own_tasks(mail, annotated, base, context);
        return match tasks.first() {
            Some(first) => {
                let reason = format!("you wrote: “{}”", truncate_at_word(&first.evidence, 120));
                ReadingOutcome::with_tasks(tasks, reason, 0.9)
            }
            None => ReadingOutcome::without_task(NoTask::Sent, "you wrote this, and it promises nothing", 0.0),
        };
    }
    if let Some(verdict) = read_invitation(mail, annotated, base) {
        return verdict;
    }
    let is_unread = !annotated.language.is_read();
    if is_unread && annotated.language != Language::Undetermined {
        return read_unread_language(mail, annotated, context);
    }
    let verdict = match categorise_mail(mail, annotated, base, scores, context) {
        MailCategory::WithoutTask(no_task, reason) => {
            ReadingOutcome::without_task(no_task, reason, highest_request_score(annotated, 0.0))
        }
        MailCategory::Alert => read_alert(mail, annotated, base),
        MailCategory::Service => read_service(mail, annotated, base),
        MailCategory::Ordinary => read_ordinary_mail(mail, annotated, base, scores, context),
    };
    // Words of no known language may still be English ones, or trash: they were read as English first.
    if is_unread && verdict.no_task == Some(NoTask::Fyi) {
        read_unread_language(mail, annotated, context)
    } else {
        verdict
    }
}

fn read_invitation(mail: &Mail, annotated: &AnnotatedMail<'_>, base: &ReferenceTime<'_>) -> Option<ReadingOutcome> {
    let invite = mail.invite.as_ref()?;
    if invite.method != "REQUEST" {
        let reason = format!("a calendar notice: {}", invite.method.to_lowercase());
        return Some(ReadingOutcome::without_task(NoTask::Notification, reason, 0.0));
    }
    let writer = objective_writer(mail, annotated);
    let what = if invite.summary.is_empty() { &mail.subject } else { &invite.summary };
    let mut task = new_task(TaskKind::Invitation, mail, what);
    task.objective = writer.fill(Template::Invitation, what);
    // "Please tell me by the 9th": the answer is due before the event is.
    let dues = annotated.sentences.iter().filter_map(|scored| scored.due_date(base));
    let answer_by =
        dues.filter(|due| due.is_limit && invite.start.is_some_and(|start| due.at < start)).min_by_key(|due| due.at);
    task.due_at = answer_by.map(|due| due.at).or(invite.start);
    task.deadline = answer_by.map(|due| due.deadline.clone()).or_else(|| invite.start.map(|start| start.to_string()));
    task.happens_at = invite.end.or(invite.start).filter(|_| !invite.recurs);
    let length = invite.start.zip(invite.end).map(|(start, end)| start.hours_until(end) * 60.0);
    task.meeting_duration =
        length.filter(|minutes| *minutes > 0.0).map(|minutes| money::format_minutes(minutes as u32));
    Some(ReadingOutcome::with_tasks(vec![task], "a calendar invitation that waits for an answer", 0.95))
}

/// A mail in a language that is not read: what somebody wrote to the person is to be looked at, and nothing more is known.
fn read_unread_language(mail: &Mail, annotated: &AnnotatedMail<'_>, context: &ReadContext<'_>) -> ReadingOutcome {
    let why = format!("in {}, which is not read", annotated.language.english_name());
    if let Some((no_task, reason)) = categorise_by_envelope(mail, context) {
        return ReadingOutcome::without_task(no_task, format!("{reason}, {why}"), 0.0);
    }
    let first = annotated.sentences.first().map_or("", |scored| scored.sentence.raw);
    let subject = mail.subject.trim();
    let mut task = new_task(TaskKind::Request, mail, if first.is_empty() { subject } else { first });
    let own = context.me.languages.first().and_then(|code| code.parse().ok()).unwrap_or(Language::English);
    let writer = objective_writer(mail, annotated).in_language(Language::English).in_language(own);
    task.objective = writer.write_unread(if subject.is_empty() { first } else { subject }, annotated.language);
    ReadingOutcome::with_tasks(vec![task], why, THRESHOLD)
}

fn read_alert(mail: &Mail, annotated: &AnnotatedMail<'_>, base: &ReferenceTime<'_>) -> ReadingOutcome {
    let told = annotated.sentences.iter().find(|scored| scored.has(Feature::Alert) && scored.has(Feature::YourAccount));
    let evidence = told
        .or_else(|| annotated.first_sentence_with(Feature::Alert))
        .map_or(mail.subject.as_str(), |scored| scored.sentence.raw);
    let writer = objective_writer(mail, annotated);
    let mut task = new_task(TaskKind::Alert, mail, evidence);
    task.objective = writer.fill(Template::Alert, evidence);
    // "Please update your card by the 20th": what is to be done says more than that something is wrong.
    if let Some(act) = service::find_act(annotated, base).filter(|act| act.asks_outright())
        && let Some(due) = act.due_date(base)
    {
        task.objective = plan_task(act, true, mail, annotated, base).objective;
        set_due_date_and_steps(&mut task, Some(due.clone()), mail);
    }
    if let Some(money) =
        annotated.sentences.iter().find_map(|scored| money::find_largest_amount(&scored.sentence.normalised))
    {
        task.amount = Some(money.amount);
        task.currency = Some(money.currency.to_owned());
    }
    ReadingOutcome::with_tasks(
        vec![task],
        format!("an alert that needs a look: “{}”", truncate_at_word(evidence, 120)),
        0.85,
    )
}

/// A machine wants one thing of the reader, whatever else it says.
fn read_service(mail: &Mail, annotated: &AnnotatedMail<'_>, base: &ReferenceTime<'_>) -> ReadingOutcome {
    if let Some(task) = plan_invoice_task(mail, annotated, base) {
        let reason = format!("something is to be paid: “{}”", truncate_at_word(&task.evidence, 120));
        return ReadingOutcome::with_tasks(vec![task], reason, THRESHOLD);
    }
    let Some(scored) = service::find_act(annotated, base) else {
        return ReadingOutcome::without_task(NoTask::Notification, "a notification that asks for nothing", 0.0);
    };
    let task = plan_task(scored, true, mail, annotated, base);
    let reason = format!("a service wants something of you: “{}”", truncate_at_word(scored.sentence.raw, 120));
    ReadingOutcome::with_tasks(vec![task], reason, logistic(scored.logit_in_mail))
}

fn read_ordinary_mail(
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
    scores: &MailScores<'_>,
    context: &ReadContext<'_>,
) -> ReadingOutcome {
    let lean = compute_request_bias(mail, annotated, scores, context);
    let asking = find_distinct_requests(annotated, lean);
    let score = highest_request_score(annotated, lean);
    if annotated.sentences.is_empty() && mail.attachments.is_empty() && words(&annotated.subject).next().is_none() {
        return ReadingOutcome::without_task(NoTask::Empty, "there is nothing to read in it", 0.0);
    }
    if let Some(task) = plan_invoice_task(mail, annotated, base) {
        let reason = format!("something is to be paid: “{}”", truncate_at_word(&task.evidence, 120));
        return ReadingOutcome::with_tasks(vec![task], reason, score);
    }
    if annotated.is_fyi_forward() {
        return ReadingOutcome::without_task(NoTask::Fyi, explain_no_request(annotated), score);
    }
    if let Some(deciding) = asking.iter().max_by(|a, b| a.logit_in_mail.total_cmp(&b.logit_in_mail)) {
        let said = truncate_at_word(deciding.sentence.raw, 120);
        let reason = format!("asks for something: “{said}” ({})", deciding.strongest_signals().join(", "));
        let planned = asking.iter().map(|scored| plan_task(scored, asking.len() == 1, mail, annotated, base));
        let mut tasks: Vec<_> = planned.collect();
        join_receipt_with_question(&mut tasks, annotated, mail);
        return ReadingOutcome::with_tasks(tasks, reason, score);
    }
    if let Some(whom) = annotated.addressing.asks_instead() {
        return ReadingOutcome::without_task(NoTask::Fyi, format!("it asks {whom}"), score);
    }
    read_offered_time(mail, annotated, base)
        .or_else(|| read_stated_deadline(mail, annotated, base))
        .or_else(|| read_implied_request(mail, annotated, base, scores))
        .unwrap_or_else(|| ReadingOutcome::without_task(NoTask::Fyi, explain_no_request(annotated), score))
}

/// "I am in town next week. Any afternoon except Wednesday?": asks about a time, and for nothing else.
fn read_offered_time(mail: &Mail, annotated: &AnnotatedMail<'_>, base: &ReferenceTime<'_>) -> Option<ReadingOutcome> {
    if annotated.is_from_service() || annotated.has(Feature::NoAction) || annotated.has(Feature::Advert) {
        return None;
    }
    let scored = find_offered_time(annotated, base)?;
    let task = plan_task(scored, true, mail, annotated, base);
    let reason = format!("asks about a time: “{}”", truncate_at_word(scored.sentence.raw, 120));
    Some(ReadingOutcome::with_tasks(vec![task], reason, logistic(scored.logit_in_mail)))
}

/// No sentence asks in so many words, but the mail as a whole reads like those that do.
fn read_implied_request(
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
    scores: &MailScores<'_>,
) -> Option<ReadingOutcome> {
    let (head, wants) = match scores.predicted_class() {
        PredictedClass::Urgent => (Head::Urgent, true),
        PredictedClass::Wants => (Head::Wants, true),
        _ => (Head::Wants, false),
    };
    if !wants
        || annotated.has(Feature::NoAction)
        || annotated.is_one_sentence()
        || annotated.order_to_program().is_some()
    {
        return None;
    }
    // What is asked of somebody else is all that is asked.
    if annotated.sentences.iter().any(|scored| scored.asks() && annotated.asks_others(scored)) {
        return None;
    }
    // What a firm says to everybody is all that it asks.
    if annotated.is_from_service()
        && annotated.sentences.iter().any(|scored| scored.asks() && annotated.is_courtesy(scored))
    {
        return None;
    }
    let about = |scored: &&ScoredSentence<'_>| scored.sentence.words().count() >= 4 && !is_table(scored.sentence.raw);
    let strongest = annotated
        .sentences
        .iter()
        .filter(about)
        .max_by(|a, b| weigh_as_evidence(a).total_cmp(&weigh_as_evidence(b)))?;
    let task = plan_task(strongest, true, mail, annotated, base);
    let reason = format!("reads like a mail that wants something ({})", scores.explain(head));
    Some(ReadingOutcome::with_tasks(vec![task], reason, logistic(scores.logit(head))))
}

/// Which sentence of such a mail to show: what is asked, else what is wrong.
fn weigh_as_evidence(scored: &ScoredSentence<'_>) -> f64 {
    let troubled = scored.features.has_any(&[Feature::Trouble, Feature::Grave, Feature::Deadline, Feature::Alert]);
    scored.logit_in_mail + if troubled { 1.5 } else { 0.0 }
}

fn explain_no_request(annotated: &AnnotatedMail<'_>) -> String {
    match annotated.first_sentence_with(Feature::NoAction).or_else(|| annotated.first_sentence_with(Feature::Fyi)) {
        Some(scored) => format!("for information only: “{}”", truncate_at_word(scored.sentence.raw, 120)),
        None => "for information only: no sentence asks for anything".into(),
    }
}

fn highest_request_score(annotated: &AnnotatedMail<'_>, lean: f64) -> f64 {
    let asking = annotated.sentences.iter().filter(|scored| !annotated.is_courtesy(scored));
    asking.map(|scored| logistic(annotated.request_logit(scored, lean))).fold(0.0, f64::max)
}

/// A request in so many words is never overruled by the rest of the mail alone.
const MAX_REQUEST_BIAS: f64 = 2.0;
/// What every sentence of a mail is given: a request that is missed costs more than one that is shown in vain.
const REQUEST_BIAS: f64 = 0.25;

/// What the mail as a whole says for or against a request in it.
fn compute_request_bias(
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
    scores: &MailScores<'_>,
    context: &ReadContext<'_>,
) -> f64 {
    let direct = mail.to.iter().any(|address| context.me.is_me(address));
    let copied = !direct && mail.cc.iter().any(|address| context.me.is_me(address));
    let crowd = mail.to.len() + mail.cc.len() > 10;
    let parts = [
        (copied, -0.4),
        (crowd, -0.6),
        (context.known_contact || context.thread_mine, 0.2),
        (annotated.has(Feature::NoAction), -2.5),
        (annotated.has(Feature::Fyi) || annotated.subject.starts_with("fw"), -0.4),
        (annotated.count(Feature::Advert) >= 2, -1.0),
        (annotated.count(Feature::Spam) >= 2, -1.0),
        (annotated.has(Feature::Urgent) && !annotated.has(Feature::Calm), 0.3),
    ];
    let parts: f64 = parts.iter().filter(|(holds, _)| *holds).map(|(_, weight)| weight).sum();
    REQUEST_BIAS + parts + (scores.request_margin() * 0.5).clamp(-MAX_REQUEST_BIAS, MAX_REQUEST_BIAS / 2.0)
}

/// "The application is due on Friday" asks without asking.
fn read_stated_deadline(
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
) -> Option<ReadingOutcome> {
    if annotated.has(Feature::NoAction) || annotated.has(Feature::Fyi) || annotated.count(Feature::Advert) > 0 {
        return None;
    }
    let scored = annotated.first_sentence_with(Feature::Deadline)?;
    let due = scored.due_date(base)?.clone();
    let mut task = new_task(TaskKind::Deadline, mail, scored.sentence.raw);
    task.objective = objective_writer(mail, annotated).fill(Template::Deadline, scored.sentence.raw);
    set_due_date_and_steps(&mut task, Some(due), mail);
    let reason = format!("names a deadline: “{}”", truncate_at_word(scored.sentence.raw, 120));
    Some(ReadingOutcome::with_tasks(vec![task], reason, logistic(scored.logit_in_mail)))
}
