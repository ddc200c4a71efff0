//! The desk: what waits for a person, one item at a time, decided with single keys.
//!
//! Decisions are rows in the database, so a daemon beside it carries on by itself; without one the desk works them. What
//! others decide meanwhile is noticed at the next tick.

mod decide;
mod draw;

use std::io;

pub(super) use self::decide::describe_final_state;
use self::draw::ScreenView;
use super::{
    super::printer::Printer,
    page::{self, PageLine},
    terminal::{KeyPress, Terminal},
    wording::{describe_effect, headline},
};
use crate::{
    app::{App, ItemDetail},
    model::{ItemId, ItemState, OutboxState, TaskId},
    store::value::Verdict,
};

pub(super) struct ApprovalScreen<'a> {
    app: &'a App,
    terminal: Terminal,
    screen: Printer,
    queue: Vec<ItemId>,
    /// Which of the queue is shown.
    position: usize,
    /// As it was drawn; decisions are about these bytes.
    detail: Option<ItemDetail>,
    view: ScreenView,
    /// Which item stands on the screen, and the digest of what was drawn of it.
    drawn_item: Option<(ItemId, Option<String>)>,
    /// The first row on the screen.
    top: usize,
    /// The end of it was on the screen.
    is_seen_to_end: bool,
    notice: String,
    /// Approved here and not yet at an end, the last one last.
    approved: Vec<ItemId>,
    pub(super) decided: Vec<(ItemId, Verdict)>,
    /// A new item of this task is the answer to what was just said.
    expected_task: Option<TaskId>,
    /// Nothing leaves until somebody says `adjutant resume`.
    paused: bool,
    drawn_size: (usize, usize),
}

/// Whether to stay at the desk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterKey {
    Continue,
    Quit,
}

impl<'a> ApprovalScreen<'a> {
    /// Shows the queue until the person leaves. What was decided.
    pub(super) async fn run(app: &'a App, screen: Printer) -> anyhow::Result<Vec<(ItemId, Verdict)>> {
        let mut desk = Self {
            app,
            terminal: Terminal::open()?,
            screen,
            queue: Vec::new(),
            position: 0,
            detail: None,
            view: ScreenView::Item,
            drawn_item: None,
            top: 0,
            is_seen_to_end: false,
            notice: String::new(),
            approved: Vec::new(),
            decided: Vec::new(),
            expected_task: None,
            paused: false,
            drawn_size: (0, 0),
        };
        desk.refresh_queue().await?;
        desk.draw(true)?;
        loop {
            let key = desk.read_key()?;
            let before = (desk.notice.clone(), desk.position, desk.queue.len(), desk.paused);
            if key == KeyPress::Nothing || !desk.terminal.has_raw_mode() {
                desk.poll_changes().await?;
            }
            if key == KeyPress::Nothing {
                let changed = before != (desk.notice.clone(), desk.position, desk.queue.len(), desk.paused);
                if changed || desk.drawn_size != desk.terminal.size() || !desk.is_screen_current() {
                    desk.draw(true)?;
                }
                continue;
            }
            // A key is about what was on the screen when it was pressed.
            if !desk.is_screen_current() {
                desk.notice.push_str(" Your key was not counted: the queue changed before it.");
                desk.draw(true)?;
                continue;
            }
            if desk.handle_key(key).await? == AfterKey::Quit {
                return Ok(std::mem::take(&mut desk.decided));
            }
            desk.draw(true)?;
        }
    }

    fn shown_item(&self) -> Option<(ItemId, Option<String>)> {
        self.detail.as_ref().map(|detail| (detail.item.item_id, detail.item.action_sha256.clone()))
    }

    /// Whether the screen shows the item that a key would decide, with the bytes it has now.
    fn is_screen_current(&self) -> bool {
        self.drawn_item == self.shown_item()
    }

    /// Waiting for a person blocks this thread; the runtime's other work goes on.
    fn read_key(&self) -> io::Result<KeyPress> {
        tokio::task::block_in_place(|| self.terminal.read_key())
    }

    fn prompt_line(&mut self, question: &str) -> io::Result<Option<String>> {
        self.draw(false)?;
        tokio::task::block_in_place(|| self.terminal.prompt_line(question))
    }

    async fn handle_key(&mut self, key: KeyPress) -> anyhow::Result<AfterKey> {
        self.notice.clear();
        if self.scroll(key) {
            return Ok(AfterKey::Continue);
        }
        if self.view != ScreenView::Item {
            if key == KeyPress::Quit {
                return Ok(AfterKey::Quit);
            }
            self.switch_view(ScreenView::Item);
            return Ok(AfterKey::Continue);
        }
        match key {
            KeyPress::Quit | KeyPress::Letter('q') => return Ok(AfterKey::Quit),
            KeyPress::Letter('n' | 'j' | 's') => self.move_by(1).await?,
            KeyPress::Letter('p' | 'k') => self.move_by(-1).await?,
            KeyPress::Letter('?' | 'h') => self.switch_view(ScreenView::Help),
            KeyPress::Letter('m') => self.show_mail(),
            KeyPress::Letter('b') => self.approve_batch().await?,
            KeyPress::Letter('u') => self.undo().await?,
            KeyPress::Letter(letter) => self.decide_by_key(letter).await?,
            _ => {}
        }
        Ok(AfterKey::Continue)
    }

