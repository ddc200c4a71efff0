//! The output of `doctor`.

use std::io;

use chrono_tz::Tz;

use super::{
    description::{format_timestamp, localise_times},
    printer::{Printer, escape_and_truncate},
    table::{Cell, Column},
};
use crate::{
    app::{AccountHealth, Health, ModelHealth, WaitingSteps, WitnessHealth},
    audit::EvidenceVerification,
    ingest::escape_for_display,
    model::{AccountCondition, DetectedRestore, Instant, MailboxKind, UnreadableRow, llm::Outcome},
};

/// Prints everything that `doctor` found.
pub(super) fn print_health(screen: Printer, health: &Health, zone: Tz) -> io::Result<()> {
    print_accounts(screen, health, zone)?;
    print_counts(screen, health, zone)?;
    print_parts(screen, health, zone)?;
    print_findings(screen, health, zone)
}

/// Prints the findings. They come last, where a person looks first on a terminal.
fn print_findings(screen: Printer, health: &Health, zone: Tz) -> io::Result<()> {
    match health.findings.len() {
        0 => return screen.print_line("found    nothing wrong"),
        1 => screen.print_line("found    1 thing that needs you:")?,
        more => screen.print_line(&format!("found    {more} things that need you:"))?,
    }
    health.findings.iter().try_for_each(|finding| {
        screen.print_line(&format!(
            "  {}: {}",
            finding.code,
            escape_for_display(&localise_times(&finding.what, zone))
        ))?;
        screen.print_line(&format!("    {}", finding.remedy))
    })
}

/// Returns when an account was last polled. A failed poll does not count as one.
pub(super) fn last_poll_words(last: Option<Instant>, condition: Option<&AccountCondition>, zone: Tz) -> String {
    match condition.filter(|condition| !condition.problem.is_empty()) {
        Some(condition) => format!("FAILED at {}", format_timestamp(condition.at, zone)),
        None => last.map_or_else(|| "never".to_owned(), |at| format_timestamp(at, zone)),
    }
}

/// Prints a table of the accounts, and a line for each account that is reached over a network.
fn print_accounts(screen: Printer, health: &Health, zone: Tz) -> io::Result<()> {
    let line = |account: &AccountHealth| {
        let polled = last_poll_words(account.last_poll, account.condition.as_ref(), zone);
        vec![
            Cell::new(&account.account),
            Cell::new(account.kind),
            Cell::new(account.mode),
            Cell::new(polled),
            Cell::new(account.mails),
            Cell::new(account.notes.join("; ")),
        ]
    };
    let columns = [
        Column::fixed("account"),
        Column::fixed("kind"),
        Column::fixed("mode"),
        Column::text("last poll", 10),
        Column::fixed("mails"),
        Column::text("notes", 30).folding(1),
    ];
    screen.print_table(&columns, health.accounts.iter().map(line).collect())?;
    let remote = health.accounts.iter().filter(|account| account.kind != MailboxKind::Maildir);
    let conditions = remote.filter_map(|account| Some((account, account.condition.as_ref()?)));
    for (account, condition) in conditions {
        screen.print_line(&condition_line(condition, account.last_poll, account.unaccounted, zone))?;
    }
    Ok(())
}

/// Prints the numbers of mails, tasks, runs and effects, what waits, and rows that cannot be read.
fn print_counts(screen: Printer, health: &Health, zone: Tz) -> io::Result<()> {
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
    let waiting: u64 = health.accounts.iter().map(|account| account.waiting).sum();
    let waiting = if waiting > 0 { format!("{waiting} arrived since the last poll; ") } else { String::new() };
    screen.print_line(&format!(
        "mail     {} unaccounted; {waiting}{}",
        health.unaccounted,
        words(health.mails.iter().map(|(state, n)| (state.to_string(), *n)).collect())
    ))?;
    screen.print_line(&format!(
        "tasks    {}; {} illegal transitions",
        words(health.tasks.iter().map(|(state, n)| (state.to_string(), *n)).collect()),
        health.illegal_transitions
    ))?;
    screen.print_line(&format!(
        "runs     {}",
        words(health.runs.iter().map(|(state, n)| (state.to_string(), *n)).collect())
    ))?;
    screen.print_line(&format!("effects  {}", words(health.effects.clone())))?;
    screen.print_line(&format!("people   {} items wait for you", health.waiting_for_you))?;
    for WaitingSteps { steps, reason, next } in &health.set_aside {
        let steps = if *steps == 1 { "1 step waits".to_owned() } else { format!("{steps} steps wait") };
        let next = next.utc().with_timezone(&zone).format("%H:%M");
        screen.print_line(&format!("waits    {steps}: {}, next at {next}", escape_and_truncate(reason, 160)))?;
    }
    if health.unreadable.count > 0 {
        let count = health.unreadable.count;
        screen.print_line(&format!("rows     {count} CANNOT BE READ; everything goes on without them"))?;
        for UnreadableRow { table, key, column, problem } in &health.unreadable.rows {
            screen.print_line(&format!(
                "         {table} {}: {column}: {}",
                escape_and_truncate(key, 60),
                escape_and_truncate(problem, 120)
            ))?;
        }
    }
    if health.paused {
        screen.print_line("effects  PAUSED: nothing is done until `adjutant resume`")?;
    }
    Ok(())
}

