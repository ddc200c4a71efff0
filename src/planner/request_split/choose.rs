//! The tool that does a step, by the words of the step.

use serde_json::{Map, Value, json};

use crate::{
    model::plan::ToolCall,
    planner::complexity::{RequestWord, skip_politeness, split_words},
    policy::recipient::normalise_address,
};

/// Returns the call that does an instruction; none when the words name no tool for certain.
pub fn choose_call(instruction: &str) -> Option<ToolCall> {
    let instruction = without_order(instruction);
    let all = split_words(instruction);
    let words = skip_politeness(&all);
    let verb = words.first()?.text.as_ref();
    let rest = words.get(1..).unwrap_or_default();
    let has = |wanted: &[&str]| rest.iter().any(|word| wanted.contains(&word.text.as_ref()));
    if is_one_of(
        verb,
        &["create", "make", "add", "צור", "צרי", "תיצור", "תיצרי", "פתח", "פתחי", "תפתח", "הוסף", "הוסיפי"],
    ) && has(&["folder", "תיקייה", "תיקיה"])
    {
        return Some(call("create_folder", json!({ "name": folder_name(instruction)? })));
    }
    if is_one_of(verb, &["remind", "הזכר", "הזכירי", "תזכיר", "תזכירי", "להזכיר"]) {
        return Some(call("remind", json!({ "text": super::without_politeness(instruction) })));
    }
    if is_one_of(verb, COLLECT) && has(&["invoice", "invoices", "חשבונית", "חשבוניות", "החשבוניות"])
    {
        return Some(call("collect_invoices", json!({ "period": instruction })));
    }
    if is_one_of(verb, WRITE) {
        return write_call(instruction, words);
    }
    if is_one_of(verb, &["find", "search", "look", "חפש", "חפשי", "תחפש", "תחפשי", "מצא", "מצאי", "תמצא", "תמצאי"])
    {
        let query = search_words(instruction, words)?;
        return Some(call("find", json!({ "words": query })));
    }
    None
}

/// Returns an instruction without what it says at its end about the steps before it.
fn without_order(instruction: &str) -> &str {
    let lower = instruction.to_ascii_lowercase();
    let cut = [" after step", " אחרי שלב", " אחרי צעד"].iter().filter_map(|order| lower.find(order)).min();
    let text = cut.and_then(|cut| instruction.get(..cut)).unwrap_or(instruction);
    text.trim_end().trim_end_matches(',')
}

const COLLECT: &[&str] = &[
    "collect",
    "gather",
    "list",
    "find",
    "get",
    "אסוף",
    "אספי",
    "תאסוף",
    "תאספי",
    "רכז",
    "רכזי",
    "מצא",
    "מצאי",
    "תמצא",
];
const WRITE: &[&str] = &[
    "send",
    "draft",
    "write",
    "email",
    "mail",
    "שלח",
    "שלחי",
    "תשלח",
    "תשלחי",
    "נסח",
    "נסחי",
    "תנסח",
    "תנסחי",
    "כתוב",
    "כתבי",
    "תכתוב",
    "תכתבי",
];

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.contains(&word)
}

fn call(tool: &str, arguments: Value) -> ToolCall {
    let arguments = if let Value::Object(arguments) = arguments { arguments } else { Map::new() };
    ToolCall { tool: tool.to_owned(), arguments }
}

