//! `tasks reply`, `forward`, `mail` and `archive`: what a person has done with the mail of a task.

use super::{
    super::{
        args::TasksCommand,
        hitl::{edit_text, is_interactive},
        printer::Printer,
    },
    print_changed_task,
};
use crate::{
    app::{App, BadInput, name_recipients},
    model::{OutboxState, TaskRow, task::SEND_REPLY},
};

/// What is said of a message that waits for approval now.
const WRITTEN: &str = "is written; `adjutant hitl` shows it";

/// Executes one of these commands; any other does nothing.
pub(super) async fn execute(app: &App, screen: Printer, command: TasksCommand) -> anyhow::Result<()> {
    match command {
        TasksCommand::Reply { task, words, text, when, decline } => {
            let words = match text.unwrap_or_else(|| words.join(" ")) {
                _ if when => app.tasks().say_when(&task).await?,
                _ if decline => app.tasks().decline_text()?,
                empty if empty.trim().is_empty() => write_reply_in_editor(app, &task).await?,
                words => words,
            };
            let row = app.tasks().instruct(&task, SEND_REPLY, &words, None).await?;
            print_worked_task(app, screen, &row, WRITTEN).await
        }
        TasksCommand::Forward { task, to, text } => {
            let message = name_recipients(&to, None)?;
            let row = app.tasks().instruct(&task, "forward", &text.join(" "), Some(message)).await?;
            print_worked_task(app, screen, &row, WRITTEN).await
        }
        TasksCommand::Mail { task, to, subject, account, text } => {
            let message = name_recipients(&to, subject)?;
            let task = match task {
                Some(task) => task,
                None => app.tasks().add_letter(&message, account.as_deref()).await?.task.task_id.to_string(),
            };
            let row = app.tasks().instruct(&task, "send_mail", &text.join(" "), Some(message)).await?;
            print_worked_task(app, screen, &row, WRITTEN).await
        }
        TasksCommand::Archive { task } => {
            let row = app.tasks().instruct(&task, "archive", "", None).await?;
            print_worked_task(app, screen, &row, "has its mail archived").await
        }
        _ => Ok(()),
    }
}

/// Opens the person's editor with the draft of an answer, if there is one. Returns what they wrote.
async fn write_reply_in_editor(app: &App, task: &str) -> anyhow::Result<String> {
    let row = app.tasks().find(task).await?;
    if !is_interactive() {
        anyhow::bail!(BadInput(format!("say what to answer: adjutant tasks reply {task} --text \"…\"")));
    }
    let draft = row.task.tool_output.as_ref().and_then(|output| output.get("draft_reply")?.get("draft")?.as_str());
    let written = edit_text(app, &row.task.task_id.to_string(), draft.unwrap_or_default())?;
    written.ok_or_else(|| BadInput("nothing was written, so nothing is answered".into()).into())
}

/// Waits until the runs of a changed task have ended, and prints it as it is then. What the step came to replaces the
/// verb where it was not carried out.
async fn print_worked_task(app: &App, screen: Printer, row: &TaskRow, verb: &str) -> anyhow::Result<()> {
    app.worker().finish_runs().await?;
    let detail = app.tasks().detail(&row.task.task_id.to_string()).await?;
    let step = detail.row.task.subtasks.last().map(|subtask| subtask.step.clone()).unwrap_or_default();
    let output = detail.row.task.tool_output.as_ref().and_then(|output| output.get(&step));
    let left = output.and_then(|output| output.get("yours")).and_then(|why| why.as_str());
    let withheld = detail.effects.iter().rev().find(|effect| effect.action.step == step);
    let withheld = withheld.filter(|effect| effect.state == OutboxState::Withheld).map(|effect| effect.result.clone());
    match left.map(str::to_owned).or(withheld) {
        Some(why) => print_changed_task(screen, &detail.row, &format!("is not changed ({why})")),
        None => print_changed_task(screen, &detail.row, verb),
    }
}
