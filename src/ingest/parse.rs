//! Parses raw bytes into a [`Mail`]. Never panics, never recurses without a bound, and keeps what it can of a broken
//! mail.

use std::borrow::Cow;

use chrono::{DateTime, NaiveDate};
use mail_parser::{HeaderValue, parsers::MessageStream};

use super::{
    body::{self, Body},
    bulk,
    identity::{MessageIds, content_sha256, former_content_sha256},
    limits::{MAIL_BYTES, MIME_DEPTH, RECIPIENTS, SHORT_CHARS, TEXT_CHARS, truncate_chars},
    mime::{Headers, TooDeep, collect_leaves, field_parser_input, parse_addresses, rest_sha256},
    sender_auth::{TrustedServers, authenticate},
    text::{Cleaned, clean_body, collapse_whitespace, strip_hidden_chars},
};
use crate::model::{Instant, Mail};

/// How much of a mail is searched for its topmost Received field, which the receiving server writes above all others.
const HEAD_BYTES: usize = 64 * 1024;

/// Why a message could not be parsed at all. The message stays where it is, for a person to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MailParseError {
    #[error("the file is empty")]
    Empty,
    #[error("this is not a mail: it has no header fields")]
    NoHeaders,
    #[error("its parts are nested deeper than {MIME_DEPTH} levels, as in no real mail")]
    TooDeep,
}

/// What was left out of a mail that exceeds a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MailTruncation {
    #[error("only the first {} MiB were read", MAIL_BYTES / 1024 / 1024)]
    Oversize,
    #[error("it has more parts than are read")]
    ManyParts,
    #[error("its text is too long: only the first {TEXT_CHARS} characters were read")]
    LongText,
    #[error("only the first {RECIPIENTS} people of a header were kept")]
    ManyPeople,
}

/// A mail together with what [`Mail`] does not keep.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedMail {
    pub mail: Mail,
    /// The whole text. `mail.text` has only the sender's own words, without quotes and signature.
    pub body: String,
    pub truncations: Vec<MailTruncation>,
}

/// Parses a message. `trust` names the servers whose word about the sender counts.
pub fn parse_mail(raw: &[u8], trust: &TrustedServers) -> Result<Mail, MailParseError> {
    parse_mail_in_full(raw, trust).map(|opened| opened.mail)
}

/// Parses a message and returns its whole text and what was left out of it, too.
pub fn parse_mail_in_full(raw: &[u8], trust: &TrustedServers) -> Result<ParsedMail, MailParseError> {
    let bytes = raw.get(..MAIL_BYTES).unwrap_or(raw);
    let bytes = convert_bare_carriage_returns(bytes);
    let start = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).ok_or(MailParseError::Empty)?;
    // A byte order mark is not part of the first field's name.
    let start = start + if bytes.get(start..).is_some_and(|rest| rest.starts_with(b"\xef\xbb\xbf")) { 3 } else { 0 };
    let (headers, at) = Headers::parse(&bytes, start);
    if headers.is_empty() {
        return Err(MailParseError::NoHeaders);
    }
    let parts = collect_leaves(&bytes, headers.clone(), at).map_err(|TooDeep| MailParseError::TooDeep)?;
    let mut body = body::assemble_body(&parts.leaves);
    if raw.len() > MAIL_BYTES || parts.too_many {
        body.part_digests.push(rest_sha256(raw.get(at..).unwrap_or_default()));
    }
    let mut notes = Vec::new();
    let mut note = |when: bool, what| notes.extend(when.then_some(what));
    note(raw.len() > MAIL_BYTES, MailTruncation::Oversize);
    note(parts.too_many, MailTruncation::ManyParts);
    note(body.text_cut, MailTruncation::LongText);
    let (mut mail, body, many_people) = assemble(&headers, body, trust, raw.len() as u64);
    note(many_people, MailTruncation::ManyPeople);
    mail.truncations = notes.iter().map(ToString::to_string).collect();
    Ok(ParsedMail { mail, body, truncations: notes })
}

/// Converts line ends that are carriage returns alone, as in very old mail.
fn convert_bare_carriage_returns(bytes: &[u8]) -> Cow<'_, [u8]> {
    if bytes.contains(&b'\n') || !bytes.contains(&b'\r') {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(bytes.iter().map(|byte| if *byte == b'\r' { b'\n' } else { *byte }).collect())
}