/// Returns the call that writes a mail to somebody whom the instruction names behind "to", or by an address.
fn write_call(instruction: &str, words: &[RequestWord<'_>]) -> Option<ToolCall> {
    let to = named_address(instruction).or_else(|| named_person(instruction, words))?;
    Some(call("send_mail", json!({ "to": [to], "subject": subject_of(instruction) })))
}

/// Returns an address that stands in the text.
fn named_address(instruction: &str) -> Option<String> {
    instruction.split_whitespace().find_map(|word| {
        normalise_address(word.trim_matches(|c: char| matches!(c, ',' | ';' | '<' | '>' | '(' | ')' | '"' | '.')))
    })
}

/// Returns the person behind the last "to": one or two capitalised words, or a Hebrew word with its prefix.
fn named_person(instruction: &str, words: &[RequestWord<'_>]) -> Option<String> {
    let written = |word: &RequestWord<'_>| instruction.get(word.start..word.end).unwrap_or_default();
    let is_name = |word: &&RequestWord<'_>| written(word).starts_with(char::is_uppercase);
    if let Some(to) = words.iter().rposition(|word| word.text == "to") {
        let name: Vec<&str> = words.get(to + 1..)?.iter().take(2).take_while(is_name).map(written).collect();
        if !name.is_empty() {
            return Some(name.join(" "));
        }
    }
    if let Some(name) = words.get(1).filter(is_name).filter(|_| !words.iter().any(|word| word.text == "to")) {
        return Some(written(name).to_owned());
    }
    let last =
        words.iter().rev().find_map(|word| word.text.strip_prefix('ל').filter(|name| name.chars().count() >= 2))?;
    Some(last.to_owned())
}

/// Returns the subject of a mail: what the instruction says behind its verb, without the recipient.
fn subject_of(instruction: &str) -> String {
    let text = super::describe(instruction);
    let text = text.split_once(' ').map_or("", |(_, rest)| rest);
    let text = [" to ", " ל"].iter().find_map(|to| Some(text.rsplit_once(to)?.0)).unwrap_or(text);
    let text =
        ["a ", "an ", "the ", "me ", "את ה"].iter().find_map(|article| text.strip_prefix(article)).unwrap_or(text);
    let mut chars = text.trim().chars();
    chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect()
}

/// Returns what is searched for: the words behind the verb, without "for", articles and what the mail is stored as.
fn search_words(instruction: &str, words: &[RequestWord<'_>]) -> Option<String> {
    let fillers = [
        "for", "up", "the", "a", "an", "all", "my", "mail", "mails", "email", "emails", "about", "from", "את", "כל",
        "על",
    ];
    let first = words.get(1..)?.iter().find(|word| !fillers.contains(&word.text.as_ref()))?;
    let query = instruction.get(first.start..)?.trim_end_matches(['.', ',', '!', '?', ' ']);
    (!query.is_empty()).then(|| query.to_owned())
}

/// Returns the name of a folder: in quotes, or behind "folder", "called", "named", "for".
fn folder_name(instruction: &str) -> Option<String> {
    let after = ["folder", "תיקייה", "תיקיה"].iter().find_map(|word| {
        let at = instruction.to_ascii_lowercase().find(word)?;
        instruction.get(at + word.len()..)
    })?;
    let mut rest = after.trim();
    for filler in ["called", "named", "for", "בשם", "עבור"] {
        rest = rest.strip_prefix(filler).filter(|rest| rest.starts_with(' ')).map_or(rest, str::trim);
    }
    let quoted = rest.split(['"', '“', '”', '\'']).nth(1).filter(|_| rest.starts_with(['"', '“', '\'']));
    let name = quoted.unwrap_or(rest).trim().trim_end_matches(['.', ',', '!', '?', ';']);
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(instruction: &str, wanted: Option<(&str, Value)>) {
        let found = choose_call(instruction).map(|call| (call.tool, Value::Object(call.arguments)));
        assert_eq!(found, wanted.map(|(tool, arguments)| (tool.to_owned(), arguments)), "{instruction}");
    }

    #[test]
    fn tools_are_chosen_by_words() {
        check("Create folder TestFolder", Some(("create_folder", json!({ "name": "TestFolder" }))));
        check("create a folder called \"Taxes 2026\".", Some(("create_folder", json!({ "name": "Taxes 2026" }))));
        check("create folder Two after step 3", Some(("create_folder", json!({ "name": "Two" }))));
        check("צור תיקייה בשם חשבונות", Some(("create_folder", json!({ "name": "חשבונות" }))));
        check("remind me Friday", Some(("remind", json!({ "text": "remind me Friday" }))));
        check(
            "collect last month's invoices",
            Some(("collect_invoices", json!({ "period": "collect last month's invoices" }))),
        );
        check("draft a summary to Dana", Some(("send_mail", json!({ "to": ["Dana"], "subject": "Summary" }))));
        check(
            "send the report to dana@work.example",
            Some(("send_mail", json!({ "to": ["dana@work.example"], "subject": "Report" }))),
        );
        check("שלח סיכום לדנה", Some(("send_mail", json!({ "to": ["דנה"], "subject": "סיכום" }))));
        check("find the mails about the contract", Some(("find", json!({ "words": "contract" }))));
        check("look for the lease", Some(("find", json!({ "words": "lease" }))));
        check("create a folder", None);
        check("call the bank", None);
        check("send the report", None);
        check("", None);
    }
}
