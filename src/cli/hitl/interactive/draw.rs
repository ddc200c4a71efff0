//! Draws the approval screen: a headline, the page, what happened last, the keys.

use std::{io, ops::Range};

use crossterm::style::Stylize as _;

use super::{
    super::page::{self, PageLine, item_page, wrap},
    ApprovalScreen, ScreenView, help_page,
};
use crate::{
    app::{App, ItemDetail},
    ingest::escape_for_display,
    model::{ItemKind, OutboxState},
};

/// The most rows that the notice may take.
const NOTICE_ROWS: usize = 3;
/// The fewest rows of the page that are shown, however small the terminal.
const LEAST_ROWS: usize = 3;

impl ApprovalScreen<'_> {
    /// Draws everything, with the keys in the last row, or with an empty row for a question.
    pub(super) fn draw(&mut self, with_keys: bool) -> io::Result<()> {
        let (width, height) = self.terminal.size();
        self.drawn_item = self.shown_item();
        let (view, detail) = (self.viewport.view, self.detail.as_ref());
        // One column stays free: a full row makes some terminals begin another.
        let columns = width.saturating_sub(1);
        let mut rows = wrap(&page_lines(self.app, view, detail), columns);
        let needed = rows.len();
        if let (ScreenView::Item, Some(detail)) = (view, detail) {
            rows.extend(wrap(&page::technical_lines(self.app, detail), columns));
        }
        let mut foot = wrap(&[PageLine::emphasised(escape_for_display(&self.notice))], columns);
        foot.retain(|line| !line.text.is_empty());
        foot.truncate(NOTICE_ROWS);
        let keys = if with_keys { key_hints(view, detail) } else { String::new() };
        foot.extend(wrap(&[PageLine::plain(keys)], columns));
        let room = if self.terminal.has_raw_mode() {
            height.saturating_sub(foot.len() + 2).max(LEAST_ROWS)
        } else {
            rows.len()
        };
        let visible = self.viewport.place_rows(rows.len(), room, needed);
        let has_style = self.printer.has_colour && self.terminal.has_raw_mode();
        let style = |line: &PageLine| {
            if line.is_emphasised && has_style { line.text.as_str().bold().to_string() } else { line.text.clone() }
        };
        let head = wrap(&[PageLine::emphasised(screen_headline(self))], columns);
        let mut lines: Vec<String> = head.iter().take(1).map(style).collect();
        lines.extend(rows.get(visible.clone()).unwrap_or_default().iter().map(style));
        lines.push(separator_line(visible, rows.len(), columns));
        lines.extend(foot.iter().map(style));
        self.terminal.show(&lines)
    }
}

/// Returns the first row: the position in the queue, the priority, what the item is and when it expires.
fn screen_headline(screen: &ApprovalScreen<'_>) -> String {
    let paused = if screen.is_paused { "EFFECTS ARE PAUSED · " } else { "" };
    let Some(detail) = &screen.detail else { return format!("{paused}Approvals") };
    let level = detail.task.as_ref().map_or_else(String::new, |task| format!(" · {}", task.task.priority));
    format!("{paused}{} of {}{level} · {}", screen.position + 1, screen.queue.len(), page::title(screen.app, detail))
}

/// Returns the lines of the page that is shown.
fn page_lines(app: &App, view: ScreenView, detail: Option<&ItemDetail>) -> Vec<PageLine> {
    match (view, detail) {
        (ScreenView::Help, _) => help_page(),
        (_, None) => vec![PageLine::plain(""), PageLine::plain("Nothing waits for you.")],
        (ScreenView::Mail, Some(detail)) => page::source_mail_lines(app, detail).unwrap_or_default(),
        (ScreenView::Item, Some(detail)) => item_page(app, detail),
    }
}

/// Returns the keys that do something here; each of these lines fits one row of eighty columns.
fn key_hints(view: ScreenView, detail: Option<&ItemDetail>) -> String {
    const ACTION: &str = "a yes  e edit  r no  t tell  z snooze  s skip  b batch  u undo  m mail  ? help";
    const STEP: &str = "R retry  S skip step  C cancel task  z snooze  s next  m mail  ? help";
    let Some(detail) = detail else { return "u undo  ? help  q quit".into() };
    if view != ScreenView::Item {
        return "space more  any other key back".into();
    }
    let is_in_doubt = detail.action.as_ref().is_some_and(|row| row.state == OutboxState::NeedsHuman);
    match detail.item.kind {
        ItemKind::Action => ACTION.into(),
        ItemKind::FailedStep if is_in_doubt => format!("W it was sent  {STEP}"),
        ItemKind::FailedStep => STEP.into(),
        ItemKind::RuleProposal => "a yes  r no  z snooze  s next  ? help  q quit".into(),
        ItemKind::Question if detail.item.asks_consent() => "a yes  r no  z snooze  s next  ? help  q quit".into(),
        ItemKind::Question => "t answer  r no answer  z snooze  s next  ? help  q quit".into(),
    }
}

/// Returns the line below the page, which says how much of the page is shown.
fn separator_line(visible: Range<usize>, all: usize, columns: usize) -> String {
    let (first, end) = (visible.start + 1, visible.end);
    let text = if visible == (0..all) {
        String::new()
    } else if end < all {
        format!(" rows {first} to {end} of {all}; space shows more ")
    } else {
        format!(" rows {first} to {end} of {all}, the end ")
    };
    let dashes = columns.saturating_sub(text.len());
    format!("--{text}{}", "-".repeat(dashes.saturating_sub(2)))
}
