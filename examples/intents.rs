//! The classification of messages for training and testing: `intents signals` prints what the weights see of the
//! messages of JSON lines, `intents classify WEIGHTS` what is decided with other weights than the shipped ones.

use std::io::{self, BufRead as _, BufWriter, Write as _};

use adjutant::assistant::{
    ChatLanguage,
    intent::{IntentContext, classify, clause_signals, use_intent_weights},
};
use anyhow::{Context as _, bail};
use serde_json::{Value, json};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer: fn(&str, &IntentContext) -> Value = match words.as_slice() {
        ["signals"] => |text, context| json!(clause_signals(text, context)),
        ["classify", weights] => {
            let text = std::fs::read_to_string(weights).with_context(|| format!("{weights} cannot be read"))?;
            if !use_intent_weights(&text) {
                bail!("the weights were in use already");
            }
            |text, context| {
                let reading = classify(text, context);
                let parts = |clause: &adjutant::assistant::intent::ClauseReading| {
                    let part = |range: &std::ops::Range<usize>| text.get(range.clone()).unwrap_or_default().to_owned();
                    json!([clause.intent, clause.evidence, part(&clause.trigger), part(&clause.rest)])
                };
                let clauses: Vec<Value> = reading.clauses.iter().map(parts).collect();
                json!({ "intent": reading.intent, "confidence": reading.confidence, "clauses": clauses })
            }
        }
        _ => bail!("intents signals | classify WEIGHTS"),
    };
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let input: Value = serde_json::from_str(&line?)?;
        let text = input.get("text").and_then(Value::as_str).unwrap_or_default();
        let context = IntentContext::fresh(ChatLanguage::detect(text, ChatLanguage::English));
        writeln!(out, "{}", answer(text, &context))?;
    }
    Ok(out.flush()?)
}
