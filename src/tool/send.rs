//! `send_reply`, `send_mail` and `forward`: messages that are sent, once the policy or a person allows it.

use serde::Deserialize as _;
use serde_json::{Value, json};

use super::{
    FoundFile, FoundMaterial, Tool, ToolError, ToolInput, ToolOutcome, ToolParameter, WantedMaterial,
    draft_reply::{INCOMPLETE, ONLY_PERSON_ANSWERS, WORDED_BY, mail_to_answer, reply_recipients, template_answer},
    letter::{LetterWording, begin_letter, complete_letter, find_tone},
    message::{OutgoingMessage, add_greeting_and_closing, missing_address_outcome, reply_subject},
};
use crate::model::{
    ActionId, Address, Effect, Mail, Task, TaskContext,
    action::{Argument, ComposedMessage, Origin, ReplacedDraft, SendKind},
    task::{INSTRUCTION, SEND_REPLY},
};

/// Requests a reply: in the person's own words if they gave any, else the draft of an earlier step. A draft that says only
/// a part of the answer is left for the person.
pub(super) struct SendReply;

impl Tool for SendReply {
    fn name(&self) -> &'static str {
        SEND_REPLY
    }

    fn writes_letter(&self, _task: &Task) -> bool {
        true
    }

    fn wanted_material<'a>(&self, task: &'a Task) -> Option<WantedMaterial<'a>> {
        task.context.more.get(TaskContext::FILE)?.as_str().map(WantedMaterial::File)
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        if let Some(yours) = missing_address_outcome(input) {
            return Ok(yours);
        }
        let mail = mail_to_answer(input)?;
        // A promise is kept to whom it was made.
        let to = if input.me.is_me(&mail.from) { mail.to.clone() } else { reply_recipients(mail) };
        let name = to.first().and_then(|to| to.name.as_deref()).or(mail.from.name.as_deref());
        let draft = input.task.tool_output.as_ref().and_then(|output| output.get("draft_reply"));
        let drafted = draft.and_then(|draft| draft.get("draft")).and_then(Value::as_str);
        let is_incomplete = draft.is_some_and(|draft| draft.get(INCOMPLETE).is_some());
        let file = match input.material {
            Some(FoundMaterial::File(file)) => Some(file),
            _ if input.task.context.more.contains_key(TaskContext::FILE) && instruction(input).is_none() => {
                return Ok(ONLY_PERSON_WORKS);
            }
            _ => None,
        };
        let (body, origin) = match (instruction(input), drafted) {
            (None, None) if let Some(file) = file => (file_letter(input, mail, &file.name), Origin::Template),
            (Some(words), _) => (add_greeting_and_closing(input, name, words), Origin::Person),
            (None, _) if is_incomplete => return Ok(ONLY_PERSON_ANSWERS),
            (None, Some(drafted)) => (drafted.to_owned(), draft.map_or(Origin::Template, draft_origin)),
            (None, None) => match template_answer(input, mail).filter(|known| known.is_whole) {
                Some(known) => (known.text, Origin::Template),
                None => return Ok(ONLY_PERSON_ANSWERS),
            },
        };
        let message = OutgoingMessage {
            to,
            subject: reply_subject(&mail.subject),
            body,
            in_reply_to: Some(mail),
            calendar: None,
            files: file.map(FoundFile::to_part).into_iter().collect(),
        }
        .compose(input)?;
        if message.has_gap() {
            return Ok(ToolOutcome::LeftToPerson("the answer needs your words: `adjutant tasks reply`".into()));
        }
        let effect = Effect::Send { kind: SendKind::Reply, message, replaces: earlier_draft(input) };
        Ok(request_send(
            effect,
            &[(Argument::RECIPIENTS, Origin::Mail), ("subject", Origin::Mail), (Argument::TEXT, origin)],
        ))
    }
}

/// The outcome where the file that was to be sent is gone: the work is the person's.
const ONLY_PERSON_WORKS: ToolOutcome = ToolOutcome::ReplacedBy { steps: &[SEND_REPLY], step: "do_the_work" };

/// Returns the letter that a file goes with.
fn file_letter(input: &ToolInput<'_>, mail: &Mail, name: &str) -> String {
    let tone = find_tone(input, mail.from.name.as_deref());
    let phrase = LetterWording::of(&input.facts.language).phrase_for("attached", tone.is_familiar);
    complete_letter(input, &tone, &begin_letter(&tone, phrase).replace("{file}", name))
}

/// Returns whose words a draft holds. A model's words stay a model's when they are sent; an unreadable origin counts as
/// a model.
fn draft_origin(draft: &Value) -> Origin {
    match draft.get(WORDED_BY) {
        None => Origin::Template,
        Some(named) => Origin::deserialize(named).unwrap_or(Origin::Model),
    }
}

/// Returns the draft of an earlier step that this message replaces.
pub(super) fn earlier_draft(input: &ToolInput<'_>) -> Option<ReplacedDraft> {
    let draft = input.task.tool_output.as_ref()?.get("draft_reply")?;
    let text = |key: &str| draft.get(key).and_then(Value::as_str);
    let action_id: ActionId = text("action")?.parse().ok()?;
    Some(ReplacedDraft { action_id, sha256: text("sha256")?.to_owned() })
}

