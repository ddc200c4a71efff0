//! Tests sixty Hebrew mails that were frozen before the reader was tuned (tests/hebrew): a lower bound of what it gets
//! right.

use std::{fs, path::Path};

use adjutant::app::{EvalKind, evaluate};
use serde_json::Value;

/// Below the English figure the reader has two kinds of users.
const FLOOR: f64 = 0.85;

#[test]
fn tasks_are_found_as_well_as_in_english() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hebrew/mails.jsonl");
    let (mut hit, mut said, mut there) = (0.0, 0.0, 0.0);
    for line in fs::read_to_string(file).unwrap().lines() {
        let mail: Value = serde_json::from_str(line).unwrap();
        let task = evaluate(EvalKind::Triage, line)["task"].as_bool().unwrap();
        let labelled = mail["task"].as_bool().unwrap();
        hit += f64::from(u8::from(task && labelled));
        said += f64::from(u8::from(task));
        there += f64::from(u8::from(labelled));
    }
    assert_eq!(there, 33.0, "the set is frozen");
    let f1 = 2.0 * hit / (said + there);
    assert!(f1 >= FLOOR, "F1 {f1:.3}: {hit} right of {said} found and {there} there");
}

#[test]
fn the_same_mail_gives_the_same_bytes() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hebrew/mails.jsonl");
    for line in fs::read_to_string(file).unwrap().lines() {
        let read = || evaluate(EvalKind::Triage, line).to_string();
        assert_eq!(read(), read(), "{line}");
    }
}
