//! Digests of the parts of a mail, so that two mails are the same only if all their parts are.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use super::content_headers::ContentHeaders;
use crate::model::ids::{hex, sha256_hex};

/// A digest of several values, each preceded by its length, so that no two lists of values give the same input.
#[derive(Default)]
pub(crate) struct FramedDigest(Sha256);

impl FramedDigest {
    /// Adds a value.
    pub(crate) fn put(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_be_bytes());
        self.0.update(text.as_bytes());
    }

    /// Returns the digest in hexadecimal.
    pub(crate) fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// Returns the digest of a part: its type, its name and its decoded bytes.
///
/// What mailboxes change in transit does not count: the transfer encoding and, in text, the kind of line breaks and the
/// empty lines at the end.
pub(crate) fn part_sha256(content: &ContentHeaders, decoded: &[u8]) -> String {
    let mut digest = FramedDigest::default();
    digest.put(&content.mime_type().to_ascii_lowercase());
    digest.put(content.file_name.as_deref().unwrap_or_default());
    digest.put(&if is_text(content) { sha256_hex(&with_line_feeds(decoded)) } else { sha256_hex(decoded) });
    digest.finish()
}

/// Returns the digest of what follows the last part that is parsed.
pub(crate) fn rest_sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(with_line_feeds(bytes)))
}

/// Returns whether line breaks of a part may change in transit.
fn is_text(content: &ContentHeaders) -> bool {
    matches!(content.main_type.as_str(), "text" | "message" | "multipart")
}

/// Returns bytes with CRLF as LF and without white space at the end.
fn with_line_feeds(bytes: &[u8]) -> Cow<'_, [u8]> {
    let bytes = bytes.trim_ascii_end();
    if !bytes.contains(&b'\r') {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        if !(*byte == b'\r' && bytes.get(at + 1) == Some(&b'\n')) {
            out.push(*byte);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(main: &str, sub: &str, name: Option<&str>, bytes: &[u8]) -> String {
        let content = ContentHeaders {
            main_type: main.into(),
            sub_type: sub.into(),
            file_name: name.map(str::to_owned),
            ..ContentHeaders::default()
        };
        part_sha256(&content, bytes)
    }

    #[test]
    fn type_name_and_bytes_count_and_the_journey_does_not() {
        let base = part("text", "calendar", None, b"a\nb\n");
        assert_eq!(part("text", "calendar", None, b"a\r\nb\r\n\r\n"), base);
        for other in [
            part("text", "plain", None, b"a\nb\n"),
            part("text", "calendar", Some("x.ics"), b"a\nb\n"),
            part("text", "calendar", None, b"a\nc\n"),
            part("text", "calendar", None, b"ab\n"),
        ] {
            assert_ne!(other, base);
        }
        assert_ne!(part("image", "png", None, b"a\r\n"), part("image", "png", None, b"a\n"));
    }
}
