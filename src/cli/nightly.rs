//! `reflect`, `digest` and `rules what-if|history|diff|rollback`.

use std::{io, process::ExitCode};

use serde_json::{Value, json};

use super::{
    EXIT_FINDINGS,
    args::RulesCommand,
    description::{format_date_time, format_deadline},
    printer::{Printer, cell, escape_and_truncate},
    table::{Cell, Column},
};
use crate::{
    app::{App, NightlyReport, ReflectOutcome, RulesVersionDetail, WhatIfChange, WhatIfReport, WorkerLockHeld},
    model::{RequestKind, TaskRow, nightly::LearnedEntryRow},
    nightly::{LearningOutcome, RuleRecord, RunReview, TestedEdit, ToolRecord},
    wording::item::headline,
};

/// The most rows of a table; the JSON output has all.
const MOST_SHOWN: usize = 40;

/// Executes a `rules` command. The exit code is 4 when a check or a comparison found something.
pub(super) async fn execute_rules(app: &App, screen: Printer, command: RulesCommand) -> anyhow::Result<ExitCode> {
    match command {
        RulesCommand::Check { file } => {
            let broken = if file.is_none() { app.rules().load().broken.map(|broken| broken.error) } else { None };
            return super::check::check_rules_file(screen, &file.unwrap_or_else(|| app.home.rules_file()), broken);
        }
        RulesCommand::WhatIf { file } => {
            let answer = app.rules().what_if(&file).await?;
            screen.print_json_or(&answer, |screen| print_what_if(screen, &answer))?;
            return Ok(if answer.changes.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FINDINGS) });
        }
        RulesCommand::History { limit } => history(app, screen, limit).await?,
        RulesCommand::Diff { from } => {
            let lines = app.rules().diff(from).await?;
            screen.print_json_or(&lines, |screen| {
                if lines.is_empty() {
                    return screen.print_line("No difference.");
                }
                lines.iter().try_for_each(|line| screen.print_unbroken(&line.to_string()))
            })?;
        }
        RulesCommand::Rollback { to } => {
            let made = app.rules().roll_back(to).await?;
            screen.print_json_or(&json!({ "version": made }), |screen| {
                screen.print_line(&format!(
                    "Done; this is version {made} now. What was undone is learned again only from new corrections."
                ))
            })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the tasks whose priority another file would change, and their number.
fn print_what_if(screen: Printer, answer: &WhatIfReport) -> io::Result<()> {
    answer
        .warnings
        .iter()
        .try_for_each(|warning| screen.print_line(&format!("warning: {}", escape_and_truncate(warning, 200))))?;
    let line = |change: &WhatIfChange| {
        vec![
            Cell::new(change.number.map_or_else(String::new, |number| number.to_string())),
            cell(&change.objective, 70),
            screen.priority(change.from),
            screen.priority(change.to),
            cell(&change.rule, 40),
            Cell::new(if change.set_by_hand { "you set it: it stands" } else { "" }),
        ]
    };
    if !answer.changes.is_empty() {
        let rows = answer.changes.iter().take(MOST_SHOWN).map(line).collect();
        let columns = [
            Column::fixed("task"),
            Column::text("objective", 24),
            Column::fixed("now"),
            Column::fixed("then"),
            Column::text("by", 12).folding(1),
            Column::text("note", 12).folding(2),
        ];
        screen.print_table(&columns, rows)?;
        if answer.changes.len() > MOST_SHOWN {
            screen.print_line(&format!("… and {} more; --json has all", answer.changes.len() - MOST_SHOWN))?;
        }
    }
    screen.print_line(&format!(
        "{} tasks looked at: {} raised, {} lowered, {} against your own word.",
        answer.past, answer.raised, answer.lowered, answer.against_your_word
    ))
}

/// Prints the versions of the rules, and the learned entries with how often each matched.
async fn history(app: &App, screen: Printer, limit: usize) -> anyhow::Result<()> {
    let mut versions = app.rules().history().await?;
    versions.truncate(limit);
    let entries = app.rules().learned_entries().await?;
    let zone = app.config.me.time_zone;
    screen.print_json_or(&json!({ "versions": versions, "entries": entries }), |screen| {
        if versions.is_empty() {
            return screen
                .print_line("Nothing was learned yet; `adjutant reflect --dry-run` shows tonight's proposal.");
        }
        for version in &versions {
            print_version(screen, version, &format_date_time(version.row.at, zone))?;
        }
        if !entries.is_empty() {
            let line = |row: &LearnedEntryRow| {
                let ids: Vec<String> = row.evidence.iter().map(ToString::to_string).collect();
                let last = row.last_hit.map_or_else(|| "never".to_owned(), |at| format_date_time(at, zone));
                vec![cell(&row.name, 60), cell(&ids.join(", "), 40), Cell::new(row.hits), Cell::new(last)]
            };
            screen.print_line("")?;
            let columns = [
                Column::text("learned entry", 24),
                Column::text("corrections", 11).folding(2),
                Column::fixed("hits"),
                Column::text("last hit", 10).folding(1),
            ];
            screen.print_table(&columns, entries.iter().map(line).collect())?;
        }
        screen.print_line("adjutant rules diff [VERSION] · adjutant rules rollback [VERSION]")
    })
}

/// Prints a version with the edits it made and how each was tested.
fn print_version(screen: Printer, version: &RulesVersionDetail, at: &str) -> io::Result<()> {
    let row = &version.row;
    let current = if version.current { " (now)" } else { "" };
    screen.print_line(&format!(
        "version {}{current}, {at}, by {}: {}",
        row.version,
        row.who,
        escape_and_truncate(&row.why, 200)
    ))?;
    let edits: Vec<TestedEdit> =
        row.edits.get("edits").cloned().and_then(|edits| serde_json::from_value(edits).ok()).unwrap_or_default();
    edits.iter().try_for_each(|tested| print_tested_edit(screen, tested))
}

/// Prints an edit, its reason and its trial. If the trial failed, also the tasks that speak against it.
fn print_tested_edit(screen: Printer, tested: &TestedEdit) -> io::Result<()> {
    screen.print_line(&format!("  {}", escape_and_truncate(&tested.words, 160)))?;
    screen.print_line(&format!("    because {}", escape_and_truncate(tested.edit.why(), 200)))?;
    screen.print_line(&format!("    tested: {}", tested.trial))?;
    if tested.trial.passed {
        return Ok(());
    }
    screen.print_line(&format!("    not adopted: {}", escape_and_truncate(&tested.trial.reason, 200)))?;
    tested.trial.cases.iter().try_for_each(|case| {
        let task = case.number.map_or_else(|| case.task_id.to_string(), |number| format!("task {number}"));
        screen.print_line(&format!("      {task}: {} would be {} ({})", case.from, case.to, case.why))
    })
}

/// Runs the nightly job in this process, or has the running daemon do it. With `dry_run`, only shows what it would do.
pub(super) async fn reflect(app: &App, screen: Printer, dry_run: bool) -> anyhow::Result<()> {
    if dry_run {
        let findings = app.nightly().preview().await?;
        return screen.print_json_or(&findings, |screen| {
            screen.print_line("Tonight's proposal; nothing was touched.")?;
            print_findings(screen, &findings)
        });
    }
    let worker = loop {
        match app.worker().start().await? {
            Ok(worker) => break worker,
            Err(WorkerLockHeld { pid }) => {
                if !screen.is_json {
                    screen.print_line(&format!("Another adjutant (process {pid}) is running; asked it to do this."))?;
                }
                if let Some(answer) = app.worker().send_request(RequestKind::Reflect).await? {
                    return screen.print_json_or(&answer, |screen| print_daemon_reply(screen, &answer));
                }
            }
        }
    };
    let reflected = app.nightly().run_unless_done_today().await;
    worker.stop().await;
    let reflected = reflected?;
    screen.print_json_or(&reflected, |screen| match &reflected {
        ReflectOutcome::Done(report) => print_report(screen, report),
        ReflectOutcome::DoneBefore(row) => {
            screen.print_line(&format!("The nightly job of {} was done already (run {}).", row.date, row.run_id))?;
            screen.print_line(
                "`adjutant rules history` shows what it did; `adjutant reflect --dry-run` what it would do now.",
            )
        }
    })
}

/// Prints the daemon's answer. For a job that was done before, the answer is its row, which has a state.
fn print_daemon_reply(screen: Printer, answer: &Value) -> io::Result<()> {
    let date = answer.get("date").and_then(Value::as_str).unwrap_or_default();
    if answer.get("state").is_some() {
        return screen.print_line(&format!(
            "The nightly job of {date} was done already; `adjutant rules history` shows what it did."
        ));
    }
    let count = |key: &str| answer.get(key).and_then(Value::as_array).map_or(0, Vec::len);
    screen.print_line(&format!(
        "The nightly job of {date}: {} learned, {} asked, {} kept as proposals.",
        count("adopted"),
        count("questions"),
        count("proposals")
    ))
}

/// Prints the report of a nightly job.
pub(super) fn print_report(screen: Printer, report: &NightlyReport) -> io::Result<()> {
    screen.print_line(&format!("The nightly job of {}:", report.date))?;
    print_findings(screen, &report.learning)?;
    for duplicates in &report.duplicates {
        screen.print_line(&format!("  cancelled {}: {} ({})", duplicates.newer, duplicates.why, duplicates.older))?;
    }
    if let Some(version) = report.version {
        screen.print_line(&format!("Version {version} of the rules; `adjutant rules rollback` undoes it."))?;
    }
    screen.print_line(&format!("{} open tasks changed their priority.", report.reranked))
}

/// Prints what the reflections say about rules and tools that were corrected.
fn print_runs(screen: Printer, runs: &RunReview) -> io::Result<()> {
    screen.print_line(&format!("Read {} reflections.", runs.runs))?;
    for RuleRecord { rule, tasks, lowered, raised, .. } in
        runs.rules.iter().filter(|record| record.lowered.count + record.raised.count > 0)
    {
        let rule = escape_and_truncate(rule, 60);
        screen.print_line(&format!(
            "  rule {rule}: {tasks} tasks, you lowered {}, raised {}",
            lowered.count, raised.count
        ))?;
    }
    runs.tools.iter().try_for_each(|record| {
        let ToolRecord { tool, messages, edited, rejected, median_seconds, .. } = record;
        let minutes = median_seconds / 60;
        screen.print_line(&format!(
            "  {tool}: {messages} messages, you edited {edited}, rejected {rejected}; answered after {minutes} minutes"
        ))
    })
}

/// Prints what was learned, what a person is asked, and what failed its trial.
fn print_findings(screen: Printer, findings: &LearningOutcome) -> io::Result<()> {
    print_runs(screen, &findings.runs)?;
    let parts =
        [("Learned", &findings.adopted), ("Asks you", &findings.questions), ("Kept as proposals", &findings.proposals)];
    for (title, edits) in parts.iter().filter(|(_, edits)| !edits.is_empty()) {
        screen.print_line(&format!("{title}:"))?;
        edits.iter().try_for_each(|tested| print_tested_edit(screen, tested))?;
    }
    if parts.iter().all(|(_, edits)| edits.is_empty()) {
        screen.print_line("There is nothing new to learn.")?;
    }
    for line in &findings.guidelines_lines {
        screen.print_line(&format!("Guideline: {}", escape_and_truncate(line, 200)))?;
    }
    Ok(())
}

/// Prints how many of a list were left out.
fn print_rest(screen: Printer, count: usize) -> io::Result<()> {
    match count.saturating_sub(MOST_SHOWN) {
        0 => Ok(()),
        more => screen.print_line(&format!("  … and {more} more; --json has all")),
    }
}

/// Prints the digest of the last hours.
pub(super) async fn show_digest(app: &App, screen: Printer, hours: i64) -> anyhow::Result<()> {
    let digest = app.nightly().build_digest(hours).await?;
    let mut waiting = Vec::new();
    for item in digest.waiting.iter().take(MOST_SHOWN) {
        let line = headline(&app.approvals().detail(&item.item_id.to_string()).await?);
        waiting.push(format!("  {}. {line}", item.number));
    }
    let zone = app.config.me.time_zone;
    screen.print_json_or(&digest, |screen| {
        screen.print_line(&format!("Since {}:", format_date_time(digest.since, zone)))?;
        let tasks = |title: &str, rows: &[TaskRow]| -> io::Result<()> {
            screen.print_line(&format!("{title}: {}", rows.len()))?;
            rows.iter().take(MOST_SHOWN).try_for_each(|row| {
                let number = row.number.map_or_else(String::new, |number| format!("{number}. "));
                let context = &row.task.context;
                let person = context.person.as_deref().map(|person| escape_and_truncate(person, 40));
                let due = context.deadline.as_deref().map(|stored| format!("due {}", format_deadline(stored, zone)));
                let more: Vec<String> = person.into_iter().chain(due).collect();
                let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join(", ")) };
                screen.print_line(&format!("  {number}{}{more}", escape_and_truncate(&row.task.objective, 120)))
            })?;
            print_rest(screen, rows.len())
        };
        tasks("Done", &digest.done)?;
        screen.print_line(&format!("Waiting for you: {}", digest.waiting.len()))?;
        waiting.iter().try_for_each(|line| screen.print_line(line))?;
        print_rest(screen, digest.waiting.len())?;
        tasks("Overdue", &digest.overdue)?;
        screen.print_line(&format!("Warned of: {}", digest.warned.len()))?;
        for row in digest.warned.iter().take(MOST_SHOWN) {
            let text = row.warnings.first().map_or("", |warning| warning.text.as_str());
            let (subject, text) = (escape_and_truncate(&row.subject, 60), escape_and_truncate(text, 120));
            screen.print_line(&format!("  mail {}: {subject}: {text}", row.mail_id))?;
        }
        screen.print_line(&format!("Learned: {}", digest.learned.len()))?;
        for learned in &digest.learned {
            screen.print_line(&format!("  version {}: {}", learned.version, escape_and_truncate(&learned.why, 160)))?;
        }
        tasks("Cancelled as duplicates", &digest.cancelled_duplicates)?;
        screen.print_line(&format!("Archived: {}", digest.archived.len()))?;
        for mail in &digest.archived {
            screen.print_line(&format!("  mail {}: {}", mail.mail, escape_and_truncate(&mail.subject, 120)))?;
        }
        Ok(())
    })
}
