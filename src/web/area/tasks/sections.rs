//! The parts of a task's page: its steps, what was done and found, and the records of it.

use maud::{Markup, html};

use super::{line::task_path, seen::seen_revision};
use crate::{
    app::TaskDetail,
    model::{RunRow, audit::AuditLine},
    web::{
        area::runs::run_link,
        page::{PageFailure, Visit, direction, shown, shown_lines, shown_short},
    },
    wording::{
        description::{describe_effect, format_timestamp, localise_times},
        output::describe_output,
    },
};

/// Returns the plan, with a button for each step that a person may mark as done.
pub(super) fn steps(visit: &Visit, detail: &TaskDetail) -> Result<Markup, PageFailure> {
    let (row, seen) = (&detail.row, seen_revision(&detail.row));
    let path = format!("{}/step", task_path(row));
    let mut lines = Vec::new();
    for subtask in &row.task.subtasks {
        let button = if subtask.done || row.task.status.is_terminal() {
            html! {}
        } else {
            let name = subtask.step.replace('_', " ");
            visit.form(
                &path,
                &seen,
                &html! {
                    input type="hidden" name="step" value=(subtask.step);
                    button type="submit" aria-label={ "Step done: " (name) } { "Done" }
                },
            )?
        };
        lines.push((subtask, button));
    }
    Ok(html! {
        @if !lines.is_empty() {
            h2 { "Steps" }
            ol.steps {
                @for (subtask, button) in lines {
                    li.done[subtask.done] {
                        span { (shown_short(&subtask.step.replace('_', " "), 120)) }
                        @if subtask.done { " " span.tag { "done" } }
                        (button)
                    }
                }
            }
        }
    })
}

/// Returns what was done, or waits to be done, to the outside.
pub(super) fn effects(visit: &Visit, detail: &TaskDetail) -> Markup {
    let zone = visit.app().config.me.time_zone;
    html! {
        @if !detail.effects.is_empty() {
            h2 { "Effects" }
            ul.plain {
                @for effect in &detail.effects {
                    li {
                        b { (shown_short(&effect.action.tool.replace('_', " "), 80)) } " "
                        span.tag { (effect.class) } " "
                        (shown(&describe_effect(effect, zone)))
                        span.muted { " · " (format_timestamp(effect.updated_at, zone)) }
                    }
                }
            }
        }
    }
}

/// Returns what the tools found out, and what was said about the task later.
pub(super) fn found(visit: &Visit, detail: &TaskDetail) -> Markup {
    let zone = visit.app().config.me.time_zone;
    let lines = describe_output(detail.row.task.tool_output.as_ref(), zone);
    let notes = detail.row.task.context.notes();
    html! {
        @if !lines.is_empty() {
            h2 { "Found out" }
            (shown_lines(&lines.join("\n")))
        }
        @if !notes.is_empty() {
            h2 { "Said about it" }
            @for note in &notes {
                blockquote dir=(direction(&note.text)) {
                    (shown(&note.text))
                    footer.muted { (shown_short(&note.who, 120)) ", " (format_timestamp(note.at, zone)) }
                }
            }
        }
    }
}

/// Returns what was known before that may have to do with the task, each with why it was found.
pub(super) fn related(detail: &TaskDetail) -> Markup {
    html! {
        @if !detail.documents.is_empty() {
            h2 { "Related" }
            ul.plain {
                @for document in &detail.documents {
                    li {
                        a href=(document_path(&document.doc)) { (shown_short(&document.title, 120)) }
                        span.muted { " " (shown_short(&document.reasons.join(", "), 200)) }
                    }
                }
            }
        }
    }
}

/// Returns the page of a document, which is named `task:ID` or `mail:NUMBER`.
fn document_path(doc: &str) -> String {
    match doc.split_once(':') {
        Some(("mail", number)) => format!("/mail/{number}"),
        _ => format!("/tasks/{}", doc.trim_start_matches("task:")),
    }
}

/// Returns the runs of the task.
pub(super) fn runs(visit: &Visit, runs: &[RunRow]) -> Markup {
    let zone = visit.app().config.me.time_zone;
    html! {
        @if runs.len() > 1 {
            details {
                summary { "All " (runs.len()) " runs" }
                ul.plain { @for run in runs { li { (run_link(run, zone)) } } }
            }
        }
    }
}

/// Returns the later mails about the same, each with the evidence.
pub(super) fn follow_ups(visit: &Visit, detail: &TaskDetail) -> Markup {
    let zone = visit.app().config.me.time_zone;
    html! {
        @if !detail.follow_ups.is_empty() {
            section aria-labelledby="follow-ups" {
                h2 #follow-ups { "Later mails about it" }
                ul.plain {
                    @for mail in &detail.follow_ups {
                        li {
                            a href={ "/mail/" (mail.mail_id) } { (shown_short(&mail.subject, 160)) }
                            " from " (shown_short(&mail.sender, 120))
                            span.muted { ", " (format_timestamp(mail.at, zone)) ": " (shown_short(&mail.reason, 200)) }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the history: every change with who made it and why.
pub(super) fn history(visit: &Visit, detail: &TaskDetail) -> Markup {
    let zone = visit.app().config.me.time_zone;
    let value = |text: &str| shown_short(&localise_times(text, zone), 200);
    html! {
        section aria-labelledby="history" {
            h2 #history { "History" }
            div.scroll tabindex="0" role="region" aria-label="The history as a table" {
                table {
                    thead { tr { th scope="col" { "When" } th scope="col" { "What" } th scope="col" { "From" }
                        th scope="col" { "To" } th scope="col" { "Who" } th scope="col" { "Why" } } }
                    tbody {
                        @for entry in &detail.history {
                            tr {
                                td.time { (format_timestamp(entry.at, zone)) }
                                td { (shown_short(&entry.field, 60)) }
                                td { (value(&entry.from)) }
                                td { (value(&entry.to)) }
                                td { (entry.who) }
                                td { (value(&entry.why)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns lines of the audit chain, the newest first.
pub(in crate::web) fn audit(visit: &Visit, lines: &[AuditLine]) -> Markup {
    let zone = visit.app().config.me.time_zone;
    html! {
        @if !lines.is_empty() {
            section aria-labelledby="audit" {
                h2 #audit { "Audit chain" }
                details {
                    summary { (lines.len()) " lines" }
                    div.scroll tabindex="0" role="region" aria-label="The lines as a table" {
                        table {
                            thead { tr { th.number scope="col" { "Line" } th scope="col" { "When" } th scope="col" { "Who" }
                                th scope="col" { "Act" } th scope="col" { "Detail" } } }
                            tbody {
                                @for line in lines {
                                    tr {
                                        td.number { (line.seq) }
                                        td.time { (format_timestamp(line.entry.at, zone)) }
                                        td { (line.entry.who) }
                                        td { (shown_short(&line.entry.act.replace('_', " "), 60)) }
                                        td { (shown_short(&localise_times(&line.entry.detail, zone), 300)) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
