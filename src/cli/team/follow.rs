//! Follows a team: works it in this process if no other does, and shows what happens.

use std::{process::ExitCode, time::Duration};

use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::lines::EventLines;
use crate::{
    app::{App, TeamMode},
    cli::printer::Printer,
    model::{TeamRow, TeamState},
    team::event::{StoredTeamEvent, TeamEvent, TeamInput},
    tui,
};

/// The pause between two looks at what happened. A look is one cheap read.
const INTERVAL: Duration = Duration::from_millis(50);
/// How many events wait for the screen.
const WAITING_EVENTS: usize = 256;
/// How long a team that nobody works may take to be stopped.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// The work of a team in this process. It tries again while another process has the team, so that a team whose worker
/// ends goes on here.
fn work(app: &App, team: &TeamRow, mode: TeamMode, shutdown: &CancellationToken) -> JoinHandle<anyhow::Result<()>> {
    let (app, team, shutdown) = (app.clone(), team.clone(), shutdown.clone());
    tokio::spawn(async move {
        while !shutdown.is_cancelled() {
            if app.teams().run(&team, mode, &shutdown).await?.is_some() {
                break;
            }
            tokio::time::sleep(INTERVAL).await;
        }
        Ok(())
    })
}

/// Shows a team as lines until it has answered or is stopped. Ctrl-C stops it with a summary.
pub(super) async fn as_lines(app: &App, screen: Printer, team: &TeamRow) -> anyhow::Result<ExitCode> {
    let shutdown = CancellationToken::new();
    let mut work = work(app, team, TeamMode { asks_in_queue: true, stays: false }, &shutdown);
    let mut lines = EventLines::default();
    let mut seen = 0;
    let mut is_stopping = false;
    loop {
        // Asked before the events are read: then those of the last step are among them.
        let is_over = work.is_finished();
        for event in app.teams().events_after(team.team_id, seen).await? {
            seen = event.seq;
            lines.print(screen, &event)?;
        }
        if is_over {
            break;
        }
        tokio::select! {
            () = tokio::time::sleep(INTERVAL) => {}
            pressed = tokio::signal::ctrl_c(), if !is_stopping => {
                pressed?;
                is_stopping = true;
                app.teams().send(team.team_id, &TeamInput::Stop).await?;
            }
        }
    }
    (&mut work).await??;
    finish(app, screen, team).await
}

/// Shows a team on the whole terminal until the person leaves.
pub(super) async fn on_screen(app: &App, screen: Printer, team: &TeamRow) -> anyhow::Result<ExitCode> {
    let shutdown = CancellationToken::new();
    let work = work(app, team, TeamMode { asks_in_queue: false, stays: true }, &shutdown);
    let (event_sender, events) = mpsc::channel(WAITING_EVENTS);
    let (inputs, mut input_stream) = mpsc::channel(16);
    let reader = tokio::spawn(send_events(app.clone(), team.clone(), event_sender));
    let (speaker, of_team) = (app.clone(), team.team_id);
    let writer = tokio::spawn(async move {
        while let Some(input) = input_stream.recv().await {
            if let Err(error) = speaker.teams().send(of_team, &input).await {
                tracing::warn!(error = format!("{error:#}"), "what was typed could not be stored");
            }
        }
    });
    let ended = tui::run(events, inputs, screen.has_colour).await;
    reader.abort();
    writer.await?;
    shutdown.cancel();
    work.await??;
    ended?;
    // The screen is gone from the terminal; the answer stays.
    let events = app.teams().events_after(team.team_id, 0).await?;
    let is_answer = |stored: &&StoredTeamEvent| matches!(stored.event, TeamEvent::Answered { .. });
    events.iter().rev().find(is_answer).map_or(Ok(()), |answer| EventLines::default().print(screen, answer))?;
    finish(app, screen, team).await
}

/// Hands the stored events of a team to a screen, until the screen closes.
async fn send_events(app: App, team: TeamRow, screen: mpsc::Sender<StoredTeamEvent>) -> anyhow::Result<()> {
    let mut seen = 0;
    loop {
        for event in app.teams().events_after(team.team_id, seen).await? {
            seen = event.seq;
            if screen.send(event).await.is_err() {
                return Ok(());
            }
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Waits until a team is stopped, by the process that works it or here.
pub(super) async fn until_stopped(app: &App, screen: Printer, team: &TeamRow) -> anyhow::Result<ExitCode> {
    let shutdown = CancellationToken::new();
    let work = work(app, team, TeamMode { asks_in_queue: true, stays: false }, &shutdown);
    let ended = tokio::time::timeout(STOP_PATIENCE, async {
        while app.teams().find(Some(&team.number.to_string())).await?.state.is_open() {
            tokio::time::sleep(INTERVAL).await;
        }
        anyhow::Ok(())
    });
    let outcome = ended.await;
    shutdown.cancel();
    work.await??;
    outcome.map_err(|_| anyhow::anyhow!("team {} has not stopped yet; it will at its next step", team.number))??;
    finish(app, screen, team).await
}

/// Lets the proposed actions be judged, and says where the team is left and what waits for the person.
pub(super) async fn finish(app: &App, screen: Printer, team: &TeamRow) -> anyhow::Result<ExitCode> {
    app.worker().try_finish_runs().await?;
    let team = app.teams().find(Some(&team.number.to_string())).await?;
    let waiting = app.approvals().list().await?.len();
    if !screen.is_json {
        match team.state {
            TeamState::Stopped => screen.print_line(&format!(
                "Stopped. `adjutant team --resume {0}` goes on; `adjutant team --resume {0} \"cancel remaining\"` ends it.",
                team.number
            ))?,
            TeamState::Running | TeamState::Requested => {
                screen.print_line(&format!("Team {0} is not done. `adjutant team --resume {0}` goes on.", team.number))?;
            }
            _ => {}
        }
        if waiting > 0 {
            screen
                .print_line(&format!("Waiting for you in the approval queue: {waiting}. `adjutant hitl` shows it."))?;
        }
    }
    Ok(if team.state == TeamState::Answered { ExitCode::SUCCESS } else { ExitCode::from(super::super::EXIT_FAILURE) })
}
