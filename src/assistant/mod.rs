//! The chat over tasks: what a message means and what is answered, in English and Hebrew.
//!
//! Everything here is a pure function of the message and the conversation before it. Nothing here reads a clock or a
//! file, asks a model, or changes a task.

pub mod intent;
mod language;

pub use language::ChatLanguage;
