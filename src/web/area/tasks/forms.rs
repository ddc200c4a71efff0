//! The forms of a task's page: what a person can do with it.

use maud::{Markup, html};

use super::{add::priority_choice, line::task_path, seen::seen_revision};
use crate::{
    model::{TaskRow, TaskStatus},
    web::page::{PageFailure, Visit},
    wording::description::format_deadline,
};

/// Returns the forms for a task.
pub(super) fn task_forms(visit: &Visit, row: &TaskRow) -> Result<Markup, PageFailure> {
    let (path, seen) = (task_path(row), seen_revision(row));
    let form = |act: &str, fields: &Markup| visit.form(&format!("{path}/{act}"), &seen, fields);
    if row.task.status.is_terminal() {
        // A task whose number a successor has cannot be opened again; the successor can.
        let reopen = html! { button type="submit" data-key="u" { "Open it again" } };
        return Ok(html! { div.decisions { @if row.number.is_some() { (form("undo", &reopen)?) } } });
    }
    let is_snoozed = row.snooze_until.is_some_and(|until| until > visit.app().clock.now());
    let done = html! { button.primary type="submit" data-key="d" { "Done" } };
    let awake = html! { input type="hidden" name="until" value=""; button type="submit" { "Show it again" } };
    Ok(html! {
        div.decisions {
            (form("done", &done)?)
            @if is_snoozed { (form("snooze", &awake)?) }
            @if row.task.status == TaskStatus::WaitingHitl { a.button href="/approvals" { "Decide" } }
        }
        div.folded {
            (folded("Change it", &form("edit", &edit_fields(visit, row))?))
            @if row.mail_id.is_some() {
                (folded("Answer the mail", &form("reply", &reply_fields())?))
                (folded("Forward the mail", &form("forward", &forward_fields())?))
            }
            (folded("Write a new mail", &form("mail", &mail_fields())?))
            (folded("Hide it until later", &form("snooze", &snooze_fields())?))
            (folded("Cancel it", &form("cancel", &cancel_fields())?))
            @if row.mail_id.is_some() { (folded("Archive the mail", &form("archive", &archive_fields())?)) }
        }
    })
}

fn folded(title: &str, form: &Markup) -> Markup {
    html! { details { summary { (title) } (form) } }
}

fn edit_fields(visit: &Visit, row: &TaskRow) -> Markup {
    let (task, zone) = (&row.task, visit.app().config.me.time_zone);
    let due = task.context.deadline.as_deref().map(|deadline| format_deadline(deadline, zone));
    let due = due.map_or_else(|| "It has no deadline.".to_owned(), |due| format!("Now {due}."));
    html! {
        label.wide { "What is to be done" input type="text" name="objective" dir="auto" value=(task.objective) autocomplete="off"; }
        label { "Priority" (priority_choice(None, &format!("leave it {}", task.priority))) }
        label {
            "New deadline"
            input type="text" name="due" autocomplete="off" placeholder="friday 5pm" aria-describedby="due-now";
        }
        p.muted.wide #due-now { (due) " A date in words or figures sets a new one, “none” removes it, nothing leaves it." }
        label.wide {
            "More about it"
            textarea name="description" dir="auto" rows="3" { (task.context.description.as_deref().unwrap_or_default()) }
        }
        label.wide { "Why" input type="text" name="reason" dir="auto" autocomplete="off"; }
        button type="submit" { "Save" }
    }
}

fn reply_fields() -> Markup {
    html! {
        label.wide { "Your answer" textarea name="text" dir="auto" rows="6" {} }
        div.buttons {
            button type="submit" name="how" value="words" { "Write this answer" }
            button type="submit" name="how" value="when" { "Say when it will be done" }
            button type="submit" name="how" value="decline" { "Decline" }
        }
    }
}

fn forward_fields() -> Markup {
    html! {
        label.wide { "To" input type="text" name="to" required autocomplete="off" placeholder="dana@work.example"; }
        label.wide { "What to write above it" textarea name="text" dir="auto" rows="3" {} }
        button type="submit" { "Write it" }
    }
}

fn mail_fields() -> Markup {
    html! {
        label.wide { "To" input type="text" name="to" required autocomplete="off" placeholder="dana@work.example"; }
        label.wide { "Subject" input type="text" name="subject" dir="auto" autocomplete="off"; }
        label.wide { "Text" textarea name="text" dir="auto" required rows="6" {} }
        button type="submit" { "Write it" }
    }
}

fn snooze_fields() -> Markup {
    html! {
        label { "Until" input type="text" name="until" required autocomplete="off" placeholder="tomorrow 9am, 3d, 1w"; }
        button type="submit" { "Hide it" }
    }
}

fn cancel_fields() -> Markup {
    html! {
        label.wide { "Why" input type="text" name="reason" dir="auto" autocomplete="off"; }
        button type="submit" { "Cancel the task" }
    }
}

fn archive_fields() -> Markup {
    html! { button type="submit" { "Move its mail to the archive" } }
}
