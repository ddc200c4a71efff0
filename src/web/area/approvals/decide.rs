//! The decisions: each is about exactly what the person was shown.

use axum::extract::Path;

use super::item::seen_digest;
use crate::{
    app::{DecisionInput, ItemDetail},
    model::{DecisionChannel, DecisionKind},
    web::page::{Answer, Change, Note},
};

/// Approves the bytes that were shown. If they have changed since, the item is shown again and nothing is approved.
pub(super) async fn approve(Path(item): Path<String>, change: Change) -> Answer {
    let outcome = decide(&change, &item, DecisionKind::Approve, "").await;
    let outcome = outcome.map(|detail| {
        let undo = format!("/approvals/{}/undo", detail.item.number);
        Note::done(format!("Approved: number {}.", detail.item.number)).with_undo(undo, seen_digest(&detail))
    });
    let back = if outcome.is_ok() { "/approvals".to_owned() } else { format!("/approvals/{item}") };
    change.visit.redirect_after(&back, outcome)
}

/// Rejects the action. Nothing is done, and the step is the person's.
pub(super) async fn reject(Path(item): Path<String>, change: Change) -> Answer {
    let outcome = decide(&change, &item, DecisionKind::Reject, change.form.get("reason")).await;
    let outcome = outcome.map(|detail| Note::done(format!("Rejected: number {}.", detail.item.number)));
    let back = if outcome.is_ok() { "/approvals".to_owned() } else { format!("/approvals/{item}") };
    change.visit.redirect_after(&back, outcome)
}

/// Takes back an approval during its grace.
pub(super) async fn undo(Path(item): Path<String>, change: Change) -> Answer {
    let approvals = change.visit.app().approvals();
    let outcome = async {
        approvals.revoke(approvals.find_id(&item).await?).await?;
        Ok(Note::done("Taken back; nothing was sent, and it waits for you again."))
    };
    let outcome = outcome.await;
    change.visit.redirect_after(&format!("/approvals/{item}"), outcome)
}

async fn decide(change: &Change, item: &str, kind: DecisionKind, reason: &str) -> anyhow::Result<ItemDetail> {
    let approvals = change.visit.app().approvals();
    let id = approvals.find_id(item).await?;
    let said = DecisionInput {
        kind,
        reason: reason.to_owned(),
        channel: DecisionChannel::Web,
        seen_sha256: change.form.seen().to_owned(),
        file_digest: None,
    };
    approvals.decide(id, said).await?;
    approvals.detail(item).await
}