/// Prints the state of the audit chain, the files, the memory, the model, the nightly job and the worker.
fn print_parts(screen: Printer, health: &Health, zone: Tz) -> io::Result<()> {
    screen.print_line(&audit_line(&health.audit))?;
    print_witness(screen, &health.witness, zone)?;
    if let Some(problem) = &health.policy_broken {
        screen.print_line(&format!(
            "policy   BROKEN: nothing is done until it is whole again; mail is still read\n{problem}"
        ))?;
    }
    match &health.rules_broken {
        None => screen.print_line(&format!("rules    version {}", health.rules_version))?,
        Some(problem) => {
            screen.print_line(&format!("rules    BROKEN, version {} is in force: {problem}", health.rules_version))?
        }
    }
    screen.print_line(&format!(
        "memory   {}: {}",
        health.memory.place,
        super::memory::describe_status(&health.memory)
    ))?;
    match &health.model {
        Some(model) => print_model(screen, model, zone)?,
        None => screen.print_line("model    none; the rules work alone")?,
    }
    let last = health.last_night.as_deref().unwrap_or("none yet");
    let next = health.next_night.map_or_else(|| "never".to_owned(), |at| format_timestamp(at, zone));
    screen.print_line(&format!("nightly  last {last}, next {next}"))?;
    screen.print_line(&format!("sqlite   {}", health.sqlite))?;
    screen.print_line(&format!(
        "worker   {}",
        health.worker.as_deref().map_or_else(|| "none running".to_owned(), |pid| format!("process {pid}"))
    ))
}

/// Prints a missing witness, and the last restore that was detected.
fn print_witness(screen: Printer, witness: &WitnessHealth, zone: Tz) -> io::Result<()> {
    if let Some(problem) = &witness.problem {
        screen.print_line(&format!(
            "state    NO WITNESS outside data/: {problem}. A restored backup of data/ may go unnoticed"
        ))?;
    }
    match &witness.restored {
        Some(DetectedRestore { at, because }) => screen.print_line(&format!(
            "restore  detected {}: {because}. Approvals from before are void; accounts observe until you turn them on",
            format_timestamp(*at, zone)
        )),
        None => Ok(()),
    }
}

/// Returns a line about sign-in, lag, quota and gap of an account.
fn condition_line(condition: &AccountCondition, last_sync: Option<Instant>, unaccounted: u64, zone: Tz) -> String {
    let AccountCondition { account, quota_used, quota, missed, backlog, .. } = condition;
    let signed_in = if condition.signed_in { "signed in" } else { "NOT SIGNED IN" };
    let synced = last_sync.map_or_else(|| "never".to_owned(), |at| format_timestamp(at, zone));
    let lag = condition.lag_seconds.map_or_else(|| "none yet".to_owned(), |seconds| format!("{seconds} s"));
    let left = if *backlog > 0 { format!(", {backlog} older mails to read") } else { String::new() };
    let problem =
        if condition.problem.is_empty() { String::new() } else { format!("\n         {}", condition.problem) };
    format!(
        "account  {account} {signed_in}; last sync {synced}, lag {lag}{left}; quota {quota_used} of {quota} units in the last minute; gap {missed} found by listing again, {unaccounted} unaccounted{problem}"
    )
}

fn print_model(screen: Printer, model: &ModelHealth, zone: Tz) -> io::Result<()> {
    let what = match model.outcome {
        Outcome::Answered | Outcome::Repaired => format!("answers, {} ms", model.took_ms),
        outcome => format!("{}: {}; rules go on alone", outcome.as_str().to_uppercase(), model.note),
    };
    screen.print_line(&format!("model    {} {}: {what}", model.provider, escape_and_truncate(&model.model, 60)))?;
    if let Some(since) = model.gone_since {
        screen.print_line(&format!(
            "model    today's BUDGET IS GONE since {}; rules go on alone",
            format_timestamp(since, zone)
        ))?;
    }
    model.guidelines_warning.iter().try_for_each(|warning| screen.print_line(&format!("model    {warning}")))
}

/// Returns a line about the audit chain.
pub(super) fn audit_line(audit: &EvidenceVerification) -> String {
    match &audit.problem {
        None => format!("audit    {} lines, chain whole, {} anchors", audit.lines, audit.anchors),
        Some(problem) => format!("audit    BROKEN: {problem}"),
    }
}
