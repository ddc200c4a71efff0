//! Another wording of a message that waits, and another time of an invitation. Text, subject and calendar part always name
//! the same time: what cannot be brought into line is refused with a sentence.

use chrono_tz::Tz;
use mail_builder::{MessageBuilder, headers::raw::Raw};
use mail_parser::{Message, MessageParser, MessagePart, MimeHeaders as _};

use super::{
    MeetingSpan, ToolError,
    letter::LetterWording,
    material::{FilePart, body_with_files},
    meeting_time::format_meeting_time,
    message::{body_with_calendar, calendar_attachment, header_address, header_addresses, subject_field},
};
use crate::{
    date::{check_times_agree, follow_text},
    icalendar::{EventTimes, UnfoldedCalendar, format_utc},
    model::{Instant, NamedZone, action::ComposedMessage},
};

/// Where an invitation is moved to.
#[derive(Debug, Clone, Copy)]
pub struct InvitationMove<'a> {
    /// The id of the new action.
    pub token: &'a str,
    pub to: MeetingSpan,
    /// The zone in which the other one named a time, if that is not the person's.
    pub their_zone: Option<&'a NamedZone>,
    pub now: Instant,
}

/// Returns the message with another subject and text, in a person's own words, and everything else as it was. The ids
/// and the date are those of the new action. Where the text names another time than the calendar part, the event moves
/// there; where it is not certain which time is meant, the edit is refused.
pub fn edit_message(
    message: &ComposedMessage,
    token: &str,
    subject: &str,
    text: &str,
    now: Instant,
) -> Result<ComposedMessage, ToolError> {
    let parsed = parse(message)?;
    let Some((calendar, event)) = find_event(&parsed) else {
        let calendar = calendar_text(&parsed);
        return rebuild(message, &parsed, token, (subject, text), calendar, now);
    };
    if event.is_declining() {
        return rebuild(message, &parsed, token, (subject, text), Some(calendar), now);
    }
    let (own_subject, own_text) = (event.own_words(subject), event.own_words(text));
    let moved = follow_text(&own_subject, &own_text, event.zone, now, (event.start, event.end)).map_err(ToolError)?;
    let calendar = match moved {
        None => calendar,
        Some(_) if event.is_answer => {
            return Err(ToolError(
                "the text names another time than the event that the answer is about; decline it to propose another"
                    .into(),
            ));
        }
        Some((start, end)) => with_times(&calendar, MeetingSpan { start, end }, now),
    };
    rebuild(message, &parsed, token, (subject, text), Some(calendar), now)
}

/// Returns the invitation for another time: its text, subject and calendar part name the new one. Refused where the text
/// does not hold the time as the program writes it, because then only the person knows what else it says.
pub fn move_invitation(message: &ComposedMessage, wanted: &InvitationMove<'_>) -> Result<ComposedMessage, ToolError> {
    let parsed = parse(message)?;
    let Some((calendar, event)) = find_event(&parsed).filter(|(_, event)| !event.is_answer) else {
        return Err(ToolError("only an invitation of your own can be moved to another time".into()));
    };
    let old = MeetingSpan { start: event.start, end: event.end };
    let text = replace_time(&message.body, event.zone, old, wanted)
        .ok_or_else(|| ToolError("the text names the time in words of your own; edit the text".into()))?;
    let to = (wanted.to.start, wanted.to.end);
    check_times_agree(&text, event.zone, wanted.now, to).map_err(ToolError)?;
    let subject = if check_times_agree(&message.subject, event.zone, wanted.now, to).is_ok() {
        message.subject.clone()
    } else {
        neutral_title(&parsed, message)
    };
    let calendar = with_times(&calendar, wanted.to, wanted.now);
    rebuild(message, &parsed, wanted.token, (&subject, &text), Some(calendar), wanted.now)
}

/// Returns the event of a message that the program wrote; none if it has no calendar part.
pub fn event_of(message: &ComposedMessage) -> Option<EventTimes> {
    find_event(&parse(message).ok()?).map(|(_, event)| event)
}

/// A title that names no time: the people who meet.
fn neutral_title(parsed: &Message<'_>, message: &ComposedMessage) -> String {
    let own = parsed.from().and_then(|from| from.first()).and_then(|from| from.name().or_else(|| from.address()));
    let others = message.to.iter().map(|to| to.label());
    others.chain(own).collect::<Vec<_>>().join(" / ")
}

