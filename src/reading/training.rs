//! What the reader sees, by name: the rows that the weights are trained on.
//!
//! The program that reads and the script that trains must never see different things, so the script is only told.

use super::{
    learned::{Signal, emit_mail_cues, emit_sentence_signals, emit_word_signals},
    lexicon::Feature,
    read::ReadContext,
};
use crate::date::ReferenceTime;
use crate::model::Mail;
use crate::reading::{
    mail::annotated_mail::AnnotatedMail,
    sentence::{score::score_sentence, text::split_sentences},
};

/// Returns the names of the signals of each sentence, the sum of its hand-made weights, and the sentence itself.
pub fn sentence_signals(text: &str) -> Vec<(Vec<String>, f64, String)> {
    let signals = |sentence| {
        let scored = score_sentence(sentence, &[]);
        let mut names = Vec::new();
        emit_sentence_signals(&scored.sentence, |signal| names.push(signal.to_string()));
        let features = scored.features.iter().filter(|feature| *feature != Feature::Always);
        names.extend(features.map(|feature| Signal::Cue(feature.as_str()).to_string()));
        (names, scored.hand_sum, scored.sentence.raw.to_owned())
    };
    split_sentences(text).into_iter().map(signals).collect()
}

/// Returns each sentence with what the encoder says about it: task, asks, meets.
pub fn encoder_scores(text: &str) -> Vec<([f64; 3], String)> {
    let sentences: Vec<&str> = split_sentences(text).into_iter().map(|sentence| sentence.raw).collect();
    let scores = sentence_encoder::score_sentences(&sentences)
        .into_iter()
        .map(|scores| [scores.task, scores.asks, scores.meets]);
    scores.zip(sentences.into_iter().map(str::to_owned)).collect()
}

/// The names of a mail's signals.
pub fn mail_signals(mail: &Mail, context: &ReadContext<'_>) -> Vec<String> {
    let annotated = AnnotatedMail::new(mail, context.me, context.second_reading);
    let base = ReferenceTime::new(mail.date.unwrap_or(context.now), context.me);
    let mut names = Vec::new();
    emit_mail_cues(mail, &annotated, &base, context.me, |signal| names.push(signal.to_string()));
    emit_word_signals(&annotated, |signal| names.push(signal.to_string()));
    names
}
