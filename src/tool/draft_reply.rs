//! `draft_reply`: a draft of an answer, in the language of the mail, where there is something true and useful to say.

use serde_json::{Value, json};

use super::{
    EarlierAnswer, FoundMaterial, ReplyWording, Tool, ToolError, ToolInput, ToolOutcome, WantedMaterial,
    answer::{KnownAnswer, find_answer, has_answer},
    letter::{LetterWording, Tone, begin_letter, complete_letter, find_tone, is_closing, is_greeting, signature},
    meeting_time::{format_span, proposed_times, taken_reason},
    message::{OutgoingMessage, missing_address_outcome, reply_subject},
};
use crate::model::{
    Address, Effect, Mail, Me, MeetingAnswer, Task, TaskKind,
    action::{Argument, Origin},
    ids::sha256_hex,
    task::{ANSWER_MAIL, SEND_REPLY},
};

/// The field of a draft's output that says whose words it holds, where they are not the program's own.
pub(super) const WORDED_BY: &str = "worded_by";
/// The field of a draft's output which says that the person has to add something before it can be sent.
pub(super) const INCOMPLETE: &str = "incomplete";

/// The outcome where only the person can answer: no draft, and a step of theirs.
pub(super) const ONLY_PERSON_ANSWERS: ToolOutcome =
    ToolOutcome::ReplacedBy { steps: &["draft_reply", SEND_REPLY], step: ANSWER_MAIL };

/// Requests a draft in the drafts folder. Nothing is sent.
pub(super) struct DraftReply;

impl Tool for DraftReply {
    fn name(&self) -> &'static str {
        "draft_reply"
    }

    /// A model does not know why a time is declined.
    fn accepts_wording(&self, task: &Task) -> bool {
        proposed_times(task).is_none_or(|(answer, _)| answer.fixes_time())
    }

    fn writes_letter(&self, task: &Task) -> bool {
        writes_reply(task)
    }

    fn wanted_material<'a>(&self, task: &'a Task) -> Option<WantedMaterial<'a>> {
        let text = |key: &str| task.context.more.get(key).and_then(Value::as_str);
        let is_question = text("kind") == Some(TaskKind::Question.as_str()) && !writes_reply(task);
        text("evidence").filter(|_| is_question).map(WantedMaterial::Answer)
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        if let Some(yours) = missing_address_outcome(input).filter(|_| Me::is_placeholder_sender(input.own)) {
            return Ok(yours);
        }
        let mail = mail_to_answer(input)?;
        let (known, origin) = match input.wording {
            Some(words) => (Some(worded_answer(model_worded_body(input, words))), Origin::Model),
            None => (template_answer(input, mail), Origin::Template),
        };
        let Some(known) = known else { return Ok(ONLY_PERSON_ANSWERS) };
        let message = OutgoingMessage {
            to: reply_recipients(mail),
            subject: reply_subject(&mail.subject),
            body: known.text,
            in_reply_to: Some(mail),
            calendar: None,
            files: Vec::new(),
        }
        .compose(input)?;
        let mut output = json!({
            "subject": message.subject,
            "draft": message.body,
            "action": input.idempotency_key,
            "sha256": sha256_hex(message.mime.as_bytes()),
        });
        let mut add = |name: &str, value: Option<Value>| {
            if let (Value::Object(fields), Some(value)) = (&mut output, value) {
                fields.insert(name.into(), value);
            }
        };
        add(WORDED_BY, (origin == Origin::Model).then(|| json!(origin)));
        let source = earlier_answer(input).filter(|_| origin == Origin::Template);
        add("source", source.map(|answer| json!(describe_source(answer))));
        add(INCOMPLETE, (!known.is_whole).then_some(Value::Bool(true)));
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

/// Returns whether the task tells that there will be something to write in an answer.
pub(super) fn writes_reply(task: &Task) -> bool {
    task.tool_output.as_ref().is_some_and(|output| output.contains_key("propose_time_slots")) || has_answer(task)
}

