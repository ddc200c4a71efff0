//! Quoted texts, and where they end although a quote is missing or stands inside.

use super::{
    RepairDoubt,
    cursor::{Container, Cursor, MAX_LOOKAHEAD, closes, is_quote},
};

/// What a text is in its container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringRole {
    Key,
    Value,
}

/// What a quote inside of a text means.
enum QuoteMeaning {
    /// It ends the text.
    End,
    /// It is a character of the text.
    Character,
    /// The text has ended before it, at this position: its closing quote is missing.
    EndedBefore(usize),
    /// It and the quote behind it are left out, and the text goes on.
    Joint,
    /// It ends the text, and the quote behind it is left out.
    EndWithExtraQuote,
}

/// Reads quoted texts.
pub(super) struct StringReader<'a> {
    pub(super) cursor: &'a mut Cursor,
}

impl StringReader<'_> {
    /// Reads a quoted text, and those that are joined to it by `+`.
    pub(super) fn read_string(&mut self, role: StringRole) -> String {
        let mut text = self.read_one_string(role);
        loop {
            let plus = self.cursor.after_space(self.cursor.position);
            let next = self.cursor.after_space(plus + 1);
            if role == StringRole::Key || self.cursor.at(plus) != Some('+') {
                return text;
            }
            self.cursor.position = plus + 1;
            if !self.cursor.at(next).is_some_and(is_quote) {
                // A plus with nothing behind it joins nothing.
                return text;
            }
            self.cursor.position = next;
            text.push_str(&self.read_one_string(role));
        }
    }

    fn read_one_string(&mut self, role: StringRole) -> String {
        let Some(quote) = self.cursor.take() else { return String::new() };
        if let Some(text) = self.read_doubly_quoted(quote) {
            return text;
        }
        let start = self.cursor.position;
        let mut text = String::new();
        while let Some(c) = self.cursor.peek() {
            if c == '\\' {
                self.read_escape(&mut text);
            } else if closes(quote, c) {
                match self.quote_meaning(quote, role, start) {
                    QuoteMeaning::End => {
                        self.cursor.position += 1;
                        return text;
                    }
                    QuoteMeaning::EndWithExtraQuote => {
                        self.cursor.position += 2;
                        return text;
                    }
                    QuoteMeaning::Joint => self.cursor.position += 2,
                    QuoteMeaning::EndedBefore(end) => {
                        self.cursor.doubt(RepairDoubt::GuessedStringEnd);
                        let dropped = self.cursor.text_between(end, self.cursor.position).chars().count();
                        self.cursor.position = end;
                        let kept = text.chars().count().saturating_sub(dropped);
                        return text.chars().take(kept).collect::<String>().trim_end().to_owned();
                    }
                    QuoteMeaning::Character => {
                        self.cursor.doubt(RepairDoubt::GuessedStringEnd);
                        text.push(c);
                        self.cursor.position += 1;
                    }
                }
            } else {
                text.push(c);
                self.cursor.position += 1;
            }
        }
        self.end_truncated_string(text)
    }

    /// Reads a text with two quotes on either side, such as `""name""`.
    fn read_doubly_quoted(&mut self, quote: char) -> Option<String> {
        let start = self.cursor.position + 1;
        if self.cursor.peek() != Some(quote) || !self.cursor.at(start)?.is_alphanumeric() {
            return None;
        }
        let end =
            (start..start + MAX_LOOKAHEAD).find(|at| self.cursor.at(*at).is_none_or(|c| c == quote || c == '\n'))?;
        if self.cursor.at(end) != Some(quote) || self.cursor.at(end + 1) != Some(quote) {
            return None;
        }
        self.cursor.position = end + 2;
        Some(self.cursor.text_between(start, end))
    }

    /// Ends a text at whose end the input ends. Closers that fit all open containers are taken as theirs.
    fn end_truncated_string(&mut self, text: String) -> String {
        let text = text.trim_end();
        let closers: String =
            self.cursor.open.iter().rev().map(|open| if *open == Container::Object { '}' } else { ']' }).collect();
        let bare: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        if !closers.is_empty() && bare.ends_with(&closers) {
            self.cursor.doubt(RepairDoubt::GuessedStringEnd);
            self.cursor.open.clear();
            return text.trim_end_matches(|c: char| matches!(c, '}' | ']') || c.is_whitespace()).to_owned();
        }
        self.cursor.doubt(RepairDoubt::Truncated);
        text.to_owned()
    }

    /// Returns what the quote at the position means, from what stands around it.
    fn quote_meaning(&self, quote: char, role: StringRole, start: usize) -> QuoteMeaning {
        let at = self.cursor.position;
        let next = self.cursor.after_space(at + 1);
        let Some(follows) = self.cursor.at(next) else { return QuoteMeaning::End };
        if role == StringRole::Key {
            return QuoteMeaning::End;
        }
        let Some(container) = self.cursor.open.last() else { return QuoteMeaning::End };
        if let Some(end) = self.end_before_next_member(at, start, *container) {
            return QuoteMeaning::EndedBefore(end);
        }
        let is_adjacent = next == at + 1;
        let ends = match (container, follows) {
            (_, '}' | ']') => true,
            (_, ')') if self.cursor.wrapping_calls > 0 => true,
            (_, '+') => self.cursor.at(self.cursor.after_space(next + 1)).is_none_or(is_quote),
            (Container::Object, ',') => self.is_end_of_member(next + 1),
            (Container::Array, ',') => true,
            (Container::Object, c) if is_adjacent && closes(quote, c) => return self.joint_or_extra_quote(next),
            (Container::Array, c) if is_adjacent && closes(quote, c) => {
                let behind = self.cursor.at(self.cursor.after_space(next + 1));
                if behind.is_none_or(|c| matches!(c, ',' | ']' | '}')) {
                    return QuoteMeaning::EndWithExtraQuote;
                }
                true
            }
            (Container::Object, c) => {
                (is_quote(c) && self.cursor.may_be_quoted_key(next)) || self.cursor.is_key_with_colon(next)
            }
            (Container::Array, c) => {
                !is_adjacent && (is_quote(c) || c.is_ascii_digit() || matches!(c, '{' | '['))
                    || is_adjacent && (is_quote(c) || matches!(c, '{' | '['))
            }
        };
        if ends || self.has_comment_between(at + 1, next) { QuoteMeaning::End } else { QuoteMeaning::Character }
    }

    fn has_comment_between(&self, from: usize, to: usize) -> bool {
        (from..to).any(|position| self.cursor.at(position).is_some_and(|c| !c.is_whitespace()))
    }

    /// Returns the meaning of two quotes in a row in the value of an object: they join two parts, or one is too many.
    fn joint_or_extra_quote(&self, second: usize) -> QuoteMeaning {
        match self.cursor.at(self.cursor.after_space(second + 1)) {
            None | Some(',' | '}' | ']') => QuoteMeaning::EndWithExtraQuote,
            Some(_) if self.cursor.is_key_with_colon(second) => QuoteMeaning::End,
            Some(_) => QuoteMeaning::Joint,
        }
    }

    /// Returns whether a member of an object, or its end, follows behind a comma.
    fn is_end_of_member(&self, behind_comma: usize) -> bool {
        let next = self.cursor.after_space(behind_comma);
        match self.cursor.at(next) {
            None => true,
            Some('}' | ']' | ',') => true,
            Some(c) if is_quote(c) => self.cursor.may_be_quoted_key(next),
            _ => self.cursor.is_key_with_colon(next) || self.cursor.starts_with(next, "...") || self.is_last_word(next),
        }
    }

    /// Returns whether one bare word and the end of the text follow: a key that was cut off, or a word before a key.
    fn is_last_word(&self, position: usize) -> bool {
        let mut end = position;
        while self.cursor.at(end).is_some_and(|c| c.is_alphanumeric() || c == '_') && end < position + 64 {
            end += 1;
        }
        let next = self.cursor.after_space(end);
        end > position
            && (self.cursor.at(next).is_none()
                || self.cursor.at(next).is_some_and(is_quote) && self.cursor.is_key_with_colon(next))
    }

    /// Returns where a text without a closing quote has ended, if the quote at `at` begins the next member.
    fn end_before_next_member(&self, at: usize, start: usize, container: Container) -> Option<usize> {
        let (before, comma, newline) = self.cursor.before(at, start);
        let begins_member = match container {
            Container::Object => self.cursor.is_key_with_colon(at),
            Container::Array => newline && self.cursor.at(at + 1).is_some_and(char::is_alphanumeric),
        };
        match before {
            Some(',') if begins_member => Some(comma),
            Some(_) if begins_member && newline => Some(comma + 1),
            _ => None,
        }
    }

    /// Reads an escape. One that JSON does not know stands for its character.
    fn read_escape(&mut self, text: &mut String) {
        self.cursor.position += 1;
        let Some(c) = self.cursor.take() else { return };
        match c {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'u' => self.read_unicode_escape(text),
            other => text.push(other),
        }
    }

    fn read_unicode_escape(&mut self, text: &mut String) {
        let Some(unit) = self.hex_unit(self.cursor.position) else {
            // An escape that is cut off stands for nothing.
            let rest =
                (self.cursor.position..self.cursor.position + 4).take_while(|at| self.cursor.at(*at).is_some()).count();
            if rest < 4 {
                self.cursor.position += rest
            } else {
                text.push('u')
            }
            return;
        };
        self.cursor.position += 4;
        let low = if self.cursor.starts_with(self.cursor.position, "\\u") {
            self.hex_unit(self.cursor.position + 2)
        } else {
            None
        };
        let units: Vec<u16> = std::iter::once(unit).chain(low).collect();
        match char::decode_utf16(units).next() {
            Some(Ok(c)) => {
                self.cursor.position += if c.len_utf16() == 2 { 6 } else { 0 };
                text.push(c);
            }
            _ => text.push(char::REPLACEMENT_CHARACTER),
        }
    }

    fn hex_unit(&self, position: usize) -> Option<u16> {
        let digits = self.cursor.text_between(position, position + 4);
        (digits.len() == 4).then(|| u16::from_str_radix(&digits, 16).ok()).flatten()
    }
}

/// Returns a bare text with its escapes decoded.
pub(super) fn decode_escapes(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut cursor = Cursor::new(text);
    let mut decoded = String::new();
    while let Some(c) = cursor.peek() {
        if c == '\\' {
            StringReader { cursor: &mut cursor }.read_escape(&mut decoded);
        } else {
            decoded.push(c);
            cursor.position += 1;
        }
    }
    decoded
}
