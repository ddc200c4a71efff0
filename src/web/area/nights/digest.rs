//! The digest of the last hours.

use maud::{Markup, html};

use crate::{
    app::DigestReport,
    model::TaskRow,
    web::{
        area::Area,
        page::{PageAnswer, Visit, shown_short},
    },
    wording::description::{format_deadline, format_timestamp},
};

/// How many hours the digest covers unless the address says otherwise.
const HOURS: i64 = 24;
/// The longest time that a digest covers: a month.
const MOST_HOURS: i64 = 31 * 24;
/// The most entries of a list; the areas themselves have the rest.
const MOST_SHOWN: usize = 40;

/// Shows the digest.
pub(super) async fn show(visit: Visit) -> PageAnswer {
    let hours = visit.query("hours").parse().unwrap_or(HOURS).clamp(1, MOST_HOURS);
    let digest = visit.app().nightly().build_digest(hours).await?;
    let zone = visit.app().config.me.time_zone;
    let body = html! {
        p.crumbs { a href="/nights" { "Nights" } }
        h1 { "Digest" }
        p.muted {
            "Since " (format_timestamp(digest.since, zone)) ". "
            @for (hours, name) in [(24, "Last day"), (72, "Three days"), (168, "Week")] {
                a href={ "/nights/digest?hours=" (hours) } { (name) } " "
            }
        }
        (tasks(&visit, "Done", &digest.done))
        (waiting(&digest))
        (tasks(&visit, "Overdue", &digest.overdue))
        (warned(&digest))
        (learned(&digest))
        (tasks(&visit, "Cancelled as duplicates", &digest.cancelled_duplicates))
        (archived(&digest))
    };
    visit.page(Area::Nights, "Digest", &body).await
}

/// Returns a list with its number as the heading. Nothing more is said about an empty one.
fn counted(title: &str, count: usize, lines: impl Iterator<Item = Markup>) -> Markup {
    html! {
        h2 { (title) ": " (count) }
        @if count > 0 { ul { @for line in lines.take(MOST_SHOWN) { li { (line) } } } }
        @if count > MOST_SHOWN { p.muted { "… and " (count - MOST_SHOWN) " more." } }
    }
}

fn tasks(visit: &Visit, title: &str, rows: &[TaskRow]) -> Markup {
    let zone = visit.app().config.me.time_zone;
    counted(title, rows.len(), rows.iter().map(|row| html! {
        @match row.number {
            Some(number) => a href={ "/tasks/" (number) } { (number) ". " (shown_short(&row.task.objective, 160)) },
            None => (shown_short(&row.task.objective, 160)),
        }
        @if let Some(person) = &row.task.context.person { " · " (shown_short(person, 60)) }
        @if let Some(deadline) = &row.task.context.deadline { " · due " (format_deadline(deadline, zone)) }
    }))
}

fn waiting(digest: &DigestReport) -> Markup {
    counted(
        "Waiting for you",
        digest.waiting.len(),
        digest.waiting.iter().map(|item| {
            html! {
                a href={ "/approvals/" (item.number) } { (item.number) ". " (shown_short(&item.title, 160)) }
            }
        }),
    )
}

fn warned(digest: &DigestReport) -> Markup {
    counted(
        "Warned of",
        digest.warned.len(),
        digest.warned.iter().map(|row| {
            html! {
                a href={ "/mail/" (row.mail_id) } { "mail " (row.mail_id) ": " (shown_short(&row.subject, 100)) }
                @if let Some(warning) = row.warnings.first() { " · " (shown_short(&warning.text, 160)) }
            }
        }),
    )
}

fn learned(digest: &DigestReport) -> Markup {
    counted("Learned", digest.learned.len(), digest.learned.iter().map(|change| html! {
        a href={ "/rules/versions/" (change.version) } { "version " (change.version) } ": " (shown_short(&change.why, 200))
    }))
}

fn archived(digest: &DigestReport) -> Markup {
    counted(
        "Archived",
        digest.archived.len(),
        digest.archived.iter().map(|mail| {
            html! {
                a href={ "/mail/" (mail.mail) } { "mail " (mail.mail) ": " (shown_short(&mail.subject, 160)) }
            }
        }),
    )
}
