//! `hitl` ("human in the loop"): the approval queue. Without a command, on a terminal, a screen to decide with single
//! keys; otherwise one command per decision, for scripts.

mod batch;
mod command;
mod editor;
mod interactive;
mod page;
mod respond;
mod terminal;

pub(super) use editor::edit_text;
pub(super) use terminal::{is_interactive, restore_terminal_on_exit};

use self::interactive::ApprovalScreen;
use super::description::{format_clock_time, format_date_time};
use super::{
    args::HitlCommand,
    printer::{Printer, cell, escape_and_truncate},
    table::{Cell, Column},
};
use crate::{
    app::{App, ItemDetail},
    model::{DecisionKind, ItemId, ItemRow, OutboxState, RunRow},
    wording::item::headline,
};

/// The longest remaining grace that the command waits for after the person has quit; a longer one is left to the next
/// worker.
const LONGEST_WAIT_SECONDS: i64 = 60;

/// The notice that is shown wherever a decision would have an effect but effects are paused.
const PAUSED_NOTICE: &str = "Effects are paused: nothing leaves until `adjutant resume`.";

/// The columns of the queue.
const COLUMNS: [Column<'static>; 5] = [
    Column::fixed("nr"),
    Column::text("kind", 8).folding(2),
    Column::text("what", 24),
    Column::text("void at", 11).folding(1),
    Column::text("item", 26).folding(3),
];

/// Executes a `hitl` command; without one, opens the approval screen or, without a terminal, lists the queue.
pub(super) async fn execute(app: &App, screen: Printer, command: Option<HitlCommand>) -> anyhow::Result<()> {
    let Some(command) = command else {
        let is_interactive = !screen.is_json && terminal::is_interactive();
        return if is_interactive { decide_interactively(app, screen).await } else { list(app, screen, false).await };
    };
    match command {
        HitlCommand::List { all } => list(app, screen, all).await,
        HitlCommand::Show { item } => show_item(app, screen, &app.approvals().detail(&item).await?),
        HitlCommand::Approve { items, sha256, yes } => command::approve(app, screen, &items, &sha256, yes).await,
        HitlCommand::Edit { item, subject, text } => command::edit(app, screen, &item, subject, text).await,
        HitlCommand::Reject { item, reason, cancel } => {
            let verdict = if cancel { DecisionKind::Cancel } else { DecisionKind::Reject };
            command::decide(app, screen, &item, verdict, &reason).await
        }
        HitlCommand::Respond { item, text, dry_run, yes } => {
            respond::execute(app, screen, &item, &text.join(" "), respond::Confirmation::new(dry_run, yes)).await
        }
        HitlCommand::Snooze { item, until } => command::snooze(app, screen, &item, &until).await,
        HitlCommand::Undo { item } => command::undo(app, screen, &item).await,
        HitlCommand::Journal { limit } => command::journal(app, screen, limit).await,
        HitlCommand::Retry { item, reason } => command::decide(app, screen, &item, DecisionKind::Retry, &reason).await,
        HitlCommand::Skip { item, reason } => command::decide(app, screen, &item, DecisionKind::Skip, &reason).await,
        HitlCommand::Cancel { item, reason } => {
            command::decide(app, screen, &item, DecisionKind::Cancel, &reason).await
        }
        HitlCommand::Sent { item } => command::decide(app, screen, &item, DecisionKind::Sent, "").await,
    }
}

/// One entry of the queue, as a program reads it.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum QueueEntry<'a> {
    Item {
        #[serde(flatten)]
        item: &'a ItemRow,
        /// Whether all effects are paused, so that an approval has none yet.
        paused: bool,
    },
    /// A step that waits for something other than a person: the end of a grace, of a pause, or of a rate limit.
    SetAside {
        kind: &'static str,
        #[serde(flatten)]
        run: &'a RunRow,
        paused: bool,
    },
}

