//! The reader for training and testing: prints signals by name, and answers with other weights than the shipped ones.
//!
//! `reader sentences` prints the signals of the sentences of JSON lines, of a text or of a mail given as fields;
//! `reader mails WEIGHTS` those of whole mails, whose sentences are scored by these weights; `reader eval KIND WEIGHTS`
//! answers like `adjutant eval KIND`; `plan` as a kind takes files. `reader encoder` prints what the encoder says about
//! the sentences of a text. A file as the last word replaces the encoder that is compiled in.

use std::io::{self, BufRead as _, BufWriter, Write as _};

use adjutant::{
    app::{EvalKind, EvalMail, evaluate},
    ingest::{TrustedServers, parse_mail},
    reading::{encoder_scores, mail_signals, read, sentence_signals, use_weights},
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
            if input.get("body").is_some() {
                let mail: EvalMail = serde_json::from_value(input)?;
                return Ok(json!(mail.read(|mail, _| sentence_signals(&mail.text))));
            }
            Ok(json!(sentence_signals(input.get("text").and_then(Value::as_str).unwrap_or_default())))
        }),
        ["mails", weights, encoder @ ..] => {
            load_weights(weights)?;
            load_encoder(encoder)?;
            Box::new(|line| {
                let input: Value = serde_json::from_str(line)?;
                let Some(file) = input.get("file").and_then(Value::as_str) else {
                    let mail: EvalMail = serde_json::from_value(input)?;
                    return Ok(json!(mail.read(mail_signals)));
                };
                let mail = parse_mail(&std::fs::read(file)?, &TrustedServers::default())?;
                Ok(json!(EvalMail::read_mail_as_receiver(&mail, mail_signals)))
            })
        }
        ["encoder", encoder @ ..] => {
            load_encoder(encoder)?;
            Box::new(|line| {
                let input: Value = serde_json::from_str(line)?;
                Ok(json!(encoder_scores(input.get("text").and_then(Value::as_str).unwrap_or_default())))
            })
        }
        ["eval", kind, weights, encoder @ ..] => {
            load_weights(weights)?;
            load_encoder(encoder)?;
            if *kind == "plan" {
                return handle_lines(read_mail_file);
            }
            let kind: EvalKind = kind.parse()?;
            Box::new(move |line| Ok(evaluate(kind, line)))
        }
        _ => bail!("reader sentences | mails WEIGHTS [ENCODER] | eval KIND WEIGHTS [ENCODER] | encoder [ENCODER]"),
    };
    handle_lines(answer)
}

fn load_weights(path: &str) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{path} cannot be read"))?;
    if !use_weights(&text) {
        bail!("the weights were in use already");
    }
    Ok(())
}

/// Replaces the encoder by the file that is named, if one is; `none` stands for no encoder.
fn load_encoder(paths: &[&str]) -> anyhow::Result<()> {
    match paths {
        [] => Ok(()),
        ["none"] => Ok(sentence_encoder::use_no_encoder()?),
        [path] => {
            Ok(sentence_encoder::use_encoder(std::fs::read(path).with_context(|| format!("{path} cannot be read"))?)?)
        }
        _ => bail!("one encoder at most"),
    }
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
