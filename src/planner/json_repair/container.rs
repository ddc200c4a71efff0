//! Objects and arrays, with commas, colons and closers that are missing or of the wrong kind.

use serde_json::{Map, Value};

use super::{
    JsonRepairError, MAX_DEPTH, RepairDoubt,
    cursor::{Container, Cursor, is_quote},
    string::{StringReader, StringRole},
};

/// What comes next inside a container.
enum Next {
    Member,
    /// The container has ended.
    End,
}

/// Reads values: objects and arrays here, everything else in the modules beside.
pub(super) struct JsonReader {
    pub(super) cursor: Cursor,
}

impl JsonReader {
    /// Reads any value.
    pub(super) fn read_value(&mut self) -> Result<Value, JsonRepairError> {
        self.cursor.skip_space();
        match self.cursor.peek() {
            None => {
                self.cursor.doubt(RepairDoubt::Truncated);
                Ok(Value::Null)
            }
            Some('{') => self.read_object(),
            Some('[') => self.read_array(),
            Some(quote) if is_quote(quote) => {
                Ok(Value::String(StringReader { cursor: &mut self.cursor }.read_string(StringRole::Value)))
            }
            Some(_) => self.read_bare_value(),
        }
    }

    fn read_object(&mut self) -> Result<Value, JsonRepairError> {
        self.open_container(Container::Object)?;
        let depth = self.cursor.open.len();
        let mut members = Map::new();
        while let Next::Member = self.next_member(Container::Object) {
            let Some(key) = self.read_key()? else { continue };
            let value = self.read_member_value()?;
            members.insert(key, value);
            if self.cursor.open.len() < depth {
                // A text that was cut off has closed every container.
                return Ok(Value::Object(members));
            }
        }
        self.cursor.open.pop();
        Ok(Value::Object(members))
    }

    fn read_array(&mut self) -> Result<Value, JsonRepairError> {
        self.open_container(Container::Array)?;
        let depth = self.cursor.open.len();
        let mut items = Vec::new();
        while let Next::Member = self.next_member(Container::Array) {
            if !items.is_empty() && self.is_member_of_outer_object() {
                self.cursor.doubt(RepairDoubt::GuessedStructure);
                break;
            }
            items.push(self.read_value()?);
            if self.cursor.open.len() < depth {
                return Ok(Value::Array(items));
            }
            self.cursor.skip_space();
            if self.cursor.peek() == Some(':') {
                return self.cursor.error("a list has a colon");
            }
        }
        self.cursor.open.pop();
        Ok(Value::Array(items))
    }

    fn open_container(&mut self, container: Container) -> Result<(), JsonRepairError> {
        if self.cursor.open.len() >= MAX_DEPTH {
            return Err(JsonRepairError::TooDeep);
        }
        self.cursor.position += 1;
        self.cursor.open.push(container);
        Ok(())
    }

    /// Moves to the next member of a container, or behind its end.
    fn next_member(&mut self, container: Container) -> Next {
        loop {
            self.cursor.skip_space();
            match self.cursor.peek() {
                None => {
                    self.cursor.doubt(RepairDoubt::Truncated);
                    return Next::End;
                }
                Some(',' | ';') => self.cursor.position += 1,
                Some(':') if container == Container::Object => {
                    self.cursor.doubt(RepairDoubt::GuessedStructure);
                    self.cursor.position += 1;
                }
                Some('.') if self.cursor.starts_with(self.cursor.position, "...") => self.cursor.position += 3,
                Some('…') => self.cursor.position += 1,
                Some(')') => self.cursor.position += 1,
                Some(closer @ ('}' | ']')) => {
                    if self.ends_container(container, closer) {
                        return Next::End;
                    }
                }
                Some('{' | '[') if container == Container::Object => {
                    // A key cannot begin so: the closer of this object is missing.
                    self.cursor.doubt(RepairDoubt::GuessedStructure);
                    return Next::End;
                }
                Some(_) => return Next::Member,
            }
        }
    }

