//! What a person corrects about a mail. A correction is made of the mail as it was shown, or not at all.

use axum::extract::Path;

use crate::{
    app::{BadInput, parse_mail_id},
    model::{LedgerRow, MailId, ids::sha256_hex},
    web::page::{PageAnswer, PageChange, PageNote},
};

/// Returns what stands for the outcome of a mail as it is shown.
pub(super) fn seen_outcome(row: &LedgerRow) -> String {
    let warnings: Vec<&str> = row.warnings.iter().map(|warning| warning.text.as_str()).collect();
    let task = row.task_id.map(|id| id.to_string()).unwrap_or_default();
    sha256_hex(format!("{} {} {task} {} {warnings:?}", row.mail_id, row.state, row.reason).as_bytes())
}

/// Returns the mail of a change. Refuses one of which something else has become after it was shown.
async fn find_unchanged(change: &PageChange, mail: &str) -> anyhow::Result<MailId> {
    let row = change.visit.app().mail().detail(parse_mail_id(mail)?).await?.row;
    if seen_outcome(&row) == change.form.seen() {
        return Ok(row.mail_id);
    }
    let told = "Nothing was changed: something else has become of the mail since it was shown. This is how it is now.";
    Err(BadInput(told.into()).into())
}

/// Says that the mail should not have opened a task.
pub(super) async fn mark_not_a_task(Path(mail): Path<String>, change: PageChange) -> PageAnswer {
    let outcome = async {
        let id = find_unchanged(&change, &mail).await?;
        change.visit.app().mail().mark_not_a_task(id, "").await?;
        told_with_lesson(&change, id, "It is no task now.").await
    };
    let outcome = outcome.await;
    change.visit.redirect_after(&format!("/mail/{mail}"), outcome)
}

/// Says that the mail should have opened a task.
pub(super) async fn make_task(Path(mail): Path<String>, change: PageChange) -> PageAnswer {
    let outcome = async {
        let id = find_unchanged(&change, &mail).await?;
        change.visit.app().mail().make_task(id, "").await?;
        told_with_lesson(&change, id, "It becomes a task in a moment.").await
    };
    let outcome = outcome.await;
    change.visit.redirect_after(&format!("/mail/{mail}"), outcome)
}

/// Has the mail moved to the archive.
pub(super) async fn archive(Path(mail): Path<String>, change: PageChange) -> PageAnswer {
    let outcome = async {
        let id = find_unchanged(&change, &mail).await?;
        change.visit.app().mail().archive(id, "").await?;
        Ok(PageNote::done("It is being archived."))
    };
    let outcome = outcome.await;
    change.visit.redirect_after(&format!("/mail/{mail}"), outcome)
}

/// Says that the mail is what it says it is.
pub(super) async fn mark_genuine(Path(mail): Path<String>, change: PageChange) -> PageAnswer {
    let outcome = async {
        let id = find_unchanged(&change, &mail).await?;
        change.visit.app().mail().mark_genuine(id, "").await?;
        told_with_lesson(&change, id, "Its warnings are lifted, and it is read again without them.").await
    };
    let outcome = outcome.await;
    change.visit.redirect_after(&format!("/mail/{mail}"), outcome)
}

/// Opens no more tasks for mail of its sender.
pub(super) async fn mute(Path(mail): Path<String>, change: PageChange) -> PageAnswer {
    set_muted(&change, &mail, true).await
}

/// Opens tasks for mail of its sender again.
pub(super) async fn unmute(Path(mail): Path<String>, change: PageChange) -> PageAnswer {
    set_muted(&change, &mail, false).await
}

async fn set_muted(change: &PageChange, mail: &str, is_muted: bool) -> PageAnswer {
    let outcome = async {
        let id = find_unchanged(change, mail).await?;
        Ok(PageNote::done(change.visit.app().mail().set_sender_muted(id, is_muted).await?))
    };
    let outcome = outcome.await;
    change.visit.redirect_after(&format!("/mail/{mail}"), outcome)
}

/// Returns a note with what the correction of a mail teaches.
async fn told_with_lesson(change: &PageChange, id: MailId, told: &str) -> anyhow::Result<PageNote> {
    let rules = change.visit.app().rules();
    let taught = rules.log_and_explain_correction(move |correction| correction.mail_id == Some(id)).await?;
    Ok(PageNote::done(taught.map_or_else(|| told.to_owned(), |lesson| format!("{told} {lesson}"))))
}
