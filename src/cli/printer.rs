//! What a person sees: data on stdout, plain or JSON, colours only on a terminal.

use std::io::{self, IsTerminal as _, Write as _};

use comfy_table::{Attribute, Cell, Color, ContentArrangement, Table, presets};
use serde::Serialize;

use crate::{ingest::escape_for_display, model::Priority};

/// Without a terminal to ask, tables are this wide.
const WIDTH_WITHOUT_TERMINAL: u16 = 160;

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

    /// One JSON value, or what `plain` prints.
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

    /// A line of our own words; mail text in it must be escaped first with [`escape_and_truncate`].
    pub(super) fn print_line(self, text: &str) -> io::Result<()> {
        writeln!(io::stdout().lock(), "{text}")
    }

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

/// Text from outside, safe and short enough for one cell.
pub(super) fn escape_and_truncate(text: &str, longest: usize) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut safe = escape_for_display(&one_line);
    if safe.chars().count() > longest {
        safe = safe.chars().take(longest.saturating_sub(1)).collect::<String>() + "…";
    }
    safe
}

pub(super) fn cell(text: &str, longest: usize) -> Cell {
    Cell::new(escape_and_truncate(text, longest))
}
