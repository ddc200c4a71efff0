//! The decisions: each is about exactly what the person was shown.

use axum::extract::Path;
use maud::{Markup, html};

use super::item::{Neighbours, seen_digest};
use crate::{
    app::{BadInput, DecisionInput, ItemDetail},
    model::{DecisionChannel, DecisionKind, OutboxState},
    store::StoreError,
    web::page::{PageAnswer, PageChange, PageFailure, PageNote, Visit},
    wording::{
        description::{describe_effect, format_date_time},
        item::headline,
    },
};

/// Approves the bytes that were shown. If they have changed since, the item is shown again and nothing is approved.
pub(super) async fn approve(Path(item): Path<String>, change: PageChange) -> PageAnswer {
    answer_with(&change, &item, DecisionKind::Approve, "").await
}

/// Takes any other decision: reject, retry, skip, cancel, sent.
pub(super) async fn answer(Path(item): Path<String>, change: PageChange) -> PageAnswer {
    let verdict = match change.form.get("verdict").parse::<DecisionKind>() {
        Ok(verdict) if !matches!(verdict, DecisionKind::Approve | DecisionKind::Respond) => verdict,
        _ => {
            return Err(PageFailure::from(anyhow::Error::from(BadInput("this decision has a form of its own".into()))));
        }
    };
    answer_with(&change, &item, verdict, change.form.get("reason")).await
}

/// Decides, and goes on to the next item; after a refusal the same item is shown again.
async fn answer_with(change: &PageChange, item: &str, verdict: DecisionKind, reason: &str) -> PageAnswer {
    let again = format!("/approvals/{item}");
    let detail = match ensure_seen(change, item).await {
        Ok(detail) => detail,
        Err(error) => return change.visit.redirect_after(&again, Err(error)),
    };
    let neighbours = Neighbours::find(&change.visit, detail.item.item_id).await?;
    match decide(&change.visit, &detail, verdict, reason, change.form.seen()).await {
        Ok(note) => change.visit.redirect(&neighbours.onward(), note),
        Err(error) => change.visit.redirect_after(&again, Err(error)),
    }
}

/// Returns the item if it is still what the form was shown for.
pub(super) async fn ensure_seen(change: &PageChange, item: &str) -> anyhow::Result<ItemDetail> {
    let detail = change.visit.app().approvals().detail(item).await?;
    if seen_digest(&detail) == change.form.seen() {
        return Ok(detail);
    }
    Err(StoreError::Refused("nothing was done: it has changed since you saw it; this is what it is now".into()).into())
}

/// Returns a decision that was made on the page about what has this digest.
pub(super) fn said_on_page(kind: DecisionKind, reason: &str, seen: &str) -> DecisionInput {
    DecisionInput {
        kind,
        reason: reason.to_owned(),
        channel: DecisionChannel::Web,
        seen_sha256: seen.to_owned(),
        file_digest: None,
    }
}

/// Stores a decision about what has this digest. Returns what the person is told.
async fn decide(
    visit: &Visit,
    detail: &ItemDetail,
    verdict: DecisionKind,
    reason: &str,
    seen: &str,
) -> anyhow::Result<PageNote> {
    let approvals = visit.app().approvals();
    let id = detail.item.item_id;
    approvals.decide(id, said_on_page(verdict, reason, seen)).await?;
    let after = approvals.detail(&id.to_string()).await?;
    let note = PageNote::done(describe_decision(visit, &after, verdict));
    let is_held = after.action.as_ref().is_some_and(|row| row.state == OutboxState::Held);
    Ok(if is_held { note.with_undo("/approvals/undo", &after.item.number.to_string()) } else { note })
}

fn describe_decision(visit: &Visit, detail: &ItemDetail, verdict: DecisionKind) -> String {
    let zone = visit.app().config.me.time_zone;
    let effect = detail.action.as_ref().map_or_else(String::new, |row| format!(": {}", describe_effect(row, zone)));
    let what = headline(detail);
    match verdict {
        DecisionKind::Approve => format!("{what}{effect}."),
        DecisionKind::Reject => format!("Rejected, and the step is yours: {what}."),
        DecisionKind::Retry => format!("It is tried again: {what}."),
        DecisionKind::Skip => format!("It goes on without this step: {what}."),
        DecisionKind::Cancel => format!("The task is cancelled: {what}."),
        DecisionKind::Sent => format!("Noted as sent: {what}."),
        DecisionKind::Respond => format!("Passed on: {what}."),
    }
}

/// Hides an item until a time.
pub(super) async fn snooze(Path(item): Path<String>, change: PageChange) -> PageAnswer {
    let outcome = async {
        let detail = ensure_seen(&change, &item).await?;
        let chosen = change.form.get("until");
        let until = if chosen.is_empty() { change.form.get("typed") } else { chosen };
        let app = change.visit.app();
        let until = app.tasks().parse_future_time(until)?;
        let neighbours = Neighbours::find(&change.visit, detail.item.item_id).await?;
        app.approvals().snooze(detail.item.item_id, Some(until)).await?;
        let until = format_date_time(until, app.config.me.time_zone);
        anyhow::Ok((neighbours.onward(), PageNote::done(format!("Hidden until {until}: {}.", headline(&detail)))))
    };
    match outcome.await {
        Ok((onward, note)) => change.visit.redirect(&onward, note),
        Err(error) => change.visit.redirect_after(&format!("/approvals/{item}"), Err(error)),
    }
}

/// Returns the form that takes back the approval of these items.
pub(super) fn undo_form(visit: &Visit, numbers: &[i64]) -> Result<Markup, PageFailure> {
    let seen: Vec<String> = numbers.iter().map(i64::to_string).collect();
    visit.form("/approvals/undo", &seen.join(","), &html! { button type="submit" data-key="u" { "Undo" } })
}

/// Takes back approvals during their grace. Which ones is in the digest of the form, for which its nonce vouches.
pub(super) async fn undo(change: PageChange) -> PageAnswer {
    let approvals = change.visit.app().approvals();
    let mut back = "/approvals".to_owned();
    let mut taken_back = 0_usize;
    let mut refused = None;
    for number in change.form.seen().split(',') {
        let revoked = async { approvals.revoke(approvals.find_id(number).await?).await };
        match revoked.await {
            Ok(()) => {
                taken_back += 1;
                back = format!("/approvals/{number}");
            }
            Err(error) => refused = Some(error),
        }
    }
    match refused {
        None if taken_back == 1 => {
            change.visit.redirect(&back, PageNote::done("Taken back: nothing was sent, and it waits for you again."))
        }
        None => {
            let text = format!("{taken_back} taken back: nothing was sent, and they wait for you again.");
            change.visit.redirect("/approvals", PageNote::done(text))
        }
        Some(error) => change.visit.redirect_after("/approvals", Err(error)),
    }
}
