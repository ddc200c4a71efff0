//! Reads the JSON in what a model wrote: strict JSON first, then with the repairs of common faults (missing or wrong
//! quotes, commas, colons and closers, comments, code fences, prose around it, a text that ends too early).
//!
//! It works in linear time over bounded input and never guesses silently: every repair that may have changed the meaning
//! is named in [`RepairedJson::doubts`], and whoever acts on the value decides which doubts it can live with.

mod container;
mod cursor;
mod scalar;
mod string;
mod text;

use std::collections::BTreeSet;

use serde_json::Value;

/// The longest text that is read, in bytes. A longer one is no answer that anybody asked for.
pub const MAX_TEXT_BYTES: usize = 256 * 1024;
/// The deepest nesting of objects and arrays.
const MAX_DEPTH: usize = 64;

/// A repair that may have changed what was meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepairDoubt {
    /// The text ended inside a value.
    Truncated,
    /// Words between the members of an object or array were left out.
    DroppedText,
    /// Where a string ends had to be guessed.
    GuessedStringEnd,
    /// A closer of the wrong kind, or a colon between two members, was read as what fits.
    GuessedStructure,
}

/// The values that a text holds, with the doubts about them.
#[derive(Debug, Clone, PartialEq)]
pub struct RepairedJson {
    /// At least one value, in the order of the text.
    pub values: Vec<Value>,
    pub doubts: BTreeSet<RepairDoubt>,
    /// Whether there is other text beside the values.
    pub has_prose: bool,
}

impl RepairedJson {
    /// Returns the one value of the text, or the list of its values.
    pub fn into_value(mut self) -> Value {
        match self.values.len() {
            1 => self.values.swap_remove(0),
            _ => Value::Array(self.values),
        }
    }
}

/// Why a text cannot be read as JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonRepairError {
    #[error("there is no JSON in the text")]
    NoJson,
    #[error("the text is too long")]
    TooLong,
    #[error("the JSON is nested too deeply")]
    TooDeep,
    #[error("{what} at character {at}")]
    Unreadable { what: &'static str, at: usize },
}

/// Reads all JSON values of a text, and repairs what can be repaired.
pub fn repair_json(text: &str) -> Result<RepairedJson, JsonRepairError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(JsonRepairError::TooLong);
    }
    let text = text.trim_start_matches('\u{feff}').trim();
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(RepairedJson { values: vec![value], doubts: BTreeSet::new(), has_prose: false });
    }
    if let Some(unescaped) = text::unescape_escaped_json(text) {
        return text::TextReader::new(&unescaped).read_values();
    }
    text::TextReader::new(text).read_values()
}

#[cfg(test)]
mod tests;
