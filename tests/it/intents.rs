//! What a message wants: the specification's examples, messages that were frozen before tuning, chains, and places.

use std::time::{Duration, Instant};

use adjutant::{
    app::{EvalKind, evaluate},
    assistant::{
        ChatLanguage,
        intent::{Evidence, Intent, IntentContext, IntentReading, PendingQuestion, classify},
    },
};
use serde_json::{Value, json};

fn read(text: &str) -> IntentReading {
    classify(text, &IntentContext::fresh(ChatLanguage::detect(text, ChatLanguage::English)))
}

fn lines_of(file: &str) -> Vec<Value> {
    let path = format!("{}/tests/intents/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_example_of_the_specification_is_understood() {
    let mut wrong = Vec::new();
    for line in lines_of("seed.jsonl") {
        let text = line["text"].as_str().unwrap();
        let found: Vec<&str> = read(text).clauses.iter().map(|clause| clause.intent.as_str()).collect();
        if json!(found) != line["intents"] {
            wrong.push(format!("{text}: {found:?} instead of {}", line["intents"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// AC-CB1: more than 95 % of clear messages, in each language.
#[test]
fn clear_messages_are_understood() {
    for language in ["en", "he"] {
        let lines: Vec<Value> = lines_of("clear.jsonl").into_iter().filter(|line| line["lang"] == language).collect();
        assert_eq!(lines.len(), 100);
        let wrong: Vec<String> = lines
            .iter()
            .map(|line| (line, evaluate(EvalKind::Intents, &line.to_string())))
            .filter(|(line, answer)| answer["intent"] != line["intent"])
            .map(|(line, answer)| format!("{} is {answer}, not {}", line["text"], line["intent"]))
            .collect();
        assert!(wrong.len() < 5, "{}", wrong.join("\n"));
    }
}

#[test]
fn a_chain_has_a_clause_for_each_thing_that_is_wanted() {
    use Intent::{Complete, Create, Delete, List, Update};
    for (text, expected) in [
        ("Add buy milk and show me all tasks", vec![(Create, "buy milk"), (List, "all tasks")]),
        ("delete task 3, then add call mom", vec![(Delete, "task 3"), (Create, "call mom")]),
        ("mark task 2 as done and delete #4", vec![(Complete, "task 2"), (Delete, "#4")]),
        ("hi, add milk", vec![(Create, "milk")]),
        ("Add wash and iron the shirts", vec![(Create, "wash and iron the shirts")]),
        ("Add \"clean up and delete old files\"", vec![(Create, "\"clean up and delete old files\"")]),
        ("Add read 'War and Peace' and show my tasks", vec![(Create, "read 'War and Peace'"), (List, "my tasks")]),
        (
            "remember to call mom and ask her to bring the cake",
            vec![(Create, "call mom and ask her to bring the cake")],
        ),
        ("I don't need task 4 anymore, remove it", vec![(Delete, "task 4")]),
        (
            "Change task 3 title to 'Call mom' and add description 'Ask'",
            vec![(Update, "task 3 title to 'Call mom' and add description 'Ask'")],
        ),
        ("תוסיף קניית חלב ותראה לי את הרשימה", vec![(Create, "קניית חלב"), (List, "לי את הרשימה")]),
        ("מחק את משימה 3 ואז תראה לי מה נשאר", vec![(Delete, "משימה 3"), (List, "לי מה נשאר")]),
        ("סיימתי את משימה 2, תוסיף לשלוח חשבונית", vec![(Complete, "משימה 2"), (Create, "לשלוח חשבונית")]),
    ] {
        let reading = read(text);
        let found: Vec<_> = reading.clauses.iter().map(|clause| (clause.intent, &text[clause.rest.clone()])).collect();
        let expected: Vec<_> = expected.into_iter().collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn what_awaits_an_answer_makes_no_task_of_it() {
    let context = IntentContext::fresh(ChatLanguage::English);
    assert_eq!(classify("Buy milk", &context).intent, Intent::Create);
    for pending in [PendingQuestion::Selection, PendingQuestion::Value, PendingQuestion::Confirmation] {
        let context = IntentContext { pending, ..context };
        assert_ne!(classify("Buy milk", &context).intent, Intent::Create, "{pending}");
        assert_eq!(classify("Show my tasks", &context).intent, Intent::List, "{pending}");
        assert_eq!(classify("Delete task 3", &context).intent, Intent::Delete, "{pending}");
    }
}

/// The weights may take a change away, but never propose one.
#[test]
fn every_change_has_a_keyword_or_an_imperative() {
    for line in lines_of("clear.jsonl").iter().chain(&lines_of("seed.jsonl")) {
        for clause in read(line["text"].as_str().unwrap()).clauses {
            let is_supported = matches!(clause.evidence, Evidence::Keyword | Evidence::Imperative);
            assert!(!clause.intent.is_change() || is_supported, "{line}: {clause:?}");
        }
    }
}

#[test]
fn any_text_is_read_in_time_and_with_places_inside_it() {
    let marker = "[[STATE:DELETE:ASK_CONFIRMATION]]";
    let texts = [
        String::new(),
        " \u{0} \u{200f}".to_owned(),
        marker.to_owned(),
        format!("add {marker} and delete task 3"),
        "add and ".repeat(200_000),
        "\"".repeat(1_000_000),
        "מחק ו".repeat(100_000),
        "a".repeat(1_000_000),
        "delete milk, ".repeat(80_000),
        "\u{5b0}".repeat(100_000),
    ];
    for text in texts {
        let begun = Instant::now();
        let reading = read(&text);
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        assert!(!reading.clauses.is_empty());
        for clause in reading.clauses {
            for place in [&clause.span, &clause.trigger, &clause.rest] {
                assert!(text.get(place.clone()).is_some(), "{place:?}");
            }
            assert!((0.0..=1.0).contains(&clause.confidence), "{}", clause.confidence);
        }
    }
}

#[test]
fn a_line_that_is_none_gives_an_error_in_its_place() {
    assert!(evaluate(EvalKind::Intents, "no json")["error"].is_string());
    let answer = evaluate(EvalKind::Intents, &json!({ "id": 7, "text": "Add milk" }).to_string());
    assert_eq!((&answer["id"], &answer["intent"]), (&json!(7), &json!("CREATE")));
}
