//! Numbers, keywords and words without quotes.

use serde_json::{Number, Value};

use super::{
    JsonRepairError,
    container::JsonReader,
    cursor::{Container, is_quote, is_word_char},
};

/// The most wrapping calls, such as `ObjectId("…")` or the callback of JSONP.
const MAX_WRAPPING_CALLS: usize = 8;

impl JsonReader {
    /// Reads a number, a keyword or a text without quotes.
    pub(super) fn read_bare_value(&mut self) -> Result<Value, JsonRepairError> {
        if let Some(value) = self.read_number().or_else(|| self.read_keyword()) {
            self.skip_lone_quote();
            return Ok(value);
        }
        if self.cursor.wrapping_call_end().is_some() {
            return self.read_wrapped_value();
        }
        if let Some(pattern) = self.read_regex_literal() {
            return Ok(Value::String(pattern));
        }
        let text = self.read_bare_text();
        if text.is_empty() { self.cursor.error("a value is missing") } else { Ok(Value::String(text)) }
    }

    /// Moves behind a quote that ends a value which none began.
    fn skip_lone_quote(&mut self) {
        let behind = self.cursor.at(self.cursor.after_space(self.cursor.position + 1));
        if self.cursor.peek().is_some_and(is_quote) && behind.is_none_or(|c| matches!(c, ',' | '}' | ']')) {
            self.cursor.position += 1;
        }
    }

    /// Returns whether what stands at `position` ends a number or a keyword, rather than going on as a bare text.
    fn ends_bare_token(&self, position: usize) -> bool {
        let next = self.cursor.after_space(position);
        match self.cursor.at(next) {
            None => true,
            Some(',' | '}' | ']' | ')' | ';' | '{' | '[') => true,
            Some(':') => next == position,
            Some(c) if next > position => match self.cursor.open.last() {
                Some(Container::Object) => is_quote(c) || self.cursor.is_key_with_colon(next) || c == '.',
                Some(Container::Array) => is_quote(c) || c.is_ascii_digit() || c == '-' || c == '.',
                None => true,
            },
            Some(c) => is_quote(c) && c != '\'',
        }
    }

    /// Reads a number. A sign, point or exponent at whose end digits are missing counts as cut off there.
    fn read_number(&mut self) -> Option<Value> {
        let start = self.cursor.position;
        let mut end = start + usize::from(self.cursor.at(start) == Some('-'));
        let digits = |mut at: usize| {
            while self.cursor.at(at).is_some_and(|c| c.is_ascii_digit()) {
                at += 1;
            }
            at
        };
        let whole = end;
        end = digits(end);
        let mut text = self.cursor.text_between(start, end);
        if end == whole && self.cursor.at(end) != Some('.') {
            return None;
        }
        if end - whole > 1 && self.cursor.at(whole) == Some('0') {
            return None;
        }
        if end == whole {
            text.push('0');
        }
        if self.cursor.at(end) == Some('.') {
            let fraction = digits(end + 1);
            if fraction == end + 1 && end == whole {
                return None;
            }
            text.push_str(&self.cursor.text_between(end, fraction));
            if fraction == end + 1 {
                text.push('0');
            }
            end = fraction;
        }
        if matches!(self.cursor.at(end), Some('e' | 'E')) {
            let sign = end + 1 + usize::from(matches!(self.cursor.at(end + 1), Some('+' | '-')));
            let exponent = digits(sign);
            text.push_str(&self.cursor.text_between(end, exponent));
            if exponent == sign {
                text.push('0');
            }
            end = exponent;
        }
        if !self.ends_bare_token(end) {
            return None;
        }
        let number: Number = serde_json::from_str(&text).ok()?;
        self.cursor.position = end;
        Some(Value::Number(number))
    }

    /// Reads `true`, `None` and the like.
    fn read_keyword(&mut self) -> Option<Value> {
        let mut end = self.cursor.position;
        while end < self.cursor.position + 10 && self.cursor.at(end).is_some_and(|c| c.is_ascii_alphabetic()) {
            end += 1;
        }
        let value = match self.cursor.text_between(self.cursor.position, end).to_ascii_lowercase().as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" | "none" | "undefined" => Value::Null,
            _ => return None,
        };
        if !self.ends_bare_token(end) {
            return None;
        }
        self.cursor.position = end;
        Some(value)
    }

    /// Reads the value inside of wrapping calls.
    pub(super) fn read_wrapped_value(&mut self) -> Result<Value, JsonRepairError> {
        let mut calls = 0;
        while let Some(inside) = self.cursor.wrapping_call_end() {
            calls += 1;
            if calls > MAX_WRAPPING_CALLS {
                return Err(JsonRepairError::TooDeep);
            }
            self.cursor.position = inside;
            self.cursor.skip_space();
        }
        self.cursor.wrapping_calls += calls;
        let value = self.read_value()?;
        self.cursor.wrapping_calls -= calls;
        for _ in 0..calls {
            self.cursor.skip_space();
            if !self.cursor.take_if(')') && !self.cursor.is_at_end() {
                return self.cursor.error("a closing bracket is missing");
            }
        }
        self.cursor.take_if(';');
        Ok(value)
    }

    /// Reads a pattern between slashes as a text.
    fn read_regex_literal(&mut self) -> Option<String> {
        if self.cursor.peek() != Some('/') {
            return None;
        }
        let mut end = self.cursor.position + 1;
        loop {
            match self.cursor.at(end)? {
                '\n' => return None,
                '\\' => end += 2,
                '/' => break,
                _ => end += 1,
            }
        }
        let text = self.cursor.text_between(self.cursor.position, end + 1);
        self.cursor.position = end + 1;
        Some(text)
    }

    /// Returns whether the colon stands between two digits, as in a time.
    fn is_inside_time(&self, position: usize) -> bool {
        let is_digit = |at: usize| self.cursor.at(at).is_some_and(|c| c.is_ascii_digit());
        position > 0 && is_digit(position - 1) && is_digit(position + 1)
    }

    /// Reads a text without quotes to its delimiter. In an object it ends before the next key.
    fn read_bare_text(&mut self) -> String {
        let start = self.cursor.position;
        let mut last_word = start;
        while let Some(c) = self.cursor.peek() {
            if self.cursor.starts_with(self.cursor.position, "://") {
                self.cursor.position += 3;
                continue;
            }
            if matches!(c, ',' | '}' | ']' | '{' | '[' | '\n' | '\r') || self.cursor.is_comment(self.cursor.position) {
                break;
            }
            if c == ':' && !self.is_inside_time(self.cursor.position) {
                // What looks like a word of the text is the next key.
                if last_word > start && self.cursor.open.last() == Some(&Container::Object) {
                    self.cursor.position = last_word;
                }
                break;
            }
            if is_quote(c)
                && c != '\''
                && self.cursor.at(self.cursor.position.wrapping_sub(1)).is_some_and(char::is_whitespace)
            {
                break;
            }
            self.cursor.position += 1;
            if c.is_whitespace() && self.cursor.peek().is_some_and(is_word_char) {
                last_word = self.cursor.position;
            }
        }
        let text = self.cursor.text_between(start, self.cursor.position);
        let text = text.trim_end().trim_end_matches(['"', '”']);
        super::string::decode_escapes(text)
    }
}