/// Returns an answer in the program's fixed words: the proposed times, or what is known. None where only the person can
/// answer.
pub(super) fn template_answer(input: &ToolInput<'_>, mail: &Mail) -> Option<KnownAnswer> {
    let tone = find_tone(input, mail.from.name.as_deref());
    let known = proposed_slots(input, &tone)
        .or_else(|| find_answer(input, mail, &tone))
        .or_else(|| earlier_answer(input).map(|answer| KnownAnswer { text: answer_words(answer), is_whole: false }))?;
    Some(KnownAnswer { text: complete_letter(input, &tone, &known.text), ..known })
}

/// Returns what the person answered to the same question before. It was written to somebody else, so it is only a draft.
fn earlier_answer<'a>(input: &ToolInput<'a>) -> Option<&'a EarlierAnswer> {
    match input.material {
        Some(FoundMaterial::Answer(answer)) => Some(answer),
        _ => None,
    }
}

/// Returns the words of an earlier answer, without the greeting and the ending that were for somebody else.
fn answer_words(answer: &EarlierAnswer) -> String {
    let mut lines: Vec<&str> = answer.text.lines().collect();
    let first = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(0);
    if lines.get(first).is_some_and(|line| is_greeting(line)) {
        lines.drain(..=first);
    }
    let closing = lines.iter().rposition(|line| is_closing(line)).filter(|at| *at > 0);
    lines.truncate(closing.unwrap_or(lines.len()));
    lines.join("\n").trim().to_owned()
}

/// Returns where an earlier answer stands, for the person.
fn describe_source(answer: &EarlierAnswer) -> String {
    let at = answer.at.map_or_else(String::new, |at| format!(" of {}", at.day()));
    format!("your answer to {}{at}, mail {}: {}", answer.to, answer.mail_id, answer.subject)
}

/// Returns the words of an answer about the time of a meeting.
fn proposed_slots(input: &ToolInput<'_>, tone: &Tone) -> Option<KnownAnswer> {
    let (answer, _) = proposed_times(input.task)?;
    Some(worded_answer(meeting_words(input, tone, answer, &proposed_slot_lines(input))))
}

/// Returns the sentence that goes with the times of a meeting, and the times.
pub(super) fn meeting_words(input: &ToolInput<'_>, tone: &Tone, answer: MeetingAnswer, lines: &[String]) -> String {
    let name = match answer {
        MeetingAnswer::Offer => "slots",
        MeetingAnswer::Propose if taken_reason(input.task) == Some("outside_hours") => "propose_outside_hours",
        answer => answer.as_str(),
    };
    let phrase = LetterWording::of(&input.facts.language).phrase_for(name, tone.is_familiar);
    format!("{}\n\n{}", begin_letter(tone, phrase), lines.join("\n"))
}

const fn worded_answer(text: String) -> KnownAnswer {
    KnownAnswer { text, is_whole: true }
}

/// Returns an answer in a model's words. The proposed times and the signature are the program's own.
fn model_worded_body(input: &ToolInput<'_>, words: &ReplyWording) -> String {
    let slots = proposed_slot_lines(input);
    let times = if slots.is_empty() { String::new() } else { format!("\n\n{}", slots.join("\n")) };
    format!("{}\n\n{}{times}\n\n{}\n{}\n", words.greeting, words.text, words.closing, signature(input, None))
}

/// Returns the times that an earlier step found, one line each.
fn proposed_slot_lines(input: &ToolInput<'_>) -> Vec<String> {
    let Some((answer, spans)) = proposed_times(input.task) else { return Vec::new() };
    let is_list = answer == MeetingAnswer::Offer || !answer.fixes_time();
    let bullet = if is_list { "- " } else { "" };
    spans.iter().map(|span| format!("{bullet}{}", format_span(input, *span))).collect()
}
