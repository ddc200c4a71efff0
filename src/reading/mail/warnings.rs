//! Warnings beside the reading: a sender who looks like someone else, text that talks to the program, a date that does
//! not count, and what was not read.
//!
//! Owns the four flags, and which of them keep a mail from opening a task.

use super::{
    annotated_mail::AnnotatedMail,
    impersonation::{warn_of_lookalike_domain, warn_of_mismatched_link},
    phishing::find_deceit,
};
use crate::model::{
    Mail,
    reading::{MailWarning, WarningKind},
};
use crate::reading::{learned::MailScores, lexicon::Feature, read::ReadContext, task::objective::truncate_at_word};

const DATE_IGNORED: &str = "its Date header names no time from 1970 to 9998, so it counts as written when it arrived";

/// What a mail is warned of.
pub(in crate::reading) struct FoundWarnings {
    pub(in crate::reading) list: Vec<MailWarning>,
    /// The mail shows itself as someone it is not: a look-alike of a known name, or a link that leads elsewhere.
    pub(in crate::reading) is_impersonation: bool,
    /// It is plain enough that the mail deceives: it opens no task.
    pub(in crate::reading) is_deceit: bool,
}

impl FoundWarnings {
    /// The words of the first warning of a kind.
    pub(in crate::reading) fn text(&self, kind: WarningKind) -> Option<&str> {
        self.list.iter().find(|warning| warning.kind == kind).map(|warning| warning.text.as_str())
    }
}

pub(in crate::reading) fn find_warnings(
    mail: &Mail,
    annotated: &AnnotatedMail<'_>,
    scores: &MailScores<'_>,
    context: &ReadContext<'_>,
) -> FoundWarnings {
    let lookalike = warn_of_lookalike_domain(mail, context.me);
    let is_alarming = annotated.features().has_any(&[Feature::Credentials, Feature::Intrusion, Feature::Alert]);
    let link = warn_of_mismatched_link(mail, is_alarming);
    let is_impersonation = lookalike.is_some() || link.is_some();
    let deceit = find_deceit(mail, annotated, scores, context, lookalike, link).filter(|_| !context.is_genuine);
    let is_deceit = deceit.as_ref().is_some_and(|deceit| deceit.is_plain);
    let phishing = deceit.map(|deceit| MailWarning { kind: WarningKind::Phishing, text: deceit.text });
    let injection = annotated.order_to_program().map(|said| {
        let text = format!("talks to the program, not to you: “{}”", truncate_at_word(said, 100));
        MailWarning { kind: WarningKind::Injection, text }
    });
    let date = mail.date_ignored.then(|| MailWarning { kind: WarningKind::Date, text: DATE_IGNORED.into() });
    let cut = mail.truncations.iter().map(|text| MailWarning { kind: WarningKind::Cut, text: text.clone() });
    let list = phishing.into_iter().chain(injection).chain(date).chain(cut).collect();
    FoundWarnings { list, is_impersonation, is_deceit }
}
