//! Characters that make text read differently for a person than for a machine: taken out for machines, shown to people.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stripped {
    pub text: String,
    /// What was taken out and had no honest business there.
    pub tricks: u32,
}

/// Takes out invisible and direction characters and control characters, and normalises to NFC.
pub fn strip_hidden_chars(text: &str) -> Stripped {
    // Without a way out on the first odd byte, because then many bytes are looked at together.
    if !text.bytes().fold(false, |odd, byte| odd | !matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')) {
        return Stripped { text: normalise_line_breaks(text), tricks: 0 };
    }
    let mut out = String::with_capacity(text.len());
    let mut tricks = 0;
    // Looked for only when a character needs it: most mail has none.
    let mut right_to_left = None;
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let Some(sort) = classify_hidden_char(c) else {
            out.push(c);
            before = c;
            continue;
        };
        let after = chars.peek().copied().unwrap_or(' ');
        let honest = match sort {
            HiddenChar::LineBreak => {
                if !(c == '\r' && after == '\n') {
                    out.push('\n');
                }
                true
            }
            HiddenChar::DirectionMark => *right_to_left.get_or_insert_with(|| text.chars().any(is_right_to_left)),
            HiddenChar::Joiner => {
                is_pictograph(before)
                    || is_pictograph(after)
                    || *right_to_left.get_or_insert_with(|| text.chars().any(is_right_to_left))
            }
            // Between words it is filler, inside a word it hides the word.
            HiddenChar::ZeroWidth => !(before.is_alphanumeric() && after.is_alphanumeric()),
            HiddenChar::Tag => is_pictograph(before),
            HiddenChar::AlwaysDeceptive => false,
        };
        tricks += u32::from(!honest);
    }
    Stripped { text: to_nfc(out), tricks }
}

/// Every line break is a line feed.
fn normalise_line_breaks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (nth, line) in text.split('\r').enumerate() {
        if nth > 0 && !line.starts_with('\n') {
            out.push('\n');
        }
        out.push_str(line);
    }
    out
}

fn to_nfc(text: String) -> String {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => text,
        _ => text.nfc().collect(),
    }
}

enum HiddenChar {
    /// A form feed and its like: an old-fashioned line break.
    LineBreak,
    /// Ordinary in a mail with Hebrew or Arabic letters.
    DirectionMark,
    Joiner,
    ZeroWidth,
    Tag,
    AlwaysDeceptive,
}

/// What to do with a character that is not to stay.
const fn classify_hidden_char(c: char) -> Option<HiddenChar> {
    match c {
        ' '..='~' | '\n' | '\t' => None,
        '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some(HiddenChar::LineBreak),
        '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202c}' | '\u{2066}'..='\u{2069}' => {
            Some(HiddenChar::DirectionMark)
        }
        '\u{200c}' | '\u{200d}' => Some(HiddenChar::Joiner),
        '\u{ad}' | '\u{34f}' | '\u{200b}' | '\u{2060}' | '\u{feff}' => Some(HiddenChar::ZeroWidth),
        '\u{e0000}'..='\u{e007f}' => Some(HiddenChar::Tag),
        '\0'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{202d}'
        | '\u{202e}'
        | '\u{2061}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}' => Some(HiddenChar::AlwaysDeceptive),
        '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{ffa0}' => {
            Some(HiddenChar::AlwaysDeceptive)
        }
        '\u{fff9}'..='\u{fffb}' | '\u{e0100}'..='\u{e01ef}' => Some(HiddenChar::AlwaysDeceptive),
        _ => None,
    }
}

/// Hebrew, Arabic and their neighbours.
const fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{5d0}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

const fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}' | '\u{e0020}'..='\u{e007f}')
}

/// Text as a person may see it on a terminal or a page: whatever would act on the screen is written out.
pub fn escape_for_display(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let line_break = c == '\r' && chars.peek() == Some(&'\n');
        if classify_hidden_char(c).is_some() && !line_break {
            out.extend(c.escape_unicode());
        } else if !line_break {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tricks_are_taken_out_and_counted() {
        for (text, expected, tricks) in [
            ("plain\n\ttext", "plain\n\ttext", 0),
            ("a\r\nb\rc\r\r\nd\r", "a\nb\nc\n\nd\n", 0),
            ("a\r\nb\rc\r\r\nד\r", "a\nb\nc\n\nד\n", 0),
            ("pay\u{202e}txt.exe", "paytxt.exe", 1),
            ("pass\u{200b}word", "password", 1),
            ("in\u{ad}voice", "invoice", 1),
            ("a \u{200b} b", "a  b", 0),
            ("\u{feff}hello", "hello", 0),
            ("hi\u{e0049}\u{e0067}", "hi", 2),
            ("\u{1f3f4}\u{e0067}\u{e007f}", "\u{1f3f4}", 0),
            ("\u{1b}[2Jx", "[2Jx", 1),
            ("a\0b", "ab", 1),
            ("a\r\nb\u{c}c\rd", "a\nb\nc\nd", 0),
            ("שלום\u{200f} abc", "שלום abc", 0),
            ("\u{202b}שלום\u{202c}", "שלום", 0),
            ("שלום\u{202e}", "שלום", 1),
            ("abc\u{200f}def", "abcdef", 1),
            ("👩\u{200d}💻", "👩💻", 0),
            ("a\u{200d}b", "ab", 1),
            ("e\u{301}", "é", 0),
            ("x\u{3164}y", "xy", 1),
        ] {
            assert_eq!(strip_hidden_chars(text), Stripped { text: expected.into(), tricks }, "{text:?}");
        }
    }

    #[test]
    fn people_see_what_would_act() {
        for (text, expected) in [
            ("a\n\tb", "a\n\tb"),
            ("a\r\nb", "a\nb"),
            ("a\rb", "a\\u{d}b"),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("\u{202e}x", "\\u{202e}x"),
            ("שלום é", "שלום é"),
            ("a\u{200b}\u{7}", "a\\u{200b}\\u{7}"),
        ] {
            assert_eq!(escape_for_display(text), expected, "{text:?}");
        }
    }
}
