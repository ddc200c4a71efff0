//! `plan`, `preview`, `import` and `eval`: commands that read mail.

use std::{
    io::{self, BufRead as _, Read as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;
use chrono_tz::Tz;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::{
    EXIT_FINDINGS,
    description::format_deadline,
    printer::{Printer, cell, escape_and_truncate},
    table::{Cell, Column},
};
use crate::{
    app::{App, EvalKind, PlanInput, PreviewLine, evaluate},
    model::{Mail, Reading},
};

/// Reads one mail from a file or stdin, and prints what would be done with it.
pub(super) fn plan(app: &App, screen: Printer, eml: Option<PathBuf>, jsonl: bool) -> anyhow::Result<ExitCode> {
    if jsonl {
        return plan_lines(app);
    }
    let path = eml.unwrap_or_else(|| "-".into());
    let mut raw = Vec::new();
    if path.as_os_str() == "-" {
        io::stdin().lock().read_to_end(&mut raw).context("stdin cannot be read")?;
    } else {
        raw = std::fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    }
    let (mail, reading) = app.preview().read_eml(&raw)?;
    let zone = app.config.me.time_zone;
    screen.print_json_or(&json!({ "mail": mail, "reading": reading }), |screen| {
        print_reading(screen, &mail, &reading, zone)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn print_reading(screen: Printer, mail: &Mail, reading: &Reading, zone: Tz) -> io::Result<()> {
    screen.print_line(&format!(
        "From     {} <{}>",
        escape_and_truncate(mail.from.label(), 80),
        escape_and_truncate(&mail.from.addr, 80)
    ))?;
    screen.print_line(&format!("Subject  {}", escape_and_truncate(&mail.subject, 160)))?;
    screen.print_line(&format!(
        "Reading  {} (score {:.2}, urgency {:.2}, {})",
        escape_and_truncate(&reading.reason, 300),
        reading.score,
        reading.urgency,
        reading.language
    ))?;
    for warning in &reading.warnings {
        screen.print_line(&format!("WARNING  {}: {}", warning.kind, escape_and_truncate(&warning.text, 300)))?;
    }
    for task in &reading.tasks {
        screen.print_line(&format!("Task     {} [{}]", escape_and_truncate(&task.objective, 160), task.kind))?;
        screen.print_line(&format!("  because   “{}”", escape_and_truncate(&task.evidence, 300)))?;
        let amount = task.amount.map(|amount| format!("{amount:.2} {}", task.currency.as_deref().unwrap_or("")));
        let deadline = task.deadline.as_deref().map(|stored| format_deadline(stored, zone));
        let fields = [
            ("person", &task.person),
            ("deadline", &deadline),
            ("duration", &task.meeting_duration),
            ("amount", &amount),
            ("invoice", &task.invoice_number),
        ];
        for (name, value) in fields.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
            screen.print_line(&format!("  {name:<9} {}", escape_and_truncate(value, 120)))?;
        }
        screen.print_line(&format!("  steps     {}", task.steps.join(", ")))?;
    }
    Ok(())
}

/// Reads JSON lines from stdin and prints one for each. The exit code is 4 when a line could not be read.
fn plan_lines(app: &App) -> anyhow::Result<ExitCode> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut bad = false;
    for line in io::stdin().lock().lines() {
        let line = line.context("stdin cannot be read")?;
        if line.trim().is_empty() {
            continue;
        }
        let answer = serde_json::from_str::<PlanInput>(&line)
            .map_err(Into::into)
            .and_then(|input| app.preview().plan_line(input));
        match answer {
            Ok(planned) => serde_json::to_writer(&mut out, &planned)?,
            Err(error) => {
                bad = true;
                serde_json::to_writer(&mut out, &json!({ "error": format!("{error:#}") }))?;
            }
        }
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(if bad { ExitCode::from(EXIT_FINDINGS) } else { ExitCode::SUCCESS })
}

/// Reads JSON lines from stdin and prints the answer for each.
pub(super) fn eval(kind: EvalKind) -> anyhow::Result<ExitCode> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line = line.context("stdin cannot be read")?;
        if line.trim().is_empty() {
            continue;
        }
        serde_json::to_writer(&mut out, &evaluate(kind, &line))?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Prints which tasks recent mail would become.
pub(super) async fn preview(app: &App, screen: Printer, place: &str, days: Option<u32>) -> anyhow::Result<()> {
    let preview = app.preview().read_place(place, days).await?;
    let zone = app.config.me.time_zone;
    screen.print_json_or(&preview, |screen| {
        let line = |line: &PreviewLine| {
            let warnings: String = line.warnings.iter().map(|warning| format!(" [{warning}]")).collect();
            vec![
                cell(&line.from, 26),
                cell(line.objective.as_deref().unwrap_or("—"), 60),
                line.priority.map_or_else(|| Cell::new(""), |level| screen.priority(level)),
                cell(&format_deadline(line.deadline.as_deref().unwrap_or(""), zone), 25),
                cell(&format!("{}{warnings}", line.evidence), 90),
            ]
        };
        let columns = [
            Column::text("from", 16),
            Column::text("task", 24),
            Column::fixed("priority"),
            Column::text("deadline", 15).folding(1),
            Column::text("because", 24).folding(2),
        ];
        if !preview.lines.is_empty() {
            screen.print_table(&columns, preview.lines.iter().map(line).collect())?;
        }
        screen.print_line(&format!(
            "{} mails {}: {} tasks, {} overdue, {} replies ready, {} sent; {} unreadable. Nothing was touched.",
            preview.mails,
            preview.span,
            preview.tasks,
            preview.overdue,
            preview.replies_ready,
            preview.sent,
            preview.unreadable
        ))?;
        match preview.not_read {
            0 => Ok(()),
            more => screen.print_line(&format!("{more} older ones were only counted; the first sync reads them too.")),
        }
    })
}

/// Imports mail with a progress bar, and waits until it was read for tasks.
pub(super) async fn import(app: &App, screen: Printer, path: &Path, account: &str, tasks: bool) -> anyhow::Result<()> {
    let bar = if screen.is_json { ProgressBar::hidden() } else { ProgressBar::new(0) };
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes}, {eta} left") {
        bar.set_style(style);
    }
    let report = app
        .mail()
        .import(path, account, tasks, |progress| {
            bar.set_length(progress.total);
            bar.set_position(progress.done);
        })
        .await?;
    bar.finish_and_clear();
    app.worker().finish_runs().await?;
    screen.print_json_or(&report, |screen| {
        screen.print_line(&format!(
            "{} mails into account {}: {} new, {} duplicates, {} unreadable; {} were read for tasks.",
            report.mails, report.account, report.new, report.duplicates, report.unreadable, report.to_work
        ))
    })
}
