//! The difference between two texts of the rules, line by line.

use std::fmt;

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// How many unchanged lines are shown before and after a change.
const CONTEXT_LINES: usize = 3;

/// One line of a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiffLine {
    /// `+`, `-`, a space for a line of context, or `@` for the head of a hunk.
    pub sign: char,
    pub line: String,
}

impl fmt::Display for DiffLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.sign {
            '@' => f.write_str(&self.line),
            sign => write!(f, "{sign} {}", self.line),
        }
    }
}

/// Returns the removed and added lines in hunks, each with its head and the lines around it. Line endings do not count
/// as a difference.
pub(in crate::app) fn diff_lines(from: &str, to: &str) -> Vec<DiffLine> {
    let (old, new): (Vec<&str>, Vec<&str>) = (from.lines().collect(), to.lines().collect());
    let diff = TextDiff::from_slices(&old, &new);
    let mut lines = Vec::new();
    for hunk in diff.unified_diff().context_radius(CONTEXT_LINES).iter_hunks() {
        lines.push(DiffLine { sign: '@', line: hunk.header().to_string() });
        lines.extend(hunk.iter_changes().map(|change| {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            DiffLine { sign, line: change.value().to_owned() }
        }));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(from: &str, to: &str) -> Vec<String> {
        diff_lines(from, to).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_change_is_shown_with_the_lines_around_it() {
        assert_eq!(printed("a\nb\nc\n", "a\nx\ny\nc\n"), ["@@ -1,3 +1,4 @@", "  a", "- b", "+ x", "+ y", "  c"]);
        assert_eq!(printed("a\na\n", "a\n"), ["@@ -1,2 +1 @@", "  a", "- a"]);
    }

    #[test]
    fn the_same_lines_are_no_difference_however_they_end() {
        assert!(printed("a\na\n", "a\na\n").is_empty());
        assert!(printed("a\r\nb\n", "a\nb").is_empty());
    }

    #[test]
    fn two_edits_far_apart_are_two_hunks() {
        let lines = |first: &str, last: &str| {
            let middle = (2..=19).map(|nth| format!("{nth}\n")).collect::<String>();
            format!("{first}\n{middle}{last}\n")
        };
        assert_eq!(
            printed(&lines("1", "20"), &lines("one", "twenty")),
            [
                "@@ -1,4 +1,4 @@",
                "- 1",
                "+ one",
                "  2",
                "  3",
                "  4",
                "@@ -17,4 +17,4 @@",
                "  17",
                "  18",
                "  19",
                "- 20",
                "+ twenty",
            ]
        );
    }
}
