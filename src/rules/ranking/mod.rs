//! From the rules that match to a level, and why it is this level: precedence, traces and the smallest change that
//! would lead to another one.
//!
//! Owns the order of precedence. An explanation is always derived from the same decision that ranks a task; it never
//! ranks by a code path of its own.

mod fact_changes;
pub(super) mod listing;
pub(super) mod precedence;
mod render;
pub(super) mod smallest_change;
pub(super) mod trace;
