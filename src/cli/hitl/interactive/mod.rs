//! The approval screen: shows the items that wait for a person one at a time and takes decisions by single keys.
//!
//! A key decides exactly what was on the screen when it was pressed. Decisions are rows in the database, so a running
//! daemon carries them out; without a daemon this session does. Decisions made elsewhere are noticed at the next tick.

mod decide;
mod draw;
mod viewport;

use std::io;

use crossterm::event::KeyCode;

pub(super) use self::decide::describe_final_state;
use self::viewport::{ScreenView, Viewport};
use super::{
    super::{description::describe_effect, printer::Printer},
    page::{self, PageLine},
    terminal::{KeyPress, Terminal},
};
use crate::{
    app::{App, ItemDetail},
    model::{DecisionKind, ItemId, ItemState, OutboxState, TaskId},
    wording::item::headline,
};

/// One session of a person at the approval screen.
pub(super) struct ApprovalScreen<'a> {
    app: &'a App,
    terminal: Terminal,
    printer: Printer,
    /// The open items in the order in which they are shown.
    queue: Vec<ItemId>,
    /// The position in the queue of the item that is shown.
    position: usize,
    /// The item as it was read last; none when the queue is empty. Decisions carry its digest.
    detail: Option<ItemDetail>,
    viewport: Viewport,
    /// The item on the screen and the digest of the action that was drawn; compared with `detail` before a key counts.
    drawn_item: Option<(ItemId, Option<String>)>,
    /// One or two sentences about what happened last, shown above the keys.
    notice: String,
    /// Items approved in this session whose effect has not ended yet, the newest last.
    approved: Vec<ItemId>,
    /// Everything that was decided in this session, for the summary at the end.
    decided: Vec<(ItemId, DecisionKind)>,
    /// The task whose next item answers what the person has just typed or asked to retry.
    expected_task: Option<TaskId>,
    /// Whether effects are paused until `adjutant resume`.
    is_paused: bool,
}

/// What follows a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterKey {
    Continue,
    Quit,
}

impl<'a> ApprovalScreen<'a> {
    /// Shows the queue until the person quits. Returns what was decided.
    pub(super) async fn run(app: &'a App, printer: Printer) -> anyhow::Result<Vec<(ItemId, DecisionKind)>> {
        let mut screen = Self {
            app,
            terminal: Terminal::open()?,
            printer,
            queue: Vec::new(),
            position: 0,
            detail: None,
            viewport: Viewport::default(),
            drawn_item: None,
            notice: String::new(),
            approved: Vec::new(),
            decided: Vec::new(),
            expected_task: None,
            is_paused: false,
        };
        screen.refresh_queue().await?;
        screen.draw(true)?;
        loop {
            // Waiting for a person blocks this thread; the other work of the runtime goes on.
            let pressed = tokio::task::block_in_place(|| screen.terminal.read_key())?;
            let before = visible_state(&screen);
            if pressed == KeyPress::Nothing || !screen.terminal.has_raw_mode() {
                screen.poll_changes().await?;
            }
            let key = match pressed {
                KeyPress::Quit => break,
                KeyPress::Nothing if before == visible_state(&screen) && screen.is_screen_current() => continue,
                KeyPress::Nothing | KeyPress::Redraw => None,
                KeyPress::Key(key) => Some(key),
            };
            if let Some(key) = key {
                if !screen.is_screen_current() {
                    screen.notice.push_str(" Your key was not counted: the queue changed before it.");
                } else if screen.handle_key(key).await? == AfterKey::Quit {
                    break;
                }
            }
            screen.draw(true)?;
        }
        Ok(std::mem::take(&mut screen.decided))
    }

    /// Returns the item that a key would decide, with the digest of its action.
    fn shown_item(&self) -> Option<(ItemId, Option<String>)> {
        self.detail.as_ref().map(|detail| (detail.item.item_id, detail.item.action_sha256.clone()))
    }

