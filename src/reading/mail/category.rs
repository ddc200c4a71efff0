//! What sort of mail it is, before asking what it asks: to many, from a machine, a receipt, an advertisement, or a letter.
//!
//! Owns the reasons for "no task" that come from the envelope and the genre. Headers speak before words.

use crate::date::ReferenceTime;
use crate::model::{Mail, reading::NoTask};
use crate::reading::{
    language::Language,
    learned::{Head, MailScores, PredictedClass},
    lexicon::{Feature, Lexicon, WordList},
    mail::{annotated_mail::AnnotatedMail, service},
    read::ReadContext,
    sentence::score::ScoredSentence,
    task::{money::find_largest_amount, objective::truncate_at_word},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::reading) enum MailCategory {
    /// Nothing is asked of the person; the reason is for people.
    WithoutTask(NoTask, String),
    /// A machine reports trouble that needs a look.
    Alert,
    /// A machine names something that the reader has to do.
    Service,
    /// Someone writes to the person: the sentences decide.
    Ordinary,
}

pub(in crate::reading) fn categorise_mail(
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
    base: &ReferenceTime<'_>,
    scores: &MailScores<'_>,
    context: &ReadContext<'_>,
) -> MailCategory {
    let machine = is_machine_sender(&mail.from.addr) || annotated.has(Feature::Machine);
    let automatic = mail.bulk_header.as_deref().filter(|header| is_auto_submitted(header));
    if annotated.has(Feature::Away)
        && (automatic.is_some() || annotated.subject_has(Feature::Away) || annotated.count(Feature::Away) >= 3)
    {
        return MailCategory::WithoutTask(NoTask::Notification, "an automatic reply: the sender is away".into());
    }
    if let Some(verdict) = categorise_receipt(annotated)
        .filter(|_| !scores.is_positive(Head::Spam) && annotated.count(Feature::Advert) < 2)
    {
        return verdict;
    }
    let bulk_header = mail.bulk_header.is_some() || mail.list_id.is_some();
    // A false alarm is shown with its warning; only what is plainly a swindle is not.
    let alarm = is_alert(mail, annotated) && scores.logit(Head::Promotes) < CERTAIN_PROMOTION;
    if !bulk_header
        && !alarm
        && let Some(verdict) = categorise_promotion(annotated, scores, context)
    {
        return verdict;
    }
    let has_amount = || annotated.sentences.iter().any(|s| find_largest_amount(&s.sentence.normalised).is_some());
    if is_alert(mail, annotated) && annotated.has(Feature::NoAction) && !has_amount() {
        let reason = "a notice that can be ignored if you did it yourself";
        return MailCategory::WithoutTask(NoTask::Notification, reason.into());
    }
    if is_alert(mail, annotated) && (machine || automatic.is_some() || mail.bulk_header.is_none()) {
        return MailCategory::Alert;
    }
    let is_service = || service::wants_act(mail, annotated, base, scores, context);
    if (machine || automatic.is_some() || mail.bulk_header.is_some()) && is_service() {
        return MailCategory::Service;
    }
    if let Some(header) = automatic {
        return MailCategory::WithoutTask(NoTask::Notification, format!("sent by a machine: {header}"));
    }
    if let Some(header) = find_bulk_header(mail)
        && !is_personal_in_list(mail, annotated, context)
    {
        return MailCategory::WithoutTask(NoTask::Bulk, format!("bulk mail: has {header}"));
    }
    if let Some(debit) = find_automatic_debit(annotated) {
        return MailCategory::WithoutTask(NoTask::Notification, debit);
    }
    if let Some(gone) = find_cancellation(&annotated.subject) {
        return MailCategory::WithoutTask(NoTask::Notification, format!("it was called off: {gone}"));
    }
    if machine && !has_open_payment_or_deadline(annotated) && !has_credible_obligation(annotated, scores) {
        return MailCategory::WithoutTask(
            NoTask::Notification,
            "a notification from an address that takes no replies".into(),
        );
    }
    MailCategory::Ordinary
}

