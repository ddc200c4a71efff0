//! `reflect`, `digest`, and `rules what-if|history|diff|rollback`.

use std::{io, process::ExitCode};

use comfy_table::Cell;
use serde_json::{Value, json};

use super::{
    FOUND,
    args::RulesCommand,
    hitl::moment,
    screen::{Screen, cell, shown},
};
use crate::{
    app::{App, NightlyReport, ReflectOutcome, RulesVersionDetail, WhatIfChange, WhatIfReport, WorkerLockHeld},
    nightly::{LearningOutcome, TestedEdit},
    store::{nightly::LearnedEntryRow, value::TaskRow},
};

/// Rows of a table; the JSON has all.
const MOST_SHOWN: usize = 40;

pub(super) async fn rules(app: &App, screen: Screen, command: RulesCommand) -> anyhow::Result<ExitCode> {
    match command {
        RulesCommand::Check { file } => {
            let broken = if file.is_none() { app.load_rules().broken.map(|broken| broken.error) } else { None };
            return super::check::rules(screen, &file.unwrap_or_else(|| app.home.rules_file()), broken);
        }
        RulesCommand::WhatIf { file } => {
            let answer = app.what_if(&file).await?;
            screen.answer(&answer, |screen| print_what_if(screen, &answer))?;
            return Ok(if answer.changes.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FOUND) });
        }
        RulesCommand::History { limit } => history(app, screen, limit).await?,
        RulesCommand::Diff { from } => {
            let lines = app.rules_diff(from).await?;
            screen.answer(&lines, |screen| {
                if lines.is_empty() {
                    return screen.line("No difference.");
                }
                lines.iter().try_for_each(|line| screen.line(&format!("{} {}", line.sign, line.line)))
            })?;
        }
        RulesCommand::Rollback { to } => {
            let made = app.roll_back_rules(to).await?;
            screen.answer(&json!({ "version": made }), |screen| {
                screen.line(&format!(
                    "Done; this is version {made} now. What was taken back is learned again only from new corrections."
                ))
            })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print_what_if(screen: Screen, answer: &WhatIfReport) -> io::Result<()> {
    answer.warnings.iter().try_for_each(|warning| screen.line(&format!("warning: {}", shown(warning, 200))))?;
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
        screen.table(&["task", "objective", "now", "then", "by", ""], rows)?;
        if answer.changes.len() > MOST_SHOWN {
            screen.line(&format!("… and {} more; --json has all", answer.changes.len() - MOST_SHOWN))?;
        }
    }
    screen.line(&format!(
        "{} tasks looked at: {} raised, {} lowered, {} against your own word.",
        answer.past, answer.raised, answer.lowered, answer.against_your_word
    ))
}

async fn history(app: &App, screen: Screen, limit: usize) -> anyhow::Result<()> {
    let mut versions = app.rules_history().await?;
    versions.truncate(limit);
    let entries = app.learned_entries().await?;
    let zone = app.config.me.time_zone;
    screen.answer(&json!({ "versions": versions, "entries": entries }), |screen| {
        if versions.is_empty() {
            return screen.line("Nothing was learned yet; `adjutant reflect --dry-run` shows tonight's proposal.");
        }
        for version in &versions {
            print_version(screen, version, &moment(version.row.at, zone))?;
        }
        if !entries.is_empty() {
            let line = |row: &LearnedEntryRow| {
                let ids: Vec<String> = row.evidence.iter().map(ToString::to_string).collect();
                let last = row.last_hit.map_or_else(|| "never".to_owned(), |at| moment(at, zone));
                vec![cell(&row.name, 60), cell(&ids.join(", "), 40), Cell::new(row.hits), Cell::new(last)]
            };
            screen.line("")?;
            screen.table(&["learned entry", "corrections", "hits", "last hit"], entries.iter().map(line).collect())?;
        }
        screen.line("adjutant rules diff [VERSION] · adjutant rules rollback [VERSION]")
    })
}

fn print_version(screen: Screen, version: &RulesVersionDetail, at: &str) -> io::Result<()> {
    let row = &version.row;
    let current = if version.current { " (now)" } else { "" };
    screen.line(&format!("version {}{current}, {at}, by {}: {}", row.version, row.who, shown(&row.why, 200)))?;
    let edits: Vec<TestedEdit> =
        row.edits.get("edits").cloned().and_then(|edits| serde_json::from_value(edits).ok()).unwrap_or_default();
    edits.iter().try_for_each(|tested| print_tested(screen, tested))
}

fn print_tested(screen: Screen, tested: &TestedEdit) -> io::Result<()> {
    screen.line(&format!("  {}", shown(&tested.words, 160)))?;
    screen.line(&format!("    because {}", shown(tested.edit.why(), 200)))?;
    screen.line(&format!("    tested: {}", tested.trial))?;
    if tested.trial.passed {
        return Ok(());
    }
    screen.line(&format!("    not adopted: {}", shown(&tested.trial.reason, 200)))?;
    tested.trial.cases.iter().try_for_each(|case| {
        let task = case.number.map_or_else(|| case.task_id.to_string(), |number| format!("task {number}"));
        screen.line(&format!("      {task}: {} would be {} ({})", case.from, case.to, case.why))
    })
}

