//! `adjutant eval KIND`: JSON lines in, our answers out, by the product's own code and nothing else.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    ingest::{Trust, open_mail},
    model::words::words,
    planner,
};

words! {
    EvalKind {
        /// `{"id","text"}` → `{"id","pred","score","meeting"}`
        Tasks = "tasks",
        /// `{"file"}` → what was read in that mail
        Mails = "mails",
    }
}

#[derive(Deserialize)]
struct Text {
    id: Value,
    text: String,
}

#[derive(Deserialize)]
struct MailFile {
    file: String,
}

/// One line for one line. A line that makes no sense is an error in its place, never a stop.
pub fn evaluate(kind: EvalKind, line: &str) -> Value {
    let outcome = match kind {
        EvalKind::Tasks => serde_json::from_str(line).map(|input| tasks(&input)),
        EvalKind::Mails => serde_json::from_str(line).map(|input| mails(&input)),
    };
    outcome.unwrap_or_else(|error| json!({ "error": format!("not a line for {kind}: {error}") }))
}

fn tasks(input: &Text) -> Value {
    let scored = planner::score_text(&input.text);
    json!({ "id": input.id, "pred": scored.pred, "score": scored.score, "meeting": scored.meeting })
}

fn mails(input: &MailFile) -> Value {
    let opened = std::fs::read(&input.file).map_err(|error| error.to_string());
    let opened = opened.and_then(|raw| open_mail(&raw, &Trust::default()).map_err(|error| error.to_string()));
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
