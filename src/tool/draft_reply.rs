//! `draft_reply`: a draft of an answer for the person to finish, in the language of the mail.

use chrono::DateTime;
use serde_json::{Value, json};

use super::{
    ReplyWording, Tool, ToolError, ToolInput, ToolOutcome,
    message::{
        OutgoingMessage, add_greeting_and_closing, format_time_span, missing_address_outcome, phrases, reply_subject,
        signature,
    },
};
use crate::model::{
    Address, Effect, Mail, Me,
    action::{Argument, ComposedMessage, Origin},
    ids::sha256_hex,
};

/// The field of a draft's output that says whose words it holds, where they are not the program's own.
pub(super) const WORDED_BY: &str = "worded_by";

/// Requests a draft in the drafts folder. Nothing is sent.
pub(super) struct DraftReply;

impl Tool for DraftReply {
    fn name(&self) -> &'static str {
        "draft_reply"
    }

    fn accepts_wording(&self) -> bool {
        true
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        if let Some(yours) = missing_address_outcome(input).filter(|_| Me::is_placeholder_sender(input.own)) {
            return Ok(yours);
        }
        let mail = mail_to_answer(input)?;
        let (body, origin) = match input.wording {
            Some(words) => (model_worded_body(input, words), Origin::Model),
            None => (template_body(input, mail), Origin::Template),
        };
        let message = OutgoingMessage {
            to: reply_recipients(mail),
            subject: reply_subject(&mail.subject),
            body,
            in_reply_to: Some(mail),
            calendar: None,
        }
        .compose(input)?;
        let mut output = json!({
            "subject": message.subject,
            "draft": message.body,
            "action": input.idempotency_key,
            "sha256": sha256_hex(message.mime.as_bytes()),
        });
        if let (Value::Object(fields), Origin::Model) = (&mut output, origin) {
            fields.insert(WORDED_BY.into(), json!(origin));
        }
        let arguments = [(Argument::RECIPIENTS, Origin::Mail), ("subject", Origin::Mail), (Argument::TEXT, origin)];
        Ok(ToolOutcome::request_effect(Effect::Draft { message }, output, &arguments))
    }
}

/// Returns the mail that is to be answered, if it has a sender to answer.
pub(super) fn mail_to_answer<'a>(input: &ToolInput<'a>) -> Result<&'a Mail, ToolError> {
    let mail = input.mail.ok_or_else(|| ToolError("there is no mail to answer".into()))?;
    if mail.from.addr.is_empty() {
        return Err(ToolError("the mail has no sender to answer".into()));
    }
    Ok(mail)
}

/// Returns where answers to the mail go: its Reply-To, else its sender. The policy asks a person when they differ.
pub(super) fn reply_recipients(mail: &Mail) -> Vec<Address> {
    if mail.reply_to.is_empty() { vec![mail.from.clone()] } else { mail.reply_to.clone() }
}

/// Returns an answer in the program's fixed words: the proposed times, or a gap for the person's own words.
pub(super) fn template_body(input: &ToolInput<'_>, mail: &Mail) -> String {
    let phrases = phrases(input);
    let slots = proposed_slot_lines(input);
    let middle = if slots.is_empty() {
        let asked = input.task.context.more.get("evidence").and_then(Value::as_str).unwrap_or(&input.task.objective);
        format!("{}\n\n> {}\n\n{}", phrases.about, asked.replace('\n', " "), ComposedMessage::GAP)
    } else {
        format!("{}\n\n{}", phrases.slots, slots.join("\n"))
    };
    add_greeting_and_closing(input, mail.from.name.as_deref(), &middle)
}

/// Returns an answer in a model's words. The proposed times and the signature are the program's own.
fn model_worded_body(input: &ToolInput<'_>, words: &ReplyWording) -> String {
    let slots = proposed_slot_lines(input);
    let times = if slots.is_empty() { String::new() } else { format!("\n\n{}", slots.join("\n")) };
    format!("{}\n\n{}{times}\n\n{}\n{}\n", words.greeting, words.text, words.closing, signature(input))
}

/// Returns the times that an earlier step found, one line each.
fn proposed_slot_lines(input: &ToolInput<'_>) -> Vec<String> {
    let output = input.task.tool_output.as_ref().and_then(|output| output.get("propose_time_slots"));
    let slots = output.and_then(|output| output.get("slots")).and_then(Value::as_array);
    let line = |slot: &Value| {
        let start = DateTime::parse_from_rfc3339(slot.get("start")?.as_str()?).ok()?;
        let end = DateTime::parse_from_rfc3339(slot.get("end")?.as_str()?).ok()?;
        Some(format!("- {}", format_time_span(input, &start, &end)))
    };
    slots.map(|slots| slots.iter().filter_map(line).collect()).unwrap_or_default()
}
