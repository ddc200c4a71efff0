//! The learned section of a rules file: where it begins and ends, to the byte. Everything outside it belongs to the
//! person.

use std::ops::Range;

use crate::rules::grammar::{
    error::{Fault, Position},
    yaml::PositionedKey,
};

/// The beginning of the line before the learned section.
pub const BEGIN_MARKER: &str = "# >>> learned";
/// The beginning of the line after the learned section.
pub const END_MARKER: &str = "# <<< learned";

/// The place of the learned section in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::rules) struct LearnedSection {
    /// From the end of the first marker line to the start of the second.
    pub(in crate::rules) bytes: Range<usize>,
    first_line: usize,
    last_line: usize,
}

/// Returns the bytes between the marker lines, which the nightly job may replace; none for a file without markers or
/// with misplaced ones.
pub fn learned_range(text: &str) -> Option<Range<usize>> {
    find_section(text).ok().flatten().map(|section| section.bytes)
}

/// Finds the learned section; none in a file without markers. The section must be the last thing in the file, so that a
/// file that was cut off has lost at least a part of it.
pub(in crate::rules) fn find_section(text: &str) -> Result<Option<LearnedSection>, Fault> {
    let (begins, ends) = (find_markers(text, BEGIN_MARKER), find_markers(text, END_MARKER));
    let (begin, end) = match (begins.as_slice(), ends.as_slice()) {
        ([], []) => return Ok(None),
        ([begin], [end]) if begin.line < end.line => (begin, end),
        ([_, second, ..], _) => return Err(second.to_fault("a second marker", "one learned part")),
        (_, [_, second, ..]) => return Err(second.to_fault("a second marker", "one learned part")),
        ([begin], []) => {
            let expected = format!("a line '{END_MARKER} <<<' further down");
            return Err(begin.to_fault("a learned part without an end", &expected));
        }
        (_, [end, ..]) => {
            let expected = format!("a line '{BEGIN_MARKER} >>>' above");
            return Err(end.to_fault("the end of a learned part without a beginning", &expected));
        }
    };
    let after = text.get(end.bytes.end..).unwrap_or_default();
    let code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    if let Some((extra, _)) = after.lines().enumerate().find(|(_, line)| code(line)) {
        let at = Position { line: end.line + 1 + extra, column: 1 };
        return Err(Fault::new(at, "something after the learned part", "the learned part at the end of the file"));
    }
    let bytes = begin.bytes.end..end.bytes.start;
    Ok(Some(LearnedSection { bytes, first_line: begin.line, last_line: end.line }))
}

/// Checks that `learned` stands inside the section and every other key outside, so that replacing the section loses
/// nothing.
pub(in crate::rules) fn check_key_placement(
    section: Option<&LearnedSection>,
    key: &PositionedKey,
) -> Result<(), Fault> {
    let inside = section.is_some_and(|section| (section.first_line..section.last_line).contains(&key.at.line));
    match (key.text == "learned", inside) {
        (true, true) | (false, false) => Ok(()),
        (true, false) => {
            let expected = format!("it between the lines '{BEGIN_MARKER} >>>' and '{END_MARKER} <<<'");
            Err(key.to_fault("the key", expected))
        }
        (false, true) => {
            Err(key.to_fault("the key", "only 'learned' between the markers: the nightly job rewrites it"))
        }
    }
}

/// One marker line.
struct MarkerLine {
    line: usize,
    /// The whole line, its line end included.
    bytes: Range<usize>,
}

impl MarkerLine {
    fn to_fault(&self, found: &str, expected: &str) -> Fault {
        Fault::new(Position { line: self.line, column: 1 }, found, expected).with_width(BEGIN_MARKER.len())
    }
}

fn find_markers(text: &str, mark: &str) -> Vec<MarkerLine> {
    let mut start = 0;
    let mut found = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let bytes = start..start + line.len();
        start = bytes.end;
        if line.starts_with(mark) {
            found.push(MarkerLine { line: index + 1, bytes });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "default: low\n";

    fn check(text: &str, expected: Result<Option<&str>, &str>) {
        match (find_section(text), expected) {
            (Ok(section), Ok(inside)) => {
                assert_eq!(section.and_then(|section| text.get(section.bytes)), inside, "{text}")
            }
            (Err(fault), Err(found)) => assert!(fault.found.contains(found), "{text}: {fault:?}"),
            (got, _) => panic!("{text}: {got:?}"),
        }
    }

    #[test]
    fn the_part_between_the_markers() {
        let (begin, end) = ("# >>> learned >>>\n", "# <<< learned <<<\n");
        check(RULES, Ok(None));
        check(&format!("{RULES}{begin}learned: []\n{end}"), Ok(Some("learned: []\n")));
        check(&format!("{RULES}{begin}{end}\n# bye\n"), Ok(Some("")));
        check(&format!("{RULES}{begin}learned: []\r\n# <<< learned"), Ok(Some("learned: []\r\n")));
        check(&format!("{RULES}{begin}learned: []\n"), Err("without an end"));
        check(&format!("{RULES}learned: []\n{end}"), Err("without a beginning"));
        check(&format!("{end}{RULES}{begin}"), Err("without a beginning"));
        check(&format!("{begin}{begin}{end}"), Err("second marker"));
        check(&format!("{begin}{end}{end}"), Err("second marker"));
        check(&format!("{begin}learned: []\n{end}{RULES}"), Err("after the learned part"));
    }
}
