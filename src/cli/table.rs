//! Tables that fit the width of the screen. Columns of text become narrower and wrap between words; where that is not
//! enough, columns that can be read without their place in the table move below their row.

use crossterm::style::{Color, Stylize as _};
use unicode_width::UnicodeWidthStr as _;

use crate::plain_text::wrapping::wrap;

/// The blanks between two columns.
const GAP: usize = 2;
/// The width that a column keeps when there is no room for the table at all.
const LEAST_WIDTH: usize = 4;
/// What separates the values below a row.
const BELOW_SEPARATOR: &str = " · ";

/// One field of a table. Text from outside must be made safe first (see [`super::printer::cell`]).
#[derive(Debug, Clone)]
pub(super) struct Cell {
    text: String,
    colour: Option<Color>,
}

impl Cell {
    pub(super) fn new(content: impl ToString) -> Self {
        Self { text: content.to_string(), colour: None }
    }

    #[must_use]
    pub(super) fn coloured(mut self, colour: Option<Color>) -> Self {
        self.colour = colour;
        self
    }

    pub(super) fn content(&self) -> &str {
        &self.text
    }
}

/// How a column behaves where the screen is narrow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column<'a> {
    title: &'a str,
    /// The width below which the column does not shrink; none for one that never shrinks.
    least: Option<usize>,
    /// The order in which columns move below their row, the highest first; none for one that stays.
    folds: Option<u8>,
}

impl<'a> Column<'a> {
    /// Describes a column that is always as wide as its content: numbers and single words.
    pub(super) const fn fixed(title: &'a str) -> Self {
        Self { title, least: None, folds: None }
    }

    /// Describes a column of text, which wraps and keeps at least this width.
    pub(super) const fn text(title: &'a str, least: usize) -> Self {
        Self { title, least: Some(least), folds: None }
    }

    /// Lets the column move below its row. Of several, the one with the highest number moves first.
    #[must_use]
    pub(super) const fn folding(mut self, order: u8) -> Self {
        self.folds = Some(order);
        self
    }
}

/// Which columns stand beside each other, each with its width, and which ones below the row.
#[derive(Debug, PartialEq, Eq)]
struct Layout {
    beside: Vec<(usize, usize)>,
    below: Vec<usize>,
}

/// Returns the lines of a table, none wider than `width`. Without colours, the titles are in capital letters.
pub(super) fn format_table(columns: &[Column<'_>], rows: &[Vec<Cell>], width: usize, has_colour: bool) -> Vec<String> {
    // A column without any content says nothing.
    let is_empty = |index: usize| rows.iter().all(|row| row.get(index).is_none_or(|cell| cell.text.is_empty()));
    let natural: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(index, column)| {
            let cells = rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.text.width());
            cells.max().unwrap_or_default().max(column.title.width())
        })
        .collect();
    let used: Vec<usize> = (0..columns.len()).filter(|index| rows.is_empty() || !is_empty(*index)).collect();
    let layout = lay_out(columns, &natural, used, width);
    let title = |column: &Column<'_>| if has_colour { column.title.to_owned() } else { column.title.to_uppercase() };
    let head: Vec<Cell> = columns.iter().map(|column| Cell::new(title(column))).collect();
    let mut lines = format_row(&layout, &head, has_colour);
    if has_colour {
        lines = lines.into_iter().map(|line| line.bold().to_string()).collect();
    }
    for row in rows {
        lines.extend(format_row(&layout, row, has_colour));
        lines.extend(format_below(&layout, columns, row, width));
    }
    lines
}

