//! Every bound on parsing a mail, with its reason. A mail that exceeds a bound is still parsed up to it, and says so.

use crate::document::snippet;

/// Bytes of a mail that are parsed: what large providers accept.
pub(super) const MAIL_BYTES: usize = 25 * 1024 * 1024;
/// Depth of nested MIME parts. Real mail stays below ten; a hundred levels are an attack on parsers.
pub(super) const MIME_DEPTH: usize = 50;
/// Number of MIME parts. The digest of a busy mailing list has a few hundred.
pub(super) const PARTS: usize = 1000;
/// Depth of nested attached messages. They are opened only when the mail has no text of its own; each level costs one
/// more pass.
pub(super) const ATTACHED_DEPTH: usize = 3;
/// Bytes of a header field that are parsed: enough for a To field with a thousand people.
pub(super) const FIELD_BYTES: usize = 64 * 1024;
/// Bytes of a field with parameters that are parsed: enough for a long encoded file name. Tighter than other fields,
/// because mail-parser merges parameters in quadratic time.
pub(super) const PARAMETER_BYTES: usize = 3 * 1024;
/// Length of an encoded word. RFC 2047 allows 75 characters; programs that put a whole subject into one stay below
/// this.
pub(super) const ENCODED_WORD_BYTES: usize = 2 * 1024;
/// Number of header fields. A mail that passed many servers has a few dozen trace fields; more would only fill memory.
pub(super) const FIELDS: usize = 1000;
/// Encoded bytes of a text part that are decoded; more text could not be kept anyway.
pub(super) const TEXT_BYTES: usize = 1024 * 1024;
/// Encoded bytes of an HTML part that are decoded: styled HTML has far more markup than text.
pub(super) const HTML_BYTES: usize = 2 * 1024 * 1024;
/// Characters of a body that are kept: about a hundred pages.
pub(super) const TEXT_CHARS: usize = 256 * 1024;
/// Characters of a subject, a name, a file name or a link text that are kept.
pub(super) const SHORT_CHARS: usize = 1000;
/// Number of people that are kept per address field.
pub(super) const RECIPIENTS: usize = 200;
/// Number of message ids of References that are kept: the first one and the last ones.
pub(super) const REFERENCES: usize = 100;
/// Number of links that are kept of a mail.
pub(super) const LINKS: usize = 200;

/// Returns the first `max` characters, and whether there were more. Copies nothing.
pub(super) fn truncate_chars(text: String, max: usize) -> (String, bool) {
    let end = snippet::truncate_chars(&text, max).len();
    let longer = end < text.len();
    let mut text = text;
    text.truncate(end);
    (text, longer)
}
