//! The terminal itself: keys in, the drawn screen out.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::DefaultTerminal;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
};

use super::{
    log,
    screen::{Screen, ScreenCommand},
};
use crate::{
    model::TeamState,
    team::event::{StoredTeamEvent, TeamInput},
};

/// How long the thread that reads keys waits before it looks whether the screen is still there.
const KEY_WAIT: Duration = Duration::from_millis(100);
/// How often time passes for the screen.
const TICK: Duration = Duration::from_millis(100);
/// The most events that are taken in before the screen is drawn again, so that a replay does not flicker.
const MOST_AT_ONCE: usize = 256;

/// How a session at the screen ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScreenEnd {
    /// Where the team stood when the person left.
    pub state: TeamState,
}

/// Restores the terminal and ends the thread that reads keys, however the session ends.
struct TerminalSession {
    terminal: DefaultTerminal,
    is_over: Arc<AtomicBool>,
}

impl Drop for TerminalSession {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        ratatui::restore();
        log::release();
    }
}

/// Shows a team until the person leaves, the terminal is gone, or the program is told to end. What the person says goes
/// to `inputs`.
pub async fn run(
    mut events: mpsc::Receiver<StoredTeamEvent>,
    inputs: mpsc::Sender<TeamInput>,
    has_colour: bool,
) -> anyhow::Result<ScreenEnd> {
    let is_over = Arc::new(AtomicBool::new(false));
    let mut session = TerminalSession { terminal: ratatui::try_init()?, is_over: Arc::clone(&is_over) };
    log::hold();
    let mut keys = read_keys(is_over);
    let (mut terminate, mut hangup) = (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
    let size = session.terminal.size()?;
    let mut screen = Screen::new(size.width, size.height, has_colour);
    let began = Instant::now();
    let mut batch = Vec::new();
    let mut is_open = true;
    loop {
        session.terminal.draw(|frame| screen.draw(frame))?;
        let before = screen.agent_in_view();
        let mut command = None;
        tokio::select! {
            count = events.recv_many(&mut batch, MOST_AT_ONCE), if is_open => is_open = count > 0,
            key = keys.recv() => match key {
                Some(Event::Key(key)) if is_redraw(key) => session.terminal.clear()?,
                Some(Event::Key(key)) if key.kind == KeyEventKind::Press => {
                    command = screen.handle_key(key, began.elapsed());
                }
                Some(Event::Resize(columns, rows)) => {
                    session.terminal.autoresize()?;
                    screen.resize(columns, rows);
                }
                Some(_) => {}
                None => break,
            },
            () = tokio::time::sleep(TICK) => {}
            _ = terminate.recv() => break,
            _ = hangup.recv() => break,
        }
        for stored in batch.drain(..) {
            screen.handle_event(&stored.event, began.elapsed());
        }
        screen.tick(began.elapsed());
        match command {
            Some(ScreenCommand::Send(input)) => inputs.send(input).await?,
            Some(ScreenCommand::Leave) => break,
            None => {}
        }
        log_view(&screen, before);
    }
    Ok(ScreenEnd { state: screen.team_state() })
}

/// Returns whether the screen is to be drawn anew, because something else has written on the terminal.
fn is_redraw(key: KeyEvent) -> bool {
    key.code == KeyCode::Char('l') && key.modifiers.contains(KeyModifiers::CONTROL)
}

/// Logs which agent came into view.
fn log_view(screen: &Screen, before: Option<crate::model::AgentId>) {
    if let Some(agent) = screen.agent_in_view().filter(|agent| Some(*agent) != before) {
        tracing::debug!(agent.id = %agent, "the view moved");
    }
}

/// Reads keys on a thread of its own until the session is over or the terminal is gone.
fn read_keys(is_over: Arc<AtomicBool>) -> mpsc::Receiver<Event> {
    let (sender, receiver) = mpsc::channel(64);
    let read = move || -> io::Result<()> {
        while !is_over.load(Ordering::Relaxed) {
            if event::poll(KEY_WAIT)? && sender.blocking_send(event::read()?).is_err() {
                break;
            }
        }
        Ok(())
    };
    std::thread::spawn(move || {
        // The terminal is gone; the closed channel says so.
        drop(read());
    });
    receiver
}
