//! Splits HTML into text and tags, in one forward pass.
//!
//! Broken markup never has the same bytes searched twice: a search that reached the end is not repeated, which keeps
//! this linear.

/// A tag name in lower case. Only the first 12 bytes are kept; no name that matters here is longer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TagName {
    bytes: [u8; 12],
    len: usize,
}

impl TagName {
    fn new(text: &str) -> TagName {
        let mut name = TagName { len: text.len().min(12), ..TagName::default() };
        for (to, from) in name.bytes.iter_mut().zip(text.bytes()) {
            *to = from.to_ascii_lowercase();
        }
        name
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// A piece of HTML. Comments and declarations are empty texts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HtmlToken<'a> {
    Text(&'a str),
    /// A start tag with its attributes as they are written.
    Start(TagName, &'a str),
    End(TagName),
}

/// The tokeniser. Its flags say which searches can still succeed in the rest of the input.
pub(crate) struct HtmlTokeniser<'a> {
    rest: &'a str,
    /// Whether a quoted attribute value may still end.
    may_close_quote: bool,
    /// Whether a `>` may still follow.
    may_close_tag: bool,
    /// Whether a `-->` may still follow.
    may_close_comment: bool,
}

impl<'a> HtmlTokeniser<'a> {
    pub(crate) const fn new(html: &'a str) -> Self {
        Self { rest: html, may_close_quote: true, may_close_tag: true, may_close_comment: true }
    }

    /// Moves the cursor by `len` bytes. Returns what was passed.
    fn consume(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// Skips a raw element (`script`, `style`, …) including its end tag. Returns what was inside.
    pub(crate) fn skip_raw(&mut self, name: TagName) -> &'a str {
        let inside = self.rest;
        while let Some(at) = self.rest.find("</") {
            self.consume(at + 2);
            let found = self.rest.get(..name.len).unwrap_or_default();
            if TagName::new(found) == name {
                let length = inside.len() - self.rest.len() - 2;
                let end = self.rest.find('>').map_or(self.rest.len(), |end| end + 1);
                self.consume(end);
                return inside.get(..length).unwrap_or_default();
            }
        }
        self.rest = "";
        inside
    }

    /// Reads the tag or comment at the cursor; none when the `<` begins neither.
    fn read_tag(&mut self) -> Option<HtmlToken<'a>> {
        let inside = self.rest.get(1..)?;
        let first = inside.bytes().next()?;
        if let Some(comment) = inside.strip_prefix("!--") {
            if self.may_close_comment {
                if let Some(end) = comment.find("-->") {
                    self.consume(end + 7);
                    return Some(HtmlToken::Text(""));
                }
                self.may_close_comment = false;
            }
        } else if !(first.is_ascii_alphabetic() || matches!(first, b'/' | b'!' | b'?')) {
            return None;
        }
        let len = self.tag_len(inside)?;
        let tag = self.consume(len + 2).get(1..=len).unwrap_or_default();
        Some(match tag.strip_prefix('/') {
            Some(end) => HtmlToken::End(TagName::new(split_name(end).0)),
            None if first.is_ascii_alphabetic() => {
                let (name, rest) = split_name(tag);
                HtmlToken::Start(TagName::new(name), rest)
            }
            None => HtmlToken::Text(""),
        })
    }

    /// Returns the length up to the closing `>`. A `>` inside a quoted value does not count unless no quote is ever
    /// closed.
    fn tag_len(&mut self, inside: &str) -> Option<usize> {
        if !self.may_close_tag {
            return None;
        }
        if self.may_close_quote {
            let len = tag_len_skipping_quotes(inside);
            if len.is_some() {
                return len;
            }
            self.may_close_quote = false;
        }
        let len = inside.find('>');
        self.may_close_tag = len.is_some();
        len
    }
}

/// Returns the length up to the first `>` outside quoted values.
fn tag_len_skipping_quotes(inside: &str) -> Option<usize> {
    let mut quote = None;
    let mut before = 0;
    for (at, byte) in inside.bytes().enumerate() {
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            // Only a value can be quoted; an apostrophe elsewhere has no meaning.
            None if matches!(byte, b'"' | b'\'') && before == b'=' => quote = Some(byte),
            None if byte == b'>' => return Some(at),
            None => {}
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    None
}

/// Splits a tag into its name and the rest.
fn split_name(tag: &str) -> (&str, &str) {
    let end = tag.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || byte == b':' || byte == b'-'));
    end.and_then(|end| tag.split_at_checked(end)).unwrap_or((tag, ""))
}

