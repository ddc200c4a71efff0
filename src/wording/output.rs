//! What the tools of a task found out, in lines that a person reads.

use chrono::DateTime;
use chrono_tz::Tz;
use serde_json::{Map, Value};

use super::{description::localise_times, escape_and_truncate};

/// The fields of an output that say how a step went; the effects of the task say it already.
const NOT_FOUND_OUT: [&str; 5] = ["action", "applied", "sha256", "withheld", "parked"];
/// The most lines of a text that are shown.
const MOST_LINES: usize = 20;
/// The longest line.
const LONGEST: usize = 200;

/// Returns the outputs of the steps, one line or more for each. Text in them may come from a mail and is made safe.
pub fn describe_output(output: Option<&Map<String, Value>>, zone: Tz) -> Vec<String> {
    let mut lines = Vec::new();
    for (step, value) in output.into_iter().flatten() {
        let fields = value.as_object().into_iter().flatten();
        let found = fields.filter(|(name, value)| !NOT_FOUND_OUT.contains(&name.as_str()) && !value.is_null());
        for (name, value) in found {
            let title = format!("{step}, {}", name.replace('_', " "));
            match value {
                Value::String(text) if text.contains('\n') => {
                    lines.push(format!("{title}:"));
                    let text = text.lines().take(MOST_LINES);
                    lines.extend(text.map(|line| format!("  {}", escape_and_truncate(line, LONGEST))));
                }
                value => lines.push(format!("{title}: {}", escape_and_truncate(&describe_value(value, zone), LONGEST))),
            }
        }
    }
    lines
}

/// Returns a value in one line: lists separated by semicolons, a start and an end as a span of time.
fn describe_value(value: &Value, zone: Tz) -> String {
    match value {
        Value::String(text) => localise_times(text, zone),
        Value::Array(values) => values.iter().map(|value| describe_value(value, zone)).collect::<Vec<_>>().join("; "),
        Value::Object(fields) => describe_span(fields, zone).unwrap_or_else(|| {
            let fields = fields.iter().map(|(name, value)| format!("{name} {}", describe_value(value, zone)));
            fields.collect::<Vec<_>>().join(", ")
        }),
        other => other.to_string(),
    }
}

/// Returns "Thu 19 Nov 2026, 10:00–10:30" for an object that has nothing but a start and an end.
fn describe_span(fields: &Map<String, Value>, zone: Tz) -> Option<String> {
    let time = |name: &str| {
        let text = fields.get(name)?.as_str()?;
        Some(DateTime::parse_from_rfc3339(text).ok()?.with_timezone(&zone))
    };
    let (start, end) = (time("start")?, time("end")?);
    (fields.len() == 2).then(|| format!("{}–{}", start.format("%a %d %b %Y, %H:%M"), end.format("%H:%M")))
}

#[cfg(test)]
mod tests {
    use chrono_tz::Europe::Berlin;
    use serde_json::json;

    use super::*;

    #[test]
    fn outputs_are_read_as_sentences() {
        let output = json!({
            "propose_time_slots": { "slots": [{ "start": "2026-11-19T09:00:00Z", "end": "2026-11-19T09:30:00Z" }] },
            "record_invoice": { "amount": 12.5, "due": "2026-11-27", "applied": "recorded" },
            "summarise_thread": { "summary": "one\ntwo\u{1b}[31m" },
        });
        assert_eq!(
            describe_output(output.as_object(), Berlin),
            [
                "propose_time_slots, slots: Thu 19 Nov 2026, 10:00–10:30",
                "record_invoice, amount: 12.5",
                "record_invoice, due: 2026-11-27",
                "summarise_thread, summary:",
                "  one",
                &format!("  {}", escape_and_truncate("two\u{1b}[31m", LONGEST)),
            ]
        );
    }
}
