//! Every bound on reading a mail, with its reason. A mail over a bound is still read as far as the bound, and says so.

use crate::document::snippet;

/// What large providers accept; of a larger mail only this much is parsed.
pub(super) const MAIL_BYTES: usize = 25 * 1024 * 1024;
/// Real mail nests below ten; a hundred levels are an attack on parsers.
pub(super) const MIME_DEPTH: usize = 50;
/// A digest of a busy list has a few hundred.
pub(super) const PARTS: usize = 1000;
/// Attached messages are opened for text only when the mail has none of its own; each level costs one more pass.
pub(super) const ATTACHED_DEPTH: usize = 3;
/// A header field is parsed up to here: a To line of a thousand people.
pub(super) const FIELD_BYTES: usize = 64 * 1024;
/// Parameters are merged in quadratic time by the parser below us, so theirs is tighter: a long encoded file name fits.
pub(super) const PARAMETER_BYTES: usize = 3 * 1024;
/// An encoded word is at most 75 characters long (RFC 2047); programs that put a whole subject into one stay below this.
pub(super) const ENCODED_WORD_BYTES: usize = 2 * 1024;
/// Trace headers of a well-travelled mail are some dozen; the rest would only fill memory.
pub(super) const FIELDS: usize = 1000;
/// Encoded text decoded per part; the rest could not be kept anyway.
pub(super) const TEXT_BYTES: usize = 1024 * 1024;
/// Styled HTML carries far more markup than text.
pub(super) const HTML_BYTES: usize = 2 * 1024 * 1024;
/// Characters kept of a body: a hundred pages.
pub(super) const TEXT_CHARS: usize = 256 * 1024;
/// Characters kept of a subject, a name, a file name, a link text.
pub(super) const SHORT_CHARS: usize = 1000;
/// People kept per field.
pub(super) const RECIPIENTS: usize = 200;
/// Message ids kept of References: the first and the last ones.
pub(super) const REFERENCES: usize = 100;
/// Links kept of an HTML part.
pub(super) const LINKS: usize = 200;

/// The first `max` characters, without copying when they all fit.
pub(super) fn truncate_chars(text: String, max: usize) -> (String, bool) {
    let end = snippet::truncate_chars(&text, max).len();
    let longer = end < text.len();
    let mut text = text;
    text.truncate(end);
    (text, longer)
}