pub(super) async fn reflect(app: &App, screen: Screen, dry_run: bool) -> anyhow::Result<()> {
    if dry_run {
        let findings = app.preview_nightly().await?;
        return screen.answer(&findings, |screen| {
            screen.line("Tonight's proposal; nothing was touched.")?;
            print_findings(screen, &findings)
        });
    }
    let worker = loop {
        match app.start_worker().await? {
            Ok(worker) => break worker,
            Err(WorkerLockHeld { pid }) => {
                if !screen.json {
                    screen.line(&format!("Another adjutant (process {pid}) is at work; asked it to."))?;
                }
                if let Some(answer) = app.ask("reflect").await? {
                    return screen.answer(&answer, |screen| print_answer(screen, &answer));
                }
            }
        }
    };
    let reflected = app.run_nightly_unless_done_today().await;
    worker.stop().await;
    let reflected = reflected?;
    screen.answer(&reflected, |screen| match &reflected {
        ReflectOutcome::Done(report) => print_report(screen, report),
        ReflectOutcome::DoneBefore(row) => {
            screen.line(&format!("The night of {} was held already (run {}).", row.date, row.run_id))?;
            screen
                .line("`adjutant rules history` tells what it did; `adjutant reflect --dry-run` what it would do now.")
        }
    })
}

/// What a daemon answers; a night that was held before comes as its row.
fn print_answer(screen: Screen, answer: &Value) -> io::Result<()> {
    let date = answer.get("date").and_then(Value::as_str).unwrap_or_default();
    if answer.get("state").is_some() {
        return screen
            .line(&format!("The night of {date} was held already; `adjutant rules history` tells what it did."));
    }
    let count = |key: &str| answer.get(key).and_then(Value::as_array).map_or(0, Vec::len);
    screen.line(&format!(
        "The night of {date}: {} learned, {} asked, {} kept as proposals.",
        count("adopted"),
        count("questions"),
        count("proposals")
    ))
}

pub(super) fn print_report(screen: Screen, report: &NightlyReport) -> io::Result<()> {
    screen.line(&format!("The night of {}:", report.date))?;
    print_findings(screen, &report.learning)?;
    for twins in &report.duplicates {
        screen.line(&format!("  cancelled {}: {} ({})", twins.newer, twins.why, twins.older))?;
    }
    if let Some(version) = report.version {
        screen.line(&format!("Version {version} of the rules; `adjutant rules rollback` takes it back."))?;
    }
    screen.line(&format!("{} open tasks changed their level.", report.reranked))
}

fn print_findings(screen: Screen, findings: &LearningOutcome) -> io::Result<()> {
    let parts =
        [("Learned", &findings.adopted), ("Asks you", &findings.questions), ("Kept as proposals", &findings.proposals)];
    for (title, edits) in parts.iter().filter(|(_, edits)| !edits.is_empty()) {
        screen.line(&format!("{title}:"))?;
        edits.iter().try_for_each(|tested| print_tested(screen, tested))?;
    }
    if parts.iter().all(|(_, edits)| edits.is_empty()) {
        screen.line("There is nothing new to learn.")?;
    }
    for line in &findings.guidelines_lines {
        screen.line(&format!("Guideline: {}", shown(line, 200)))?;
    }
    Ok(())
}

pub(super) async fn digest(app: &App, screen: Screen, hours: i64) -> anyhow::Result<()> {
    let digest = app.digest(hours).await?;
    let zone = app.config.me.time_zone;
    screen.answer(&digest, |screen| {
        screen.line(&format!("Since {}:", moment(digest.since, zone)))?;
        let tasks = |title: &str, rows: &[TaskRow]| -> io::Result<()> {
            screen.line(&format!("{title}: {}", rows.len()))?;
            rows.iter().take(MOST_SHOWN).try_for_each(|row| {
                let number = row.number.map_or_else(String::new, |number| format!("{number}. "));
                screen.line(&format!("  {number}{}", shown(&row.task.objective, 120)))
            })
        };
        tasks("Done", &digest.done)?;
        screen.line(&format!("Waiting for you: {}", digest.waiting.len()))?;
        for item in digest.waiting.iter().take(MOST_SHOWN) {
            screen.line(&format!("  {}", shown(&item.title, 120)))?;
        }
        tasks("Overdue", &digest.overdue)?;
        screen.line(&format!("Learned: {}", digest.learned.len()))?;
        for learned in &digest.learned {
            screen.line(&format!("  version {}: {}", learned.version, shown(&learned.why, 160)))?;
        }
        tasks("Cancelled as duplicates", &digest.cancelled_duplicates)?;
        screen.line(&format!("Archived: {}", digest.archived.len()))?;
        for mail in &digest.archived {
            screen.line(&format!("  mail {}: {}", mail.mail, shown(&mail.subject, 120)))?;
        }
        Ok(())
    })
}