/// Why a mail whose words are not understood opens no task, by its envelope alone. None when a person wrote it to the
/// person.
pub(in crate::reading) fn categorise_by_envelope(mail: &Mail, context: &ReadContext<'_>) -> Option<(NoTask, String)> {
    if is_machine_sender(&mail.from.addr) || mail.bulk_header.as_deref().is_some_and(is_auto_submitted) {
        return Some((NoTask::Notification, "sent by a machine".into()));
    }
    if let Some(header) = find_bulk_header(mail) {
        return Some((NoTask::Bulk, format!("bulk mail: has {header}")));
    }
    let to_person = mail.to.iter().chain(&mail.cc).any(|address| context.me.is_me(address));
    (!to_person).then(|| (NoTask::Bulk, "not written to you".into()))
}

pub(super) fn is_auto_submitted(header: &str) -> bool {
    header.to_ascii_lowercase().starts_with("auto-submitted")
}

fn find_bulk_header(mail: &Mail) -> Option<&str> {
    mail.bulk_header.as_deref().or(mail.list_id.as_ref().map(|_| "List-Id"))
}

/// Trouble with something of the person's, or something that runs; an advertisement that says "urgent" is neither.
fn is_alert(mail: &Mail, annotated: &AnnotatedMail<'_>) -> bool {
    let together =
        annotated.sentences.iter().any(|scored| scored.has(Feature::Alert) && scored.has(Feature::YourAccount));
    let loud = annotated.subject_has(Feature::Alert)
        && (annotated.has(Feature::YourAccount) || annotated.has(Feature::Urgent));
    let pressing =
        annotated.has(Feature::Alert) && annotated.has(Feature::Urgent) && is_machine_sender(&mail.from.addr);
    (together || loud || pressing)
        && annotated.count(Feature::Advert) < 2
        && annotated.count(Feature::Spam) < 2
        && mail.list_id.is_none()
}

/// In a list thread, but spoken to: named in what is asked, or written to directly within a conversation.
fn is_personal_in_list(mail: &Mail, annotated: &AnnotatedMail<'_>, context: &ReadContext<'_>) -> bool {
    if is_machine_sender(&mail.from.addr) || annotated.count(Feature::Advert) >= 2 {
        return false;
    }
    let named = annotated.sentences.iter().any(|scored| scored.asks() && scored.has(Feature::NamesYou));
    let called = annotated.sentences.windows(2).any(|pair| match pair {
        [call, ask] => call.has(Feature::NamesYou) && call.sentence.words().count() <= 3 && ask.asks_outright(),
        _ => false,
    });
    let conversation = context.thread_mine || !mail.references.is_empty();
    let direct = mail.to.iter().any(|address| context.me.is_me(address));
    named
        || (called && (conversation || context.known_contact))
        || (direct && conversation && annotated.sentences.iter().any(|s| s.asks()))
}

/// Under this sum a mail that asks for something is heard.
const DOUBTFUL_PROMOTION: f64 = -0.6;
/// And over this one nobody would take it for anything else.
const CERTAIN_PROMOTION: f64 = 3.0;
/// Over this one it is spam, whatever else it is like.
const SURE_SPAM: f64 = 0.5;

/// Sells, or swindles. Someone the person has written to is given a hearing first.
fn categorise_promotion(
    annotated: &AnnotatedMail<'_>,
    scores: &MailScores<'_>,
    context: &ReadContext<'_>,
) -> Option<MailCategory> {
    let known = context.known_contact || context.thread_mine;
    let (spam, advert) = (annotated.count(Feature::Spam), annotated.count(Feature::Advert));
    let wanted = matches!(scores.predicted_class(), PredictedClass::Urgent | PredictedClass::Wants);
    let by_words = spam >= 3 || (!wanted && (spam >= 1 && spam + advert >= 3 || advert >= 3));
    let by_likeness = scores.predicted_class() == PredictedClass::Promotes || scores.logit(Head::Spam) > SURE_SPAM;
    // What was learned of mails is English: another one is like those that sell only where it says so itself. Words of
    // no known language were read as English.
    let says_so = annotated.features().has_any(&[
        Feature::Advert,
        Feature::Sells,
        Feature::Spam,
        Feature::Scam,
        Feature::Lure,
        Feature::Credentials,
    ]);
    let is_learned = matches!(annotated.language, Language::English | Language::Hebrew | Language::Undetermined);
    let by_likeness = by_likeness && (is_learned || says_so);
    let doubtful = !by_words
        && scores.logit(Head::Promotes) < DOUBTFUL_PROMOTION
        && annotated.sentences.iter().any(|scored| scored.asks_outright());
    if !(by_words || by_likeness) || doubtful || known || has_credible_obligation(annotated, scores) {
        return None;
    }
    let phishing = scores.logit(Head::Phishing);
    let (no_task, head, what) = if scores.is_positive(Head::Spam) || spam >= 3 {
        (NoTask::Spam, Head::Spam, "spam")
    } else if phishing > 0.0 && annotated.features().has_any(&[Feature::Scam, Feature::Lure, Feature::Credentials]) {
        (NoTask::Phishing, Head::Phishing, "a swindle")
    } else {
        (NoTask::Bulk, Head::Promotes, "advertising")
    };
    let because = scores.explain(head);
    Some(MailCategory::WithoutTask(no_task, format!("reads like {what}, from someone you never wrote to ({because})")))
}

