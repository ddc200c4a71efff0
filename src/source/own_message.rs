//! Recognises messages that this program wrote, wherever a mail program has moved them: by the action id in their
//! header and by the text that a reader sees.

use mail_parser::{Addr, HeaderValue, MessageParser, MimeHeaders as _};

/// The header that names the action a message was written for. Mail programs rename the file and Gmail rewrites the
/// Message-ID; this header is kept.
pub(super) const ACTION_HEADER: &str = "X-Adjutant-Action";

/// Returns everything that a reader sees of a message: recipients, subject, text and attachments. Two messages with
/// equal lists say the same to the same people. None when the message cannot be parsed.
pub(super) fn extract_visible_text(bytes: &[u8]) -> Option<Vec<String>> {
    const KEPT: [&str; 5] = ["To", "Cc", "Bcc", "Subject", "In-Reply-To"];
    let message = MessageParser::default().parse(bytes)?;
    let said =
        |name: &&'static str| message.header_values(*name).map(normalise_header_value).collect::<Vec<_>>().join("; ");
    let mut seen: Vec<String> = KEPT.iter().map(said).collect();
    let text = message.body_text(0).unwrap_or_default();
    seen.extend(text.trim_end().lines().map(|line| line.trim_end().to_owned()));
    for part in message.attachments() {
        seen.push(part.attachment_name().unwrap_or_default().to_owned());
        seen.push(String::from_utf8_lossy(part.contents()).trim_end().replace("\r\n", "\n"));
    }
    Some(seen)
}

/// Returns the values of the action header of a message; as unparsed text, because anybody can write such a header.
pub(super) fn extract_action_ids(bytes: &[u8]) -> Vec<String> {
    let message = MessageParser::default().parse_headers(bytes);
    message.iter().flat_map(|message| message.header_values(ACTION_HEADER).map(normalise_header_value)).collect()
}

/// Returns a header value independent of how it was folded and encoded. A value of an unexpected kind is rendered as it
/// is, so that it differs from an absent one.
fn normalise_header_value(value: &HeaderValue<'_>) -> String {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match value {
        HeaderValue::Address(people) => {
            let one = |person: &Addr<'_>| {
                let (name, address) = (person.name().unwrap_or_default(), person.address().unwrap_or_default());
                format!("{} <{}>", squeezed(name), address.trim())
            };
            people.iter().map(one).collect::<Vec<_>>().join(", ")
        }
        HeaderValue::Text(text) => squeezed(text),
        HeaderValue::TextList(texts) => squeezed(&texts.join(" ")),
        other => format!("{other:?}"),
    }
}