    /// Returns whether the screen shows the item that a key would decide, with the action it has now.
    fn is_screen_current(&self) -> bool {
        self.drawn_item == self.shown_item()
    }

    /// Asks for one line of text below the page.
    fn prompt_line(&mut self, question: &str) -> io::Result<Option<String>> {
        self.draw(false)?;
        tokio::task::block_in_place(|| self.terminal.prompt_line(question))
    }

    /// Handles one key: scrolling first, then navigation, then decisions.
    async fn handle_key(&mut self, key: KeyCode) -> anyhow::Result<AfterKey> {
        self.notice.clear();
        if self.viewport.scroll(key, self.terminal.size().1) {
            return Ok(AfterKey::Continue);
        }
        if self.viewport.view != ScreenView::Item {
            self.viewport.switch_to(ScreenView::Item);
            return Ok(AfterKey::Continue);
        }
        match key {
            KeyCode::Char('q') => return Ok(AfterKey::Quit),
            KeyCode::Char('n' | 'j' | 's') => self.move_by(1).await?,
            KeyCode::Char('p' | 'k') => self.move_by(-1).await?,
            KeyCode::Char('?' | 'h') => self.viewport.switch_to(ScreenView::Help),
            KeyCode::Char('m') => self.show_mail(),
            KeyCode::Char('b') => self.approve_batch().await?,
            KeyCode::Char('u') => self.undo().await?,
            KeyCode::Char(letter) => self.decide_by_key(letter).await?,
            _ => {}
        }
        Ok(AfterKey::Continue)
    }

    fn show_mail(&mut self) {
        if self.detail.as_ref().and_then(|detail| page::source_mail_lines(self.app, detail)).is_some() {
            self.viewport.switch_to(ScreenView::Mail);
        } else {
            self.notice = "No mail caused it.".into();
        }
    }

    /// Goes to another item of the queue.
    async fn move_by(&mut self, by: isize) -> anyhow::Result<()> {
        match self.position.checked_add_signed(by) {
            Some(at) if at < self.queue.len() => self.show_item_at(at).await?,
            Some(_) => self.notice = "That was the last one; p goes back, q quits.".into(),
            None => self.notice = "This is the first one.".into(),
        }
        Ok(())
    }

    /// Reads and shows the item at a position of the queue.
    async fn show_item_at(&mut self, at: usize) -> anyhow::Result<()> {
        self.position = at.min(self.queue.len().saturating_sub(1));
        self.viewport = Viewport::default();
        self.detail = match self.queue.get(self.position) {
            Some(id) => Some(self.app.approvals().detail(&id.to_string()).await?),
            None => None,
        };
        Ok(())
    }

    /// Reads the queue again and stays at the shown item as long as it is open.
    async fn refresh_queue(&mut self) -> anyhow::Result<()> {
        let items = self.app.approvals().list().await?;
        self.is_paused = self.app.effects().is_paused().await?;
        let before = std::mem::replace(&mut self.queue, items.iter().map(|item| item.item_id).collect());
        let answer = items.iter().position(|item| {
            self.expected_task.is_some() && item.task_id == self.expected_task && !before.contains(&item.item_id)
        });
        if let Some(at) = answer {
            self.expected_task = None;
            return self.show_item_at(at).await;
        }
        let shown = self.detail.as_ref().map(|detail| detail.item.item_id);
        match self.queue.iter().position(|id| Some(*id) == shown) {
            Some(at) => {
                self.position = at;
                self.reload_item().await
            }
            None => self.show_item_at(self.position).await,
        }
    }

    /// Reads the shown item again and says so if its action has changed.
    async fn reload_item(&mut self) -> anyhow::Result<()> {
        let Some(old) = &self.detail else { return Ok(()) };
        let new = self.app.approvals().detail(&old.item.item_id.to_string()).await?;
        if old.item.action_sha256 != new.item.action_sha256 {
            self.notice = "It was judged anew meanwhile; look at it again.".into();
            self.viewport = Viewport { view: self.viewport.view, ..Viewport::default() };
        }
        self.detail = Some(new);
        Ok(())
    }