/// Among its news stands something the person has to do, and nothing that lures them anywhere.
fn has_credible_obligation(annotated: &AnnotatedMail<'_>, scores: &MailScores<'_>) -> bool {
    use Feature::{Credentials, Lure, Pressure, Scam};
    annotated.features().has_any(&[Feature::Obliges, Feature::Invoice])
        && !annotated.features().has_any(&[Credentials, Lure, Pressure, Scam])
        && !scores.is_positive(Head::Spam)
        && !scores.is_positive(Head::Phishing)
}

fn categorise_receipt(annotated: &AnnotatedMail<'_>) -> Option<MailCategory> {
    use Feature::{AsksYou, Needs, Question};
    let asked = annotated.sentences.iter().any(|s| s.asks() && s.features.has_any(&[AsksYou, Needs, Question]));
    let receipt = annotated.subject_has(Feature::Receipt) || annotated.count(Feature::Receipt) >= 2;
    (annotated.has(Feature::Receipt) && receipt && !asked)
        .then(|| MailCategory::WithoutTask(NoTask::Receipt, "a receipt: it confirms something already done".into()))
}

/// Why a mail that only announces an automatic payment wants nothing.
fn find_automatic_debit(annotated: &AnnotatedMail<'_>) -> Option<String> {
    let debit = annotated.first_sentence_with(Feature::Debit)?;
    let failed = annotated.features().has_any(&[Feature::Alert, Feature::AtStake]);
    let asks = |scored: &ScoredSentence<'_>| scored.asks() && !scored.has(Feature::Debit);
    let is_asked = annotated.sentences.iter().any(asks);
    (!failed && !is_asked).then(|| format!("it is paid automatically: “{}”", truncate_at_word(debit.sentence.raw, 120)))
}

/// A calendar or a person takes something back in the subject.
fn find_cancellation(subject: &str) -> Option<&str> {
    let lists = [Language::English, Language::German].map(|it| Lexicon::of(it).words(WordList::Cancellations));
    lists
        .into_iter()
        .flatten()
        .find(|word| subject.starts_with(word.as_str()))
        .and_then(|word| subject.get(..word.trim_end_matches(':').len()))
}

/// Something is to be paid or done by a day: a machine may say so.
fn has_open_payment_or_deadline(annotated: &AnnotatedMail<'_>) -> bool {
    let owed =
        annotated.has(Feature::Invoice) || (annotated.has(Feature::Deadline) && annotated.count(Feature::Advert) == 0);
    owed && !annotated.has(Feature::Receipt)
}

const MACHINE_SENDER_NAMES: &[&str] = &[
    "no-reply",
    "noreply",
    "no_reply",
    "donotreply",
    "do-not-reply",
    "do_not_reply",
    "notification",
    "notify",
    "alert",
    "mailer-daemon",
    "postmaster",
    "automated",
    "automation",
    "bounce",
    "newsletter",
    "robot",
];

/// The name before the @ says that nobody reads answers.
pub(in crate::reading) fn is_machine_sender(addr: &str) -> bool {
    let local = addr.split('@').next().unwrap_or_default();
    MACHINE_SENDER_NAMES.iter().any(|sign| local.contains(sign))
}