/// Builds the mail from its headers and body. Returns it with its whole text, and whether some people were left out.
fn assemble(headers: &Headers<'_>, body: Body, trust: &TrustedServers, size: u64) -> (Mail, String, bool) {
    let subject = strip_hidden_chars(&headers.text("Subject").unwrap_or_default());
    let subject_text = truncate_chars(collapse_whitespace(&subject.text), SHORT_CHARS).0;
    let [from, reply_to, to, cc] = ["From", "Reply-To", "To", "Cc"].map(|field| parse_addresses(headers, field));
    let many_people = [&to, &cc].iter().any(|list| list.total > list.addresses.len());
    let tricks = body.tricks + subject.tricks + from.tricks + reply_to.tricks;
    let ids = MessageIds::from_headers(headers);
    let Cleaned { body: whole, reply, signature, quoted_fingerprints: quoted } = clean_body(&body.text, &subject_text);
    let authentication = authenticate(headers, &from.addresses, trust);
    let written = headers.first("Date").filter(|value| !value.trim_ascii().is_empty());
    let dated = written.and_then(parse_date);
    let mut mail = Mail {
        from: from.addresses.into_iter().next().unwrap_or_default(),
        reply_to: reply_to.addresses,
        to: to.addresses,
        cc: cc.addresses,
        subject: subject_text,
        date: dated,
        date_ignored: written.is_some() && dated.is_none(),
        text: reply,
        signature,
        hidden_text: Some(body.hidden_text).filter(|text| text.contains(char::is_alphabetic)),
        attachments: body.attachments,
        links: body.links,
        invite: body.invite,
        other_parts_sha256: body.other_parts_sha256,
        list_id: bulk::list_id(headers),
        composed_by_agent: headers.first("X-Adjutant-Action").is_some(),
        bulk_header: bulk::bulk_header(headers),
        authentication,
        tricks,
        quoted,
        size,
        ..Mail::default()
    };
    mail.content_sha256 = content_sha256(&mail, &whole, &body.part_digests);
    mail.former_content_sha256 = former_content_sha256(&mail, &whole);
    mail.thread = ids.thread(&mail.content_sha256);
    mail.message_id = ids.message_id;
    mail.references = ids.references;
    (mail, whole, many_people)
}

/// Returns when the receiving server accepted a mail, from the topmost Received field.
pub(super) fn received_at(raw: &[u8]) -> Option<Instant> {
    let head = raw.get(..HEAD_BYTES).unwrap_or(raw);
    let start = head.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
    let (headers, _) = Headers::parse(head, start);
    let topmost = headers.first("Received")?;
    let at = topmost.iter().rposition(|byte| *byte == b';')?;
    parse_date(topmost.get(at + 1..)?)
}

/// Parses a date in the forms that occur in mail, also without a zone (taken as UTC). Returns none for a day that does
/// not exist, or a year that was not written with two or four digits.
fn parse_date(value: &[u8]) -> Option<Instant> {
    let line = field_parser_input(value, SHORT_CHARS);
    let text = collapse_whitespace(&String::from_utf8_lossy(&line));
    if let HeaderValue::DateTime(date) = MessageStream::new(&line).parse_date()
        && date.is_valid()
    {
        let is_day =
            NaiveDate::from_ymd_opt(i32::from(date.year), u32::from(date.month), u32::from(date.day)).is_some();
        return if is_day && names_year(&text, date.year) { Instant::from_unix(date.to_timestamp()) } else { None };
    }
    let parsed =
        DateTime::parse_from_rfc2822(&text).or_else(|_| DateTime::parse_from_rfc2822(&format!("{text} +0000")));
    parsed.or_else(|_| DateTime::parse_from_rfc3339(&text)).ok().and_then(|at| Instant::new(at.to_utc()))
}

/// Returns whether the year follows the month, with its four digits or, as in old mail, the last two (RFC 5322 §4.3).
fn names_year(text: &str, year: u16) -> bool {
    const MONTHS: &str = "jan feb mar apr may jun jul aug sep oct nov dec";
    let is_month = |word: &str| {
        word.get(..3).is_some_and(|start| MONTHS.split(' ').any(|month| month.eq_ignore_ascii_case(start)))
    };
    let mut behind = text.split([' ', ',', '-']).skip_while(|word| !is_month(word)).skip(1);
    let written = behind.find(|word| word.starts_with(|c: char| c.is_ascii_digit())).unwrap_or_default();
    match written.len() {
        4 => written.parse() == Ok(year),
        2 => written.parse() == Ok(year % 100),
        _ => false,
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
