//! The encoder as a whole: word pieces to vectors, the layers, the mean of all tokens, and the three questions.

use std::sync::Mutex;

use super::{
    SentenceScores,
    asset::{AssetReader, EncoderError, EncoderSizes, Norm, product},
    elementwise::{dot, normalise_row},
    layer::{Layer, Workspace},
    matrix::WIDEST_INPUT,
    processor::{self, Pass, SumBlock},
    tokenizer::Tokenizer,
};

/// Scores are multiples of one over this, so that a difference in the last bits of a build never shows.
const STEPS_PER_UNIT: f64 = 64.0;
/// How many questions are answered.
const QUESTIONS: usize = 3;

pub(super) struct Transformer {
    tokenizer: Tokenizer,
    sizes: EncoderSizes,
    word_scales: Vec<f32>,
    /// Two values in each byte, the first in its low half.
    word_table: &'static [u8],
    positions: Vec<f32>,
    embedding_norm: Norm,
    layers: Vec<Layer>,
    question_weights: Vec<f32>,
    question_biases: Vec<f32>,
    /// What lies between the steps, one for each thread that scores at the same time.
    spaces: Mutex<Vec<Workspace>>,
}

impl Transformer {
    pub(super) fn parse(file: &'static [u8]) -> Result<Self, EncoderError> {
        let mut reader = AssetReader::open(file)?;
        let sizes = reader.read_sizes()?;
        if sizes.width.max(sizes.inner_width) > WIDEST_INPUT || sizes.positions < 2 {
            return Err(EncoderError::Inconsistent("sizes"));
        }
        let pieces = reader.read_vocabulary(sizes.pieces)?;
        let encoder = Self {
            tokenizer: Tokenizer::new(&pieces)?,
            sizes,
            word_scales: reader.read_floats(sizes.pieces)?,
            word_table: reader.read_bytes(product(sizes.pieces, sizes.width / 2)?)?,
            positions: reader.read_floats(product(sizes.positions, sizes.width)?)?,
            embedding_norm: reader.read_norm(sizes.width)?,
            layers: (0..sizes.layers).map(|_| Layer::read(&mut reader, &sizes)).collect::<Result<_, _>>()?,
            question_weights: reader.read_floats(QUESTIONS * sizes.width)?,
            question_biases: reader.read_floats(QUESTIONS)?,
            spaces: Mutex::default(),
        };
        reader.finish()?;
        Ok(encoder)
    }

    pub(super) fn score_text(&self, text: &str) -> SentenceScores {
        let round = |logit: f32| (f64::from(logit) * STEPS_PER_UNIT).round() / STEPS_PER_UNIT;
        let tokens = self.tokenize(text);
        let mut space = self.spaces.lock().ok().and_then(|mut spaces| spaces.pop()).unwrap_or_default();
        let logits = processor::run(&mut EncoderPass { encoder: self, tokens: &tokens, space: &mut space });
        if let Ok(mut spaces) = self.spaces.lock() {
            spaces.push(space);
        }
        let [task, asks, meets] = logits.map(round);
        SentenceScores { task, asks, meets }
    }

    pub(super) fn tokenize(&self, text: &str) -> Vec<usize> {
        self.tokenizer.tokenize(text, self.sizes.positions)
    }

    /// Returns the answers for the vectors of a text's tokens.
    #[inline(always)]
    fn answer_questions(&self, hidden: &[f32], tokens: usize) -> [f32; QUESTIONS] {
        let mut mean = vec![0.0; self.sizes.width];
        for row in hidden.chunks_exact(self.sizes.width) {
            for (sum, value) in mean.iter_mut().zip(row) {
                *sum += value;
            }
        }
        let share = 1.0 / tokens as f32;
        let mut answers = [0.0; QUESTIONS];
        let questions = self.question_weights.chunks_exact(self.sizes.width).zip(&self.question_biases);
        for (answer, (weights, bias)) in answers.iter_mut().zip(questions) {
            *answer = dot(weights, &mean) * share + bias;
        }
        answers
    }

    /// Returns the vectors of the tokens, one after the other.
    #[inline(always)]
    fn embed(&self, tokens: &[usize]) -> Vec<f32> {
        let width = self.sizes.width;
        let mut hidden = Vec::with_capacity(tokens.len() * width);
        for (token, position) in tokens.iter().zip(self.positions.chunks_exact(width)) {
            let bytes = self.word_table.chunks_exact(width / 2).nth(*token).unwrap_or_default();
            let scale = self.word_scales.get(*token).copied().unwrap_or_default();
            let halves = bytes.iter().flat_map(|byte| [byte & 15, byte >> 4]);
            hidden.extend(halves.zip(position).map(|(half, place)| (f32::from(half) - 8.0) * scale + place));
        }
        for row in hidden.chunks_exact_mut(width) {
            normalise_row(row, &self.embedding_norm);
        }
        hidden
    }
}

/// The forward pass of one text, before the answers are rounded.
pub(super) struct EncoderPass<'a> {
    pub(super) encoder: &'a Transformer,
    pub(super) tokens: &'a [usize],
    pub(super) space: &'a mut Workspace,
}

impl Pass for EncoderPass<'_> {
    type Output = [f32; QUESTIONS];

    #[inline(always)]
    fn run(&mut self, sum: impl SumBlock) -> Self::Output {
        let Self { encoder, tokens, space } = self;
        let mut hidden = encoder.embed(tokens);
        for layer in &encoder.layers {
            layer.apply(&mut hidden, &encoder.sizes, space, sum);
        }
        encoder.answer_questions(&hidden, tokens.len())
    }
}
