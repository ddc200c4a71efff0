//! Numbered lists, on lines of their own or within a line.

/// An item of a numbered list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::planner) struct ListItem<'a> {
    pub(in crate::planner) number: u32,
    pub(in crate::planner) text: &'a str,
}

/// Returns the items of the numbered list in a text: numbers that begin with 1 and go up by one, each with a point or a
/// bracket and some words behind it. Empty when there is no such list.
pub(in crate::planner) fn split_numbered_list(text: &str) -> Vec<ListItem<'_>> {
    let mut marks: Vec<(usize, usize)> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let expected = marks.len() + 1;
        match mark_end(text, at, expected) {
            Some(end) => {
                marks.push((at, end));
                at = end;
            }
            None => at += 1,
        }
    }
    let ends = marks.iter().skip(1).map(|(start, _)| *start).chain([text.len()]);
    let items: Vec<ListItem<'_>> = marks
        .iter()
        .zip(ends)
        .zip(1..)
        .filter_map(|(((_, from), to), number)| Some(ListItem { number, text: trim_item(text.get(*from..to)?) }))
        .collect();
    if items.len() < 2 || items.iter().any(|item| !item.text.contains(char::is_alphabetic)) {
        Vec::new()
    } else {
        items
    }
}

/// Returns the position behind the mark of the item with this number, if one stands at `at`.
fn mark_end(text: &str, at: usize, number: usize) -> Option<usize> {
    let before = text.get(..at)?.chars().next_back();
    if !before.is_none_or(|c| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '(')) {
        return None;
    }
    let rest = text.get(at..)?;
    let mut digits = [0_u8; 20];
    let rest = rest.strip_prefix(write_number(number, &mut digits)?)?;
    let behind = rest.strip_prefix(['.', ')', ':']).or_else(|| rest.strip_prefix(".)"))?;
    let is_spaced = behind.starts_with(|c: char| c.is_whitespace());
    is_spaced.then(|| text.len() - behind.len())
}

/// Writes a number into a buffer, because a text would be allocated at every character.
fn write_number(number: usize, buffer: &mut [u8; 20]) -> Option<&str> {
    let mut rest = number;
    let mut at = buffer.len();
    loop {
        at -= 1;
        *buffer.get_mut(at)? = b'0' + u8::try_from(rest % 10).ok()?;
        rest /= 10;
        if rest == 0 {
            return std::str::from_utf8(buffer.get(at..)?).ok();
        }
    }
}

/// Returns an item without the punctuation that joins it to the next.
fn trim_item(text: &str) -> &str {
    let text = text.trim().trim_end_matches([',', ';']).trim_end();
    let without = ["and", "then", "ו"].iter().find_map(|joint| {
        let head = text.strip_suffix(joint)?;
        head.ends_with([' ', ',', '\n']).then(|| head.trim_end().trim_end_matches([',', ';']))
    });
    without.unwrap_or(text).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_found_in_lines_and_within_a_line() {
        for (text, items) in [
            ("1. Create X\n2. Add Y", &["Create X", "Add Y"][..]),
            ("1. Create X, 2. Add Y", &["Create X", "Add Y"]),
            ("Do this: 1) call Ann; 2) pay, and 3) sleep.", &["call Ann", "pay", "sleep."]),
            ("1. only one", &[]),
            ("version 1.2 and 2.1", &[]),
            ("see 1. 2. 2026", &[]),
            ("2. second 3. third", &[]),
            ("1. אסוף חשבוניות 2. שלח סיכום", &["אסוף חשבוניות", "שלח סיכום"]),
        ] {
            let found: Vec<&str> = split_numbered_list(text).iter().map(|item| item.text).collect();
            assert_eq!(found, items, "{text}");
        }
    }
}
