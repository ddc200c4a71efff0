//! Editing a message in place. The result is a new action, which is shown and needs its own approval.

use axum::extract::Path;

use super::{decide::ensure_seen, decisions::RefusedDraft, item::show_refused};
use crate::{
    app::BadInput,
    web::page::{PageAnswer, PageChange, PageNote},
};

/// Replaces subject and text of the message that was shown.
pub(super) async fn edit(Path(item): Path<String>, change: PageChange) -> PageAnswer {
    // A browser sends line breaks of forms as CR LF.
    let (subject, text) = (change.form.get("subject").to_owned(), change.form.get("text").replace("\r\n", "\n"));
    let approvals = change.visit.app().approvals();
    let edited = async {
        let detail = ensure_seen(&change, &item).await?;
        if text.trim().is_empty() {
            return Err(BadInput("an empty text changes nothing; to send nothing, reject it".into()).into());
        }
        let new = approvals.edit_action(detail.item.item_id, &subject, &text).await?;
        approvals.detail(&new.to_string()).await
    };
    match edited.await {
        Ok(new) => {
            let note = PageNote::done("Changed: this is what would be sent now. Nothing is approved yet.");
            change.visit.redirect(&format!("/approvals/{}", new.item.number), note)
        }
        // What was written must not be lost with the refusal.
        Err(error) => {
            let detail = approvals.detail(&item).await?;
            show_refused(&change.visit, &detail, RefusedDraft::Message { subject, text }, &format!("{error:#}")).await
        }
    }
}
