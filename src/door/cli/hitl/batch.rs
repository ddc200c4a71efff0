//! Several at once: chosen by number, shown in one line each, and one word for all of them.

use std::io;

use super::{super::screen::Screen, terminal::Terminal, words::headline};
use crate::app::{ItemDetail, is_approvable};

/// The only answer that approves a batch.
pub(super) const YES: &str = "yes";

/// The items that were chosen, previewed and confirmed; none when the person thought better of it.
pub(super) fn choose<'a>(
    terminal: &Terminal,
    screen: Screen,
    details: &'a [ItemDetail],
) -> io::Result<Vec<&'a ItemDetail>> {
    screen.line("")?;
    for (nth, detail) in details.iter().enumerate() {
        screen.line(&format!("{:>3}  {}", nth + 1, line(detail)))?;
    }
    let chosen = loop {
        let Some(typed) = terminal.ask("Which ones? (1,3-5 or all; Esc: back) ")? else { return Ok(Vec::new()) };
        match numbers(&typed, details.len()) {
            Ok(numbers) if numbers.is_empty() => return Ok(Vec::new()),
            Ok(numbers) => break numbers,
            Err(why) => screen.line(&why)?,
        }
    };
    let chosen: Vec<&ItemDetail> = chosen.into_iter().filter_map(|nth| details.get(nth - 1)).collect();
    let chosen: Vec<&ItemDetail> = chosen.into_iter().filter(|detail| obstacle(detail).is_none()).collect();
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    preview(screen, &chosen)?;
    let answer = terminal.ask(&format!("Type {YES} to approve {}: ", how_many(chosen.len())))?;
    Ok(if answer.as_deref() == Some(YES) { chosen } else { Vec::new() })
}

pub(super) fn preview(screen: Screen, chosen: &[&ItemDetail]) -> io::Result<()> {
    screen.line("To be approved:")?;
    chosen.iter().try_for_each(|detail| screen.line(&format!("     {}", line(detail))))
}

pub(super) fn how_many(count: usize) -> String {
    if count == 1 { "this one".to_owned() } else { format!("these {count}") }
}

fn line(detail: &ItemDetail) -> String {
    let but = obstacle(detail).map_or_else(String::new, |why| format!(" — not in a batch: {why}"));
    format!("{}{but}", headline(detail))
}

/// Why it cannot be part of a batch.
fn obstacle(detail: &ItemDetail) -> Option<String> {
    if is_approvable(&detail.item) { detail.obstacle.clone() } else { Some("a yes is no answer to it".into()) }
}

/// "1,3-5" or "all", each once, in the order they stand.
fn numbers(typed: &str, most: usize) -> Result<Vec<usize>, String> {
    if typed.trim().eq_ignore_ascii_case("all") {
        return Ok((1..=most).collect());
    }
    let mut chosen = Vec::new();
    for part in typed.split([',', ' ']).filter(|part| !part.is_empty()) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|nth| (1..=most).contains(nth));
        match (number(from), number(to)) {
            (Some(from), Some(to)) if from <= to => chosen.extend(from..=to),
            _ => return Err(format!("'{part}' is none of 1 to {most}.")),
        }
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn numbers_are_lists_and_ranges_within_the_queue() {
        for (typed, expected) in [
            ("1", Some(&[1][..])),
            ("3, 1-2", Some(&[1, 2, 3])),
            ("2 2", Some(&[2])),
            ("all", Some(&[1, 2, 3, 4])),
            ("", Some(&[])),
            ("5", None),
            ("0", None),
            ("3-1", None),
            ("x", None),
            ("1-99999999999999999999", None),
        ] {
            assert_eq!(numbers(typed, 4).ok().as_deref(), expected, "{typed}");
        }
    }
}
