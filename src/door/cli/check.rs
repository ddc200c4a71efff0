//! `init`, `doctor`, `rules check`, `graph`, `audit verify`, `pause` and `resume`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;
use comfy_table::Cell;
use serde_json::json;

use super::{FOUND, screen::Screen};
use crate::{
    app::{App, Health},
    audit::Verified,
    graph::shape::{Shape, name},
    model::{AccountCondition, Instant},
    rules::RuleSet,
};

pub(super) fn init(screen: Screen, dir: Option<PathBuf>) -> anyhow::Result<ExitCode> {
    let root = match dir {
        Some(dir) => dir,
        None => std::env::current_dir()?,
    };
    let written = App::init(&root)?;
    screen.answer(&json!({ "home": root, "written": written }), |screen| {
        if written.is_empty() {
            return screen.line("Everything is there already; nothing was changed.");
        }
        screen.line(&format!("Wrote {} in {}.", written.join(", "), root.display()))?;
        screen.line("Next: name your mailbox in adjutant.toml, then `adjutant run`. Without one, sample mails show what it does.")
    })?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn graph(screen: Screen, dot: bool) -> anyhow::Result<ExitCode> {
    let shape = Shape::standard()?;
    let edges: Vec<_> =
        shape.lines().map(|(from, outcome, to)| json!({ "from": from, "on": outcome, "to": name(to) })).collect();
    screen.answer(&edges, |screen| screen.line(if dot { shape.dot() } else { shape.mermaid() }.trim_end()))?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn rules(screen: Screen, file: &Path) -> anyhow::Result<ExitCode> {
    let text = std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
    match RuleSet::parse(&file.display().to_string(), &text) {
        Ok(rules) => {
            let warnings: Vec<String> = rules.lint().iter().map(ToString::to_string).collect();
            let answer = json!({ "ok": true, "rules": rules.len(), "version": rules.version(), "warnings": warnings });
            screen.answer(&answer, |screen| {
                screen.line(&format!(
                    "{}: {} rules, version {}. In order.",
                    file.display(),
                    rules.len(),
                    rules.version()
                ))?;
                warnings.iter().try_for_each(|warning| screen.line(&format!("warning: {warning}")))
            })?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            screen.answer(&json!({ "ok": false, "error": error.to_string() }), |screen| {
                screen.line(&error.to_string())
            })?;
            Ok(ExitCode::from(FOUND))
        }
    }
}

pub(super) async fn doctor(app: &App, screen: Screen) -> anyhow::Result<ExitCode> {
    let health = app.health().await?;
    screen.answer(&health, |screen| print_health(screen, &health))?;
    Ok(if health.is_well() { ExitCode::SUCCESS } else { ExitCode::from(FOUND) })
}

fn print_health(screen: Screen, health: &Health) -> std::io::Result<()> {
    let count = |rows: &[(String, u64)]| {
        rows.iter()
            .filter(|(_, count)| *count > 0)
            .map(|(state, count)| format!("{count} {state}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let words = |rows: Vec<(String, u64)>| {
        if rows.iter().all(|(_, count)| *count == 0) { "none".to_owned() } else { count(&rows) }
    };
    let line = |account: &crate::app::AccountHealth| {
        let polled = account.last_poll.map_or_else(|| "never".to_owned(), |at| at.to_string());
        vec![
            Cell::new(&account.account),
            Cell::new(&account.kind),
            Cell::new(account.mode),
            Cell::new(polled),
            Cell::new(account.mails),
            Cell::new(account.notes.join("; ")),
        ]
    };
    screen.table(
        &["account", "kind", "mode", "last poll", "mails", "notes"],
        health.accounts.iter().map(line).collect(),
    )?;
    for account in &health.accounts {
        if let Some(condition) = &account.condition {
            screen.line(&condition_line(condition, account.last_poll, health.unaccounted))?;
        }
    }
    screen.line(&format!(
        "mail     {} unaccounted; {}",
        health.unaccounted,
        words(health.mails.iter().map(|(state, n)| (state.to_string(), *n)).collect())
    ))?;
    screen.line(&format!(
        "tasks    {}; {} illegal transitions",
        words(health.tasks.iter().map(|(state, n)| (state.to_string(), *n)).collect()),
        health.illegal_transitions
    ))?;
    screen
        .line(&format!("runs     {}", words(health.runs.iter().map(|(state, n)| (state.to_string(), *n)).collect())))?;
    screen.line(&format!("effects  {}", words(health.effects.clone())))?;
    screen.line(&format!("people   {} items wait for you", health.waiting_for_you))?;
    for waits in &health.set_aside {
        screen.line(&format!("waits    {waits}"))?;
    }
    if health.paused {
        screen.line("effects  PAUSED: nothing is done until `adjutant resume`")?;
    }
    screen.line(&audit_line(&health.audit))?;
    if let Some(problem) = &health.policy_broken {
        screen.line(&format!("policy   BROKEN; nobody is on the allow-list, default caps hold\n{problem}"))?;
    }
    match &health.rules_broken {
        None => screen.line(&format!("rules    version {}", health.rules_version))?,
        Some(problem) => screen.line(&format!("rules    BROKEN; the last good set is in force\n{problem}"))?,
    }
    screen.line(&format!("sqlite   {}", health.sqlite))?;
    screen.line(&format!(
        "worker   {}",
        health.worker.as_deref().map_or_else(|| "none running".to_owned(), |pid| format!("process {pid}"))
    ))
}

fn condition_line(condition: &AccountCondition, last_sync: Option<Instant>, unaccounted: u64) -> String {
    let AccountCondition { account, quota_used, quota, missed, backlog, .. } = condition;
    let signed_in = if condition.signed_in { "signed in" } else { "NOT SIGNED IN" };
    let synced = last_sync.map_or_else(|| "never".to_owned(), |at| at.to_string());
    let lag = condition.lag_seconds.map_or_else(|| "none yet".to_owned(), |seconds| format!("{seconds} s"));
    let left = if *backlog > 0 { format!(", {backlog} older mails to read") } else { String::new() };
    let problem =
        if condition.problem.is_empty() { String::new() } else { format!("\n         {}", condition.problem) };
    format!(
        "account  {account} {signed_in}; last sync {synced}, lag {lag}{left}; quota {quota_used} of {quota} units in the last minute; gap {missed} found by listing again, {unaccounted} unaccounted{problem}"
    )
}

fn audit_line(audit: &Verified) -> String {
    match &audit.problem {
        None => format!("audit    {} lines, chain whole, {} anchors", audit.lines, audit.anchors),
        Some(problem) => format!("audit    BROKEN: {problem}"),
    }
}

pub(super) async fn audit(app: &App, screen: Screen) -> anyhow::Result<ExitCode> {
    let verified = app.verify_audit().await?;
    screen.answer(&verified, |screen| screen.line(audit_line(&verified).trim_start_matches("audit").trim_start()))?;
    Ok(if verified.problem.is_none() { ExitCode::SUCCESS } else { ExitCode::from(FOUND) })
}

pub(super) async fn pause(app: &App, screen: Screen, on: bool) -> anyhow::Result<()> {
    app.pause(on).await?;
    screen.answer(&serde_json::json!({ "paused": on }), |screen| {
        screen.line(if on {
            "Paused: no effect is carried out until `adjutant resume`. Mail is still read."
        } else {
            "Effects go on."
        })
    })
}
