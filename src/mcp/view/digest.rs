//! The digest as clients are shown it.

use schemars::JsonSchema;
use serde::Serialize;

use super::{MailReference, UNTRUSTED_TEXT, queue::ApprovalView, shown, task::ClientTask};
use crate::{app::DigestReport, model::TaskRow};

/// A change of the rules that no person made.
#[derive(Debug, Serialize, JsonSchema)]
struct LearnedView {
    version: i64,
    at: String,
    by: String,
    why: String,
}

/// A mail that deceives, or speaks to a program.
#[derive(Debug, Serialize, JsonSchema)]
struct SuspiciousMailView {
    mail: MailReference,
    /// phishing, injection, or both.
    warnings: Vec<String>,
}

/// An archived mail.
#[derive(Debug, Serialize, JsonSchema)]
struct ArchivedMailView {
    mail_id: i64,
    subject: String,
    untrusted: Vec<&'static str>,
}

/// What happened since a time.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::mcp) struct DigestView {
    notice: &'static str,
    since: String,
    done: Vec<ClientTask>,
    overdue: Vec<ClientTask>,
    /// What waits for the person's decision.
    waiting: Vec<ApprovalView>,
    cancelled_duplicates: Vec<ClientTask>,
    learned: Vec<LearnedView>,
    suspicious: Vec<SuspiciousMailView>,
    archived: Vec<ArchivedMailView>,
}

impl DigestView {
    pub(in crate::mcp) fn new(digest: &DigestReport, shows_mail_text: bool) -> Self {
        let tasks = |rows: &[TaskRow]| rows.iter().map(ClientTask::new).collect();
        Self {
            notice: UNTRUSTED_TEXT,
            since: digest.since.to_string(),
            done: tasks(&digest.done),
            overdue: tasks(&digest.overdue),
            waiting: digest.waiting.iter().map(|item| ApprovalView::new(item, None, shows_mail_text)).collect(),
            cancelled_duplicates: tasks(&digest.cancelled_duplicates),
            learned: digest
                .learned
                .iter()
                .map(|change| LearnedView {
                    version: change.version,
                    at: change.at.to_string(),
                    by: change.who.to_string(),
                    why: shown(&change.why),
                })
                .collect(),
            suspicious: digest
                .warned
                .iter()
                .map(|row| SuspiciousMailView {
                    mail: MailReference::new(row.mail_id, &row.sender, &row.subject),
                    warnings: row.warnings.iter().map(|warning| warning.kind.to_string()).collect(),
                })
                .collect(),
            archived: digest
                .archived
                .iter()
                .map(|mail| ArchivedMailView {
                    mail_id: mail.mail,
                    subject: shown(&mail.subject),
                    untrusted: vec!["subject"],
                })
                .collect(),
        }
    }
}
