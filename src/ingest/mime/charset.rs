//! Decodes the bytes of a text part, whatever the sender declares about them.

use mail_parser::decoders::charsets::map::charset_decoder;

/// Decodes by the declared charset. With a wrong or missing declaration the charset is guessed; there is no error.
pub(crate) fn decode(bytes: &[u8], declared: Option<&str>) -> String {
    let label = declared.unwrap_or("").trim().trim_matches('"');
    let plain = matches_any(label, &["", "utf-8", "utf8", "us-ascii", "ascii", "ansi_x3.4-1968"]);
    if let Ok(text) = std::str::from_utf8(bytes)
        && (plain || (bytes.is_ascii() && !is_ascii_incompatible(label)))
    {
        return text.to_owned();
    }
    match charset_decoder(label.as_bytes()) {
        Some(decoder) if !plain => decoder(bytes),
        _ if matches_any(label, &["utf-8", "utf8"]) => String::from_utf8_lossy(bytes).into_owned(),
        _ => guess_and_decode(bytes),
    }
}

fn matches_any(label: &str, names: &[&str]) -> bool {
    names.iter().any(|name| label.eq_ignore_ascii_case(name))
}

/// Returns whether ASCII bytes may mean something else in a charset.
fn is_ascii_incompatible(label: &str) -> bool {
    ["utf-7", "utf-16", "utf-32", "iso-2022", "hz"]
        .iter()
        .any(|name| label.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)))
}

/// Decodes bytes without a declared charset: as UTF-8 if valid, as Hebrew when most letters are in its range, otherwise
/// as Western European.
pub(crate) fn guess_and_decode(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    let label: &[u8] = if looks_hebrew(bytes) { b"windows-1255" } else { b"windows-1252" };
    charset_decoder(label).map_or_else(|| String::from_utf8_lossy(bytes).into_owned(), |decoder| decoder(bytes))
}

/// Returns whether most letters are in the range of the eight-bit Hebrew charsets.
pub(crate) fn looks_hebrew(bytes: &[u8]) -> bool {
    let hebrew = bytes.iter().filter(|byte| (0xE0..=0xFA).contains(*byte)).count();
    let latin = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    hebrew > latin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_wrongly_declared_and_undeclared() {
        let table: &[(&[u8], Option<&str>, &str)] = &[
            ("שלום".as_bytes(), Some("UTF-8"), "שלום"),
            ("שלום".as_bytes(), None, "שלום"),
            ("שלום".as_bytes(), Some("us-ascii"), "שלום"),
            (b"\xf9\xec\xe5\xed", Some("windows-1255"), "שלום"),
            (b"\xf9\xec\xe5\xed", Some("iso-8859-8-i"), "שלום"),
            (b"\xf9\xec\xe5\xed \xf2\xe5\xec\xed", None, "שלום עולם"),
            (b"caf\xe9 au lait", None, "café au lait"),
            (b"caf\xe9", Some("x-unknown"), "café"),
            (b"\x93\xfa\x96\x7b", Some("shift_jis"), "日本"),
            (b"\x1b$BF|K\\\x1b(B", Some("iso-2022-jp"), "日本"),
            (b"ab\xff", Some("utf-8"), "ab\u{fffd}"),
            (b"plain", Some("\"iso-8859-1\""), "plain"),
        ];
        for (bytes, declared, expected) in table {
            assert_eq!(decode(bytes, *declared), *expected, "{declared:?}");
        }
    }
}