    /// Returns whether the closer at the position ends the container; one that belongs to an outer container is left
    /// for that, one that fits nothing is left out.
    fn ends_container(&mut self, container: Container, closer: char) -> bool {
        let is_own = matches!((container, closer), (Container::Object, '}') | (Container::Array, ']'));
        if is_own {
            self.cursor.position += 1;
            return true;
        }
        self.cursor.doubt(RepairDoubt::GuessedStructure);
        let other = if container == Container::Object { Container::Array } else { Container::Object };
        if !self.cursor.is_open_outside(other) {
            // No such container is open, so that the closer can only mean this one, or nothing.
            self.cursor.position += 1;
            return self.cursor.at(self.cursor.after_space(self.cursor.position)).is_none();
        }
        if container == Container::Array && self.another_member_follows() {
            self.cursor.position += 1;
        }
        true
    }

    /// Returns whether a quoted key begins here although an array is open: its closer is missing.
    fn is_member_of_outer_object(&self) -> bool {
        self.cursor.open.iter().rev().nth(1) == Some(&Container::Object)
            && self.cursor.peek().is_some_and(is_quote)
            && self.cursor.is_key_with_colon(self.cursor.position)
    }

    /// Returns whether a comma and another key follow the closer, so that the outer object goes on behind it.
    fn another_member_follows(&self) -> bool {
        let comma = self.cursor.after_space(self.cursor.position + 1);
        let inner = self.cursor.open.iter().rev().nth(1) == Some(&Container::Object);
        let outer_object_closed_too = self.cursor.open.iter().rev().nth(2) == Some(&Container::Object);
        inner
            && !outer_object_closed_too
            && self.cursor.at(comma) == Some(',')
            && self.cursor.is_key_with_colon(self.cursor.after_space(comma + 1))
    }

    /// Reads a key. Returns none for words that are left out because a quoted key follows them.
    fn read_key(&mut self) -> Result<Option<String>, JsonRepairError> {
        if self.cursor.peek().is_some_and(is_quote) {
            return Ok(Some(StringReader { cursor: &mut self.cursor }.read_string(StringRole::Key)));
        }
        let start = self.cursor.position;
        while let Some(c) = self.cursor.peek() {
            if matches!(c, ':' | ',' | '}' | ']' | '{' | '[' | '\n') || self.cursor.is_comment(self.cursor.position) {
                break;
            }
            if c == '"' && self.cursor.at(self.cursor.after_space(self.cursor.position + 1)) == Some(':') {
                // The opening quote of the key is missing.
                let key = self.cursor.text_between(start, self.cursor.position);
                self.cursor.position += 1;
                return Ok(Some(key.trim().to_owned()));
            }
            if is_quote(c) && self.cursor.at(self.cursor.position.wrapping_sub(1)).is_some_and(char::is_whitespace) {
                self.cursor.doubt(RepairDoubt::DroppedText);
                return Ok(None);
            }
            self.cursor.position += 1;
        }
        let key = self.cursor.text_between(start, self.cursor.position).trim().to_owned();
        if key.is_empty() { self.cursor.error("a key is missing") } else { Ok(Some(key)) }
    }

    /// Reads the value of a member, with or without its colon.
    fn read_member_value(&mut self) -> Result<Value, JsonRepairError> {
        self.cursor.skip_space();
        let has_colon = self.cursor.take_if(':');
        if has_colon {
            self.cursor.skip_space();
            self.cursor.take_if('>');
        }
        match self.cursor.peek() {
            None => {
                self.cursor.doubt(RepairDoubt::Truncated);
                Ok(Value::Null)
            }
            Some(',' | '}') if has_colon => {
                self.cursor.doubt(RepairDoubt::DroppedText);
                Ok(Value::Null)
            }
            Some(',' | '}' | ']') => self.cursor.error("a key has no value"),
            Some(_) => self.read_value(),
        }
    }
}
