//! `ask`: a request with several steps. Shows the plan, asks what to do with it, and follows it to its end.

mod choice;
mod follow;

use std::{
    io::{self, IsTerminal as _},
    process::ExitCode,
};

use serde_json::json;

use super::{
    UsageError,
    args::AskArgs,
    printer::{Printer, cell, escape_and_truncate},
    table::{Cell, Column},
};
use crate::{
    app::{App, PreparedRequest},
    model::{PlannedStep, TaskId},
    wording::plan::describe_worker,
};
use choice::{PlanChoice, read_plan_choice};

const COLUMNS: [Column<'static>; 4] =
    [Column::fixed("#"), Column::text("step", 30), Column::text("done by", 16), Column::fixed("after")];

/// Executes the command.
pub(super) async fn execute(app: &App, screen: Printer, args: AskArgs) -> anyhow::Result<ExitCode> {
    let has_person = io::stdin().is_terminal() && io::stdout().is_terminal() && !screen.is_json;
    if let Some(reference) = &args.resume {
        let reference = Some(reference.as_str()).filter(|reference| !reference.is_empty());
        let (row, _) = app.plans().find(reference).await?;
        return follow::follow_plan(app, screen, row.task.task_id, has_person && !args.yes).await;
    }
    let account = args.account.as_deref();
    let prepared = app.plans().prepare(&args.text.join(" "), account).await?;
    if prepared.is_question() {
        print_question(screen, &prepared)?;
        return Ok(ExitCode::SUCCESS);
    }
    let prepared = if args.direct { app.plans().without_plan(&prepared, account).await? } else { prepared };
    let asks = prepared.wants_plan && !args.yes && !args.direct;
    if asks && !has_person {
        print_prepared(screen, &prepared)?;
        return Err(
            UsageError("nothing was executed: add --yes to execute these steps without a terminal".into()).into()
        );
    }
    let agreed = if asks { agree(app, screen, prepared, account).await? } else { Some(announce(screen, prepared)?) };
    let Some(prepared) = agreed else {
        screen.print_line("Cancelled; nothing was stored.")?;
        return Ok(ExitCode::SUCCESS);
    };
    let task_id: TaskId = app.plans().open(prepared).await?;
    follow::follow_plan(app, screen, task_id, has_person && !args.yes).await
}

fn print_question(screen: Printer, prepared: &PreparedRequest) -> io::Result<()> {
    if screen.is_json {
        return screen.print_line(&json!({ "event": "question", "text": prepared.text }).to_string());
    }
    screen.print_line("That is a question; nothing was planned or stored. `adjutant search` finds mails and tasks.")
}

/// Shows the plan before it is executed without asking, and returns it.
fn announce(screen: Printer, prepared: PreparedRequest) -> io::Result<PreparedRequest> {
    if prepared.wants_plan || !prepared.notes.is_empty() {
        print_prepared(screen, &prepared)?;
    }
    Ok(prepared)
}

/// Asks what to do with a plan until it is executed or cancelled. Returns none when it is cancelled.
async fn agree(
    app: &App,
    screen: Printer,
    mut prepared: PreparedRequest,
    account: Option<&str>,
) -> anyhow::Result<Option<PreparedRequest>> {
    loop {
        print_prepared(screen, &prepared)?;
        match read_plan_choice()? {
            PlanChoice::Execute => return Ok(Some(prepared)),
            PlanChoice::Direct => return app.plans().without_plan(&prepared, account).await.map(Some),
            PlanChoice::Cancel => return Ok(None),
            PlanChoice::Edit => {
                let steps = app.plans().print_steps(&prepared.plan);
                let Some(edited) = super::hitl::edit_text(app, "plan", &steps)? else { continue };
                match app.plans().with_steps(&prepared, &edited, account).await {
                    Ok(changed) => prepared = changed,
                    Err(error) => screen.print_line(&format!("{error:#}"))?,
                }
            }
        }
    }
}

/// Prints the steps as a table, the complexity and the notes; as JSON, one event.
fn print_prepared(screen: Printer, prepared: &PreparedRequest) -> io::Result<()> {
    if screen.is_json {
        return screen.print_line(&json!({ "event": "plan", "request": prepared }).to_string());
    }
    let complexity = &prepared.complexity;
    if complexity.is_complex() {
        let reasons: Vec<&str> = complexity.reasons.iter().map(|reason| reason.describe()).collect();
        screen.print_line(&format!("Complexity {} of 100: {}.", complexity.score, reasons.join(", ")))?;
    }
    screen.print_table(&COLUMNS, prepared.plan.steps.iter().map(row).collect())?;
    for file in &prepared.files {
        let chars = file.text.chars().count();
        screen.print_line(&format!("Attached: {} ({chars} characters)", escape_and_truncate(&file.path, 100)))?;
    }
    prepared.notes.iter().try_for_each(|note| screen.print_line(&format!("Note: {}", escape_and_truncate(note, 300))))
}

fn row(step: &PlannedStep) -> Vec<Cell> {
    let done_by = describe_worker(step);
    let after: Vec<String> = step.after.iter().map(u32::to_string).collect();
    vec![
        Cell::new(step.step_number.to_string()),
        cell(&step.description, 120),
        cell(&done_by, 80),
        Cell::new(after.join(", ")),
    ]
}
