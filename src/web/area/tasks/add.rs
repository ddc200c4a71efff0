//! Adding a task by hand. Its date is read by the same reader as everywhere.

use maud::{Markup, html};

use super::line::task_path;
use crate::{
    app::{App, BadInput, NewTask},
    model::{Priority, TaskRow},
    web::page::{PageAnswer, PageChange, PageFailure, PageNote, Visit},
    wording::description::format_deadline,
};

/// Returns the folded form that adds a task.
pub(super) fn add_form(visit: &Visit) -> Result<Markup, PageFailure> {
    let form = visit.form(
        "/tasks/add",
        "",
        &html! {
            label { "What is to be done" input type="text" name="objective" dir="auto" required autocomplete="off"; }
            label {
                "Deadline"
                input type="text" name="due" autocomplete="off" placeholder="friday 5pm" aria-describedby="due-help";
            }
            label { "Priority" (priority_choice(None, "by the rules")) }
            label.wide { "More about it" textarea name="description" dir="auto" rows="2" {} }
            p.muted #due-help.wide { "A date can also stand in the words themselves: “Call Tom tomorrow at 10”." }
            button.primary type="submit" { "Add" }
        },
    )?;
    Ok(html! {
        details.add {
            summary { "Add a task" }
            (form)
            p.muted { "Or " a href="/tasks/write" { "write a mail" } ", which becomes a task of its own." }
        }
    })
}

/// Returns the field in which a priority is chosen. `nothing` is what it says while none is.
pub(super) fn priority_choice(chosen: Option<Priority>, nothing: &str) -> Markup {
    html! {
        select name="priority" {
            option value="" { (nothing) }
            @for priority in Priority::ALL.iter().rev().copied() {
                option value=(priority) selected[chosen == Some(priority)] { (priority) }
            }
        }
    }
}

/// Adds a task.
pub(super) async fn add(change: PageChange) -> PageAnswer {
    let app = change.visit.app();
    match add_task(app, &change).await {
        Ok(row) => {
            let zone = app.config.me.time_zone;
            let due = row.task.context.deadline.as_deref();
            let due = due.map(|deadline| format!(", due {}", format_deadline(deadline, zone))).unwrap_or_default();
            change.visit.redirect(&task_path(&row), PageNote::done(format!("Added{due}.")))
        }
        Err(error) => change.visit.redirect_after("/tasks", Err(error)),
    }
}

async fn add_task(app: &App, change: &PageChange) -> anyhow::Result<TaskRow> {
    let form = &change.form;
    let text = |name: &str| Some(form.get(name).trim().to_owned()).filter(|text| !text.is_empty());
    let objective = text("objective").ok_or_else(|| BadInput("Say what is to be done; nothing was added.".into()))?;
    let new = NewTask {
        objective,
        priority: chosen_priority(form.get("priority"))?,
        deadline: text("due").map(|typed| app.tasks().parse_deadline(&typed)).transpose()?,
        description: text("description"),
    };
    app.tasks().add(new).await
}

/// Returns the priority that a form names; none when none was chosen.
pub(super) fn chosen_priority(text: &str) -> Result<Option<Priority>, BadInput> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| BadInput(format!("there is no priority '{text}'")))
}
