//! One item: the exact action first, and beside it the mail that caused it.

use axum::{extract::Path, response::IntoResponse as _};
use maud::{Markup, html};

use super::decisions::{RefusedDraft, decision_forms};
use crate::{
    app::ItemDetail,
    model::{ItemId, ItemState, action::ComposedMessage, ids::sha256_hex},
    web::{
        area::Area,
        page::{PageAnswer, PageFailure, PageNote, Visit, direction, shown, shown_lines, shown_short},
    },
    wording::{
        description::{describe_age, format_timestamp},
        item::{describe_expiry, describe_kind},
        item_lines::{ItemLine, action_lines, effect_line, reason_lines, task_lines},
    },
};

/// Shows one item.
pub(super) async fn show(visit: Visit, Path(item): Path<String>) -> PageAnswer {
    let detail = visit.app().approvals().detail(&item).await?;
    show_detail(&visit, &detail, None).await
}

/// Shows an item again after a change that was refused, with what the person had written.
pub(super) async fn show_refused(visit: &Visit, detail: &ItemDetail, draft: RefusedDraft, why: &str) -> PageAnswer {
    let page = show_detail(visit, detail, Some((draft, PageNote::refused(why)))).await?;
    Ok((axum::http::StatusCode::CONFLICT, page).into_response())
}

async fn show_detail(visit: &Visit, detail: &ItemDetail, refused: Option<(RefusedDraft, PageNote)>) -> PageAnswer {
    let (item, now) = (&detail.item, visit.app().clock.now());
    let message = message_of(detail);
    let title = describe_kind(detail);
    let (draft, note) = refused.unzip();
    let body = html! {
        p.crumbs { a href="/approvals" data-key="q" { "Approvals" } " · number " (item.number) }
        h1.kind { (title) }
        p.muted {
            "waits " (describe_age(item.created_at, now)) ", "
            (describe_expiry(item, now, visit.app().config.me.time_zone))
        }
        (freshness(visit, detail))
        div.beside dir=[message.map(|message| direction(&message.body))] {
            section.action aria-label="What would be done" {
                (whole_action(visit, detail))
                (decision_forms(visit, detail, draft.as_ref())?)
            }
            (cause(visit, detail))
        }
        (neighbour_links(visit, item.item_id).await?)
    };
    visit.page_noting(Area::Approvals, &format!("{title} {}", item.number), &body, note).await
}

/// Returns the digest of what is shown of an item: that of its action, or of its own text when it has none.
pub(super) fn seen_digest(detail: &ItemDetail) -> String {
    let item = &detail.item;
    item.action_sha256.clone().unwrap_or_else(|| {
        sha256_hex(format!("{} {} {} {}", item.item_id, item.state, item.title, item.body).as_bytes())
    })
}

/// Returns the message of the action; none for any other item.
pub(super) fn message_of(detail: &ItemDetail) -> Option<&ComposedMessage> {
    detail.action.as_ref()?.action.effect.message()
}

/// Returns everything that is told about an item: first exactly what would be done, then why.
pub(super) fn whole_action(visit: &Visit, detail: &ItemDetail) -> Markup {
    let zone = visit.app().config.me.time_zone;
    html! {
        (facts(action_lines(detail, zone)))
        @if let Some(message) = message_of(detail) { div.message { (shown_lines(&message.body)) } }
        (facts(reason_lines(detail).into_iter().chain(task_lines(detail)).chain(effect_line(detail, zone))))
    }
}

/// Returns facts as a list of terms.
fn facts(facts: impl IntoIterator<Item = ItemLine>) -> Markup {
    html! {
        dl.facts {
            @for fact in facts {
                dt { (fact.label) }
                dd.warning[fact.is_warning] { (shown(&fact.text)) }
            }
        }
    }
}

/// Returns a warning once the item is not what the page shows any more. It is loaded again by itself; the page is not,
/// so that nobody decides about text that was exchanged under their hand.
fn freshness(visit: &Visit, detail: &ItemDetail) -> Markup {
    let (item, seen) = (&detail.item, seen_digest(detail));
    let asked = visit.query("seen");
    let has_changed = !asked.is_empty() && asked != seen;
    let was_open = visit.query("state") == ItemState::Open.as_str();
    let has_ended = was_open && item.state != ItemState::Open;
    let (seen, state) =
        if asked.is_empty() { (seen.as_str(), item.state.as_str()) } else { (asked, visit.query("state")) };
    let again = format!("/approvals/{}?seen={seen}&state={state}", item.number);
    html! {
        div #freshness hx-get=(again) hx-select="#freshness" hx-swap="outerHTML" hx-trigger="news from:#live throttle:1s" {
            @if has_ended {
                p.warning role="status" { "It was decided meanwhile. " a href={ "/approvals/" (item.number) } { "Load it again" } }
            } @else if has_changed {
                p.warning role="status" { "It has changed meanwhile. " a href={ "/approvals/" (item.number) } { "Load it again" } }
            }
        }
    }
}

/// The items before and after one in the queue, by number.
pub(super) struct Neighbours {
    pub(super) previous: Option<i64>,
    pub(super) next: Option<i64>,
}

impl Neighbours {
    /// Finds the neighbours of an item. An item that is not in the queue any more has the first as its next.
    pub(super) async fn find(visit: &Visit, item_id: ItemId) -> anyhow::Result<Self> {
        let items = visit.app().approvals().list().await?;
        let number = |at: Option<usize>| at.and_then(|at| items.get(at)).map(|item| item.number);
        Ok(match items.iter().position(|item| item.item_id == item_id) {
            Some(at) => Self { previous: number(at.checked_sub(1)), next: number(Some(at + 1)) },
            None => Self { previous: None, next: number(Some(0)) },
        })
    }

    /// Returns where a person goes on after they decided an item: the next one, else the one before, else the queue.
    pub(super) fn onward(&self) -> String {
        let number = self.next.or(self.previous);
        number.map_or_else(|| "/approvals".to_owned(), |number| format!("/approvals/{number}"))
    }
}

async fn neighbour_links(visit: &Visit, item_id: ItemId) -> Result<Markup, PageFailure> {
    let neighbours = Neighbours::find(visit, item_id).await?;
    Ok(html! {
        nav.neighbours aria-label="Other items" {
            @if let Some(number) = neighbours.previous {
                a href={ "/approvals/" (number) } rel="prev" data-key="k" { "Previous" }
            }
            @if let Some(number) = neighbours.next {
                a href={ "/approvals/" (number) } rel="next" data-key="j" { "Next" }
            }
        }
    })
}

fn cause(visit: &Visit, detail: &ItemDetail) -> Markup {
    let (Some(mail), Some(text)) = (&detail.mail, &detail.cause) else { return html! {} };
    html! {
        aside aria-label="The mail that caused it" {
            h2 { "The mail that caused it" }
            dl.facts {
                dt { "From" } dd { (shown_short(&mail.sender, 254)) }
                dt { "Subject" } dd { (shown_short(&mail.subject, 998)) }
                dt { "Arrived" } dd { bdi { (format_timestamp(mail.arrived_at, visit.app().config.me.time_zone)) } }
            }
            (shown_lines(text))
        }
    }
}