/// Returns what the person told the agent to write.
pub(super) fn instruction<'a>(input: &ToolInput<'a>) -> Option<&'a str> {
    input.task.context.more.get(INSTRUCTION).and_then(Value::as_str).map(str::trim).filter(|words| !words.is_empty())
}

/// Requests a message that opens a conversation, to recipients that a person named.
pub(super) struct SendMail;

impl Tool for SendMail {
    fn name(&self) -> &'static str {
        "send_mail"
    }

    fn purpose(&self) -> &'static str {
        "write a new mail to a person; it waits for the person's approval"
    }

    fn parameters(&self) -> &'static [ToolParameter] {
        const {
            &[
                ToolParameter::recipients("the handles of the recipients, such as P1"),
                ToolParameter::optional("subject", "the subject"),
                ToolParameter::optional("text", "the text, without greeting and closing"),
            ]
        }
    }

    fn needs_account(&self) -> bool {
        true
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        if let Some(yours) = missing_address_outcome(input) {
            return Ok(yours);
        }
        let requested = input.task.context.more.get("message").cloned().unwrap_or_default();
        let to = named_recipients(&requested)?;
        let text = |key: &str| requested.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let words = instruction(input).map_or_else(|| text("text"), str::to_owned);
        let words = if words.trim().is_empty() { ComposedMessage::GAP.to_owned() } else { words };
        let body = add_greeting_and_closing(input, to.first().and_then(|to| to.name.as_deref()), &words);
        let subject =
            Some(text("subject")).filter(|subject| !subject.is_empty()).unwrap_or_else(|| input.task.objective.clone());
        let message = OutgoingMessage { to, subject, body, in_reply_to: None, calendar: None, files: Vec::new() }
            .compose(input)?;
        let effect = Effect::Send { kind: SendKind::New, message, replaces: None };
        Ok(request_send(
            effect,
            &[(Argument::RECIPIENTS, Origin::Person), ("subject", Origin::Person), (Argument::TEXT, Origin::Person)],
        ))
    }
}

/// Requests a forward of the mail's cleaned text, to recipients that a person named. Attachments are not forwarded.
pub(super) struct Forward;

impl Tool for Forward {
    fn name(&self) -> &'static str {
        "forward"
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        if let Some(yours) = missing_address_outcome(input) {
            return Ok(yours);
        }
        let mail = input.mail.ok_or_else(|| ToolError("there is no mail to forward".into()))?;
        let requested = input.task.context.more.get("message").cloned().unwrap_or_default();
        let to = named_recipients(&requested)?;
        let quoted: String = mail.text.lines().map(|line| format!("> {line}\n")).collect();
        let words = instruction(input).unwrap_or_default();
        let words = format!(
            "{words}\n\n{} {} <{}>:\n{quoted}",
            LetterWording::of(&input.facts.language).phrase("forwarded"),
            mail.from.label(),
            mail.from.addr
        );
        let body = add_greeting_and_closing(input, to.first().and_then(|to| to.name.as_deref()), words.trim());
        let subject = format!("Fwd: {}", mail.subject);
        let message = OutgoingMessage { to, subject, body, in_reply_to: None, calendar: None, files: Vec::new() }
            .compose(input)?;
        let effect = Effect::Send { kind: SendKind::Forward, message, replaces: None };
        Ok(request_send(
            effect,
            &[(Argument::RECIPIENTS, Origin::Person), ("subject", Origin::Mail), (Argument::TEXT, Origin::Mail)],
        ))
    }
}

/// Returns the recipients that a person named in the task: `{"to": ["dana@work.example"], …}`. No mail can supply them.
fn named_recipients(requested: &Value) -> Result<Vec<Address>, ToolError> {
    let named = requested.get("to").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let to: Vec<Address> = named
        .iter()
        .filter_map(Value::as_str)
        .map(|addr| Address { name: None, addr: addr.trim().to_ascii_lowercase() })
        .collect();
    if to.is_empty() { Err(ToolError("nobody said who it should go to".into())) } else { Ok(to) }
}

/// Requests the effect. The output of the step is taken from the message itself, so that it shows what is sent.
pub(super) fn request_send(effect: Effect, arguments: &[(&str, Origin)]) -> ToolOutcome {
    let output = effect.message().map_or(Value::Null, |message| {
        let to: Vec<&str> = message.to.iter().map(|to| to.addr.as_str()).collect();
        let mut output = json!({ "to": to, "subject": message.subject, "text": message.body });
        let files = message.attachments.iter().filter(|file| file.content_type != "text/calendar");
        let names: Vec<&str> = files.map(|file| file.name.as_str()).collect();
        if let (Some(fields), false) = (output.as_object_mut(), names.is_empty()) {
            fields.insert("attached".into(), json!(names));
            fields.insert("source".into(), json!("data/files"));
        }
        output
    });
    ToolOutcome::request_effect(effect, output, arguments)
}
