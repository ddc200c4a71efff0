//! The invoices that were recorded, as a table or for a spreadsheet.

use std::io::Write as _;

use super::super::{
    printer::{Printer, cell},
    table::{Cell, Column},
};
use crate::app::App;

/// Prints the invoices as a table, JSON or CSV.
pub(super) async fn list_invoices(app: &App, screen: Printer, csv: bool) -> anyhow::Result<()> {
    let rows = app.tasks().list_invoices().await?;
    if csv {
        let mut out = std::io::stdout().lock();
        writeln!(out, "payee,amount,currency,due,number,recorded_at,task_id")?;
        for row in &rows {
            let amount = row.amount.map_or_else(String::new, |amount| format!("{amount:.2}"));
            let text = |value: &Option<String>| quote_csv_text(value.as_deref().unwrap_or(""));
            let (currency, due, number) = (text(&row.currency), text(&row.due), text(&row.number));
            let (payee, amount) = (quote_csv_text(&row.payee), in_quotes(&amount));
            let (at, task) = (in_quotes(&row.recorded_at.to_string()), in_quotes(&row.task_id.to_string()));
            writeln!(out, "{payee},{amount},{currency},{due},{number},{at},{task}")?;
        }
        return Ok(());
    }
    screen.print_json_or(&rows, |screen| {
        let line = |row: &crate::model::InvoiceRow| {
            let amount = row.amount.map_or_else(String::new, |amount| format!("{amount:.2}"));
            let text = |value: &Option<String>| cell(value.as_deref().unwrap_or(""), 40);
            vec![cell(&row.payee, 40), Cell::new(amount), text(&row.currency), text(&row.due), text(&row.number)]
        };
        let columns = [
            Column::text("payee", 16),
            Column::fixed("amount"),
            Column::fixed("currency"),
            Column::fixed("due"),
            Column::text("number", 8).folding(1),
        ];
        screen.print_table(&columns, rows.iter().map(line).collect())
    })
}

/// Returns text from outside as a CSV field. What a spreadsheet would read as a formula becomes text, also for one that
/// separates by semicolons or tabs and so begins a cell in the middle of ours.
fn quote_csv_text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 2);
    let mut begins = true;
    for (at, letter) in text.char_indices() {
        if begins && begins_formula(text.get(at..).unwrap_or_default()) {
            safe.push('\'');
        }
        safe.push(letter);
        begins = matches!(letter, ';' | '\t' | '\r' | '\n');
    }
    in_quotes(&safe)
}

/// Returns whether some program would read a cell that begins here as a formula, also behind blanks and quotes and in
/// full-width characters.
fn begins_formula(cell: &str) -> bool {
    let shown = cell.trim_start_matches(|c: char| c == '"' || c.is_whitespace() || c.is_control());
    shown.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
}

fn in_quotes(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{in_quotes, quote_csv_text};

    /// How a spreadsheet that separates by `separator` reads a file: quotes count where a cell begins with one.
    fn read_cells(file: &str, separator: char) -> Vec<String> {
        let (mut cells, mut cell) = (Vec::new(), String::new());
        let (mut quoted, mut fresh) = (false, true);
        let mut letters = file.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '"' if quoted && letters.peek() == Some(&'"') => {
                    letters.next();
                    cell.push('"');
                }
                '"' if quoted => quoted = false,
                '"' if fresh => quoted = true,
                letter if !quoted && (letter == separator || letter == '\n') => {
                    cells.push(std::mem::take(&mut cell));
                    fresh = true;
                    continue;
                }
                letter => cell.push(letter),
            }
            fresh = false;
        }
        cells.push(cell);
        cells
    }

    #[test]
    fn csv_fields_are_quoted_and_never_formulas() {
        for (text, expected) in [
            ("Acme", "\"Acme\""),
            ("A, \"B\"", "\"A, \"\"B\"\"\""),
            ("=HYPERLINK(1)", "\"'=HYPERLINK(1)\""),
            ("＝1+1", "\"'＝1+1\""),
            ("Acme;=cmd|'/C calc'!A0;x", "\"Acme;'=cmd|'/C calc'!A0;x\""),
            ("Acme; -5", "\"Acme;' -5\""),
            ("\t=1", "\"'\t'=1\""),
            ("Smith-Jones & Co", "\"Smith-Jones & Co\""),
            ("", "\"\""),
        ] {
            assert_eq!(quote_csv_text(text), expected);
        }
        assert_eq!(in_quotes("-5.00"), "\"-5.00\"");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn no_reader_finds_a_formula_and_commas_read_back(
            fields in proptest::collection::vec("[a=+\\-@＝＋－＠;,\"' \t\r\n]{0,12}", 1..5)
        ) {
            let file = fields.iter().map(|field| quote_csv_text(field)).collect::<Vec<_>>().join(",");
            let read = read_cells(&file, ',');
            prop_assert_eq!(read.len(), fields.len(), "{}", file);
            let without = |text: &str| text.replace('\'', "");
            for (read, field) in read.iter().zip(&fields) {
                prop_assert_eq!(without(read), without(field));
            }
            for separator in [',', ';', '\t'] {
                for cell in read_cells(&file, separator) {
                    let begin = cell.trim_start_matches(|c: char| c == '"' || c.is_whitespace());
                    // Behind a comma another reader's cell has begun already.
                    prop_assert!(!begin.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']), "{:?} of {:?}", cell, file);
                }
            }
        }
    }
}