/// Replaces the time in a text, in whichever language the letter is written. What the clock of the other one shows stands
/// in the same brackets and is replaced with it.
fn replace_time(text: &str, own: Tz, old: MeetingSpan, wanted: &InvitationMove<'_>) -> Option<String> {
    LetterWording::LANGUAGES.iter().find_map(|language| {
        let written = format_meeting_time(language, own, old, None);
        let (before, behind) = text.split_once(written.strip_suffix(')')?)?;
        let (other, behind) = behind.split_once(')')?;
        let is_time = other.is_empty() || other.starts_with(';');
        let new = format_meeting_time(language, own, wanted.to, wanted.their_zone);
        (is_time && !behind.contains(&written)).then(|| format!("{before}{new}{behind}"))
    })
}

pub(super) fn parse(message: &ComposedMessage) -> Result<Message<'_>, ToolError> {
    let parsed = MessageParser::default().parse(message.mime.as_bytes());
    parsed.ok_or_else(|| ToolError("the message cannot be read".into()))
}

pub(super) fn calendar_text(parsed: &Message<'_>) -> Option<String> {
    let part = parsed.attachments().find(|part| part.content_type().is_some_and(|kind| kind.ctype() == "text"))?;
    Some(String::from_utf8_lossy(part.contents()).into_owned())
}

/// Returns the files that go with a message without a calendar part.
fn attached_files(parsed: &Message<'_>) -> Vec<FilePart> {
    let file = |part: &MessagePart<'_>| {
        let name = part.attachment_name().unwrap_or_default().to_owned();
        FilePart { name, bytes: part.contents().to_vec() }
    };
    parsed.attachments().map(file).collect()
}

/// Returns the calendar part of a message with the times of its event.
fn find_event(parsed: &Message<'_>) -> Option<(String, EventTimes)> {
    let calendar = calendar_text(parsed)?;
    let event = EventTimes::read(&calendar)?;
    Some((calendar, event))
}

fn with_times(calendar: &str, to: MeetingSpan, now: Instant) -> String {
    UnfoldedCalendar::unfold(calendar).with_values(&[
        ("DTSTART", format_utc(to.start.utc())),
        ("DTEND", format_utc(to.end.utc())),
        ("DTSTAMP", format_utc(now.utc())),
    ])
}

/// Composes the message anew with another subject, text and calendar part.
fn rebuild(
    message: &ComposedMessage,
    parsed: &Message<'_>,
    token: &str,
    (subject, text): (&str, &str),
    calendar: Option<String>,
    now: Instant,
) -> Result<ComposedMessage, ToolError> {
    let new = ComposedMessage { subject: subject.to_owned(), body: text.to_owned(), ..message.clone() };
    recompose(new, parsed, token, calendar, now)
}

/// Returns the new message with its bytes, under the headers of the old one, as it was parsed. The ids and the date are
/// those of the new action.
pub(super) fn recompose(
    new: ComposedMessage,
    old: &Message<'_>,
    token: &str,
    calendar: Option<String>,
    now: Instant,
) -> Result<ComposedMessage, ToolError> {
    let from = old.from().and_then(|from| from.first());
    let own = from.and_then(|from| from.address()).unwrap_or_default().to_owned();
    let name = from.and_then(|from| from.name()).unwrap_or_default().to_owned();
    let host = own.rsplit_once('@').map_or("localhost", |(_, host)| host).to_owned();
    let mut builder = MessageBuilder::new()
        .from(header_address(&name, &own))
        .to(header_addresses(&new.to))
        .header("Subject", subject_field(&new.subject))
        .date(now.utc().timestamp())
        .message_id(format!("{token}@{host}"))
        .header("X-Adjutant-Action", Raw::new(token.to_owned()));
    if !new.cc.is_empty() {
        builder = builder.cc(header_addresses(&new.cc));
    }
    for header in ["In-Reply-To", "References"] {
        if let Some(value) = old.header_raw(header) {
            builder = builder.header(header, Raw::new(value.trim().to_owned()));
        }
    }
    let (builder, attachments) = match calendar {
        Some(calendar) => {
            let method = if calendar.contains("METHOD:REPLY") { "REPLY" } else { "REQUEST" };
            let shown = vec![calendar_attachment(&calendar)];
            (builder.body(body_with_calendar(token, &new.body, method, calendar)), shown)
        }
        None => {
            let files = attached_files(old);
            if files.is_empty() {
                (builder.text_body(new.body.clone()), new.attachments.clone())
            } else {
                let shown = files.iter().map(FilePart::shown).collect();
                (builder.body(body_with_files(token, &new.body, files)), shown)
            }
        }
    };
    let mime =
        builder.write_to_string().map_err(|error| ToolError(format!("the message could not be written: {error}")))?;
    Ok(ComposedMessage { mime, attachments, ..new })
}
