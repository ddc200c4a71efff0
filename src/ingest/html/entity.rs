//! Decodes character references in HTML.

use mail_parser::decoders::html::add_html_token;

use crate::ingest::mime::charset;

/// Longest name that is looked for. `CounterClockwiseContourIntegral` is the longest that exists.
const MAX_NAME_BYTES: usize = 34;

/// Appends `text` with its references decoded. Anything else stays as it is written.
pub(crate) fn push_decoded(out: &mut String, text: &str) {
    let mut pieces = text.split('&');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        push_reference(out, piece);
    }
}

/// Appends what follows an `&`: the character of a reference and the rest, or the text as it is written.
fn push_reference(out: &mut String, piece: &str) {
    let end = piece
        .bytes()
        .take(MAX_NAME_BYTES)
        .position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'#'))
        .unwrap_or_else(|| piece.len().min(MAX_NAME_BYTES));
    let (Some(name), Some(rest)) = (piece.get(..end), piece.get(end..)) else {
        out.push('&');
        out.push_str(piece);
        return;
    };
    let closed = rest.strip_prefix(';');
    let known_open = closed.is_none() && (name.starts_with('#') || WITHOUT_SEMICOLON.contains(&name));
    if name.is_empty() || !(closed.is_some() || known_open) {
        out.push('&');
        out.push_str(piece);
        return;
    }
    match decode_windows_1252_reference(name) {
        Some(c) => out.push_str(&c),
        None => add_html_token(out, format!("&{name};").as_bytes(), false),
    }
    out.push_str(closed.unwrap_or(rest));
}

/// Returns the character of a reference such as `&#146;`. The standard calls it a control character, but senders and
/// browsers mean the byte of that number in windows-1252.
fn decode_windows_1252_reference(name: &str) -> Option<String> {
    let number: u8 = name.strip_prefix('#')?.parse().ok().filter(|number| (0x80..=0x9f).contains(number))?;
    Some(charset::decode(&[number], Some("windows-1252")))
}

/// References that browsers accept without the semicolon, and that senders write so.
const WITHOUT_SEMICOLON: &[&str] = &["amp", "lt", "gt", "quot", "nbsp", "copy", "reg"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references() {
        for (input, expected) in [
            ("a &amp; b", "a & b"),
            ("&lt;b&gt;", "<b>"),
            ("&#1513;&#x5D9;", "שי"),
            ("x&nbsp;y&nbsp z", "x\u{a0}y\u{a0} z"),
            ("&ouml;&szlig;", "öß"),
            ("R&D; AT&T", "R&D; AT&T"),
            ("&", "&"),
            ("&&amp;", "&&"),
            ("?a=1&copyright=2", "?a=1&copyright=2"),
            ("&#xD800;", "\u{fffd}"),
            ("&#149; it&#146;s", "• it’s"),
            ("&é", "&é"),
        ] {
            let mut out = String::new();
            push_decoded(&mut out, input);
            assert_eq!(out, expected, "{input}");
        }
    }
}
