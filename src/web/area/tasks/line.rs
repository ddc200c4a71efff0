//! A task in one line: its priority and why, what it is, and what comes next.

use maud::{Markup, html};

use super::seen::seen_revision;
use crate::{
    app::next_step,
    model::{Priority, TaskRow, TaskStatus},
    rules::RuleSet,
    web::page::{PageFailure, Visit, direction, shown_short},
    wording::description::format_deadline,
};

/// The longest title in a list.
const LONGEST_TITLE: usize = 160;

/// Returns the path of a task's page.
pub(in crate::web) fn task_path(row: &TaskRow) -> String {
    let name = row.number.map_or_else(|| row.task.task_id.to_string(), |number| number.to_string());
    format!("/tasks/{name}")
}

/// Returns the title of a task as a link to its page.
pub(in crate::web) fn task_link(row: &TaskRow) -> Markup {
    html! { a href=(task_path(row)) { (shown_short(&row.task.objective, LONGEST_TITLE)) } }
}

/// Returns a priority as a mark.
pub(super) fn priority_tag(priority: Priority) -> Markup {
    html! { span.tag.priority.(priority.as_str()) { (priority) } }
}

/// Returns where a task stands, in words.
pub(super) const fn status_words(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::New => "new",
        TaskStatus::Ready => "to do",
        TaskStatus::InProgress => "in progress",
        TaskStatus::WaitingHitl => "waits for your decision",
        TaskStatus::Done => "done",
        TaskStatus::Cancelled => "cancelled",
    }
}

/// Returns in one line why a task has its priority.
pub(super) fn priority_reason(row: &TaskRow, rules: &RuleSet) -> String {
    if row.hand_ranked {
        return "you set it".into();
    }
    match rules.reason_of(&row.rule) {
        Some(why) if !why.is_empty() => why.to_owned(),
        _ if row.rule.is_empty() => "not ranked yet".into(),
        _ if row.rule == RuleSet::DEFAULT_RULE_NAME => "no rule applies".into(),
        _ => row.rule.replace('-', " "),
    }
}

/// Returns a task in a list. `back` is the page to which its button leads back; without one there is no button.
pub(super) fn task_line(
    visit: &Visit,
    row: &TaskRow,
    rules: &RuleSet,
    back: Option<&str>,
) -> Result<Markup, PageFailure> {
    let (task, zone) = (&row.task, visit.app().config.me.time_zone);
    let next = match task.status {
        TaskStatus::WaitingHitl => "next: your decision".to_owned(),
        TaskStatus::Done | TaskStatus::Cancelled => status_words(task.status).to_owned(),
        _ => format!("next: {}", next_step(row).trim_start_matches("you: ")),
    };
    let hidden = row.snooze_until.filter(|until| *until > visit.app().clock.now());
    let button = back.filter(|_| !task.status.is_terminal());
    Ok(html! {
        div.line {
            (priority_tag(task.priority))
            div.what {
                p.title dir=(direction(&task.objective)) {
                    (task_link(row))
                    @for warning in task.context.warnings() { " " span.tag.warning { (warning.kind) } }
                }
                p.muted {
                    @if let Some(number) = row.number { "#" (number) " · " }
                    @if let Some(deadline) = &task.context.deadline {
                        span.due { "due " (shown_short(&format_deadline(deadline, zone), 40)) } " · "
                    }
                    (shown_short(&priority_reason(row, rules), 80)) " · " (shown_short(&next, 80))
                    @if let Some(person) = &task.context.person { " · " (shown_short(person, 60)) }
                    @if let Some(until) = hidden { " · hidden until " (format_deadline(&until.to_string(), zone)) }
                }
            }
            @if let Some(back) = button {
                (visit.form(&format!("{}/done", task_path(row)), &seen_revision(row), &html! {
                    input type="hidden" name="back" value=(back);
                    button type="submit" aria-label={ "Done: task " (row.number.unwrap_or_default()) } { "Done" }
                })?)
            }
        }
    })
}
