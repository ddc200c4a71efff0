//! Prints data on stdout, as text or JSON. Colours are used only on a terminal.

use std::io::{self, IsTerminal as _, Write as _};

use comfy_table::{Attribute, Cell, Color, ContentArrangement, Table, presets};
use serde::Serialize;

use crate::{ingest::escape_for_display, model::Priority};

/// The width of tables when stdout is not a terminal.
const WIDTH_WITHOUT_TERMINAL: u16 = 160;

/// How a command prints.
#[derive(Debug, Clone, Copy)]
pub(super) struct Printer {
    pub(super) is_json: bool,
    pub(super) has_colour: bool,
    is_terminal: bool,
}

impl Printer {
    pub(super) fn new(is_json: bool, no_colour: bool) -> Self {
        let is_terminal = io::stdout().is_terminal();
        Self { is_json, has_colour: is_terminal && !no_colour, is_terminal }
    }

    /// Prints one JSON value, or calls `plain` for text.
    pub(super) fn print_json_or<T: Serialize>(
        self,
        value: &T,
        plain: impl FnOnce(Self) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        if self.is_json {
            self.print_line(&serde_json::to_string_pretty(value)?)?;
        } else {
            plain(self)?;
        }
        Ok(())
    }

    /// Prints a line. Text from outside must be made safe first with [`escape_and_truncate`], because control
    /// characters in a mail could act on the terminal.
    pub(super) fn print_line(self, text: &str) -> io::Result<()> {
        writeln!(io::stdout().lock(), "{text}")
    }

    /// Prints a table. Cells with text from outside must be made with [`cell`].
    pub(super) fn print_table(self, header: &[&str], rows: Vec<Vec<Cell>>) -> io::Result<()> {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        if !self.is_terminal {
            table.set_width(WIDTH_WITHOUT_TERMINAL);
        }
        if !self.has_colour {
            table.force_no_tty();
        }
        let title = |title: &&str| {
            if self.has_colour {
                Cell::new(title).add_attribute(Attribute::Bold)
            } else {
                Cell::new(title.to_uppercase())
            }
        };
        table.set_header(header.iter().map(title));
        table.add_rows(rows);
        let text = table.to_string();
        for line in text.lines() {
            self.print_line(line.trim_end())?;
        }
        Ok(())
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
        if self.has_colour { cell.fg(colour) } else { cell }
    }
}

/// Returns text from outside as one safe line of limited length.
pub(super) fn escape_and_truncate(text: &str, longest: usize) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut safe = escape_for_display(&one_line);
    if safe.chars().count() > longest {
        safe = safe.chars().take(longest.saturating_sub(1)).collect::<String>() + "…";
    }
    safe
}

/// Returns a cell with text from outside, safe and of limited length.
pub(super) fn cell(text: &str, longest: usize) -> Cell {
    Cell::new(escape_and_truncate(text, longest))
}