    fn switch_view(&mut self, view: ScreenView) {
        self.view = view;
        self.top = 0;
    }

    fn show_mail(&mut self) {
        if self.detail.as_ref().and_then(page::source_mail_lines).is_some() {
            self.switch_view(ScreenView::Mail);
        } else {
            self.notice = "No mail caused it.".into();
        }
    }

    async fn move_by(&mut self, by: isize) -> anyhow::Result<()> {
        match self.position.checked_add_signed(by) {
            Some(at) if at < self.queue.len() => self.show_item_at(at).await?,
            Some(_) => self.notice = "That was the last one; p goes back, q quits.".into(),
            None => self.notice = "This is the first one.".into(),
        }
        Ok(())
    }

    async fn show_item_at(&mut self, at: usize) -> anyhow::Result<()> {
        self.position = at.min(self.queue.len().saturating_sub(1));
        self.switch_view(ScreenView::Item);
        self.is_seen_to_end = false;
        self.detail = match self.queue.get(self.position) {
            Some(id) => Some(self.app.item_detail(&id.to_string()).await?),
            None => None,
        };
        Ok(())
    }

    /// Reads the queue again, and stays at the item that is shown as long as it waits.
    async fn refresh_queue(&mut self) -> anyhow::Result<()> {
        let items = self.app.items().await?;
        self.paused = self.app.is_paused().await?;
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

    /// The same item may have become another action.
    async fn reload_item(&mut self) -> anyhow::Result<()> {
        let Some(old) = &self.detail else { return Ok(()) };
        let new = self.app.item_detail(&old.item.item_id.to_string()).await?;
        if old.item.action_sha256 != new.item.action_sha256 {
            self.notice = "It was judged anew meanwhile; look at it again.".into();
            self.is_seen_to_end = false;
            self.top = 0;
        }
        self.detail = Some(new);
        Ok(())
    }

    /// Between two keys: what others decided, what came due, what left.
    async fn poll_changes(&mut self) -> anyhow::Result<()> {
        if let Some(shown) = self.detail.as_ref().map(|detail| detail.item.item_id) {
            let now = self.app.item_detail(&shown.to_string()).await?;
            if now.item.state != ItemState::Open {
                self.notice = format!("Meanwhile elsewhere: {} — {}.", headline(&now), describe_ended_item(&now));
            }
        }
        self.refresh_queue().await?;
        self.finish_approved().await
    }

    async fn finish_approved(&mut self) -> anyhow::Result<()> {
        let now = self.app.clock.now();
        for id in self.approved.clone() {
            let mut detail = self.app.item_detail(&id.to_string()).await?;
            let due = |detail: &ItemDetail| {
                let row = detail.action.as_ref();
                row.is_some_and(|row| row.state == OutboxState::Held && row.release_at.is_some_and(|at| at <= now))
            };
            if due(&detail) && self.app.try_finish_runs().await? {
                detail = self.app.item_detail(&id.to_string()).await?;
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

const fn is_under_way(state: OutboxState) -> bool {
    use OutboxState::{Drafted, Drafting, Probe, Ready, Sending, Unknown};
    matches!(state, Ready | Drafting | Drafted | Sending | Unknown | Probe)
}

/// How an item ended that is not open any more.
fn describe_ended_item(detail: &ItemDetail) -> String {
    let item = &detail.item;
    match item.state {
        ItemState::Decided => format!("decided: {}", item.decision),
        ItemState::Expired => "nobody answered in time".into(),
        _ if item.reason.is_empty() => item.state.to_string(),
        _ => format!("{}: {}", item.state, super::super::printer::escape_and_truncate(&item.reason, 100)),
    }
}

/// What the help says.
fn help() -> Vec<PageLine> {
    const HELP: &[&str] = &[
        "Keys",
        "  a        yes: do exactly this. It leaves after a short grace",
        "  u        undo: take your last yes back while its grace runs",
        "  e        edit subject and text in your editor; you see it again first",
        "  r        no, with a reason; the step is yours then",
        "  t        tell the agent what to do instead; it shows you its next try",
        "  z        snooze: \"2h\", \"3d\", \"tomorrow 9am\"; it is still void at its time",
        "  s, n, j  the next one, nothing decided        p, k  the one before",
        "  b        batch: approve several after a preview",
        "  m        the mail that caused it",
        "  C        give the whole task up",
        "",
        "Failed steps",
        "  R        try again     S  go on without the step     C  give the task up",
        "  W        it was sent after all (only where nobody knows)",
        "",
        "  space, - one screen on, back; arrows one line        q  quit",
        "",
        "NEW: not in the conversation. UNVERIFIED: your mail server does not vouch",
        "for the address.",
    ];
    HELP.iter().map(|line| PageLine::plain(*line)).collect()
}