    /// Shows what happened between two keys: decisions made elsewhere, new items, effects that ended.
    async fn poll_changes(&mut self) -> anyhow::Result<()> {
        if let Some(shown) = self.detail.as_ref().map(|detail| detail.item.item_id) {
            let now = self.app.approvals().detail(&shown.to_string()).await?;
            if now.item.state != ItemState::Open {
                self.notice = format!("Meanwhile elsewhere: {} — {}.", headline(&now), describe_ended_item(&now));
            }
        }
        self.refresh_queue().await?;
        self.finish_approved().await
    }

    /// Carries out the approved effects whose grace has passed, and tells of those that have ended.
    async fn finish_approved(&mut self) -> anyhow::Result<()> {
        let now = self.app.clock.now();
        for id in self.approved.clone() {
            let mut detail = self.app.approvals().detail(&id.to_string()).await?;
            let due = |detail: &ItemDetail| {
                let row = detail.action.as_ref();
                row.is_some_and(|row| row.state == OutboxState::Held && row.release_at.is_some_and(|at| at <= now))
            };
            if due(&detail) && self.app.worker().try_finish_runs().await? {
                detail = self.app.approvals().detail(&id.to_string()).await?;
            }
            let Some(row) = &detail.action else { continue };
            if row.state != OutboxState::Held && !is_under_way(row.state) {
                self.approved.retain(|other| *other != id);
                self.notice = format!("{}: {}.", headline(&detail), describe_effect(row, self.app.config.me.time_zone));
            }
        }
        Ok(())
    }
}

/// Returns whether an effect has begun or is about to, and has not ended.
const fn is_under_way(state: OutboxState) -> bool {
    use OutboxState::{Drafted, Drafting, Probe, Ready, Sending, Unknown};
    matches!(state, Ready | Drafting | Drafted | Sending | Unknown | Probe)
}

/// Returns how an item ended that is no longer open.
fn describe_ended_item(detail: &ItemDetail) -> String {
    let item = &detail.item;
    match item.state {
        ItemState::Decided => format!("decided: {}", item.decision.map_or("", DecisionKind::as_str)),
        ItemState::Expired => "nobody answered in time".into(),
        _ if item.reason.is_empty() => item.state.to_string(),
        _ => format!("{}: {}", item.state, super::super::printer::escape_and_truncate(&item.reason, 100)),
    }
}

/// Returns the page that the key `?` shows.
fn help_page() -> Vec<PageLine> {
    const HELP: &[&str] = &[
        "Keys",
        "  a        yes: do exactly this. It leaves after a short grace",
        "  u        undo: take your last yes back while its grace runs",
        "  e        edit subject and text in your editor; you see it again first",
        "  r        no, with a reason; the step is yours then",
        "  t        tell the agent what to do instead; it says what it understood",
        "  z        snooze: \"2h\", \"3d\", \"tomorrow 9am\"; it is still void at its time",
        "  s, n, j  the next one, nothing decided        p, k  the one before",
        "  b        batch: approve several after a preview",
        "  m        the mail that caused it",
        "  C        cancel the whole task",
        "",
        "Failed steps",
        "  R        try again     S  go on without the step     C  cancel the task",
        "  W        it was sent after all (only where nobody knows)",
        "",
        "  space, - one screen on, back; arrows one line        q  quit",
        "",
        "NEW: not in the conversation. UNVERIFIED: your mail server does not confirm",
        "the address.",
    ];
    HELP.iter().map(|line| PageLine::plain(*line)).collect()
}

/// Returns what must be drawn again when it differs.
fn visible_state(screen: &ApprovalScreen<'_>) -> (String, usize, usize, bool) {
    (screen.notice.clone(), screen.position, screen.queue.len(), screen.is_paused)
}
