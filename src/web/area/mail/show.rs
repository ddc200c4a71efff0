//! The page of one mail: what became of it and why, what it says, and what a person can correct.

use axum::extract::Path;
use maud::{Markup, html};

use super::{
    change::seen_outcome,
    content::{mail_content, rest_of_mail},
    list::outcome_words,
};
use crate::{
    app::{MailDetail, parse_mail_id},
    model::{LedgerRow, MailState, RunRow, audit::AuditLine, reading::MailWarning},
    web::{
        area::{
            Area,
            runs::run_link,
            tasks::{audit_section, task_link},
        },
        page::{PageAnswer, PageFailure, Visit, direction, shown, shown_short},
    },
    wording::description::{describe_effect, format_timestamp, localise_times},
};

/// How many runs and lines of the audit chain are shown.
const MOST_RECORDS: usize = 50;

/// Shows one mail.
pub(super) async fn show(visit: Visit, Path(mail): Path<String>) -> PageAnswer {
    let app = visit.app();
    let detail = app.mail().detail(parse_mail_id(&mail)?).await?;
    let mail_id = detail.row.mail_id;
    let runs = app.runs().of_mail(mail_id, MOST_RECORDS).await?;
    let lines = app.audit().lines_about(vec![format!("mail:{mail_id}")], MOST_RECORDS).await?;
    let subject = if detail.row.subject.trim().is_empty() { "(no subject)" } else { &detail.row.subject };
    let body = html! {
        p.crumbs { a href="/mail" { "Mail" } }
        h1 dir=(direction(subject)) { (shown_short(subject, 300)) }
        (outcome(&visit, &detail))
        (corrections(&visit, &detail).await?)
        section.card aria-label="The mail" {
            (mail_content(&visit, &detail))
            @if let Some(mail) = &detail.mail { (rest_of_mail(mail)) }
        }
        (records(&visit, &detail, &runs, &lines))
    };
    visit.page(Area::Mail, &format!("Mail {mail_id}"), &body).await
}

/// Returns what became of the mail.
fn outcome(visit: &Visit, detail: &MailDetail) -> Markup {
    let (row, zone) = (&detail.row, visit.app().config.me.time_zone);
    html! {
        p {
            span.tag.outcome.(row.state.as_str()) { (outcome_words(row.state)) } " "
            (shown(&localise_times(&row.reason, zone)))
        }
        p.muted {
            "Mail " (row.mail_id) " in " (shown_short(row.account.as_str(), 60)) " (" (shown_short(&row.folder, 80)) "), "
            (format_timestamp(row.arrived_at, zone))
        }
        @if !detail.tasks.is_empty() {
            ul.plain {
                @for task in &detail.tasks {
                    li {
                        (task_link(task))
                        span.muted { " " (task.task.priority) ", " (task.task.status.as_str().to_lowercase().replace('_', " ")) }
                    }
                }
            }
        }
        @for effect in &detail.effects {
            p.muted {
                "By your rules: " (shown_short(&effect.action.step.replace('_', " "), 80)) ": "
                (shown_short(&describe_effect(effect, zone), 200))
            }
        }
    }
}

/// Returns the forms by which a person corrects what became of the mail.
async fn corrections(visit: &Visit, detail: &MailDetail) -> Result<Markup, PageFailure> {
    let row = &detail.row;
    let seen = seen_outcome(row);
    let form = |act: &str, label: &str| {
        let button = html! { button type="submit" { (label) } };
        visit.form(&format!("/mail/{}/{act}", row.mail_id), &seen, &button)
    };
    let is_muted = is_muted(visit, row).await?;
    let is_read = detail.mail.is_some();
    Ok(html! {
        div.decisions {
            @if matches!(row.state, MailState::Task | MailState::Linked) { (form("not-a-task", "This is not a task")?) }
            @if row.state == MailState::NoTask && is_read {
                (form("make-task", "Make it a task")?)
                (form("archive", "Archive it")?)
            }
            @if row.warnings.iter().any(MailWarning::is_about_deceit) { (form("genuine", "It is genuine")?) }
            @if !row.sender.is_empty() {
                @if is_muted {
                    (form("unmute", "Open tasks for its sender again")?)
                } @else {
                    (form("mute", "Open no tasks for its sender")?)
                }
            }
        }
    })
}

async fn is_muted(visit: &Visit, row: &LedgerRow) -> anyhow::Result<bool> {
    let muted = visit.app().mail().list_muted().await?;
    Ok(muted.iter().any(|known| known.account == row.account && known.address == row.sender))
}

fn records(visit: &Visit, detail: &MailDetail, runs: &[RunRow], lines: &[AuditLine]) -> Markup {
    let zone = visit.app().config.me.time_zone;
    let mail = detail.mail.as_ref();
    html! {
        @if !runs.is_empty() {
            section aria-labelledby="runs" {
                h2 #runs { "How it was read" }
                ul.plain { @for run in runs { li { (run_link(run, zone)) } } }
            }
        }
        @if let Some(header) = mail.and_then(|mail| mail.bulk_header.as_deref()) {
            p.muted { "Sent to many or by a machine: its header " (shown_short(header, 120)) " says so." }
        }
        (audit_section(visit, lines))
    }
}
