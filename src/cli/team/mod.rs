//! `team`: a request that a task manager divides among workers. On a terminal a screen, elsewhere plain lines, with
//! `--json` events. Whatever follows a team reads its stored events, so that it may run in this process or another.

mod follow;
mod lines;

use std::{
    io::{self, IsTerminal as _},
    process::ExitCode,
};

use super::{
    args::TeamArgs,
    printer::{Printer, cell},
    table::{Cell, Column},
};
use crate::{
    app::{App, BadInput},
    model::{TeamOrigin, TeamRow, TeamState},
    team::event::TeamInput,
};

const COLUMNS: [Column<'static>; 5] = [
    Column::fixed("team"),
    Column::fixed("state"),
    Column::fixed("from"),
    Column::text("request", 30),
    Column::fixed("started"),
];

/// Executes the command.
pub(super) async fn execute(app: &App, screen: Printer, args: TeamArgs) -> anyhow::Result<ExitCode> {
    let text = args.text.join(" ");
    if args.list {
        list(app, screen).await?;
    } else if let Some(number) = &args.show {
        show(app, screen, number).await?;
    } else if let Some(number) = &args.stop {
        return stop(app, screen, number).await;
    } else if let Some(number) = &args.resume {
        let team = app.teams().find(Some(number)).await?;
        return resume(app, screen, team, &text, args.background).await;
    } else {
        let team = app.teams().open(&text, args.account.as_deref(), TeamOrigin::Terminal).await?;
        return begin(app, screen, &team, args.background).await;
    }
    Ok(ExitCode::SUCCESS)
}

/// Follows a team, or leaves it to the daemon.
async fn begin(app: &App, screen: Printer, team: &TeamRow, background: bool) -> anyhow::Result<ExitCode> {
    if background {
        let words = format!("Team {} is left to the daemon. `adjutant team --show {0}` shows it.", team.number);
        screen.print_json_or(team, |screen| screen.print_line(&words))?;
        return Ok(ExitCode::SUCCESS);
    }
    let has_screen = io::stdin().is_terminal() && io::stdout().is_terminal() && !screen.is_json;
    if has_screen { follow::on_screen(app, screen, team).await } else { follow::as_lines(app, screen, team).await }
}

async fn resume(app: &App, screen: Printer, team: TeamRow, text: &str, background: bool) -> anyhow::Result<ExitCode> {
    if let Some(obstacle) = app.teams().obstacle() {
        return Err(BadInput(obstacle.into()).into());
    }
    let text = text.trim();
    match team.state {
        TeamState::Cancelled | TeamState::Failed => {
            return Err(BadInput(format!("team {} is {}; ask again with a new one", team.number, team.state)).into());
        }
        TeamState::Stopped if text.is_empty() => app.teams().say(&team, None, "continue").await?,
        TeamState::Answered if text.is_empty() => {
            show(app, screen, &team.number.to_string()).await?;
            // A process that was killed after the answer may have left what was proposed.
            return follow::finish(app, screen, &team).await;
        }
        _ if !text.is_empty() => app.teams().say(&team, None, text).await?,
        _ => {}
    }
    begin(app, screen, &team, background).await
}

async fn stop(app: &App, screen: Printer, number: &str) -> anyhow::Result<ExitCode> {
    let team = app.teams().find(Some(number)).await?;
    if !matches!(team.state, TeamState::Running | TeamState::Requested) {
        let words = format!("Team {} is {}; there is nothing to stop.", team.number, team.state);
        screen.print_json_or(&team, |screen| screen.print_line(&words))?;
        return Ok(ExitCode::SUCCESS);
    }
    app.teams().send(team.team_id, &TeamInput::Stop).await?;
    let code = follow::until_stopped(app, screen, &team).await?;
    Ok(code)
}

async fn list(app: &App, screen: Printer) -> anyhow::Result<()> {
    let teams = app.teams().list().await?;
    let zone = app.config.me.time_zone;
    screen.print_json_or(&teams, |screen| {
        if teams.is_empty() {
            return screen.print_line("There is no team yet.");
        }
        let row = |team: &TeamRow| {
            vec![
                Cell::new(team.number.to_string()),
                Cell::new(team.state.to_string()),
                Cell::new(team.origin.to_string()),
                cell(&team.request, 120),
                Cell::new(crate::wording::description::format_date_time(team.created_at, zone)),
            ]
        };
        screen.print_table(&COLUMNS, teams.iter().map(row).collect())
    })
}

async fn show(app: &App, screen: Printer, number: &str) -> anyhow::Result<()> {
    let team = app.teams().find(Some(number)).await?;
    let detail = app.teams().detail(team.team_id).await?;
    screen.print_json_or(&detail, |screen| {
        screen.print_line(&format!("Team {} · {}", detail.team.number, detail.team.state))?;
        let mut lines = lines::EventLines::default();
        detail.events.iter().try_for_each(|event| lines.print(screen, event))
    })
}
