//! What one message of the direct profile wants: one of eight intents for each of its clauses.
//!
//! Owns the rules (`english.txt`, `hebrew.txt`) and the learned weights (`weights.txt`, written by
//! `scripts/train_intents.py`). The rules propose; the weights may veto a change of tasks, or choose among listing,
//! help, a greeting and nothing clear. Weights never propose a change: each one has a keyword or a bare imperative.

mod clause;
mod decision;
mod pattern;
mod reading;
mod rules;
mod signal;
mod token;
mod weights;

pub use decision::{ClauseSignals, classify, clause_signals};
pub use reading::{ClauseReading, Evidence, Intent, IntentContext, IntentReading, PendingQuestion};
pub use weights::use_intent_weights;