/// Chooses widths, and moves columns below their row as long as the others do not fit.
fn lay_out(columns: &[Column<'_>], natural: &[usize], mut beside: Vec<usize>, width: usize) -> Layout {
    let mut below = Vec::new();
    let get = |index: usize| natural.get(index).copied().unwrap_or_default();
    let least = |index: usize| {
        columns.get(index).and_then(|column| column.least).map_or_else(|| get(index), |least| least.min(get(index)))
    };
    let room = |count: usize| width.saturating_sub(GAP * count.saturating_sub(1));
    while beside.iter().map(|index| least(*index)).sum::<usize>() > room(beside.len()) {
        let next = beside.iter().copied().filter_map(|index| Some((columns.get(index)?.folds?, index))).max();
        let Some((_, index)) = next else { break };
        beside.retain(|other| *other != index);
        below.push(index);
    }
    below.sort_unstable();
    let mut widths: Vec<(usize, usize)> = beside.iter().map(|index| (*index, least(*index))).collect();
    let room = room(widths.len());
    let total = |widths: &[(usize, usize)]| widths.iter().map(|(_, width)| width).sum::<usize>();
    // What is left is shared among the columns that are cut, so that short ones are whole before long ones.
    while total(&widths) < room && widths.iter().any(|(index, width)| *width < get(*index)) {
        let left = room - total(&widths);
        let cut = widths.iter_mut().filter(|(index, width)| *width < get(*index));
        cut.take(left).for_each(|(_, width)| *width += 1);
    }
    // If even the columns that stay do not fit, the widest gives way.
    while total(&widths) > room {
        match widths.iter_mut().max_by_key(|(_, width)| *width) {
            Some((_, width)) if *width > LEAST_WIDTH => *width -= 1,
            _ => break,
        }
    }
    Layout { beside: widths, below }
}

/// Returns the lines of one row without the columns below it.
fn format_row(layout: &Layout, row: &[Cell], has_colour: bool) -> Vec<String> {
    let wrapped: Vec<(usize, Option<Color>, Vec<String>)> = layout
        .beside
        .iter()
        .map(|(index, width)| {
            let cell = row.get(*index);
            let rows = wrap_cell(cell.map_or("", |cell| &cell.text), *width);
            (*width, cell.and_then(|cell| cell.colour).filter(|_| has_colour), rows)
        })
        .collect();
    let height = wrapped.iter().map(|(_, _, rows)| rows.len()).max().unwrap_or_default();
    (0..height)
        .map(|nth| {
            let mut line = String::new();
            for (place, (width, colour, rows)) in wrapped.iter().enumerate() {
                let text = rows.get(nth).map_or("", String::as_str);
                let blanks = " ".repeat(width.saturating_sub(text.width()));
                let gap = if place == 0 { "" } else { "  " };
                let text = colour.map_or_else(|| text.to_owned(), |colour| text.with(colour).to_string());
                line.push_str(&format!("{gap}{text}{blanks}"));
            }
            line.trim_end().to_owned()
        })
        .collect()
}

/// Breaks the text of a cell. Unlike lines, cells can be narrow.
fn wrap_cell(text: &str, width: usize) -> Vec<String> {
    if text.width() <= width {
        return vec![text.to_owned()];
    }
    wrap(text, width, 0)
}

/// Returns the values of a row that have no place beside the others, each behind the title of its column.
fn format_below(layout: &Layout, columns: &[Column<'_>], row: &[Cell], width: usize) -> Vec<String> {
    let values = layout.below.iter().filter_map(|index| {
        let (column, cell) = (columns.get(*index)?, row.get(*index)?);
        (!cell.text.is_empty()).then(|| format!("{} {}", column.title, cell.text))
    });
    let values: Vec<String> = values.collect();
    if values.is_empty() {
        return Vec::new();
    }
    let indent = layout.beside.first().map_or(0, |(_, width)| width + GAP);
    wrap(&format!("{}{}", " ".repeat(indent), values.join(BELOW_SEPARATOR)), width, indent)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column<'static>; 4] = [
        Column::fixed("nr"),
        Column::text("what", 16),
        Column::text("who", 8).folding(1),
        Column::text("next", 10).folding(2),
    ];

    fn table(width: usize) -> Vec<String> {
        let row = ["12", "Send the price list to Maria before noon", "Maria Santos", "you: do the work"];
        format_table(&COLUMNS, &[row.map(Cell::new).to_vec()], width, false)
    }

    #[test]
    fn a_wide_screen_shows_every_row_on_one_line() {
        let lines = table(160);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1], "12  Send the price list to Maria before noon  Maria Santos  you: do the work");
    }

    #[test]
    fn on_a_narrow_screen_text_wraps_between_words_and_columns_move_below() {
        assert_eq!(
            table(46),
            [
                "NR  WHAT                WHO        NEXT",
                "12  Send the price      Maria      you: do the",
                "    list to Maria       Santos     work",
                "    before noon",
            ]
        );
        assert_eq!(
            table(30),
            [
                "NR  WHAT              WHO",
                "12  Send the price    Maria",
                "    list to Maria     Santos",
                "    before noon",
                "    next you: do the work",
            ]
        );
        assert_eq!(table(22)[4..], ["    who Maria Santos ·", "    next you: do the", "    work"]);
    }

    #[test]
    fn no_line_is_wider_than_the_screen() {
        for width in 12..200 {
            assert!(table(width).iter().all(|line| line.width() <= width), "{width}: {:?}", table(width));
        }
    }

    #[test]
    fn a_column_without_content_is_left_out() {
        let lines = format_table(&COLUMNS, &[["1", "x", "", "y"].map(Cell::new).to_vec()], 80, false);
        assert_eq!(lines[0], "NR  WHAT  NEXT");
    }
}
