//! The page of one task: what it is and from which mail, what a person can do, and how it came to be what it is.

use axum::extract::Path;
use maud::{Markup, html};

use super::{
    forms::task_forms,
    line::{priority_reason, priority_tag, status_words, task_path},
    sections,
};
use crate::{
    app::{MailDetail, TaskDetail},
    model::{Mail, RunKind, RunRow, TaskRow, WarningKind, audit::AuditLine},
    web::{
        area::{Area, mail::mail_content, runs::run_section},
        page::{PageAnswer, PageFailure, Visit, direction, shown, shown_lines, shown_short},
    },
    wording::description::{describe_wait, format_deadline, format_moment},
};

/// How many lines of the audit chain are shown.
const AUDIT_LINES: usize = 100;
/// How many runs are listed.
const RUNS: usize = 20;

/// Shows one task.
pub(super) async fn show(visit: Visit, Path(task): Path<String>) -> PageAnswer {
    let app = visit.app();
    let detail = app.tasks().detail(&task).await?;
    let mail = match detail.row.mail_id {
        Some(mail_id) => Some(app.mail().detail(mail_id).await?),
        None => None,
    };
    let runs = app.runs().of_task(detail.row.task.task_id, RUNS).await?;
    let lines = app.audit().lines_about(audit_subjects(&detail), AUDIT_LINES).await?;
    let body = html! {
        p.crumbs { a href="/tasks" { "Tasks" } }
        (head(&visit, &detail))
        (warnings(&detail.row))
        div.beside {
            section aria-label="The task" {
                (task_forms(&visit, &detail.row)?)
                (sections::steps(&visit, &detail)?)
                (sections::effects(&visit, &detail))
                (sections::found(&visit, &detail))
                (sections::related(&detail))
            }
            @if let Some(mail) = &mail { (mail_aside(&visit, mail)) }
        }
        (trail(&visit, &detail, &runs, &lines).await?)
    };
    let title = detail.row.number.map_or_else(|| "Task".to_owned(), |number| format!("Task {number}"));
    visit.page(Area::Tasks, &title, &body).await
}

/// Returns under which names the audit chain speaks of a task.
fn audit_subjects(detail: &TaskDetail) -> Vec<String> {
    let actions = detail.effects.iter().map(|effect| format!("action:{}", effect.action.action_id));
    std::iter::once(format!("task:{}", detail.row.task.task_id)).chain(actions).collect()
}

fn head(visit: &Visit, detail: &TaskDetail) -> Markup {
    let (row, zone, now) = (&detail.row, visit.app().config.me.time_zone, visit.app().clock.now());
    let (task, context) = (&row.task, &row.task.context);
    let hidden = row.snooze_until.filter(|until| *until > now);
    let evidence = context.more.get("evidence").and_then(|value| value.as_str());
    html! {
        h1 dir=(direction(&task.objective)) { (shown(&task.objective)) }
        p.muted {
            @if let Some(number) = row.number { "Task " (number) " · " }
            (status_words(task.status)) " · " (priority_tag(task.priority)) " "
            a href={ (task_path(row)) "/why" } { (shown_short(&priority_reason(row, &visit.app().rules().load().rules), 120)) }
        }
        dl.facts {
            @if let Some(deadline) = &context.deadline { dt { "Deadline" } dd { (shown(&format_deadline(deadline, zone))) } }
            @if let Some(person) = &context.person { dt { "Person" } dd { (shown_short(person, 200)) } }
            @if let Some(length) = &context.meeting_duration { dt { "Length" } dd { (shown_short(length, 40)) } }
            @if let Some(until) = hidden { dt { "Hidden until" } dd { (format_moment(until, zone)) } }
            @for run in &detail.waits {
                @if let Some(wait) = describe_wait(run, now, zone) { dt { "It" } dd { (shown(&wait)) } }
            }
            @if let Some(evidence) = evidence { dt { "Because" } dd { "“" (shown_short(evidence, 400)) "”" } }
            @if let Some(summary) = &task.result_summary { dt { "Result" } dd { (shown(summary)) } }
            dt { "Account" } dd { (shown(row.account.as_str())) }
            dt { "Source" } dd { (shown_short(&task.source, 200)) }
        }
        @if let Some(description) = &context.description { (shown_lines(description)) }
    }
}

/// Returns the warnings of the mail. A person reads them before anything else.
fn warnings(row: &TaskRow) -> Markup {
    let warnings = row.task.context.warnings();
    let is_unreadable = warnings.is_empty() && row.task.context.has_warning(WarningKind::Phishing);
    html! {
        @for warning in &warnings { p.warning role="note" { b { (warning.kind) ":" } " " (shown(&warning.text)) } }
        @if is_unreadable { p.warning role="note" { "What its mail was warned of cannot be read, so it counts as deceit." } }
    }
}

fn mail_aside(visit: &Visit, detail: &MailDetail) -> Markup {
    html! {
        aside aria-label="The mail" {
            h2 { "The mail" }
            (mail_content(visit, detail))
            p { a href={ "/mail/" (detail.row.mail_id) } { "Everything about mail " (detail.row.mail_id) } }
            @if detail.mail.as_ref().is_some_and(|mail: &Mail| mail.hidden_text.is_some()) {
                p.muted { "It has text that a reader does not see; the page of the mail shows it." }
            }
        }
    }
}

async fn trail(
    visit: &Visit,
    detail: &TaskDetail,
    runs: &[RunRow],
    lines: &[AuditLine],
) -> Result<Markup, PageFailure> {
    // The newest run that is no experiment and did more than rank the task again shows how it was worked.
    let worked = |run: &&RunRow| run.fork_of.is_none() && run.kind != RunKind::Rank;
    let graph = match runs.iter().find(worked) {
        Some(run) => run_section(visit, &visit.app().runs().trace(&run.run_id.to_string()).await?),
        None => html! { p.muted { "No run has worked it yet." } },
    };
    Ok(html! {
        section aria-labelledby="run" {
            h2 #run { "How it was worked" }
            (graph)
            (sections::runs(visit, runs))
        }
        (sections::follow_ups(visit, detail))
        (sections::history(visit, detail))
        (sections::audit(visit, lines))
    })
}
