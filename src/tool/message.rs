//! Composing a message. Every byte is fixed here, once: the same input gives the same bytes, so that a digest of them
//! can be approved and a retry composes the same message.

use mail_builder::{
    MessageBuilder,
    headers::{HeaderType, address::Address as Mailbox, content_type::ContentType, raw::Raw, text::Text},
    mime::MimePart,
};

pub(super) use super::letter::add_greeting_and_closing;
use super::{
    ToolError, ToolInput, ToolOutcome,
    material::{FilePart, body_with_files},
};
use crate::model::{Address, Attachment, Mail, action::ComposedMessage, ids::sha256_hex};

/// What a message says. Sender, date and ids follow from the input.
pub(super) struct OutgoingMessage<'a> {
    pub(super) to: Vec<Address>,
    pub(super) subject: String,
    pub(super) body: String,
    /// The mail that it answers.
    pub(super) in_reply_to: Option<&'a Mail>,
    /// The method and the text of a calendar part.
    pub(super) calendar: Option<(&'static str, String)>,
    /// The files that go with it; none beside a calendar part.
    pub(super) files: Vec<FilePart>,
}

/// The file name of a calendar part.
pub(super) const INVITE_FILE: &str = "invite.ics";

/// Returns an address for a header field. Without a name it has no empty quotes in front of it.
pub(super) fn header_address(name: &str, addr: &str) -> Mailbox<'static> {
    Mailbox::new_address(Some(name.to_owned()).filter(|name| !name.is_empty()), addr.to_owned())
}

pub(super) fn header_addresses(people: &[Address]) -> Mailbox<'static> {
    Mailbox::new_list(
        people.iter().map(|one| header_address(one.name.as_deref().unwrap_or_default(), &one.addr)).collect(),
    )
}

impl OutgoingMessage<'_> {
    /// Composes the message. The header `X-Adjutant-Action` holds the idempotency key, by which a probe finds the
    /// message.
    pub(super) fn compose(self, input: &ToolInput<'_>) -> Result<ComposedMessage, ToolError> {
        let name = input.me.names.first().map_or("", String::as_str);
        let mut builder = MessageBuilder::new()
            .from(header_address(name, input.own))
            .to(header_addresses(&self.to))
            .header("Subject", subject_field(&self.subject))
            .date(input.now.utc().timestamp())
            .message_id(format!("{}@{}", input.idempotency_key, own_domain(input)))
            .header("X-Adjutant-Action", Raw::new(input.idempotency_key.to_owned()));
        if let Some((id, mail)) = self.in_reply_to.and_then(|mail| mail.message_id.as_ref().map(|id| (id, mail))) {
            let references: Vec<&str> =
                mail.references.iter().map(String::as_str).chain(std::iter::once(id.as_str())).collect();
            builder = builder
                .header("In-Reply-To", Raw::new(id.clone()))
                .header("References", Raw::new(references.join(" ")));
        }
        let (builder, attachments) = match self.calendar {
            None if self.files.is_empty() => (builder.text_body(self.body.clone()), Vec::new()),
            None => {
                let shown = self.files.iter().map(FilePart::shown).collect();
                (builder.body(body_with_files(input.idempotency_key, &self.body, self.files)), shown)
            }
            Some((method, text)) => {
                let shown = calendar_attachment(&text);
                (builder.body(body_with_calendar(input.idempotency_key, &self.body, method, text)), vec![shown])
            }
        };
        let mime = builder
            .write_to_string()
            .map_err(|error| ToolError(format!("the message could not be written: {error}")))?;
        Ok(ComposedMessage { to: self.to, cc: Vec::new(), subject: self.subject, body: self.body, mime, attachments })
    }
}

/// The bytes in one encoded word: each becomes three characters, and the word stays below the 75 allowed (RFC 2047).
const WORD_BYTES: usize = 20;

/// Returns a subject as a header field. A subject that looks encoded is encoded itself; written as it is, a reader
/// would decode it into something else than was shown.
pub(super) fn subject_field(subject: &str) -> HeaderType<'static> {
    if !subject.contains("=?") {
        return Text::new(subject.to_owned()).into();
    }
    let mut words = vec![String::new()];
    let mut room = WORD_BYTES;
    for c in subject.chars() {
        if room < c.len_utf8() {
            words.push(String::new());
            room = WORD_BYTES;
        }
        room -= c.len_utf8();
        if let Some(word) = words.last_mut() {
            word.extend(c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("={byte:02X}")));
        }
    }
    // The space between two encoded words is not part of the text.
    Raw::new(words.iter().map(|word| format!("=?utf-8?Q?{word}?=")).collect::<Vec<_>>().join(" ")).into()
}

/// Returns a calendar part as it is shown to a person.
pub(super) fn calendar_attachment(text: &str) -> Attachment {
    Attachment {
        name: INVITE_FILE.into(),
        content_type: "text/calendar".into(),
        size: text.len() as u64,
        sha256: sha256_hex(text.as_bytes()),
    }
}

/// Returns a body of a text and a calendar part. The boundary is derived from the idempotency key, so that it is always
/// the same.
pub(super) fn body_with_calendar(token: &str, body: &str, method: &'static str, calendar: String) -> MimePart<'static> {
    let mixed = ContentType::new("multipart/mixed").attribute("boundary", format!("=_{token}"));
    let kind = ContentType::new("text/calendar").attribute("charset", "utf-8").attribute("method", method);
    let invite = MimePart::new(kind, calendar.into_bytes()).attachment(INVITE_FILE);
    let text = ContentType::new("text/plain").attribute("charset", "utf-8");
    MimePart::new(mixed, vec![MimePart::new(text, body.to_owned()), invite])
}

/// Returns the domain of the sender, for ids.
pub(super) fn own_domain<'a>(input: &ToolInput<'a>) -> &'a str {
    input.own.rsplit_once('@').map_or("localhost", |(_, host)| host)
}

/// Returns the subject of a reply: with one `Re:` in front, not two.
pub(super) fn reply_subject(subject: &str) -> String {
    let is_reply = subject.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("re:"));
    if is_reply { subject.to_owned() } else { format!("Re: {subject}") }
}

/// Returns the subject without the prefixes of replies and forwards.
pub(super) fn strip_reply_prefixes(subject: &str) -> &str {
    let mut topic = subject.trim();
    while let Some(rest) = ["re:", "fwd:", "fw:"].iter().find_map(|mark| {
        let start = topic.get(..mark.len())?;
        start.eq_ignore_ascii_case(mark).then(|| topic.get(mark.len()..)).flatten()
    }) {
        topic = rest.trim_start();
    }
    topic
}

/// Leaves the step to the person while the configuration names no address of theirs. Nothing is sent in the name of
/// somebody unknown: the address that a mail was written to is only its sender's claim.
pub(super) fn missing_address_outcome(input: &ToolInput<'_>) -> Option<ToolOutcome> {
    let why = "your address is not known; set addresses of [me], or address of the [[account]], in adjutant.toml";
    input.me.addresses.is_empty().then(|| ToolOutcome::LeftToPerson(why.into()))
}
