//! Recognises bulk and automatic mail by its headers.

use super::mime::Headers;

/// Returns the first header that marks a mail as bulk or automatic, as a person would look it up: `List-Unsubscribe`,
/// `Precedence: bulk`.
pub(super) fn bulk_header(headers: &Headers<'_>) -> Option<String> {
    for name in ["List-Unsubscribe", "List-Id", "List-Post", "Feedback-ID", "X-Campaign-ID", "X-Mailgun-Batch-Id"] {
        if headers.first(name).is_some_and(|value| !value.trim_ascii().is_empty()) {
            return Some(name.to_owned());
        }
    }
    let precedence = first_word(headers, "Precedence");
    if matches!(precedence.as_str(), "bulk" | "list" | "junk") {
        return Some(format!("Precedence: {precedence}"));
    }
    let submitted = first_word(headers, "Auto-Submitted");
    if !submitted.is_empty() && submitted != "no" {
        return Some(format!("Auto-Submitted: {submitted}"));
    }
    // The null sender, used by delivery reports and other automatic mail that must not be answered.
    headers.first("Return-Path").filter(|path| path.trim_ascii() == b"<>").map(|_| "Return-Path: <>".to_owned())
}

/// Returns the identifier of the mailing list in lower case.
pub(super) fn list_id(headers: &Headers<'_>) -> Option<String> {
    let text = headers.text("List-Id")?;
    let inside = text.rsplit_once('<').map_or(text.as_str(), |(_, id)| id.split('>').next().unwrap_or(id));
    let id: String = inside.chars().filter(|c| !c.is_whitespace() && !c.is_control()).take(200).collect();
    Some(id.to_lowercase()).filter(|id| !id.is_empty())
}

/// Returns the first word of a field in lower case; empty without one.
fn first_word(headers: &Headers<'_>, name: &str) -> String {
    let text = headers.text(name).unwrap_or_default();
    let word = text.split(|c: char| c.is_whitespace() || c == ';').next().unwrap_or_default();
    word.chars().filter(|c| c.is_ascii_graphic()).take(40).collect::<String>().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_bulk_and_machines() {
        for (raw, bulk, list) in [
            ("Subject: a\n", None, None),
            ("List-Unsubscribe: <mailto:x>\n", Some("List-Unsubscribe"), None),
            ("List-Unsubscribe:\n", None, None),
            ("Precedence: BULK\n", Some("Precedence: bulk"), None),
            ("Precedence: first-class\n", None, None),
            ("Auto-Submitted: no\n", None, None),
            ("Auto-Submitted: auto-replied (vacation)\n", Some("Auto-Submitted: auto-replied"), None),
            ("X-Auto-Response-Suppress: All\n", None, None),
            ("Feedback-ID: 1:2:x\n", Some("Feedback-ID"), None),
            ("Return-Path: <>\n", Some("Return-Path: <>"), None),
            ("List-Id: Dev talk <Dev.Lists.Example>\n", Some("List-Id"), Some("dev.lists.example")),
            ("List-Id: bare.example\n", Some("List-Id"), Some("bare.example")),
        ] {
            let headers = Headers::parse(raw.as_bytes(), 0).0;
            assert_eq!((bulk_header(&headers).as_deref(), list_id(&headers).as_deref()), (bulk, list), "{raw}");
        }
    }
}