impl<'a> Iterator for HtmlTokeniser<'a> {
    type Item = HtmlToken<'a>;

    fn next(&mut self) -> Option<HtmlToken<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        match self.rest.find('<') {
            Some(0) => Some(self.read_tag().unwrap_or_else(|| HtmlToken::Text(self.consume(1)))),
            Some(at) => Some(HtmlToken::Text(self.consume(at))),
            None => Some(HtmlToken::Text(self.consume(self.rest.len()))),
        }
    }
}

/// Returns the attributes of a start tag as `(name, value)`, undecoded.
pub(crate) fn attributes(mut rest: &str) -> impl Iterator<Item = (&str, &str)> {
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/' || c == '=');
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(|c: char| c.is_ascii_whitespace() || c == '=' || c == '/').unwrap_or(rest.len());
        let (name, after) = rest.split_at_checked(end)?;
        rest = after;
        let Some(value) = after.trim_start().strip_prefix('=') else { return Some((name, "")) };
        let value = value.trim_start();
        let quoted = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (value, after) = match quoted {
            Some(quote) => value.get(1..)?.split_once(quote).unwrap_or((value.get(1..)?, "")),
            None => value.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((value, "")),
        };
        rest = after;
        Some((name, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(html: &str) -> String {
        let token = |token| match token {
            HtmlToken::Text(text) => text.to_owned(),
            HtmlToken::Start(name, rest) => format!("[{}|{}]", String::from_utf8_lossy(name.bytes()), rest.trim()),
            HtmlToken::End(name) => format!("[/{}]", String::from_utf8_lossy(name.bytes())),
        };
        HtmlTokeniser::new(html).map(token).collect()
    }

    #[test]
    fn tokens() {
        for (html, expected) in [
            ("a<B>c</B >d", "a[b|]c[/b]d"),
            ("<a href=\"x>y\">z", "[a|href=\"x>y\"]z"),
            ("<p title=it's>z", "[p|title=it's]z"),
            ("5 < 6 <br/>", "5 < 6 [br|/]"),
            ("<!-- a > b -->c<!doctype html>d", "cd"),
            ("<!-- open > b", " b"),
            ("<a href=\"x>y", "[a|href=\"x]y"),
            ("<a href <b", "<a href <b"),
            ("<", "<"),
            ("<o:p>é</o:p>", "[o:p|]é[/o:p]"),
        ] {
            assert_eq!(shown(html), expected, "{html}");
        }
    }

    #[test]
    fn attributes_in_every_quoting() {
        let found: Vec<_> = attributes(" a=1 b='2 3' c = \"4\" hidden d=/x/ e=\"open").collect();
        assert_eq!(found, [("a", "1"), ("b", "2 3"), ("c", "4"), ("hidden", ""), ("d", "/x/"), ("e", "open")]);
    }

    #[test]
    fn raw_elements_are_skipped() {
        let mut tokens = HtmlTokeniser::new("<style>a </b> <c></STYLE >d");
        let Some(HtmlToken::Start(name, _)) = tokens.next() else { panic!("no tag") };
        assert_eq!(tokens.skip_raw(name), "a </b> <c>");
        assert_eq!(tokens.next(), Some(HtmlToken::Text("d")));
    }
}
