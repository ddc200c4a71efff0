//! The whole text: code fences, prose around the values, and values in a row.

use serde_json::Value;

use super::{
    JsonRepairError, RepairDoubt, RepairedJson,
    container::JsonReader,
    cursor::{Cursor, is_quote},
};

/// The fence around a block of code.
const FENCE: &str = "```";

/// Returns a text whose quotes are all escaped (`{\"a\":1}`) without the escapes; none if it is not such a text.
pub(super) fn unescape_escaped_json(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    let body = inner.trim_start().strip_prefix(['{', '['])?;
    if !body.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '{' | '[')).starts_with("\\\"") {
        return None;
    }
    serde_json::from_str(&format!("\"{}\"", inner.replace('\n', "\\n"))).ok()
}

/// Reads the values of a text one after the other.
pub(super) struct TextReader {
    reader: JsonReader,
    values: Vec<Value>,
    has_prose: bool,
}

impl TextReader {
    pub(super) fn new(text: &str) -> Self {
        Self { reader: JsonReader { cursor: Cursor::new(text) }, values: Vec::new(), has_prose: false }
    }

    /// Reads the values to the end of the text. A value that cannot be read fails the whole text: what stands beside it
    /// may not be what was meant.
    pub(super) fn read_values(mut self) -> Result<RepairedJson, JsonRepairError> {
        while self.find_next_value() {
            let value = self.read_value()?;
            self.values.push(value);
            self.reader.cursor.open.clear();
            if self.ends_in_a_quotation() {
                self.has_prose = true;
                break;
            }
        }
        if self.values.is_empty() {
            return Err(JsonRepairError::NoJson);
        }
        Ok(RepairedJson { values: self.values, doubts: self.reader.cursor.doubts, has_prose: self.has_prose })
    }

    fn read_value(&mut self) -> Result<Value, JsonRepairError> {
        if self.reader.cursor.wrapping_call_end().is_some() {
            self.reader.read_wrapped_value()
        } else {
            self.reader.read_value()
        }
    }

    /// Returns whether a quote follows the value directly: the value was quoted from something else, whose rest is no
    /// value of this text.
    fn ends_in_a_quotation(&self) -> bool {
        let cursor = &self.reader.cursor;
        let is_container = self.values.last().is_some_and(|value| value.is_object() || value.is_array());
        is_container && cursor.peek().is_some_and(is_quote) && cursor.peek() != Some('`')
    }

    /// Moves to the next value, over prose, fences and stray closers. Returns false at the end of the text.
    fn find_next_value(&mut self) -> bool {
        loop {
            self.reader.cursor.skip_space();
            let position = self.reader.cursor.position;
            let Some(c) = self.reader.cursor.peek() else { return false };
            if self.reader.cursor.starts_with(position, FENCE) {
                self.skip_fence();
                continue;
            }
            match c {
                '{' | '[' if self.looks_like_json(position) => return true,
                '}' | ']' | ')' | ';' | ',' => self.reader.cursor.position += 1,
                c if is_quote(c) && self.values.is_empty() && !self.has_prose => return true,
                _ if self.is_callback_around_json() => return true,
                _ => {
                    self.has_prose = true;
                    self.skip_word();
                }
            }
        }
    }

    /// Moves behind a fence and the name of its language.
    fn skip_fence(&mut self) {
        self.reader.cursor.position += FENCE.len();
        while self.reader.cursor.peek().is_some_and(char::is_alphanumeric) {
            self.reader.cursor.position += 1;
        }
    }

    /// Moves behind a word of prose. A quoted passage with an apostrophe is a word like any other.
    fn skip_word(&mut self) {
        self.reader.cursor.position += 1;
        while self.reader.cursor.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '\'' | '’' | '_')) {
            self.reader.cursor.position += 1;
        }
    }

    /// Returns whether a bracket begins a value rather than a remark in the prose.
    fn looks_like_json(&self, position: usize) -> bool {
        let cursor = &self.reader.cursor;
        let inside = cursor.after_space(position + 1);
        let follows = cursor.at(inside);
        let is_object = cursor.at(position) == Some('{');
        match follows {
            None => !self.has_prose,
            Some('}' | '{' | '[' | ']' | '"' | '“' | '\'' | ',') => true,
            Some(c) if is_object => cursor.is_key_with_colon(inside) || (!self.has_prose && c.is_alphanumeric()),
            Some(c) => !self.has_prose || c == '-' || c.is_ascii_digit(),
        }
    }

    /// Returns whether the callback of JSONP begins here.
    fn is_callback_around_json(&mut self) -> bool {
        let start = self.reader.cursor.position;
        let mut inside = self.reader.cursor.wrapping_call_end();
        while let Some(position) = inside {
            self.reader.cursor.position = self.reader.cursor.after_space(position);
            inside = self.reader.cursor.wrapping_call_end();
        }
        let is_value = self.reader.cursor.position > start
            && self.reader.cursor.peek().is_some_and(|c| matches!(c, '{' | '[') || is_quote(c));
        self.reader.cursor.position = start;
        is_value && !self.has_prose
    }
}

impl RepairDoubt {
    /// Returns the doubt in words for a person and for the model.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Truncated => "it is cut off",
            Self::DroppedText => "it has words that belong to no field",
            Self::GuessedStringEnd => "where a text ends is not clear",
            Self::GuessedStructure => "its brackets do not fit",
        }
    }
}
