//! Approving several items at once: each is shown in full first, and the approval is bound to all of them as shown.

use maud::html;

use super::{
    decide::said_on_page,
    item::{message_of, whole_action},
    queue::can_be_in_batch,
};
use crate::{
    app::ItemDetail,
    model::{DecisionKind, ids::sha256_hex},
    web::{
        area::Area,
        page::{PageAnswer, PageChange, PageFailure, PageNote, Visit, direction, shown_short},
    },
    wording::item::headline,
};

/// The most items of one batch. Nobody reads more at once.
const MOST_ITEMS: usize = 25;

/// Shows the selected items in full.
pub(super) async fn preview(visit: Visit) -> PageAnswer {
    let mut details = Vec::new();
    for number in visit.query_all("item").take(MOST_ITEMS) {
        details.push(visit.app().approvals().detail(number).await?);
    }
    let (ready, left_out): (Vec<_>, Vec<_>) = details.into_iter().partition(can_be_in_batch);
    let names: Vec<String> = ready.iter().map(name_with_digest).collect();
    let count = ready.len();
    let fields = html! {
        @for name in &names { input type="hidden" name="item" value=(name); }
        button.primary type="submit" data-key="a" { (if count == 1 { "Approve this one".to_owned() } else { format!("Approve these {count}") }) }
        " " a.button href="/approvals" data-key="q" { "Back" }
    };
    let body = html! {
        p.crumbs { a href="/approvals" { "Approvals" } }
        h1 { "Approve several" }
        @for detail in &left_out {
            p.warning { "Not in a batch: " (shown_short(&headline(detail), 160)) }
        }
        @if ready.is_empty() {
            p.empty { "Nothing is selected." }
            p { a.button href="/approvals" { "Back" } }
        } @else {
            p.muted { "This is everything that would be done." }
            @for detail in &ready {
                section.card dir=[message_of(detail).map(|message| direction(&message.body))] {
                    h2 { "Number " (detail.item.number) }
                    (whole_action(&visit, detail))
                }
            }
            (visit.form("/approvals/batch", &digest_of(&names), &fields)?)
        }
    };
    visit.page(Area::Approvals, "Approve several", &body).await
}

/// Returns an item with the digest of what is shown of it.
fn name_with_digest(detail: &ItemDetail) -> String {
    format!("{}:{}", detail.item.number, detail.item.action_sha256.as_deref().unwrap_or_default())
}

fn digest_of<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    sha256_hex(names.join("\n").as_bytes())
}

/// Approves every item of the batch that is still what was shown, and names the others.
pub(super) async fn approve(change: PageChange) -> PageAnswer {
    let names: Vec<&str> = change.form.get_all("item").collect();
    if digest_of(&names) != change.form.seen() {
        return Err(PageFailure::Outdated);
    }
    let approvals = change.visit.app().approvals();
    let mut approved = Vec::new();
    let mut refused = Vec::new();
    for name in names {
        let Some((number, seen)) = name.split_once(':') else { continue };
        let decided = async {
            let id = approvals.find_id(number).await?;
            approvals.decide(id, said_on_page(DecisionKind::Approve, "", seen)).await
        };
        match decided.await {
            Ok(_) => approved.push(number),
            Err(error) => refused.push(format!("number {number}: {error:#}")),
        }
    }
    let told = if refused.is_empty() {
        format!("{} approved.", approved.len())
    } else {
        format!("{} approved. Not approved: {}.", approved.len(), refused.join("; "))
    };
    let note = if refused.is_empty() { PageNote::done(told) } else { PageNote::refused(told) };
    let note = if approved.is_empty() { note } else { note.with_undo("/approvals/undo", &approved.join(",")) };
    change.visit.redirect("/approvals", note)
}
