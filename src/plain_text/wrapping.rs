//! Breaks text to a width in columns, between words where possible. Right-to-left order is left to the terminal.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The narrowest width that text is broken to: that of one wide character.
const LEAST_WIDTH: usize = 2;
/// How far from the left the text of a line with a label in front may begin.
const LABEL_ENDS_BY: usize = 16;

/// Breaks one line into rows. All rows but the first begin with `indent` blanks; no row is wider than `width`.
pub fn wrap(text: &str, width: usize, indent: usize) -> Vec<String> {
    let width = width.max(LEAST_WIDTH);
    let indent = " ".repeat(indent.min(width / 2));
    let mut rows = Vec::new();
    let mut row = String::new();
    // The width is counted along, because measuring the row again for every character takes quadratic time.
    let mut filled = 0;
    for word in text.split_inclusive(' ') {
        if filled + word.trim_end().width() > width && !row.trim().is_empty() {
            rows.push(std::mem::replace(&mut row, indent.clone()));
            filled = indent.len();
        }
        for c in word.chars() {
            let wide = c.width().unwrap_or(0);
            if filled + wide > width {
                if c == ' ' {
                    continue;
                }
                rows.push(std::mem::replace(&mut row, indent.clone()));
                filled = indent.len();
            }
            row.push(c);
            filled += wide;
        }
    }
    rows.push(row);
    rows.into_iter().map(|row| row.trim_end().to_owned()).collect()
}

/// Returns where the further rows of a line begin: under the text behind a label ("  deadline   Fri …"), or else under
/// the beginning of the line.
pub fn hanging_indent(line: &str) -> usize {
    let start = line.len() - line.trim_start().len();
    let rest = line.get(start..).unwrap_or_default();
    let Some(gap) = rest.find("  ") else { return start };
    let text = rest.get(gap..).unwrap_or_default();
    let column = line.width() - text.trim_start().width();
    if column <= LABEL_ENDS_BY { column } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_nothing_is_lost() {
        for (text, width, expected) in [
            ("one two three", 10, &["one two", "three"][..]),
            ("abcdefghijklmnop", 10, &["abcdefghij", "klmnop"]),
            ("  said a b c d e f", 10, &["  said a b", "  c d e f"]),
            ("", 10, &[""]),
            ("שלום לכולם מכאן", 10, &["שלום לכולם", "מכאן"]),
            ("会議会議会議", 10, &["会議会議会", "議"]),
        ] {
            let rows = wrap(text, width, hanging_indent(text));
            assert_eq!(rows, expected, "{text}");
            assert!(rows.iter().all(|row| row.width() <= width), "{text}");
        }
    }

    #[test]
    fn rows_begin_under_the_text_behind_a_label() {
        for (line, expected) in [
            ("  deadline   Fri 20 Nov", 13),
            ("found    nothing wrong", 9),
            ("    [x] remind", 4),
            ("Task 3: Book the van", 0),
            ("a long sentence with a gap  far from its beginning", 0),
        ] {
            assert_eq!(hanging_indent(line), expected, "{line}");
        }
    }
}
