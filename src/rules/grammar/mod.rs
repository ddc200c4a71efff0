//! What may stand in `priority.yml`: the YAML tree with positions, fields, operators, patterns, conditions and rules.
//!
//! Owns the way from text to a checked [`RuleSet`](super::RuleSet), and every error on it with its line and column.
//! Nothing here ranks a task, and nothing that a limit or the grammar refuses becomes part of a rule set.

pub(super) mod condition;
mod condition_parser;
pub(super) mod error;
pub(super) mod field;
pub mod limits;
pub(super) mod lint;
pub(super) mod parse;
pub(super) mod pattern;
pub(super) mod yaml;
