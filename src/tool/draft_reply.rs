//! `draft_reply`: an answer for the person to finish, in the language of the mail. Every byte is fixed here, once.

use chrono::DateTime;
use mail_builder::{MessageBuilder, headers::raw::Raw};
use serde_json::{Value, json};

use super::{CannotDo, Outcome, Tool, ToolInput};
use crate::model::{Address, Effect, Mail, action::Composed};

pub(super) struct DraftReply;

impl Tool for DraftReply {
    fn name(&self) -> &'static str {
        "draft_reply"
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<Outcome, CannotDo> {
        let mail = input.mail.ok_or_else(|| CannotDo("there is no mail to answer".into()))?;
        if mail.from.addr.is_empty() {
            return Err(CannotDo("the mail has no sender to answer".into()));
        }
        let message = compose(input, mail)?;
        Ok(Outcome::Effect {
            output: json!({ "subject": message.subject, "draft": message.body }),
            effect: Effect::Draft { message },
        })
    }
}

fn compose(input: &ToolInput<'_>, mail: &Mail) -> Result<Composed, CannotDo> {
    let to = if mail.reply_to.is_empty() { vec![mail.from.clone()] } else { mail.reply_to.clone() };
    let subject = reply_subject(&mail.subject);
    let body = body(input, mail);
    let mime = mime(input, mail, &to, &subject, &body)?;
    Ok(Composed { to, cc: Vec::new(), subject, body, mime })
}

fn reply_subject(subject: &str) -> String {
    let is_reply = subject.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("re:"));
    if is_reply { subject.to_owned() } else { format!("Re: {subject}") }
}

/// The words of one language.
struct Phrases {
    hello: &'static str,
    slots: &'static str,
    about: &'static str,
    thanks: &'static str,
}

const ENGLISH: Phrases = Phrases {
    hello: "Hello",
    slots: "Thank you for your mail. Any of these times would suit me:",
    about: "Thank you for your mail. You asked:",
    thanks: "Best regards,",
};
const HEBREW: Phrases = Phrases {
    hello: "שלום",
    slots: "תודה על המייל. המועדים הבאים נוחים לי:",
    about: "תודה על המייל. ביקשת:",
    thanks: "בברכה,",
};

fn body(input: &ToolInput<'_>, mail: &Mail) -> String {
    let words = if input.facts.language == "he" { HEBREW } else { ENGLISH };
    let name = mail.from.name.as_deref().unwrap_or("").trim();
    let greeting = if name.is_empty() { format!("{},", words.hello) } else { format!("{} {name},", words.hello) };
    let slots = proposed(input);
    let middle = if slots.is_empty() {
        let asked = input.task.context.more.get("evidence").and_then(Value::as_str).unwrap_or(&input.task.objective);
        format!("{}\n\n> {}\n\n…", words.about, asked.replace('\n', " "))
    } else {
        format!("{}\n\n{}", words.slots, slots.join("\n"))
    };
    let signature = if input.me.signature.is_empty() {
        input.me.names.first().map_or("", String::as_str)
    } else {
        input.me.signature.as_str()
    };
    format!("{greeting}\n\n{middle}\n\n{}\n{signature}\n", words.thanks)
}

/// The times an earlier step found, one line each.
fn proposed(input: &ToolInput<'_>) -> Vec<String> {
    let output = input.task.tool_output.as_ref().and_then(|output| output.get("propose_time_slots"));
    let slots = output.and_then(|output| output.get("slots")).and_then(Value::as_array);
    let line = |slot: &Value| {
        let start = DateTime::parse_from_rfc3339(slot.get("start")?.as_str()?).ok()?;
        let end = DateTime::parse_from_rfc3339(slot.get("end")?.as_str()?).ok()?;
        Some(format!("- {}–{}", start.format("%A %d %B, %H:%M"), end.format("%H:%M (UTC%:z)")))
    };
    slots.map(|slots| slots.iter().filter_map(line).collect()).unwrap_or_default()
}

fn mime(input: &ToolInput<'_>, mail: &Mail, to: &[Address], subject: &str, body: &str) -> Result<String, CannotDo> {
    let own = input.me.addresses.first().map_or("me@localhost", String::as_str);
    let name = input.me.names.first().map_or("", String::as_str);
    let host = own.rsplit_once('@').map_or("localhost", |(_, host)| host);
    let recipients: Vec<(String, String)> =
        to.iter().map(|address| (address.name.clone().unwrap_or_default(), address.addr.clone())).collect();
    let mut builder = MessageBuilder::new()
        .from((name.to_owned(), own.to_owned()))
        .to(recipients)
        .subject(subject.to_owned())
        .date(input.now.utc().timestamp())
        .message_id(format!("{}@{host}", input.token))
        .header("X-Adjutant-Action", Raw::new(input.token.to_owned()))
        .text_body(body.to_owned());
    if let Some(id) = &mail.message_id {
        let references: Vec<&str> =
            mail.references.iter().map(String::as_str).chain(std::iter::once(id.as_str())).collect();
        builder =
            builder.header("In-Reply-To", Raw::new(id.clone())).header("References", Raw::new(references.join(" ")));
    }
    builder.write_to_string().map_err(|error| CannotDo(format!("the draft could not be written: {error}")))
}
