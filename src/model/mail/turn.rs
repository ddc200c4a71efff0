//! What a mail says about the matter of its conversation, beside what it asks for.

use crate::model::Instant;

/// What a mail adds to a conversation: one turn of it. Each field holds the sentence that says so.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turn {
    /// The request is taken back: "forget it", "no longer needed".
    pub withdraws: Option<String>,
    /// The matter is solved or has arrived: "all sorted", "just what I needed".
    pub settles: Option<String>,
    /// What was proposed is accepted: "that works".
    pub agrees: Option<String>,
    /// Something is done or handed over: "paid this morning", "attached".
    pub done: Vec<String>,
    /// An answer is put off: "I'll get back to you".
    pub postpones: Option<String>,
    /// Something is promised for a day, whether or not it is a task of its own.
    pub promised: Option<PromisedDate>,
    /// Another date is named for what was asked: "we have until Friday noon".
    pub new_date: Option<PromisedDate>,
    /// Sentences that remind of something asked before.
    pub reminds: Vec<String>,
    /// Sentences that begin another matter: "one more thing".
    pub new_matters: Vec<String>,
    /// The first statement that is neither greeting nor courtesy, question or postponement. A mail without one answers
    /// nothing.
    pub statement: Option<String>,
    /// Whether a machine answered, or the mail only hands on what others wrote.
    pub is_automatic_or_forwarded: bool,
}

/// A date that the writer names for what they promise or asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromisedDate {
    pub sentence: String,
    pub deadline: String,
    pub due_at: Instant,
}

impl Turn {
    /// Returns whether a sentence reminds of something asked before.
    pub fn is_reminder(&self, sentence: &str) -> bool {
        self.reminds.iter().any(|said| said == sentence)
    }

    /// Returns whether a sentence begins another matter.
    pub fn is_new_matter(&self, sentence: &str) -> bool {
        self.new_matters.iter().any(|said| said == sentence)
    }

    /// Returns whether a sentence takes the request back or calls it solved, and so asks for nothing.
    pub fn is_closing(&self, sentence: &str) -> bool {
        [&self.withdraws, &self.settles].into_iter().flatten().any(|said| said == sentence)
    }
}
