//! What was learned from labelled mail: a linear model per question, over words and over the cues of the page.
//!
//! Owns the weights (`weights.txt`, written by `scripts/train_reader.py`) and the names of what they stand for, so that
//! an explanation can say which words carried a decision. Nothing in here decides: it adds numbers up.

mod cue;
mod envelope;
mod mail_scores;
mod sentence_weights;
mod signal;
mod weights;

pub(super) use cue::{emit_mail_cues, emit_word_signals};
pub(super) use envelope::{is_organisation, is_same_organisation};
pub(super) use mail_scores::{MailScores, PredictedClass, score_mail};
pub(super) use sentence_weights::{SentenceWeights, weigh_sentence};
pub(crate) use signal::Signal;
pub(super) use signal::emit_sentence_signals;
pub(super) use weights::{Head, SentenceLogits, weight_table};

pub use weights::use_weights;
