//! Objects and arrays, with commas, colons and closers that are missing or of the wrong kind.

use serde_json::{Map, Value};

use super::{
    JsonRepairError, MAX_DEPTH, RepairDoubt,
    cursor::{Container, Cursor, is_quote},
    string::StringRole,
};

/// What comes next inside a container.
enum Next {
    Member,
    /// The container has ended.
    End,
}

impl Cursor {
    /// Reads any value.
    pub(super) fn read_value(&mut self) -> Result<Value, JsonRepairError> {
        self.skip_space();
        match self.peek() {
            None => {
                self.doubt(RepairDoubt::Truncated);
                Ok(Value::Null)
            }
            Some('{') => self.read_object(),
            Some('[') => self.read_array(),
            Some(quote) if is_quote(quote) => Ok(Value::String(self.read_string(StringRole::Value))),
            Some(_) => self.read_bare_value(),
        }
    }

    fn read_object(&mut self) -> Result<Value, JsonRepairError> {
        self.open_container(Container::Object)?;
        let depth = self.open.len();
        let mut members = Map::new();
        while let Next::Member = self.next_member(Container::Object) {
            let Some(key) = self.read_key()? else { continue };
            let value = self.read_member_value()?;
            members.insert(key, value);
            if self.open.len() < depth {
                // A text that was cut off has closed every container.
                return Ok(Value::Object(members));
            }
        }
        self.open.pop();
        Ok(Value::Object(members))
    }

    fn read_array(&mut self) -> Result<Value, JsonRepairError> {
        self.open_container(Container::Array)?;
        let depth = self.open.len();
        let mut items = Vec::new();
        while let Next::Member = self.next_member(Container::Array) {
            if !items.is_empty() && self.is_member_of_outer_object() {
                self.doubt(RepairDoubt::GuessedStructure);
                break;
            }
            items.push(self.read_value()?);
            if self.open.len() < depth {
                return Ok(Value::Array(items));
            }
            self.skip_space();
            if self.peek() == Some(':') {
                return self.error("a list has a colon");
            }
        }
        self.open.pop();
        Ok(Value::Array(items))
    }

    fn open_container(&mut self, container: Container) -> Result<(), JsonRepairError> {
        if self.open.len() >= MAX_DEPTH {
            return Err(JsonRepairError::TooDeep);
        }
        self.position += 1;
        self.open.push(container);
        Ok(())
    }

    /// Moves to the next member of a container, or behind its end.
    fn next_member(&mut self, container: Container) -> Next {
        loop {
            self.skip_space();
            match self.peek() {
                None => {
                    self.doubt(RepairDoubt::Truncated);
                    return Next::End;
                }
                Some(',' | ';') => self.position += 1,
                Some(':') if container == Container::Object => {
                    self.doubt(RepairDoubt::GuessedStructure);
                    self.position += 1;
                }
                Some('.') if self.starts_with(self.position, "...") => self.position += 3,
                Some('…') => self.position += 1,
                Some(')') => self.position += 1,
                Some(closer @ ('}' | ']')) => {
                    if self.ends_container(container, closer) {
                        return Next::End;
                    }
                }
                Some('{' | '[') if container == Container::Object => {
                    // A key cannot begin so: the closer of this object is missing.
                    self.doubt(RepairDoubt::GuessedStructure);
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
            self.position += 1;
            return true;
        }
        self.doubt(RepairDoubt::GuessedStructure);
        let other = if container == Container::Object { Container::Array } else { Container::Object };
        if !self.is_open_outside(other) {
            // No such container is open, so that the closer can only mean this one, or nothing.
            self.position += 1;
            return self.at(self.after_space(self.position)).is_none();
        }
        if container == Container::Array && self.another_member_follows() {
            self.position += 1;
        }
        true
    }

    /// Returns whether a quoted key begins here although an array is open: its closer is missing.
    fn is_member_of_outer_object(&self) -> bool {
        self.open.iter().rev().nth(1) == Some(&Container::Object)
            && self.peek().is_some_and(is_quote)
            && self.is_key_with_colon(self.position)
    }

    /// Returns whether a comma and another key follow the closer, so that the outer object goes on behind it.
    fn another_member_follows(&self) -> bool {
        let comma = self.after_space(self.position + 1);
        let inner = self.open.iter().rev().nth(1) == Some(&Container::Object);
        let outer_object_closed_too = self.open.iter().rev().nth(2) == Some(&Container::Object);
        inner
            && !outer_object_closed_too
            && self.at(comma) == Some(',')
            && self.is_key_with_colon(self.after_space(comma + 1))
    }

    /// Reads a key. Returns none for words that are left out because a quoted key follows them.
    fn read_key(&mut self) -> Result<Option<String>, JsonRepairError> {
        if self.peek().is_some_and(is_quote) {
            return Ok(Some(self.read_string(StringRole::Key)));
        }
        let start = self.position;
        while let Some(c) = self.peek() {
            if matches!(c, ':' | ',' | '}' | ']' | '{' | '[' | '\n') || self.is_comment(self.position) {
                break;
            }
            if c == '"' && self.at(self.after_space(self.position + 1)) == Some(':') {
                // The opening quote of the key is missing.
                let key = self.text_between(start, self.position);
                self.position += 1;
                return Ok(Some(key.trim().to_owned()));
            }
            if is_quote(c) && self.at(self.position.wrapping_sub(1)).is_some_and(char::is_whitespace) {
                self.doubt(RepairDoubt::DroppedText);
                return Ok(None);
            }
            self.position += 1;
        }
        let key = self.text_between(start, self.position).trim().to_owned();
        if key.is_empty() { self.error("a key is missing") } else { Ok(Some(key)) }
    }

    /// Reads the value of a member, with or without its colon.
    fn read_member_value(&mut self) -> Result<Value, JsonRepairError> {
        self.skip_space();
        let has_colon = self.take_if(':');
        if has_colon {
            self.skip_space();
            self.take_if('>');
        }
        match self.peek() {
            None => {
                self.doubt(RepairDoubt::Truncated);
                Ok(Value::Null)
            }
            Some(',' | '}') if has_colon => {
                self.doubt(RepairDoubt::DroppedText);
                Ok(Value::Null)
            }
            Some(',' | '}' | ']') => self.error("a key has no value"),
            Some(_) => self.read_value(),
        }
    }
}
