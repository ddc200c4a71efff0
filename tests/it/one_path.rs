//! Tests that a figure measures what a mail goes through: `eval` answers as `plan` does for the same words as a raw mail.

use std::{fmt::Write as _, fs, path::Path};

use adjutant::clock::Clock;
use serde_json::{Value, json};

use crate::support::test_home::{TestHome, finish_with};

/// Whoever `eval` writes to.
const READER: &str = "[me]\nnames = [\"Alex Green\"]\naddresses = [\"alex.green@work.example\"]\ntime_zone = \"UTC\"\n";
const SENTENCES: usize = 400;
const MAILS: usize = 100;
/// So many texts may be read otherwise on another day of the week.
const MOST_MOVED: usize = 10;
/// When a text without an envelope counts as written.
const DATE: &str = "Wed, 4 Mar 2026 09:00:00 +0000";
const NOW: &str = "2026-03-04T09:00:00Z";

fn home() -> TestHome {
    TestHome::with(READER, Clock::System)
}

/// Returns so many texts out of the training data, from all of its authors and languages.
fn texts(folder: &str, field: &str, count: usize) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("training").join(folder);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let text = |line: &str| serde_json::from_str::<Value>(line).unwrap()[field].as_str().unwrap().to_owned();
    let all: Vec<String> =
        files.iter().flat_map(|file| fs::read_to_string(file).unwrap().lines().map(text).collect::<Vec<_>>()).collect();
    all.iter().step_by(all.len() / count).take(count).cloned().collect()
}

/// Returns the answers to lines, one for each.
fn ask(home: &TestHome, command: &[&str], lines: &[Value]) -> Vec<Value> {
    let input = lines.iter().fold(String::new(), |mut all, line| {
        writeln!(all, "{line}").unwrap();
        all
    });
    let answered = finish_with(home.command(command), input.as_bytes());
    assert_eq!(answered.code, 0, "{command:?}: {}", answered.err);
    let answers: Vec<Value> = answered.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), lines.len());
    answers
}

/// A raw mail from a colleague.
fn letter(text: &str) -> String {
    format!(
        "From: Sam Reed <sam.reed@work.example>\r\nTo: Alex Green <alex.green@work.example>\r\nDate: {DATE}\r\n\
         MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n{text}\r\n"
    )
}

#[test]
fn five_hundred_texts_are_scored_as_mail_is_read() {
    let home = home();
    let mut texts_of_both = texts("sentences", "text", SENTENCES);
    texts_of_both.extend(texts("mails", "body", MAILS));
    assert_eq!(texts_of_both.len(), 500);
    let lines = |line: &dyn Fn(&str) -> Value| texts_of_both.iter().map(|text| line(text)).collect::<Vec<_>>();
    let scored = ask(&home, &["eval", "tasks"], &lines(&|text| json!({ "id": 0, "text": text })));
    let planned = ask(&home, &["plan", "--jsonl"], &lines(&|text| json!({ "id": 0, "text": text })));
    let read = ask(&home, &["plan", "--jsonl"], &lines(&|text| json!({ "id": 0, "eml": letter(text) })));
    assert!(scored.iter().filter(|answer| answer["pred"] == true).count() > 100, "the texts ask for too little");
    let differs = |scored: &Value, other: &Value| scored["pred"] != other["is_task"];
    for ((text, scored), read) in texts_of_both.iter().zip(&scored).zip(&read) {
        assert_eq!((&scored["pred"], &scored["score"]), (&read["is_task"], &read["score"]), "{text}");
    }
    // A bare text is dated now, and how near a Friday is counts.
    let moved = scored.iter().zip(&planned).filter(|(scored, planned)| differs(scored, planned)).count();
    assert!(moved <= MOST_MOVED, "{moved} of 500 texts are read otherwise when they are dated now");
}

/// What the field's own reader of dates is asked, and what a mail's task is due by.
#[test]
fn a_date_that_is_scored_is_the_deadline_of_a_mail() {
    let home = home();
    let days = ["tomorrow", "on Friday", "next Tuesday", "March 20", "on the 24th", "in two weeks", "2026-04-02"];
    let hours = ["at 3pm", "at noon", "at 16:30", "at 9 am"];
    let mut expressions: Vec<String> = days.iter().map(|day| (*day).to_owned()).collect();
    expressions.extend(days.iter().flat_map(|day| hours.iter().map(move |hour| format!("{day} {hour}"))));
    let scored: Vec<_> = expressions.iter().map(|text| json!({ "text": text, "lang": "en", "now": NOW })).collect();
    let scored = ask(&home, &["eval", "dates"], &scored);
    let mails: Vec<_> = expressions
        .iter()
        .map(|text| json!({ "id": 0, "eml": letter(&format!("Please send the report {text}.")) }))
        .collect();
    for ((text, scored), planned) in expressions.iter().zip(&scored).zip(&ask(&home, &["plan", "--jsonl"], &mails)) {
        let start = scored["start"].as_str().unwrap_or_else(|| panic!("{text} is not read"));
        let deadline = planned["tasks"][0]["deadline"].as_str().unwrap_or_else(|| panic!("{text} is no deadline"));
        let day = start.strip_suffix("T00:00:00").unwrap_or(start);
        assert!(deadline.starts_with(day), "{text}: {start} is scored, and the mail's task is due {deadline}");
    }
}
