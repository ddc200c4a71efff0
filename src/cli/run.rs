//! `run` and `once`: start the worker, and print what it reports.

use std::{
    io,
    os::unix::process::CommandExt as _,
    sync::atomic::{AtomicBool, Ordering},
};

use anyhow::Context as _;
use chrono_tz::Tz;
use serde_json::Value;
use tokio::sync::mpsc;

use super::{
    description::{format_date_time, format_deadline, localise_times},
    printer::{Printer, cell, escape_and_truncate, group_digits},
    progress,
    table::{Cell, Column},
    tasks::reminders,
};
use crate::{
    app::{App, FollowedAccount, MailOutcome, PassReport, Worker, WorkerEvent, WorkerLockHeld},
    daemon,
    model::{MailState, RequestKind},
};

/// The most mails in the table of the first report.
const MOST_SHOWN: usize = 60;

/// The columns of a report.
const COLUMNS: [Column<'static>; 7] = [
    Column::fixed("mail"),
    Column::text("from", 16).folding(2),
    Column::text("subject", 16).folding(1),
    Column::text("became", 26),
    Column::fixed("priority"),
    Column::fixed("by rule").folding(4),
    Column::text("next step", 14).folding(3),
];

/// Runs the daemon until it is told to stop, and prints its events. A reminder is marked as shown only after it was
/// printed.
pub(super) async fn run_daemon(app: &App, screen: Printer) -> anyhow::Result<()> {
    let worker = app.worker().start().await?.map_err(anyhow::Error::from)?;
    let (events, mut event_stream) = mpsc::unbounded_channel();
    if !screen.is_json {
        for FollowedAccount { intake, location: place } in &worker.followed_accounts {
            screen.print_line(&format!("Following account {} in {place}", intake.account_intake.account))?;
        }
        progress::show(worker.backfill.subscribe());
    }
    let shown_by = app.clone();
    let printer = tokio::spawn(async move {
        while let Some(event) = event_stream.recv().await {
            match (print_event(screen, shown_by.config.me.time_zone, &event), &event) {
                (Ok(()), WorkerEvent::ReminderDue(reminder)) => {
                    if let Err(error) = shown_by.tasks().mark_reminders_shown(std::slice::from_ref(reminder)).await {
                        tracing::warn!(error = format!("{error:#}"), "a reminder could not be marked as shown");
                    }
                }
                (Ok(()), _) => {}
                (Err(error), _) => tracing::debug!(%error, "nobody reads the output"),
            }
        }
    });
    let assistants = super::mcp::serve_beside_daemon(app, screen).await?;
    let page = super::web::serve_beside_daemon(app, screen).await?;
    let is_restart = AtomicBool::new(false);
    let shutdown = async {
        tokio::select! {
            () = wait_for_stop_signal() => {}
            () = app.worker().wait_for_restart_request() => is_restart.store(true, Ordering::Relaxed),
        }
    };
    let served = daemon::run(worker, shutdown, events).await;
    page.stop().await;
    assistants.stop().await;
    printer.await?;
    served?;
    if is_restart.load(Ordering::Relaxed) {
        return start_again(app, screen).await;
    }
    if !screen.is_json {
        screen.print_line("Stopped. Nothing is lost; run again to go on.")?;
    }
    Ok(())
}

/// Replaces this process by a new one with the same arguments, which reads the configuration again. A service manager
/// sees the same process go on.
async fn start_again(app: &App, screen: Printer) -> anyhow::Result<()> {
    app.audit().record_head().await;
    if !screen.is_json {
        screen.print_line("Starting again with the changed configuration.")?;
    }
    let program = std::env::current_exe().context("the program cannot be found to start it again")?;
    let error = std::process::Command::new(program).args(std::env::args_os().skip(1)).exec();
    Err(anyhow::Error::from(error).context("starting again"))
}

/// Waits for Ctrl-C or for the termination signal of a service manager.
pub(super) async fn wait_for_stop_signal() {
    let interrupt = tokio::signal::ctrl_c();
    match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = interrupt => {}
                _ = terminate.recv() => {}
            }
        }
        Err(_) => drop(interrupt.await),
    }
}

