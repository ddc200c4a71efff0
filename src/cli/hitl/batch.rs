//! Approves several items at once: chosen by number, each shown in full, confirmed by one word for all.

use std::io;

use super::{super::printer::Printer, print_item, terminal::Terminal};
use crate::{
    app::{App, ItemDetail, is_approvable},
    wording::item::headline,
};

/// The only answer that approves a batch. A whole word, so that no single key approves several items.
pub(super) const YES: &str = "yes";

/// Lets a person choose items, shows them in full and asks for confirmation. Returns the confirmed items; none when the
/// person did not confirm.
pub(super) fn choose<'a>(
    app: &App,
    terminal: &Terminal,
    screen: Printer,
    details: &'a [ItemDetail],
) -> io::Result<Vec<&'a ItemDetail>> {
    screen.print_line("")?;
    for detail in details {
        screen.print_line(&format!("{:>3}  {}", detail.item.number, line(detail)))?;
    }
    let there: Vec<i64> = details.iter().map(|detail| detail.item.number).collect();
    let chosen = loop {
        let Some(typed) = terminal.prompt_line("Which numbers? (1,3-5 or all; Esc: back) ")? else {
            return Ok(Vec::new());
        };
        match parse_numbers(&typed, &there) {
            Ok(numbers) if numbers.is_empty() => return Ok(Vec::new()),
            Ok(numbers) => break numbers,
            Err(why) => screen.print_line(&why)?,
        }
    };
    let chosen = details.iter().filter(|detail| chosen.contains(&detail.item.number) && obstacle(detail).is_none());
    let chosen: Vec<&ItemDetail> = chosen.collect();
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    preview(app, screen, &chosen)?;
    let answer = terminal.prompt_line(&format!("Type {YES} to approve {}: ", how_many(chosen.len())))?;
    Ok(if answer.as_deref() == Some(YES) { chosen } else { Vec::new() })
}

/// Prints every chosen item in full, then a list of them.
fn preview(app: &App, screen: Printer, chosen: &[&ItemDetail]) -> io::Result<()> {
    screen.print_line("")?;
    chosen.iter().try_for_each(|detail| print_item(app, screen, detail))?;
    screen.print_line("")?;
    screen.print_line("To be approved:")?;
    chosen.iter().try_for_each(|detail| screen.print_line(&format!("{:>5}  {}", detail.item.number, line(detail))))
}

pub(super) fn how_many(count: usize) -> String {
    if count == 1 { "this one".to_owned() } else { format!("these {count}") }
}

/// Returns an item in one line, with the reason why it cannot be part of a batch.
fn line(detail: &ItemDetail) -> String {
    let but = obstacle(detail).map_or_else(String::new, |why| format!(" — not in a batch: {why}"));
    format!("{}{but}", headline(detail))
}

/// Returns why the item cannot be part of a batch.
fn obstacle(detail: &ItemDetail) -> Option<String> {
    if is_approvable(&detail.item) { detail.obstacle.clone() } else { Some("it cannot be approved".into()) }
}

/// Parses "1,3-5" or "all". Returns the chosen numbers that exist, sorted, each once. A range may include numbers that
/// do not exist, but not only such.
fn parse_numbers(typed: &str, there: &[i64]) -> Result<Vec<i64>, String> {
    let mut chosen = Vec::new();
    if typed.trim().eq_ignore_ascii_case("all") {
        chosen.extend(there);
    } else {
        for part in typed.split([',', ' ']).filter(|part| !part.is_empty()) {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let range = from.trim().parse::<i64>().ok().zip(to.trim().parse::<i64>().ok());
            let range = range.map(|(from, to)| from..=to);
            let before = chosen.len();
            chosen.extend(there.iter().filter(|nr| range.as_ref().is_some_and(|range| range.contains(nr))));
            if chosen.len() == before {
                return Err(format!("'{part}' is none of these numbers."));
            }
        }
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::parse_numbers;

    #[test]
    fn numbers_are_lists_and_ranges_of_what_waits() {
        for (typed, expected) in [
            ("2", Some(&[2][..])),
            ("9, 2-7", Some(&[2, 7, 9])),
            ("7 7", Some(&[7])),
            ("1-8", Some(&[2, 7])),
            ("all", Some(&[2, 7, 9, 40])),
            ("", Some(&[])),
            ("5", None),
            ("0", None),
            ("3-6", None),
            ("7-2", None),
            ("2,5", None),
            ("x", None),
            ("1-99999999999999999999", None),
        ] {
            assert_eq!(parse_numbers(typed, &[7, 2, 40, 9]).ok().as_deref(), expected, "{typed}");
        }
    }
}
