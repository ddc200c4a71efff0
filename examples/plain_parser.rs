//! Runs mail-parser alone over JSON lines. `make eval` compares it with the program's own parsing.

use std::io::{self, BufRead as _, Write as _};

use mail_parser::MessageParser;
use serde_json::{Value, json};

fn main() -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let input: Value = serde_json::from_str(&line?)?;
        let file = input.get("file").and_then(Value::as_str).unwrap_or_default();
        writeln!(out, "{}", parse_to_json(file, &std::fs::read(file)?))?;
        out.flush()?;
    }
    Ok(())
}

/// Returns the fields that are compared, as mail-parser reads them.
fn parse_to_json(file: &str, raw: &[u8]) -> Value {
    let Some(mail) = MessageParser::default().parse(raw) else {
        return json!({ "file": file, "error": "not a mail" });
    };
    json!({
        "file": file,
        "subject": mail.subject(),
        "from_addr": mail.from().and_then(|from| from.first()).and_then(|from| from.address()),
        "date": mail.date().map(mail_parser::DateTime::to_rfc3339),
        "n_attachments": mail.attachment_count(),
        "body": mail.body_text(0),
    })
}
