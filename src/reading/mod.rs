//! Reads a mail: is there a task, which, for whom, by when.
//!
//! No model, no clock, no I/O: the same mail read twice is read the same. English, German and Hebrew, each in files of its
//! own: `lexicon` holds what is listened for, with hand-made weights, `task/wording` how objectives are put. What was
//! learned from labelled mail stands in `learned/weights.txt`, by name, so that a person can read why a mail became a task.
//! A mail's words never decide what the program may do; they only decide what is offered to the person.

mod date;
#[cfg(test)]
mod german_tests;
mod language;
mod learned;
mod lexicon;
mod mail;
mod read;
#[cfg(test)]
mod read_tests;
#[cfg(test)]
mod samples;
mod sentence;
mod task;
mod training;

pub use language::detect_language;
pub use learned::use_weights;
pub use read::{ReadContext, read};
pub use task::{
    facts::{Relation, collect_facts},
    forced_task::{moment, parse_typed_date, plan_forced_task},
    own_mail::parse_reminder_request,
};
pub use training::{mail_signals, sentence_signals};

use sentence::{score, text};

/// How much a text asks for something, whoever it is from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextScore {
    pub pred: bool,
    /// 0..=1.
    pub score: f64,
    pub meeting: bool,
}

/// Scores a sentence or a whole body with the scorer that reads mail.
pub fn score_text(text: &str) -> TextScore {
    let scored: Vec<_> =
        text::split_sentences(text).into_iter().map(|sentence| score::score_sentence(sentence, &[])).collect();
    let score = match scored.as_slice() {
        [only] => score::logistic(only.logit_alone),
        several => {
            let asking = several.iter().filter(|scored| !scored.is_courtesy());
            asking.map(|scored| scored.score).fold(0.0, f64::max)
        }
    };
    let meeting = scored.iter().any(|scored| scored.has(lexicon::Feature::Gathers));
    TextScore { pred: score >= score::THRESHOLD, score, meeting }
}
