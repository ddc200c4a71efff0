//! Numbers, keywords and words without quotes.

use serde_json::{Number, Value};

use super::{
    JsonRepairError,
    cursor::{Container, Cursor, is_quote, is_word_char},
};

/// The most wrapping calls, such as `ObjectId("…")` or the callback of JSONP.
const MAX_WRAPPING_CALLS: usize = 8;

impl Cursor {
    /// Reads a number, a keyword or a text without quotes.
    pub(super) fn read_bare_value(&mut self) -> Result<Value, JsonRepairError> {
        if let Some(value) = self.read_number().or_else(|| self.read_keyword()) {
            self.skip_lone_quote();
            return Ok(value);
        }
        if self.wrapping_call_end().is_some() {
            return self.read_wrapped_value();
        }
        if let Some(pattern) = self.read_regex_literal() {
            return Ok(Value::String(pattern));
        }
        let text = self.read_bare_text();
        if text.is_empty() { self.error("a value is missing") } else { Ok(Value::String(text)) }
    }

    /// Moves behind a quote that ends a value which none began.
    fn skip_lone_quote(&mut self) {
        let behind = self.at(self.after_space(self.position + 1));
        if self.peek().is_some_and(is_quote) && behind.is_none_or(|c| matches!(c, ',' | '}' | ']')) {
            self.position += 1;
        }
    }

    /// Returns whether what stands at `position` ends a number or a keyword, rather than going on as a bare text.
    fn ends_bare_token(&self, position: usize) -> bool {
        let next = self.after_space(position);
        match self.at(next) {
            None => true,
            Some(c) if matches!(c, ',' | '}' | ']' | ')' | ';' | '{' | '[') => true,
            Some(':') => next == position,
            Some(c) if next > position => match self.open.last() {
                Some(Container::Object) => is_quote(c) || self.is_key_with_colon(next) || c == '.',
                Some(Container::Array) => is_quote(c) || c.is_ascii_digit() || c == '-' || c == '.',
                None => true,
            },
            Some(c) => is_quote(c) && c != '\'',
        }
    }

    /// Reads a number. A sign, point or exponent at whose end digits are missing counts as cut off there.
    fn read_number(&mut self) -> Option<Value> {
        let start = self.position;
        let mut end = start + usize::from(self.at(start) == Some('-'));
        let digits = |mut at: usize| {
            while self.at(at).is_some_and(|c| c.is_ascii_digit()) {
                at += 1;
            }
            at
        };
        let whole = end;
        end = digits(end);
        let mut text = self.text_between(start, end);
        if end == whole && self.at(end) != Some('.') {
            return None;
        }
        if end - whole > 1 && self.at(whole) == Some('0') {
            return None;
        }
        if end == whole {
            text.push('0');
        }
        if self.at(end) == Some('.') {
            let fraction = digits(end + 1);
            if fraction == end + 1 && end == whole {
                return None;
            }
            text.push_str(&self.text_between(end, fraction));
            if fraction == end + 1 {
                text.push('0');
            }
            end = fraction;
        }
        if matches!(self.at(end), Some('e' | 'E')) {
            let sign = end + 1 + usize::from(matches!(self.at(end + 1), Some('+' | '-')));
            let exponent = digits(sign);
            text.push_str(&self.text_between(end, exponent));
            if exponent == sign {
                text.push('0');
            }
            end = exponent;
        }
        if !self.ends_bare_token(end) {
            return None;
        }
        let number: Number = serde_json::from_str(&text).ok()?;
        self.position = end;
        Some(Value::Number(number))
    }

    /// Reads `true`, `None` and the like.
    fn read_keyword(&mut self) -> Option<Value> {
        let mut end = self.position;
        while end < self.position + 10 && self.at(end).is_some_and(|c| c.is_ascii_alphabetic()) {
            end += 1;
        }
        let value = match self.text_between(self.position, end).to_ascii_lowercase().as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" | "none" | "undefined" => Value::Null,
            _ => return None,
        };
        if !self.ends_bare_token(end) {
            return None;
        }
        self.position = end;
        Some(value)
    }

    /// Returns the position behind the bracket of a wrapping call such as `ObjectId(`, if there is one here.
    pub(super) fn wrapping_call_end(&self) -> Option<usize> {
        let mut end = self.position;
        if !self.at(end).is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$') {
            return None;
        }
        while self.at(end).is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.')) {
            end += 1;
        }
        (self.at(end) == Some('(')).then_some(end + 1)
    }

    /// Reads the value inside of wrapping calls.
    pub(super) fn read_wrapped_value(&mut self) -> Result<Value, JsonRepairError> {
        let mut calls = 0;
        while let Some(inside) = self.wrapping_call_end() {
            calls += 1;
            if calls > MAX_WRAPPING_CALLS {
                return Err(JsonRepairError::TooDeep);
            }
            self.position = inside;
            self.skip_space();
        }
        self.wrapping_calls += calls;
        let value = self.read_value()?;
        self.wrapping_calls -= calls;
        for _ in 0..calls {
            self.skip_space();
            if !self.take_if(')') && !self.is_at_end() {
                return self.error("a closing bracket is missing");
            }
        }
        self.take_if(';');
        Ok(value)
    }

    /// Reads a pattern between slashes as a text.
    fn read_regex_literal(&mut self) -> Option<String> {
        if self.peek() != Some('/') {
            return None;
        }
        let mut end = self.position + 1;
        loop {
            match self.at(end)? {
                '\n' => return None,
                '\\' => end += 2,
                '/' => break,
                _ => end += 1,
            }
        }
        let text = self.text_between(self.position, end + 1);
        self.position = end + 1;
        Some(text)
    }

    /// Returns whether the colon stands between two digits, as in a time.
    fn is_inside_time(&self, position: usize) -> bool {
        let is_digit = |at: usize| self.at(at).is_some_and(|c| c.is_ascii_digit());
        position > 0 && is_digit(position - 1) && is_digit(position + 1)
    }

    /// Reads a text without quotes to its delimiter. In an object it ends before the next key.
    fn read_bare_text(&mut self) -> String {
        let start = self.position;
        let mut last_word = start;
        while let Some(c) = self.peek() {
            if self.starts_with(self.position, "://") {
                self.position += 3;
                continue;
            }
            if matches!(c, ',' | '}' | ']' | '{' | '[' | '\n' | '\r') || self.is_comment(self.position) {
                break;
            }
            if c == ':' && !self.is_inside_time(self.position) {
                // What looks like a word of the text is the next key.
                if last_word > start && self.open.last() == Some(&Container::Object) {
                    self.position = last_word;
                }
                break;
            }
            if is_quote(c) && c != '\'' && self.at(self.position.wrapping_sub(1)).is_some_and(char::is_whitespace) {
                break;
            }
            self.position += 1;
            if c.is_whitespace() && self.peek().is_some_and(is_word_char) {
                last_word = self.position;
            }
        }
        let text = self.text_between(start, self.position);
        let text = text.trim_end().trim_end_matches(['"', '”']);
        super::string::decode_escapes(text)
    }
}
