//! The part of a page that is on the screen: which page, how far it is scrolled, and whether its end has been seen.

use crossterm::event::KeyCode;

/// Rows of a screen that are not the page, plus one row that stays visible when a page is turned.
const ROWS_AROUND_PAGE: usize = 6;

/// The pages that the screen can show.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScreenView {
    #[default]
    Item,
    /// The mail that caused the item.
    Mail,
    Help,
}

/// The page and the position in it.
#[derive(Debug, Default)]
pub(super) struct Viewport {
    pub(super) view: ScreenView,
    /// The first row of the page that is shown.
    pub(super) top: usize,
    /// Whether the end of the item has been on the screen; an approval needs it.
    pub(super) is_seen_to_end: bool,
}

impl Viewport {
    /// Shows another page from its beginning.
    pub(super) const fn switch_to(&mut self, view: ScreenView) {
        self.view = view;
        self.top = 0;
    }

    /// Moves the page by a key. Returns false for a key that does not scroll.
    pub(super) fn scroll(&mut self, key: KeyCode, screen_rows: usize) -> bool {
        let page = screen_rows.saturating_sub(ROWS_AROUND_PAGE).max(1);
        self.top = match key {
            KeyCode::PageDown | KeyCode::Char(' ') => self.top + page,
            KeyCode::PageUp | KeyCode::Char('-') => self.top.saturating_sub(page),
            KeyCode::Down => self.top + 1,
            KeyCode::Up => self.top.saturating_sub(1),
            KeyCode::Home | KeyCode::Char('g') => 0,
            // Drawing limits this to the last page.
            KeyCode::End | KeyCode::Char('G') => usize::MAX / 2,
            _ => return false,
        };
        true
    }

    /// Returns the rows to show out of `row_count` where there is room for `room`, and notes whether all of the first
    /// `needed` rows of an item have been seen.
    pub(super) fn place_rows(&mut self, row_count: usize, room: usize, needed: usize) -> std::ops::Range<usize> {
        self.top = self.top.min(row_count.saturating_sub(room));
        let end = (self.top + room).min(row_count);
        self.is_seen_to_end |= self.view == ScreenView::Item && end >= needed;
        self.top..end
    }
}
