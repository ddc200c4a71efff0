//! YAML text as a small tree in which every node knows its position.
//!
//! Nothing about rules is decided here. The tree is built from the parser's events on a stack of our own, so that no
//! depth of nesting can exhaust the thread's. Anchors, aliases and merge keys are refused: a rule must be readable where it
//! stands, the learned part must be replaceable on its own, and an alias bomb has nothing to grow from.

use std::collections::HashSet;

use serde_saphyr::granit_parser::{Event, Marker, Options, Parser, ScalarStyle, ScanError};

use super::{
    error::{Fault, Position},
    limits::MAX_YAML_DEPTH,
};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Yaml {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Seq(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) at: Position,
    pub(super) yaml: Yaml,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Key {
    pub(super) at: Position,
    pub(super) text: String,
}

impl Node {
    /// What stands here, in words.
    fn found(&self) -> String {
        match &self.yaml {
            Yaml::Null => "nothing".to_owned(),
            Yaml::Bool(value) => format!("{value}"),
            Yaml::Number(value) => format!("the number {value}"),
            Yaml::Text(text) => quoted(text),
            Yaml::Seq(_) => "a sequence".to_owned(),
            Yaml::Map(_) => "a mapping".to_owned(),
        }
    }

    pub(super) fn unfit(&self, expected: impl Into<String>) -> Fault {
        let width = match &self.yaml {
            Yaml::Text(text) => text.chars().count(),
            Yaml::Number(value) => value.to_string().len(),
            Yaml::Bool(value) => value.to_string().len(),
            _ => 1,
        };
        Fault::new(self.at, self.found(), expected).with_width(width)
    }

    pub(super) fn text(&self, expected: &str) -> Result<&str, Fault> {
        match &self.yaml {
            Yaml::Text(text) if !text.trim().is_empty() => Ok(text),
            Yaml::Number(_) | Yaml::Bool(_) => Err(self.unfit(format!("{expected}, in quotes"))),
            _ => Err(self.unfit(expected)),
        }
    }

    pub(super) fn bool(&self) -> Result<bool, Fault> {
        match self.yaml {
            Yaml::Bool(value) => Ok(value),
            _ => Err(self.unfit("true or false")),
        }
    }

    pub(super) fn seq(&self, expected: &str) -> Result<&[Node], Fault> {
        match &self.yaml {
            Yaml::Seq(nodes) => Ok(nodes),
            _ => Err(self.unfit(expected)),
        }
    }

    pub(super) fn map(&self, expected: &str) -> Result<&[(Key, Node)], Fault> {
        match &self.yaml {
            Yaml::Map(entries) => Ok(entries),
            _ => Err(self.unfit(expected)),
        }
    }
}

impl Key {
    pub(super) fn unfit(&self, what: &str, expected: impl Into<String>) -> Fault {
        Fault::new(self.at, format!("{what} {}", quoted(&self.text)), expected).with_width(self.text.chars().count())
    }
}

pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    match text.char_indices().nth(SHOWN) {
        None => format!("'{text}'"),
        Some(_) => format!("'{}…'", text.chars().take(SHOWN).collect::<String>()),
    }
}

pub(super) fn read(text: &str) -> Result<Node, Fault> {
    let mut reader = Reader::default();
    let mut options = Options::default();
    options.emit_comments = false;
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| not_yaml(&error))?;
        reader.take(event, position(&span.start))?;
    }
    Ok(reader.root.unwrap_or(Node { at: Position::default(), yaml: Yaml::Null }))
}

fn not_yaml(error: &ScanError) -> Fault {
    Fault::new(position(error.marker()), error.info(), "valid YAML")
}

/// Lines are counted from 1 by the parser, columns from 0.
fn position(marker: &Marker) -> Position {
    Position { line: marker.line(), column: marker.col() + 1 }
}

#[derive(Default)]
struct Reader {
    root: Option<Node>,
    open: Vec<Open>,
    documents: usize,
}

/// A sequence or mapping whose end has not been seen.
enum Open {
    Seq { at: Position, nodes: Vec<Node> },
    Map { at: Position, entries: Vec<(Key, Node)>, key: Option<Key>, keys: HashSet<String> },
}

impl Reader {
    fn take(&mut self, event: Event<'_>, at: Position) -> Result<(), Fault> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                let second = || Err(Fault::new(at, "a second document", "one document"));
                if self.documents > 1 { second() } else { Ok(()) }
            }
            Event::Alias(_) => Err(anchored(at)),
            Event::Scalar(_, _, anchor, _) | Event::SequenceStart(_, anchor, _) | Event::MappingStart(_, anchor, _)
                if anchor != 0 =>
            {
                Err(anchored(at))
            }
            Event::Scalar(.., Some(_)) | Event::SequenceStart(.., Some(_)) | Event::MappingStart(.., Some(_)) => {
                Err(Fault::new(at, "a tag", "plain YAML"))
            }
            Event::Scalar(text, style, ..) => self.scalar(&text, style, at),
            Event::SequenceStart(..) => self.begin(at, Open::Seq { at, nodes: Vec::new() }),
            Event::MappingStart(..) => {
                self.begin(at, Open::Map { at, entries: Vec::new(), key: None, keys: HashSet::new() })
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            _ => Ok(()),
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, at: Position) -> Result<(), Fault> {
        if let Some(Open::Map { key: key @ None, keys, .. }) = self.open.last_mut() {
            let found = Key { at, text: text.to_owned() };
            if text == "<<" && style == ScalarStyle::Plain {
                return Err(found.unfit("the merge key", "the keys themselves"));
            }
            if !keys.insert(text.to_owned()) {
                return Err(found.unfit("a second key", "every key once"));
            }
            *key = Some(found);
            return Ok(());
        }
        let yaml = if style == ScalarStyle::Plain { resolve(text) } else { Yaml::Text(text.to_owned()) };
        self.put(Node { at, yaml })
    }

