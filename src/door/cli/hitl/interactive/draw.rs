//! What stands on the screen: a headline, the page, what was said last, the keys.

use std::io;

use super::{
    super::{
        page::{self, PageLine, item_page, wrap},
        terminal::KeyPress,
    },
    ApprovalScreen, help,
};
use crate::{
    ingest::escape_for_display,
    model::{ItemKind, OutboxState},
};

/// Rows what was said last may take.
const NOTICE_ROWS: usize = 3;
/// However small the terminal, so much of the page is shown.
const LEAST_ROWS: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScreenView {
    Item,
    Mail,
    Help,
}

impl ApprovalScreen<'_> {
    /// With the keys at the bottom, or with an empty row for a question.
    pub(super) fn draw(&mut self, keys: bool) -> io::Result<()> {
        let (width, height) = self.terminal.size();
        self.drawn_size = (width, height);
        self.drawn_item = self.shown_item();
        // One column stays free: a full row makes some terminals begin another.
        let columns = width.saturating_sub(1);
        let mut rows = wrap(&self.lines(), columns);
        let needed = rows.len();
        if let (ScreenView::Item, Some(detail)) = (self.view, &self.detail) {
            rows.extend(wrap(&page::technical_lines(detail), columns));
        }
        let mut foot = wrap(&[PageLine::emphasised(escape_for_display(&self.notice))], columns);
        foot.retain(|line| !line.text.is_empty());
        foot.truncate(NOTICE_ROWS);
        foot.extend(if keys { wrap(&[PageLine::plain(self.key_hints())], columns) } else { vec![PageLine::plain("")] });
        let room = if self.terminal.has_raw_mode() {
            height.saturating_sub(foot.len() + 2).max(LEAST_ROWS)
        } else {
            rows.len()
        };
        self.top = self.top.min(rows.len().saturating_sub(room));
        let end = (self.top + room).min(rows.len());
        if self.view == ScreenView::Item && end >= needed {
            self.is_seen_to_end = true;
        }
        let head = wrap(&[PageLine::emphasised(self.headline())], columns);
        let mut screen: Vec<String> = head.iter().take(1).map(|line| self.style_line(line)).collect();
        screen.extend(rows.iter().skip(self.top).take(room).map(|line| self.style_line(line)));
        screen.push(separator_line(self.top, end, rows.len(), columns));
        screen.extend(foot.iter().map(|line| self.style_line(line)));
        self.terminal.show(&screen)
    }

    /// Moves the page; false when the key is about something else.
    pub(super) fn scroll(&mut self, key: KeyPress) -> bool {
        let page = self.terminal.size().1.saturating_sub(6).max(1);
        self.top = match key {
            KeyPress::PageDown | KeyPress::Letter(' ') => self.top + page,
            KeyPress::PageUp | KeyPress::Letter('-') => self.top.saturating_sub(page),
            KeyPress::Down => self.top + 1,
            KeyPress::Up => self.top.saturating_sub(1),
            KeyPress::Home | KeyPress::Letter('g') => 0,
            KeyPress::End | KeyPress::Letter('G') => usize::MAX / 2,
            _ => return false,
        };
        true
    }

    fn lines(&self) -> Vec<PageLine> {
        match (self.view, &self.detail) {
            (ScreenView::Help, _) => help(),
            (_, None) => vec![PageLine::plain(""), PageLine::plain("Nothing waits for you.")],
            (ScreenView::Mail, Some(detail)) => page::source_mail_lines(detail).unwrap_or_default(),
            (ScreenView::Item, Some(detail)) => item_page(self.app, detail),
        }
    }

    fn headline(&self) -> String {
        let paused = if self.paused { "EFFECTS ARE PAUSED · " } else { "" };
        let Some(detail) = &self.detail else { return format!("{paused}Approvals") };
        let level = detail.task.as_ref().map_or_else(String::new, |task| format!(" · {}", task.task.priority));
        format!("{paused}{} of {}{level} · {}", self.position + 1, self.queue.len(), page::title(self.app, detail))
    }

    fn key_hints(&self) -> String {
        // Each fits one row of eighty columns.
        const ACTION: &str = "a yes  e edit  r no  t tell  z snooze  s skip  b batch  u undo  m mail  ? help";
        const STEP: &str = "R retry  S skip step  C cancel task  z snooze  s next  m mail  ? help";
        let Some(detail) = self.detail.as_ref() else { return "u undo  ? help  q quit".into() };
        if self.view != ScreenView::Item {
            return "space more  any other key back".into();
        }
        let doubt = detail.action.as_ref().is_some_and(|row| row.state == OutboxState::NeedsHuman);
        match detail.item.kind {
            ItemKind::Action => ACTION.into(),
            ItemKind::FailedStep if doubt => format!("W it was sent  {STEP}"),
            ItemKind::FailedStep => STEP.into(),
            ItemKind::RuleProposal => "a yes  r no  z snooze  s next  ? help  q quit".into(),
            ItemKind::Question => "z snooze  s next  ? help  q quit".into(),
        }
    }

    fn style_line(&self, line: &PageLine) -> String {
        if line.is_emphasised && self.screen.has_colour && self.terminal.has_raw_mode() {
            format!("\x1b[1m{}\x1b[0m", line.text)
        } else {
            line.text.clone()
        }
    }
}

/// The line below the page says how much of it is shown.
fn separator_line(top: usize, end: usize, all: usize, columns: usize) -> String {
    let text = if top == 0 && end == all {
        String::new()
    } else if end < all {
        format!(" rows {} to {end} of {all}; space shows more ", top + 1)
    } else {
        format!(" rows {} to {end} of {all}, the end ", top + 1)
    };
    let dashes = columns.saturating_sub(text.len());
    format!("--{text}{}", "-".repeat(dashes.saturating_sub(2)))
}
