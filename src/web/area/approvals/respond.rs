//! Telling in words what to do instead: what was understood is shown first, and then done.

use axum::extract::Path;
use maud::html;

use super::{
    decide::said_on_page,
    decisions::RefusedDraft,
    item::{seen_digest, show_refused, whole_action},
};
use crate::{
    app::{ItemDetail, PlannedResponse},
    model::{DecisionKind, ids::sha256_hex},
    store::StoreError,
    web::{
        area::Area,
        page::{PageAnswer, PageChange, PageNote, Visit, direction, shown, shown_lines},
    },
    wording::item::describe_kind,
};

/// Shows what the words of the person would do. Nothing is done yet.
pub(super) async fn preview(visit: Visit, Path(item): Path<String>) -> PageAnswer {
    let words = visit.query("words").trim().to_owned();
    let approvals = visit.app().approvals();
    let detail = approvals.detail(&item).await?;
    let planned = match approvals.understand_response(&item, &words).await {
        Ok(Some(planned)) => planned,
        Ok(None) => {
            let why = "This is not understood, and nothing was changed. Say a time, a place, a recipient, “tell her …”, “decline”, “later”, “shorter” or “send nothing”; or edit the text yourself.";
            return show_refused(&visit, &detail, RefusedDraft::Response(words), why).await;
        }
        Err(error) => return show_refused(&visit, &detail, RefusedDraft::Response(words), &format!("{error:#}")).await,
    };
    let path = format!("/approvals/{}/respond", detail.item.number);
    let fields = html! {
        input type="hidden" name="words" value=(words);
        button.primary type="submit" data-key="a" { "Do this" }
        " " a.button href={ "/approvals/" (detail.item.number) } { "Back" }
    };
    let body = html! {
        p.crumbs { a href={ "/approvals/" (detail.item.number) } { "Number " (detail.item.number) } }
        h1.kind { "What that means" }
        p { "You said: " (shown(&words)) }
        ul { @for sentence in &planned.understood { li { (shown(sentence)) } } }
        (visit.form(&path, &seen_plan(&detail, &planned), &fields)?)
        section.card {
            @if let Some(message) = planned.changed_message() {
                h2 { "The message would be" }
                div.message dir=(direction(&message.body)) { (shown_lines(&message.body)) }
            } @else {
                h2 { "It is about" }
                (whole_action(&visit, &detail))
            }
        }
    };
    visit.page(Area::Approvals, &describe_kind(&detail), &body).await
}

/// Returns the digest of an item together with what was understood of the words.
fn seen_plan(detail: &ItemDetail, planned: &PlannedResponse) -> String {
    sha256_hex(format!("{} {}", seen_digest(detail), planned.understood.join("\n")).as_bytes())
}

/// Does what was shown to be understood.
pub(super) async fn carry_out(Path(item): Path<String>, change: PageChange) -> PageAnswer {
    let approvals = change.visit.app().approvals();
    let words = change.form.get("words");
    let outcome = async {
        let detail = approvals.detail(&item).await?;
        let planned = approvals.understand_response(&item, words).await?;
        let planned = planned.filter(|planned| seen_plan(&detail, planned) == change.form.seen());
        let planned = planned.ok_or_else(|| {
            StoreError::Refused("nothing was done: it has changed since you saw it; this is what it is now".into())
        })?;
        let asks_again = planned.asks_again();
        let digest = detail.item.action_sha256.clone().unwrap_or_default();
        let now_waits =
            approvals.carry_out_response(planned, said_on_page(DecisionKind::Respond, words, &digest)).await?;
        anyhow::Ok((approvals.detail(&now_waits.to_string()).await?, asks_again, detail.item.item_id != now_waits))
    };
    match outcome.await {
        Ok((now, _, true)) => {
            let note = PageNote::done("Changed: this is what would be sent now. Nothing is approved yet.");
            change.visit.redirect(&format!("/approvals/{}", now.item.number), note)
        }
        Ok((_, true, false)) => change
            .visit
            .redirect("/approvals", PageNote::done("Passed on; its next attempt is shown as soon as it is ready.")),
        Ok(_) => change.visit.redirect("/approvals", PageNote::done("Done as you said.")),
        Err(error) => change.visit.redirect_after(&format!("/approvals/{item}"), Err(error)),
    }
}
