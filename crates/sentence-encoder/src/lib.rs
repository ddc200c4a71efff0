//! The second reader of English sentences: a small transformer encoder that is compiled in.
//!
//! Owns the encoder's file (`assets/encoder/encoder.bin`, written by `scripts/train_encoder.py`), its tokenizer and its
//! forward pass. It gives numbers and decides nothing. The same text has the same numbers on every machine: products
//! are sums of integers, everything else is plain `f32` arithmetic in a fixed order without a platform's mathematical
//! library, and the results are rounded.

mod asset;
mod attention;
mod elementwise;
mod layer;
mod matrix;
mod processor;
#[cfg(test)]
mod tests;
mod tokenizer;
mod transformer;

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

pub use asset::EncoderError;
use transformer::Transformer;

const SHIPPED_ENCODER: &[u8] = include_bytes!("../../../assets/encoder/encoder.bin");

/// What the encoder says about one sentence: logits, positive for yes. Nought is where its held-out F1 was best.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SentenceScores {
    /// Does the sentence, standing alone, hold a request, a proposal or a commitment?
    pub task: f64,
    /// Does it ask the reader of its mail for something?
    pub asks: f64,
    /// Does it propose, arrange, move or cancel a meeting?
    pub meets: f64,
}

/// None when the encoder that is compiled in cannot be read.
static ENCODER: OnceLock<Option<Transformer>> = OnceLock::new();

/// Scores English sentences, of each its first 64 tokens. The first call loads the encoder.
///
/// Should the encoder be unreadable, which means that the program file is damaged, there are no scores at all.
pub fn score_sentences(texts: &[&str]) -> Vec<SentenceScores> {
    let encoder = ENCODER.get_or_init(|| Transformer::parse(SHIPPED_ENCODER).ok());
    encoder.iter().flat_map(|encoder| texts.iter().map(|text| encoder.score_text(text))).collect()
}

/// Lets the process do without an encoder, for comparisons. Must come before the first sentence is scored.
pub fn use_no_encoder() -> Result<(), EncoderError> {
    ENCODER.set(None).map_err(|_| EncoderError::AlreadyInUse)
}

/// Replaces the encoder that is compiled in, for cross-validation. Must come before the first sentence is scored.
pub fn use_encoder(file: Vec<u8>) -> Result<(), EncoderError> {
    // Lives as long as the process, like the encoder that is compiled in.
    let encoder = Transformer::parse(file.leak())?;
    ENCODER.set(Some(encoder)).map_err(|_| EncoderError::AlreadyInUse)
}
