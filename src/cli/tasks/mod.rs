//! `tasks` and `why`.

mod invoices;
mod letters;
mod list;
pub(super) mod reminders;
mod show;

use super::{
    args::TasksCommand,
    description::{format_deadline, format_moment},
    printer::{Printer, escape_and_truncate},
};
use crate::{
    app::{App, NewTask},
    model::{Instant, TaskEditKind, TaskRow, nightly::CorrectionKind},
};

/// Executes a `tasks` command; without one, lists the open tasks.
pub(super) async fn execute(app: &App, screen: Printer, command: Option<TasksCommand>) -> anyhow::Result<()> {
    let command = command.unwrap_or(TasksCommand::List { all: false, limit: 100 });
    match command {
        TasksCommand::List { all, limit } => list::list(app, screen, all, limit).await,
        TasksCommand::Show { task } => show::show(app, screen, &app.tasks().detail(&task).await?),
        TasksCommand::Add { objective, priority, due, description } => {
            let deadline = due.map(|text| app.tasks().parse_deadline(&text)).transpose()?;
            let row =
                app.tasks().add(NewTask { objective: objective.join(" "), priority, deadline, description }).await?;
            print_changed_task(screen, &row, &format!("added{}", describe_due(app, &row)))
        }
        TasksCommand::Done { task, step: None } => {
            print_changed_task(screen, &app.tasks().edit(&task, TaskEditKind::Done, "said done").await?, "done")
        }
        TasksCommand::Done { task, step: Some(step) } => print_changed_task(
            screen,
            &app.tasks().edit(&task, TaskEditKind::StepDone(step), "said done").await?,
            "step done",
        ),
        TasksCommand::Cancel { task, reason } => {
            print_changed_task(screen, &app.tasks().edit(&task, TaskEditKind::Cancel, &reason).await?, "cancelled")
        }
        TasksCommand::Set { task, priority, objective, description, due, reason } => {
            let mut wishes: Vec<TaskEditKind> = priority.map(TaskEditKind::Priority).into_iter().collect();
            wishes.extend(objective.map(TaskEditKind::Objective));
            wishes.extend(description.map(|text| TaskEditKind::Description((text != "none").then_some(text))));
            wishes.extend(due.map(|text| parse_deadline_edit(app, &text)).transpose()?);
            set(app, screen, &task, wishes, &reason).await
        }
        command @ (TasksCommand::Reply { .. }
        | TasksCommand::Forward { .. }
        | TasksCommand::Mail { .. }
        | TasksCommand::Archive { .. }) => letters::execute(app, screen, command).await,
        TasksCommand::Snooze { task, until } => {
            let until = if until == "none" { None } else { Some(app.tasks().parse_future_time(&until)?) };
            let row = app.tasks().edit(&task, TaskEditKind::Snooze(until), "").await?;
            let verb = until.map_or_else(
                || "shown again".to_owned(),
                |until| format!("snoozed until {}", format_moment(until, app.config.me.time_zone)),
            );
            print_changed_task(screen, &row, &verb)
        }
        TasksCommand::Undo { task } => {
            let row = app.tasks().edit(&task, TaskEditKind::Reopen, "taken back").await?;
            let teaches =
                app.rules().log_and_explain_correction(|correction| correction.kind == CorrectionKind::Undo).await?;
            print_changed_task_and_lesson(screen, &row, "open again", teaches)
        }
        TasksCommand::Reminders => reminders::list(app, screen).await,
        TasksCommand::Invoices { csv } => invoices::list_invoices(app, screen, csv).await,
    }
}

/// Applies several edits to a task, and prints it with its new date and what the edits teach.
async fn set(app: &App, screen: Printer, task: &str, wishes: Vec<TaskEditKind>, reason: &str) -> anyhow::Result<()> {
    let sets_due = wishes.iter().any(|wish| matches!(wish, TaskEditKind::Deadline(..)));
    let row = app.tasks().edit_all(task, wishes, reason).await?;
    let id = row.task.task_id;
    let teaches = app.rules().log_and_explain_correction(move |correction| correction.task_id == Some(id)).await?;
    let due = if sets_due { describe_due(app, &row) } else { String::new() };
    print_changed_task_and_lesson(screen, &row, &format!("changed{due}"), teaches)
}

/// Returns until when a task is due, in local time, as the end of a verb.
fn describe_due(app: &App, row: &TaskRow) -> String {
    let deadline = row.task.context.deadline.as_deref();
    let due = deadline.map(|stored| format!(", due {}", format_deadline(stored, app.config.me.time_zone)));
    due.unwrap_or_else(|| ", without a date".to_owned())
}

/// Parses a deadline; "none" removes it.
fn parse_deadline_edit(app: &App, text: &str) -> anyhow::Result<TaskEditKind> {
    if text == "none" {
        return Ok(TaskEditKind::Deadline(None, None));
    }
    let (text, at): (String, Instant) = app.tasks().parse_deadline(text)?;
    Ok(TaskEditKind::Deadline(Some(text), Some(at)))
}

fn print_changed_task(screen: Printer, row: &TaskRow, verb: &str) -> anyhow::Result<()> {
    print_changed_task_and_lesson(screen, row, verb, None)
}

/// A task after a change, and what the change teaches.
#[derive(serde::Serialize)]
struct ChangedTask<'a> {
    #[serde(flatten)]
    row: &'a TaskRow,
    #[serde(skip_serializing_if = "Option::is_none")]
    teaches: Option<&'a str>,
}

fn print_changed_task_and_lesson(
    screen: Printer,
    row: &TaskRow,
    verb: &str,
    teaches: Option<String>,
) -> anyhow::Result<()> {
    screen.print_json_or(&ChangedTask { row, teaches: teaches.as_deref() }, |screen| {
        let number = row.number.map_or_else(|| row.task.task_id.to_string(), |number| number.to_string());
        screen.print_line(&format!(
            "Task {number} {verb}: {} ({}, {})",
            escape_and_truncate(&row.task.objective, 120),
            row.task.status,
            row.task.priority
        ))?;
        teaches.iter().try_for_each(|words| screen.print_line(&escape_and_truncate(words, 300)))
    })
}

/// Prints why a task has its priority, and the smallest change that would give it another.
pub(super) async fn explain_priority(app: &App, screen: Printer, task: &str) -> anyhow::Result<()> {
    let why = app.tasks().explain_priority(task).await?;
    screen.print_json_or(&why, |screen| {
        let number = why.task.number.map_or_else(String::new, |number| format!(" {number}"));
        screen.print_line(&format!("Task{number}: {}", escape_and_truncate(&why.task.task.objective, 200)))?;
        if why.set_by_hand {
            screen.print_line(&format!(
                "Its priority is {}, set by hand: that stands. The rules alone would say:",
                why.level
            ))?;
        }
        if let Some(problem) = &why.rules_broken {
            screen.print_line(problem)?;
        }
        if let Some(sender) = &why.sender {
            screen.print_line(&escape_and_truncate(sender, 300))?;
        }
        for warning in why.task.task.context.warnings() {
            screen.print_line(&format!("WARNING {}: {}", warning.kind, escape_and_truncate(&warning.text, 300)))?;
        }
        show::print_follow_ups(screen, &why.follow_ups, app.config.me.time_zone)?;
        screen.print_line(&why.trace.to_string())
    })
}
