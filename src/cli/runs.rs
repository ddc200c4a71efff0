//! `runs`: list, show, replay and fork.

use std::process::ExitCode;

use super::{
    EXIT_FINDINGS,
    args::RunsCommand,
    description::{describe_wait, format_timestamp, localise_times},
    printer::{Printer, cell, escape_and_truncate},
    table::{Cell, Column},
};
use crate::{app::App, model::RunRow};

const COLUMNS: [Column<'static>; 7] = [
    Column::text("run", 26),
    Column::fixed("kind").folding(3),
    Column::text("about", 9).folding(2),
    Column::fixed("status"),
    Column::text("node", 12).folding(1),
    Column::fixed("steps").folding(5),
    Column::text("reason", 20).folding(4),
];

/// Executes a `runs` command; without one, lists the newest runs.
pub(super) async fn execute(app: &App, screen: Printer, command: Option<RunsCommand>) -> anyhow::Result<ExitCode> {
    match command.unwrap_or(RunsCommand::List { status: None, limit: 50 }) {
        RunsCommand::List { status, limit } => {
            let rows = app.runs().list(status, limit).await?;
            let total = app.runs().count(status).await?;
            let mut cells = Vec::new();
            for row in &rows {
                cells.push(run_row_cells(app, row).await);
            }
            screen.print_json_or(&rows, |screen| {
                if rows.is_empty() {
                    return screen.print_line("There is no run.");
                }
                screen.print_table(&COLUMNS, cells)?;
                screen.print_count(rows.len(), total)
            })?;
        }
        RunsCommand::Show { run } => show(app, screen, &run).await?,
        RunsCommand::Replay { run } => return replay(app, screen, &run).await,
        RunsCommand::Fork { run, from } => {
            let id = app.runs().fork(&run, from).await?;
            app.worker().finish_runs().await?;
            show(app, screen, &id.to_string()).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the cells of a run in a table. What a deferred run waits for takes the place of its reason.
async fn run_row_cells(app: &App, row: &RunRow) -> Vec<Cell> {
    let about = match (row.task_id, row.mail_id) {
        (Some(id), _) => {
            let number = app.tasks().find(&id.to_string()).await.ok().and_then(|task| task.number);
            number.map_or_else(|| format!("task {id}"), |number| format!("task {number}"))
        }
        (None, Some(id)) => format!("mail {id}"),
        (None, None) => String::new(),
    };
    let zone = app.config.me.time_zone;
    let kind = if row.fork_of.is_some() { format!("{} fork", row.kind) } else { row.kind.to_string() };
    let waits = describe_wait(row, app.clock.now(), zone);
    vec![
        Cell::new(row.run_id),
        Cell::new(kind),
        Cell::new(about),
        Cell::new(row.status),
        Cell::new(row.node),
        Cell::new(row.seq),
        cell(&waits.unwrap_or_else(|| localise_times(&row.reason, zone)), 80),
    ]
}

/// Prints a run with its checkpoints, their changes, and its model calls.
async fn show(app: &App, screen: Printer, run: &str) -> anyhow::Result<()> {
    let detail = app.runs().detail(run).await?;
    let cells = run_row_cells(app, &detail.row).await;
    let zone = app.config.me.time_zone;
    screen.print_json_or(&detail, |screen| {
        screen.print_table(&COLUMNS, vec![cells])?;
        for checkpoint in &detail.checkpoints {
            let next = checkpoint.next.map_or_else(|| "end".to_owned(), |node| node.to_string());
            screen.print_line(&format!(
                "{:>3} {} {} → {next} ({})",
                checkpoint.seq,
                format_timestamp(checkpoint.entered_at, zone),
                checkpoint.node,
                checkpoint.next_move.as_str()
            ))?;
            for change in &checkpoint.changes {
                let text = serde_json::to_string(change).unwrap_or_default();
                screen.print_line(&format!("      {}", escape_and_truncate(&text, 160)))?;
            }
        }
        for asked in &detail.model_calls {
            let call = &asked.call;
            screen.print_line(&format!(
                "{:>3} asked {} {} for {}: prompt {} {}, guidelines {}, {} tokens, {} ms: {}",
                asked.seq,
                call.provider,
                escape_and_truncate(&call.model, 40),
                asked.node,
                call.prompt,
                call.version,
                if call.guidelines.is_empty() { "none" } else { &call.guidelines },
                call.spent.tokens(),
                call.took_ms,
                call.outcome
            ))?;
        }
        Ok(())
    })
}

/// Replays a run and prints each difference. The exit code is 4 when there is one.
async fn replay(app: &App, screen: Printer, run: &str) -> anyhow::Result<ExitCode> {
    let replay = app.runs().replay(run).await?;
    screen.print_json_or(&replay, |screen| {
        for checkpoint in &replay.checkpoints {
            let verdict = if checkpoint.identical {
                "identical".to_owned()
            } else {
                escape_and_truncate(&checkpoint.difference, 400)
            };
            screen.print_line(&format!("{:>3} {}: {verdict}", checkpoint.seq, checkpoint.node))?;
        }
        let verdict = if replay.identical { "identical" } else { "NOT identical" };
        screen.print_line(&format!(
            "{} checkpoints, {verdict}, {} calls made",
            replay.checkpoints.len(),
            replay.calls_made
        ))
    })?;
    Ok(if replay.identical { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FINDINGS) })
}