/// Processes the mail that is there. If a daemon runs, leaves a request and waits for its answer.
pub(super) async fn run_once(app: &App, screen: Printer) -> anyhow::Result<()> {
    let troubles = loop {
        match app.worker().start().await? {
            Ok(worker) => break run_once_here(worker, screen).await?,
            Err(WorkerLockHeld { pid }) => {
                if !screen.is_json {
                    screen.print_line(&format!("Another adjutant (process {pid}) is running; asked it to look."))?;
                }
                let Some(report) = app.worker().send_request(RequestKind::Once).await? else { continue };
                screen.print_json_or(&report, |screen| print_daemon_reply(screen, &report))?;
                break report.get("troubles").and_then(Value::as_array).map_or(0, Vec::len);
            }
        }
    };
    anyhow::ensure!(troubles == 0, "not everything could be taken in; nothing was lost, run again");
    Ok(())
}

/// Runs one pass in this process. Returns the number of problems that it reported.
async fn run_once_here(worker: Worker, screen: Printer) -> anyhow::Result<usize> {
    let zone = worker.app.config.me.time_zone;
    let supervised = worker.engine.clone();
    let watch = tokio::spawn(async move { supervised.supervise_nodes().await });
    if !screen.is_json {
        progress::show(worker.backfill.subscribe());
    }
    let report = worker.run_once().await;
    worker.stop().await;
    watch.await?;
    let report = report?;
    screen.print_json_or(&report, |screen| print_report(screen, zone, &report))?;
    Ok(report.troubles.len())
}

/// Prints the report of a daemon, which is JSON.
fn print_daemon_reply(screen: Printer, report: &Value) -> io::Result<()> {
    let count = |key: &str| report.get(key).and_then(Value::as_u64).unwrap_or_default();
    let troubles = report.get("troubles").and_then(Value::as_array).into_iter().flatten();
    for trouble in troubles.chain(report.get("model_note")) {
        screen.print_line(&escape_and_truncate(trouble.as_str().unwrap_or_default(), 300))?;
    }
    let (entered, duplicates, unreadable) = (count("entered"), count("duplicates"), count("unreadable"));
    screen.print_line(&format!("{entered} new mails, {duplicates} duplicates, {unreadable} unreadable."))
}

/// Prints one event, as a line of text or of JSON.
fn print_event(screen: Printer, zone: Tz, event: &WorkerEvent) -> io::Result<()> {
    if screen.is_json {
        return screen.print_line(&event_json(event).to_string());
    }
    match event {
        WorkerEvent::Started(report) => {
            print_report(screen, zone, report)?;
            screen.print_line("Waiting for mail. Ctrl-C stops.")
        }
        WorkerEvent::MailSettled(outcome) => rows(screen, zone, outcome).into_iter().try_for_each(|row| {
            let texts: Vec<&str> = row.iter().map(Cell::content).filter(|text| !text.is_empty()).collect();
            screen.print_line(&texts.join("  ·  "))
        }),
        WorkerEvent::ReminderDue(reminder) => {
            screen.print_line(&reminders::format_reminder("Reminder", reminder, zone))
        }
        WorkerEvent::ItemExpiring(item) => {
            let until = item.expires_at.map_or_else(String::new, |at| format!(" at {}", format_date_time(at, zone)));
            screen
                .print_line(&format!("Expires soon{until}: {} (adjutant hitl)", escape_and_truncate(&item.title, 200)))
        }
        WorkerEvent::RulesBroken(problem) => screen.print_line(problem),
        WorkerEvent::NightlyDone(report) => super::nightly::print_report(screen, report),
        WorkerEvent::RulesChanged { version, reranked } => {
            screen.print_line(&format!("New rules ({version}): {reranked} tasks changed their priority."))
        }
        WorkerEvent::MemoryAvailability(said) => screen.print_line(&format!("Memory: {said}")),
        WorkerEvent::ModelUnavailable(note) => screen.print_line(&escape_and_truncate(note, 300)),
        WorkerEvent::PollFailed { account, problem } => screen.print_line(&format!("Account {account}: {problem}")),
    }
}

