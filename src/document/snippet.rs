//! Snippets: the pieces of a task or a mail of which vectors are computed.

use chrono::NaiveDate;
use serde_json::Value;

use crate::model::{Mail, Task, TaskContext};

/// The longest snippet. The vector of a text is the mean of its words, so in a long text no word counts any more.
const MAX_CHARS: usize = 800;
/// The length of a date such as 2026-11-20, with which every stored deadline begins.
const ISO_DATE_CHARS: usize = 10;

/// Returns the snippets of a task: what is to be done, and what is known about it.
pub fn of_task(task: &Task) -> Vec<String> {
    [task.objective.as_str(), &context_text(&task.context)]
        .map(truncate_snippet)
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns what is known about a task as text, a line each: people, evidence, amount, invoice number, dates, and what
/// was said about it since. Empty when nothing is known. A date stands as it is stored and in words.
pub fn context_text(context: &TaskContext) -> String {
    let text = |key: &str| context.more.get(key).and_then(Value::as_str).map(str::to_owned);
    let happens_at = text(TaskContext::HAPPENS_AT);
    let dates = [context.deadline.as_ref(), happens_at.as_ref()];
    let mut lines: Vec<String> = context.person.iter().chain(&context.description).cloned().collect();
    lines.extend(text("evidence"));
    lines.extend(amount_text(context));
    lines.extend(text("invoice_number"));
    lines.extend(dates.into_iter().flatten().map(|date| date_text(date)));
    lines.extend(context.meeting_duration.clone());
    lines.extend(context.notes().into_iter().rev().map(|note| format!("{}: {}", note.who, note.text)));
    lines.retain(|line| !line.trim().is_empty());
    lines.join("\n")
}

/// Returns the amount with its currency, without cents where there are none: "1250 EUR".
fn amount_text(context: &TaskContext) -> Option<String> {
    let amount = context.more.get("amount").and_then(Value::as_f64)?;
    let digits = format!("{amount:.2}");
    let digits = digits.strip_suffix(".00").unwrap_or(&digits);
    let currency = context.more.get("currency").and_then(Value::as_str).unwrap_or_default();
    Some(format!("{digits} {currency}").trim().to_owned())
}

/// Returns a stored date followed by its words: "2026-11-20 Friday 20 November 2026". A text that is no date stays as it
/// is.
fn date_text(date: &str) -> String {
    let day = date.get(..ISO_DATE_CHARS).and_then(|day| day.parse::<NaiveDate>().ok());
    day.map_or_else(|| date.to_owned(), |day| format!("{date} {}", day.format("%A %-d %B %Y")))
}

/// Returns the one snippet of a mail: its subject and the beginning of its text.
pub fn of_mail(mail: &Mail) -> Vec<String> {
    let whole = format!("{}\n{}", mail.subject.trim(), truncate_snippet(&mail.text));
    vec![truncate_snippet(&whole).to_owned()]
}

fn truncate_snippet(text: &str) -> &str {
    truncate_chars(text.trim(), MAX_CHARS)
}

/// Returns the first `most` characters of a text.
pub fn truncate_chars(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    // In ASCII, bytes are characters.
    if let Some((first, _)) = text.split_at_checked(most).filter(|(first, _)| first.is_ascii()) {
        return first;
    }
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn task(context: Value) -> Task {
        serde_json::from_value(json!({
            "task_id": "01JYD3A8P0WQ5M4T6R2P0N1M4K", "created_at": "2026-11-16T08:00:00Z", "source": "chat:1",
            "objective": "Pay the bill", "priority": "low", "status": "NEW", "last_updated": "2026-11-16T08:00:00Z",
            "context": context,
        }))
        .unwrap()
    }

    #[test]
    fn the_second_snippet_of_a_task_is_all_that_is_known_about_it() {
        let context = json!({
            "person": "Dr. Anna Smith", "threads": ["<one@a.example>"], "deadline": "2026-11-20T17:00:00+01:00",
            "meeting_duration": "30m", "evidence": "please settle our invoice", "amount": 1250.0, "currency": "EUR",
            "invoice_number": "2041", "kind": "invoice", "happens_at": "2026-12-01T09:00:00Z",
            "notes": [{ "who": "Tom", "at": "2026-11-17T08:00:00Z", "text": "the desk is blue" }],
            "instruction": "say nothing of this",
        });
        let expected = [
            "Dr. Anna Smith",
            "please settle our invoice",
            "1250 EUR",
            "2041",
            "2026-11-20T17:00:00+01:00 Friday 20 November 2026",
            "2026-12-01T09:00:00Z Tuesday 1 December 2026",
            "30m",
            "Tom: the desk is blue",
        ];
        assert_eq!(of_task(&task(context)), ["Pay the bill", &expected.join("\n")]);
    }

    #[test]
    fn a_task_typed_by_hand_has_what_it_has() {
        assert_eq!(of_task(&task(json!({}))), ["Pay the bill"]);
        let dated = of_task(&task(json!({ "deadline": "2026-11-20" })));
        assert_eq!(dated, ["Pay the bill", "2026-11-20 Friday 20 November 2026"]);
        let odd = json!({ "deadline": "some day", "amount": 12.5, "evidence": 7, "notes": "none" });
        assert_eq!(of_task(&task(odd)), ["Pay the bill", "12.50\nsome day"]);
    }
}
