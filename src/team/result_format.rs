//! Whether the result of a worker has the form that was asked for, and whether it holds data rather than a mention of
//! data. A difference is a warning; it never keeps a result from its manager.

use serde_json::Value;

/// The length below which a result without data may be only a summary, in characters.
const SHORT_RESULT: usize = 160;
/// Words by which a result refers to something that its reader cannot see.
const REFERENCES: [&str; 8] = [
    "listed above",
    "shown above",
    "see above",
    "as above",
    "see the result",
    "see the query",
    "see the tool",
    "the tool result",
];

/// Returns how a result differs from the expected format; none when it does not.
pub(super) fn check_result(result: &str, expected_format: Option<&str>) -> Option<String> {
    let lower = result.to_lowercase();
    if REFERENCES.iter().any(|reference| lower.contains(reference)) {
        return Some("the result refers to something that is not in it".into());
    }
    let expected = expected_format.unwrap_or_default().to_lowercase();
    if expected.contains("json") {
        return check_json(result, &expected);
    }
    if expected.contains("table") && !has_table(result) {
        return Some("a table was expected, and there is none".into());
    }
    // "I found 5 mails." says how many there are and not which.
    let is_short = result.chars().count() < SHORT_RESULT && !result.contains('\n');
    let announces = ["i found ", "found ", "there are ", "there were "].iter().any(|start| lower.starts_with(start));
    let has_data = result.contains(':') || result.contains('[') || result.contains('|');
    let counts = lower.split_whitespace().any(|word| word.parse::<u32>().is_ok_and(|count| count > 0));
    (is_short && announces && counts && !has_data)
        .then(|| "the result counts what was found and does not list it".into())
}

fn check_json(result: &str, expected: &str) -> Option<String> {
    let Some(value) = find_json(result) else { return Some("JSON was expected, and there is none".into()) };
    (expected.contains("array") && !value.is_array()).then(|| "a JSON array was expected".into())
}

/// Returns the JSON of a result: the whole text, a fenced block, or what stands between the outer brackets.
fn find_json(result: &str) -> Option<Value> {
    let fenced = result.split("```").nth(1).map(|block| block.trim_start_matches("json"));
    let between = |open: char, close: char| {
        let (start, end) = (result.find(open)?, result.rfind(close)?);
        result.get(start..=end)
    };
    [Some(result), fenced, between('[', ']'), between('{', '}')]
        .into_iter()
        .flatten()
        .find_map(|text| serde_json::from_str(text.trim()).ok())
        .filter(|value: &Value| value.is_array() || value.is_object())
}

/// Returns whether a text has a Markdown table: at least two lines with two separators each.
fn has_table(result: &str) -> bool {
    result.lines().filter(|line| line.matches('|').count() >= 2).count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_apart() {
        for (result, expected, warning) in [
            ("[{\"id\": 1}]", Some("JSON array of mails"), None),
            ("Here:\n```json\n[1, 2]\n```", Some("JSON array"), None),
            ("{\"a\": 1}", Some("JSON array"), Some("array was expected")),
            ("There are two mails.", Some("JSON array"), Some("there is none")),
            ("| a | b |\n|---|---|\n| 1 | 2 |", Some("Table with columns a, b"), None),
            ("a is 1", Some("Table with columns a, b"), Some("table was expected")),
            ("I found 5 mails.", None, Some("does not list")),
            ("I found 2 mails: M1 from Anna, M2 from Ben.", None, None),
            ("The mails are listed above.", None, Some("not in it")),
            ("Total: EUR 300", Some("Summary statistics"), None),
            ("There is nothing to do.", None, None),
        ] {
            let said = check_result(result, expected);
            match (said, warning) {
                (None, None) => {}
                (Some(said), Some(warning)) => assert!(said.contains(warning), "{result}: {said}"),
                (said, _) => panic!("{result}: {said:?}"),
            }
        }
    }
}
