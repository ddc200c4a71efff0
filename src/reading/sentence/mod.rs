//! Sentences of a mail: where each begins and ends, how much it asks for something, and the clause that says what.
//!
//! Nothing here sees the whole mail or its sender.

pub(super) mod clause;
pub(super) mod german_clause;
mod imperative;
mod language_change;
pub(super) mod score;
pub(super) mod text;
