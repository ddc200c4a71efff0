//! What a person is asked, and what their decision means.
//!
//! Everything in here is a function of values that were read before: no SQL, no clock, no files.

mod action_item;

pub use action_item::{bind_approval_terms, new_approval_item};
