//! `adjutant eval KIND`: JSON lines in, our answers out, by the product's own code and nothing else.

mod eval_mail;

use serde::Deserialize;
use serde_json::{Value, json};

pub use eval_mail::EvalMail;

use crate::{
    ingest::{TrustedServers, parse_mail_in_full},
    model::text_enum::text_enum,
    reading,
};

text_enum! {
    EvalKind {
        /// `{"id","text"}` → `{"id","pred","score","meeting"}`
        Tasks = "tasks",
        /// `{"id","from","to","date","subject","body"}` → `{"id","task","priority","reason","personal","spam","phishing"}`
        Triage = "triage",
        /// `{"text","lang","now"}` → `{"text","start"}`
        Dates = "dates",
        /// `{"file"}` → what was read in that mail
        Mails = "mails",
        /// `{"id","subject","body"}` → `{"id","pred"}`
        Injection = "injection",
    }
}

#[derive(Deserialize)]
struct TextInput {
    id: Value,
    text: String,
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

/// One line for one line. A line that makes no sense is an error in its place, never a stop.
pub fn evaluate(kind: EvalKind, line: &str) -> Value {
    let outcome = match kind {
        EvalKind::Tasks => serde_json::from_str(line).map(|input| evaluate_text(&input)),
        EvalKind::Triage => serde_json::from_str(line).map(|input: EvalMail| json!(input.triage())),
        EvalKind::Dates => serde_json::from_str(line).map(|input| evaluate_date(&input)),
        EvalKind::Injection => serde_json::from_str(line).map(|input| evaluate_injection(&input)),
        EvalKind::Mails => serde_json::from_str(line).map(|input| evaluate_mail_file(&input)),
    };
    outcome.unwrap_or_else(|error| json!({ "error": format!("not a line for {kind}: {error}") }))
}

fn evaluate_text(input: &TextInput) -> Value {
    let scored = reading::score_text(&input.text);
    json!({ "id": input.id, "pred": scored.pred, "score": scored.score, "meeting": scored.meeting })
}

fn evaluate_date(input: &DateInput) -> Value {
    let start = eval_mail::parse_place_and_time(&input.now).and_then(|(zone, now)| {
        let me = eval_mail::default_profile(zone);
        reading::moment(&input.text, &me, now)
    });
    json!({ "text": input.text, "start": start.map(|start| start.format("%Y-%m-%dT%H:%M:%S").to_string()) })
}

fn evaluate_injection(input: &EvalMail) -> Value {
    let reading = input.read(reading::read);
    json!({ "id": input.id, "pred": reading.warnings.iter().any(|warning| warning.kind == "injection") })
}

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
