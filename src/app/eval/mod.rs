//! `adjutant eval KIND`: reads JSON lines and prints the product's answers, by the code that reads mail and nothing
//! else. Nothing here may exist only to be scored: a figure must measure what a mail goes through.

mod eval_mail;

use serde::Deserialize;
use serde_json::{Value, json};

pub use eval_mail::EvalMail;
pub(in crate::app) use eval_mail::mail_from_colleague;

use crate::{
    assistant::{
        ChatLanguage,
        intent::{IntentContext, classify},
    },
    ingest::{TrustedServers, parse_mail_in_full},
    model::{WarningKind, text_enum::text_enum},
    planner::call_reader::read_model_json,
    reading,
};

text_enum! {
    EvalKind {
        /// `{"id","text"}` → `{"id","pred","score","meeting"}`
        Tasks = "tasks",
        /// `{"id","from","to","date","subject","body"}` →
        /// `{"id","task","priority","reason","personal","spam","phishing"}`
        Triage = "triage",
        /// `{"id","text"}` → `{"id","intent"}`
        Intents = "intents",
        /// `{"text","lang","now"}` → `{"text","start"}`
        Dates = "dates",
        /// `{"file"}` → what was read in that mail
        Mails = "mails",
        /// `{"id","subject","body"}` → `{"id","pred"}`
        Injection = "injection",
        /// `{"id","input"}` → `{"id","value"}` or `{"id","error"}`
        Calls = "calls",
    }
}

#[derive(Deserialize)]
struct TextInput {
    id: Value,
    text: String,
}

#[derive(Deserialize)]
struct ModelText {
    id: Value,
    input: String,
}

#[derive(Deserialize)]
struct DateInput {
    text: String,
    now: String,
}

#[derive(Deserialize)]
struct MailFile {
    file: String,
}

/// Returns one line for one line. A line that cannot be read gives an error in its place, and the rest goes on.
pub fn evaluate(kind: EvalKind, line: &str) -> Value {
    let outcome = match kind {
        EvalKind::Tasks => serde_json::from_str(line).map(|input| evaluate_text(&input)),
        EvalKind::Triage => serde_json::from_str(line).map(|input: EvalMail| json!(input.triage())),
        EvalKind::Intents => serde_json::from_str(line).map(|input| evaluate_message(&input)),
        EvalKind::Dates => serde_json::from_str(line).map(|input| evaluate_date(&input)),
        EvalKind::Injection => serde_json::from_str(line).map(|input| evaluate_injection(&input)),
        EvalKind::Calls => serde_json::from_str(line).map(|input| evaluate_calls(&input)),
        EvalKind::Mails => serde_json::from_str(line).map(|input| evaluate_mail_file(&input)),
    };
    outcome.unwrap_or_else(|error| json!({ "error": format!("not a line for {kind}: {error}") }))
}

/// Reads the text as the body of a mail from somebody, exactly as `plan_step` reads it.
fn evaluate_text(input: &TextInput) -> Value {
    let reading = eval_mail::read_text(&input.text, reading::read_twice);
    json!({ "id": input.id, "pred": !reading.tasks.is_empty(), "score": reading.score, "meeting": reading.meeting })
}

/// Reads the text as the first message of a conversation in the direct profile.
fn evaluate_message(input: &TextInput) -> Value {
    let context = IntentContext::fresh(ChatLanguage::detect(&input.text, ChatLanguage::English));
    json!({ "id": input.id, "intent": classify(&input.text, &context).intent })
}

/// Reads a date in a text, relative to a given time.
fn evaluate_date(input: &DateInput) -> Value {
    let start = eval_mail::parse_place_and_time(&input.now).and_then(|(zone, now)| {
        let me = eval_mail::default_profile(zone);
        reading::moment(&input.text, &me, now)
    });
    json!({ "text": input.text, "start": start.map(|start| start.format("%Y-%m-%dT%H:%M:%S").to_string()) })
}

/// Returns whether the mail is flagged as giving orders to the agent.
fn evaluate_injection(input: &EvalMail) -> Value {
    let reading = input.read(reading::read_twice);
    json!({ "id": input.id, "pred": reading.has_warning(WarningKind::Injection) })
}