/// Returns an event as JSON. Scripts rely on the names, so they must not change.
fn event_json(event: &WorkerEvent) -> Value {
    use serde_json::json;
    match event {
        WorkerEvent::Started(report) => json!({ "event": "started", "report": report }),
        WorkerEvent::MailSettled(outcome) => json!({ "event": "settled", "mail": outcome }),
        WorkerEvent::ReminderDue(reminder) => json!({ "event": "reminder", "reminder": reminder }),
        WorkerEvent::ItemExpiring(item) => json!({ "event": "expiring", "item": item }),
        WorkerEvent::NightlyDone(report) => json!({ "event": "night", "report": report }),
        WorkerEvent::RulesBroken(problem) => json!({ "event": "rules_broken", "problem": problem }),
        WorkerEvent::RulesChanged { version, reranked } => {
            json!({ "event": "rules_changed", "version": version, "reranked": reranked })
        }
        WorkerEvent::MemoryAvailability(said) => json!({ "event": "memory", "said": said }),
        WorkerEvent::ModelUnavailable(note) => json!({ "event": "model", "note": note }),
        WorkerEvent::PollFailed { account, problem } => {
            json!({ "event": "trouble", "account": account, "problem": problem })
        }
    }
}

/// Prints the report of one pass.
fn print_report(screen: Printer, zone: Tz, report: &PassReport) -> io::Result<()> {
    report.troubles.iter().chain(&report.model_note).try_for_each(|trouble| screen.print_line(trouble))?;
    report.memory.iter().try_for_each(|said| screen.print_line(&format!("Memory: {said}")))?;
    if report.outcomes.is_empty() {
        screen.print_line("No new mail.")?;
    } else {
        let earlier = report.outcomes.len().saturating_sub(MOST_SHOWN);
        let table = report.outcomes.iter().skip(earlier).flat_map(|outcome| rows(screen, zone, outcome)).collect();
        screen.print_table(&COLUMNS, table)?;
        let (shown, total) = (report.outcomes.len() - earlier, report.entered.max(report.outcomes.len()));
        if shown < total {
            let total = group_digits(total as u64);
            screen.print_line(&format!(
                "showing the last {shown} of {total} mails; `adjutant mail list --limit N` shows more"
            ))?;
        }
    }
    screen.print_line(&format!(
        "{} mails: {} tasks, {} duplicates, {} unreadable. {} waiting for you (adjutant hitl list).",
        report.entered, report.tasks, report.duplicates, report.unreadable, report.waiting_for_you
    ))
}

/// Returns one table row per task of a mail, or one that says why there is none.
fn rows(screen: Printer, zone: Tz, outcome: &MailOutcome) -> Vec<Vec<Cell>> {
    let head = [Cell::new(outcome.mail_id), cell(&outcome.from, 26), cell(&outcome.subject, 30)];
    if outcome.tasks.is_empty() {
        let marks = super::mail::warning_marks(&outcome.warnings);
        let became =
            format!("{marks}{}: {}", outcome.state.as_str().replace('_', " "), localise_times(&outcome.reason, zone));
        let mut row = head.to_vec();
        row.extend([cell(&became, 110), Cell::new(""), Cell::new(""), Cell::new("")]);
        return vec![row];
    }
    let line = |task: &crate::app::TaskLine| {
        let verb = if outcome.state == MailState::Linked { "linked to" } else { "task" };
        let number = task.number.map_or_else(String::new, |number| format!(" {number}"));
        let warnings: String = task.warnings.iter().map(|warning| format!(" [{warning}!]")).collect();
        let due =
            task.deadline.as_deref().map_or_else(String::new, |due| format!(" (due {})", format_deadline(due, zone)));
        let mut row = head.to_vec();
        row.extend([
            cell(&format!("{verb}{number}: {}{due}{warnings}", task.objective), 110),
            screen.priority(task.priority),
            cell(&task.rule, 24),
            cell(&task.next_step, 30),
        ]);
        row
    };
    outcome.tasks.iter().map(line).collect()
}
