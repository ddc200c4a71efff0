//! The reader for training and testing: prints signals by name, and answers with other weights than the shipped ones.
//!
//! `reader sentences|mails` prints the signals of JSON lines. `reader eval KIND WEIGHTS` answers like `adjutant eval
//! KIND`; the kind `plan` takes files.

use std::io::{self, BufRead as _, BufWriter, Write as _};

use adjutant::{
    app::{EvalKind, EvalMail, evaluate},
    ingest::{TrustedServers, parse_mail},
    reading::{mail_signals, read, sentence_signals, use_weights},
};
use anyhow::{Context as _, bail};
use serde_json::{Value, json};

/// Answers one input line with one output line.
type LineHandler = dyn Fn(&str) -> anyhow::Result<Value>;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer: Box<LineHandler> = match words.as_slice() {
        ["sentences"] => Box::new(|line| {
            let input: Value = serde_json::from_str(line)?;
            Ok(json!(sentence_signals(input.get("text").and_then(Value::as_str).unwrap_or_default())))
        }),
        ["mails"] => Box::new(|line| {
            let input: Value = serde_json::from_str(line)?;
            let Some(file) = input.get("file").and_then(Value::as_str) else {
                let letter: EvalMail = serde_json::from_value(input)?;
                return Ok(json!(letter.read(mail_signals)));
            };
            let mail = parse_mail(&std::fs::read(file)?, &TrustedServers::default())?;
            Ok(json!(EvalMail::read_mail_as_receiver(&mail, mail_signals)))
        }),
        ["eval", kind, weights] => {
            let text = std::fs::read_to_string(weights).with_context(|| format!("{weights} cannot be read"))?;
            if !use_weights(&text) {
                bail!("the weights were in use already");
            }
            if *kind == "plan" {
                return handle_lines(read_mail_file);
            }
            let kind: EvalKind = kind.parse()?;
            Box::new(move |line| Ok(evaluate(kind, line)))
        }
        _ => bail!("reader sentences | mails | eval KIND WEIGHTS"),
    };
    handle_lines(answer)
}

/// Answers every line of stdin on stdout.
fn handle_lines(answer: impl Fn(&str) -> anyhow::Result<Value>) -> anyhow::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        writeln!(out, "{}", answer(&line?)?)?;
    }
    Ok(out.flush()?)
}

/// Answers whether the mail in a file becomes a task, and why.
fn read_mail_file(line: &str) -> anyhow::Result<Value> {
    let input: Value = serde_json::from_str(line)?;
    let file = input.get("file").and_then(Value::as_str).unwrap_or_default();
    let mail = parse_mail(&std::fs::read(file)?, &TrustedServers::default())?;
    let reading = EvalMail::read_mail_as_receiver(&mail, read);
    Ok(json!({ "file": file, "is_task": !reading.tasks.is_empty(), "reason": reading.reason }))
}