/// Reads the JSON in a model's text, exactly as the calls of a step are read from it.
fn evaluate_calls(input: &ModelText) -> Value {
    match read_model_json(&input.input) {
        Ok(value) => json!({ "id": input.id, "value": value }),
        Err(error) => json!({ "id": input.id, "error": error.to_string() }),
    }
}

/// Parses a raw mail file, and returns the parts that a test compares.
fn evaluate_mail_file(input: &MailFile) -> Value {
    let opened = std::fs::read(&input.file).map_err(|error| error.to_string());
    let opened =
        opened.and_then(|raw| parse_mail_in_full(&raw, &TrustedServers::default()).map_err(|error| error.to_string()));
    match opened {
        Err(error) => json!({ "file": input.file, "error": error }),
        Ok(opened) => json!({
            "file": input.file,
            "subject": opened.mail.subject,
            "from_addr": opened.mail.from.addr,
            "date": opened.mail.date,
            "n_attachments": opened.mail.attachments.len(),
            "body": opened.body,
            "reply": opened.mail.text,
            "signature": opened.mail.signature,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-06-16T10:30:00Z";

    fn deadline_of_mail(request: &str, expression: &str) -> Option<String> {
        let mail: EvalMail = serde_json::from_value(json!({
            "id": 1, "from": "Tom <tom@bakerand.example>", "to": "Alex Green <alex@home.example>", "date": NOW,
            "subject": "The report", "body": format!("{request} {expression}.\n"),
        }))
        .unwrap();
        mail.read(|mail, context| reading::read_twice(mail, context).tasks.first()?.deadline.clone())
    }

    fn check_deadline(request: &str, text: &str) {
        let line = json!({ "text": text, "now": NOW }).to_string();
        let scored = evaluate(EvalKind::Dates, &line);
        let start = scored["start"].as_str().unwrap_or_else(|| panic!("{text} is not read"));
        let deadline = deadline_of_mail(request, text).unwrap_or_else(|| panic!("{text} is no deadline"));
        let wanted = start.strip_suffix("T00:00:00").unwrap_or(start);
        assert!(deadline.starts_with(wanted), "{text}: {start} and {deadline}");
    }

    /// Whatever `eval dates` understands, a mail's deadline does too: both go through the same parser.
    #[test]
    fn a_date_that_is_scored_is_the_deadline_of_a_mail() {
        for text in [
            "today",
            "tomorrow",
            "the day after tomorrow",
            "on Thursday",
            "this Monday",
            "next Wednesday",
            "wednesday next week",
            "friday after next",
            "Tuesday the 23rd",
            "Thu 18th",
            "on the 24th",
            "june 23",
            "the first of July",
            "31st Oct 2026",
            "Sep 21",
            "Fri, Jul 17, 2026 07:00 PM",
            "2026-07-03",
            "30/Oct/2026",
            "20th of the next month",
            "the first Monday of September",
            "last day in october 2026",
            "last friday in october",
            "in 24 hours",
            "in half an hour",
            "in 2.5 hours",
            "in two weeks",
            "in three months",
            "at 3pm",
            "3:30pm",
            "at 13h30",
            "at noon",
            "a quarter past 1pm",
            "at half past three pm",
            "15 minutes past noon",
            "tomorrow at 9:30",
            "at 5pm tomorrow",
            "9am on Saturday",
            "tonight at 11",
            "tomorrow evening at 5",
            "Thursday 8:00 GMT",
            "Thursday 9 am (BST)",
            "Thursday at 9:30pm ist",
            "מחר ב-10:00",
            "ביום חמישי",
            "ביום ראשון בשמונה בבוקר",
            "ב-23 ביולי 2026",
            "בעוד שבועיים",
        ] {
            check_deadline("Please send it", text);
        }
        for text in
            ["übermorgen um 9 Uhr", "am Montag, den 22. Juni um 14 Uhr", "Dienstag nächster Woche", "in zwei Wochen"]
        {
            check_deadline("Bitte schick den Bericht", text);
        }
    }

    #[test]
    fn an_offset_is_the_place_of_the_person() {
        for (now, start) in [("2026-06-16T10:30:00-02:00", "2026-06-18T06:00:00"), (NOW, "2026-06-18T08:00:00")] {
            let scored = evaluate(EvalKind::Dates, &json!({ "text": "Thursday 8:00 GMT", "now": now }).to_string());
            assert_eq!(scored["start"], start);
        }
    }
}