    fn begin(&mut self, at: Position, open: Open) -> Result<(), Fault> {
        if let Some(Open::Map { key: None, .. }) = self.open.last() {
            return Err(Fault::new(at, "a collection as a key", "a text"));
        }
        if self.open.len() == MAX_YAML_DEPTH {
            return Err(Fault::new(at, "too deep a nesting", format!("at most {MAX_YAML_DEPTH} levels of YAML")));
        }
        self.open.push(open);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Fault> {
        match self.open.pop() {
            Some(Open::Seq { at, nodes }) => self.put(Node { at, yaml: Yaml::Seq(nodes) }),
            Some(Open::Map { at, entries, .. }) => self.put(Node { at, yaml: Yaml::Map(entries) }),
            None => Ok(()),
        }
    }

    fn put(&mut self, node: Node) -> Result<(), Fault> {
        match self.open.last_mut() {
            Some(Open::Seq { nodes, .. }) => nodes.push(node),
            Some(Open::Map { entries, key, .. }) => entries.extend(key.take().map(|key| (key, node))),
            None => self.root = Some(node),
        }
        Ok(())
    }
}

fn anchored(at: Position) -> Fault {
    Fault::new(at, "an anchor or alias", "every rule written out; a shared list goes under `lists`")
}

/// What a word without quotes means. Only `true` and `false` are truths, else the language `no` would be one.
fn resolve(text: &str) -> Yaml {
    let numeric = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
    let number = || text.parse::<f64>().ok().filter(|number| text.chars().all(numeric) && number.is_finite());
    match text {
        "" | "~" | "null" => Yaml::Null,
        "true" => Yaml::Bool(true),
        "false" => Yaml::Bool(false),
        _ => number().map_or_else(|| Yaml::Text(text.to_owned()), Yaml::Number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, line: usize, column: usize, found: &str) {
        let fault = read(text).unwrap_err();
        assert_eq!((fault.at.line, fault.at.column), (line, column), "{text}: {fault:?}");
        assert!(fault.found.contains(found), "{text}: {fault:?}");
    }

    #[test]
    fn nodes_and_keys_know_where_they_stand() {
        let node = read("# note\na:\n  - { b: x }\n  - 2\n").unwrap();
        let (a, seq) = &node.map("").unwrap()[0];
        assert_eq!((a.at.line, a.at.column), (2, 1));
        let nodes = seq.seq("").unwrap();
        let (b, x) = &nodes[0].map("").unwrap()[0];
        assert_eq!((b.at.line, b.at.column, x.at.line, x.at.column), (3, 7, 3, 10));
        assert_eq!((nodes[1].at.line, &nodes[1].yaml), (4, &Yaml::Number(2.0)));
    }

    #[test]
    fn words_stay_words() {
        for text in ["no", "yes", "on", "24h", "'12'", "\"~\"", "2025-06-23", ".nan", "inf"] {
            assert!(matches!(read(text).unwrap().yaml, Yaml::Text(_)), "{text}");
        }
        for (text, expected) in [
            ("true", Yaml::Bool(true)),
            ("~", Yaml::Null),
            ("", Yaml::Null),
            ("-1.5e1", Yaml::Number(-15.0)),
            ("1e999", Yaml::Text("1e999".into())),
        ] {
            assert_eq!(read(text).unwrap().yaml, expected, "{text}");
        }
    }

    #[test]
    fn what_yaml_allows_and_a_rules_file_does_not() {
        check("a: &x [1]\nb: *x\n", 1, 7, "anchor");
        check("a: 1\na: 2\n", 2, 1, "a second key 'a'");
        check("{ [a]: 1 }", 1, 3, "as a key");
        check("a: !!str 1\n", 1, 10, "a tag");
        check("a: [1\nb: 2\n", 2, 2, "");
        check("a: 1\n---\nb: 2\n", 2, 1, "document");
        check("<<: {a: 1}\n", 1, 1, "merge");
        check(&format!("{}{}", "[".repeat(200), "]".repeat(200)), 1, 25, "deep");
    }

    #[test]
    fn a_bomb_of_aliases_is_refused_at_its_first_anchor() {
        let mut bomb = String::from("a0: &a0 [x, x]\n");
        for n in 1..30 {
            bomb.push_str(&format!("a{n}: &a{n} [*a{m}, *a{m}, *a{m}, *a{m}]\n", m = n - 1));
        }
        check(&bomb, 1, 9, "anchor");
    }
}