/// Prints the queue, and the runs that wait for something other than a person.
async fn list(app: &App, screen: Printer, all: bool) -> anyhow::Result<()> {
    let items = if all { app.approvals().list_with_snoozed().await? } else { app.approvals().list().await? };
    let waits = app.runs().list_deferred().await?;
    let paused = app.effects().is_paused().await?;
    let left_behind = app.runs().count_left_behind().await?;
    let mut whats = Vec::new();
    for item in &items {
        whats.push(headline(&app.approvals().detail(&item.item_id.to_string()).await?));
    }
    let zone = app.config.me.time_zone;
    let now = app.clock.now();
    let listed = items.iter().map(|item| QueueEntry::Item { item, paused });
    // What waits for something else than a person is listed for a program only when it asks for everything.
    let set_aside = waits.iter().filter(|_| all).map(|run| QueueEntry::SetAside { kind: "set_aside", run, paused });
    let listed: Vec<QueueEntry<'_>> = listed.chain(set_aside).collect();
    screen.print_json_or(&listed, |screen| {
        if paused {
            screen.print_line(PAUSED_NOTICE)?;
        }
        if items.is_empty() {
            screen.print_line("Nothing waits for you.")?;
        } else {
            let line = |(item, what): (&ItemRow, &String)| {
                let hidden = item.snooze_until.filter(|until| *until > now);
                let hidden = hidden
                    .map_or_else(String::new, |until| format!(" (hidden until {})", format_date_time(until, zone)));
                vec![
                    Cell::new(item.number),
                    Cell::new(item.kind.as_str().replace('_', " ")),
                    Cell::new(escape_and_truncate(what, 120) + &hidden),
                    Cell::new(item.expires_at.map_or_else(String::new, |at| format_date_time(at, zone))),
                    Cell::new(item.item_id),
                ]
            };
            let rows = items.iter().zip(&whats).map(line).collect();
            screen.print_table(&COLUMNS, rows)?;
            screen.print_line("adjutant hitl show|approve|edit|reject|respond|snooze|retry|skip|cancel NR")?;
        }
        if left_behind > 0 && !paused {
            screen.print_line(&format!(
                "{left_behind} steps are due and no daemon runs: `adjutant run` or `adjutant once` goes on with them."
            ))?;
        }
        print_deferred_runs(screen, app, &waits)
    })
}

/// Prints the deferred runs: nobody is asked about them, but they do not go on yet either.
fn print_deferred_runs(screen: Printer, app: &App, waits: &[RunRow]) -> std::io::Result<()> {
    if waits.is_empty() {
        return Ok(());
    }
    screen.print_line("")?;
    let line = |run: &RunRow| {
        let about = run.task_id.map_or_else(|| run.run_id.to_string(), |id| id.to_string());
        let until = run.wait_until.map_or_else(String::new, |at| format_clock_time(at, app.config.me.time_zone));
        vec![cell(&run.waits_for, 90), Cell::new(until), Cell::new(about)]
    };
    let columns = [Column::text("set aside", 24), Column::fixed("goes on at"), Column::text("task", 26).folding(1)];
    screen.print_table(&columns, waits.iter().map(line).collect())
}

fn show_item(app: &App, screen: Printer, detail: &ItemDetail) -> anyhow::Result<()> {
    screen.print_json_or(detail, |screen| print_item(app, screen, detail))
}

/// Prints an item in full, as the approval screen shows it.
fn print_item(app: &App, screen: Printer, detail: &ItemDetail) -> std::io::Result<()> {
    screen.print_line(&page::title(app, detail))?;
    let lines = page::item_page(app, detail).into_iter().chain(page::technical_lines(app, detail));
    lines.into_iter().try_for_each(|line| screen.print_line(&line.text))
}

/// Opens the approval screen, and prints at the end what became of each decision.
async fn decide_interactively(app: &App, screen: Printer) -> anyhow::Result<()> {
    if app.approvals().list().await?.is_empty() {
        return list(app, screen, false).await;
    }
    let decided = ApprovalScreen::run(app, screen).await?;
    let ids: Vec<ItemId> = decided.iter().map(|(id, _)| *id).collect();
    wait_out_grace(app, screen, &ids).await?;
    for id in ids {
        let detail = app.approvals().detail(&id.to_string()).await?;
        screen.print_line(&interactive::describe_final_state(&detail, app.config.me.time_zone))?;
    }
    let left = app.approvals().list().await?.len();
    screen
        .print_line(&if left == 0 {
            "Nothing waits for you.".to_owned()
        } else {
            format!("{left} still wait for you.")
        })
        .map_err(Into::into)
}

/// Waits until the grace of approved effects has passed and carries them out, if no daemon does.
async fn wait_out_grace(app: &App, screen: Printer, ids: &[ItemId]) -> anyhow::Result<()> {
    let mut until = None;
    for id in ids {
        let row = app.approvals().detail(&id.to_string()).await?.action;
        until = until.max(row.filter(|row| row.state == OutboxState::Held).and_then(|row| row.release_at));
    }
    let Some(until) = until else { return Ok(()) };
    if app.effects().is_paused().await? {
        return Ok(screen.print_line(PAUSED_NOTICE)?);
    }
    if !app.worker().try_finish_runs().await? {
        return Ok(());
    }
    let at = format_clock_time(until, app.config.me.time_zone);
    if until > app.clock.now().plus(chrono::Duration::seconds(LONGEST_WAIT_SECONDS)) {
        return Ok(screen.print_line(&format!("No daemon runs: after {at}, `adjutant run` or `once` lets it go."))?);
    }
    screen.print_line(&format!(
        "No daemon runs, so this waits for the grace until {at}; Ctrl-C leaves it to the next run."
    ))?;
    let passed = async {
        while app.clock.now() < until {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    };
    tokio::select! {
        () = passed => app.worker().try_finish_runs().await.map(drop),
        _ = tokio::signal::ctrl_c() => Ok(()),
    }
}
