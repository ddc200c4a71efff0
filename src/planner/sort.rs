//! What sort of mail it is, before asking what it asks: to many, from a machine, a receipt, an advertisement, or a letter.
//!
//! Owns the reasons for "no task" that come from the envelope and the genre. Headers speak before words.

use super::{lexicon::Feature, page::Page, read::ReadContext};
use crate::model::{Mail, plan::NoTask};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sort {
    /// Nothing is asked of the person; the reason is for people.
    Nothing(NoTask, String),
    /// A machine reports trouble that needs a look.
    Alert,
    /// Someone writes to the person: the sentences decide.
    Letter,
}

pub(super) fn sort(mail: &Mail, page: &Page<'_>, context: &ReadContext<'_>) -> Sort {
    let machine = machine_sender(&mail.from.addr) || page.has(Feature::Machine);
    let automatic = mail.bulk_header.as_deref().filter(|header| is_automatic(header));
    if page.has(Feature::Away)
        && (automatic.is_some() || page.subject_has(Feature::Away) || page.count(Feature::Away) >= 3)
    {
        return Sort::Nothing(NoTask::Notification, "an automatic reply: the sender is away".into());
    }
    if alerts(mail, page) && (machine || automatic.is_some() || mail.bulk_header.is_none()) {
        return Sort::Alert;
    }
    if let Some(header) = automatic {
        return Sort::Nothing(NoTask::Notification, format!("sent by a machine: {header}"));
    }
    if let Some(header) = bulk(mail)
        && !personal_in_list(mail, page, context)
    {
        return Sort::Nothing(NoTask::Bulk, format!("bulk mail: has {header}"));
    }
    if let Some(verdict) = genre(page, context) {
        return verdict;
    }
    if machine && !owes(page) {
        return Sort::Nothing(NoTask::Notification, "a notification from an address that takes no replies".into());
    }
    Sort::Letter
}

fn is_automatic(header: &str) -> bool {
    header.to_ascii_lowercase().starts_with("auto-submitted")
}

fn bulk(mail: &Mail) -> Option<&str> {
    mail.bulk_header.as_deref().or(mail.list_id.as_ref().map(|_| "List-Id"))
}

/// Trouble with something of the person's, or something that runs; an advertisement that says "urgent" is neither.
fn alerts(mail: &Mail, page: &Page<'_>) -> bool {
    let together = page.sentences.iter().any(|scored| scored.has(Feature::Alert) && scored.has(Feature::YourAccount));
    let loud = page.subject_has(Feature::Alert) && (page.has(Feature::YourAccount) || page.has(Feature::Urgent));
    let pressing = page.has(Feature::Alert) && page.has(Feature::Urgent) && machine_sender(&mail.from.addr);
    (together || loud || pressing)
        && page.count(Feature::Advert) < 2
        && page.count(Feature::Spam) < 2
        && mail.list_id.is_none()
}

/// In a list thread, but spoken to: named in what is asked, or written to directly within a conversation.
fn personal_in_list(mail: &Mail, page: &Page<'_>, context: &ReadContext<'_>) -> bool {
    if machine_sender(&mail.from.addr) || page.count(Feature::Advert) >= 2 {
        return false;
    }
    let named = page.sentences.iter().any(|scored| scored.asks() && scored.has(Feature::NamesYou));
    let called = page.sentences.windows(2).any(|pair| match pair {
        [call, ask] => call.has(Feature::NamesYou) && call.sentence.words().count() <= 3 && ask.asks_outright(),
        _ => false,
    });
    let conversation = context.thread_mine || !mail.references.is_empty();
    let direct = mail.to.iter().any(|address| context.me.is_me(address));
    named
        || (called && (conversation || context.known_contact))
        || (direct && conversation && page.sentences.iter().any(|s| s.asks()))
}

fn genre(page: &Page<'_>, context: &ReadContext<'_>) -> Option<Sort> {
    let stranger = !context.known_contact && !context.thread_mine;
    let (spam, advert) = (page.count(Feature::Spam), page.count(Feature::Advert));
    if stranger && (spam >= 3 || (spam >= 1 && spam + advert >= 3)) {
        return Some(Sort::Nothing(NoTask::Spam, "reads like spam, from someone you never wrote to".into()));
    }
    let asked = page.sentences.iter().any(|scored| scored.has(Feature::Question) && scored.asks());
    if page.has(Feature::Receipt) && (page.subject_has(Feature::Receipt) || page.count(Feature::Receipt) >= 2) && !asked
    {
        return Some(Sort::Nothing(NoTask::Receipt, "a receipt: it confirms something already done".into()));
    }
    if stranger && (advert >= 3 || (advert >= 2 && page.has(Feature::Boilerplate))) {
        return Some(Sort::Nothing(NoTask::Bulk, "reads like advertising, from someone you never wrote to".into()));
    }
    None
}

/// Something is to be paid or done by a day: a machine may say so.
fn owes(page: &Page<'_>) -> bool {
    let owed = page.has(Feature::Invoice) || (page.has(Feature::Deadline) && page.count(Feature::Advert) == 0);
    owed && !page.has(Feature::Receipt)
}

const MACHINES: &[&str] = &[
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
pub(super) fn machine_sender(addr: &str) -> bool {
    let local = addr.split('@').next().unwrap_or_default();
    MACHINES.iter().any(|sign| local.contains(sign))
}
