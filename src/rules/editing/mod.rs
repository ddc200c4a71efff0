//! Edits of the two files that the nightly job may change: the learned section of `priority.yml` and the lines of
//! `guidelines.txt`.
//!
//! Owns the grammar of learned entries. No byte outside the marker lines is ever changed, and no entry can name more
//! than a level or whether a mail is a task.

pub(super) mod edit;
pub mod guidelines;
pub(super) mod learned_entry;
pub(super) mod learned_section;
