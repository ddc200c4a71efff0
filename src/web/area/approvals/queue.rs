//! The queue: every open item in one line, the most urgent and oldest first, and above it what can still be taken back.

use maud::{Markup, html};

use super::decide::undo_form;
use crate::{
    app::{ItemDetail, is_approvable},
    model::{ItemKind, ItemRow, Priority},
    web::{
        area::Area,
        page::{PageAnswer, PageFailure, Visit, pager, shown_short},
    },
    wording::{
        description::{describe_age, describe_effect},
        escape_and_truncate,
        item::{describe_expiry, describe_kind, headline},
    },
};

/// How many items a page of the queue has.
const PAGE_SIZE: usize = 25;

/// What the person wants to see of the queue.
struct QueueFilter<'a> {
    kind: &'a str,
    sender: &'a str,
}

impl QueueFilter<'_> {
    fn admits(&self, item: &ItemRow) -> bool {
        (self.kind.is_empty() || item.kind.as_str() == self.kind)
            && (self.sender.is_empty() || item.sender == self.sender)
    }

    const fn is_set(&self) -> bool {
        !self.kind.is_empty() || !self.sender.is_empty()
    }
}

/// Shows the queue.
pub(super) async fn show(visit: Visit) -> PageAnswer {
    let approvals = visit.app().approvals();
    let items = approvals.list().await?;
    let filter = QueueFilter { kind: visit.query("kind"), sender: visit.query("sender") };
    let admitted: Vec<&ItemRow> = items.iter().filter(|item| filter.admits(item)).collect();
    let page = visit.page_number();
    let mut details = Vec::new();
    for item in admitted.iter().skip(page * PAGE_SIZE).take(PAGE_SIZE) {
        details.push(approvals.detail(&item.item_id.to_string()).await?);
    }
    let list = html! {
        (in_grace(&visit).await?)
        @if details.is_empty() {
            p.empty { (if filter.is_set() { "Nothing of this kind waits for you." } else { "Nothing waits for you." }) }
        } @else {
            (queue(&visit, &details))
        }
        (pager(&visit, admitted.len(), PAGE_SIZE))
    };
    let body = html! {
        h1 { "Approvals" }
        p.muted { "Nothing here happens before you say so." }
        @if items.len() > 1 || filter.is_set() { (filter_form(&items, &filter)) }
        (visit.live_region("queue", &list))
        (key_help())
    };
    visit.page(Area::Approvals, "Approvals", &body).await
}

fn queue(visit: &Visit, details: &[ItemDetail]) -> Markup {
    html! {
        form method="get" action="/approvals/batch" {
            ol.queue { @for detail in details { li data-row { (line(visit, detail)) } } }
            @if details.iter().filter(|detail| can_be_in_batch(detail)).count() > 1 {
                p.actions { button type="submit" data-key="b" { "Preview the selected ones" } }
            }
        }
    }
}

/// Returns whether the item can be approved together with others.
pub(super) fn can_be_in_batch(detail: &ItemDetail) -> bool {
    is_approvable(&detail.item) && detail.obstacle.is_none()
}

fn line(visit: &Visit, detail: &ItemDetail) -> Markup {
    let app = visit.app();
    let (item, now) = (&detail.item, app.clock.now());
    let number = item.number;
    let priority = detail.task.as_ref().map(|row| row.task.priority);
    html! {
        @if can_be_in_batch(detail) {
            input type="checkbox" name="item" value=(number) aria-label={ "Select number " (number) };
        }
        a.row href={ "/approvals/" (number) } {
            span.what { (shown_short(&headline(detail), 160)) }
            span.about {
                span.tag { (describe_kind(detail)) }
                @if let Some(priority) = priority.filter(|priority| *priority >= Priority::High) {
                    span.tag.(priority.as_str()) { (priority) }
                }
                @if !item.sender.is_empty() { span { "from " (shown_short(&item.sender, 60)) } }
                span { "waits " (describe_age(item.created_at, now)) }
                span { (describe_expiry(item, now, app.config.me.time_zone)) }
            }
        }
    }
}

/// Returns the approvals whose effect has not begun.
async fn in_grace(visit: &Visit) -> Result<Markup, PageFailure> {
    let approvals = visit.app().approvals();
    let zone = visit.app().config.me.time_zone;
    let mut lines = Vec::new();
    for item in approvals.list_in_grace().await? {
        let detail = approvals.detail(&item.item_id.to_string()).await?;
        let Some(effect) = detail.action.as_ref().map(|row| describe_effect(row, zone)) else { continue };
        lines.push((shown_short(&headline(&detail), 160), effect, undo_form(visit, &[item.number])?));
    }
    Ok(html! {
        @for (what, effect, undo) in &lines {
            div.note { p { (what) ": " (effect) "." } (undo) }
        }
    })
}

fn filter_form(items: &[ItemRow], filter: &QueueFilter<'_>) -> Markup {
    let mut senders: Vec<&str> =
        items.iter().map(|item| item.sender.as_str()).filter(|sender| !sender.is_empty()).collect();
    senders.sort_unstable();
    senders.dedup();
    html! {
        form.filter method="get" action="/approvals" role="search" {
            label {
                span { "Kind" }
                select name="kind" data-submit {
                    option value="" { "all" }
                    @for kind in ItemKind::ALL {
                        option value=(kind.as_str()) selected[filter.kind == kind.as_str()] { (kind.as_str().replace('_', " ")) }
                    }
                }
            }
            label {
                span { "From" }
                select name="sender" data-submit {
                    option value="" { "everybody" }
                    @for sender in senders {
                        option value=(sender) selected[filter.sender == sender] { (escape_and_truncate(sender, 60)) }
                    }
                }
            }
            button type="submit" { "Show" }
        }
    }
}

fn key_help() -> Markup {
    html! {
        details.keys {
            summary data-key="?" { "Keys" }
            dl.facts {
                dt { kbd { "j" } " " kbd { "k" } } dd { "next, previous" }
                dt { kbd { "Enter" } } dd { "open what is selected" }
                dt { kbd { "x" } " " kbd { "b" } } dd { "select; preview what is selected, and approve it at once" }
                dt { kbd { "a" } " " kbd { "e" } " " kbd { "r" } " " kbd { "t" } " " kbd { "s" } }
                dd { "on an item: approve, edit, reject, tell what to do instead, snooze" }
                dt { kbd { "u" } } dd { "undo the last approval" }
            }
        }
    }
}
