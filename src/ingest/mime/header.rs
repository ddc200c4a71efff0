//! Parses the header block of a message or part into raw fields. Values stay undecoded until they are asked for.

use std::borrow::Cow;

use mail_parser::{HeaderValue, parsers::MessageStream};

use super::charset;
use crate::ingest::limits::{ENCODED_WORD_BYTES, FIELD_BYTES, FIELDS};

/// One header field.
#[derive(Debug, Clone, Copy)]
struct HeaderField<'a> {
    name: &'a [u8],
    /// The value with its folds, without the last line break.
    value: &'a [u8],
}

/// The fields of one header block, in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Headers<'a> {
    fields: Vec<HeaderField<'a>>,
}

/// Returns one physical line and where the next one starts.
pub(crate) fn line_at(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
    let len = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1);
    Some((rest.get(..len)?, at + len))
}

impl<'a> Headers<'a> {
    /// Parses fields from `at` on. Returns them and where the body starts.
    ///
    /// A line that is no field ends the block and belongs to the body, so that a missing empty line does not cost any
    /// text.
    pub(crate) fn parse(bytes: &'a [u8], mut at: usize) -> (Headers<'a>, usize) {
        let mut headers = Headers::default();
        let mut open: Option<(&'a [u8], usize)> = None;
        let body = loop {
            let Some((line, next)) = line_at(bytes, at) else { break at };
            if line.trim_ascii().is_empty() && !matches!(line.first(), Some(b' ' | b'\t')) {
                break next;
            }
            if matches!(line.first(), Some(b' ' | b'\t')) {
                // A folded line, or a stray indented line before the first field.
            } else if let Some(name) = field_name(line) {
                headers.push_field(bytes, open.take(), at);
                open = Some((name, at + line.iter().position(|byte| *byte == b':').unwrap_or(0) + 1));
            } else if line.starts_with(b"From ") || line.starts_with(b">From ") {
                headers.push_field(bytes, open.take(), at);
            } else {
                break at;
            }
            at = next;
        };
        headers.push_field(bytes, open, at);
        (headers, body)
    }

    /// Records the open field, which ends at `end`, unless there are too many.
    fn push_field(&mut self, bytes: &'a [u8], open: Option<(&'a [u8], usize)>, end: usize) {
        let Some((name, start)) = open else { return };
        if self.fields.len() < FIELDS
            && let Some(value) = bytes.get(start..end)
        {
            self.fields.push(HeaderField { name, value: value.trim_ascii_end() });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Returns the values of all fields of that name, the topmost first.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.fields
            .iter()
            .filter(move |field| field.name.eq_ignore_ascii_case(name.as_bytes()))
            .map(|field| field.value)
    }

    /// Returns names and values, the topmost first. Servers add their fields above those that they received.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        self.fields.iter().map(|field| (field.name, field.value))
    }

    /// Returns the value of the topmost field of that name.
    pub(crate) fn first(&self, name: &str) -> Option<&'a [u8]> {
        self.all(name).next()
    }

    /// Returns the topmost field of that name unfolded, with encoded words decoded and without white space at its ends.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let value = self.first(name)?;
        let line = text_parser_input(value, FIELD_BYTES);
        let text = match MessageStream::new(&line).parse_unstructured() {
            HeaderValue::Text(text) => text.trim().to_owned(),
            _ => String::new(),
        };
        Some(text)
    }
}

/// Returns the first `max` bytes of a value in the form that mail-parser's field parsers need: UTF-8 where possible,
/// with a line break at the end.
pub(crate) fn field_parser_input(value: &[u8], max: usize) -> Cow<'_, [u8]> {
    let value = value.get(..max).unwrap_or(value);
    // Raw bytes inside an encoded word are in the charset that the word names; elsewhere no charset is declared.
    let as_is = std::str::from_utf8(value).is_ok() || value.windows(2).any(|pair| pair == b"=?");
    let mut line = if as_is { value.to_vec() } else { charset::guess_and_decode(value).into_bytes() };
    line.push(b'\n');
    Cow::Owned(break_unclosed_encoded_words(line))
}

