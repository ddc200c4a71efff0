//! Undoes the Content-Transfer-Encoding. Of a broken encoding everything readable is kept: a wrong byte never loses the
//! rest.

use std::borrow::Cow;

/// Decodes base64 and quoted-printable. Bytes in any other encoding are returned as they are.
pub(crate) fn decode<'a>(bytes: &'a [u8], encoding: &str) -> Cow<'a, [u8]> {
    let encoding = encoding.trim();
    if encoding.eq_ignore_ascii_case("base64") {
        Cow::Owned(decode_base64(bytes))
    } else if encoding.eq_ignore_ascii_case("quoted-printable") {
        Cow::Owned(decode_quoted_printable(bytes))
    } else {
        Cow::Borrowed(bytes)
    }
}

/// Decodes base64. Characters outside the alphabet are skipped; padding ends a group, after which more may follow.
fn decode_base64(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() / 4 * 3 + 3);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in bytes {
        if *byte == b'=' {
            (bits, count) = (0, 0);
            continue;
        }
        let Some(value) = base64_value(*byte) else { continue };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

const fn base64_value(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

/// Decodes quoted-printable. A `=` that starts no escape stays as it is.
fn decode_quoted_printable(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii_end();
        let soft = text.last() == Some(&b'=') && !text.ends_with(b"==");
        let text = if soft { text.get(..text.len() - 1).unwrap_or(text) } else { text };
        unescape_quoted_printable(text, &mut out);
        if !soft && line.last() == Some(&b'\n') {
            out.push(b'\n');
        }
    }
    out
}

/// Decodes the escapes of one line.
fn unescape_quoted_printable(text: &[u8], out: &mut Vec<u8>) {
    let mut pieces = text.split(|byte| *byte == b'=');
    out.extend_from_slice(pieces.next().unwrap_or_default());
    for piece in pieces {
        match piece {
            [high, low, rest @ ..] if hex_digit_value(*high).is_some() && hex_digit_value(*low).is_some() => {
                out.push((hex_digit_value(*high).unwrap_or(0) << 4) | hex_digit_value(*low).unwrap_or(0));
                out.extend_from_slice(rest);
            }
            _ => {
                out.push(b'=');
                out.extend_from_slice(piece);
            }
        }
    }
}

const fn hex_digit_value(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(encoding: &str, input: &str, expected: &str) {
        let output = decode(input.as_bytes(), encoding);
        assert_eq!(String::from_utf8_lossy(&output), expected, "{encoding} {input:?}");
    }

    #[test]
    fn good_and_broken_encodings() {
        check("base64", "aGVsbG8=", "hello");
        check("BASE64", "aGVs\r\nbG8", "hello");
        check("base64", "aGVs!bG8=\n", "hello");
        check("base64", "aGk=\naGk=", "hihi");
        check("quoted-printable", "a=3Db=\r\nc \t\r\nd", "a=bc\nd");
        check("quoted-printable", "50=% =ZZ =4", "50=% =ZZ =4");
        check("quoted-printable", "=D7=A9\n", "ש\n");
        check("quoted-printable", "a=", "a");
        check("7bit", "a=3D", "a=3D");
        check("x-unknown", "aGVsbG8=", "aGVsbG8=");
    }
}
