use sha2::{Digest as _, Sha256};

use super::*;
use crate::{layer::Workspace, transformer::EncoderPass};

/// What the training script computed with the weights of the file, but with activations that are not rounded.
const REFERENCE: &str = include_str!("reference.jsonl");
/// The largest difference that rounding the activations may make in a logit.
const TOLERANCE: f32 = 0.02;

struct ReferenceLine {
    text: String,
    tokens: Vec<usize>,
    logits: Vec<f32>,
}

fn reference_lines() -> Vec<ReferenceLine> {
    let parse = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        ReferenceLine {
            text: value["text"].as_str().unwrap().to_owned(),
            tokens: serde_json::from_value(value["tokens"].clone()).unwrap(),
            logits: serde_json::from_value(value["logits"].clone()).unwrap(),
        }
    };
    REFERENCE.lines().map(parse).collect()
}

fn shipped_encoder() -> Transformer {
    Transformer::parse(SHIPPED_ENCODER).unwrap()
}

#[test]
fn the_file_is_the_one_that_the_checksum_names() {
    let sums = include_str!("../../../assets/encoder/SHA256SUMS");
    let sum = sums.lines().find_map(|line| line.strip_suffix("  encoder.bin")).unwrap();
    let found: String = Sha256::digest(SHIPPED_ENCODER).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(found, sum);
    assert!(SHIPPED_ENCODER.len() < 11_000_000, "{} bytes", SHIPPED_ENCODER.len());
}

#[test]
fn texts_have_the_tokens_that_training_saw() {
    let encoder = shipped_encoder();
    for line in reference_lines() {
        assert_eq!(encoder.tokenize(&line.text), line.tokens, "{}", line.text);
    }
}

#[test]
fn logits_are_those_of_the_training_script() {
    let encoder = shipped_encoder();
    for line in reference_lines() {
        let tokens = encoder.tokenize(&line.text);
        let space = &mut Workspace::default();
        let found = processor::run(&mut EncoderPass { encoder: &encoder, tokens: &tokens, space });
        for (found, expected) in found.iter().zip(&line.logits) {
            assert!((found - expected).abs() < TOLERANCE, "{}: {found} is not {expected}", line.text);
        }
    }
}

#[test]
fn every_processor_computes_the_same_bits() {
    let encoder = shipped_encoder();
    for line in reference_lines().iter().take(4) {
        let tokens = encoder.tokenize(&line.text);
        let space = &mut Workspace::default();
        let found = processor::run_on_all(&mut EncoderPass { encoder: &encoder, tokens: &tokens, space });
        assert!(found.iter().all(|logits| logits.map(f32::to_bits) == found[0].map(f32::to_bits)), "{found:?}");
    }
}

#[test]
fn scores_are_the_same_every_time_and_in_any_company() {
    let texts = ["Call me.", "", "See you soon!", "Call me."];
    let together = score_sentences(&texts);
    let alone: Vec<_> = texts.iter().flat_map(|text| score_sentences(&[text])).collect();
    assert_eq!(together, alone);
    assert_eq!(together[0], together[3]);
    assert_ne!(together[0], together[2]);
    assert!(together.iter().all(|scores| (scores.asks * 64.0).fract() == 0.0));
}

#[test]
fn clear_sentences_are_told_apart() {
    let [request, meeting, notice] = score_sentences(&[
        "Please send me the signed contract by Friday.",
        "Can we meet on Tuesday at ten to go through the budget?",
        "The canteen serves soup on Mondays.",
    ])[..] else {
        panic!("one score each")
    };
    assert!(request.asks > 0.0 && request.task > 0.0 && request.meets < 0.0, "{request:?}");
    assert!(meeting.asks > 0.0 && meeting.task > 0.0 && meeting.meets > 0.0, "{meeting:?}");
    assert!(notice.asks < 0.0 && notice.task < 0.0 && notice.meets < 0.0, "{notice:?}");
}

#[test]
fn a_damaged_file_is_refused() {
    let parse = |bytes: Vec<u8>| Transformer::parse(bytes.leak()).err().map(|error| error.to_string());
    let whole = SHIPPED_ENCODER;
    for length in [0, 7, 8, 31, 40, 1_000, whole.len() - 1] {
        assert!(parse(whole[..length].to_vec()).is_some(), "{length} bytes");
    }
    for at in [0, 9, 12, 40, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.to_vec();
        bytes[at] ^= 0x10;
        assert!(parse(bytes).is_some(), "byte {at}");
    }
}

#[test]
fn a_file_with_a_right_checksum_and_wrong_sizes_is_refused() {
    let body = &SHIPPED_ENCODER[..SHIPPED_ENCODER.len() - 32];
    // The six sizes and the length of the vocabulary follow the eight bytes that name the format.
    for at in (8..36).step_by(4) {
        for size in [0, 17, u32::MAX] {
            let mut bytes = body.to_vec();
            bytes[at..at + 4].copy_from_slice(&size.to_le_bytes());
            let checksum = Sha256::digest(&bytes);
            bytes.extend_from_slice(&checksum);
            assert!(Transformer::parse(bytes.leak()).is_err(), "size at {at} = {size}");
        }
    }
}
