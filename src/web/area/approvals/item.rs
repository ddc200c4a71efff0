//! One item: the exact action first, and beside it the mail that caused it.

use axum::extract::Path;
use maud::{Markup, html};

use crate::{
    app::{ItemDetail, is_approvable},
    model::{ItemState, OutboxState, action::ComposedMessage, ids::sha256_hex},
    web::{
        area::Area,
        page::{Answer, Failure, Visit, shown, shown_lines, shown_short},
    },
    wording::{
        description::{describe_effect, format_timestamp},
        item::{describe_expiry, describe_kind, describe_recipient},
    },
};

/// Shows one item.
pub(super) async fn show(visit: Visit, Path(item): Path<String>) -> Answer {
    let detail = visit.app().approvals().detail(&item).await?;
    let app = visit.app();
    let title = format!("{} {}", describe_kind(&detail), detail.item.number);
    let expiry = describe_expiry(&detail.item, app.clock.now(), app.config.me.time_zone);
    let body = html! {
        p.crumbs { a href="/approvals" { "Approvals" } }
        h1 { (title) }
        p.muted { (expiry) }
        div.beside {
            section aria-label="What would be done" {
                @if let Some(obstacle) = &detail.obstacle { p.warning { (shown(obstacle)) } }
                (action(&visit, &detail))
                (decisions(&visit, &detail)?)
            }
            (cause(&visit, &detail))
        }
    };
    visit.page(Area::Approvals, &title, &body).await
}

/// Returns the digest of what is shown of an item: that of its action, or of its own text when it has none.
pub(super) fn seen_digest(detail: &ItemDetail) -> String {
    let item = &detail.item;
    item.action_sha256.clone().unwrap_or_else(|| {
        sha256_hex(format!("{} {} {} {}", item.item_id, item.state, item.title, item.body).as_bytes())
    })
}

fn action(visit: &Visit, detail: &ItemDetail) -> Markup {
    let zone = visit.app().config.me.time_zone;
    let message = detail.action.as_ref().and_then(|row| row.action.effect.message());
    let reason = detail.item.body.get("reason").and_then(|reason| reason.as_str()).unwrap_or(&detail.item.title);
    html! {
        dl.facts {
            @if let Some(message) = message { (message_header(detail, message)) }
            dt { "Why" } dd { (shown(reason)) }
            @if !detail.on_yes.is_empty() { dt { "On yes" } dd { (shown(&detail.on_yes)) } }
            @if let Some(row) = detail.action.as_ref().filter(|row| row.state != OutboxState::Parked) {
                dt { "Effect" } dd { (describe_effect(row, zone)) }
            }
        }
        @if let Some(message) = message { (shown_lines(&message.body)) }
    }
}

fn message_header(detail: &ItemDetail, message: &ComposedMessage) -> Markup {
    html! {
        @for (nth, to) in detail.recipients.iter().enumerate() {
            @let (marks, is_doubtful) = describe_recipient(to);
            dt { (if nth < message.to.len() { "To" } else { "Cc" }) }
            dd { (shown_short(&to.address, 254)) " " span.tag.warning[is_doubtful] { (marks) } }
        }
        dt { "Subject" } dd { (shown_short(&message.subject, 998)) }
    }
}

fn decisions(visit: &Visit, detail: &ItemDetail) -> Result<Markup, Failure> {
    let (item, seen) = (&detail.item, seen_digest(detail));
    let path = |act: &str| format!("/approvals/{}/{act}", item.number);
    if item.state != ItemState::Open {
        return Ok(html! { p { "Decided: " (item.state) } });
    }
    let approve = html! { button.primary type="submit" data-key="a" { "Approve" } };
    let reject = html! {
        label { "Reason " input type="text" name="reason" autocomplete="off"; }
        button type="submit" data-key="r" { "Reject" }
    };
    Ok(html! {
        div.decisions {
            @if is_approvable(item) && detail.obstacle.is_none() { (visit.form(&path("approve"), &seen, &approve)?) }
            @if is_approvable(item) { (visit.form(&path("reject"), &seen, &reject)?) }
        }
    })
}

fn cause(visit: &Visit, detail: &ItemDetail) -> Markup {
    let (Some(mail), Some(text)) = (&detail.mail, &detail.cause) else { return html! {} };
    html! {
        aside aria-label="The mail that caused it" {
            dl.facts {
                dt { "From" } dd { (shown_short(&mail.sender, 254)) }
                dt { "Subject" } dd { (shown_short(&mail.subject, 998)) }
                dt { "Arrived" } dd { (format_timestamp(mail.arrived_at, visit.app().config.me.time_zone)) }
            }
            (shown_lines(text))
        }
    }
}
