//! The list of runs, a page at a time.

use chrono_tz::Tz;
use maud::{Markup, html};

use crate::{
    model::{RunId, RunRow, RunStatus},
    web::{
        area::Area,
        page::{PageAnswer, Visit, shown_short},
    },
    wording::description::{describe_wait, format_timestamp, localise_times},
};

/// How many runs a page has.
const PAGE: usize = 50;

/// Shows one page of the list.
pub(super) async fn show(visit: Visit) -> PageAnswer {
    let status = visit.parsed::<RunStatus>("status")?;
    let before = visit.parsed::<RunId>("before")?;
    // One more than a page has tells whether there is a next page.
    let mut rows = visit.app().runs().before(status, before, PAGE + 1).await?;
    let has_more = rows.len() > PAGE;
    rows.truncate(PAGE);
    let next = rows.last().map(|row| row.run_id).filter(|_| has_more);
    let address = format!("/runs?status={}", status.map_or("", RunStatus::as_str));
    let list = html! {
        @if rows.is_empty() {
            p.empty { "There is no run here." }
        } @else {
            ol.queue { @for row in &rows { li data-row { (line(&visit, row)) } } }
        }
        nav.pages aria-label="Pages" {
            @if before.is_some() { a.button href=(address) { "First page" } }
            @if let Some(next) = next { a.button rel="next" href={ (address) "&before=" (next) } { "Next page" } }
        }
    };
    let body = html! {
        h1 { "Runs" }
        p.muted { "Every pass of a mail or a task through the graph, the newest first." }
        nav.tabs aria-label="Status" {
            a href="/runs" aria-current=[status.is_none().then_some("page")] { "Every status" }
            @for known in RunStatus::ALL.iter().copied() {
                a href={ "/runs?status=" (known) } aria-current=[(status == Some(known)).then_some("page")] { (known) }
            }
        }
        (visit.live_region("list", &list))
    };
    visit.page(Area::Runs, "Runs", &body).await
}

fn line(visit: &Visit, row: &RunRow) -> Markup {
    let zone = visit.app().config.me.time_zone;
    let wait = describe_wait(row, visit.app().clock.now(), zone);
    let reason = wait.unwrap_or_else(|| localise_times(&row.reason, zone));
    html! {
        div.line {
            span.tag.run.(row.status.as_str()) { (row.status) }
            div.what {
                p.title { a href={ "/runs/" (row.run_id) } { (title(row)) } " " (about(row)) }
                p.muted {
                    (format_timestamp(row.created_at, zone)) " · " (row.seq) " steps · " (row.node.as_str().replace('_', " "))
                    @if !reason.is_empty() { " · " (shown_short(&reason, 160)) }
                }
            }
        }
    }
}

/// Returns what a run is for.
pub(super) fn title(row: &RunRow) -> String {
    let id = row.run_id.to_string();
    let end: String = id.chars().skip(id.chars().count().saturating_sub(6)).collect();
    let fork = if row.fork_of.is_some() { ", fork" } else { "" };
    format!("{} run …{end}{fork}", row.kind)
}

/// Returns links to the task or the mail that a run is about.
pub(super) fn about(row: &RunRow) -> Markup {
    html! {
        @match (row.task_id, row.mail_id) {
            (Some(id), _) => { "of " a href={ "/tasks/" (id) } { "its task" } }
            (None, Some(id)) => { "of " a href={ "/mail/" (id) } { "mail " (id) } }
            (None, None) => {}
        }
    }
}

/// Returns a link to a run, with how it ended.
pub(in crate::web) fn run_link(row: &RunRow, zone: Tz) -> Markup {
    html! {
        a href={ "/runs/" (row.run_id) } { (title(row)) }
        span.muted {
            " " (row.status) ", " (format_timestamp(row.created_at, zone))
            @if !row.reason.is_empty() { ": " (shown_short(&localise_times(&row.reason, zone), 160)) }
        }
    }
}
