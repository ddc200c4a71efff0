//! The agreement of a message with its fields: what is judged and shown to a person must be what the bytes say.
//!
//! A message whose bytes name another recipient, subject, sender, text or attachment than its fields is denied, whoever
//! approved it.

use chrono::DateTime;
use mail_parser::{Address as Parsed, Message, MessageParser, MimeHeaders as _};

use super::recipient::normalise_address;
use crate::{
    date::check_times_agree,
    icalendar::EventTimes,
    model::{Address, Instant, action::ComposedMessage, ids::sha256_hex},
};

/// Headers that would send the message, or answers to it, elsewhere than shown.
const HIDDEN: &[&str] = &[
    "bcc",
    "sender",
    "reply-to",
    "resent-to",
    "resent-cc",
    "resent-bcc",
    "resent-from",
    "return-receipt-to",
    "disposition-notification-to",
];
/// Headers that may occur once, because mail programs disagree on which of two counts.
const SINGLE: &[&str] = &["to", "cc", "from", "subject", "date", "message-id", "content-type"];

/// Returns an error if the bytes of the message say anything else than its fields, or are not from an address in `own`.
pub(super) fn check(message: &ComposedMessage, own: &[String]) -> Result<(), String> {
    let parsed = MessageParser::default().parse(message.mime.as_bytes()).ok_or("the message cannot be read")?;
    check_headers(&parsed)?;
    check_addresses(parsed.to(), &message.to, "To")?;
    check_addresses(parsed.cc(), &message.cc, "Cc")?;
    if parsed.subject().unwrap_or_default().trim() != message.subject.trim() {
        return Err("the message has another subject than shown".into());
    }
    let from = addresses(parsed.from());
    let mine = |addr: &Option<String>| {
        addr.as_ref().is_some_and(|addr| own.iter().any(|own| normalise_address(own).as_ref() == Some(addr)))
    };
    if from.len() != 1 || !from.iter().all(mine) {
        return Err("the message is not from the person".into());
    }
    let text = parsed.body_text(0).unwrap_or_default();
    if !text.lines().map(str::trim_end).eq(message.body.lines().map(str::trim_end)) {
        return Err("the message has another text than shown".into());
    }
    check_attachments(&parsed, message)?;
    check_event(&parsed, message)
}

/// Returns an error if the text or the subject names another time than the event of the calendar part. What is relative
/// ("tomorrow") counts from the date of the message.
fn check_event(parsed: &Message<'_>, message: &ComposedMessage) -> Result<(), String> {
    let is_calendar = |part: &&mail_parser::MessagePart<'_>| {
        part.content_type().is_some_and(|kind| kind.ctype() == "text" && kind.subtype() == Some("calendar"))
    };
    let Some(part) = parsed.attachments().find(is_calendar) else { return Ok(()) };
    let calendar = String::from_utf8_lossy(part.contents());
    let Some(event) = EventTimes::read(&calendar).filter(|event| !event.is_declining()) else { return Ok(()) };
    let written =
        parsed.date().and_then(|date| DateTime::from_timestamp(date.to_timestamp(), 0)).and_then(Instant::new);
    let written = written.ok_or("the message has no date")?;
    for (what, text) in [("text", &message.body), ("subject", &message.subject)] {
        check_times_agree(&event.own_words(text), event.zone, written, (event.start, event.end))
            .map_err(|why| format!("the {what} and the calendar part disagree: {why}"))?;
    }
    Ok(())
}

fn check_headers(parsed: &Message<'_>) -> Result<(), String> {
    let mut seen = Vec::new();
    for header in parsed.headers() {
        let name = header.name().to_ascii_lowercase();
        if HIDDEN.contains(&name.as_str()) {
            return Err(format!("the message has a hidden {name} header"));
        }
        if SINGLE.contains(&name.as_str()) {
            if seen.contains(&name) {
                return Err(format!("the message has two {name} headers"));
            }
            seen.push(name);
        }
    }
    Ok(())
}

fn check_attachments(parsed: &Message<'_>, message: &ComposedMessage) -> Result<(), String> {
    let found = parsed.attachments().map(|part| {
        let name = part.attachment_name().unwrap_or_default().to_owned();
        (name, sha256_hex(part.contents()))
    });
    let shown = message.attachments.iter().map(|attachment| (attachment.name.clone(), attachment.sha256.clone()));
    if found.eq(shown) { Ok(()) } else { Err("the message's attachments are not the ones shown".into()) }
}

fn check_addresses(found: Option<&Parsed<'_>>, shown: &[Address], name: &str) -> Result<(), String> {
    let shown: Vec<Option<String>> = shown.iter().map(|address| normalise_address(&address.addr)).collect();
    if addresses(found) == shown { Ok(()) } else { Err(format!("the message's {name} is not the one shown")) }
}

/// Returns the addresses of a header in their one spelling; none stands for one that is not an address.
fn addresses(found: Option<&Parsed<'_>>) -> Vec<Option<String>> {
    found.map(|found| found.iter().map(|one| one.address().and_then(normalise_address)).collect()).unwrap_or_default()
}