/// Breaks the start of every encoded word that does not end within [`ENCODED_WORD_BYTES`]. mail-parser reads to the end
/// of the field for each of them and then starts again at the next, which would take quadratic time.
fn break_unclosed_encoded_words(line: Vec<u8>) -> Vec<u8> {
    if line.len() <= ENCODED_WORD_BYTES {
        return line;
    }
    let pairs = || line.windows(2).enumerate();
    let mut ends = pairs().filter(|(_, pair)| *pair == b"?=").map(|(at, _)| at).peekable();
    let mut open = Vec::new();
    for (at, _) in pairs().filter(|(_, pair)| *pair == b"=?") {
        // The `?` that starts a word cannot be part of its end.
        while ends.next_if(|end| *end < at + 2).is_some() {}
        if ends.peek().is_none_or(|end| end - at > ENCODED_WORD_BYTES) {
            open.push(at);
        }
    }
    let mut open = open.into_iter().peekable();
    let mut broken = Vec::with_capacity(line.len() + open.len());
    for (at, byte) in line.iter().enumerate() {
        broken.push(*byte);
        if open.next_if_eq(&at).is_some() {
            broken.push(b' ');
        }
    }
    broken
}

/// Returns the input for a field that a person reads. Bytes without a declared charset are decoded as Hebrew if they
/// look like it, and are otherwise shown as unreadable, as other programs do, rather than as letters of a guessed
/// language.
fn text_parser_input(value: &[u8], max: usize) -> Cow<'_, [u8]> {
    let value = value.get(..max).unwrap_or(value);
    if std::str::from_utf8(value).is_err() && !charset::looks_hebrew(value) {
        let mut line = value.to_vec();
        line.push(b'\n');
        return Cow::Owned(break_unclosed_encoded_words(line));
    }
    field_parser_input(value, max)
}

/// Returns the name of the header field on a line; none for any other line. White space before the colon is an obsolete
/// but legal form.
fn field_name(line: &[u8]) -> Option<&[u8]> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let name = line.get(..colon)?.trim_ascii_end();
    let legal = !name.is_empty() && !name.starts_with(b"--") && name.iter().all(|byte| (33..=126).contains(byte));
    legal.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoded_word_without_an_end_is_read_as_it_stands() {
        let long = format!("=?utf-8?Q?{}?=", "a".repeat(ENCODED_WORD_BYTES - 20));
        let open = format!("=?utf-8?Q?{}", "b".repeat(ENCODED_WORD_BYTES + 20));
        let read = |value: &str| Headers::parse(format!("Subject: {value}\n").as_bytes(), 0).0.text("Subject").unwrap();
        assert_eq!(read(&long), "a".repeat(ENCODED_WORD_BYTES - 20));
        assert_eq!(read(&open), open.replacen('=', "= ", 1));
        assert_eq!(read(&format!("{long} {long}")), "a".repeat(2 * (ENCODED_WORD_BYTES - 20)));
        assert_eq!(read(&format!("{open} =?utf-8?Q?c?=")), format!("{} c", open.replacen('=', "= ", 1)));
    }

    fn check(raw: &str, subject: Option<&str>, body: &str) {
        let (headers, at) = Headers::parse(raw.as_bytes(), 0);
        assert_eq!(headers.text("subject").as_deref(), subject, "{raw:?}");
        assert_eq!(raw.get(at..), Some(body), "{raw:?}");
    }

    #[test]
    fn blocks_end_where_the_text_begins() {
        check("Subject: a\n\nbody", Some("a"), "body");
        check("Subject: a\r\n b\r\n\r\nbody", Some("a b"), "body");
        check("SUBJECT : a\n\n", Some("a"), "");
        check("Subject: a", Some("a"), "");
        check("Subject:\n\nbody", Some(""), "body");
        check("From nobody Mon\nSubject: a\n\nbody", Some("a"), "body");
        check("Subject: a\nno field at all\nbody", Some("a"), "no field at all\nbody");
        check("Subject: a\n--b:c\n", Some("a"), "--b:c\n");
        check("body only", None, "body only");
        check("Subject: =?utf-8?B?16nXnNeV150=?= =?utf-8?Q?_x?=\n\n", Some("שלום x"), "");
        check("Subject: first\nSubject: second\n\n", Some("first"), "");
    }

    #[test]
    fn eight_bit_values_are_read() {
        let (headers, _) = Headers::parse(b"Subject: caf\xe9\n\n", 0);
        assert_eq!(headers.text("Subject").as_deref(), Some("caf\u{fffd}"));
        let (headers, _) = Headers::parse(b"Subject: \xf9\xec\xe5\xed\n\n", 0);
        assert_eq!(headers.text("Subject").as_deref(), Some("שלום"));
        let (headers, _) = Headers::parse(b"Subject: =?iso-8859-1?Q?caf\xe9?=\n\n", 0);
        assert_eq!(headers.text("Subject").as_deref(), Some("café"));
    }

    #[test]
    fn the_number_of_fields_is_bounded() {
        let raw = "X: y\n".repeat(FIELDS + 50);
        assert_eq!(Headers::parse(raw.as_bytes(), 0).0.all("x").count(), FIELDS);
    }
}
