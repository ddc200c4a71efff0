//! Reads a mail: is there a task, which, for whom, by when.
//!
//! No language model, no clock, no I/O: the same mail read twice is read the same. English, German and Hebrew, each in files of its
//! own: `lexicon` holds what is listened for, with hand-made weights, `task/wording` how objectives are put. What was
//! learned from labelled mail stands in `learned/weights.txt`, by name, so that a person can read why a mail became a task.
//! A mail's words never decide what the program may do; they only decide what is offered to the person.

mod appointment;
mod conversation;
#[cfg(test)]
mod german_tests;
mod language;
mod learned;
mod lexicon;
mod mail;
#[cfg(test)]
mod objective_tests;
mod read;
#[cfg(test)]
mod read_tests;
mod response;
#[cfg(test)]
mod samples;
mod second_reading;
mod sentence;
mod task;
mod training;
mod typed_task;
#[cfg(test)]
mod urgency_tests;
#[cfg(test)]
mod warning_tests;

pub use conversation::{content_words, read_turn};
pub use language::detect_language;
pub(crate) use learned::Signal;
pub use learned::use_weights;
pub use read::{ReadContext, read};
pub use response::read_response;
pub use second_reading::{FirstReading, read_twice, read_unless_in_doubt, score_sentences};
pub use task::{
    facts::{Relation, collect_facts},
    forced_task::{moment, parse_typed_date, plan_archive_task, plan_forced_task},
    own_mail::parse_reminder_request,
};
pub use training::{encoder_scores, mail_signals, sentence_signals};
pub use typed_task::{LOCAL_ACCOUNT, facts_of_typed_task};
