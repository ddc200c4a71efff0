//! `doctor`, `rules check`, `graph`, `audit verify`, `pause` and `resume`.

use std::{path::Path, process::ExitCode};

use anyhow::Context as _;
use serde_json::json;

use super::{
    EXIT_FINDINGS,
    health::{audit_line, print_health},
    printer::Printer,
};
use crate::{
    app::App,
    graph::topology::{GraphTopology, name},
    regular_file,
    rules::{RuleSet, RulesError},
};

/// Prints the topology of the graph.
pub(super) fn print_graph(screen: Printer, dot: bool) -> anyhow::Result<ExitCode> {
    let shape = GraphTopology::standard()?;
    let edges: Vec<_> =
        shape.edges().map(|(from, outcome, to)| json!({ "from": from, "on": outcome, "to": name(to) })).collect();
    screen.print_json_or(&edges, |screen| {
        screen.print_line(if dot { shape.dot() } else { shape.mermaid() }.trim_end())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Checks a rules file. `broken` is a reason, known already, why the file does not count although its text may be
/// valid, for example that it was cut off.
pub(super) fn check_rules_file(screen: Printer, file: &Path, broken: Option<RulesError>) -> anyhow::Result<ExitCode> {
    let kind = std::fs::metadata(file).map(|meta| meta.file_type());
    let is_pipe = broken.is_none() && kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir());
    // A pipe that a person names, such as /dev/stdin, is read as it is meant.
    let text = if is_pipe { std::fs::read_to_string(file) } else { regular_file::read_to_string(file) };
    let text = text.with_context(|| format!("{} cannot be read", file.display()))?;
    let parsed = RuleSet::parse(&file.display().to_string(), &text);
    match parsed.and_then(|rules| broken.map_or(Ok(rules), Err)) {
        Ok(rules) => {
            let warnings: Vec<String> = rules.lint().iter().map(ToString::to_string).collect();
            let answer = json!({ "ok": true, "rules": rules.len(), "version": rules.version(), "warnings": warnings });
            screen.print_json_or(&answer, |screen| {
                screen.print_line(&format!(
                    "{}: {} rules, version {}. In order.",
                    file.display(),
                    rules.len(),
                    rules.version()
                ))?;
                warnings.iter().try_for_each(|warning| screen.print_line(&format!("warning: {warning}")))
            })?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            screen.print_json_or(&json!({ "ok": false, "error": error.to_string() }), |screen| {
                screen.print_line(&error.to_string())
            })?;
            Ok(ExitCode::from(EXIT_FINDINGS))
        }
    }
}

/// Runs all checks and prints them. The exit code is 4 when something is wrong.
pub(super) async fn run_doctor(app: &App, screen: Printer) -> anyhow::Result<ExitCode> {
    let health = app.health().check().await?;
    screen.print_json_or(&health, |screen| print_health(screen, &health, app.config.me.time_zone))?;
    Ok(if health.is_well() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FINDINGS) })
}

/// Verifies the audit chain. The exit code is 4 when it is broken.
pub(super) async fn verify_audit(app: &App, screen: Printer) -> anyhow::Result<ExitCode> {
    let verified = app.audit().verify().await?;
    screen.print_json_or(&verified, |screen| {
        screen.print_line(audit_line(&verified).trim_start_matches("audit").trim_start())
    })?;
    Ok(if verified.problem.is_none() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FINDINGS) })
}

/// Pauses or resumes all effects.
pub(super) async fn set_paused(app: &App, screen: Printer, on: bool) -> anyhow::Result<()> {
    app.effects().set_paused(on).await?;
    screen.print_json_or(&serde_json::json!({ "paused": on }), |screen| {
        screen.print_line(if on {
            "Paused: no effect is carried out until `adjutant resume`. Mail is still read."
        } else {
            "Effects go on."
        })
    })
}
