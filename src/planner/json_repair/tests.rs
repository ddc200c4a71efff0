use proptest::prelude::*;
use serde_json::json;

use super::*;

fn value(text: &str) -> Value {
    repair_json(text).map_or_else(|error| json!({ "refused": error.to_string() }), RepairedJson::into_value)
}

#[test]
fn common_faults_are_repaired() {
    let mut wrong = Vec::new();
    for (text, expected) in [
        (r#"{"a":"b"#, json!({"a": "b"})),
        (r#"{"a":"b}"#, json!({"a": "b"})),
        (r#"{"a":"b,"c":"d"}"#, json!({"a": "b", "c": "d"})),
        (r#"{"a":"12:20}"#, json!({"a": "12:20"})),
        (r#"{"key": "apple "bee" carrot"}"#, json!({"key": r#"apple "bee" carrot"#})),
        (r#"["a" 2]"#, json!(["a", 2])),
        (r#"["," 2"#, json!([",", 2])),
        (r#"[1,2,3,...,9]"#, json!([1, 2, 3, 9])),
        (r#"{"a":[1,2,3,..."#, json!({"a": [1, 2, 3]})),
        (r#"{\"a\":\"foo\"}"#, json!({"a": "foo"})),
        ("NumberLong(\"2\")", json!("2")),
        ("callback_123({});", json!({})),
        (r#"{"id": ObjectId("42"), "n": NumberInt(3)}"#, json!({"id": "42", "n": 3})),
        ("{\"a\":undefined}", json!({"a": null})),
        ("{\"a\": True, \"b\": FALSE}", json!({"a": true, "b": false})),
        ("{\"a\":1}\n{\"b\":2}", json!([{"a": 1}, {"b": 2}])),
        ("[\n{\"b\":2}\n{\"b\":3}\n]", json!([{"b": 2}, {"b": 3}])),
        ("{\"a\":2\n\"b\":3", json!({"a": 2, "b": 3})),
        ("{\"a\":{\"b\":2", json!({"a": {"b": 2}})),
        (r#"[{"i":1{"i":2}]"#, json!([{"i": 1}, {"i": 2}])),
        (r#"{"a":[1,2,"b":3}"#, json!({"a": [1, 2], "b": 3})),
        ("[,1,,2,]", json!([1, 2])),
        ("{,\"a\":1,}", json!({"a": 1})),
        ("[0789]", json!(["0789"])),
        ("[2.", json!([2.0])),
        ("[2e", json!([2.0])),
        ("[.25, -.5]", json!([0.25, -0.5])),
        ("{a: 1/3, b: 10-20, c: 1.1.1}", json!({"a": "1/3", "b": "10-20", "c": "1.1.1"})),
        (r#"{"date":2024-10-18T18:35:22.229Z}"#, json!({"date": "2024-10-18T18:35:22.229Z"})),
        (r#"{"key": https://x.example/a, "b": 1}"#, json!({"key": "https://x.example/a", "b": 1})),
        ("# note\n{\"a\":1} // end", json!({"a": 1})),
        (
            r#"{"words": abcdef", "numbers": 12345", "words2": ghijkl"}"#,
            json!({"words": "abcdef", "numbers": 12345, "words2": "ghijkl"}),
        ),
        (r#"{"n": 1,"reason": "It is so""ans": "YES"}"#, json!({"n": 1, "reason": "It is so", "ans": "YES"})),
        (r#"{"html": "<h3 id="aaa">Who - "really"?</h3>"}"#, json!({"html": r#"<h3 id="aaa">Who - "really"?</h3>"#})),
        (
            r#"[{"key": "value", COMMENT "notes": "lorem "ipsum", sic." }]"#,
            json!([{"key": "value", "notes": r#"lorem "ipsum", sic."#}]),
        ),
        (r#"{""answer"":[{""traits"":''Female aged 60+''}]}"#, json!({"answer": [{"traits": "Female aged 60+"}]})),
        (r#"{"name": John, "city": New York, "n": 3}"#, json!({"name": "John", "city": "New York", "n": 3})),
        ("{a: true b: some words c: 3}", json!({"a": true, "b": "some words", "c": 3})),
        ("{“a”: ‘b’, `c`: 'd'}", json!({"a": "b", "c": "d"})),
        ("{'a': 'It\\'s \"so\"'}", json!({"a": "It's \"so\""})),
        (r#""hello" + " " + 'world'"#, json!("hello world")),
        (r#"{"a": "x" + "y", "b": 1}"#, json!({"a": "xy", "b": 1})),
        ("{\"a\": \"line one\nline two\"}", json!({"a": "line one\nline two"})),
        (r#"{"a": "\u05e9\ud83d\ude00\u26"#, json!({"a": "ש😀"})),
        (r#"{"a": /ab+c/, "b": 2}"#, json!({"a": "/ab+c/", "b": 2})),
        ("Sure! Here it is:\n```json\n{\"a\": [1, 2,]}\n```\nAnything else?", json!({"a": [1, 2]})),
        ("I'd say {this} is it: {\"a\": 1}.", json!({"a": 1})),
        (r#"First {"a": 1} and then {"b": 2}, that's all."#, json!([{"a": 1}, {"b": 2}])),
        (r#"{"a": "x", "b": }"#, json!({"a": "x", "b": null})),
        (r#"{"שם": "דנה" "גיל": 30}"#, json!({"שם": "דנה", "גיל": 30})),
    ] {
        if value(text) != expected {
            wrong.push(format!("{text}\n  {} instead of {expected}", value(text)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_no_json_is_refused() {
    for text in ["", "   ", "Hello, world!", "I used {curly} braces", "{curly}", r#"{"a", "b"}"#, "[a: 1]"] {
        assert!(repair_json(text).is_err(), "{text}: {:?}", repair_json(text));
    }
    assert_eq!(repair_json(&"[".repeat(1_000)), Err(JsonRepairError::TooDeep));
    assert_eq!(repair_json(&"x".repeat(MAX_TEXT_BYTES + 1)), Err(JsonRepairError::TooLong));
}

#[test]
fn every_doubt_is_named() {
    for (text, doubt) in [
        (r#"{"a": "x"#, Some(RepairDoubt::Truncated)),
        (r#"{"a": 1, NOTE "b": 2}"#, Some(RepairDoubt::DroppedText)),
        (r#"{"a": "x "y" z"}"#, Some(RepairDoubt::GuessedStringEnd)),
        (r#"{"a": [1, 2}"#, Some(RepairDoubt::GuessedStructure)),
        (r#"{'a': 1, b: [2,],}"#, None),
        ("```json\n{\"a\": None}\n```", None),
    ] {
        let found = repair_json(text).unwrap().doubts;
        assert_eq!(found.first().copied(), doubt, "{text}: {found:?}");
    }
}

/// The text doubles, and so may the time: nothing is looked at again for every character.
#[test]
fn hostile_texts_are_read_in_linear_time() {
    for unit in ["{\"a\":", "\"", "'a'b", "{a ", "[\"a\n\"b", "/*", "f(", "a: ", "\\", "\"a\" + ", "```", "# \n"] {
        let text = unit.repeat(MAX_TEXT_BYTES / unit.len());
        let started = std::time::Instant::now();
        drop(repair_json(&text));
        assert!(started.elapsed() < std::time::Duration::from_secs(20), "{unit}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in r#"[\[\]{}:,"'`a1 \\/*#\n.+(-]{0,60}"#) {
        drop(repair_json(&text));
    }

    #[test]
    fn valid_json_is_read_as_it_is(
        keys in proptest::collection::vec("[a-zא-ת \"\\\\]{0,8}", 0..5),
        texts in proptest::collection::vec(".{0,12}", 5),
    ) {
        let object: serde_json::Map<String, Value> = keys.into_iter().zip(texts.into_iter().map(Value::from)).collect();
        let wanted = Value::Object(object);
        prop_assert_eq!(&value(&wanted.to_string()), &wanted);
        prop_assert_eq!(&value(&format!("Here:\n```json\n{wanted:#}\n```")), &wanted);
    }
}
