//! The queue: every open item in one line, the most urgent first.

use maud::{Markup, html};

use crate::{
    app::ItemDetail,
    web::{
        area::Area,
        page::{Answer, Visit, shown_short},
    },
    wording::item::{describe_expiry, describe_kind, headline},
};

/// Shows the queue.
pub(super) async fn show(visit: Visit) -> Answer {
    let mut details = Vec::new();
    for item in visit.app().approvals().list().await? {
        details.push(visit.app().approvals().detail(&item.item_id.to_string()).await?);
    }
    let body = html! {
        h1 { "Approvals" }
        @if details.is_empty() {
            p.empty { "Nothing waits for you." }
        } @else {
            ol.queue { @for detail in &details { li { (line(&visit, detail)) } } }
        }
    };
    visit.page(Area::Approvals, "Approvals", &body).await
}

fn line(visit: &Visit, detail: &ItemDetail) -> Markup {
    let app = visit.app();
    let expiry = describe_expiry(&detail.item, app.clock.now(), app.config.me.time_zone);
    html! {
        a.row href={ "/approvals/" (detail.item.number) } {
            span.tag { (describe_kind(detail)) }
            span.what { (shown_short(&headline(detail), 160)) }
            span.muted { (expiry) }
        }
    }
}
