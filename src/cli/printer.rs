//! Prints data on stdout, as text or JSON. Colours are used only on a terminal.

use std::io::{self, IsTerminal as _, Write as _};

use crossterm::style::Color;
use serde::Serialize;

use super::table::{Cell, Column, format_table};
pub(super) use crate::wording::escape_and_truncate;
use crate::{
    model::Priority,
    plain_text::wrapping::{hanging_indent, wrap},
};

/// The width of tables when nobody knows how wide the screen is.
const DEFAULT_WIDTH: usize = 160;
/// The narrowest screen that output is fitted to.
const LEAST_WIDTH: usize = 20;

/// How a command prints.
#[derive(Debug, Clone, Copy)]
pub(super) struct Printer {
    pub(super) is_json: bool,
    pub(super) has_colour: bool,
    /// The width of the screen in columns; none when the output goes elsewhere. Lines are broken only for a screen, so
    /// that programs read them whole.
    width: Option<usize>,
}

impl Printer {
    /// Creates a printer. `columns` is what the variable `COLUMNS` says; without it, the terminal is asked.
    pub(super) fn new(is_json: bool, no_colour: bool, columns: Option<String>) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let asked =
            || is_terminal.then(crossterm::terminal::size).and_then(Result::ok).map(|(columns, _)| columns.into());
        let width = columns.and_then(|columns| columns.trim().parse().ok()).or_else(asked);
        let width = width.filter(|width: &usize| *width > 0).map(|width| width.max(LEAST_WIDTH));
        Self { is_json, has_colour: is_terminal && !no_colour, width }
    }

    /// Prints one JSON value, or calls `plain` for text.
    pub(super) fn print_json_or<T: Serialize>(
        self,
        value: &T,
        plain: impl FnOnce(Self) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        if self.is_json {
            self.print_unbroken(&serde_json::to_string_pretty(value)?)?;
        } else {
            plain(self)?;
        }
        Ok(())
    }

    /// Prints a line, broken to the width of the screen. Text from outside must be made safe first with
    /// [`escape_and_truncate`], because control characters in a mail could act on the terminal.
    pub(super) fn print_line(self, text: &str) -> io::Result<()> {
        let Some(width) = self.width else { return self.print_unbroken(text) };
        // A text that ends with a newline has no further line behind it, but an empty text is an empty line.
        text.split('\n').try_for_each(|line| {
            wrap(line, width, hanging_indent(line)).iter().try_for_each(|row| self.print_unbroken(row))
        })
    }

    /// Prints a line as it is: what another program reads, and where every blank counts.
    pub(super) fn print_unbroken(self, text: &str) -> io::Result<()> {
        writeln!(io::stdout().lock(), "{text}")
    }

    /// Prints a table that fits the screen. Cells with text from outside must be made with [`cell`].
    pub(super) fn print_table(self, columns: &[Column<'_>], rows: Vec<Vec<Cell>>) -> io::Result<()> {
        let width = self.width.unwrap_or(DEFAULT_WIDTH);
        let lines = format_table(columns, &rows, width, self.has_colour);
        lines.iter().try_for_each(|line| self.print_unbroken(line))
    }

    /// Prints how much of a list is shown, if not all of it is.
    pub(super) fn print_count(self, shown: usize, total: u64) -> io::Result<()> {
        if shown as u64 >= total {
            return Ok(());
        }
        self.print_line(&format!(
            "showing {} of {}; --limit N shows more",
            group_digits(shown as u64),
            group_digits(total)
        ))
    }

    /// Returns a cell with the priority in its colour.
    pub(super) fn priority(self, level: Priority) -> Cell {
        let cell = Cell::new(level.as_str());
        let colour = match level {
            Priority::Critical => Color::Red,
            Priority::High => Color::Yellow,
            Priority::Med => Color::Cyan,
            Priority::Low => Color::Grey,
        };
        cell.coloured(self.has_colour.then_some(colour))
    }
}

/// Returns a cell with text from outside, safe and of limited length.
pub(super) fn cell(text: &str, longest: usize) -> Cell {
    Cell::new(escape_and_truncate(text, longest))
}

/// Returns a number with a comma after every three digits: 2,518.
pub(super) fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::group_digits;

    #[test]
    fn digits_are_grouped_by_three() {
        for (number, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (2518, "2,518"), (1_234_567, "1,234,567")] {
            assert_eq!(group_digits(number), expected);
        }
    }
}
